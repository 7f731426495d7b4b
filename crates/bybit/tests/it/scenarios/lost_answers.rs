//! The answer to a create is lost, late or worthless.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;
use surefill_bybit::{Timing, id};
use surefill_core::{AccountId, ClOrdId, Cold, Decision, OrdState, Side};
use surefill_referee::{Bot, judge, settled};

use super::{CALM, LISTS, becomes, calm, taken};
use crate::stage::{ALIAS, Fate, Stage, id_of, until};
use crate::world::timing;

#[tokio::test]
async fn scenario_01_one_of_five_times_out() {
    let stage = Stage::without_stream().await;
    let bot = calm(&stage).await;
    for strategy in ["1", "2", "3", "4"] {
        let order = bot.order(stage.intent(strategy, Fate::Rests).await).await;
        settled(&order).await;
    }
    stage.fault("create", "reset_after", 0).await;
    let fifth = bot.order(stage.intent("5", Fate::Rests).await).await;
    assert_eq!(settled(&fifth).await.state, OrdState::Acked);
    let ledger = judge(&stage, bot).await;
    for strategy in ["1", "2", "3", "4", "5"] {
        assert_eq!(ledger.one_order(strategy).state, OrdState::Acked);
    }
    assert_eq!(stage.orders().await, 5);
    taken(&stage, 5).await;
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
    taken(&stage, 1).await;
}

/// Six orders live, none was answered, and no lookup answers: unknown and halted, and no verdict.
#[tokio::test]
async fn scenario_04_lookups_fail_for_six_live_orders() {
    let stage = Stage::without_stream().await;
    let wide = Timing {
        receive_window_ms: 2_000,
        ..timing()
    };
    let venue = stage.venue().with_timing(wide).with_poll(CALM);
    let cold = Cold::new(stage.open().await)
        .venue(ALIAS, venue.with_cap(Duration::from_secs(3)))
        .doubt_blocks_at_the_cap();
    let bot = Bot::start(cold).await.expect("recovered");
    // The first one makes the instruments known.
    let known = bot.order(stage.intent("known", Fate::Rests).await).await;
    settled(&known).await;
    stage.faults("create", "reset_after", 0, 6).await;
    stage.faults("lookup", "reset_before", 0, 100_000).await;
    stage
        .faults("open_orders", "reset_before", 0, 100_000)
        .await;
    stage.faults("fills", "reset_before", 0, 100_000).await;
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
    }
    taken(&stage, 7).await;
}

/// Three cycles of the strategy, each of which loses its order in trouble and would place it again.
#[tokio::test]
async fn scenario_05_lost_each_cycle() {
    let stage = Stage::without_stream().await;
    let bot = calm(&stage).await;
    for cycle in 1..=3 {
        stage.fault("create", "reset_after", 0).await;
        stage.faults("lookup", "reset_before", 0, 100_000).await;
        let name = format!("cycle-{cycle}");
        let intent = stage.intent(&name, Fate::Rests).await;
        let order = bot.order(intent.clone()).await;
        assert!(order.latest().state.is_doubt());
        // A lost one still blocks, and is what its own decision gets.
        stage.blocked(&bot, "again").await;
        let sent = stage.creates().await;
        let same = bot.order(intent).await;
        assert_eq!(same.id(), order.id());
        assert_eq!(stage.creates().await, sent);
        stage.no_more_faults().await;
        settled(&order).await;
    }
    let ledger = judge(&stage, bot).await;
    for cycle in 1..=3 {
        ledger.one_order(&format!("cycle-{cycle}"));
    }
    assert_eq!(stage.orders().await, 3);
    taken(&stage, 3).await;
}

#[tokio::test]
async fn scenario_09_filled_and_gone_from_the_open_list() {
    gone_from_the_open_list("refused_forever").await;
}

/// As 9, at a venue that takes the id again once its order ended: only the lookups can keep a second one away.
#[tokio::test]
async fn scenario_15_filled_before_the_check_and_the_id_is_free() {
    gone_from_the_open_list("while_open").await;
}

async fn gone_from_the_open_list(duplicate: &str) {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.post("/rules", json!({"duplicate": duplicate})).await;
    stage.fault("create", "reset_after", 0).await;
    let intent = stage.intent("first", Fate::Fills).await;
    stage.hide(id_of(&intent), &["open"], 600_000).await;
    let order = bot.order(intent).await;
    becomes(&order, OrdState::Filled).await;
    judge(&stage, bot).await.one_order("first");
    assert_eq!(stage.orders().await, 1);
    taken(&stage, 1).await;
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
    judge(&stage, bot).await.one_order("first");
    taken(&stage, 1).await;
}

/// Five answers in a row would be lost, and the first is enough to not send again.
#[tokio::test]
async fn scenario_16_no_ordering_again() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.faults("create", "reset_after", 0, 5).await;
    let order = bot.order(stage.intent("first", Fate::Fills).await).await;
    becomes(&order, OrdState::Filled).await;
    judge(&stage, bot).await.one_order("first");
    assert_eq!(stage.orders().await, 1);
    taken(&stage, 1).await;
}

/// It is not seen for 40 s in the report, and here for nine times the lag that the adapter assumes.
#[tokio::test]
async fn scenario_18_not_seen_for_long() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Rests).await;
    stage.hide(id_of(&intent), &LISTS, 900).await;
    let shown = stage.now_ms().await + 900;
    stage.fault("create", "reset_after", 0).await;
    let order = bot.order(intent).await;
    settled(&order).await;
    stage.reach(shown).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Acked);
    assert_eq!(stage.orders().await, 1);
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
    taken(&stage, 1).await;
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
    assert_eq!(ledger.one_order("first").booked_qty.to_string(), "1.500");
    taken(&stage, 1).await;
}

/// Four sends are lost, the fifth one's answer is: all of them carry the id of the decision.
#[tokio::test]
async fn scenario_35_each_retry_has_the_id_of_the_decision() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    stage.faults("create", "reset_before", 0, 4).await;
    stage.fault("create", "reset_after", 0).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    settled(&order).await;
    // Whatever is still to come meets the venue's rule: an id is taken once.
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").id, id);
    assert!(stage.creates().await >= 5);
    let there = stage.rows("/orders").await;
    assert_eq!(there.len(), 1);
    assert_eq!(there[0]["wire_id"], id::spell(&id));
}

/// A million decisions, of which each differs from another in one thing, have a million ids that the venue takes. An id comes from the
/// decision and not from a count, so that a journal that was made anew changes none.
#[test]
fn scenario_40_ids_do_not_collide() {
    let account = AccountId::new("bybit", "simulator", "1001");
    let of = |n: u64| {
        let decision = Decision::new("grid", 1_700_000_000_000 + n / 10)
            .leg(u32::try_from(n % 10).expect("a digit"));
        ClOrdId::derive(&decision, &account, &"BTCUSDT".into(), Side::Buy)
    };
    let mut seen = HashSet::with_capacity(1_000_000);
    for n in 0..1_000_000 {
        let spelled = id::spell(&of(n));
        assert!(id::allowed(&spelled), "{spelled}");
        assert!(seen.insert(spelled), "{n}");
    }
    assert!(seen.contains(&id::spell(&of(7))));
    assert!(!seen.contains(&id::spell(&of(1_000_000))));
}
