//! The engine over the adapter over a socket: whatever is lost on the way, one order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use surefill_bybit::Bybit;
use surefill_core::{
    Cold, Decision, Engine, MemoryStore, OrdState, OrderIntent, PlaceError, Placement, Symbol,
    VenueTime,
};

use crate::server::{Asked, Reply, Server, keys, now};
use crate::world::{fill_row, intent, listing, order_row, page, timing};

/// What happens to one create.
enum Fault {
    /// It is taken, and the answer is this.
    PlacedThen(Reply),
    /// It is not taken, and the answer is this.
    LostWith(Reply),
}

#[derive(Default)]
struct Book {
    orders: Vec<Value>,
    fills: Vec<Value>,
    faults: VecDeque<Fault>,
}

impl Book {
    fn place(&mut self, body: &str) -> Reply {
        let body: Value = serde_json::from_str(body).expect("JSON");
        let key = body["orderLinkId"].as_str().expect("an id");
        if self.orders.iter().any(|order| order["orderLinkId"] == key) {
            return Reply::Code(110_072, "OrderLinkedID is duplicate");
        }
        let order_id = format!("o-{}", self.orders.len() + 1);
        let mut row = order_row(&order_id, key, "New", "0");
        row["updatedTime"] = json!(now().to_string());
        self.orders.push(row);
        Reply::Ok(json!({"orderId": order_id, "orderLinkId": key}))
    }

    fn create(&mut self, body: &str) -> Reply {
        match self.faults.pop_front() {
            None => self.place(body),
            Some(Fault::LostWith(reply)) => reply,
            Some(Fault::PlacedThen(reply)) => {
                self.place(body);
                reply
            }
        }
    }

    fn fill(&mut self) {
        let order = self.orders.last_mut().expect("an order");
        order["orderStatus"] = json!("Filled");
        order["cumExecQty"] = json!("0.030");
        order["avgPrice"] = json!("60000");
        order["updatedTime"] = json!(now().to_string());
        let (order_id, key) = (order["orderId"].clone(), order["orderLinkId"].clone());
        let row = |exec, qty| {
            let (order_id, key) = (order_id.as_str(), key.as_str());
            fill_row(order_id.expect("an id"), key.expect("a key"), exec, qty)
        };
        self.fills = vec![row("e-1", "0.010"), row("e-2", "0.020")];
    }

    fn cancel(&mut self, body: &str) -> Reply {
        let body: Value = serde_json::from_str(body).expect("JSON");
        let id = body["orderLinkId"].clone();
        let mut open = self
            .orders
            .iter_mut()
            .filter(|order| order["orderStatus"] == "New");
        match open.find(|order| order["orderLinkId"] == id) {
            None => Reply::Code(110_001, "order not exists or too late to cancel"),
            Some(order) => {
                order["orderStatus"] = json!("Cancelled");
                order["updatedTime"] = json!(now().to_string());
                Reply::Ok(json!({"orderId": order["orderId"], "orderLinkId": id}))
            }
        }
    }

    fn answer(&mut self, asked: &Asked) -> Reply {
        let by_key = |row: &&Value| {
            let key = asked.param("orderLinkId");
            key.is_none_or(|key| row["orderLinkId"] == key)
        };
        let open = |row: &&Value| row["orderStatus"] == "New";
        let some_id = asked.param("orderLinkId").is_some();
        match asked.line().as_str() {
            "POST /v5/order/create" => self.create(&asked.body),
            "POST /v5/order/cancel" => self.cancel(&asked.body),
            "GET /v5/order/realtime" => {
                let rows = self.orders.iter().filter(by_key);
                Reply::Ok(page(rows.filter(|row| some_id || open(row)).cloned(), ""))
            }
            "GET /v5/order/history" => {
                let rows = self.orders.iter().filter(by_key);
                Reply::Ok(page(rows.filter(|row| !open(row)).cloned(), ""))
            }
            "GET /v5/execution/list" => {
                Reply::Ok(page(self.fills.iter().filter(by_key).cloned(), ""))
            }
            "GET /v5/position/list" => Reply::Ok(page([], "")),
            "GET /v5/market/time" => Reply::Ok(json!({"timeNano": format!("{}000000", now())})),
            "GET /v5/market/instruments-info" if asked.param("symbol") == Some("BTCUSDT") => {
                Reply::Ok(listing())
            }
            "GET /v5/market/instruments-info" => Reply::Code(10_001, "symbol invalid"),
            "GET /v5/user/query-api" => Reply::Ok(json!({"userID": "4711", "readOnly": 0})),
            "GET /v5/account/info" => Reply::Ok(json!({"unifiedMarginStatus": 5})),
            other => panic!("not asked for: {other}"),
        }
    }
}

struct Bench {
    server: Server,
    book: Arc<Mutex<Book>>,
    engine: Engine,
}

impl Bench {
    async fn new(faults: impl IntoIterator<Item = Fault>) -> Self {
        let book = Arc::new(Mutex::new(Book {
            faults: faults.into_iter().collect(),
            ..Book::default()
        }));
        let told = Arc::clone(&book);
        let server = Server::running(move |asked| told.lock().expect("lock").answer(asked)).await;
        let venue = Bybit::simulator(&server.url, keys())
            .with_timing(timing())
            .without_stream();
        let store = MemoryStore::new(VenueTime::from_ms(now()));
        let (engine, report) = Cold::new(store)
            .venue("v", venue)
            .recover()
            .await
            .expect("recovered");
        assert!(report.halts.is_empty(), "{report:?}");
        Self {
            server,
            book,
            engine,
        }
    }

    async fn place(&self) -> Placement {
        bounded(self.engine.place(fresh())).await.expect("placed")
    }

    fn orders(&self) -> usize {
        self.book.lock().expect("lock").orders.len()
    }

    fn creates(&self) -> Vec<String> {
        let asked = self.server.asked().into_iter();
        let creates = asked.filter(|asked| asked.path == "/v5/order/create");
        creates.map(|asked| asked.body).collect()
    }
}

fn fresh() -> OrderIntent {
    OrderIntent {
        decision: Decision::new("grid-7", now()),
        ..intent()
    }
}

/// A bound against hanging; no test is decided by it.
async fn bounded<T>(future: impl Future<Output = T>) -> T {
    let bound = Duration::from_secs(60);
    tokio::time::timeout(bound, future).await.expect("an end")
}

#[tokio::test]
async fn an_order_is_placed_filled_and_its_fills_are_booked_once() {
    let bench = Bench::new([]).await;
    let Placement::Live(order) = bench.place().await else {
        panic!("live")
    };
    bench.book.lock().expect("lock").fill();
    let row = bounded(order.done()).await;
    assert_eq!(row.state, OrdState::Filled);
    assert_eq!(row.cum_qty.to_string(), "0.030");
    assert_eq!(bench.engine.fills(row.id).await.expect("fills").len(), 2);
    assert_eq!(bench.creates().len(), 1);
}

#[tokio::test]
async fn a_lost_answer_ends_as_one_order() {
    for reply in [
        Reply::Raw(502, "<html>"),
        Reply::Reset,
        Reply::Cut,
        Reply::Silence,
        Reply::Code(10_000, "Server Timeout"),
    ] {
        let bench = Bench::new([Fault::PlacedThen(reply)]).await;
        let order = match bench.place().await {
            Placement::Live(order) | Placement::Done(order) | Placement::Unknown(order) => order,
        };
        let row = bounded(order.settled()).await;
        assert_eq!(row.state, OrdState::Acked, "{row:?}");
        assert_eq!(bench.orders(), 1);
    }
}

#[tokio::test]
async fn a_lost_request_ends_as_one_order() {
    for reply in [
        Reply::Raw(504, "<html>"),
        Reply::Reset,
        Reply::Code(10_016, "Server error."),
        Reply::Code(10_006, "Too many visits."),
    ] {
        let bench = Bench::new([Fault::LostWith(reply)]).await;
        let order = match bench.place().await {
            Placement::Live(order) | Placement::Done(order) | Placement::Unknown(order) => order,
        };
        let row = bounded(order.settled()).await;
        assert_eq!(row.state, OrdState::Acked, "{row:?}");
        assert_eq!(bench.orders(), 1);
        assert_eq!(bench.creates().len(), 2);
        let creates = bench.creates();
        assert_eq!(creates[0], creates[1], "the same order under the same id");
    }
}

#[tokio::test]
async fn a_cancel_ends_the_order() {
    let bench = Bench::new([]).await;
    let Placement::Live(order) = bench.place().await else {
        panic!("live")
    };
    let id = order.latest().id;
    bounded(bench.engine.cancel(id)).await.expect("asked");
    let row = bounded(order.done()).await;
    assert_eq!(row.state, OrdState::Canceled);
    assert_eq!(bench.orders(), 1);
}

#[tokio::test]
async fn an_unknown_symbol_is_an_error_that_names_it_and_no_create_is_sent() {
    let bench = Bench::new([]).await;
    let symbol = Symbol::from("NOPEUSDT");
    let refused = bench.engine.place(OrderIntent { symbol, ..fresh() }).await;
    let Err(error @ PlaceError::Prepare(_)) = refused else {
        panic!("{refused:?}")
    };
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    let said = format!("{error} {}", cause.unwrap_or_default());
    assert!(said.contains("NOPEUSDT"), "{said}");
    assert_eq!(bench.creates().len(), 0);
}
