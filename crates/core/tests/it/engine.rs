//! The engine over a scripted venue and the store in memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use surefill_core::*;
use tokio::sync::Notify;

use crate::fake_venue::{Do, FakeVenue, by_key, profile};

pub(crate) const BOUND: Duration = Duration::from_secs(20);

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

#[tokio::test]
async fn an_ack_makes_a_live_order_that_was_durable_first() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    assert!(matches!(placed, Placement::Live(_)), "{placed:?}");
    assert_eq!(venue.submits(), 1);
    venue.fill("0.03", "e1");
    let row = within(placed.order().done()).await;
    assert_eq!(
        (row.state, row.cum_qty, row.booked_qty),
        (OrdState::Filled, qty("0.03"), qty("0.03"))
    );
    let states: Vec<_> = engine
        .history(row.id)
        .await
        .unwrap()
        .iter()
        .map(|t| t.to)
        .collect();
    assert_eq!(states.first(), Some(&OrdState::Submitted));
    assert_eq!(states.last(), Some(&OrdState::Filled));
    referee(&venue).await;
}

#[tokio::test]
async fn a_lost_answer_is_unknown_then_found_and_never_sent_again() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::AnswerLost]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    assert!(matches!(placed, Placement::Unknown(_)), "{placed:?}");
    let row = within(placed.order().settled()).await;
    assert_eq!(row.state, OrdState::Acked);
    assert_eq!(venue.submits(), 1);
    referee(&venue).await;
}

#[tokio::test]
async fn a_lost_request_is_sent_again_after_the_fence_and_lives_once() {
    let (store, venue) = (
        MemoryStore::default(),
        FakeVenue::new([Do::RequestLost, Do::RequestLost]),
    );
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let row = within(placed.order().settled()).await;
    assert_eq!((row.state, row.attempts.len()), (OrdState::Acked, 3));
    assert_eq!((venue.submits(), venue.held().len()), (3, 1));
    referee(&venue).await;
}

#[tokio::test]
async fn racing_tasks_with_one_decision_send_once() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::AnswerLost]));
    let (engine, _) = start(&store, &venue).await;
    let one = intent(&venue, "s");
    let tasks: Vec<_> = (0..32)
        .map(|_| {
            let (engine, one) = (engine.clone(), one.clone());
            tokio::spawn(async move { engine.place(one).await.unwrap().order().id() })
        })
        .collect();
    let mut ids = Vec::new();
    for task in tasks {
        ids.push(within(task).await.unwrap());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_eq!(venue.submits(), 1);
    referee(&venue).await;
}

#[tokio::test]
async fn the_same_decision_returns_its_order_also_when_halted_and_other_terms_conflict() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let one = intent(&venue, "s");
    let first = within(engine.place(one.clone())).await.unwrap();
    engine.halt(Scope::venue("v"), "lunch").await.unwrap();
    let again = within(engine.place(one.clone())).await.unwrap();
    assert_eq!(first.order().id(), again.order().id());
    let other = OrderIntent {
        amount: Amount::Base(qty("0.04")),
        ..one
    };
    let error = within(engine.place(other)).await.unwrap_err();
    assert!(
        matches!(error, PlaceError::IntentConflict { .. }),
        "{error}"
    );
    assert_eq!(venue.submits(), 1);
    referee(&venue).await;
}

#[tokio::test]
async fn dropping_the_callers_future_cancels_nothing() {
    let release = Arc::new(Notify::new());
    let (store, venue) = (
        MemoryStore::default(),
        FakeVenue::new([Do::Hold(Arc::clone(&release))]),
    );
    let (engine, _) = start(&store, &venue).await;
    let one = intent(&venue, "s");
    {
        let place = engine.place(one.clone());
        tokio::pin!(place);
        let mut waited = async || venue.submits() == 1;
        tokio::select! {
            placed = &mut place => panic!("answered while held: {placed:?}"),
            () = until(&mut waited) => {}
        }
    }
    release.notify_one();
    let again = within(engine.place(one)).await.unwrap();
    assert!(matches!(again, Placement::Live(_)));
    assert_eq!(venue.submits(), 1);
    referee(&venue).await;
}

#[tokio::test]
async fn doubt_refuses_its_symbol_at_once_and_lets_others_and_exits_pass() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::AnswerLost]));
    venue.0.lookups_fail.store(true, Ordering::Release);
    let (engine, _) = start(&store, &venue).await;
    let doubted = within(engine.place(intent(&venue, "s"))).await.unwrap();
    assert!(matches!(doubted, Placement::Unknown(_)));
    let error = within(engine.place(intent(&venue, "t"))).await.unwrap_err();
    assert!(
        matches!(error, PlaceError::Doubt { id } if id == doubted.order().id()),
        "{error}"
    );
    let other = OrderIntent {
        symbol: Symbol::from("ETHUSDT"),
        ..intent(&venue, "t")
    };
    assert!(matches!(
        within(engine.place(other)).await.unwrap(),
        Placement::Live(_)
    ));
    let exit = OrderIntent {
        reduce_only: true,
        side: Side::Sell,
        ..intent(&venue, "t")
    };
    assert!(matches!(
        within(engine.place(exit)).await.unwrap(),
        Placement::Live(_)
    ));
    let despite = OrderIntent {
        side: Side::Sell,
        ..intent(&venue, "u")
    };
    assert!(matches!(
        within(engine.place_despite_halt(despite, "ann"))
            .await
            .unwrap(),
        Placement::Live(_)
    ));
    venue.0.lookups_fail.store(false, Ordering::Release);
    within(doubted.order().settled()).await;
    let entry = OrderIntent {
        side: Side::Sell,
        ..intent(&venue, "t2")
    };
    assert!(matches!(
        within(engine.place(entry)).await.unwrap(),
        Placement::Live(_)
    ));
    referee(&venue).await;
}

#[tokio::test]
async fn doubt_past_the_cap_halts_the_account_and_the_truth_lifts_it() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::AnswerLost]));
    venue.0.lookups_fail.store(true, Ordering::Release);
    let (engine, _) = start(&store, &venue).await;
    let doubted = within(engine.place(intent(&venue, "s"))).await.unwrap();
    until(async || !engine.halts().is_empty()).await;
    let halt = engine.halts().remove(0);
    assert!(!halt.cause.needs_person());
    assert!(matches!(halt.cause, HaltCause::Doubt { id, .. } if id == doubted.order().id()));
    assert_eq!(
        store.halts().await.unwrap(),
        vec![halt],
        "durable before it is announced"
    );
    let other = OrderIntent {
        symbol: Symbol::from("ETHUSDT"),
        ..intent(&venue, "t")
    };
    let error = within(engine.place(other)).await.unwrap_err();
    assert!(matches!(error, PlaceError::Halted(_)), "{error}");
    venue.0.lookups_fail.store(false, Ordering::Release);
    within(doubted.order().settled()).await;
    until(async || engine.halts().is_empty()).await;
    referee(&venue).await;
}

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
async fn seven_canceled(venue: &FakeVenue) {
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
async fn a_crash_with_the_attempt_durable_and_nothing_sent_ends_as_one_order() {
    let release = Arc::new(Notify::new());
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::RequestLost]));
    let (engine, _) = start(&store, &venue).await;
    venue.0.lookups_fail.store(true, Ordering::Release);
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let store = store.power_cut(usize::MAX);
    drop((engine, release));
    venue.0.lookups_fail.store(false, Ordering::Release);
    let (engine, report) = start(&store, &venue).await;
    assert_eq!(report.venues[&Alias::from("v")].resent, 1, "{report:?}");
    let row = engine
        .order(placed.order().id())
        .await
        .unwrap()
        .unwrap()
        .latest();
    assert!(row.state.is_working(), "{row:?}");
    assert_eq!(venue.held().len(), 1);
    referee(&venue).await;
}

#[tokio::test]
async fn fills_during_a_crash_are_booked_once() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    venue.fill("0.01", "e1");
    until(async || placed.order().latest().booked_qty == qty("0.01")).await;
    let store = store.power_cut(1);
    drop(engine);
    venue.fill("0.02", "e2");
    let (engine, _) = start(&store, &venue).await;
    let order = engine.order(placed.order().id()).await.unwrap().unwrap();
    let row = within(order.done()).await;
    assert_eq!((row.state, row.booked_qty), (OrdState::Filled, qty("0.03")));
    assert_eq!(engine.fills(row.id).await.unwrap().len(), 2);
    referee(&venue).await;
}

#[tokio::test]
async fn a_fill_after_the_end_is_found_without_a_stream_booked_late_and_halts() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    within(engine.cancel(id)).await.unwrap();
    assert_eq!(
        within(placed.order().done()).await.state,
        OrdState::Canceled
    );
    venue.fill("0.01", "late");
    until(async || store.order(id).await.unwrap().unwrap().booked_qty == qty("0.01")).await;
    let row = store.order(id).await.unwrap().unwrap();
    assert_eq!(row.state, OrdState::Canceled, "terminal is final");
    until(async || {
        engine
            .halts()
            .iter()
            .any(|halt| halt.cause == HaltCause::LateFill { id })
    })
    .await;
    let store = store.crash();
    drop(engine);
    let (engine, _) = start(&store, &venue).await;
    assert_eq!(
        engine.fills(id).await.unwrap().len(),
        1,
        "booked once, also over a restart"
    );
}

#[tokio::test]
async fn halts_survive_a_restart_and_a_person_lifts_them() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    engine.halt(Scope::venue("v"), "lunch").await.unwrap();
    let store = store.power_cut(usize::MAX);
    drop(engine);
    let (engine, report) = start(&store, &venue).await;
    assert_eq!(report.halts.len(), 1);
    let error = within(engine.place(intent(&venue, "s"))).await.unwrap_err();
    assert_eq!(error.to_string(), "nothing sent: v is halted: lunch");
    let lifted = engine
        .resume(Scope::venue("v"), "ann", "back")
        .await
        .unwrap();
    assert_eq!(lifted.len(), 1);
    assert!(matches!(
        within(engine.place(intent(&venue, "s"))).await.unwrap(),
        Placement::Live(_)
    ));
}

#[tokio::test]
async fn a_refusal_is_told_at_once_and_a_copy_that_shows_up_is_canceled_and_halts() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::RejectAndTake]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let Placement::Done(order) = placed else {
        panic!("{placed:?}")
    };
    assert_eq!(order.record().state, OrdState::Rejected);
    assert_eq!(
        order.record().reason.as_ref().unwrap().to_string(),
        "7: scripted"
    );
    until(async || venue.held()[0].status == OrdStatus::Canceled).await;
    until(async || order.latest().watch.is_none()).await;
    assert_eq!(
        order.latest().state,
        OrdState::Rejected,
        "terminal is final"
    );
    assert!(
        engine
            .halts()
            .iter()
            .any(|halt| matches!(halt.cause, HaltCause::Surprise { .. }))
    );
}

#[tokio::test]
async fn a_refusal_is_watched_and_the_watch_ends() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::Reject]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    assert!(placed.order().record().unfinished());
    until(async || store.unfinished().await.unwrap().is_empty()).await;
    assert!(engine.halts().is_empty());
}

#[tokio::test]
async fn not_sent_and_not_taken_are_sent_anew_and_live_once() {
    let (store, venue) = (
        MemoryStore::default(),
        FakeVenue::new([Do::NotSent, Do::NotTaken]),
    );
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let row = within(placed.order().settled()).await;
    assert_eq!(
        (row.state, row.attempts.len(), venue.held().len()),
        (OrdState::Acked, 3, 1)
    );
    referee(&venue).await;
}

#[tokio::test]
async fn the_last_check_passes_in_a_window_of_300_ms_whatever_the_waiting_margin() {
    let mut profile = profile();
    profile.absence.margin = Duration::from_secs(2);
    let venue = FakeVenue::with([], profile, Duration::from_millis(300));
    let (engine, _) = start(&MemoryStore::default(), &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    assert!(matches!(placed, Placement::Live(_)), "{placed:?}");
    assert_eq!(placed.order().record().attempts.len(), 1);
}

#[tokio::test]
async fn a_venue_that_does_not_answer_is_halted_and_recovers_later_while_others_trade() {
    let store = MemoryStore::default();
    let (down, up) = (FakeVenue::new([]), FakeVenue::new([]));
    down.0.down.store(true, Ordering::Release);
    let cold = Cold::new(store.clone())
        .venue("down", down.clone())
        .venue("v", up.clone());
    let (engine, report) = within(cold.recover()).await.unwrap();
    assert_eq!(report.halts.len(), 1);
    assert_eq!(report.halts[0].cause, HaltCause::Unreachable);
    assert!(matches!(
        within(engine.place(intent(&up, "s"))).await.unwrap(),
        Placement::Live(_)
    ));
    let there = OrderIntent {
        venue: Alias::from("down"),
        ..intent(&down, "s")
    };
    let error = within(engine.place(there)).await.unwrap_err();
    assert!(matches!(error, PlaceError::Halted(_)), "{error}");
    down.0.down.store(false, Ordering::Release);
    until(async || engine.halts().is_empty()).await;
    let there = OrderIntent {
        venue: Alias::from("down"),
        ..intent(&down, "s2")
    };
    assert!(matches!(
        within(engine.place(there)).await.unwrap(),
        Placement::Live(_)
    ));
}

#[tokio::test]
async fn another_accounts_keys_are_refused_on_a_bound_alias() {
    let store = MemoryStore::default();
    let (engine, _) = start(&store, &FakeVenue::new([])).await;
    drop(engine);
    let mut other = FakeVenue::new([]);
    Arc::get_mut(&mut other.0).unwrap().account = "1002".to_owned();
    let error = Cold::new(store.crash())
        .venue("v", other)
        .recover()
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "v is bound to account fake:test:1001, and the keys in use are those of fake:test:1002: \
         use the keys of fake:test:1001, or another name and journal"
    );
}

#[tokio::test]
async fn a_journal_that_went_back_in_time_halts_its_account() {
    let (store, venue) = (MemoryStore::new(VenueTime::from_ms(1)), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let _placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    drop(engine);
    let older = MemoryStore::new(VenueTime::from_ms(1));
    let (engine, report) = start(&older, &venue).await;
    assert_eq!(report.venues[&Alias::from("v")].foreign, 1);
    assert_eq!(report.halts[0].cause, HaltCause::JournalWentBack);
    let error = within(engine.place(intent(&venue, "t"))).await.unwrap_err();
    assert!(matches!(error, PlaceError::Halted(_)), "{error}");
}

#[tokio::test]
async fn a_venue_missing_from_the_engine_while_orders_are_open_is_refused() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let _placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    drop(engine);
    let error = Cold::new(store.crash()).recover().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the journal holds 1 unfinished orders at v, and no venue of that name is given"
    );
}

#[tokio::test]
async fn shutdown_waits_for_the_answer_in_flight_and_the_next_start_finds_the_rest() {
    let release = Arc::new(Notify::new());
    let (store, venue) = (
        MemoryStore::default(),
        FakeVenue::new([Do::Hold(Arc::clone(&release))]),
    );
    let (engine, _) = start(&store, &venue).await;
    let (one, other) = (intent(&venue, "s"), intent(&venue, "t"));
    let place = tokio::spawn({
        let (engine, one) = (engine.clone(), one.clone());
        async move { engine.place(one).await }
    });
    until(async || venue.submits() == 1).await;
    let stopping = tokio::spawn(engine.clone().shutdown(BOUND));
    until(async || {
        matches!(
            engine.place(other.clone()).await,
            Err(PlaceError::ShuttingDown)
        )
    })
    .await;
    assert!(!stopping.is_finished());
    release.notify_one();
    within(stopping).await.unwrap().unwrap();
    assert!(within(place).await.unwrap().is_ok());
    let store = store.crash();
    let rows = store.unfinished().await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        rows[0].state,
        OrdState::Acked,
        "classified before the journal was closed"
    );
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

#[tokio::test]
async fn watchers_hear_each_transition_in_order() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let mut events = engine.watch();
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    venue.fill("0.03", "e1");
    within(placed.order().done()).await;
    let mut seen = Vec::new();
    while seen.last() != Some(&OrdState::Filled) {
        match within(events.next()).await.unwrap() {
            Event::Transition { transition, .. } => seen.push(transition.to),
            other @ (Event::Halted(_) | Event::Lifted(_) | Event::Lagged(_)) => panic!("{other:?}"),
        }
    }
    assert_eq!(
        seen,
        vec![OrdState::Submitted, OrdState::Acked, OrdState::Filled]
    );
}

#[tokio::test]
async fn a_report_from_the_stream_overtakes_the_ack() {
    let release = Arc::new(Notify::new());
    let (store, venue) = (
        MemoryStore::default(),
        FakeVenue::new([Do::Hold(Arc::clone(&release))]),
    );
    let (send, receive) = tokio::sync::mpsc::unbounded_channel();
    *venue.0.stream.lock().unwrap() = Some(receive);
    let (engine, _) = start(&store, &venue).await;
    let one = intent(&venue, "s");
    let place = tokio::spawn({
        let (engine, one) = (engine.clone(), one.clone());
        async move { engine.place(one).await }
    });
    until(async || venue.held().len() == 1).await;
    venue.fill("0.03", "e1");
    let report = venue.held()[0].report();
    send.send(VenueEvent::Report(report.clone())).unwrap();
    let id: ClOrdId = report.handle.key.unwrap().as_str().parse().unwrap();
    until(async || store.order(id).await.unwrap().unwrap().state == OrdState::Filled).await;
    // The late ack changes nothing: terminal is final.
    release.notify_one();
    let placed = within(place).await.unwrap().unwrap();
    assert!(matches!(placed, Placement::Done(_)), "{placed:?}");
    let row = placed.order().latest();
    assert_eq!((row.state, row.booked_qty), (OrdState::Filled, qty("0.03")));
    // The same fill again is no news.
    let again = venue.held()[0].fills[0].clone();
    let handle = Handle {
        key: None,
        order_id: Some(again.order_id.clone()),
    };
    send.send(VenueEvent::Fill(handle, again)).unwrap();
    assert_eq!(engine.fills(id).await.unwrap().len(), 1);
    referee(&venue).await;
}

#[tokio::test]
async fn what_is_no_order_is_refused_before_anything_is_journaled() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    *venue.0.journal.lock().unwrap() = Some(store.clone());
    let limits = Limits {
        max_order_notional: Some("2000".parse().unwrap()),
        max_open_orders: Some(1),
    };
    let cold = Cold::new(store.clone()).limited_venue("v", venue.clone(), limits);
    let (engine, _) = cold.recover().await.unwrap();
    let base = intent(&venue, "s");
    let mut late = base.clone();
    late.decision.decided_at = VenueTime::from_ms(venue.now_ms() + 120_000);
    let mut old = base.clone();
    old.decision.decided_at = VenueTime::from_ms(venue.now_ms() - 31_000);
    let long = OrderIntent {
        ttl: Duration::from_secs(86_401),
        ..base.clone()
    };
    let market = OrderIntent {
        ord_type: OrdType::Market,
        ..base.clone()
    };
    let rows: Vec<(OrderIntent, &str)> = vec![
        (
            OrderIntent {
                venue: Alias::from("w"),
                ..base.clone()
            },
            "there is no venue \"w\"",
        ),
        (
            intent(&venue, &"x".repeat(65)),
            "the strategy's name has 65 bytes, and 64 are allowed",
        ),
        (intent(&venue, ""), "the strategy has no name"),
        (
            OrderIntent {
                amount: Amount::Base(Qty::ZERO),
                ..base.clone()
            },
            "the amount is zero",
        ),
        (late, "ms ahead of the venue's time"),
        (old, "is older than its ttl of 30000 ms"),
        (
            long,
            "a ttl of 86401 s outlives the venue's lists, which reach back 86400 s",
        ),
        (
            OrderIntent {
                amount: Amount::Base(qty("1")),
                ..base.clone()
            },
            "is above the limit of 2000",
        ),
        (
            market,
            "has no price by which it could be held to the limit",
        ),
    ];
    for (bad, text) in rows {
        let error = within(engine.place(bad)).await.unwrap_err().to_string();
        assert!(
            error.starts_with("nothing sent: ") && error.contains(text),
            "{error:?} lacks {text:?}"
        );
    }
    assert_eq!(venue.submits(), 0);
    assert!(
        store
            .orders(&OrderFilter::default())
            .await
            .unwrap()
            .is_empty()
    );
    let _placed = within(engine.place(base)).await.unwrap();
    let error = within(engine.place(intent(&venue, "t")))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(error, "nothing sent: 1 orders are open, and 1 are allowed");
}

#[tokio::test]
async fn a_restarted_strategy_finds_what_it_decided() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let one = intent(&venue, "s");
    let _placed = within(engine.place(one.clone())).await.unwrap();
    let _placed = within(engine.place(OrderIntent {
        symbol: Symbol::from("ETHUSDT"),
        ..intent(&venue, "other")
    }))
    .await
    .unwrap();
    let decided = engine.decisions("s").await.unwrap();
    assert_eq!(decided.len(), 1);
    assert_eq!(decided[0].0, one.decision);
}
