//! Placing: durable first, once for each decision, and refused before anything is journaled.

use std::sync::Arc;
use std::time::Duration;

use surefill_core::*;
use tokio::sync::Notify;

use super::{intent, qty, referee, start, until, within};
use crate::fake_venue::{Do, FakeVenue, profile};

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
