//! Lookups fail, are late, or show a part of the truth.

use std::time::Duration;

use serde_json::json;
use surefill_core::{ClOrdId, Cold, GiveUp, OrdState, Order, OrderIntent};
use surefill_hyperliquid::Timing;
use surefill_referee::{Bot, Fate, judge, settled, until};

use super::{CALM, LISTS, becomes, sent, signed};
use crate::stage::{ALIAS, Stage, id_of, only_in_history, venue};
use crate::world::TIMING;

/// Six orders live, none was answered, and no lookup answers: unknown and halted, and no verdict.
#[tokio::test]
async fn scenario_04_lookups_fail_for_six_live_orders() {
    let stage = Stage::without_stream().await;
    let cap = Duration::from_secs(2);
    let cold = Cold::new(stage.open().await)
        .venue(ALIAS, stage.venue().with_poll(CALM).with_cap(cap))
        .doubt_blocks_at_the_cap();
    let bot = Bot::start(cold).await.expect("recovered");
    // The first one makes the markets known.
    let known = bot.order(stage.intent("known", Fate::Rests).await).await;
    settled(&known).await;
    // What is sent again is not answered either.
    stage.faults("create", "reset_after", 0, 100_000).await;
    stage.blind().await;
    let names = ["1", "2", "3", "4", "5", "6"];
    let mut orders = Vec::new();
    for strategy in names {
        let intent = stage.intent(strategy, Fate::Rests).await;
        orders.push(id_of(&intent));
        bot.begin(intent);
    }
    stage.placed(7).await;
    until("a halt for each", async || {
        let halts = bot.halts();
        let halted = |id: &ClOrdId| halts.iter().any(|halt| halt.cause.order() == Some(*id));
        orders.iter().all(halted).then_some(())
    })
    .await;
    let engine = bot.engine();
    for id in &orders {
        let order = engine.order(*id).await.expect("a row").expect("known");
        let row = order.latest();
        assert!(row.state.is_doubt(), "{row:?}");
    }
    drop(engine);
    assert_eq!(known.latest().state, OrdState::Acked);
    stage.blocked(&bot, "other").await;
    stage.no_more_faults().await;
    let ledger = judge(&stage, bot).await;
    for strategy in names {
        assert_eq!(ledger.one_order(strategy).state, OrdState::Acked);
        let ended = ledger
            .log(strategy)
            .iter()
            .any(|step| step.to.is_terminal());
        assert!(!ended, "{:?}", ledger.log(strategy));
    }
    let halted: Vec<_> = ledger.halts().map(|halt| halt.cause.order()).collect();
    for id in orders {
        assert!(halted.contains(&Some(id)), "{halted:?}");
    }
    assert_eq!(stage.orders().await, 7);
    signed(&stage, 7).await;
}

/// The answer is lost, and neither the list of open orders nor the index by id shows it: it filled at once.
#[tokio::test]
async fn scenario_09_filled_and_gone_from_the_open_list() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.fault("create", "reset_after", 0).await;
    let intent = stage.intent("first", Fate::Fills).await;
    only_in_history(&stage, id_of(&intent)).await;
    let order = bot.order(intent).await;
    becomes(&order, OrdState::Filled).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").booked_qty.to_string(), "1.5");
    assert_eq!(stage.orders().await, 1);
    signed(&stage, 1).await;
    ledger.never_halted();
}

/// As 9, at a venue that would take the id again, as this one does by itself, or does once the order ended.
#[tokio::test]
async fn scenario_15_filled_before_the_check_and_the_id_is_free() {
    let runs = ["accepted", "while_open"].map(|duplicate| async move {
        let stage = Stage::without_stream().await;
        let bot = stage.bot().await;
        stage.post("/rules", json!({"duplicate": duplicate})).await;
        stage.fault("create", "reset_after", 0).await;
        let intent = stage.intent("first", Fate::Fills).await;
        let order = bot.order(intent).await;
        becomes(&order, OrdState::Filled).await;
        let ledger = judge(&stage, bot).await;
        assert_eq!(ledger.one_order("first").booked_qty.to_string(), "1.5");
        assert_eq!(stage.orders().await, 1, "{duplicate}");
        sent(&stage, 1).await;
        ledger.never_halted();
    });
    futures_util::future::join_all(runs).await;
}

/// Not seen for 40 s in the report. How long that may take is a property of the venue: here the profile says a second, and it is nearly
/// that.
#[tokio::test]
async fn scenario_18_not_seen_for_long() {
    let stage = Stage::without_stream().await;
    let lag = Timing {
        visibility_lag_ms: 1_000,
        ..TIMING
    };
    let bot = stage.bot_at(stage.venue().with_timing(lag)).await;
    let order = unseen(&stage, &bot, 950, GiveUp::Accept).await;
    becomes(&order, OrdState::Acked).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Acked);
    assert_eq!(stage.orders().await, 1);
    signed(&stage, 1).await;
    ledger.never_halted();
}

/// Longer than the profile says, while the venue's word is that the nonce was used. Who is strict is halted in doubt, and
/// what shows up is adopted.
#[tokio::test]
async fn scenario_18_strictly_past_the_lag() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let order = unseen(&stage, &bot, FOR_LONG, GiveUp::Strict).await;
    until("a halt", async || {
        let mut halts = bot.halts().into_iter();
        halts
            .find(|halt| halt.cause.order() == Some(order.id()))
            .map(drop)
    })
    .await;
    assert!(order.latest().state.is_doubt(), "{:?}", order.latest());
    stage.show(order.id()).await;
    becomes(&order, OrdState::Acked).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Acked);
    assert_eq!(stage.orders().await, 1);
    signed(&stage, 1).await;
}

/// Longer than the profile says, and shorter than the watch: that the nonce was used keeps the verdict back, and the order is adopted.
#[tokio::test]
async fn scenario_18_past_the_lag_within_the_watch() {
    let stage = Stage::without_stream().await;
    let watch = Timing {
        watch_ms: 60_000,
        ..TIMING
    };
    let bot = stage.bot_at(stage.venue().with_timing(watch)).await;
    let order = unseen(&stage, &bot, FOR_LONG, GiveUp::Accept).await;
    // Two full rounds past the lag would be the verdict.
    until("many full rounds", async || {
        let requests = stage.rows("/requests").await;
        let lists = requests.iter().filter(|row| row["op"] == "open_orders");
        (lists.count() >= 10).then_some(())
    })
    .await;
    assert!(order.latest().state.is_doubt(), "{:?}", order.latest());
    stage.show(order.id()).await;
    becomes(&order, OrdState::Acked).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Acked);
    assert_eq!(stage.orders().await, 1);
    signed(&stage, 1).await;
}

/// Longer than the watch: the verdict rests on the lag, which did not hold. What shows up while the row is watched is canceled,
/// and a person is told; it is never followed by a second one.
#[tokio::test]
async fn scenario_18_past_the_lag_it_is_canceled_and_halts() {
    let stage = Stage::without_stream().await;
    let watch = Timing {
        watch_ms: 5_000,
        ..TIMING
    };
    let bot = stage.bot_at(stage.venue().with_timing(watch)).await;
    let order = unseen(&stage, &bot, FOR_LONG, GiveUp::Accept).await;
    becomes(&order, OrdState::Rejected).await;
    stage.show(order.id()).await;
    until("canceled at the venue", async || {
        (stage.rows("/orders").await[0]["status"] == "canceled").then_some(())
    })
    .await;
    until("a halt for a person", async || {
        let mut halts = bot.halts().into_iter();
        halts
            .find(|halt| halt.cause.needs_person() && halt.cause.order() == Some(order.id()))
            .map(drop)
    })
    .await;
    stage.blocked(&bot, "other").await;
    bot.shutdown().await.expect("a clean stop");
    assert_eq!(stage.orders().await, 1);
    signed(&stage, 1).await;
}

/// Until it is shown.
const FOR_LONG: u64 = 600_000;

/// An order whose answer is lost and which no list shows for so long.
async fn unseen(stage: &Stage, bot: &Bot, ms: u64, give_up: GiveUp) -> Order {
    let intent = OrderIntent {
        give_up,
        ..stage.intent("first", Fate::Rests).await
    };
    stage.hide(id_of(&intent), &LISTS, ms).await;
    stage.fault("create", "reset_after", 0).await;
    bot.order(intent).await
}

/// `orderStatus` says `unknownOid` for an order that the list of open orders shows: the index by id is behind.
#[tokio::test]
async fn scenario_19_not_known_by_id_and_in_the_open_list() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    venue(&stage, json!({"lookup_lag_ms": 600_000})).await;
    stage.fault("create", "reset_after", 0).await;
    let order = bot.order(stage.intent("first", Fate::Rests).await).await;
    becomes(&order, OrdState::Acked).await;
    let there = stage.rows("/orders").await;
    assert_eq!(there[0]["order_id"], order.latest().order_ids[0].as_str());
    let ledger = judge(&stage, bot).await;
    ledger.one_order("first");
    assert_eq!(stage.orders().await, 1);
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// Acked, and then not found for 25 s in the report, and here for nine times the lag that the adapter assumes.
#[tokio::test]
async fn scenario_30_acked_and_not_found() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Rests).await;
    stage.hide(id_of(&intent), &LISTS, 900).await;
    let shown = stage.now_ms().await + 900;
    let order = bot.order(intent.clone()).await;
    while stage.now_ms().await < shown {
        let row = order.latest();
        assert!(!row.state.is_terminal(), "{row:?}");
        assert_eq!(bot.order(intent.clone()).await.id(), order.id());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Acked);
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// Its fills show after 150 s in the report, one loop of the strategy later; here a loop is a twentieth of the lag.
#[tokio::test]
async fn scenario_32_one_entry_for_a_decision() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Fills).await;
    stage.hide(id_of(&intent), &LISTS, 1_000).await;
    let shown = stage.now_ms().await + 1_000;
    let order = bot.order(intent.clone()).await;
    while stage.now_ms().await < shown {
        assert_eq!(bot.order(intent.clone()).await.id(), order.id());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    becomes(&order, OrdState::Filled).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").booked_qty.to_string(), "1.5");
    assert_eq!(ledger.decisions(), 1);
    sent(&stage, 1).await;
    ledger.never_halted();
}
