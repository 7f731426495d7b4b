//! One send: what leaves, how often, and what the answer is taken for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rust_decimal::Decimal;
use surefill_core::{Amount, HeldBack, NotSent, OrdType, Px, Stop, Submission};

use crate::venue::desk::connected;
use crate::venue::fixture::Start;
use crate::venue::stage::{each, on};
use crate::venue::words::{Act, Fate, Fault, Login, Op};

const NOW: Duration = Duration::ZERO;

/// Sends an order that rests through this fault: doubt, one request, and as many orders as the fault lets through.
async fn sent_through(start: Start, acts: &[Act]) {
    each(start, acts.iter().copied(), async |stage, act| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        stage.sim.fault(Fault::on(Op::Create, act)).await;
        let answer = desk.submit(&attempt).await;
        assert!(
            matches!(answer, Submission::Unknown(_)),
            "{act:?}: {answer:?}"
        );
        assert_eq!(stage.creates().await, 1, "{act:?}: sent once");
        if act.acts() {
            stage.only_order().await;
        } else {
            stage.no_order().await;
        }
    })
    .await;
}

/// C01.
pub async fn c01_an_order_arrives_as_it_was_meant(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let intent = stage.intent(Fate::Rests).await;
        let (_, attempt) = desk.write(&intent, 1).await;
        let answer = desk.submit(&attempt).await;
        let there = stage.only_order().await;
        match &answer {
            Submission::Acked(report) => {
                assert_eq!(report.handle.order_id.as_ref(), Some(&there.order_id));
            }
            Submission::Received(key) => assert!(attempt.keys.contains(key), "{key:?}"),
            other => panic!("not taken: {other:?}"),
        }
        assert_eq!(there.symbol, intent.symbol);
        assert_eq!(there.side, intent.side);
        if let Amount::Base(qty) = intent.amount {
            assert_eq!(there.order_qty, qty.value());
        }
        let price = intent.ord_type.price().map(Px::value);
        assert_eq!(there.price, price);
        if let Some(id) = there.cl_ord_id {
            assert_eq!(id, stage.id(&intent));
        }
        assert_eq!(stage.creates().await, 1);
    })
    .await;
}

/// C02.
pub async fn c02_a_lost_answer_is_unknown_not_rejected(start: Start) {
    sent_through(start, &[Act::ResetAfter(NOW), Act::DropAnswer]).await;
}

/// C03.
pub async fn c03_a_lost_request_is_unknown(start: Start) {
    sent_through(start, &[Act::ResetBefore]).await;
}

/// C04.
pub async fn c04_a_late_request_lands_after_the_client_gave_up(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let late = stage
            .sim
            .window()
            .map_or(Duration::from_millis(150), |window| window / 3);
        let (order, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ResetAfter(late)))
            .await;
        let answer = desk.submit(&attempt).await;
        assert!(matches!(answer, Submission::Unknown(_)), "{answer:?}");
        stage.placed(1).await;
        stage.pass(stage.lag()).await;
        let found = desk.venue.lookup(&order).await;
        assert!(
            matches!(&found, surefill_core::Lookup::Found(reports) if reports.len() == 1),
            "{found:?}"
        );
        assert_eq!(stage.creates().await, 1);
    })
    .await;
}

/// C05.
pub async fn c05_a_refused_connect_is_not_sent(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        let (nowhere, ..) = connected(stage.sim.nowhere(), &stage.store());
        let go = desk.go(&attempt);
        let answer = nowhere.submit(&attempt, &go).await;
        assert!(
            matches!(answer, Submission::NotSent(NotSent::Connect(_))),
            "{answer:?}"
        );
        // A connection that was there and is refused its request proves less.
        stage.sim.fault(Fault::on(Op::Create, Act::Refuse)).await;
        let answer = desk.submit(&attempt).await;
        assert!(
            matches!(
                answer,
                Submission::NotSent(NotSent::Connect(_)) | Submission::Unknown(_)
            ),
            "{answer:?}"
        );
        stage.no_order().await;
    })
    .await;
}

/// C06.
pub async fn c06_a_5xx_before_acting_is_unknown(start: Start) {
    sent_through(start, &[500, 502, 503, 504].map(Act::Status)).await;
}

/// C07.
pub async fn c07_a_5xx_after_acting_is_unknown(start: Start) {
    sent_through(start, &[500, 502, 503, 504].map(Act::ActThenStatus)).await;
}

/// C08.
pub async fn c08_an_unreadable_answer_is_unknown(start: Start) {
    sent_through(start, &[Act::Truncate, Act::Garbage]).await;
}

/// C09.
pub async fn c09_throttled_is_not_taken(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        stage.sim.fault(Fault::on(Op::Create, Act::Throttle)).await;
        let answer = desk.submit(&attempt).await;
        let right = match answer {
            Submission::NotTaken { .. } => stage.sim.throttle_is_documented(),
            Submission::Unknown(_) => !stage.sim.throttle_is_documented(),
            _ => false,
        };
        assert!(right, "{answer:?}");
        assert_eq!(stage.creates().await, 1);
        stage.no_order().await;
    })
    .await;
}

/// C10.
pub async fn c10_a_definite_refusal_is_rejected(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Refused).await, 1).await;
        let answer = desk.submit(&attempt).await;
        assert!(
            matches!(&answer, Submission::Rejected(reject) if !reject.halts_account),
            "{answer:?}"
        );
        stage.no_order().await;
        if stage.profile.refusal_uses_up_bytes {
            let again = desk.submit(&attempt).await;
            let taken = matches!(again, Submission::Acked(_) | Submission::Received(_));
            assert!(!taken, "{again:?}");
            stage.no_order().await;
        }
    })
    .await;
}

/// Which flag of the last check is up.
type Flag = fn(&Stop) -> &AtomicBool;

/// C11.
pub async fn c11_what_is_held_back_never_leaves(start: Start) {
    let whys: [(Flag, HeldBack); 3] = [
        (|stop| &stop.cancel, HeldBack::CancelAsked),
        (|stop| &stop.lease_lost, HeldBack::LeaseLost),
        (|stop| &stop.journal_closed, HeldBack::JournalClosed),
    ];
    each(start, whys, async |stage, (flag, why)| {
        let desk = stage.desk().await;
        let (_, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        flag(&desk.stop).store(true, Ordering::Release);
        let answer = desk.submit(&attempt).await;
        assert_eq!(answer, Submission::NotSent(NotSent::HeldBack(why)));
        flag(&desk.stop).store(false, Ordering::Release);
        stage.no_order().await;
        assert_eq!(stage.creates().await, 0);
        // The twin: nothing else held it back.
        let answer = desk.submit(&attempt).await;
        let taken = matches!(answer, Submission::Acked(_) | Submission::Received(_));
        assert!(taken, "{answer:?}");
        stage.only_order().await;
    })
    .await;
}

/// C12.
pub async fn c12_a_price_off_the_tick_is_no_request(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let mut intent = stage.intent(Fate::Rests).await;
        let instruments = desk.venue.instruments().await.expect("instruments");
        let traded = instruments.iter().find(|one| one.symbol == intent.symbol);
        let traded = traded.unwrap_or_else(|| panic!("{} is listed", intent.symbol));
        let price = intent.ord_type.price().expect("a limit order").value();
        let on_tick = intent.ord_type;
        let off = price + traded.tick / Decimal::TEN;
        intent.ord_type = OrdType::Limit {
            price: Px::new(off).expect("a price"),
        };
        let ticket = desk.ticket(&intent, 1).await;
        let built = desk.venue.prepare(&stage.id(&intent), &intent, &ticket);
        assert!(built.is_err(), "rounded silently: {built:?}");
        assert_eq!(stage.creates().await, 0);
        // The twin: on the tick it is taken.
        intent.ord_type = on_tick;
        desk.place(&intent).await;
        stage.only_order().await;
    })
    .await;
}

/// C13.
pub async fn c13_a_request_is_built_alike_from_the_same_ticket(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let intent = stage.intent(Fate::Rests).await;
        let ticket = desk.ticket(&intent, 1).await;
        let id = stage.id(&intent);
        let build = || desk.venue.prepare(&id, &intent, &ticket).expect("prepared");
        let (first, second) = (build(), build());
        assert_eq!(first, second, "clock or chance went in");
        let mut other = intent.clone();
        other.decision = other.decision.leg(1);
        let other = desk.venue.prepare(&stage.id(&other), &intent, &ticket);
        let other = other.expect("prepared").keys;
        assert_ne!(other, first.keys, "one key for two orders");
        // What was built so is taken.
        desk.place(&stage.intent(Fate::Rests).await).await;
        stage.only_order().await;
    })
    .await;
}

/// C14.
pub async fn c14_wrong_keys_place_nothing(start: Start) {
    on(start, async |stage| {
        let main = stage.desk().await;
        let other = stage.desk_of(Login::Other).await;
        assert_ne!(main.account, other.account, "two accounts have one name");
        let again = stage.desk().await;
        assert_eq!(main.account, again.account, "one account has two names");
        let intent = stage.intent(Fate::Rests).await;
        let order = other.place(&intent).await;
        stage.no_order().await;
        stage.pass(stage.lag()).await;
        let open = main.venue.open_orders(None).await.expect("open orders");
        assert!(open.rows.is_empty(), "another account's: {open:?}");
        let found = other.venue.lookup(&order).await;
        assert!(
            matches!(found, surefill_core::Lookup::Found(_)),
            "{found:?}"
        );
    })
    .await;
}
