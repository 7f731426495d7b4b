//! The bot dies in between.

use surefill_core::{OrdState, PlaceError, Scope};
use surefill_referee::{Bot, insist, judge, settled};
use tokio::task::JoinSet;

use super::{becomes, calm, taken};
use crate::stage::{ALIAS, Fate, Stage, id_of};

#[tokio::test]
async fn scenario_06_known_after_a_restart() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    settled(&bot.order(intent).await).await;
    bot.crash();
    let bot = stage.bot().await;
    bot.cancel(id).await.expect("known");
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Canceled);
    taken(&stage, 1).await;
}

/// Each fill is told by the stream twice, by the lists, and by the lists again after each restart.
#[tokio::test]
async fn scenario_11_a_restart_replays_fills() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot_at(stage.streaming()).await;
    stage.faults("stream", "stream_duplicate", 0, 100_000).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    settled(&bot.order(intent).await).await;
    stage.fill(id, "0.001").await;
    bot.booked(id, 1).await;
    bot.crash();
    for fills in 1..=3 {
        let bot = stage.bot_at(stage.streaming()).await;
        bot.booked(id, fills).await;
        stage.fill(id, "0.001").await;
        bot.booked(id, fills + 1).await;
        bot.crash();
    }
    let bot = stage.bot_at(stage.streaming()).await;
    stage.no_more_faults().await;
    // Old pushes come again over the new connection; one that is new follows them, so that it is known when all were heard.
    stage.replay().await;
    stage.fill(id, "0.001").await;
    bot.booked(id, 5).await;
    stage.replay().await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").booked_qty.to_string(), "0.005");
    assert_eq!(stage.rows("/fills").await.len(), 5);
}

/// Killed after the send: the row was there before it.
#[tokio::test]
async fn scenario_34_killed_after_the_send() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.fault("create", "drop_answer", 0).await;
    bot.begin(stage.intent("first", Fate::Rests).await);
    stage.placed(1).await;
    bot.crash();
    let bot = stage.bot().await;
    assert_eq!(bot.report.venues[&ALIAS.into()].checked, 1);
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Acked);
    taken(&stage, 1).await;
}

/// A part trades before the answer, another while nobody is there, and the lists tell the sum.
#[tokio::test]
async fn scenario_36_a_partial_fill_at_submit() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot_at(stage.streaming()).await;
    stage
        .post("/venue", serde_json::json!({"ack_ms": 400}))
        .await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    bot.begin(intent);
    stage.placed(1).await;
    stage.fill(id, "0.004").await;
    bot.booked(id, 1).await;
    bot.crash();
    stage.fill(id, "0.003").await;
    let bot = stage.bot_at(stage.streaming()).await;
    bot.booked(id, 2).await;
    bot.crash();
    let bot = stage.bot_at(stage.streaming()).await;
    let ledger = judge(&stage, bot).await;
    let row = ledger.one_order("first");
    assert_eq!(row.state, OrdState::Partial);
    assert_eq!(row.booked_qty.to_string(), "0.007");
    taken(&stage, 1).await;
}

#[tokio::test]
async fn scenario_37_a_halt_outlives_the_bot() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let known = bot.order(stage.intent("known", Fate::Rests).await).await;
    let row = settled(&known).await;
    // One halt of the venue, and one of the symbol.
    for scope in [Scope::venue(ALIAS), row.symbol_scope()] {
        bot.engine().halt(scope, "breaker").await.expect("halted");
    }
    bot.crash();
    let bot = stage.bot().await;
    refused(&stage, &bot).await;
    let lift = async |bot: &Bot, scope| {
        let engine = bot.engine();
        engine.resume(scope, "the tests", "looked").await
    };
    lift(&bot, Scope::venue(ALIAS)).await.expect("resumed");
    bot.crash();
    let bot = stage.bot().await;
    refused(&stage, &bot).await;
    lift(&bot, row.symbol_scope()).await.expect("resumed");
    bot.crash();
    let bot = stage.bot().await;
    let next = bot.order(stage.intent("next", Fate::Rests).await).await;
    settled(&next).await;
    let ledger = judge(&stage, bot).await;
    ledger.one_order("known");
    ledger.one_order("next");
    assert_eq!(stage.orders().await, 2);
}

async fn refused(stage: &Stage, bot: &Bot) {
    let before = stage.creates().await;
    let refused = bot.place(stage.intent("other", Fate::Rests).await).await;
    let Err(PlaceError::Halted(halt)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(&*halt.text, "breaker");
    assert_eq!(stage.creates().await, before);
}

/// Ten orders, some of whose answers are lost; the power goes in between, and the strategy starts its deals again.
#[tokio::test]
async fn scenario_41_power_loss_amid_ten_orders() {
    let stage = Stage::without_stream().await;
    let bot = calm(&stage).await;
    let mut intents = Vec::new();
    for n in 0..10 {
        let fate = [Fate::Rests, Fate::Fills][n % 2];
        intents.push(stage.intent(&format!("deal-{n}"), fate).await);
    }
    // The first ones get through; then one is on its way, and is taken.
    for intent in &intents[..4] {
        settled(&bot.order(intent.clone()).await).await;
    }
    stage.fault("create", "drop_answer", 100).await;
    for intent in &intents[4..] {
        bot.begin(intent.clone());
    }
    stage.asked("create", 5).await;
    bot.crash();
    let bot = calm(&stage).await;
    let mut placing = JoinSet::new();
    for intent in &intents {
        placing.spawn(insist(bot.engine(), intent.clone()));
    }
    for order in placing.join_all().await {
        settled(&order).await;
    }
    let first = stage.intent("after", Fate::Fills).await;
    becomes(&bot.order(first).await, OrdState::Filled).await;
    let ledger = judge(&stage, bot).await;
    for n in 0..10 {
        ledger.one_order(&format!("deal-{n}"));
    }
    assert_eq!(stage.orders().await, 11);
}
