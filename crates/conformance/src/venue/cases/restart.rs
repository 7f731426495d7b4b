//! The process dies, or the venue does: what the next start makes of it.

use std::time::Duration;

use surefill_core::OrdState;

use crate::venue::bot::settled;
use crate::venue::fixture::Start;
use crate::venue::judge::judge;
use crate::venue::stage::{Ending, each, on};
use crate::venue::words::{Act, Fate, Fault, Op};

const NOW: Duration = Duration::ZERO;

/// C85.
pub async fn c85_it_dies_while_a_create_is_on_its_way(start: Start) {
    let third = Duration::from_millis(100);
    let acts = [
        Act::DropAnswer,
        Act::Hold(third),
        Act::ResetAfter(third),
        Act::ResetAfter(Duration::from_millis(1_000)),
    ];
    each(start, acts, async |stage, act| {
        let bot = stage.bot().await;
        stage.sim.fault(Fault::on(Op::Create, act)).await;
        let intent = stage.doubtful_intent().await;
        bot.begin(intent.clone());
        stage.asked(Op::Create, 1).await;
        stage.crash(bot);
        let bot = stage.bot().await;
        assert!(bot.report.venues.contains_key(&stage.alias()));
        // The strategy, restarted as well, decides the same again: it gets the order that is there.
        let again = bot.place(intent.clone()).await;
        stage.pass(act.delay() + stage.over()).await;
        match again {
            Ok(again) => assert_eq!(again.order().id(), stage.id(&intent)),
            Err(error) => panic!("{act:?}: {error}"),
        }
        if stage.ending() == Ending::OneOrder {
            let ledger = judge(stage, bot).await;
            ledger.one_order(stage, &intent, OrdState::Acked);
        } else if !stage.orders().await.is_empty() || stage.ending() == Ending::Rejected {
            drop(judge(stage, bot).await);
        }
        assert!(stage.orders().await.len() <= 1, "{act:?}");
    })
    .await;
}

/// C86.
pub async fn c86_it_dies_in_doubt_again_and_again(start: Start) {
    each(
        start,
        [Act::ResetBefore, Act::ActThenStatus(504)],
        async |stage, act| {
            let bot = stage.bot().await;
            stage.sim.fault(Fault::on(Op::Create, act)).await;
            stage.blind().await;
            let intent = stage.intent(Fate::Rests).await;
            bot.begin(intent.clone());
            stage.asked(Op::Create, 1).await;
            stage.crash(bot);
            for _ in 0..3 {
                // It dies inside of its recovery: nobody got an engine.
                let asked = stage.requests().await.len();
                tokio::select! {
                    biased;
                    () = async {
                        crate::venue::stage::until("a read of the recovery", async || {
                            (stage.requests().await.len() > asked + 2).then_some(())
                        }).await;
                    } => {}
                    bot = stage.bot() => bot.die(),
                }
                stage.handed_on();
            }
            stage.sim.clear_faults().await;
            let bot = stage.bot().await;
            if act.acts() || stage.ending() == Ending::OneOrder {
                let ledger = judge(stage, bot).await;
                ledger.one_order(stage, &intent, OrdState::Acked);
            } else {
                stage.no_order().await;
                assert_eq!(stage.creates().await, 1);
            }
        },
    )
    .await;
}

/// C87.
pub async fn c87_it_dies_with_a_cancel_asked(start: Start) {
    each(
        start,
        [Act::ResetBefore, Act::ResetAfter(NOW)],
        async |stage, act| {
            let bot = stage.bot().await;
            let intent = stage.intent(Fate::Rests).await;
            settled(&bot.order(intent.clone()).await).await;
            stage.sim.fault(Fault::on(Op::Cancel, act).for_good()).await;
            bot.cancel(stage.id(&intent)).await.expect("asked");
            stage.crash(bot);
            stage.sim.clear_faults().await;
            let bot = stage.bot().await;
            let ledger = judge(stage, bot).await;
            ledger.one_order(stage, &intent, OrdState::Canceled);
        },
    )
    .await;
}

/// C88.
pub async fn c88_a_power_cut_in_doubt_sends_nothing_twice(start: Start) {
    // The newest lazy commits go with the power: none, one, all.
    each(start, [0, 1, usize::MAX], async |stage, lose| {
        let bot = stage.bot().await;
        stage.blind().await;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ActThenStatus(504)))
            .await;
        let intent = stage.intent(Fate::Rests).await;
        bot.order(intent.clone()).await;
        bot.die();
        stage.power_cut(lose);
        stage.sim.clear_faults().await;
        let bot = stage.bot().await;
        let again = bot.place(intent.clone()).await.expect("known");
        assert_eq!(again.order().id(), stage.id(&intent));
        let ledger = judge(stage, bot).await;
        ledger.one_order(stage, &intent, OrdState::Acked);
        stage.only_order().await;
    })
    .await;
}

/// C89.
pub async fn c89_it_starts_while_the_venue_is_down(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let resting = stage.intent(Fate::Rests).await;
        settled(&bot.order(resting.clone()).await).await;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ActThenStatus(504)))
            .await;
        let doubtful = stage.intent(Fate::Fills).await;
        bot.begin(doubtful.clone());
        stage.placed(2).await;
        stage.crash(bot);
        stage.sim.restart(Duration::from_millis(700)).await;
        let bot = stage.bot().await;
        // Whether it is down still or up again by now:
        for intent in [&doubtful, &resting] {
            let known = bot.place(intent.clone()).await.expect("known");
            assert_eq!(known.order().id(), stage.id(intent));
        }
        bot.cancel(stage.id(&resting)).await.expect("asked");
        let ledger = judge(stage, bot).await;
        ledger.one_order(stage, &doubtful, OrdState::Filled);
        ledger.one_order(stage, &resting, OrdState::Canceled);
        assert_eq!(stage.creates().await, 2);
    })
    .await;
}

/// C90.
pub async fn c90_a_clock_that_jumps_places_no_second_order(start: Start) {
    // By so many milliseconds while the order is in doubt.
    each(start, [-5_000_i64, 5_000], async |stage, ms| {
        let bot = stage.bot().await;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ActThenStatus(504)))
            .await;
        stage.blind().await;
        let intent = stage.intent(Fate::Rests).await;
        bot.begin(intent.clone());
        stage.placed(1).await;
        stage.sim.skew(ms).await;
        stage.sim.clear_faults().await;
        let ledger = judge(stage, bot).await;
        ledger.one_order(stage, &intent, OrdState::Acked);
        stage.only_order().await;
    })
    .await;
}
