//! Cancels: durable, repeated, several at a time, and without a journal.

use std::sync::atomic::Ordering;
use std::time::Duration;

use surefill_core::*;

use super::{intent, referee, start, until, within};
use crate::fake_venue::{Do, FakeVenue};

#[tokio::test]
async fn a_cancel_is_durable_and_repeated_until_the_venue_says_that_it_ended() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    venue.0.cancels_lost.store(true, Ordering::Release);
    let row = within(engine.cancel(placed.order().id())).await.unwrap();
    assert!(row.cancel_requested && !row.state.is_terminal());
    until(async || venue.0.cancels.load(Ordering::Acquire) >= 3).await;
    // The wish survives a crash, and goes on.
    let store = store.crash();
    drop(engine);
    let (engine, report) = start(&store, &venue).await;
    assert_eq!(report.venues[&Alias::from("v")].checked, 1);
    venue.0.cancels_lost.store(false, Ordering::Release);
    let order = engine.order(placed.order().id()).await.unwrap().unwrap();
    assert_eq!(within(order.done()).await.state, OrdState::Canceled);
    referee(&venue).await;
}

#[tokio::test]
async fn a_cancel_in_doubt_stops_every_further_send() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::RequestLost]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    within(engine.cancel(placed.order().id())).await.unwrap();
    let row = within(placed.order().done()).await;
    assert_eq!((row.state, venue.submits()), (OrdState::Canceled, 1));
    assert_eq!(venue.held().len(), 0);
}

#[tokio::test]
async fn cancel_all_takes_ours_in_the_scope() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let here = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let there = OrderIntent {
        symbol: Symbol::from("ETHUSDT"),
        ..intent(&venue, "s")
    };
    let there = within(engine.place(there)).await.unwrap();
    let scope = Scope::symbol("v", venue.account_id(), Symbol::from("BTCUSDT"));
    let asked = within(engine.cancel_all(&scope)).await.unwrap();
    assert_eq!(
        asked.iter().map(|row| row.id).collect::<Vec<_>>(),
        vec![here.order().id()]
    );
    assert_eq!(within(here.order().done()).await.state, OrdState::Canceled);
    assert!(!there.order().latest().cancel_requested);
}

/// Seven working orders, canceled three at a time where the venue answers as it should.
pub(super) async fn seven_canceled(venue: &FakeVenue) {
    let store = MemoryStore::default();
    let (engine, _) = start(&store, venue).await;
    let mut orders = Vec::new();
    for n in 0..7 {
        let placed = within(engine.place(intent(venue, &format!("s-{n}")))).await;
        orders.push(placed.unwrap().order().clone());
    }
    let scope = Scope::account("v", venue.account_id());
    let asked = within(engine.cancel_all(&scope)).await.unwrap();
    assert_eq!(asked.len(), 7);
    assert!(asked.iter().all(|row| row.cancel_requested));
    for order in orders {
        assert_eq!(within(order.done()).await.state, OrdState::Canceled);
        let log = engine.history(order.id()).await.unwrap();
        let asked = log.iter().filter(|step| step.cause == Cause::CancelAsked);
        assert_eq!(asked.count(), 1, "{log:?}");
    }
}

#[tokio::test]
async fn cancels_of_one_venue_go_out_several_at_a_time() {
    let venue = FakeVenue::new([]);
    seven_canceled(&venue).await;
    let batches = venue.0.batches.lock().unwrap().clone();
    assert!(!batches.is_empty());
    assert!(batches.iter().all(|orders| (2..=3).contains(orders)));
}

#[tokio::test]
async fn a_cancel_that_a_batch_did_not_answer_is_asked_alone() {
    let venue = FakeVenue::new([]);
    venue.0.batches_short.store(true, Ordering::Release);
    seven_canceled(&venue).await;
}

#[tokio::test]
async fn a_batch_that_panics_leaves_each_cancel_to_its_driver() {
    let venue = FakeVenue::new([]);
    venue.0.batches_panic.store(true, Ordering::Release);
    seven_canceled(&venue).await;
    assert!(!venue.0.batches.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_batch_whose_answer_is_lost_is_repeated_one_by_one() {
    let venue = FakeVenue::new([]);
    venue.0.cancels_lost.store(true, Ordering::Release);
    let later = venue.clone();
    let heal = async move {
        while later.0.cancels.load(Ordering::Acquire) < 7 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        later.0.cancels_lost.store(false, Ordering::Release);
    };
    tokio::join!(seven_canceled(&venue), heal);
}

#[tokio::test]
async fn a_closed_journal_sends_nothing_and_lets_cancels_out() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let submits = venue.submits();
    store.close().await.unwrap();
    let error = within(engine.place(intent(&venue, "t"))).await.unwrap_err();
    assert!(
        matches!(error, PlaceError::Undecided(StoreError::Closed)),
        "what cannot be read may have been placed before: {error}"
    );
    let error = within(engine.cancel(placed.order().id()))
        .await
        .unwrap_err();
    assert!(matches!(error, CancelError::NotJournaled { .. }), "{error}");
    assert_eq!(venue.held()[0].status, OrdStatus::Canceled);
    assert_eq!(venue.submits(), submits);
}
