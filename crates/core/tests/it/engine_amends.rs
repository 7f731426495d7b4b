//! Amends through the engine: the last check before the first byte, and what an answer means for the account.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use surefill_core::*;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::engine::{intent, qty, referee, start, until, within};
use crate::fake_venue::{FakeVenue, profile};
use crate::flaky_store::{flaky, start_over};

type Answer = Result<AmendOutcome, AmendError>;

fn venue() -> FakeVenue {
    let profile = VenueProfile {
        amend: AmendRule::KeepsIds,
        ..profile()
    };
    FakeVenue::with([], profile, Duration::from_millis(300))
}

/// An amend that is durable and waits at the adapter's door, and what lets it through.
async fn at_the_door(
    engine: &Engine,
    venue: &FakeVenue,
    id: ClOrdId,
) -> (JoinHandle<Answer>, Arc<Notify>) {
    let go_on = Arc::new(Notify::new());
    *venue.0.amend_wait.lock().unwrap() = Some(Arc::clone(&go_on));
    let asked = venue.0.amends_asked.load(Ordering::Acquire);
    let amend = tokio::spawn({
        let engine = engine.clone();
        async move { engine.amend(id, Some(qty("0.06")), None).await }
    });
    until(async || venue.0.amends_asked.load(Ordering::Acquire) > asked).await;
    (amend, go_on)
}

fn refused_keys() -> AmendOutcome {
    AmendOutcome::Rejected(Reject {
        reason: Reason::new("10003", "the key is not valid"),
        halts_account: true,
        leaves_bytes: false,
    })
}

async fn halted(engine: &Engine, id: ClOrdId) {
    let cause = HaltCause::Refused { id };
    until(async || engine.halts().iter().any(|halt| halt.cause == cause)).await;
}

#[tokio::test]
async fn an_amend_asks_once_more_before_its_first_byte() {
    let (store, venue) = (MemoryStore::default(), venue());
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();

    // Its fence passed while it waited.
    let (amend, go_on) = at_the_door(&engine, &venue, id).await;
    let row = store.order(id).await.unwrap().unwrap();
    let Fence::Clock(fence) = row.amends[0].fence else {
        panic!("{row:?}")
    };
    until(async || venue.now_ms() > fence.as_ms() + 50).await;
    go_on.notify_one();
    let answer = within(amend).await.unwrap().unwrap();
    let held = AmendOutcome::NotSent(NotSent::HeldBack(HeldBack::Fence));
    assert_eq!(answer, held);
    let row = store.order(id).await.unwrap().unwrap();
    // By the answer, or by a look that began late enough before it.
    assert!(row.amending().is_none(), "{row:?}");

    // A cancel was asked while it waited.
    venue.0.cancels_lost.store(true, Ordering::Release);
    let (amend, go_on) = at_the_door(&engine, &venue, id).await;
    let row = within(engine.cancel(id)).await.unwrap();
    assert!(row.cancel_requested && row.amending().is_some());
    go_on.notify_one();
    let answer = within(amend).await.unwrap().unwrap();
    let held = AmendOutcome::NotSent(NotSent::HeldBack(HeldBack::CancelAsked));
    assert_eq!(answer, held);

    assert_eq!(venue.0.amends_sent.load(Ordering::Acquire), 0);
    referee(&venue).await;
}

#[tokio::test]
async fn no_amend_leaves_once_the_journal_is_closed() {
    let memory = MemoryStore::default();
    let (store, venue) = (flaky(&memory), venue());
    let engine = start_over(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let (amend, go_on) = at_the_door(&engine, &venue, placed.order().id()).await;
    store.hook().begin.store(true, Ordering::Release);
    let error = within(engine.place(intent(&venue, "t"))).await.unwrap_err();
    assert!(matches!(error, PlaceError::Undecided(_)), "{error}");
    go_on.notify_one();
    let answer = within(amend).await.unwrap().unwrap();
    let held = AmendOutcome::NotSent(NotSent::HeldBack(HeldBack::JournalClosed));
    assert_eq!(answer, held);
    assert_eq!(venue.0.amends_sent.load(Ordering::Acquire), 0);
    referee(&venue).await;
}

#[tokio::test]
async fn keys_refused_for_an_amend_halt_the_account() {
    let (store, venue) = (MemoryStore::default(), venue());
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    venue.0.amends.lock().unwrap().push_back(refused_keys());
    let answer = within(engine.amend(id, Some(qty("0.06")), None)).await;
    assert_eq!(answer.unwrap(), refused_keys());
    let halts = engine.halts();
    let account = Scope::account("v", venue.account_id());
    assert_eq!(halts[0].scope, account, "{halts:?}");
    assert_eq!(store.halts().await.unwrap(), halts, "durable, too");
    let error = within(engine.place(intent(&venue, "t"))).await.unwrap_err();
    assert!(matches!(error, PlaceError::Halted(_)), "{error}");
    referee(&venue).await;
}

#[tokio::test]
async fn keys_refused_for_an_amend_halt_also_once_its_order_has_ended() {
    let (store, venue) = (MemoryStore::default(), venue());
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    venue.0.amends.lock().unwrap().push_back(refused_keys());
    let (amend, go_on) = at_the_door(&engine, &venue, id).await;
    venue.fill("0.03", "e1");
    let row = within(placed.order().done()).await;
    assert_eq!(row.state, OrdState::Filled);
    go_on.notify_one();
    assert_eq!(within(amend).await.unwrap().unwrap(), refused_keys());
    halted(&engine, id).await;
    referee(&venue).await;
}

#[tokio::test]
async fn keys_refused_for_an_amend_halt_once_the_journal_has_room() {
    let memory = MemoryStore::default();
    let (store, venue) = (flaky(&memory), venue());
    let engine = start_over(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    venue.0.amends.lock().unwrap().push_back(refused_keys());
    store
        .hook()
        .fail_apply(|change| (change.cause == Cause::AmendAnswer).then_some(StoreError::Full));
    let answer = within(engine.amend(id, Some(qty("0.06")), None)).await;
    assert_eq!(answer.unwrap(), refused_keys());
    halted(&engine, id).await;
    referee(&venue).await;
}
