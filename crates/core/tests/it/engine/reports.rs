//! What the venue says: refusals, late fills, the stream, and who watches.

use std::sync::Arc;
use std::time::Duration;

use surefill_core::*;
use tokio::sync::Notify;

use super::{intent, qty, referee, start, until, within};
use crate::fake_venue::{Do, FakeVenue, profile};

/// A request that was doubled on the way, at a venue that takes an id again once its order ended.
#[tokio::test]
async fn a_second_order_after_the_end_is_found_without_a_stream_halts_and_is_canceled() {
    let profile = VenueProfile {
        duplicate: DuplicateRule::RefusedWhileOpen,
        ..profile()
    };
    let venue = FakeVenue::with([], profile, Duration::from_millis(300));
    let store = MemoryStore::default();
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    within(engine.cancel(id)).await.unwrap();
    let row = within(placed.order().done()).await;
    assert_eq!((row.state, row.watch), (OrdState::Canceled, None));
    // No driver looks any more, and the order is not executed: only the list of what is open shows it.
    venue.double();
    until(async || {
        let held = venue.held();
        held.len() == 2 && held.iter().all(|one| one.status == OrdStatus::Canceled)
    })
    .await;
    let second = HaltCause::SecondOrder { id };
    until(async || {
        let row = store.order(id).await.unwrap().unwrap();
        row.order_ids.len() == 2 && row.watch.is_none()
    })
    .await;
    let halts = engine.halts();
    let halt = halts.iter().find(|halt| halt.cause == second);
    assert_eq!(halt.expect("a halt").scope, row.account_scope());
    let again = within(engine.place(intent(&venue, "t"))).await;
    assert!(again.is_err(), "new risk stays out: {again:?}");
}

/// An adapter that calls an order refused, bytes and all, is wrong about a copy that lands: nothing watches, and the sweep finds it.
#[tokio::test]
async fn an_open_order_under_a_refused_row_is_found_without_a_stream_halts_and_is_canceled() {
    let profile = VenueProfile {
        refusal_uses_up_bytes: true,
        ..profile()
    };
    let venue = FakeVenue::with([Do::RejectAndTake], profile, Duration::from_millis(300));
    let store = MemoryStore::default();
    let (engine, _) = start(&store, &venue).await;
    let placed = within(engine.place(intent(&venue, "s"))).await.unwrap();
    let id = placed.order().id();
    let row = within(placed.order().done()).await;
    assert_eq!((row.state, row.watch), (OrdState::Rejected, None));
    until(async || venue.held()[0].status == OrdStatus::Canceled).await;
    until(async || {
        let row = store.order(id).await.unwrap().unwrap();
        row.order_ids.len() == 1 && row.watch.is_none()
    })
    .await;
    let halts = engine.halts();
    assert_eq!(halts[0].cause, HaltCause::Surprise { id });
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
