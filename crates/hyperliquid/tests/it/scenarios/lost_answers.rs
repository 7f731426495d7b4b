//! The answer to a create is lost, late or worthless.

use serde_json::json;
use surefill_core::{Cause, OrdState, OrderIntent, PlaceError, Store, TimeInForce};
use surefill_hyperliquid::{Timing, id};
use surefill_referee::{Bot, Fate, Ledger, judge, settled};

use super::{LISTS, becomes, calm, sent, signed};
use crate::stage::{Stage, id_of, market, venue};
use crate::world::TIMING;

#[tokio::test]
async fn scenario_01_one_of_five_times_out() {
    let stage = Stage::without_stream().await;
    let bot = calm(&stage).await;
    for strategy in ["1", "2", "3", "4"] {
        let order = bot.order(stage.intent(strategy, Fate::Rests).await).await;
        settled(&order).await;
    }
    stage.fault("create", "drop_answer", 0).await;
    let fifth = bot.order(stage.intent("5", Fate::Rests).await).await;
    assert_eq!(settled(&fifth).await.state, OrdState::Acked);
    let ledger = judge(&stage, bot).await;
    for strategy in ["1", "2", "3", "4", "5"] {
        assert_eq!(ledger.one_order(strategy).state, OrdState::Acked);
    }
    assert_eq!(stage.orders().await, 5);
    sent(&stage, 5).await;
    ledger.never_halted();
}

/// The fill comes three seconds later in the report.
#[tokio::test]
async fn scenario_02_a_503_and_it_fills_later() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.fault("create", "act_then_status:503", 0).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    stage.placed(1).await;
    stage.reach(stage.now_ms().await + 300).await;
    assert!(!order.latest().state.is_terminal());
    stage.fill(id, "0.010").await;
    becomes(&order, OrdState::Filled).await;
    let ledger = judge(&stage, bot).await;
    ledger.one_order("first");
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// A market order whose answer is lost was reported as failed; the strategy asks again, and both fill.
#[tokio::test]
async fn scenario_03_a_market_order_reported_failed() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.fault("create", "reset_after", 0).await;
    let intent = market(stage.intent("first", Fate::Fills).await);
    let order = bot.order(intent.clone()).await;
    assert_eq!(bot.order(intent.clone()).await.id(), order.id());
    becomes(&order, OrdState::Filled).await;
    let after = bot.order(intent).await;
    assert_eq!(after.latest().state, OrdState::Filled);
    let ledger = judge(&stage, bot).await;
    let row = ledger.one_order("first");
    assert_eq!(row.booked_qty.to_string(), "1.5");
    assert_eq!(ledger.decisions(), 1);
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// Three cycles of the strategy, each of which loses its order in trouble and would place it again.
#[tokio::test]
async fn scenario_05_lost_each_cycle() {
    let stage = Stage::without_stream().await;
    let bot = calm(&stage).await;
    for cycle in 1..=3 {
        stage.fault("create", "reset_after", 0).await;
        stage.blind().await;
        let intent = stage.intent(&format!("cycle-{cycle}"), Fate::Rests).await;
        let order = bot.order(intent.clone()).await;
        assert!(order.latest().state.is_doubt());
        // A lost one still blocks, and is what its own decision gets.
        stage.blocked(&bot, "again").await;
        assert_eq!(bot.order(intent).await.id(), order.id());
        signed(&stage, cycle).await;
        stage.no_more_faults().await;
        assert_eq!(settled(&order).await.state, OrdState::Acked);
    }
    let ledger = judge(&stage, bot).await;
    for cycle in 1..=3 {
        ledger.one_order(&format!("cycle-{cycle}"));
    }
    assert_eq!(ledger.decisions(), 3);
    assert_eq!(stage.orders().await, 3);
    signed(&stage, 3).await;
}

/// The venue's id was never received: it is found by ours, and with it can be canceled.
#[tokio::test]
async fn scenario_10_found_by_our_own_id() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.fault("create", "reset_after", 0).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    let row = settled(&order).await;
    let there = stage.rows("/orders").await;
    assert_eq!(there[0]["order_id"], row.order_ids[0].as_str());
    bot.cancel(id).await.expect("asked");
    becomes(&order, OrdState::Canceled).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Canceled);
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// Five answers in a row would be lost, and nothing shows the order for a while: what is sent again are the same bytes.
#[tokio::test]
async fn scenario_16_no_ordering_again() {
    same_bytes(5).await;
}

/// In the report three orders were signed, and all three matched. There is no FOK here, so it is one that takes what it gets.
#[tokio::test]
async fn scenario_17_what_is_sent_again_is_what_was_signed() {
    same_bytes(3).await;
}

async fn same_bytes(lost: u64) {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Fills).await;
    let fok = OrderIntent {
        time_in_force: TimeInForce::Fok,
        ..intent.clone()
    };
    let refused = bot.place(fok).await;
    assert!(
        matches!(refused, Err(PlaceError::Prepare(_))),
        "{refused:?}"
    );
    let ioc = OrderIntent {
        time_in_force: TimeInForce::Ioc,
        ..intent
    };
    stage.faults("create", "reset_after", 0, lost).await;
    let id = id_of(&ioc);
    stage.hide(id, &LISTS, 600_000).await;
    let order = bot.order(ioc).await;
    stage.asked("create", 2).await;
    stage.show(id).await;
    becomes(&order, OrdState::Filled).await;
    stage.no_more_faults().await;
    let ledger = judge(&stage, bot).await;
    let row = ledger.one_order("first");
    assert_eq!(row.booked_qty.to_string(), "1.5");
    assert_eq!(row.attempts.len(), 1);
    assert_eq!(stage.orders().await, 1);
    signed(&stage, 1).await;
    ledger.never_halted();
}

/// An `ok` that names no order, neither resting, nor filled, nor refused. Where the order was taken, it is found.
#[tokio::test]
async fn scenario_20_an_ok_that_names_nothing() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    venue(&stage, json!({"no_status": 1})).await;
    let order = bot.order(stage.intent("first", Fate::Rests).await).await;
    becomes(&order, OrdState::Acked).await;
    let ledger = judge(&stage, bot).await;
    ledger.one_order("first");
    sent(&stage, 1).await;
    ledger.never_halted();
}

/// The same answer, and on this market the order is gone without a word, its nonce used up: never taken for placed, and never signed
/// again. It ends as rejected once nothing can show it any more, and the next decision is not in its way.
#[tokio::test]
async fn scenario_20_an_ok_and_no_order() {
    let stage = Stage::without_stream().await;
    let lag = Timing {
        visibility_lag_ms: 500,
        ..TIMING
    };
    let bot = stage.bot_at(stage.venue().with_timing(lag)).await;
    venue(&stage, json!({"vanish": 1})).await;
    let order = bot.order(stage.intent("first", Fate::Rests).await).await;
    assert!(order.latest().state.is_doubt(), "{:?}", order.latest());
    stage.blocked(&bot, "meanwhile").await;
    becomes(&order, OrdState::Rejected).await;
    signed(&stage, 1).await;
    let next = bot.order(stage.intent("next", Fate::Rests).await).await;
    assert_eq!(settled(&next).await.state, OrdState::Acked);
    let ledger = judge(&stage, bot).await;
    ledger.no_order("first", OrdState::Rejected);
    let log = ledger.log("first");
    let watched = log.iter().any(|step| step.cause == Cause::WatchEnded);
    assert!(watched, "not looked after: {log:?}");
    ledger.one_order("next");
    assert_eq!(stage.orders().await, 1);
    signed(&stage, 2).await;
    ledger.never_halted();
}

/// Four sends are lost, the fifth one's answer is: all of them carry the id of the decision.
#[tokio::test]
async fn scenario_35_each_retry_has_the_id_of_the_decision() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.faults("create", "reset_before", 0, 4).await;
    stage.fault("create", "reset_after", 0).await;
    let ledger = placed_once(&stage, bot, async || ()).await;
    assert!(stage.creates().await >= 5);
    let attempts = ledger.of("first").attempts.len();
    signed(&stage, attempts).await;
}

/// No send arrives until the first attempt was revoked. The second one has another nonce, and the same id.
#[tokio::test]
async fn scenario_35_a_new_nonce_has_the_same_id() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.faults("create", "reset_before", 0, 100_000).await;
    let revoked = async || {
        stage.asked("cancel", 1).await;
        stage.no_more_faults().await;
    };
    let ledger = placed_once(&stage, bot, revoked).await;
    let attempts = ledger.of("first").attempts.len();
    assert!(attempts >= 2, "{attempts}");
    signed(&stage, attempts).await;
}

/// Places, waits for the order, and looks at the id of each attempt.
async fn placed_once(stage: &Stage, bot: Bot, meanwhile: impl AsyncFnOnce()) -> Ledger {
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    bot.begin(intent.clone());
    meanwhile().await;
    let order = bot.order(intent).await;
    becomes(&order, OrdState::Acked).await;
    let ledger = judge(stage, bot).await;
    let row = ledger.one_order("first");
    assert_eq!(row.id, id);
    let store = stage.open().await;
    for attempt in &row.attempts {
        let stored = store.attempt(id, attempt.no).await.expect("read");
        let wire = String::from_utf8(stored.expect("an attempt").wire).expect("text");
        let spelled = format!("\"c\":\"{}\"", id::spell(&id));
        assert!(wire.contains(&spelled), "{wire}");
    }
    store.close().await.expect("closed");
    let there = stage.rows("/orders").await;
    assert_eq!(there.len(), 1);
    assert_eq!(there[0]["wire_id"], id::spell(&id));
    ledger.never_halted();
    ledger
}
