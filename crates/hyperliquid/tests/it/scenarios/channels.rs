//! Answers, lists and the stream tell different stories for a while.

use std::time::Duration;

use serde_json::json;
use surefill_core::{Cause, OrdState};
use surefill_referee::{Fate, judge, settled, until};

use super::{LISTS, becomes, sent, signed};
use crate::stage::{Stage, id_of, listens, venue};

/// A gateway answers for the venue, the stream tells that the order is there, and no list shows it: what was to be sent again is not.
#[tokio::test]
async fn scenario_08_the_stream_is_first_and_nothing_is_sent_again() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    listens(&stage, &bot, "probe").await;
    let intent = stage.intent("first", Fate::Rests).await;
    stage.hide(id_of(&intent), &LISTS, 800).await;
    let shown = stage.now_ms().await + 800;
    venue(&stage, json!({"ack_ms": 200})).await;
    stage.fault("create", "act_then_status:504", 0).await;
    let order = bot.order(intent).await;
    becomes(&order, OrdState::Acked).await;
    stage.reach(shown).await;
    let ledger = judge(&stage, bot).await;
    ledger.one_order("first");
    let resent = |cause: &Cause| matches!(cause, Cause::Resent | Cause::Replayed);
    let log = ledger.log("first");
    assert!(!log.iter().any(|step| resent(&step.cause)), "{log:?}");
    assert_eq!(stage.orders().await, 2);
    sent(&stage, 2).await;
    ledger.never_halted();
}

/// The lists say how much traded before they show the trades; the real trades come by the stream or, where it is silent, later.
#[tokio::test]
async fn scenario_14_the_sum_before_its_fills() {
    let runs = [("stream_reorder", 300), ("stream_gap", 300)].map(|(doing, ms)| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let intent = stage.intent("first", Fate::Rests).await;
        let id = id_of(&intent);
        let order = bot.order(intent).await;
        settled(&order).await;
        stage.hide(id, &["fills"], 500).await;
        stage.fault("stream", doing, ms).await;
        stage.fill(id, "0.005").await;
        bot.booked(id, 1).await;
        stage.fill(id, "0.005").await;
        becomes(&order, OrdState::Filled).await;
        let ledger = judge(&stage, bot).await;
        let row = ledger.one_order("first");
        assert_eq!(row.booked_qty, "0.010".parse().expect("qty"), "{doing}");
        assert_eq!(stage.rows("/fills").await.len(), 2);
        sent(&stage, 1).await;
        ledger.never_halted();
    });
    futures_util::future::join_all(runs).await;
}

/// The lists say that all of it traded before they show the trade, which then comes by the stream.
#[tokio::test]
async fn scenario_14_filled_before_its_fill_is_told() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    settled(&order).await;
    stage.faults("stream", "stream_gap", 0, 100_000).await;
    let told = stage.now_ms().await + 300;
    stage.hide(id, &["fills"], 60_000).await;
    stage.fill(id, "0.010").await;
    while stage.now_ms().await < told {
        let row = order.latest();
        assert!(row.booked_qty.is_zero(), "a fill that nobody told: {row:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stage.no_more_faults().await;
    until("the real fill is told", async || {
        stage.replay().await;
        let fills = bot.engine().fills(id).await.expect("fills");
        (fills.len() == 1).then_some(())
    })
    .await;
    becomes(&order, OrdState::Filled).await;
    stage.replay().await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(
        ledger.one_order("first").booked_qty,
        "0.010".parse().expect("qty")
    );
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// The stream says new and filled, and the answer to the create comes after both.
#[tokio::test]
async fn scenario_33_a_late_ack_revives_nothing() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    listens(&stage, &bot, "probe").await;
    venue(&stage, json!({"ack_ms": 1_500})).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    bot.begin(intent.clone());
    stage.placed(2).await;
    stage.fill(id, "0.010").await;
    let before = bot.engine();
    until("filled by the stream", async || {
        let order = before.order(id).await.expect("readable").expect("known");
        (order.latest().state == OrdState::Filled).then_some(())
    })
    .await;
    let creates = stage.requests("create").await;
    assert_eq!(creates[1]["answered"], false, "the answer was first");
    drop(before);
    stage.answered().await;
    let order = bot.order(intent).await;
    assert_eq!(settled(&order).await.state, OrdState::Filled);
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Filled);
    sent(&stage, 2).await;
    ledger.never_halted();
}

/// The stream says filled, and the lists show the order open for a while; for five seconds in the report. Also to a bot that starts in
/// that while.
#[tokio::test]
async fn scenario_42_the_lists_lag_behind_the_stream() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    settled(&order).await;
    stage.stale(id, 2_000).await;
    let shown = stage.now_ms().await + 2_000;
    stage.fill(id, "0.010").await;
    // Somebody listens by the time of one of these.
    until("the stream is heard", async || {
        stage.replay().await;
        (order.latest().state == OrdState::Filled).then_some(())
    })
    .await;
    bot.booked(id, 1).await;
    bot.crash();
    let bot = stage.bot().await;
    while stage.now_ms().await < shown {
        let row = bot.engine().order(id).await.expect("read").expect("known");
        assert_eq!(row.latest().state, OrdState::Filled, "{row:?}");
        assert!(bot.halts().is_empty(), "{:?}", bot.halts());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let ledger = judge(&stage, bot).await;
    ledger.one_order("first");
    signed(&stage, 1).await;
    ledger.never_halted();
}
