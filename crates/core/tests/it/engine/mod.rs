//! The engine over a scripted venue and the store in memory.

mod cancels;
mod halts;
mod placing;
mod reports;
mod restarts;

use std::sync::atomic::Ordering;
use std::time::Duration;

use surefill_core::*;

use crate::fake_venue::{FakeVenue, by_key};

pub(crate) const BOUND: Duration = Duration::from_secs(60);

pub(crate) fn qty(text: &str) -> Qty {
    text.parse().unwrap()
}

pub(crate) fn intent(venue: &FakeVenue, strategy: &str) -> OrderIntent {
    let decision = Decision::new(strategy, venue.now_ms());
    let amount = Amount::Base(qty("0.03"));
    OrderIntent::limit(
        decision,
        "v",
        "BTCUSDT",
        Side::Buy,
        amount,
        "60000".parse().unwrap(),
    )
}

pub(crate) async fn start(store: &MemoryStore, venue: &FakeVenue) -> (Engine, RecoveryReport) {
    *venue.0.journal.lock().unwrap() = Some(store.clone());
    Cold::new(store.clone())
        .venue("v", venue.clone())
        .recover()
        .await
        .expect("recovered")
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(BOUND, future)
        .await
        .expect("within the bound")
}

/// Waits until the condition holds, up to the bound.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let ends = tokio::time::Instant::now() + BOUND;
    while !holds().await {
        assert!(
            tokio::time::Instant::now() < ends,
            "the condition did not come to hold"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The promises that hold after every test.
pub(crate) async fn referee(venue: &FakeVenue) {
    assert!(
        by_key(venue).values().all(|count| *count == 1),
        "two orders for one intent: {:?}",
        venue.held()
    );
    assert_eq!(
        venue.0.unjournaled_sends.load(Ordering::Acquire),
        0,
        "a byte left before its attempt was durable"
    );
}
