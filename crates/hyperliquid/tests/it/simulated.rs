//! The adapter against the simulated venue, which shares no code with it: signatures, numbers and frames are the venue's own there.

use std::time::Duration;

use serde_json::{Value, json};
use surefill_core::{
    Amount, Decision, Engine, OrdState, OrderIntent, PlaceError, Side, TimeInForce,
};
use surefill_hyperliquid::{Hyperliquid, HyperliquidParams, Keys};
use surefill_sim::hyperliquid::{Config, Handle, start};

use crate::book::keys;
use crate::world::{TIMING, engine_with, row, store, until, until_state};

/// The vault and the sub-account of the first built-in wallet.
const VAULT: &str = "0x1719884eb866cb12b2287399b15f7db5e7d775ea";
const SUB_ACCOUNT: &str = "0x1d9470d4b963f552e6f671a81619d395877bf409";

async fn simulator() -> Handle {
    start(Config::default()).await.expect("started")
}

async fn bot(simulator: &Handle, keys: Keys) -> Engine {
    let config = Hyperliquid::simulator(&simulator.url(), keys).with_timing(TIMING);
    engine_with(config, &store()).await
}

fn intent(engine: &Engine, symbol: &str, qty: &str, price: &str, leg: u32) -> OrderIntent {
    let now = engine.venue_time(&"v".into()).expect("heard");
    let amount = Amount::Base(qty.parse().expect("qty"));
    OrderIntent::limit(
        Decision::new("grid-7", now.as_ms()).leg(leg),
        "v",
        symbol,
        Side::Buy,
        amount,
        price.parse().expect("px"),
    )
}

async fn orders(simulator: &Handle) -> Vec<Value> {
    let orders = simulator.control("GET", "/orders", &Value::Null).await;
    orders.expect("orders").as_array().expect("a list").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_on_perpetuals_and_spot_rest_and_are_canceled() {
    let simulator = simulator().await;
    let engine = bot(&simulator, keys()).await;
    for (leg, symbol, qty, price) in [(0, "BTC", "0.03", "50000"), (1, "PURR/USDC", "100", "4")] {
        let post_only = OrderIntent {
            time_in_force: TimeInForce::PostOnly,
            ..intent(&engine, symbol, qty, price, leg)
        };
        let placed = row(&engine.place(post_only).await.expect("placed"));
        assert_eq!(placed.state, OrdState::Acked, "{placed:?}");
        engine.cancel(placed.id).await.expect("asked");
        until_state(&engine, &placed, OrdState::Canceled).await;
    }
    assert_eq!(orders(&simulator).await.len(), 2);
    assert!(engine.halts().is_empty());
    simulator.shutdown().await;
}

/// A venue whose clock is not what it was heard to be refuses a cancel as expired: it hears the time and goes out again at once, not when
/// the reading is old.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_goes_out_after_a_jump_of_the_venues_clock() {
    let simulator = simulator().await;
    let engine = bot(&simulator, keys()).await;
    let placed = intent(&engine, "BTC", "0.03", "50000", 0);
    let placed = row(&engine.place(placed).await.expect("placed"));
    let jump = json!({"advance_ms": 3_600_000});
    simulator
        .control("POST", "/clock", &jump)
        .await
        .expect("jumped");
    engine.cancel(placed.id).await.expect("asked");
    until_state(&engine, &placed, OrdState::Canceled).await;
    assert!(engine.halts().is_empty());
    simulator.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_market_order_is_filled_and_its_fills_are_booked() {
    let simulator = simulator().await;
    let engine = bot(&simulator, keys()).await;
    let limit = intent(&engine, "BTC", "0.03", "1", 0);
    let market = OrderIntent::market(limit.decision, "v", "BTC", Side::Buy, limit.amount)
        .with_params(&HyperliquidParams { slippage_bps: 100 })
        .expect("params");
    let placed = row(&engine.place(market).await.expect("placed"));
    let done = until(&engine, &placed, "booked", |row| !row.fills_owed()).await;
    assert_eq!(done.state, OrdState::Filled);
    assert_eq!(done.booked_qty, "0.03".parse().expect("qty"));
    assert!(engine.halts().is_empty());
    simulator.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_and_a_sub_account_are_traded_for() {
    let simulator = simulator().await;
    for (leg, whom) in [(0, VAULT), (1, SUB_ACCOUNT)] {
        let engine = bot(&simulator, keys().for_vault(whom).expect("an address")).await;
        let intent = intent(&engine, "ETH", "0.5", "2500", leg);
        let placed = row(&engine.place(intent).await.expect("placed"));
        assert_eq!(placed.state, OrdState::Acked, "{placed:?}");
    }
    assert_eq!(orders(&simulator).await.len(), 2);
    simulator.shutdown().await;
}

/// An answer that is lost, a request that is lost, one that comes twice: one order each.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_lost_on_the_way_there_is_one_order() {
    for (what, fault) in [
        (
            "the answer",
            json!({"op": "create", "do": "drop_answer", "ms": 3_000}),
        ),
        (
            "the connection after it",
            json!({"op": "create", "do": "reset_after"}),
        ),
        (
            "the request",
            json!({"op": "create", "do": "reset_before", "times": 3}),
        ),
        ("nothing, twice", json!({"op": "create", "do": "duplicate"})),
        (
            "a gateway",
            json!({"op": "create", "do": "act_then_status:502"}),
        ),
    ] {
        let simulator = simulator().await;
        let engine = bot(&simulator, keys()).await;
        simulator
            .control("POST", "/faults", &fault)
            .await
            .expect("a fault");
        let intent = intent(&engine, "BTC", "0.03", "50000", 0);
        let placed = row(&engine.place(intent).await.expect("placed"));
        until_state(&engine, &placed, OrdState::Acked).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(orders(&simulator).await.len(), 1, "{what}");
        assert!(engine.halts().is_empty(), "{what}");
        simulator.shutdown().await;
    }
}

/// A request that waits on its way until it has expired is refused, uses its nonce up, and is never signed again.
#[tokio::test(flavor = "multi_thread")]
async fn what_expires_on_its_way_is_no_order() {
    let simulator = simulator().await;
    let engine = bot(&simulator, keys()).await;
    let fault = json!({"op": "create", "do": "hold", "ms": 1_500});
    simulator
        .control("POST", "/faults", &fault)
        .await
        .expect("a fault");
    let intent = intent(&engine, "BTC", "0.03", "50000", 0);
    let placed = row(&engine.place(intent).await.expect("placed"));
    let ended = until_state(&engine, &placed, OrdState::Rejected).await;
    assert_eq!(ended.attempts.len(), 1);
    assert!(orders(&simulator).await.is_empty());
    simulator.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_builders_dex_is_listed_and_takes_no_orders() {
    let simulator = simulator().await;
    let config = Hyperliquid::simulator(&simulator.url(), keys())
        .with_timing(TIMING)
        .with_dex("xyz");
    let engine = engine_with(config, &store()).await;
    let there = intent(&engine, "xyz:XYZ100", "1", "90", 0);
    let refused = engine.place(there).await.expect_err("refused");
    let PlaceError::Prepare(why) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.to_string().contains("builder's dex"), "{why}");
    assert!(orders(&simulator).await.is_empty());
    simulator.shutdown().await;
}
