//! Answers, lists and the stream tell different stories for a while.

use serde_json::json;
use surefill_core::OrdState;
use surefill_referee::{judge, settled};

use super::{becomes, taken};
use crate::stage::{Fate, Stage, id_of, until};

/// The lists say how much traded before they show the trades; the real trades come by the stream or, where it is silent, later.
#[tokio::test]
async fn scenario_14_the_sum_before_its_fills() {
    let runs = [("stream_reorder", 300), ("stream_gap", 300)].map(|(doing, ms)| async move {
        let stage = Stage::without_stream().await;
        let bot = stage.bot_at(stage.streaming()).await;
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
        assert_eq!(row.booked_qty.to_string(), "0.010", "{doing}");
        assert_eq!(stage.rows("/fills").await.len(), 2);
    });
    futures_util::future::join_all(runs).await;
}

/// The stream says new and filled, and the answer to the create comes after both.
#[tokio::test]
async fn scenario_33_a_late_ack_revives_nothing() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot_at(stage.streaming()).await;
    stage.post("/venue", json!({"ack_ms": 600})).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    bot.begin(intent.clone());
    stage.placed(1).await;
    stage.fill(id, "0.010").await;
    let order = bot.order(intent).await;
    becomes(&order, OrdState::Filled).await;
    until("the answer", async || {
        let creates = stage.requests("create").await;
        creates
            .iter()
            .all(|row| row["answered"] == true)
            .then_some(())
    })
    .await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Filled);
    taken(&stage, 1).await;
}

/// The stream says filled, and the lists show the order open for a while; for five seconds in the report. Also to a bot that starts in
/// that while.
#[tokio::test]
async fn scenario_42_the_lists_lag_behind_the_stream() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot_at(stage.streaming()).await;
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
    let bot = stage.bot_at(stage.streaming()).await;
    while stage.now_ms().await < shown {
        let row = bot.engine().order(id).await.expect("read").expect("known");
        assert_eq!(row.latest().state, OrdState::Filled, "{row:?}");
        assert!(bot.halts().is_empty(), "{:?}", bot.halts());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    judge(&stage, bot).await.one_order("first");
    taken(&stage, 1).await;
}

/// The lists say that all of it traded before they show the trade, which then comes by the stream.
#[tokio::test]
async fn scenario_14_filled_before_its_fill_is_told() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot_at(stage.streaming()).await;
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
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
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
    assert_eq!(ledger.one_order("first").booked_qty.to_string(), "0.010");
    taken(&stage, 1).await;
}
