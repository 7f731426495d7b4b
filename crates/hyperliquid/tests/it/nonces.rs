//! Nonces after a clock that was far ahead: no order is signed that the venue would refuse, and cancels go out.

use std::sync::Arc;
use std::time::Duration;

use surefill_core::{Connect, MemoryStore, OrdState, PlaceError, RevocationState, Store};
use surefill_hyperliquid::Leverage;

use crate::book::{Fault, Venue};
use crate::server::{Reply, now};
use crate::world::{config, engine, engine_with, intent, row, store, until, until_state};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// The mark of a process whose clock was two days ahead.
async fn ahead(venue: &Venue, store: &Arc<MemoryStore>) {
    let scope = config(venue).nonce_scope().expect("a scope");
    let mark = now() + 2 * DAY_MS;
    store.reserve(&scope, mark, 1).await.expect("reserved");
}

/// Every nonce that was posted is one that the venue takes, and none comes twice.
fn all_within_reach(venue: &Venue, kinds: &[&str]) {
    let mut all = Vec::new();
    for kind in kinds {
        let posted = venue.posted(kind);
        assert!(!posted.is_empty(), "no {kind}");
        all.extend(posted.into_iter().map(|(nonce, _)| nonce));
    }
    assert!(all.iter().all(|nonce| *nonce < now() + DAY_MS), "{all:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_refused_before_anything_is_sent() {
    let (venue, store) = (Venue::start().await, store());
    ahead(&venue, &store).await;
    let engine = engine(&venue, &store).await;
    let refused = engine.place(intent(0)).await.expect_err("refused");
    let PlaceError::Prepare(why) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.to_string().contains("too far ahead"), "{why}");
    assert!(
        why.to_string()
            .contains("the venue refuses it for another "),
        "how long: {why}"
    );
    assert!(venue.posted("order").is_empty());
    // The symbol is not in doubt, and no halt is needed: each entry is refused for itself.
    assert!(engine.halts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn cancels_go_out_by_order_id_and_by_ours() {
    let (venue, store) = (Venue::start().await, store());
    let first = engine(&venue, &store).await;
    let mut placed = Vec::new();
    for leg in 0..3 {
        placed.push(row(&first.place(intent(leg)).await.expect("placed")));
    }
    let next = Arc::new(store.crash());
    drop(first);
    ahead(&venue, &next).await;
    let engine = engine(&venue, &next).await;
    engine.cancel(placed[0].id).await.expect("asked");
    until_state(&engine, &placed[0], OrdState::Canceled).await;
    engine
        .cancel_all(&placed[1].account_scope())
        .await
        .expect("asked");
    for row in &placed[1..] {
        until_state(&engine, row, OrdState::Canceled).await;
    }
    all_within_reach(&venue, &["cancel"]);
}

/// A noop has the nonce of its order, wherever the mark is; so the end of one in doubt does not wait for the clock.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_doubt_is_revoked() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty((0..50).map(|_| Fault::Lost(Reply::Reset)));
    let first = engine(&venue, &store).await;
    let placed = row(&first.place(intent(0)).await.expect("placed"));
    let next = Arc::new(store.crash());
    drop(first);
    ahead(&venue, &next).await;
    let engine = engine(&venue, &next).await;
    engine.cancel(placed.id).await.expect("asked");
    let ended = until_state(&engine, &placed, OrdState::Canceled).await;
    assert_eq!(ended.attempts[0].revocation, RevocationState::Revoked);
    all_within_reach(&venue, &["noop"]);
}

/// A setting comes before an order, so it waits like one.
#[tokio::test(flavor = "multi_thread")]
async fn settings_wait_like_orders() {
    let (venue, store) = (Venue::start().await, store());
    ahead(&venue, &store).await;
    let levered = config(&venue).with_leverage("BTC", Leverage::Cross(5));
    let engine = engine_with(levered, &store).await;
    let refused = engine.place(intent(0)).await.expect_err("refused");
    let PlaceError::Venue { error, .. } = refused else {
        panic!("{refused:?}");
    };
    assert!(error.to_string().contains("too far ahead"), "{error}");
    assert!(venue.posted("updateLeverage").is_empty() && venue.posted("order").is_empty());
}

/// An attempt that follows one in doubt needs a nonce, too: it is not signed, the order ends when it is stale, and the venue hears no
/// nonce that it would refuse.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_attempt_waits_and_the_order_ends_when_it_is_stale() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty((0..50).map(|_| Fault::Lost(Reply::Reset)));
    let first = engine(&venue, &store).await;
    let short = surefill_core::OrderIntent {
        ttl: Duration::from_secs(3),
        ..intent(0)
    };
    let placed = row(&first.place(short).await.expect("placed"));
    let next = Arc::new(store.crash());
    drop(first);
    ahead(&venue, &next).await;
    let engine = engine(&venue, &next).await;
    let ended = until(&engine, &placed, "ended", |row| row.state.is_terminal()).await;
    assert_eq!(ended.state, OrdState::Rejected);
    assert_eq!(ended.attempts.len(), 1);
    assert_eq!(venue.placed(), 0);
    all_within_reach(&venue, &["order", "noop"]);
}
