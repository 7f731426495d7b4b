//! The referee: what the venue holds and what the journal says must be one story, also after a clean stop.

use std::collections::BTreeMap;
use std::time::Duration;

use surefill_core::{ClOrdId, Fill, OrderFilter, OrderRecord, PlaceError, Store, Transition};

use crate::bot::Bot;
use crate::ledger::Ledger;
use crate::log::{each_create_was_journaled, no_send_under_a_halt};
use crate::simulated::{Fate, Simulated};
use crate::stage::{BOUND, Stage};
use crate::truth::{Truth, compare};

/// Waits until journal and venue agree and every halt of doubt is lifted, stops the bot in order, and reads the journal back from the
/// disk.
pub async fn judge<V: Simulated>(stage: &Stage<V>, bot: Bot) -> Ledger {
    judge_within(stage, bot, BOUND).await
}

/// The same, and it waits no longer than this for the story to be one.
pub async fn judge_within<V: Simulated>(stage: &Stage<V>, bot: Bot, bound: Duration) -> Ledger {
    let deadline = tokio::time::Instant::now() + bound;
    while let Err(why) = agree_now(stage, &bot).await {
        if tokio::time::Instant::now() >= deadline {
            panic!("{why}\n{}", story(stage, &bot).await);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let ours = |halt: &surefill_core::Halt| halt.scope.venue == V::ALIAS.into();
    if bot.halts().iter().any(ours) {
        nothing_passes(stage, &bot).await;
    }
    bot.shutdown().await.expect("a clean stop");
    let store = stage.open().await;
    let (rows, fills) = read(&store).await;
    let said = compare(&Truth::of(stage).await, &rows, &fills);
    said.unwrap_or_else(|why| panic!("on disk: {why}"));
    let mut logs = BTreeMap::new();
    for row in &rows {
        let log: Vec<Transition> = store.history(row.id).await.expect("a log");
        logs.insert(row.intent.decision.strategy.to_string(), log);
    }
    let lifted = store.lifted().await.expect("lifted halts");
    let stand = store.halts().await.expect("halts");
    no_send_under_a_halt(&rows, &logs, &lifted, &stand);
    each_create_was_journaled(stage, &store, &rows).await;
    store.close().await.expect("closed");
    let named = |row: OrderRecord| (row.intent.decision.strategy.to_string(), row);
    Ledger {
        rows: rows.into_iter().map(named).collect(),
        logs,
        stand,
        lifted: lifted.into_iter().map(|lifted| lifted.halt).collect(),
    }
}

async fn agree_now<V: Simulated>(stage: &Stage<V>, bot: &Bot) -> Result<(), String> {
    let engine = bot.engine();
    let rows = engine.orders(&OrderFilter::default()).await;
    let rows = rows.expect("rows");
    let mut fills = BTreeMap::new();
    for row in &rows {
        fills.insert(row.id, engine.fills(row.id).await.expect("fills"));
    }
    compare(&Truth::of(stage).await, &rows, &fills)?;
    // A cancel that is asked may act at any moment, also while the bot stops: the story is not over.
    let asked = |row: &&OrderRecord| row.cancel_requested && !row.state.is_terminal();
    if let Some(row) = rows.iter().find(asked) {
        return Err(format!("a cancel is on its way: {row:?}"));
    }
    let mut halts = bot.halts().into_iter();
    match halts.find(|halt| !halt.cause.needs_person()) {
        None => Ok(()),
        Some(halt) => Err(format!("still halted: {halt:?}")),
    }
}

/// Under a halt a new decision is refused with the halt's words, and nothing is signed for it.
async fn nothing_passes<V: Simulated>(stage: &Stage<V>, bot: &Bot) {
    let before = stage.bodies().await;
    let intent = stage.intent("under-a-halt", Fate::Rests).await;
    let refused = bot.place(intent).await;
    assert!(matches!(refused, Err(PlaceError::Halted(_))), "{refused:?}");
    assert_eq!(stage.bodies().await, before);
}

async fn read(store: &impl Store) -> (Vec<OrderRecord>, BTreeMap<ClOrdId, Vec<Fill>>) {
    let rows = store.orders(&OrderFilter::default()).await.expect("rows");
    let mut fills = BTreeMap::new();
    for row in &rows {
        fills.insert(row.id, store.fills(row.id).await.expect("fills"));
    }
    (rows, fills)
}

/// What happened, for whoever reads a failure.
async fn story<V: Simulated>(stage: &Stage<V>, bot: &Bot) -> String {
    let engine = bot.engine();
    let mut text = String::new();
    for row in engine.orders(&OrderFilter::default()).await.expect("rows") {
        let log: Vec<Transition> = engine.history(row.id).await.expect("a log");
        for step in log {
            text.push_str(&format!("{step:?}\n"));
        }
    }
    for halt in bot.halts() {
        text.push_str(&format!("{halt:?}\n"));
    }
    for request in stage.rows("/requests").await {
        let kind = request["op"].as_str().expect("a kind");
        if ["create", "cancel"].contains(&kind) {
            text.push_str(&format!("{request}\n"));
        }
    }
    for order in stage.rows("/orders").await {
        text.push_str(&format!("{order}\n"));
    }
    text
}
