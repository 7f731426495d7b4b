//! The dead man's switch, over the wire of the simulated venue.

use std::time::Duration;

use serde_json::json;
use surefill_core::{
    Amount, Decision, Engine, OrdState, OrderIntent, OrderRecord, Side, VenueError,
};
use surefill_hyperliquid::{DeadMansSwitch, Hyperliquid, Keys};
use surefill_sim::hyperliquid::{Config, Handle, start};

use crate::book::keys;
use crate::world::{TIMING, engine_with, row, store, until_state};

/// A sub-account of the first built-in wallet.
const SUB_ACCOUNT: &str = "0x1d9470d4b963f552e6f671a81619d395877bf409";

struct Bench {
    sim: Handle,
    engine: Engine,
    switch: DeadMansSwitch,
}

impl Bench {
    async fn of(keys: Keys) -> Self {
        let sim = start(Config::default()).await.expect("a venue");
        let venue = Hyperliquid::simulator(&sim.url(), keys).with_timing(TIMING);
        let switch = venue.dead_mans_switch();
        let early = switch.arm(Duration::from_secs(60)).await;
        assert!(matches!(early, Err(VenueError::Config(_))), "{early:?}");
        let engine = engine_with(venue, &store()).await;
        Self {
            sim,
            engine,
            switch,
        }
    }

    async fn rests(&self, leg: u32) -> OrderRecord {
        let now = self.engine.venue_time(&"v".into()).expect("heard");
        let amount = Amount::Base("0.03".parse().expect("qty"));
        let price = "50000".parse().expect("px");
        let decision = Decision::new("grid-7", now.as_ms()).leg(leg);
        let intent = OrderIntent::limit(decision, "v", "BTC", Side::Buy, amount, price);
        let placed = row(&self.engine.place(intent).await.expect("placed"));
        assert_eq!(placed.state, OrdState::Acked);
        placed
    }

    async fn set(&self, target: &str, what: serde_json::Value) {
        let done = self.sim.control("POST", target, &what).await;
        done.expect(target);
    }

    async fn status(&self) -> String {
        let orders = self.sim.control("GET", "/orders", &json!(null)).await;
        orders.expect("orders")[0]["status"]
            .as_str()
            .expect("a status")
            .to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_cancels_the_orders_of_the_account_that_is_traded_for() {
    let sub = keys().for_vault(SUB_ACCOUNT).expect("an address");
    for keys in [keys(), sub] {
        let bench = Bench::of(keys).await;
        let order = bench.rests(0).await;
        let now = bench.engine.venue_time(&"v".into()).expect("heard");
        let at = bench
            .switch
            .arm(Duration::from_secs(60))
            .await
            .expect("armed");
        assert!(at.since(now) >= Duration::from_secs(59), "{at} {now}");
        bench.set("/clock", json!({"advance_ms": 61_000})).await;
        let ended = until_state(&bench.engine, &order, OrdState::Canceled).await;
        let reason = ended.reason.expect("a reason");
        assert_eq!(&*reason.code, "scheduledCancel", "the venue's word");
        assert!(bench.engine.halts().is_empty());
        bench.sim.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_moved_and_taken_back() {
    let bench = Bench::of(keys()).await;
    bench.rests(0).await;
    let first = bench
        .switch
        .arm(Duration::from_secs(60))
        .await
        .expect("armed");
    let moved = bench
        .switch
        .arm(Duration::from_secs(600))
        .await
        .expect("armed");
    assert!(moved > first);
    bench.set("/clock", json!({"advance_ms": 61_000})).await;
    // Each action makes the venue look at what is due, and the first after a jump of its clock is made by the old one.
    for _ in 0..2 {
        let expired = bench.switch.disarm().await;
        let Err(VenueError::Refused(reason)) = expired else {
            panic!("{expired:?}");
        };
        assert_eq!(&*reason.text, "Action already expired");
        let again = bench.switch.disarm().await;
        again.expect("taken back, or nothing to take back");
        bench.set("/clock", json!({"advance_ms": 600_000})).await;
    }
    assert_eq!(bench.status().await, "new");
    bench.sim.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_venue_refuses_is_told_in_its_words() {
    let bench = Bench::of(keys()).await;
    let soon = bench.switch.arm(Duration::from_millis(4_999)).await;
    assert!(matches!(soon, Err(VenueError::Config(_))), "{soon:?}");
    bench
        .set("/venue", json!({"schedule_volume": 1_000_000}))
        .await;
    let refused = bench.switch.arm(Duration::from_secs(60)).await;
    let Err(VenueError::Refused(reason)) = refused else {
        panic!("{refused:?}");
    };
    let text = "Cannot set scheduled cancel time until enough volume traded. Required: $1000000.";
    assert!(reason.text.starts_with(text), "{reason}");
    // An answer that is lost may be a yes.
    bench.set("/venue", json!({"schedule_volume": 0})).await;
    bench
        .set(
            "/faults",
            json!({"op": "any", "do": "reset_after", "times": 100}),
        )
        .await;
    let lost = bench.switch.arm(Duration::from_secs(60)).await;
    assert!(matches!(lost, Err(VenueError::Unreachable(_))), "{lost:?}");
    bench.sim.shutdown().await;
}
