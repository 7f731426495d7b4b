//! Halts: from doubt, declared, lifted.

use std::sync::atomic::Ordering;

use surefill_core::*;

use super::{intent, referee, start, until, within};
use crate::fake_venue::{Do, FakeVenue};

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
