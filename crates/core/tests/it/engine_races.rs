//! Races, panics and refusals around the engine's tasks: what must not be lost, sent twice, or told wrongly.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use surefill_core::*;
use tokio::sync::Notify;

use crate::engine::{intent, qty, referee, start, until, within};
use crate::fake_venue::{Do, FakeVenue, Held, profile};
use crate::flaky_store::{FlakyStore, flaky, start_over};

fn conflict(change: &Change) -> StoreError {
    StoreError::Change(ChangeError::Conflict {
        id: change.id,
        expected: change.expected,
        found: change.expected + 1,
    })
}

fn busy() -> StoreError {
    StoreError::NotWritable {
        path: "orders.db".into(),
        what: "busy".into(),
    }
}

#[tokio::test]
async fn a_stream_that_cannot_be_opened_holds_back_no_look() {
    // Longer than the wait before the stream is tried again.
    let profile = VenueProfile {
        poll: Duration::from_millis(1_500),
        ..profile()
    };
    let venue = FakeVenue::with([], profile, Duration::from_millis(300));
    venue.0.streams_fail.store(true, Ordering::Release);
    let store = MemoryStore::default();
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    assert!(matches!(placed, Placement::Live(_)), "{placed:?}");
    // The venue ends it; nothing but a look can tell.
    venue.0.held.lock().unwrap()[0].status = OrdStatus::Canceled;
    let row = within(placed.order().done()).await;
    assert_eq!(row.state, OrdState::Canceled);
}

#[tokio::test]
async fn what_happened_before_a_stream_was_opened_is_looked_up_at_once() {
    let profile = VenueProfile {
        poll: Duration::from_secs(60),
        ..profile()
    };
    let venue = FakeVenue::with([], profile, Duration::from_millis(300));
    venue.0.streams_fail.store(true, Ordering::Release);
    let store = MemoryStore::default();
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    venue.0.held.lock().unwrap()[0].status = OrdStatus::Canceled;
    let (_send, receive) = tokio::sync::mpsc::unbounded_channel();
    *venue.0.stream.lock().unwrap() = Some(receive);
    venue.0.streams_fail.store(false, Ordering::Release);
    let row = within(placed.order().done()).await;
    assert_eq!(row.state, OrdState::Canceled);
}

#[tokio::test]
async fn a_driver_that_panics_leaves_no_order_behind() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::AnswerLost]));
    venue.0.lookups_panic.store(2, Ordering::Release);
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let row = within(placed.order().settled()).await;
    assert_eq!(row.state, OrdState::Acked, "somebody still looks");
    within(engine.cancel(row.id)).await.unwrap();
    assert_eq!(
        within(placed.order().done()).await.state,
        OrdState::Canceled
    );
    referee(&venue).await;
}

#[tokio::test]
async fn a_panic_before_the_commit_leaves_the_decision_free() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    venue.0.prepares_panic.store(1, Ordering::Release);
    let (engine, _) = start(&store, &venue).await;
    let one = intent(&venue, "s");
    assert!(within(engine.place(one.clone())).await.is_err());
    let placed = within(engine.place(one)).await.unwrap();
    assert!(matches!(placed, Placement::Live(_)), "{placed:?}");
    referee(&venue).await;
}

#[tokio::test]
async fn a_send_cut_off_by_the_shutdown_is_not_called_unsent() {
    let never = Arc::new(Notify::new());
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::Hold(never)]));
    let (engine, _) = start(&store, &venue).await;
    let place = tokio::spawn({
        let (engine, one) = (engine.clone(), intent(&venue, "s"));
        async move { engine.place(one).await }
    });
    until(async || venue.submits() == 1).await;
    within(engine.shutdown(Duration::from_millis(50)))
        .await
        .unwrap();
    let told = within(place).await.unwrap();
    assert!(
        matches!(
            told,
            Ok(Placement::Unknown(_)) | Err(PlaceError::Undecided(_))
        ),
        "the order lives: {told:?}"
    );
}

#[tokio::test]
async fn racing_placers_do_not_pass_the_limit_of_open_orders() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let limits = Limits {
        max_open_orders: Some(5),
        ..Limits::default()
    };
    let cold = Cold::new(store.clone()).limited_venue("v", venue.clone(), limits);
    let (engine, _) = within(cold.recover()).await.unwrap();
    let places = (0..64).map(|n| engine.place(intent(&venue, &format!("s{n}"))));
    let placed = within(futures_util::future::join_all(places)).await;
    let taken = placed.iter().filter(|placed| placed.is_ok()).count();
    let limited = placed
        .iter()
        .filter(|placed| matches!(placed, Err(PlaceError::Limit(_))));
    assert_eq!((taken, limited.count()), (5, 59));
    assert_eq!(venue.held().len(), 5);
}

/// An order whose doubt has halted its account.
async fn doubted(store: &FlakyStore, venue: &FakeVenue) -> (Engine, Order) {
    venue.0.lookups_fail.store(true, Ordering::Release);
    let engine = start_over(store, venue).await;
    let placed = within(engine.place(intent(venue, "s"))).await.unwrap();
    until(async || !engine.halts().is_empty()).await;
    (engine, placed.order().clone())
}

fn short_cap() -> VenueProfile {
    VenueProfile {
        cap: Duration::from_millis(100),
        ..profile()
    }
}

#[tokio::test]
async fn a_halt_from_doubt_ends_though_a_crash_came_between_the_truth_and_the_lift() {
    let store = flaky(&MemoryStore::default());
    let venue = FakeVenue::with([Do::AnswerLost], short_cap(), Duration::from_millis(300));
    let (engine, order) = doubted(&store, &venue).await;
    store.hook().lifts.store(true, Ordering::Release);
    venue.0.lookups_fail.store(false, Ordering::Release);
    assert_eq!(within(order.settled()).await.state, OrdState::Acked);
    let crashed = store.hook().memory.crash();
    drop(engine);
    assert_eq!(crashed.halts().await.unwrap().len(), 1);
    let (engine, report) = start(&crashed, &venue).await;
    assert_eq!(report.halts, Vec::new());
    assert!(within(engine.place(intent(&venue, "t"))).await.is_ok());
}

#[tokio::test]
async fn a_halt_from_doubt_that_could_not_be_lifted_is_lifted_later() {
    let store = flaky(&MemoryStore::default());
    let venue = FakeVenue::with([Do::AnswerLost], short_cap(), Duration::from_millis(300));
    let (engine, order) = doubted(&store, &venue).await;
    store.hook().lifts.store(true, Ordering::Release);
    venue.fill("0.03", "e1");
    venue.0.lookups_fail.store(false, Ordering::Release);
    assert_eq!(within(order.done()).await.state, OrdState::Filled);
    store.hook().lifts.store(false, Ordering::Release);
    until(async || engine.halts().is_empty()).await;
}

#[tokio::test]
async fn a_fill_whose_commit_was_refused_is_booked_all_the_same() {
    for error in [busy as fn() -> StoreError, || StoreError::Full] {
        let store = flaky(&MemoryStore::default());
        let venue = FakeVenue::new([]);
        let engine = start_over(&store, &venue).await;
        let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
        store
            .hook()
            .fail_apply(move |change| (!change.fills.is_empty()).then(error));
        venue.fill("0.03", "e1");
        let row = within(placed.order().done()).await;
        assert_eq!((row.state, row.booked_qty), (OrdState::Filled, qty("0.03")));
    }
}

#[tokio::test]
async fn a_fill_that_met_a_newer_row_is_booked_all_the_same() {
    let store = flaky(&MemoryStore::default());
    let venue = FakeVenue::new([]);
    let engine = start_over(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    store
        .hook()
        .fail_apply(|change| (!change.fills.is_empty()).then(|| conflict(change)));
    venue.fill("0.03", "e1");
    let row = within(placed.order().done()).await;
    assert_eq!((row.state, row.booked_qty), (OrdState::Filled, qty("0.03")));
}

#[tokio::test]
async fn a_driver_whose_read_failed_still_hears_and_cancels() {
    let store = flaky(&MemoryStore::default());
    let venue = FakeVenue::new([]);
    let engine = start_over(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    store
        .hook()
        .fail_apply(|change| (!change.fills.is_empty()).then(|| conflict(change)));
    store.hook().order_reads.store(1, Ordering::Release);
    venue.fill("0.01", "e1");
    until(async || store.hook().order_reads.load(Ordering::Acquire) == 0).await;
    within(engine.cancel(placed.order().id())).await.unwrap();
    // What it was told of stays in the list; that it ended is the cancel's doing.
    let row = within(placed.order().done()).await;
    assert_eq!(
        (row.state, row.booked_qty),
        (OrdState::Canceled, qty("0.01"))
    );
}

#[tokio::test]
async fn a_send_under_way_is_never_taken_for_unsent() {
    let profile = VenueProfile {
        duplicate: DuplicateRule::Accepted,
        ..profile()
    };
    let release = Arc::new(Notify::new());
    let script = [Do::Hold(Arc::clone(&release))];
    let venue = FakeVenue::with(script, profile, Duration::from_millis(300));
    let (send, receive) = tokio::sync::mpsc::unbounded_channel();
    *venue.0.stream.lock().unwrap() = Some(receive);
    let store = flaky(&MemoryStore::default());
    let engine = start_over(&store, &venue).await;
    let one = intent(&venue, "s");
    let place = tokio::spawn({
        let (engine, one) = (engine.clone(), one.clone());
        async move { engine.place(one).await }
    });
    until(async || venue.submits() == 1).await;
    // A report comes while the answer is awaited; the journal refuses it, and cannot be read either.
    store
        .hook()
        .fail_apply(|change| (change.cause == Cause::Report).then(|| conflict(change)));
    let report = venue.held()[0].report();
    let id: ClOrdId = report.handle.key.clone().unwrap().as_str().parse().unwrap();
    store.hook().order_reads.store(1, Ordering::Release);
    send.send(VenueEvent::Report(report)).unwrap();
    until(async || store.hook().order_reads.load(Ordering::Acquire) == 0).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let row = store.hook().memory.order(id).await.unwrap().unwrap();
    assert_eq!(row.attempts[0].copies, Copies::Loose, "{row:?}");
    release.notify_one();
    drop(within(place).await.unwrap());
    drop(engine);
    let (engine, _) = start(&store.hook().memory.crash(), &venue).await;
    let order = engine.order(id).await.unwrap().unwrap();
    assert_eq!(within(order.settled()).await.state, OrdState::Acked);
    referee(&venue).await;
}

#[tokio::test]
async fn a_closed_journal_replays_nothing() {
    let script = (0..10_000).map(|_| Do::RequestLost);
    let venue = FakeVenue::with(script, profile(), Duration::from_secs(20));
    venue.0.replayable.store(true, Ordering::Release);
    venue.0.lookups_fail.store(true, Ordering::Release);
    let store = flaky(&MemoryStore::default());
    let engine = start_over(&store, &venue).await;
    drop(within(engine.place(intent(&venue, "s"))).await.unwrap());
    until(async || venue.submits() > 3).await;
    store.hook().begin.store(true, Ordering::Release);
    let other = OrderIntent {
        symbol: "ETHUSDT".into(),
        ..intent(&venue, "t")
    };
    let error = within(engine.place(other)).await.unwrap_err();
    assert!(matches!(error, PlaceError::Undecided(_)), "{error}");
    let submits = venue.submits();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(venue.submits(), submits, "nothing more may be sent");
}

#[tokio::test]
async fn an_intent_that_may_be_on_disk_is_not_called_unsent_when_asked_again() {
    let venue = FakeVenue::new([]);
    let store = flaky(&MemoryStore::default());
    let engine = start_over(&store, &venue).await;
    store.hook().begin.store(true, Ordering::Release);
    let one = intent(&venue, "s");
    for _ in 0..2 {
        let error = within(engine.place(one.clone())).await.unwrap_err();
        assert!(matches!(error, PlaceError::Undecided(_)), "{error}");
    }
}

#[tokio::test]
async fn an_order_that_cannot_be_read_is_not_called_unsent() {
    let venue = FakeVenue::new([Do::Reject]);
    let store = flaky(&MemoryStore::default());
    let engine = start_over(&store, &venue).await;
    let one = intent(&venue, "s");
    let placed = within(engine.place(one.clone())).await.unwrap();
    let id = placed.order().id();
    until(async || store.hook().memory.unfinished().await.unwrap().is_empty()).await;
    until(async || {
        store.hook().order_reads.store(1, Ordering::Release);
        let told = within(engine.place(one.clone())).await;
        let read = store.hook().order_reads.swap(0, Ordering::AcqRel) == 0;
        if read {
            assert!(
                matches!(told, Err(PlaceError::Undecided(_))),
                "{id}: {told:?}"
            );
        }
        read
    })
    .await;
}

#[tokio::test]
async fn a_cancel_at_a_venue_that_is_not_reached_is_kept_and_goes_out() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    drop(engine);
    venue.0.down.store(true, Ordering::Release);
    let (engine, _) = start(&store.crash(), &venue).await;
    let row = within(engine.cancel(id)).await.unwrap();
    assert!(row.cancel_requested);
    venue.0.down.store(false, Ordering::Release);
    until(async || venue.held()[0].status == OrdStatus::Canceled).await;
}

#[tokio::test]
async fn a_halt_and_its_lift_that_race_leave_engine_and_journal_agreed() {
    let venue = FakeVenue::new([]);
    let store = flaky(&MemoryStore::default());
    let engine = start_over(&store, &venue).await;
    let answer = Arc::new(Notify::new());
    *store.hook().halt_answer.lock().unwrap() = Some(Arc::clone(&answer));
    let halt = tokio::spawn({
        let engine = engine.clone();
        async move { engine.halt(Scope::venue("v"), "stop").await }
    });
    until(async || store.hook().memory.halts().await.unwrap().len() == 1).await;
    let resume = tokio::spawn({
        let engine = engine.clone();
        async move { engine.resume(Scope::venue("v"), "me", "go").await }
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    answer.notify_one();
    within(halt).await.unwrap().unwrap();
    within(resume).await.unwrap().unwrap();
    assert_eq!(engine.halts(), store.hook().memory.halts().await.unwrap());
    assert!(within(engine.place(intent(&venue, "s"))).await.is_ok());
}

#[tokio::test]
async fn a_venue_whose_open_orders_cannot_be_listed_is_not_traded_until_they_are() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let before = store.crash();
    let (engine, _) = start(&before, &venue).await;
    drop(within(engine.place(intent(&venue, "s"))).await.unwrap());
    drop(engine);
    // The journal of before: a restored backup.
    let older = MemoryStore::default();
    venue.0.lists_fail.store(true, Ordering::Release);
    let (engine, _) = start(&older, &venue).await;
    let error = within(engine.place(intent(&venue, "s"))).await.unwrap_err();
    assert!(matches!(error, PlaceError::Halted(_)), "{error}");
    venue.0.lists_fail.store(false, Ordering::Release);
    until(async || {
        let halts = engine.halts();
        halts
            .iter()
            .any(|halt| halt.cause == HaltCause::JournalWentBack)
            && !halts
                .iter()
                .any(|halt| halt.cause == HaltCause::Unreachable)
    })
    .await;
}

#[tokio::test]
async fn a_recovery_in_the_background_that_panics_is_started_anew() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::AnswerLost]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    drop(engine);
    venue.0.lists_fail.store(true, Ordering::Release);
    venue.0.fills_panic.store(1, Ordering::Release);
    let (engine, report) = start(&store, &venue).await;
    assert_eq!(report.halts[0].cause, HaltCause::Unreachable);
    venue.0.lists_fail.store(false, Ordering::Release);
    until(async || engine.halts().is_empty()).await;
    assert_eq!(venue.0.fills_panic.load(Ordering::Acquire), 0);
    until(async || store.order(id).await.unwrap().unwrap().state == OrdState::Acked).await;
    referee(&venue).await;
}

#[tokio::test]
async fn a_cancel_that_found_no_room_is_journaled_once_there_is() {
    let script = (0..10_000).map(|_| Do::NotSent);
    let venue = FakeVenue::with(script, profile(), Duration::from_millis(300));
    let store = flaky(&MemoryStore::default());
    let engine = start_over(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    store
        .hook()
        .fail_apply(|change| change.cancel_requested.then(|| StoreError::Full));
    let error = within(engine.cancel(placed.order().id()))
        .await
        .unwrap_err();
    assert!(matches!(error, CancelError::NotJournaled { .. }), "{error}");
    let row = within(placed.order().done()).await;
    assert_eq!(row.state, OrdState::Canceled);
    assert!(row.attempts.len() < 50, "{} attempts", row.attempts.len());
}

#[tokio::test]
async fn a_sweep_that_panics_is_started_anew() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    within(engine.cancel(id)).await.unwrap();
    assert_eq!(
        within(placed.order().done()).await.state,
        OrdState::Canceled
    );
    venue.0.fills_panic.store(1, Ordering::Release);
    until(async || venue.0.fills_panic.load(Ordering::Acquire) == 0).await;
    // A fill after the end, and no stream: only the sweep finds it.
    venue.fill("0.01", "e1");
    until(async || engine.fills(id).await.unwrap().len() == 1).await;
}

#[tokio::test]
async fn a_cancel_in_doubt_lands_the_bytes_where_the_intent_says_so() {
    let script = (0..10_000).map(|_| Do::RequestLost);
    let venue = FakeVenue::with(script, profile(), Duration::from_secs(20));
    venue.0.replayable.store(true, Ordering::Release);
    let store = MemoryStore::default();
    let (engine, _) = start(&store, &venue).await;
    let one = OrderIntent {
        give_up: GiveUp::Land,
        ..intent(&venue, "s")
    };
    let placed = within(engine.place(one)).await.unwrap();
    within(engine.cancel(placed.order().id())).await.unwrap();
    venue.0.script.lock().unwrap().clear();
    let row = within(placed.order().done()).await;
    assert_eq!((row.state, row.land), (OrdState::Canceled, true));
    let held = venue.held();
    assert_eq!((held.len(), held[0].status), (1, OrdStatus::Canceled));
}

#[tokio::test]
async fn an_amend_is_refused_when_doubt_came_up_while_it_was_checked() {
    let profile = VenueProfile {
        amend: AmendRule::KeepsIds,
        ..profile()
    };
    let window = Duration::from_millis(300);
    let script = [Do::Ack, Do::AnswerLost];
    let (store, venue) = (
        MemoryStore::default(),
        FakeVenue::with(script, profile, window),
    );
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    let go_on = Arc::new(Notify::new());
    *venue.0.facts_wait.lock().unwrap() = Some(Arc::clone(&go_on));
    let amend = tokio::spawn({
        let engine = engine.clone();
        async move { engine.amend(id, Some(qty("0.06")), None).await }
    });
    until(async || venue.0.facts_asked.load(Ordering::Acquire) == 1).await;
    venue.0.lookups_fail.store(true, Ordering::Release);
    let other = within(engine.place(intent(&venue, "t"))).await.unwrap();
    assert!(matches!(other, Placement::Unknown(_)), "{other:?}");
    go_on.notify_one();
    let error = within(amend).await.unwrap().unwrap_err();
    assert!(matches!(error, AmendError::Doubt { .. }), "{error:?}");
    let row = store.order(id).await.unwrap().unwrap();
    assert_eq!(row.amends, [], "nothing was asked");
    referee(&venue).await;
}

#[tokio::test]
async fn cancels_that_go_out_together_do_not_wait_for_a_caller_that_looks_elsewhere() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    for strategy in ["a", "b", "c"] {
        let placed = within(engine.place(intent(&venue, strategy))).await;
        assert!(matches!(placed, Ok(Placement::Live(_))), "{placed:?}");
    }
    let scope = Scope::venue("v");
    let mut all = Box::pin(engine.cancel_all(&scope));
    assert!(futures_util::FutureExt::now_or_never(&mut all).is_none());
    // Held, and not polled again.
    let canceled = |held: &Held| held.status == OrdStatus::Canceled;
    until(async || venue.held().iter().all(canceled)).await;
    assert_eq!(within(all).await.unwrap().len(), 3);
    referee(&venue).await;
}

/// Remembers that a driver said that it cannot go on.
#[derive(Clone, Debug, Default)]
struct DriverAlerts(Arc<AtomicBool>);

impl Alerts for DriverAlerts {
    fn alert(&self, alert: &Alert) {
        if let Alert::Driver { .. } = alert {
            self.0.store(true, Ordering::Release);
        }
    }
}

#[tokio::test]
async fn a_cancel_that_was_asked_goes_on_when_the_journal_closes() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let alerts = DriverAlerts::default();
    let cold = Cold::new(store.clone()).venue("v", venue.clone());
    let (engine, _) = within(cold.alerts(alerts.clone()).recover()).await.unwrap();
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    venue.0.cancels_lost.store(true, Ordering::Release);
    let row = within(engine.cancel(placed.order().id())).await.unwrap();
    assert!(row.cancel_requested);
    until(async || venue.0.cancels.load(Ordering::Acquire) > 0).await;
    store.close().await.unwrap();
    // What the driver hears now cannot be journaled.
    venue.fill("0.01", "e1");
    until(async || alerts.0.load(Ordering::Acquire)).await;
    venue.0.cancels_lost.store(false, Ordering::Release);
    until(async || venue.held()[0].status == OrdStatus::Canceled).await;
    referee(&venue).await;
}

#[tokio::test]
async fn a_halt_that_came_while_stored_bytes_were_read_holds_them_back() {
    let store = flaky(&MemoryStore::default());
    let venue = FakeVenue::new([Do::RequestLost]);
    venue.0.replayable.store(true, Ordering::Release);
    let go_on = Arc::new(Notify::new());
    *store.hook().attempt_wait.lock().unwrap() = Some(Arc::clone(&go_on));
    let engine = start_over(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    // The bytes are being read, to be sent once more.
    until(async || store.hook().attempt_wait.lock().unwrap().is_none()).await;
    let scope = Scope::venue("v");
    engine.halt(scope.clone(), "stop").await.unwrap();
    go_on.notify_one();
    let looked = venue.0.lookups.load(Ordering::Acquire);
    until(async || venue.0.lookups.load(Ordering::Acquire) >= looked + 3).await;
    assert_eq!(venue.submits(), 1, "sent under a halt");
    engine.resume(scope, "ann", "go on").await.unwrap();
    assert_eq!(
        within(placed.order().settled()).await.state,
        OrdState::Acked
    );
    referee(&venue).await;
}
