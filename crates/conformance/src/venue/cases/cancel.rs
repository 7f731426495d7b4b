//! Cancels: what they prove, and that a lost one is repeated by the engine until the order has ended.

use std::time::Duration;

use surefill_core::{Amount, CancelOutcome, CancelRule, Lookup, OrdState, OrdStatus};

use crate::venue::bot::{done, settled};
use crate::venue::fixture::Start;
use crate::venue::judge::judge;
use crate::venue::stage::{each, on, until};
use crate::venue::words::{Act, Fate, Fault, List, Op, SeenStatus};

const NOW: Duration = Duration::ZERO;

/// C50.
pub async fn c50_a_cancel_ends_the_order(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let order = desk.place(&stage.intent(Fate::Rests).await).await;
        let kept = desk.place(&stage.intent(Fate::Rests).await).await;
        let answer = desk.venue.cancel(&order).await;
        match stage.profile.cancel {
            CancelRule::Receipt => assert_eq!(answer, CancelOutcome::Taken),
            CancelRule::Final => {
                assert!(matches!(answer, CancelOutcome::Canceled(_)), "{answer:?}");
            }
        }
        stage.pass(stage.lag()).await;
        let statuses: Vec<_> = stage
            .orders()
            .await
            .iter()
            .map(|order| order.status)
            .collect();
        assert_eq!(
            statuses,
            [SeenStatus::Canceled, SeenStatus::New],
            "{}",
            kept.id
        );
        let found = desk.venue.lookup(&order).await;
        let ended =
            matches!(&found, Lookup::Found(reports) if reports[0].status == OrdStatus::Canceled);
        assert!(ended, "{found:?}");
        assert_eq!(stage.count(Op::Cancel).await, 1);
    })
    .await;
}

/// C51.
pub async fn c51_a_cancel_of_what_filled_proves_nothing(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let order = desk.place(&stage.intent(Fate::Fills).await).await;
        let answer = desk.venue.cancel(&order).await;
        let right = matches!(
            answer,
            CancelOutcome::NotOpen | CancelOutcome::NotYet | CancelOutcome::Unknown(_)
        );
        assert!(right, "{answer:?}");
        assert_eq!(stage.only_order().await.status, SeenStatus::Filled);
        assert_eq!(stage.count(Op::Cancel).await, 1);
    })
    .await;
}

/// C52.
pub async fn c52_a_cancel_of_what_never_was_proves_nothing(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (order, _) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        let answer = desk.venue.cancel(&order).await;
        let right = matches!(
            answer,
            CancelOutcome::NotOpen | CancelOutcome::NotYet | CancelOutcome::Unknown(_)
        );
        assert!(right, "{answer:?}");
        stage.no_order().await;
    })
    .await;
}

/// C53.
pub async fn c53_a_lost_cancel_is_unknown(start: Start) {
    let acts = [
        Act::ResetBefore,
        Act::ResetAfter(NOW),
        Act::Status(504),
        Act::ActThenStatus(504),
        Act::Truncate,
        Act::Garbage,
    ];
    each(start, acts, async |stage, act| {
        let desk = stage.desk().await;
        let order = desk.place(&stage.intent(Fate::Rests).await).await;
        stage.sim.fault(Fault::on(Op::Cancel, act)).await;
        let answer = desk.venue.cancel(&order).await;
        assert!(
            matches!(answer, CancelOutcome::Unknown(_)),
            "{act:?}: {answer:?}"
        );
        assert_eq!(stage.count(Op::Cancel).await, 1, "{act:?}: sent once");
        let ended = stage.only_order().await.status == SeenStatus::Canceled;
        assert_eq!(ended, act.acts(), "{act:?}");
    })
    .await;
}

/// C54.
pub async fn c54_a_cancel_keeps_what_was_filled(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Rests).await;
        let order = bot.order(intent.clone()).await;
        stage.sim.fill(stage.id(&intent), stage.sim.part()).await;
        bot.cancel(order.id()).await.expect("asked");
        done(&order).await;
        let ledger = judge(stage, bot).await;
        let row = ledger.one_order(stage, &intent, OrdState::Canceled);
        assert_eq!(row.cum_qty, stage.sim.part());
    })
    .await;
}

/// C55.
pub async fn c55_a_cancel_refused_because_it_filled(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Rests).await;
        let order = bot.order(intent.clone()).await;
        settled(&order).await;
        // Nobody can see that it has filled, and the venue refuses the cancel.
        let id = stage.id(&intent);
        stage
            .sim
            .hide(id, &List::ALL, Duration::from_millis(300))
            .await;
        stage.deaf().await;
        stage.sim.fill(id, stage.sim.part()).await;
        let rest = order.record().intent.amount;
        let Amount::Base(qty) = rest else {
            panic!("the order that rests is in base units")
        };
        let rest = qty.checked_sub(stage.sim.part()).expect("a part");
        stage.sim.fill(id, rest).await;
        bot.cancel(id).await.expect("asked");
        done(&order).await;
        let ledger = judge(stage, bot).await;
        let row = ledger.one_order(stage, &intent, OrdState::Filled);
        assert!(row.cancel_requested);
    })
    .await;
}

/// C56.
pub async fn c56_a_lost_cancel_is_repeated_until_the_end(start: Start) {
    let acts = [
        Act::ResetBefore,
        Act::ResetAfter(NOW),
        Act::ResetAfter(Duration::from_millis(200)),
        Act::Refuse,
        Act::Status(504),
        Act::ActThenStatus(504),
        Act::Garbage,
        Act::Throttle,
    ];
    each(start, acts, async |stage, act| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Rests).await;
        let order = bot.order(intent.clone()).await;
        stage.sim.fault(Fault::on(Op::Cancel, act).times(2)).await;
        bot.cancel(order.id()).await.expect("asked");
        done(&order).await;
        let ledger = judge(stage, bot).await;
        ledger.one_order(stage, &intent, OrdState::Canceled);
        assert_eq!(stage.creates().await, 1, "{act:?}");
    })
    .await;
}

/// C57.
pub async fn c57_a_cancel_in_doubt_ends_creates(start: Start) {
    let acts = [
        Act::ResetBefore,
        Act::Status(504),
        Act::ResetAfter(NOW),
        Act::ActThenStatus(504),
    ];
    each(start, acts, async |stage, act| {
        let bot = stage.bot().await;
        // Every copy is lost, so that none which left before the cancel places an order.
        let lost = Fault::on(Op::Create, act);
        let lost = if act.acts() { lost } else { lost.for_good() };
        stage.sim.fault(lost).await;
        stage
            .sim
            .fault(Fault::on(Op::Lookup, Act::Status(502)).times(4))
            .await;
        let intent = stage.intent(Fate::Rests).await;
        bot.begin(intent.clone());
        stage.asked(Op::Create, 1).await;
        bot.cancel(stage.id(&intent)).await.expect("asked");
        // Where bytes are remembered, copies may have left before that, and one may be leaving.
        let most = if stage.sample.replayable {
            stage.creates().await + 1
        } else {
            1
        };
        let unbounded = !act.acts() && !stage.sample.revocable && stage.sim.window().is_none();
        if unbounded {
            // Nothing bounds when it may land: its account halts, and nothing is sent.
            until("a halt", async || bot.halts().first().map(drop)).await;
            assert_eq!(stage.creates().await, 1);
            stage.no_order().await;
            return;
        }
        let ledger = judge(stage, bot).await;
        if act.acts() {
            ledger.one_order(stage, &intent, OrdState::Canceled);
        } else {
            ledger.no_order(stage, &intent, OrdState::Canceled);
        }
        let creates = stage.creates().await;
        assert!(creates <= most, "{act:?}: sent after a cancel: {creates}");
    })
    .await;
}
