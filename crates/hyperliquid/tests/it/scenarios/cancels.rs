//! A cancel that fails proves nothing.

use surefill_core::{Cause, OrdState};
use surefill_referee::{Fate, judge, settled};

use super::{LISTS, becomes, sent};
use crate::stage::{Stage, id_of, listens};

/// The cancel is lost and no lookup answers: the order lives, and fills.
#[tokio::test]
async fn scenario_07_a_cancel_in_an_outage() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    settled(&order).await;
    stage.faults("cancel", "reset_before", 0, 100_000).await;
    stage.blind().await;
    bot.cancel(id).await.expect("asked");
    let before = stage.requests("lookup").await.len();
    stage.asked("lookup", before + 5).await;
    let meanwhile = order.latest();
    assert!(!meanwhile.state.is_terminal(), "{meanwhile:?}");
    stage.fill(id, "0.010").await;
    stage.no_more_faults().await;
    becomes(&order, OrdState::Filled).await;
    let ledger = judge(&stage, bot).await;
    assert!(ledger.one_order("first").cancel_requested);
    assert_eq!(stage.orders().await, 1);
    sent(&stage, 1).await;
    assert!(ledger.halts().all(|halt| !halt.cause.needs_person()));
}

/// The cancel is answered with an error, by a gateway, by nobody or by the venue, and the order had filled just before.
#[tokio::test]
async fn scenario_29_a_failed_cancel_of_a_filled_order() {
    let doings = [
        "status:500",
        "act_then_status:502",
        "reset_after",
        "garbage",
    ];
    let runs = doings.map(|doing| async move {
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
        let ledger = judge(&stage, bot).await;
        ledger.one_order("first");
        assert_eq!(stage.orders().await, 1, "{doing}");
        sent(&stage, 1).await;
        ledger.never_halted();
    });
    futures_util::future::join_all(runs).await;
}

/// The stream did not tell of the fill, and the answer to the cancel can mean never placed, canceled or filled.
#[tokio::test]
async fn scenario_31_not_open_means_nothing() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    listens(&stage, &bot, "probe").await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent.clone()).await;
    settled(&order).await;
    stage.hide(id, &LISTS, 600_000).await;
    stage.fault("stream", "stream_gap", 400).await;
    stage.fill(id, "0.010").await;
    bot.cancel(id).await.expect("asked");
    stage.asked("cancel", 2).await;
    assert!(!order.latest().state.is_terminal(), "{:?}", order.latest());
    stage.show(id).await;
    assert_eq!(bot.order(intent).await.id(), id);
    becomes(&order, OrdState::Filled).await;
    let ledger = judge(&stage, bot).await;
    ledger.one_order("first");
    let cancels = stage.requests("cancel").await;
    assert!(
        cancels.iter().all(|row| row["status"] == 200),
        "{cancels:?}"
    );
    let log = ledger.log("first");
    assert!(
        log.iter().all(|step| step.to != OrdState::Canceled),
        "{log:?}"
    );
    assert!(log.iter().any(|step| step.cause == Cause::CancelAsked));
    assert_eq!(stage.orders().await, 2);
    sent(&stage, 2).await;
    ledger.never_halted();
}
