//! Amends through the engine, over the wire: the journal's terms are the venue's in the end, whatever became of the request or its answer.

use surefill_core::{
    AmendError, AmendOutcome, Cause, ClOrdId, OrdState, Order, OrderRecord, Scope,
};
use surefill_referee::{Bot, judge, settled};

use crate::stage::{ALIAS, Fate, Stage, id_of, until};

/// A bot with one order that rests: 0.010 at 50000.0.
async fn resting(stage: &Stage) -> (Bot, Order, ClOrdId) {
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    settled(&order).await;
    (bot, order, id)
}

/// The row once it is known which terms the venue holds.
async fn terms_known(order: &Order) -> OrderRecord {
    until("the terms are known", async || {
        let row = order.latest();
        row.amending().is_none().then_some(row)
    })
    .await
}

fn terms(row: &OrderRecord) -> (String, String) {
    let terms = row.terms().expect("a limit order");
    let text = |value: rust_decimal::Decimal| value.normalize().to_string();
    (text(terms.order_qty.value()), text(terms.price.value()))
}

fn pair(qty: &str, price: &str) -> (String, String) {
    (qty.to_owned(), price.to_owned())
}

/// Whatever happens to the request: durable first, sent once, and settled by what the venue shows.
#[tokio::test]
async fn whatever_becomes_of_the_request() {
    // What happens, whether the venue has the new terms in the end, and whether the answer says so.
    let faults = [
        ("", 0, true),
        ("reset_before", 0, false),
        ("reset_after", 0, true),
        // Past the window: never taken.
        ("reset_after", 700, false),
        ("refuse", 0, false),
        ("hold", 700, false),
        ("drop_answer", 0, true),
        ("status:504", 0, false),
        ("act_then_status:504", 0, true),
        ("truncate", 0, true),
        ("garbage", 0, true),
        ("throttle", 0, false),
        ("duplicate", 100, true),
    ];
    let runs = faults.map(|(doing, ms, taken)| async move {
        let stage = Stage::new().await;
        let (bot, order, id) = resting(&stage).await;
        if !doing.is_empty() {
            stage.fault("amend", doing, ms).await;
        }
        let answer = bot.amend(id, Some("0.020"), Some("50000.5")).await;
        let answer = answer.unwrap_or_else(|error| panic!("{doing}: {error}"));
        if doing.is_empty() {
            assert_eq!(answer, AmendOutcome::Taken);
        }
        let row = terms_known(&order).await;
        let (old, new) = (pair("0.01", "50000"), pair("0.02", "50000.5"));
        // Under load a copy that was meant to be taken may have come too late for its window.
        let late = taken && ms > 0 && terms(&row) == old;
        assert!(
            late || terms(&row) == if taken { new } else { old },
            "{doing}: {row:?}"
        );
        assert_eq!(row.state, OrdState::Acked, "{doing}");
        let log = bot.engine().history(id).await.expect("a log");
        let asked = log.iter().filter(|step| step.cause == Cause::AmendAsked);
        assert_eq!(asked.count(), 1, "{doing}");
        let sent = stage.requests("amend").await.len();
        assert!(
            sent <= 1 || doing == "duplicate",
            "{doing}: sent {sent} times"
        );
        judge(&stage, bot).await.one_order("first");
    });
    futures_util::future::join_all(runs).await;
}

/// The venue says "not open": it filled while the amend was on its way.
#[tokio::test]
async fn refused_because_it_filled() {
    let stage = Stage::new().await;
    let (bot, order, id) = resting(&stage).await;
    stage.fault("amend", "hold", 150).await;
    let amend = bot.amend(id, None, Some("50000.5"));
    let fill = async {
        stage.asked("amend", 1).await;
        stage.fill(id, "0.010").await;
    };
    let (answer, ()) = tokio::join!(amend, fill);
    assert_eq!(answer.expect("sent"), AmendOutcome::NotOpen);
    let row = until("filled", async || {
        let row = order.latest();
        row.state.is_terminal().then_some(row)
    })
    .await;
    assert_eq!(
        (row.state, terms(&row)),
        (OrdState::Filled, pair("0.01", "50000"))
    );
    judge(&stage, bot).await.one_order("first");
}

/// A part fills while the amend is on its way; and so much that the new quantity is refused.
#[tokio::test]
async fn a_part_fills_meanwhile() {
    let runs = [("0.004", "0.006", "0.006"), ("0.007", "0.006", "0.01")].map(
        |(filled, asked, stands)| async move {
            let stage = Stage::new().await;
            let (bot, order, id) = resting(&stage).await;
            stage.fault("amend", "hold", 150).await;
            let amend = bot.amend(id, Some(asked), None);
            let fill = async {
                stage.asked("amend", 1).await;
                stage.fill(id, filled).await;
            };
            let (answer, ()) = tokio::join!(amend, fill);
            assert!(answer.is_ok(), "{answer:?}");
            let row = terms_known(&order).await;
            assert_eq!(terms(&row).0, stands, "{row:?}");
            let ledger = judge(&stage, bot).await;
            assert_eq!(ledger.one_order("first").cum_qty.to_string(), filled);
        },
    );
    futures_util::future::join_all(runs).await;
}

/// More is ordered and executed than the intent said: that is what was asked.
#[tokio::test]
async fn more_than_the_intent_is_executed() {
    let stage = Stage::new().await;
    let (bot, order, id) = resting(&stage).await;
    let more = bot.amend(id, Some("0.020"), None).await;
    assert_eq!(more.expect("sent"), AmendOutcome::Taken);
    terms_known(&order).await;
    stage.fill(id, "0.020").await;
    let ledger = judge(&stage, bot).await;
    let row = ledger.one_order("first");
    assert_eq!(
        (row.state, row.cum_qty.to_string()),
        (OrdState::Filled, "0.020".into())
    );
}

/// It dies after the amend was durable: the request never arrives, or acts while nobody listens. Recovery accepts either terms.
#[tokio::test]
async fn it_dies_between_the_journal_and_the_answer() {
    let runs = [("reset_before", 0, "50000"), ("hold", 100, "50000.5")].map(
        |(doing, ms, price)| async move {
            let stage = Stage::new().await;
            let (bot, _, id) = resting(&stage).await;
            stage.fault("amend", doing, ms).await;
            bot.begin_amend(id, None, Some("50000.5"));
            stage.asked("amend", 1).await;
            bot.crash();
            let bot = stage.bot().await;
            let order = bot.engine().order(id).await.expect("read").expect("known");
            let row = terms_known(&order).await;
            assert_eq!(terms(&row), pair("0.01", price), "{row:?}");
            assert_eq!(
                stage.requests("amend").await.len(),
                1,
                "an amend is never repeated"
            );
            judge(&stage, bot).await.one_order("first");
        },
    );
    futures_util::future::join_all(runs).await;
}

/// What the venue would not take, and what a halt or an earlier amend forbids, is refused before anything is journaled or sent.
#[tokio::test]
async fn what_is_refused_sends_nothing() {
    let stage = Stage::new().await;
    let (bot, order, id) = resting(&stage).await;
    let off_tick = bot.amend(id, None, Some("50000.05")).await;
    let said = off_tick.expect_err("refused").to_string();
    let says =
        "nothing sent: price 50000.05 is no multiple of 0.10: the nearest are 50000 and 50000.1";
    assert_eq!(said, says);
    for (qty, price) in [
        (None, None),
        (Some("0.010"), Some("50000")),
        (Some("0"), None),
    ] {
        let refused = bot.amend(id, qty, price).await;
        assert!(
            matches!(refused, Err(AmendError::Invalid { .. })),
            "{refused:?}"
        );
    }
    let scope = Scope::symbol(ALIAS, order.latest().account, "BTCUSDT".into());
    let engine = bot.engine();
    engine.halt(scope.clone(), "by hand").await.expect("halted");
    let refused = bot.amend(id, None, Some("50000.5")).await;
    assert!(matches!(refused, Err(AmendError::Halted(_))), "{refused:?}");
    assert_eq!(stage.requests("amend").await.len(), 0);
    assert!(order.latest().amends.is_empty());
    // Less of the same takes no new risk.
    let less = bot.amend(id, Some("0.009"), None).await;
    assert_eq!(less.expect("passes"), AmendOutcome::Taken);
    assert_eq!(terms(&terms_known(&order).await).0, "0.009");
    engine
        .resume(scope, "test", "looked")
        .await
        .expect("lifted");
    stage.fault("amend", "reset_before", 0).await;
    let lost = bot.amend(id, None, Some("50000.5")).await;
    assert!(matches!(lost, Ok(AmendOutcome::Unknown(_))), "{lost:?}");
    let second = bot.amend(id, None, Some("50000.6")).await;
    assert!(
        matches!(second, Err(AmendError::Undecided { .. })),
        "{second:?}"
    );
    terms_known(&order).await;
    bot.cancel(id).await.expect("asked");
    let third = bot.amend(id, None, Some("50000.6")).await;
    assert!(
        matches!(third, Err(AmendError::NotWorking { .. })),
        "{third:?}"
    );
    judge(&stage, bot).await.one_order("first");
}
