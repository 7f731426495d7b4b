//! Fills: before the ack, doubled, out of order, lost by the stream, and after the end. Each is booked once.

use std::time::Duration;

use surefill_core::{Amount, OrdState};

use crate::venue::bot::settled;
use crate::venue::fixture::Start;
use crate::venue::judge::judge;
use crate::venue::stage::{each, on, until};
use crate::venue::words::{Act, Fate, Fault, List, Op};

/// C70.
pub async fn c70_fills_before_the_ack(start: Start) {
    let acts = [Act::DropAnswer, Act::ActThenStatus(502)];
    each(start, acts, async |stage, act| {
        let bot = stage.bot().await;
        stage.sim.fault(Fault::on(Op::Create, act)).await;
        let intent = stage.intent(Fate::Fills).await;
        bot.settled(intent.clone()).await;
        let ledger = judge(stage, bot).await;
        let row = ledger.one_order(stage, &intent, OrdState::Filled);
        assert!(!row.fills_owed());
    })
    .await;
}

/// C71.
pub async fn c71_a_stream_that_lies_loses_and_doubles_no_fill(start: Start) {
    let acts = [
        Act::StreamDuplicate,
        Act::StreamReorder,
        Act::StreamGap,
        Act::StreamDrop,
    ];
    each(start, acts, async |stage, act| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Rests).await;
        settled(&bot.order(intent.clone()).await).await;
        stage.sim.fault(Fault::on(Op::Stream, act).times(4)).await;
        let id = stage.id(&intent);
        stage.sim.fill(id, stage.sim.part()).await;
        stage.sim.fill(id, stage.sim.part()).await;
        let whole = stage.intent(Fate::Fills).await;
        bot.order(whole.clone()).await;
        let ledger = judge(stage, bot).await;
        ledger.one_order(stage, &intent, OrdState::Partial);
        ledger.one_order(stage, &whole, OrdState::Filled);
    })
    .await;
}

/// C72.
pub async fn c72_fills_after_the_end_are_owed_and_booked(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let intent = stage.intent(Fate::Rests).await;
        settled(&bot.order(intent.clone()).await).await;
        let id = stage.id(&intent);
        let hidden = Duration::from_millis(600);
        // A stream tells fills whatever lists hide: it ends, and does not come back in time.
        stage
            .sim
            .fault(Fault::on(Op::Stream, Act::StreamGap).for_good())
            .await;
        stage.sim.hide(id, &[List::Fills], hidden).await;
        let Amount::Base(qty) = intent.amount else {
            panic!("the order that rests is in base units")
        };
        stage.sim.fill(id, qty).await;
        until("the end", async || {
            let row = bot.row(id).await?;
            row.state.is_terminal().then_some(())
        })
        .await;
        let ledger = judge(stage, bot).await;
        let row = ledger.one_order(stage, &intent, OrdState::Filled);
        assert_eq!(row.booked_qty, qty);
        assert_eq!(stage.creates().await, 1);
    })
    .await;
}

/// C73.
pub async fn c73_fills_of_nobody_at_home_are_found(start: Start) {
    on(start, async |stage| {
        let bot = stage.bot().await;
        let (part, whole) = (
            stage.intent(Fate::Rests).await,
            stage.intent(Fate::Rests).await,
        );
        for intent in [&part, &whole] {
            settled(&bot.order(intent.clone()).await).await;
        }
        stage.sim.fill(stage.id(&part), stage.sim.part()).await;
        stage.crash(bot);
        stage.sim.fill(stage.id(&part), stage.sim.part()).await;
        let Amount::Base(qty) = whole.amount else {
            panic!("the order that rests is in base units")
        };
        stage.sim.fill(stage.id(&whole), qty).await;
        let bot = stage.bot().await;
        let ledger = judge(stage, bot).await;
        ledger.one_order(stage, &part, OrdState::Partial);
        ledger.one_order(stage, &whole, OrdState::Filled);
        assert_eq!(stage.creates().await, 2);
    })
    .await;
}
