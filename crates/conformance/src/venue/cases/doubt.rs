//! The engine in doubt: whatever is lost on the way, at most one order; exactly one where the venue lets doubt end.

use std::time::Duration;

use surefill_core::{HaltCause, OrdState, OrderIntent, PlaceError};

use crate::venue::bot::{Bot, settled};
use crate::venue::fixture::Start;
use crate::venue::judge::{judge, story};
use crate::venue::stage::{Ending, Second, Stage, each, on, until};
use crate::venue::words::{Act, Fate, Fault, List, Op};

const NOW: Duration = Duration::ZERO;

/// Ends a case in which the only request never arrived, as the profile lets it end.
async fn ended(stage: &Stage, bot: Bot, intent: &OrderIntent) {
    match stage.ending() {
        Ending::OneOrder => {
            let ledger = judge(stage, bot).await;
            ledger.one_order(stage, intent, OrdState::Acked);
        }
        Ending::Rejected => {
            let ledger = judge(stage, bot).await;
            ledger.no_order(stage, intent, OrdState::Rejected);
            assert_eq!(stage.creates().await, 1, "sent again without a proof");
        }
        Ending::Halted => {
            halted_in_doubt(stage, &bot).await;
            assert_eq!(stage.creates().await, 1, "sent again without a proof");
            stage.no_order().await;
        }
    }
}

/// Waits for the halt of the account from doubt.
async fn halted_in_doubt(stage: &Stage, bot: &Bot) {
    let halted = until("a halt from doubt", async || {
        let halts = bot.halts();
        let halt = halts
            .iter()
            .find(|halt| matches!(halt.cause, HaltCause::Doubt { .. }));
        halt.cloned()
    })
    .await;
    assert_eq!(
        halted.scope.account.as_ref(),
        Some(&stage.account),
        "{halted:?}"
    );
}

/// C60.
pub async fn c60_a_lost_answer_ends_as_one_order(start: Start) {
    let acts = [
        Act::ResetAfter(NOW),
        Act::DropAnswer,
        Act::ActThenStatus(500),
        Act::ActThenStatus(504),
        Act::Truncate,
        Act::Garbage,
    ];
    let fates = [
        (Fate::Rests, OrdState::Acked),
        (Fate::Fills, OrdState::Filled),
    ];
    let runs = acts.iter().flat_map(|act| fates.map(|fate| (*act, fate)));
    each(start, runs, async |stage, (act, (fate, state))| {
        let bot = stage.bot().await;
        stage.sim.fault(Fault::on(Op::Create, act)).await;
        let intent = stage.intent(fate).await;
        bot.settled(intent.clone()).await;
        let ledger = judge(stage, bot).await;
        ledger.one_order(stage, &intent, state);
        assert_eq!(stage.orders().await.len(), 1, "{act:?}");
    })
    .await;
}

/// C61.
pub async fn c61_a_lost_request_ends_as_one_order(start: Start) {
    let acts = [Act::ResetBefore, Act::Status(502), Act::Status(504)];
    each(start, acts, async |stage, act| {
        let bot = stage.bot().await;
        stage.sim.fault(Fault::on(Op::Create, act)).await;
        let intent = stage.doubtful_intent().await;
        bot.order(intent.clone()).await;
        ended(stage, bot, &intent).await;
    })
    .await;
}

/// C62.
pub async fn c62_a_late_request_is_one_order(start: Start) {
    // Of the time in which it can land: early, at its very end, and past it.
    each(start, [3_u32, 9, 12, 16], async |stage, tenths| {
        let bot = stage.bot().await;
        let window = stage.sim.window().unwrap_or_else(|| stage.over());
        let late = window * tenths / 10;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ResetAfter(late)))
            .await;
        let intent = stage.doubtful_intent().await;
        bot.begin(intent.clone());
        stage.asked(Op::Create, 1).await;
        // Whatever the verdict: the late copy had its chance.
        stage.pass(late + stage.over()).await;
        if tenths < 10 || stage.sim.window().is_none() {
            // Under load it may have come too late after all: then it ends as one that was lost.
            if !stage.orders().await.is_empty() {
                let ledger = judge(stage, bot).await;
                ledger.one_order(stage, &intent, OrdState::Acked);
                return;
            }
        }
        ended(stage, bot, &intent).await;
    })
    .await;
}

/// C63.
pub async fn c63_what_was_not_taken_is_sent_again(start: Start) {
    each(start, [Act::Throttle, Act::Refuse], async |stage, act| {
        let bot = stage.bot().await;
        stage.sim.fault(Fault::on(Op::Create, act)).await;
        let intent = stage.doubtful_intent().await;
        bot.order(intent.clone()).await;
        // Where the word is not documented, it is a lost request.
        let documented = act == Act::Throttle && stage.sim.throttle_is_documented();
        if documented {
            let ledger = judge(stage, bot).await;
            ledger.one_order(stage, &intent, OrdState::Acked);
        } else if stage.ending() == Ending::OneOrder {
            ended(stage, bot, &intent).await;
        } else {
            // A connect that was refused is sent again; a connection that broke is a lost request.
            until("an end", async || {
                let row = bot.row(stage.id(&intent)).await?;
                let over =
                    row.state.is_working() || row.state.is_terminal() || !bot.halts().is_empty();
                over.then_some(())
            })
            .await;
            assert!(stage.orders().await.len() <= 1);
        }
    })
    .await;
}

/// C64.
pub async fn c64_a_doubled_request_is_one_order_or_a_halt(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let late = stage.sim.window().map_or(NOW, |window| window / 4);
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::Duplicate(late)))
            .await;
        let intent = stage.intent(Fate::Rests).await;
        bot.settled(intent.clone()).await;
        stage.asked(Op::Create, 2).await;
        stage.pass(late + stage.over()).await;
        match stage.copy(true) {
            Second::Refused | Second::Existing => {
                let ledger = judge(stage, bot).await;
                ledger.one_order(stage, &intent, OrdState::Acked);
            }
            // No client can stop it; it must come to light and halt.
            Second::Placed => {
                assert_eq!(stage.orders().await.len(), 2);
                until("a halt", async || {
                    let halts = bot.halts();
                    halts
                        .iter()
                        .any(|halt| matches!(halt.cause, HaltCause::SecondOrder { .. }))
                        .then_some(())
                })
                .await;
                let refused = bot.place(stage.intent(Fate::Rests).await).await;
                assert!(matches!(refused, Err(PlaceError::Halted(_))), "{refused:?}");
            }
        }
    })
    .await;
}

/// C65.
pub async fn c65_a_lag_places_no_second_order(start: Start) {
    each(start, [Fate::Rests, Fate::Fills], async |stage, fate| {
        let bot = stage.bot().await;
        let intent = stage.intent(fate).await;
        let id = stage.id(&intent);
        // As long as the profile says that it may take to show, from the moment at which it is sent.
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ActThenStatus(504)))
            .await;
        stage.sim.hide(id, &List::ALL, stage.lag()).await;
        bot.settled(intent.clone()).await;
        let ledger = judge(stage, bot).await;
        let row = ledger.of(stage, &intent);
        assert_eq!(row.order_ids.len(), 1, "{row:?}");
    })
    .await;
}

/// C66.
pub async fn c66_the_gap_between_lists_is_no_end(start: Start) {
    let gaps: [&[List]; 3] = [
        &[List::Open, List::Closed],
        &[List::Closed, List::Fills],
        &List::ALL,
    ];
    each(start, gaps, async |stage, gap| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Rests).await;
        let order = bot.order(intent.clone()).await;
        settled(&order).await;
        let id = stage.id(&intent);
        stage.sim.hide(id, gap, stage.lag() * 3).await;
        stage.sim.fill(id, stage.sim.part()).await;
        stage.pass(stage.lag() * 3).await;
        let ledger = judge(stage, bot).await;
        let row = ledger.one_order(stage, &intent, OrdState::Partial);
        assert_eq!(row.cum_qty, stage.sim.part());
        assert_eq!(stage.creates().await, 1);
    })
    .await;
}

/// C67.
pub async fn c67_failed_lookups_end_no_doubt(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        stage.blind().await;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::ResetBefore))
            .await;
        let intent = stage.doubtful_intent().await;
        let order = bot.order(intent.clone()).await;
        let looked = stage.count(Op::Lookup).await;
        stage.asked(Op::Lookup, looked + 2).await;
        stage.pass(stage.doubt()).await;
        let row = order.latest();
        let open = matches!(row.state, OrdState::Unknown | OrdState::Reconciling);
        let replayed = stage.sample.replayable || stage.sample.revocable;
        assert!(open || replayed, "a verdict without a look: {row:?}");
        assert!(
            replayed || stage.creates().await == 1,
            "sent again without a look"
        );
        stage.sim.clear_faults().await;
        if replayed {
            drop(judge(stage, bot).await);
        } else {
            ended(stage, bot, &intent).await;
        }
    })
    .await;
}

/// C68.
pub async fn c68_doubt_refuses_new_risk_and_lifts(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        stage.blind().await;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::Status(504)).for_good())
            .await;
        let intent = stage.intent(Fate::Rests).await;
        let order = bot.order(intent.clone()).await;
        let before = stage.creates().await;
        let other = stage.intent(Fate::Rests).await;
        let refused = bot.place(other.clone()).await;
        let right = matches!(
            refused,
            Err(PlaceError::Doubt { .. } | PlaceError::Halted(_))
        );
        assert!(right, "{refused:?}");
        assert!(bot.row(stage.id(&other)).await.is_none(), "journaled");
        assert!(
            stage.creates().await == before || stage.sample.replayable,
            "sent in doubt"
        );
        // The same decision is no new risk.
        let known = bot.place(intent.clone()).await.expect("known");
        assert_eq!(known.order().id(), order.id());
        stage.sim.clear_faults().await;
        if stage.ending() == Ending::OneOrder {
            settled(&order).await;
            let placed = until("it lifts", async || {
                bot.place(stage.intent(Fate::Rests).await).await.ok()
            })
            .await;
            settled(placed.order()).await;
            let ledger = judge(stage, bot).await;
            ledger.one_order(stage, &intent, OrdState::Acked);
        }
    })
    .await;
}

/// C69.
pub async fn c69_doubt_past_the_cap_halts_the_account_and_lifts(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        stage.blind().await;
        // Nor does a revocation tell.
        let unheard = Fault::on(Op::Cancel, Act::Status(502)).for_good();
        stage.sim.fault(unheard).await;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::Status(504)).for_good())
            .await;
        let intent = stage.intent(Fate::Rests).await;
        bot.order(intent.clone()).await;
        halted_in_doubt(stage, &bot).await;
        let other = bot.place(stage.intent(Fate::Rests).await).await;
        let right = matches!(other, Err(PlaceError::Halted(_) | PlaceError::Doubt { .. }));
        assert!(right, "{other:?}");
        stage.sim.clear_faults().await;
        if stage.ending() == Ending::OneOrder {
            let ledger = judge(stage, bot).await;
            ledger.one_order(stage, &intent, OrdState::Acked);
        } else {
            let told = story(stage, &bot).await;
            assert!(stage.orders().await.len() <= 1, "{told}");
        }
    })
    .await;
}
