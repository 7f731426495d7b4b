//! Following the stream while it doubles, loses, delays and reorders what it says: one story all the same.

use std::time::Duration;

use serde_json::json;
use surefill_core::{ClOrdId, OrdState, Order};
use surefill_hyperliquid::Hyperliquid;
use surefill_referee::{BOUND, Bot, Fate, LISTS, judge, settled};

use crate::stage::{Stage, id_of, listens, venue};

/// An adapter whose bot looks by itself once in an hour.
fn only_told(stage: &Stage) -> Hyperliquid {
    stage.venue().with_poll(Duration::from_secs(3_600))
}

/// An order that rests and traded a little, with somebody who listens.
async fn heard(stage: &Stage, bot: &Bot) -> (ClOrdId, Order) {
    listens(stage, bot, "probe").await;
    started(stage, bot).await
}

/// An order that rests and traded a little.
async fn started(stage: &Stage, bot: &Bot) -> (ClOrdId, Order) {
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    settled(&order).await;
    stage.fill(id, "0.001").await;
    bot.booked(id, 1).await;
    (id, order)
}

async fn ended(order: &Order, state: OrdState) {
    let ended = tokio::time::timeout(BOUND, order.done());
    assert_eq!(ended.await.expect("an end").state, state);
}

async fn ends_whole(stage: Stage, bot: Bot) {
    let ledger = judge(&stage, bot).await;
    let row = ledger.one_order("first");
    assert_eq!(row.state, OrdState::Filled);
    assert_eq!(row.booked_qty, "0.010".parse().expect("qty"));
    ledger.never_halted();
}

/// Nothing goes wrong, and nobody looks: what is told is enough.
#[tokio::test]
async fn the_stream_alone_tells_of_each_fill() {
    let stage = Stage::new().await;
    let bot = stage.bot_at(only_told(&stage)).await;
    let (id, order) = heard(&stage, &bot).await;
    for (times, qty) in [(2, "0.002"), (3, "0.003")] {
        stage.fill(id, qty).await;
        bot.booked(id, times).await;
    }
    stage.fill(id, "0.004").await;
    ended(&order, OrdState::Filled).await;
    ends_whole(stage, bot).await;
}

#[tokio::test]
async fn each_push_comes_twice() {
    let stage = Stage::new().await;
    let bot = stage.bot_at(only_told(&stage)).await;
    listens(&stage, &bot, "probe").await;
    stage.faults("stream", "stream_duplicate", 0, 100_000).await;
    let (id, order) = started(&stage, &bot).await;
    stage.fill(id, "0.004").await;
    bot.booked(id, 2).await;
    stage.fill(id, "0.005").await;
    ended(&order, OrdState::Filled).await;
    ends_whole(stage, bot).await;
}

/// Of two neighbours the second one comes first: a sum before its fill, an end before the last fill, and a new one before an old one.
#[tokio::test]
async fn neighbours_change_places() {
    let stage = Stage::new().await;
    let bot = stage.bot_at(only_told(&stage)).await;
    listens(&stage, &bot, "probe").await;
    stage.faults("stream", "stream_reorder", 200, 100_000).await;
    let (id, order) = started(&stage, &bot).await;
    for qty in ["0.001", "0.001", "0.001", "0.001"] {
        stage.fill(id, qty).await;
    }
    bot.booked(id, 5).await;
    stage.fill(id, "0.005").await;
    ended(&order, OrdState::Filled).await;
    ends_whole(stage, bot).await;
}

/// One push is late by a moment: each of those that two fills make, in turn.
#[tokio::test]
async fn one_push_is_late() {
    let runs = [1, 2, 3, 4].map(|nth| async move {
        let stage = Stage::new().await;
        let bot = stage.bot_at(only_told(&stage)).await;
        let (id, order) = heard(&stage, &bot).await;
        let late = json!({"op": "stream", "do": "stream_reorder", "nth": nth, "ms": 300});
        stage.post("/faults", late).await;
        stage.fill(id, "0.004").await;
        stage.fill(id, "0.005").await;
        ended(&order, OrdState::Filled).await;
        ends_whole(stage, bot).await;
    });
    futures_util::future::join_all(runs).await;
}

/// The stream goes on as if nothing was missing: a look from time to time finds it.
#[tokio::test]
async fn pushes_that_are_missing_are_found_by_looking() {
    let runs = [1, 2, 3, 4].map(|nth| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let (id, order) = heard(&stage, &bot).await;
        let gap = json!({"op": "stream", "do": "stream_gap", "nth": nth, "ms": 200});
        stage.post("/faults", gap).await;
        stage.fill(id, "0.004").await;
        stage.fill(id, "0.005").await;
        ended(&order, OrdState::Filled).await;
        ends_whole(stage, bot).await;
    });
    futures_util::future::join_all(runs).await;
}

/// The socket breaks at a push, again and again: each new one begins with a look, so that no look by the clock is needed.
#[tokio::test]
async fn pushes_lost_with_their_socket_are_found_by_the_next_one() {
    let stage = Stage::new().await;
    let bot = stage.bot_at(only_told(&stage)).await;
    let (id, order) = heard(&stage, &bot).await;
    for (times, qty) in [(2, "0.002"), (3, "0.003")] {
        // The socket of before is there again.
        listens(&stage, &bot, &format!("probe-{times}")).await;
        stage.fault("stream", "stream_drop", 0).await;
        stage.fill(id, qty).await;
        stage.met().await;
        bot.booked(id, times).await;
    }
    listens(&stage, &bot, "probe-4").await;
    stage.fault("stream", "stream_drop", 0).await;
    stage.fill(id, "0.004").await;
    ended(&order, OrdState::Filled).await;
    ends_whole(stage, bot).await;
}

/// No list shows a trade for a while, and its push was lost with the socket: the snapshot with which the next one begins tells of it,
/// beside those that were booked long ago.
#[tokio::test]
async fn a_snapshot_tells_what_was_missed_and_again_what_was_not() {
    let stage = Stage::new().await;
    let bot = stage.bot_at(only_told(&stage)).await;
    let (id, order) = heard(&stage, &bot).await;
    stage.hide(id, &LISTS, 600_000).await;
    stage.fault("stream", "stream_drop", 0).await;
    stage.fill(id, "0.004").await;
    stage.met().await;
    bot.booked(id, 2).await;
    // Heard over the new socket.
    stage.fill(id, "0.005").await;
    bot.booked(id, 3).await;
    ended(&order, OrdState::Filled).await;
    ends_whole(stage, bot).await;
}

/// The socket stays open and says nothing more, to pings neither: it is given up, and what happened meanwhile is looked up.
#[tokio::test]
async fn a_socket_that_is_silent_is_given_up() {
    let stage = Stage::new().await;
    let silence = Duration::from_millis(1_000);
    let bot = stage.bot_at(only_told(&stage).with_silence(silence)).await;
    let (id, order) = heard(&stage, &bot).await;
    stage.fault("stream", "stream_mute", 0).await;
    stage.fill(id, "0.004").await;
    stage.met().await;
    bot.booked(id, 2).await;
    listens(&stage, &bot, "probe-2").await;
    stage.fill(id, "0.005").await;
    ended(&order, OrdState::Filled).await;
    ends_whole(stage, bot).await;
}

/// The venue's id of the order is told by the stream, with fills, long before the answer to the create.
#[tokio::test]
async fn fills_before_the_ack() {
    let parts: [&[&str]; 3] = [&["0.010"], &["0.004", "0.006"], &["0.004"]];
    let runs = parts.map(|parts| async move {
        let stage = Stage::new().await;
        let bot = stage.bot_at(only_told(&stage)).await;
        listens(&stage, &bot, "probe").await;
        venue(&stage, json!({"ack_ms": 800})).await;
        let intent = stage.intent("first", Fate::Rests).await;
        let id = id_of(&intent);
        bot.begin(intent.clone());
        stage.placed(2).await;
        for part in parts {
            stage.fill(id, part).await;
        }
        bot.booked(id, parts.len()).await;
        let order = bot.order(intent).await;
        stage.answered().await;
        settled(&order).await;
        let ledger = judge(&stage, bot).await;
        let state = match parts {
            ["0.004"] => OrdState::Partial,
            _ => OrdState::Filled,
        };
        assert_eq!(ledger.one_order("first").state, state);
        ledger.never_halted();
    });
    futures_util::future::join_all(runs).await;
}

/// The stream tells of the fill of an order whose create was never answered, whose acceptance it did not tell, and which no list shows.
#[tokio::test]
async fn a_fill_of_an_order_id_that_nobody_knows() {
    let runs = ["reset_after", "drop_answer"].map(|doing| async move {
        let stage = Stage::new().await;
        let bot = stage.bot_at(only_told(&stage)).await;
        heard(&stage, &bot).await;
        let intent = stage.intent("other", Fate::Rests).await;
        let id = id_of(&intent);
        stage.hide(id, &LISTS, 700).await;
        stage.fault("stream", "stream_gap", 1).await;
        stage.fault("create", doing, 0).await;
        bot.begin(intent.clone());
        stage.placed(3).await;
        stage.met().await;
        stage.fill(id, "0.004").await;
        bot.booked(id, 1).await;
        stage.fill(id, "0.006").await;
        let order = bot.order(intent).await;
        ended(&order, OrdState::Filled).await;
        let ledger = judge(&stage, bot).await;
        ledger.one_order("first");
        assert_eq!(
            ledger.one_order("other").booked_qty,
            "0.010".parse().expect("qty")
        );
        ledger.never_halted();
    });
    futures_util::future::join_all(runs).await;
}

/// The stream says that the order ended, and its fills are told by nobody for a while.
#[tokio::test]
async fn the_end_of_an_order_before_its_fills() {
    let runs = [Fate::Rests, Fate::Fills].map(|fate| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let (_, order) = heard(&stage, &bot).await;
        let other = stage.intent("other", fate).await;
        let id = id_of(&other);
        stage.hide(id, &["fills"], 700).await;
        stage.faults("stream", "stream_reorder", 300, 2).await;
        let other = bot.order(other).await;
        if fate == Fate::Rests {
            settled(&other).await;
            stage.no_more_faults().await;
            stage.fault("stream", "stream_reorder", 300).await;
            stage.fill(id, "0.010").await;
        }
        ended(&other, OrdState::Filled).await;
        let ledger = judge(&stage, bot).await;
        ledger.one_order("first");
        let row = ledger.one_order("other");
        assert_eq!(row.booked_qty, row.cum_qty);
        assert_eq!(order.latest().state, OrdState::Partial);
        ledger.never_halted();
    });
    futures_util::future::join_all(runs).await;
}

/// The end is a cancel of the rest, told before the fill of the first part.
#[tokio::test]
async fn a_cancel_told_before_the_fill() {
    let stage = Stage::new().await;
    let bot = stage.bot_at(only_told(&stage)).await;
    let (id, order) = heard(&stage, &bot).await;
    stage.hide(id, &["fills"], 500).await;
    stage.fault("stream", "stream_gap", 200).await;
    stage.fill(id, "0.004").await;
    bot.cancel(id).await.expect("asked");
    ended(&order, OrdState::Canceled).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(
        ledger.one_order("first").booked_qty,
        "0.005".parse().expect("qty")
    );
    ledger.never_halted();
}

/// It dies amid pushes that come twice and out of order, and the next one hears more of the same.
#[tokio::test]
async fn it_dies_while_it_follows() {
    let stage = Stage::new().await;
    let bot = stage.bot_at(only_told(&stage)).await;
    listens(&stage, &bot, "probe").await;
    stage.faults("stream", "stream_duplicate", 0, 2).await;
    stage.faults("stream", "stream_reorder", 100, 100_000).await;
    let (id, _) = started(&stage, &bot).await;
    stage.fill(id, "0.002").await;
    bot.crash();
    stage.fill(id, "0.003").await;
    let bot = stage.bot_at(only_told(&stage)).await;
    bot.booked(id, 3).await;
    stage.fill(id, "0.004").await;
    bot.booked(id, 4).await;
    ends_whole(stage, bot).await;
}
