//! Starts after a crash, a shutdown, a silence, and with what does not belong to the journal.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use surefill_core::*;
use tokio::sync::Notify;

use super::{BOUND, intent, qty, referee, start, until, within};
use crate::fake_venue::{Do, FakeVenue};

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
