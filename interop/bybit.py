"""The official pybit against the simulated Bybit, unchanged but for its URL.

Argument: the simulator's ready line. Prints each operation that went through; any surprise ends it with a traceback.
"""

import json
import logging
import sys
import threading
import time
from decimal import Decimal

from pybit import exceptions
from pybit.unified_trading import HTTP, WebSocket, WebSocketTrading

KEY = "SUREFILLFAKEKEY001"
SECRET = "fakefakefakefakefakefakefakefake0001"
PATIENCE_S = 20

ready = json.loads(sys.argv[1])
covered = []


def done(operation):
    covered.append(operation)
    print(f"ok  {operation}", flush=True)


class Heard:
    """Rows that a socket pushed."""

    def __init__(self):
        self.rows = []
        self.changed = threading.Condition()

    def __call__(self, message):
        with self.changed:
            data = message.get("data", message)
            self.rows.extend(data if isinstance(data, list) else [data])
            self.changed.notify_all()

    def wait(self, what, fits):
        ends = time.monotonic() + PATIENCE_S
        with self.changed:
            while True:
                for row in self.rows:
                    if fits(row):
                        return row
                left = ends - time.monotonic()
                assert left > 0, f"not heard: {what}; heard {self.rows}"
                self.changed.wait(left)


class Warned(logging.Handler):
    """Warnings of the SDK. It registers a callback only after it has sent, so on loopback an answer may come first and is logged only."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


class PrivateSocket(WebSocket):
    def _connect(self, url):
        super()._connect(ready["ws"] + "/v5/private")


class TradeSocket(WebSocketTrading):
    def _connect(self, url):
        super()._connect(ready["ws"] + "/v5/trade")


def limit(link, price, qty="0.010", side="Buy"):
    return {
        "category": "linear",
        "symbol": "BTCUSDT",
        "side": side,
        "orderType": "Limit",
        "qty": qty,
        "price": price,
        "timeInForce": "GTC",
        "positionIdx": 0,
        "orderLinkId": link,
    }


def until(what, holds):
    ends = time.monotonic() + PATIENCE_S
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < ends, f"waited in vain: {what}"
        time.sleep(0.02)


http = HTTP(testnet=True, api_key=KEY, api_secret=SECRET)
http.endpoint = ready["rest"]


def order(link):
    found = http.get_open_orders(category="linear", symbol="BTCUSDT", orderLinkId=link)["result"]["list"]
    return found[0] if found else None


def closed(link):
    found = http.get_order_history(category="linear", symbol="BTCUSDT", orderLinkId=link)["result"]["list"]
    return found[0] if found else None


server = http.get_server_time()
assert abs(int(server["time"]) - time.time() * 1000) < 5000
done("server time")

instruments = http.get_instruments_info(category="linear", symbol="BTCUSDT")["result"]["list"]
assert instruments[0]["priceFilter"]["tickSize"] == "0.10"
done("instruments")

assert http.get_api_key_information()["result"]["userID"] in (1001, "1001")
done("api key information")

orders, executions, positions = Heard(), Heard(), Heard()
private = PrivateSocket(testnet=True, channel_type="private", api_key=KEY, api_secret=SECRET)
private.order_stream(callback=orders)
private.execution_stream(callback=executions)
private.position_stream(callback=positions)
done("private socket: auth and subscribe")

placed = http.place_order(**limit("interop-rest-1", "50000.0"))["result"]
assert placed["orderLinkId"] == "interop-rest-1" and placed["orderId"]
done("create")

try:
    http.place_order(**limit("interop-rest-1", "50000.0"))
    raise AssertionError("a duplicate was taken")
except exceptions.InvalidRequestError as error:
    assert error.status_code == 110072, error
done("duplicate")

until("the order is shown", lambda: order("interop-rest-1"))
row = http.get_open_orders(category="linear", symbol="BTCUSDT")["result"]["list"]
assert [one["orderLinkId"] for one in row] == ["interop-rest-1"]
done("open orders")

orders.wait("the order", lambda row: row["orderLinkId"] == "interop-rest-1" and row["orderStatus"] == "New")
done("private socket: order")

http.amend_order(category="linear", symbol="BTCUSDT", orderLinkId="interop-rest-1", price="50001.0")
until("the new price is shown", lambda: Decimal(order("interop-rest-1")["price"]) == 50001)
done("amend")

http.cancel_order(category="linear", symbol="BTCUSDT", orderLinkId="interop-rest-1")
until("it is closed", lambda: closed("interop-rest-1"))
assert closed("interop-rest-1")["orderStatus"] == "Cancelled"
done("cancel")

http.place_order(**limit("interop-rest-2", "60100.0"))
until("it filled", lambda: closed("interop-rest-2"))
assert closed("interop-rest-2")["orderStatus"] == "Filled"
done("history")

fills = http.get_executions(category="linear", symbol="BTCUSDT", orderLinkId="interop-rest-2")["result"]["list"]
assert sum(Decimal(fill["execQty"]) for fill in fills) == Decimal("0.01")
done("executions")

executions.wait("the fill", lambda row: row["orderLinkId"] == "interop-rest-2" and row["execType"] == "Trade")
done("private socket: execution")

held = http.get_positions(category="linear", symbol="BTCUSDT")["result"]["list"]
assert held[0]["side"] == "Buy" and Decimal(held[0]["size"]) == Decimal("0.01"), held
done("positions")

positions.wait("the position", lambda row: row["symbol"] == "BTCUSDT" and Decimal(row["size"]) == Decimal("0.01"))
done("private socket: position")

for at in range(3):
    http.place_order(**limit(f"interop-all-{at}", "50000.0"))
until("all are shown", lambda: all(order(f"interop-all-{at}") for at in range(3)))
taken = http.cancel_all_orders(category="linear", symbol="BTCUSDT")["result"]["list"]
assert len(taken) == 3, taken
until("none is open", lambda: not http.get_open_orders(category="linear", symbol="BTCUSDT")["result"]["list"])
done("cancel-all")

answers, warned = Heard(), Warned()
logging.getLogger("pybit").addHandler(warned)
logging.getLogger("pybit").propagate = False
trade = TradeSocket(testnet=True, api_key=KEY, api_secret=SECRET)
until("the trade socket is authenticated", lambda: trade.auth)
done("trade socket: auth")

trade.place_order(answers, **limit("interop-ws-1", "50000.0"))
until("it is shown", lambda: order("interop-ws-1"))
done("trade socket: create")

trade.place_order(answers, **limit("interop-ws-1", "50000.0"))
until("the duplicate is refused", lambda: any("retCode=110072" in text for text in warned.texts))
done("trade socket: duplicate")

trade.amend_order(answers, category="linear", symbol="BTCUSDT", orderLinkId="interop-ws-1", price="50002.0")
until("the new price is shown", lambda: Decimal(order("interop-ws-1")["price"]) == 50002)
done("trade socket: amend")

trade.cancel_order(answers, category="linear", symbol="BTCUSDT", orderLinkId="interop-ws-1")
until("it is closed", lambda: closed("interop-ws-1"))
done("trade socket: cancel")

print(f"pybit: {len(covered)} operations: {', '.join(covered)}")
