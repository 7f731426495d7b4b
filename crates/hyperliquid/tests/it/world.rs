//! Engines over the adapter over a small venue.

use std::sync::Arc;
use std::time::Duration;

use surefill_core::{
    Amount, Cold, Decision, Engine, MemoryStore, OrdState, OrderIntent, OrderRecord, Placement,
    Resubmit, Side, Store, VenueTime,
};
use surefill_hyperliquid::{Hyperliquid, Timing};

use crate::book::{Venue, keys};
use crate::server::{NOW, now};

pub(crate) const TIMING: Timing = Timing {
    receive_window_ms: 600,
    visibility_lag_ms: 100,
    drain_ms: 50,
    margin_ms: 100,
    watch_ms: 300,
};

pub(crate) fn store() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new(VenueTime::from_ms(NOW)))
}

pub(crate) fn config(venue: &Venue) -> Hyperliquid {
    Hyperliquid::simulator(&venue.url, keys())
        .with_timing(TIMING)
        .with_poll(Duration::from_millis(50))
        .without_stream()
}

pub(crate) async fn engine(venue: &Venue, store: &Arc<MemoryStore>) -> Engine {
    engine_with(config(venue), store).await
}

pub(crate) async fn engine_with(config: Hyperliquid, store: &Arc<MemoryStore>) -> Engine {
    let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(store);
    let recovered = Cold::over(store).venue("v", config).recover().await;
    recovered.expect("recovered").0
}

pub(crate) fn intent(leg: u32) -> OrderIntent {
    let decision = Decision::new("grid-7", now()).leg(leg);
    let amount = Amount::Base("0.03".parse().expect("qty"));
    OrderIntent {
        ttl: Duration::from_secs(20),
        ..OrderIntent::limit(
            decision,
            "v",
            "BTC",
            Side::Buy,
            amount,
            "60000".parse().expect("px"),
        )
    }
}

pub(crate) fn once(leg: u32) -> OrderIntent {
    OrderIntent {
        resubmit: Resubmit::Never,
        ..intent(leg)
    }
}

pub(crate) fn row(placement: &Placement) -> OrderRecord {
    match placement {
        Placement::Live(order) | Placement::Done(order) | Placement::Unknown(order) => {
            order.latest()
        }
    }
}

/// Waits until the order's row is as wanted.
pub(crate) async fn until(
    engine: &Engine,
    row: &OrderRecord,
    what: &str,
    wanted: impl Fn(&OrderRecord) -> bool,
) -> OrderRecord {
    let mut last = None;
    for _ in 0..6_000 {
        let found = engine
            .order(row.id)
            .await
            .expect("readable")
            .expect("known")
            .latest();
        if wanted(&found) {
            return found;
        }
        last = Some(found);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what}: {last:#?}");
}

pub(crate) async fn until_state(
    engine: &Engine,
    row: &OrderRecord,
    state: OrdState,
) -> OrderRecord {
    until(engine, row, &format!("{state:?}"), |row| row.state == state).await
}
