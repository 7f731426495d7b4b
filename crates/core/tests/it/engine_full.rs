//! A journal that takes nothing: cancels go out all the same, and are repeated.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use surefill_core::*;
use tokio::sync::Notify;

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

/// The same, and the fill is told while the first cancel waits for what the next one needs: both go on.
#[tokio::test]
async fn a_cancel_under_way_does_not_wait_for_one_that_waits_for_it() {
    let memory = MemoryStore::default();
    let (store, venue) = (flaky(&memory), FakeVenue::new([]));
    let (says, hears) = tokio::sync::mpsc::unbounded_channel();
    *venue.0.stream.lock().unwrap() = Some(hears);
    let engine = start_over(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let gate = Arc::new(Notify::new());
    *venue.0.cancel_wait.lock().unwrap() = Some(Arc::clone(&gate));
    within(engine.cancel(placed.order().id())).await.unwrap();
    until(async || venue.0.cancels.load(Ordering::Acquire) == 1).await;
    for _ in 0..1_000 {
        store
            .hook()
            .fail_apply(|change| change.cum_qty.map(|_| StoreError::Full));
    }
    venue.fill("0.01", "e1");
    let held = venue.held().remove(0);
    let report = ExecReport {
        handle: Handle {
            key: Some(held.key.clone()),
            order_id: Some(held.order_id.clone()),
        },
        status: OrdStatus::Open,
        cum_qty: Some(qty("0.01")),
        avg_px: None,
        reason: None,
        transact_time: None,
        fills: held.fills.clone(),
        seen: SeenTerms::default(),
    };
    says.send(VenueEvent::Report(report)).unwrap();
    // The second cancel is asked while the first one holds the line.
    until(async || venue.0.cancels.load(Ordering::Acquire) == 2).await;
    gate.notify_one();
    until(async || venue.held()[0].status == OrdStatus::Canceled).await;
    store.hook().applies.lock().unwrap().clear();
    let row = within(placed.order().done()).await;
    assert_eq!(row.state, OrdState::Canceled);
}

/// The journal closes at the change that watches a second order: nobody can write it down, people hear of it, and it is canceled.
#[tokio::test]
async fn a_second_order_is_canceled_where_the_journal_closes() {
    let profile = VenueProfile {
        duplicate: DuplicateRule::RefusedWhileOpen,
        ..profile()
    };
    let memory = MemoryStore::default();
    let venue = FakeVenue::with([], profile, Duration::from_millis(300));
    let store = flaky(&memory);
    let heard = Heard::default();
    let cold = Cold::new(store.clone())
        .venue("v", venue.clone())
        .alerts(heard.clone());
    let (engine, _) = within(cold.recover()).await.expect("recovered");
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    within(engine.cancel(id)).await.unwrap();
    within(placed.order().done()).await;
    store
        .hook()
        .fail_apply(|change| change.halt.as_ref().map(|_| StoreError::Closed));
    venue.double();
    until(async || venue.held()[1].status == OrdStatus::Canceled).await;
    let row = memory.order(id).await.unwrap().unwrap();
    assert_eq!(row.watch, None, "nothing of it is in the journal");
    let second = HaltCause::SecondOrder { id };
    let told = |alert: &Alert| matches!(alert, Alert::Halted(halt) if halt.cause == second);
    assert!(heard.0.lock().unwrap().iter().any(told));
}

/// Alerts, for the test to look at.
#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<Alert>>>);

impl Alerts for Heard {
    fn alert(&self, alert: &Alert) {
        self.0.lock().unwrap().push(alert.clone());
    }
}
