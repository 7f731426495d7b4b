//! Cancels: refused, lost, in doubt. Each is repeated until the venue says that the order ended, and none starts a second order.

use surefill_core::{OrdState, Order, OrderRecord, Scope};
use surefill_referee::{judge, settled};

use crate::stage::{ALIAS, BOUND, Fate, Stage, id_of};

async fn done(order: &Order) -> OrderRecord {
    let ended = tokio::time::timeout(BOUND, order.done());
    ended.await.expect("an end within the bound")
}

/// The venue says "not open", which proves nothing: it is looked up, and was filled.
#[tokio::test]
async fn refused_because_it_filled() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    settled(&order).await;
    stage.hide(id, &["open", "closed", "fills"], 300).await;
    stage.fill(id, "0.010").await;
    bot.cancel(id).await.expect("asked");
    assert_eq!(done(&order).await.state, OrdState::Filled);
    let ledger = judge(&stage, bot).await;
    assert!(ledger.one_order("first").cancel_requested);
}

/// Whatever happens to the cancel's request, also when a part was filled before.
#[tokio::test]
async fn a_cancel_that_is_lost() {
    let faults = [
        ("reset_before", 0),
        ("reset_after", 0),
        ("reset_after", 200),
        ("refuse", 0),
        ("hold", 600),
        ("drop_answer", 0),
        ("status:504", 0),
        ("act_then_status:504", 0),
        ("truncate", 0),
        ("garbage", 0),
        ("throttle", 0),
        ("duplicate", 100),
    ];
    let runs = faults.map(|(doing, ms)| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let intent = stage.intent("first", Fate::Rests).await;
        let id = id_of(&intent);
        let order = bot.order(intent).await;
        settled(&order).await;
        stage.fill(id, "0.004").await;
        stage.faults("cancel", doing, ms, 2).await;
        bot.cancel(id).await.expect("asked");
        let row = done(&order).await;
        assert_eq!(row.state, OrdState::Canceled, "{doing}: {row:?}");
        let row = judge(&stage, bot).await;
        assert_eq!(row.one_order("first").cum_qty.to_string(), "0.004");
        assert_eq!(stage.creates().await, 1, "{doing}");
    });
    futures_util::future::join_all(runs).await;
}

/// Orders of one scope are canceled ten at a time; what a batch leaves open each is asked for alone.
#[tokio::test]
async fn many_at_once() {
    let faults = [
        ("", 0),
        ("reset_before", 0),
        ("drop_answer", 0),
        ("act_then_status:504", 0),
        ("garbage", 0),
        ("truncate", 0),
    ];
    let runs = faults.map(|(doing, ms)| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let mut orders = Vec::new();
        for n in 0..12 {
            let intent = stage.intent(&format!("s-{n}"), Fate::Rests).await;
            let order = bot.order(intent).await;
            settled(&order).await;
            orders.push(order);
        }
        if !doing.is_empty() {
            stage.faults("cancel", doing, ms, 2).await;
        }
        let account = orders[0].latest().account;
        let scope = Scope::account(ALIAS, account);
        let asked = bot.engine().cancel_all(&scope).await.expect("asked");
        assert_eq!(asked.len(), 12, "{doing}");
        for order in &orders {
            assert_eq!(done(order).await.state, OrdState::Canceled, "{doing}");
        }
        let cancels = stage.requests("cancel").await;
        let batch = |row: &&serde_json::Value| row["path"] == "/v5/order/cancel-batch";
        assert!(cancels.iter().any(|row| batch(&row)), "{doing}");
        let ledger = judge(&stage, bot).await;
        for n in 0..12 {
            ledger.one_order(&format!("s-{n}"));
        }
    });
    futures_util::future::join_all(runs).await;
}

/// A cancel while the create's fate is not known: an order that was taken is canceled, one that was not ends without another send.
#[tokio::test]
async fn a_cancel_in_doubt() {
    let faults = [
        ("reset_before", 0, false),
        ("status:504", 0, false),
        // Past the window: never taken.
        ("reset_after", 700, false),
        ("reset_after", 0, true),
        ("act_then_status:504", 0, true),
        ("drop_answer", 0, true),
    ];
    let runs = faults.map(|(doing, ms, taken)| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        stage.fault("create", doing, ms).await;
        stage.faults("lookup", "status:502", 0, 4).await;
        let intent = stage.intent("first", Fate::Rests).await;
        let id = id_of(&intent);
        bot.begin(intent);
        stage.asked("create", 1).await;
        bot.cancel(id).await.expect("asked");
        let ledger = judge(&stage, bot).await;
        let row = ledger.of("first");
        assert_eq!(row.state, OrdState::Canceled, "{doing}: {row:?}");
        // Under load a copy that was meant to be taken may have come too late for its window.
        assert!(taken || row.order_ids.is_empty(), "{doing}: {row:?}");
        assert_eq!(
            stage.creates().await,
            1,
            "{doing}: sent again after a cancel"
        );
    });
    futures_util::future::join_all(runs).await;
}

/// An order that filled at once cannot be canceled, whatever is asked in doubt.
#[tokio::test]
async fn a_cancel_in_doubt_of_what_filled_at_once() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    stage.fault("create", "drop_answer", 0).await;
    let intent = stage.intent("first", Fate::Fills).await;
    let id = id_of(&intent);
    bot.begin(intent);
    stage.placed(1).await;
    bot.cancel(id).await.expect("asked");
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Filled);
}
