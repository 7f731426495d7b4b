"""The official hyperliquid-python-sdk against the simulated Hyperliquid, unchanged: only its base_url is another.

Argument: the simulator's ready line. Prints each operation that went through; any surprise ends it with a traceback.
"""

import json
import sys
import threading
import time

import eth_account
import requests
from hyperliquid.exchange import Exchange
from hyperliquid.info import Info
from hyperliquid.utils.error import ClientError
from hyperliquid.utils.signing import get_timestamp_ms, sign_l1_action
from hyperliquid.utils.types import Cloid

KEY = "0x0123456789012345678901234567890123456789012345678901234567890123"
OTHER_KEY = "0x" + "22" * 32
SUB_ACCOUNT = "0x1d9470d4b963f552e6f671a81619d395877bf409"
VAULT = "0x1719884eb866cb12b2287399b15f7db5e7d775ea"
PATIENCE_S = 20
GTC = {"limit": {"tif": "Gtc"}}
IOC = {"limit": {"tif": "Ioc"}}
ALO = {"limit": {"tif": "Alo"}}

ready = json.loads(sys.argv[1])
url = ready["rest"]
covered = []


def done(operation):
    covered.append(operation)
    print(f"ok  {operation}", flush=True)


def cloid(number):
    return Cloid.from_int(number)


def statuses(answer):
    assert answer["status"] == "ok", answer
    return answer["response"]["data"]["statuses"]


def only(answer):
    (status,) = statuses(answer)
    return status


def default(answer):
    assert answer == {"status": "ok", "response": {"type": "default"}}, answer


class Heard:
    """Messages of one subscription."""

    def __init__(self):
        self.messages = []
        self.changed = threading.Condition()

    def __call__(self, message):
        with self.changed:
            self.messages.append(message["data"])
            self.changed.notify_all()

    def wait(self, what, fits):
        ends = time.monotonic() + PATIENCE_S
        with self.changed:
            while True:
                for message in self.messages:
                    if fits(message):
                        return message
                left = ends - time.monotonic()
                assert left > 0, f"not heard: {what}; heard {self.messages}"
                self.changed.wait(left)


wallet = eth_account.Account.from_key(KEY)
address = wallet.address.lower()
info = Info(url, skip_ws=True, perp_dexs=["", "xyz"])
exchange = Exchange(wallet, url, perp_dexs=["", "xyz"])

# What is listed.
assert [row["name"] for row in info.meta()["universe"]][:3] == ["BTC", "ETH", "SOL"]
assert info.meta(dex="xyz")["universe"][0]["name"] == "xyz:XYZ100"
assert (info.name_to_asset("BTC"), info.name_to_asset("PURR/USDC"), info.name_to_asset("xyz:XYZ100")) == (0, 10000, 110000)
done("Info: meta, spot_meta, perp_dexs, asset ids")
meta, contexts = info.meta_and_asset_ctxs()
assert len(meta["universe"]) == len(contexts)
spot_meta, spot_contexts = info.spot_meta_and_asset_ctxs()
assert len(spot_meta["universe"]) == len(spot_contexts)
done("Info: meta_and_asset_ctxs, spot_meta_and_asset_ctxs")
assert info.all_mids()["BTC"] == "60000.0" and info.all_mids("xyz") == {"xyz:XYZ100": "100.0"}
bids, asks = info.l2_snapshot("ETH")["levels"]
assert (bids[0]["px"], asks[0]["px"], len(bids)) == ("2999.9", "3000.1", 20)
done("Info: all_mids, l2_snapshot")
assert info.user_role(address) == {"role": "user"}
assert info.query_sub_accounts(address)[0]["subAccountUser"] == SUB_ACCOUNT
done("Info: user_role, query_sub_accounts")

# Sockets, heard from the first order on.
listener = Info(url)
streams = {}
for kind in ["orderUpdates", "userFills", "userEvents"]:
    streams[kind] = Heard()
    listener.subscribe({"type": kind, "user": wallet.address}, streams[kind])
for kind in ["l2Book", "trades"]:
    streams[kind] = Heard()
    listener.subscribe({"type": kind, "coin": "ETH"}, streams[kind])
streams["allMids"] = Heard()
listener.subscribe({"type": "allMids"}, streams["allMids"])
streams["userFills"].wait("the snapshot of fills", lambda data: data.get("isSnapshot") is True)
streams["l2Book"].wait("the book", lambda data: data["coin"] == "ETH")
streams["allMids"].wait("the mids", lambda data: data["mids"]["ETH"] == "3000.0")
done("Info.subscribe: userFills snapshot, l2Book, allMids")

# A resting order: placed, looked up, listed, canceled.
status = only(exchange.order("ETH", True, 0.02, 2400.5, GTC, cloid=cloid(1)))
oid = status["resting"]["oid"]
assert status["resting"]["cloid"] == cloid(1).to_raw()
done("Exchange.order: resting GTC with a cloid")
by_oid, by_cloid = info.query_order_by_oid(address, oid), info.query_order_by_cloid(address, cloid(1))
assert by_oid == by_cloid and by_oid["order"]["status"] == "open", (by_oid, by_cloid)
assert by_oid["order"]["order"]["limitPx"] == "2400.5"
done("Info.query_order_by_oid, query_order_by_cloid")
assert [row["oid"] for row in info.open_orders(address)] == [oid]
assert [row["cloid"] for row in info.frontend_open_orders(address)] == [cloid(1).to_raw()]
done("Info.open_orders, frontend_open_orders")
assert only(exchange.cancel("ETH", oid)) == "success"
assert "never placed, already canceled, or filled" in only(exchange.cancel("ETH", oid))["error"]
done("Exchange.cancel: once, and again")
exchange.order("ETH", True, 0.02, 2400.5, ALO, cloid=cloid(2))
assert only(exchange.cancel_by_cloid("ETH", cloid(2))) == "success"
assert info.query_order_by_cloid(address, cloid(2))["order"]["status"] == "canceled"
done("Exchange.cancel_by_cloid")
assert info.query_order_by_cloid(address, cloid(99)) == {"status": "unknownOid"}
done("Info.query_order_by_cloid: unknownOid")
update = streams["orderUpdates"].wait(
    "the cancel", lambda data: any(row["order"].get("cloid") == cloid(2).to_raw() and row["status"] == "canceled" for row in data)
)
done("Info.subscribe: orderUpdates")

# Modify.
oid = only(exchange.order("ETH", True, 0.02, 2400.5, GTC, cloid=cloid(3)))["resting"]["oid"]
new = only(exchange.modify_order(oid, "ETH", True, 0.03, 2401, GTC, cloid=cloid(4)))["resting"]["oid"]
assert info.query_order_by_oid(address, oid)["order"]["status"] == "canceled"
newer = only(exchange.modify_order(cloid(4), "ETH", True, 0.03, 2402, GTC, cloid=cloid(4)))["resting"]["oid"]
assert info.query_order_by_cloid(address, cloid(4))["order"]["order"]["oid"] == newer != new
done("Exchange.modify_order: by oid and by cloid")
rows = [{"oid": newer, "order": {"coin": "ETH", "is_buy": True, "sz": 0.04, "limit_px": 2403, "order_type": GTC, "reduce_only": False, "cloid": cloid(5)}}]
assert "resting" in statuses(exchange.bulk_modify_orders_new(rows))[0]
gone = only(exchange.modify_order(oid, "ETH", True, 0.02, 2400, GTC))
assert gone == {"error": "Cannot modify canceled or filled order"}
done("Exchange.bulk_modify_orders_new, and of an order that is gone")
assert only(exchange.cancel_by_cloid("ETH", cloid(5))) == "success"


# Batches.
def row(number, price, kind=GTC, size=0.02):
    return {"coin": "ETH", "is_buy": True, "sz": size, "limit_px": price, "order_type": kind, "reduce_only": False, "cloid": cloid(number)}


first, second, third = statuses(exchange.bulk_orders([row(10, 2400), row(11, 2401), row(12, 2402)]))
assert all("resting" in status for status in (first, second, third))
answers = statuses(exchange.bulk_cancel([{"coin": "ETH", "oid": first["resting"]["oid"]}, {"coin": "ETH", "oid": 1}]))
assert answers[0] == "success" and "error" in answers[1]
answers = statuses(exchange.bulk_cancel_by_cloid([{"coin": "ETH", "cloid": cloid(11)}, {"coin": "ETH", "cloid": cloid(12)}]))
assert answers == ["success", "success"]
done("Exchange.bulk_orders, bulk_cancel, bulk_cancel_by_cloid")
for wrong in ([row(13, 2400), row(14, 2400, size=0.00001)], [row(15, 2400.55), row(16, 2400)]):
    assert list(only(exchange.bulk_orders(wrong))) == ["error"]
assert info.query_order_by_cloid(address, cloid(13)) == {"status": "unknownOid"}
done("Exchange.bulk_orders: one static error for the whole batch, no record")
assert "minimum value" in only(exchange.order("ETH", True, 0.001, 2400, GTC, cloid=cloid(17)))["error"]
assert info.query_order_by_cloid(address, cloid(17))["order"]["status"] == "minTradeNtlRejected"
assert "immediately matched" in only(exchange.order("ETH", True, 0.02, 3100, ALO, cloid=cloid(18)))["error"]
assert info.query_order_by_cloid(address, cloid(18))["order"]["status"] == "badAloPxRejected"
assert "could not immediately match" in only(exchange.order("ETH", True, 0.02, 2900, IOC, cloid=cloid(19)))["error"]
assert info.query_order_by_cloid(address, cloid(19))["order"]["status"] == "iocCancelRejected"
done("Exchange.order: refusals with a record")

# Positions.
filled = only(exchange.market_open("ETH", True, 0.5, cloid=cloid(20)))["filled"]
assert (filled["totalSz"], filled["avgPx"]) == ("0.5", "3000.1"), filled
assert info.user_state(address)["assetPositions"][0]["position"]["szi"] == "0.5"
done("Exchange.market_open, Info.user_state")
assert info.query_order_by_cloid(address, cloid(20))["order"]["status"] == "filled"
fills = info.user_fills(address)
assert [(fill["cloid"], fill["dir"], fill["feeToken"]) for fill in fills] == [(cloid(20).to_raw(), "Open Long", "USDC")]
assert info.user_fills_by_time(address, fills[0]["time"], fills[0]["time"]) == fills
done("Info.user_fills, user_fills_by_time")
streams["userFills"].wait("the fill", lambda data: not data.get("isSnapshot") and data["fills"][0]["oid"] == filled["oid"])
streams["userEvents"].wait("the fill", lambda data: data.get("fills", [{}])[0].get("oid") == filled["oid"])
streams["trades"].wait("the trade", lambda data: data[0]["coin"] == "ETH" and data[0]["sz"] == "0.5")
done("Info.subscribe: userFills, userEvents, trades")
closed = only(exchange.market_close("ETH", cloid=cloid(21)))["filled"]
assert closed["totalSz"] == "0.5" and info.user_state(address)["assetPositions"] == []
done("Exchange.market_close")
part = only(exchange.order("ETH", True, 300, 3000.2, IOC, cloid=cloid(22)))["filled"]
seen = info.query_order_by_cloid(address, cloid(22))["order"]
assert (part["totalSz"], seen["status"], seen["order"]["sz"]) == ("2.0", "filled", "298.0"), (part, seen)
exchange.market_close("ETH")
done("Exchange.order: an IOC that is filled in part is `filled`")
assert "filled" in only(exchange.market_open("PURR/USDC", True, 10))
assert {row["coin"]: row["total"] for row in info.spot_user_state(address)["balances"]}["PURR"] == "109.993"
done("Exchange.market_open on spot, Info.spot_user_state")
assert "filled" in only(exchange.market_open("xyz:XYZ100", True, 0.5))
assert info.user_state(address, "xyz")["assetPositions"][0]["position"]["coin"] == "xyz:XYZ100"
assert "filled" in only(exchange.market_close("xyz:XYZ100"))
resting = only(exchange.order("xyz:XYZ100", True, 0.5, 90, GTC))["resting"]["oid"]
assert [row["oid"] for row in info.open_orders(address, "xyz")] == [resting] and info.open_orders(address) == []
assert only(exchange.cancel("xyz:XYZ100", resting)) == "success"
done("a builder's dex: market_open, market_close, open_orders with and without its name")

# Nonces, as a client that sends its bytes again sees them.
sent = []
post = exchange.session.post


def recording(where, json=None, timeout=None):
    sent.append(json)
    return post(where, json=json, timeout=timeout)


exchange.session.post = recording
assert "resting" in only(exchange.order("ETH", True, 0.02, 2400, GTC, cloid=cloid(30)))
exchange.session.post = post
again = exchange.post("/exchange", sent[0])
assert again == {"status": "err", "response": f"Invalid nonce: duplicate nonce {sent[0]['nonce']}"}, again
assert only(exchange.order("ETH", True, 0.02, 2400, GTC, cloid=cloid(30)))["resting"]["oid"] > 0
open_now = [row for row in info.open_orders(address) if row["cloid"] == cloid(30).to_raw()]
assert len(open_now) == 2, open_now
done("the same bytes again: duplicate nonce; the same cloid signed again: a second order")


def noop(nonce):
    action = {"type": "noop"}
    return exchange._post_action(action, sign_l1_action(wallet, action, None, nonce, None, False), nonce)


nonce = get_timestamp_ms() + 50
default(noop(nonce))
assert noop(nonce)["response"] == f"Invalid nonce: duplicate nonce {nonce}"
assert noop(nonce - 3 * 86_400_000)["response"].startswith("Invalid nonce: nonce too low")
assert noop(nonce + 2 * 86_400_000)["response"].startswith("Invalid nonce: nonce too high")
done("noop: a free nonce, a used one, one too low, one too high")
exchange.set_expires_after(get_timestamp_ms() - 1_000)
assert exchange.order("ETH", True, 0.02, 2400, GTC) == {"status": "err", "response": "Action already expired"}
exchange.set_expires_after(get_timestamp_ms() + 60_000)
assert statuses(exchange.bulk_cancel_by_cloid([{"coin": "ETH", "cloid": cloid(30)}] * 2)) == ["success", "success"]
exchange.set_expires_after(None)
done("Exchange.set_expires_after: past and ahead")

# Account settings.
default(exchange.update_leverage(5, "ETH"))
default(exchange.update_leverage(5, "ETH", is_cross=False))
done("Exchange.update_leverage")
exchange.order("ETH", True, 0.02, 2400, GTC, cloid=cloid(40))
default(exchange.schedule_cancel(get_timestamp_ms() + 10_000))
default(exchange.schedule_cancel(None))
default(exchange.schedule_cancel(get_timestamp_ms() + 6_000))
requests.post(ready["control"] + "/clock", json={"advance_ms": 6_000}, timeout=PATIENCE_S).raise_for_status()
streams["orderUpdates"].wait("the scheduled cancel", lambda data: any(row["status"] == "scheduledCancel" for row in data))
assert info.query_order_by_cloid(address, cloid(40))["order"]["status"] == "scheduledCancel"
done("Exchange.schedule_cancel: set, taken back, fired")

# Agents, sub-accounts and vaults.
approved, agent_key = exchange.approve_agent("surefill")
default(approved)
agent = eth_account.Account.from_key(agent_key)
assert [row["name"] for row in info.extra_agents(address)] == ["surefill"]
assert info.user_role(agent.address) == {"role": "agent", "data": {"user": address}}
trader = Exchange(agent, url, account_address=address)
assert "resting" in only(trader.order("ETH", True, 0.02, 2400, GTC, cloid=cloid(50)))
assert info.query_order_by_cloid(agent.address, cloid(50)) == {"status": "unknownOid"}
assert only(trader.cancel_by_cloid("ETH", cloid(50))) == "success"
done("Exchange.approve_agent: named; the agent trades for its master; extra_agents, user_role")
approved, unnamed_key = exchange.approve_agent()
default(approved)
unnamed = Exchange(eth_account.Account.from_key(unnamed_key), url, account_address=address)
assert "filled" in only(unnamed.market_open("ETH", True, 0.02)) and "filled" in only(unnamed.market_close("ETH"))
done("Exchange.approve_agent: unnamed")
default(exchange.approve_agent("surefill")[0])
assert "does not exist" in trader.order("ETH", True, 0.02, 2400, GTC)["response"]
done("Exchange.approve_agent: the agent that is replaced is refused")
stranger = Exchange(eth_account.Account.create(), url)
assert "does not exist" in stranger.order("ETH", True, 0.02, 2400, GTC)["response"]
done("a key without an account is refused by its address")
for owned in (SUB_ACCOUNT, VAULT):
    for key in (wallet, eth_account.Account.from_key(unnamed_key)):
        child = Exchange(key, url, vault_address=owned)
        assert "resting" in only(child.order("ETH", True, 0.02, 2400, GTC, cloid=cloid(60)))
        assert [row["cloid"] for row in info.open_orders(owned)] == [cloid(60).to_raw()]
        assert only(child.cancel_by_cloid("ETH", cloid(60))) == "success"
assert info.user_role(SUB_ACCOUNT)["role"] == "subAccount" and info.user_role(VAULT)["role"] == "vault"
done("vault_address: a sub-account and a vault, by their owner and by its agent")
other = Exchange(eth_account.Account.from_key(OTHER_KEY), url, vault_address=SUB_ACCOUNT)
assert other.order("ETH", True, 0.02, 2400, GTC)["response"] == f"Vault not registered: {SUB_ACCOUNT}"
done("vault_address: of another user, refused")

# The rest.
assert {row["status"] for row in info.historical_orders(address)} >= {"open", "filled", "canceled", "minTradeNtlRejected"}
done("Info.historical_orders")
limit = info.user_rate_limit(address)
assert limit["nRequestsUsed"] > 0 and limit["nRequestsCap"] > 10_000
done("Info.user_rate_limit")
try:
    info.post("/info", {"type": "noSuchThing"})
    raise AssertionError("not refused")
except ClientError as error:
    assert error.status_code == 422
done("ClientError: 422")
listener.disconnect_websocket()
done("Info.disconnect_websocket")

print(f"hyperliquid-python-sdk: {len(covered)} operations went through")
