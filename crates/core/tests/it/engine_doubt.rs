//! Doubt that goes on through further attempts: it refuses its symbol, and past its cap halts the account, until the venue's verdict.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use surefill_core::*;
use tokio::sync::Notify;

use crate::engine::{intent, qty, referee, start, until, within};
use crate::fake_venue::{Do, FakeVenue, profile};

/// A venue whose attempts can be revoked, and whose cap is short.
fn revoking(script: impl IntoIterator<Item = Do>) -> FakeVenue {
    let profile = VenueProfile {
        cap: Duration::from_millis(400),
        amend: AmendRule::KeepsIds,
        ..profile()
    };
    let venue = FakeVenue::with(script, profile, Duration::from_millis(300));
    venue.0.revocable.store(true, Ordering::Release);
    venue
}

/// Creates fail and revocations succeed: no attempt is in doubt for long, and the order is all the time.
#[tokio::test]
async fn the_cap_of_a_doubt_runs_through_every_further_attempt() {
    let (store, venue) = (MemoryStore::default(), revoking([]));
    venue.0.creates_lost.store(true, Ordering::Release);
    let (engine, _) = start(&store, &venue).await;
    let mut events = engine.watch();
    let one = OrderIntent {
        ttl: Duration::from_secs(3_600),
        ..intent(&venue, "s")
    };
    let doubted = within(engine.place(one)).await.unwrap();
    let id = doubted.order().id();
    until(async || !engine.halts().is_empty()).await;
    let halt = engine.halts().remove(0);
    assert_eq!(halt.scope, Scope::account("v", venue.account_id()));
    assert!(
        matches!(halt.cause, HaltCause::Doubt { id: other, .. } if other == id),
        "{halt:?}"
    );
    let elsewhere = OrderIntent {
        symbol: Symbol::from("ETHUSDT"),
        ..intent(&venue, "t")
    };
    let error = within(engine.place(elsewhere)).await.unwrap_err();
    assert!(matches!(error, PlaceError::Halted(_)), "{error}");

    // Further attempts go out under it, and none of them lifts it.
    let sent = venue.submits();
    until(async || venue.submits() >= sent + 5).await;
    assert_eq!(engine.halts(), std::slice::from_ref(&halt));
    venue.0.creates_lost.store(false, Ordering::Release);
    let row = within(doubted.order().settled()).await;
    assert_eq!((row.state, row.doubt_since), (OrdState::Acked, None));
    until(async || engine.halts().is_empty()).await;
    assert_eq!(store.halts().await.unwrap(), []);
    let placed = within(engine.place(intent(&venue, "u"))).await.unwrap();
    assert!(matches!(placed, Placement::Live(_)), "{placed:?}");

    let mut told = Vec::new();
    while let Ok(Some(event)) = tokio::time::timeout(Duration::from_millis(1), events.next()).await
    {
        match event {
            Event::Halted(halted) => told.push((true, halted)),
            Event::Lifted(lifted) => told.push((false, lifted)),
            _ => {}
        }
    }
    assert_eq!(told, [(true, halt.clone()), (false, halt)], "once each");
    referee(&venue).await;
}

#[tokio::test]
async fn a_further_attempt_under_way_leaves_its_order_in_doubt() {
    let answer = Arc::new(Notify::new());
    let script = [Do::Ack, Do::RequestLost, Do::Hold(Arc::clone(&answer))];
    let (store, venue) = (MemoryStore::default(), revoking(script));
    let (engine, _) = start(&store, &venue).await;
    let rests = within(engine.place(intent(&venue, "r"))).await.unwrap();
    let doubted = within(engine.place(intent(&venue, "s"))).await.unwrap();
    until(async || venue.submits() == 3).await;
    let row = doubted.order().latest();
    assert_eq!((row.state, row.in_doubt()), (OrdState::Submitted, true));
    let id = row.id;
    let error = within(engine.place(intent(&venue, "t"))).await.unwrap_err();
    assert!(
        matches!(error, PlaceError::Doubt { id: other } if other == id),
        "{error}"
    );
    let amend = engine.amend(rests.order().id(), Some(qty("0.06")), None);
    let error = within(amend).await.unwrap_err();
    assert!(matches!(error, AmendError::Doubt { .. }), "{error}");
    answer.notify_one();
    within(doubted.order().settled()).await;
    let placed = within(engine.place(intent(&venue, "t"))).await.unwrap();
    assert!(matches!(placed, Placement::Live(_)), "{placed:?}");
    referee(&venue).await;
}

/// A process that dies between attempts: the next one halts by the age of the doubt, and lifts with the verdict.
#[tokio::test]
async fn the_cap_of_a_doubt_runs_through_a_restart() {
    let (store, venue) = (MemoryStore::default(), revoking([]));
    venue.0.creates_lost.store(true, Ordering::Release);
    let (engine, _) = start(&store, &venue).await;
    let doubted = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = doubted.order().id();
    until(async || venue.submits() >= 3).await;
    let since = doubted.order().latest().doubt_since;
    let store = store.crash();
    drop(engine);
    let row = store.order(id).await.unwrap().unwrap();
    assert!(since.is_some() && row.doubt_since == since, "{row:?}");
    venue.0.lookups_fail.store(true, Ordering::Release);
    let (engine, report) = start(&store, &venue).await;
    let doubt = |halt: &Halt| halt.cause.order() == Some(id) && !halt.cause.needs_person();
    assert!(report.halts.iter().any(doubt), "{report:?}");
    let row = store.order(id).await.unwrap().unwrap();
    assert_eq!(row.doubt_since, since);
    venue.0.lookups_fail.store(false, Ordering::Release);
    venue.0.creates_lost.store(false, Ordering::Release);
    until(async || engine.halts().is_empty()).await;
    let row = store.order(id).await.unwrap().unwrap();
    assert_eq!((row.state, row.doubt_since), (OrdState::Acked, None));
    referee(&venue).await;
}
