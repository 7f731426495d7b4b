//! A cancel that fails proves nothing.

use serde_json::json;
use surefill_core::OrdState;
use surefill_referee::{judge, settled};

use super::{LISTS, becomes, taken};
use crate::stage::{Fate, Stage, id_of};

/// The cancel is answered with an error, by the gateway or by the venue, and the order had filled just before.
#[tokio::test]
async fn scenario_29_a_failed_cancel_of_a_filled_order() {
    let runs = ["status:500", "code:10016", "code:110001"].map(|doing| async move {
        let stage = Stage::without_stream().await;
        let bot = stage.bot().await;
        let intent = stage.intent("first", Fate::Rests).await;
        let id = id_of(&intent);
        let order = bot.order(intent.clone()).await;
        settled(&order).await;
        stage.hide(id, &LISTS, 400).await;
        stage.fault("cancel", doing, 0).await;
        stage.fill(id, "0.010").await;
        bot.cancel(id).await.expect("asked");
        // What is asked again is the same order.
        assert_eq!(bot.order(intent).await.id(), id);
        becomes(&order, OrdState::Filled).await;
        judge(&stage, bot).await.one_order("first");
        assert_eq!(stage.orders().await, 1, "{doing}");
        taken(&stage, 1).await;
    });
    futures_util::future::join_all(runs).await;
}

/// The stream did not tell of the fill, and the answer to the cancel can mean never placed, canceled or filled. With a lost race the
/// cancel is even acked.
#[tokio::test]
async fn scenario_31_not_open_means_nothing() {
    let runs = [0, 1].map(|lost_races| async move {
        let stage = Stage::without_stream().await;
        let bot = stage.bot_at(stage.streaming()).await;
        let intent = stage.intent("first", Fate::Rests).await;
        let id = id_of(&intent);
        let order = bot.order(intent).await;
        settled(&order).await;
        stage
            .post("/venue", json!({"lost_races": lost_races}))
            .await;
        stage.hide(id, &LISTS, 400).await;
        stage.fault("stream", "stream_gap", 400).await;
        stage.fill(id, "0.010").await;
        bot.cancel(id).await.expect("asked");
        becomes(&order, OrdState::Filled).await;
        judge(&stage, bot).await.one_order("first");
        taken(&stage, 1).await;
    });
    futures_util::future::join_all(runs).await;
}
