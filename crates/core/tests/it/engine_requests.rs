//! The journal's inbox: what other processes ask is done, answered, and survives the engine.

use std::sync::atomic::Ordering;

use surefill_core::*;

use crate::engine::{intent, referee, start, until, within};
use crate::fake_venue::{Do, FakeVenue};
use crate::flaky_store::{flaky, start_over};
use crate::kit::at;

fn halt(scope: Scope) -> Request {
    Request::Halt {
        scope,
        who: "ann".into(),
        reason: "lunch".into(),
        at: at(5),
    }
}

fn resume(scope: Scope) -> Request {
    Request::Resume {
        scope,
        who: "ann".into(),
        reason: "back".into(),
        at: at(6),
        seen: SeenHalts::default(),
    }
}

async fn answer(store: &MemoryStore, n: i64) -> Answer {
    until(async || store.answered(n).is_some()).await;
    store.answered(n).unwrap()
}

#[tokio::test]
async fn a_halt_and_a_resume_are_done_in_their_order_and_answered() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let halted = store.post(&halt(Scope::venue("v"))).unwrap();
    assert_eq!(answer(&store, halted).await, Answer::Halted);
    let halts = engine.halts();
    assert_eq!(halts.len(), 1);
    assert_eq!(&*halts[0].text, "ann: lunch");
    assert!(halts[0].since > at(5), "on the venue's clock: {halts:?}");
    let error = within(engine.place(intent(&venue, "s"))).await.unwrap_err();
    assert!(matches!(error, PlaceError::Halted(_)), "{error}");
    let resumed = store.post(&resume(Scope::venue("v"))).unwrap();
    let lifted = halts.clone();
    assert_eq!(answer(&store, resumed).await, Answer::Resumed { lifted });
    assert_eq!(engine.halts(), []);
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    assert!(matches!(placed, Placement::Live(_)), "{placed:?}");
    // A halt whose resume waits already is lifted by it, not the other way round.
    let both = [halt(Scope::venue("v")), resume(Scope::venue("v"))];
    let both = both.map(|request| store.post(&request).unwrap());
    answer(&store, both[0]).await;
    answer(&store, both[1]).await;
    assert_eq!(engine.halts(), []);
    referee(&venue).await;
}

#[tokio::test]
async fn cancels_reach_the_venue_and_name_their_orders() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let mut orders = Vec::new();
    for strategy in ["a", "b", "c"] {
        let placed = within(engine.place(intent(&venue, strategy))).await;
        orders.push(placed.unwrap().order().clone());
    }
    let id = orders[0].id();
    let one = store.post(&Request::Cancel { id }).unwrap();
    let orders_named = vec![id];
    let expected = Answer::CancelAsked {
        orders: orders_named,
    };
    assert_eq!(answer(&store, one).await, expected);
    assert_eq!(within(orders[0].done()).await.state, OrdState::Canceled);
    let scope = orders[1].record().symbol_scope();
    let all = store.post(&Request::CancelAll { scope }).unwrap();
    let Answer::CancelAsked { orders: mut named } = answer(&store, all).await else {
        panic!("canceled")
    };
    named.sort();
    let mut open = vec![orders[1].id(), orders[2].id()];
    open.sort();
    assert_eq!(named, open);
    for order in &orders[1..] {
        assert_eq!(within(order.done()).await.state, OrdState::Canceled);
    }
    let nobody = "5f01ffffffffffffffffffffffffffff".parse().unwrap();
    let unknown = store.post(&Request::Cancel { id: nobody }).unwrap();
    let refused = answer(&store, unknown).await;
    assert!(matches!(refused, Answer::Refused { .. }), "{refused:?}");
    referee(&venue).await;
}

#[tokio::test]
async fn what_an_engine_left_undone_is_done_before_the_next_one_sends() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([Do::RequestLost]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    // It dies, and what is asked then waits in the journal.
    let store = store.crash();
    drop(engine);
    let halted = store.post(&halt(Scope::venue("v"))).unwrap();
    let canceled = store.post(&Request::Cancel { id }).unwrap();
    let (engine, report) = start(&store, &venue).await;
    assert_eq!(store.answered(halted), Some(Answer::Halted));
    let orders = vec![id];
    assert_eq!(
        store.answered(canceled),
        Some(Answer::CancelAsked { orders })
    );
    assert_eq!(report.halts.len(), 1);
    assert_eq!(report.halts[0].since, at(5), "no venue was heard yet");
    let order = engine.order(id).await.unwrap().unwrap();
    assert_eq!(within(order.settled()).await.state, OrdState::Canceled);
    assert_eq!(venue.submits(), 1, "a cancel ends sends");
    referee(&venue).await;
}

#[tokio::test]
async fn a_request_that_was_done_and_not_answered_is_done_again_without_harm() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    engine.halt(Scope::venue("v"), "first").await.unwrap();
    within(engine.cancel(id)).await.unwrap();
    within(placed.order().done()).await;
    let before = store.order(id).await.unwrap().unwrap();
    let store = store.crash();
    drop(engine);
    // As an engine leaves them that dies after it did them and before it answered.
    let left = [halt(Scope::venue("v")), Request::Cancel { id }];
    let left = left.map(|request| store.post(&request).unwrap());
    let (engine, report) = start(&store, &venue).await;
    assert!(left.iter().all(|n| store.answered(*n).is_some()));
    assert_eq!(report.halts.len(), 1, "{:?}", report.halts);
    assert_eq!(&*report.halts[0].text, "first");
    assert_eq!(engine.order(id).await.unwrap().unwrap().latest(), before);
    referee(&venue).await;
}

#[tokio::test]
async fn a_cancel_that_met_a_failed_read_is_done_again() {
    let (memory, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let store = flaky(&memory);
    let (engine, _) = Cold::new(store.clone())
        .venue("v", venue.clone())
        .recover()
        .await
        .unwrap();
    store.hook().order_reads.store(2, Ordering::Release);
    let nobody = "5f01ffffffffffffffffffffffffffff".parse().unwrap();
    let n = memory.post(&Request::Cancel { id: nobody }).unwrap();
    let Answer::Refused { text } = answer(&memory, n).await else {
        panic!("there is no such order")
    };
    assert!(text.contains("holds no order"), "{text}");
    drop(engine);
}

#[tokio::test]
async fn a_resume_done_by_an_engine_that_died_lifts_nothing_that_was_declared_since() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let scope = Scope::venue("v");
    let declared = Halt::new(scope.clone(), HaltCause::JournalWentBack, at(1), "");
    store.halt(&declared).await.unwrap();
    let n = store.post(&resume(scope.clone())).unwrap();
    let seen = SeenHalts {
        halts: vec![declared.clone()],
        waiting: false,
    };
    let lift = Lift::Asked { n, scope, seen };
    let lifted = store.lift(&lift, "ann", "back", at(2)).await.unwrap();
    assert_eq!(lifted, std::slice::from_ref(&declared));
    let store = store.crash();
    store.halt(&declared).await.unwrap();
    assert_eq!(
        store.lift(&lift, "ann", "back", at(3)).await.unwrap(),
        [],
        "in the second engine, which read the inbox before the first one's commit"
    );
    let (engine, _) = start(&store, &venue).await;
    assert_eq!(engine.halts(), [declared]);
}

#[tokio::test]
async fn a_command_about_one_venue_leaves_the_orders_of_others_alone() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let row = placed.order().latest();
    let store = store.crash();
    drop(engine);
    let refused = Cold::new(store.clone()).recover().await;
    assert!(matches!(refused, Err(RecoverError::VenueMissing { .. })));
    let n = store.post(&Request::Cancel { id: row.id }).unwrap();
    let cold = Cold::new(store.clone()).leaving_other_venues();
    let (engine, report) = cold.recover().await.unwrap();
    assert!(report.venues.is_empty());
    engine
        .shutdown(std::time::Duration::from_secs(1))
        .await
        .unwrap();
    assert!(store.crash().answered(n).is_some());
}

#[tokio::test]
async fn a_resume_that_waited_lifts_nothing_that_was_declared_after_it_was_asked() {
    let (store, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let scope = Scope::venue("v");
    let looked_at = Halt::new(scope.clone(), HaltCause::UnknownTagged, at(1), "");
    store.halt(&looked_at).await.unwrap();
    let n = store.post(&resume(scope.clone())).unwrap();
    let newer = Halt::new(scope, HaltCause::JournalWentBack, at(2), "");
    store.halt(&newer).await.unwrap();
    let (engine, _) = start(&store, &venue).await;
    let lifted = vec![looked_at];
    assert_eq!(answer(&store, n).await, Answer::Resumed { lifted });
    assert_eq!(engine.halts(), [newer]);
    let error = within(engine.place(intent(&venue, "s"))).await.unwrap_err();
    assert!(matches!(error, PlaceError::Halted(_)), "{error}");
}

/// What cannot be answered or done holds up no cancel: an operator asks for it just when things fail.
#[tokio::test]
async fn requests_that_fail_hold_up_no_cancel() {
    let (memory, venue) = (MemoryStore::default(), FakeVenue::new([]));
    let store = flaky(&memory);
    let engine = start_over(&store, &venue).await;
    let one = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let two = within(engine.place(intent(&venue, "t"))).await.unwrap();
    store.hook().answers_fail.store(true, Ordering::Release);
    store.hook().halts_fail.store(true, Ordering::Release);
    let cancel = |placed: &Placement| Request::Cancel {
        id: placed.order().id(),
    };
    let first = memory.post(&cancel(&one)).unwrap();
    until(async || venue.held()[0].status == OrdStatus::Canceled).await;
    let halted = memory.post(&halt(Scope::venue("v"))).unwrap();
    let second = memory.post(&cancel(&two)).unwrap();
    until(async || venue.held()[1].status == OrdStatus::Canceled).await;
    assert_eq!(memory.answered(second), None);
    store.hook().answers_fail.store(false, Ordering::Release);
    store.hook().halts_fail.store(false, Ordering::Release);
    assert_eq!(answer(&memory, halted).await, Answer::Halted);
    for n in [first, second] {
        let asked = matches!(answer(&memory, n).await, Answer::CancelAsked { .. });
        assert!(asked);
    }
    referee(&venue).await;
}
