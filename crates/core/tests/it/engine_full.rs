//! A journal that takes nothing: cancels go out all the same, and are repeated.

use std::sync::atomic::Ordering;
use std::time::Duration;

use surefill_core::*;

use crate::engine::{intent, qty, referee, until, within};
use crate::fake_venue::{Do, FakeVenue, profile};
use crate::flaky_store::{flaky, start_over};

/// The disk is full when a part of an order fills that is being canceled: the cancel is repeated all the same.
#[tokio::test]
async fn a_cancel_goes_on_while_the_journal_takes_nothing() {
    let memory = MemoryStore::default();
    let (store, venue) = (flaky(&memory), FakeVenue::new([]));
    let engine = start_over(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    venue.0.cancels_lost.store(true, Ordering::Release);
    let row = within(engine.cancel(placed.order().id())).await.unwrap();
    assert!(row.cancel_requested);
    for _ in 0..1_000 {
        store
            .hook()
            .fail_apply(|change| change.cum_qty.map(|_| StoreError::Full));
    }
    let full = || store.hook().applies.lock().unwrap().len();
    venue.fill("0.01", "e1");
    until(async || full() < 1_000).await;
    venue.0.cancels_lost.store(false, Ordering::Release);
    until(async || venue.held()[0].status == OrdStatus::Canceled).await;
    assert!(full() > 0, "the disk was full all the time");
    store.hook().applies.lock().unwrap().clear();
    let row = within(placed.order().done()).await;
    assert_eq!((row.state, row.cum_qty), (OrdState::Canceled, qty("0.01")));
    referee(&venue).await;
}

fn short_cap(script: impl IntoIterator<Item = Do>) -> FakeVenue {
    let profile = VenueProfile {
        cap: Duration::from_millis(400),
        ..profile()
    };
    FakeVenue::with(script, profile, Duration::from_millis(300))
}

/// A doubt past its cap that the full disk cannot hold: the cancel that was asked does not wait for the halt.
#[tokio::test]
async fn a_cancel_goes_on_while_a_halt_cannot_be_made_durable() {
    let memory = MemoryStore::default();
    let (store, venue) = (flaky(&memory), short_cap([Do::AnswerLost]));
    let engine = start_over(&store, &venue).await;
    venue.0.lookups_fail.store(true, Ordering::Release);
    store.hook().halts_fail.store(true, Ordering::Release);
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    venue.0.cancels_lost.store(true, Ordering::Release);
    let row = within(engine.cancel(placed.order().id())).await.unwrap();
    let past = row.doubt_since.unwrap().as_ms() + 450;
    until(async || venue.now_ms() > past).await;
    venue.0.cancels_lost.store(false, Ordering::Release);
    until(async || venue.held()[0].status == OrdStatus::Canceled).await;
    assert_eq!(engine.halts(), []);
    venue.0.lookups_fail.store(false, Ordering::Release);
    store.hook().halts_fail.store(false, Ordering::Release);
    let row = within(placed.order().done()).await;
    assert_eq!(row.state, OrdState::Canceled);
    referee(&venue).await;
}
