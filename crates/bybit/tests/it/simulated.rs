//! The engine over the adapter over the simulated venue, which was written from the same notes and not from this crate.

use std::time::Duration;

use serde_json::json;
use surefill_bybit::{Bybit, id};
use surefill_core::{Cold, Engine, MemoryStore, OrdState, Order, Placement, VenueTime};
use surefill_sim::bybit::{Config, start};
use surefill_transport::{HttpClient, HttpConfig, Method, Request};

use crate::server::keys;
use crate::world::{intent, timing};

const SOON: Duration = Duration::from_secs(60);

/// An order that works, and is asked for once an hour: only the stream tells in time.
async fn live(sim: &str, change: fn(Bybit) -> Bybit) -> (Engine, Order) {
    let venue = Bybit::simulator(sim, keys())
        .with_timing(timing())
        .with_poll(Duration::from_secs(3_600));
    let cold = Cold::new(MemoryStore::new(VenueTime::from_ms(0))).venue("v", change(venue));
    let (engine, _report) = cold.recover().await.expect("recovered");
    let mut intent = intent();
    intent.decision.decided_at = engine.venue_time(&"v".into()).expect("heard");
    intent.ord_type = surefill_core::OrdType::Limit {
        price: "50000.0".parse().expect("px"),
    };
    let placed = tokio::time::timeout(SOON, engine.place(intent)).await;
    let Placement::Live(order) = placed.expect("in time").expect("placed") else {
        panic!("live")
    };
    (engine, order)
}

async fn control(sim: &str, path: &str, body: serde_json::Value) {
    let client = HttpClient::new(HttpConfig::default()).expect("a client");
    let request = Request::new(Method::Post, format!("{}/_sim/{path}", sim));
    let request = request
        .header("Content-Type", "application/json")
        .body(body.to_string());
    let answer = client.send(request, None).await.expect("answered");
    let text = String::from_utf8_lossy(answer.body()).into_owned();
    assert_eq!(answer.status(), 200, "{text}");
}

async fn filled(sim: &str, order: Order) {
    let fill = json!({"cl_ord_id": id::spell(&order.id()), "qty": "0.030", "price": "50000.0"});
    control(sim, "fill", fill).await;
    let row = tokio::time::timeout(SOON, order.done())
        .await
        .expect("in time");
    assert_eq!(row.state, OrdState::Filled);
    assert_eq!(row.booked_qty, "0.030".parse().expect("qty"));
    assert_eq!(row.order_ids.len(), 1);
}

#[tokio::test]
async fn the_stream_tells_of_a_fill() {
    let sim = start(Config::default()).await.expect("a simulator");
    let (_engine, order) = live(&sim.url(), |venue| venue).await;
    filled(&sim.url(), order).await;
}

#[tokio::test]
async fn over_the_trade_socket_an_order_is_created_and_canceled() {
    let sim = start(Config::default()).await.expect("a simulator");
    let (engine, order) = live(&sim.url(), Bybit::with_trade_socket).await;
    engine.cancel(order.id()).await.expect("asked");
    let row = tokio::time::timeout(SOON, order.done())
        .await
        .expect("in time");
    assert_eq!(row.state, OrdState::Canceled);
}

#[tokio::test]
async fn what_a_stream_that_drops_did_not_tell_is_found_by_looking() {
    let sim = start(Config::default()).await.expect("a simulator");
    let often = |venue: Bybit| venue.with_poll(Duration::from_millis(100));
    let (_engine, order) = live(&sim.url(), often).await;
    let drop = json!({"op": "stream", "nth": 1, "times": 1, "do": "stream_drop", "ms": 0});
    control(&sim.url(), "faults", drop).await;
    filled(&sim.url(), order).await;
}
