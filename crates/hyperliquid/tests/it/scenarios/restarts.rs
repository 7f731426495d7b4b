//! The bot dies in between.

use serde_json::json;
use surefill_core::{OrdState, PlaceError, Scope, Store};
use surefill_referee::{Bot, Fate, insist, judge, settled};
use tokio::task::JoinSet;

use super::{becomes, calm, sent, signed};
use crate::child;
use crate::stage::{ALIAS, Stage, id_of, listens, venue};

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
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// Each fill is told by the stream twice, by the lists, by the stream's snapshot, and by the lists again after each restart.
#[tokio::test]
async fn scenario_11_a_restart_replays_fills() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    stage.faults("stream", "stream_duplicate", 0, 100_000).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    settled(&bot.order(intent).await).await;
    stage.fill(id, "0.001").await;
    bot.booked(id, 1).await;
    bot.crash();
    for fills in 1..=3 {
        let bot = stage.bot().await;
        bot.booked(id, fills).await;
        stage.fill(id, "0.001").await;
        bot.booked(id, fills + 1).await;
        bot.crash();
    }
    let bot = stage.bot().await;
    stage.no_more_faults().await;
    // Old pushes come again over the new connection; one that is new follows them, so that it is known when all were heard.
    stage.replay().await;
    stage.fill(id, "0.001").await;
    bot.booked(id, 5).await;
    stage.replay().await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").booked_qty.to_string(), "0.005");
    assert_eq!(stage.rows("/fills").await.len(), 5);
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// Three starts with a position that is known: nothing is ordered to make up for it.
#[tokio::test]
async fn scenario_13_a_restart_orders_nothing() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let order = bot.order(stage.intent("first", Fate::Fills).await).await;
    becomes(&order, OrdState::Filled).await;
    bot.crash();
    for _start in 1..=2 {
        stage.bot().await.crash();
    }
    let bot = stage.bot().await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").booked_qty.to_string(), "1.5");
    assert_eq!(ledger.decisions(), 1);
    assert_eq!(stage.orders().await, 1);
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// A process is killed after the send, before the venue acts or after it: the row was there first.
#[tokio::test]
async fn scenario_34_killed_after_the_send() {
    let runs = [("drop_answer", 0), ("hold", 600_000)].map(|(doing, ms)| async move {
        let stage = Stage::without_stream().await;
        stage.fault("create", doing, ms).await;
        let decided_at = stage.now_ms().await;
        let child = child::placing(&stage, decided_at, &["first".to_owned()]).await;
        stage.asked("create", 1).await;
        // It finds nothing out before it dies.
        stage.blind().await;
        if doing == "drop_answer" {
            stage.placed(1).await;
        }
        child.kill().await;
        stage.no_more_faults().await;
        let store = stage.open().await;
        let rows = store.unfinished().await.expect("rows");
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert!(rows[0].order_ids.is_empty(), "{rows:?}");
        store.close().await.expect("closed");
        let bot = stage.bot().await;
        assert_eq!(bot.report.venues[&ALIAS.into()].checked, 1);
        let ledger = judge(&stage, bot).await;
        assert_eq!(ledger.one_order("first").state, OrdState::Acked, "{doing}");
        assert_eq!(stage.orders().await, 1);
        signed(&stage, ledger.of("first").attempts.len()).await;
        ledger.never_halted();
    });
    futures_util::future::join_all(runs).await;
}

/// A part trades before the answer, another while nobody is there, and the lists tell the sum.
#[tokio::test]
async fn scenario_36_a_partial_fill_at_submit() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    listens(&stage, &bot, "probe").await;
    venue(&stage, json!({"ack_ms": 400})).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    bot.begin(intent);
    stage.placed(2).await;
    stage.fill(id, "0.004").await;
    bot.booked(id, 1).await;
    bot.crash();
    stage.fill(id, "0.003").await;
    let bot = stage.bot().await;
    bot.booked(id, 2).await;
    bot.crash();
    let bot = stage.bot().await;
    let ledger = judge(&stage, bot).await;
    let row = ledger.one_order("first");
    assert_eq!(row.state, OrdState::Partial);
    assert_eq!(row.booked_qty.to_string(), "0.007");
    sent(&stage, 2).await;
    ledger.never_halted();
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
    assert_eq!(ledger.halts().count(), 2);
    assert_eq!(ledger.decisions(), 2);
    assert_eq!(stage.orders().await, 2);
    sent(&stage, 2).await;
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

/// Ten orders at once, of which the fifth is taken and not answered; the process is killed amid them, and the strategy starts its deals
/// again.
#[tokio::test]
async fn scenario_41_power_loss_amid_ten_orders() {
    let stage = Stage::without_stream().await;
    let fifth = json!({"op": "create", "do": "drop_answer", "nth": 5, "ms": 100});
    stage.post("/faults", fifth).await;
    let decided_at = stage.now_ms().await;
    let names: Vec<String> = (0..10).map(|n| format!("deal-{n}")).collect();
    let child = child::placing(&stage, decided_at, &names).await;
    stage.asked("create", 5).await;
    child.kill().await;
    let bot = calm(&stage).await;
    let mut placing = JoinSet::new();
    for (n, name) in names.iter().enumerate() {
        let fate = [Fate::Rests, Fate::Fills][n % 2];
        let intent = Stage::intent_of(name, decided_at, fate);
        placing.spawn(insist(bot.engine(), intent));
    }
    for order in placing.join_all().await {
        settled(&order).await;
    }
    let first = stage.intent("after", Fate::Fills).await;
    becomes(&bot.order(first).await, OrdState::Filled).await;
    let ledger = judge(&stage, bot).await;
    for (n, name) in names.iter().enumerate() {
        let state = [OrdState::Acked, OrdState::Filled][n % 2];
        assert_eq!(ledger.one_order(name).state, state);
    }
    assert_eq!(ledger.decisions(), 11);
    assert_eq!(stage.orders().await, 11);
    ledger.never_halted();
}
