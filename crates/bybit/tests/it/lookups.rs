//! Doubt while the lists fail, lag, or show half of the truth; clocks that are set; bans; a venue that is down.

use std::time::Duration;

use serde_json::json;
use surefill_core::{HaltCause, Lacking, OrdState, PlaceError, Scope};
use surefill_referee::{judge, settled};

use crate::stage::{ALIAS, Fate, Stage, id_of, until};

/// Lookups that fail prove nothing, whichever list it is and however it fails.
#[tokio::test]
async fn lists_that_fail_for_a_while() {
    let whiles = [
        ("lookup", "status:502"),
        ("lookup", "reset_before"),
        ("lookup", "garbage"),
        ("lookup", "truncate"),
        ("fills", "status:503"),
        ("fills", "throttle"),
    ];
    let runs = whiles.map(|(op, doing)| async move {
        let stage = Stage::without_stream().await;
        let bot = stage.bot().await;
        for create in ["reset_before", "reset_after"] {
            stage.fault("create", create, 0).await;
            stage.faults(op, doing, 0, 5).await;
            let order = bot.order(stage.intent(create, Fate::Fills).await).await;
            let row = settled(&order).await;
            assert_eq!(row.order_ids.len(), 1, "{row:?}");
        }
        let ledger = judge(&stage, bot).await;
        ledger.one_order("reset_before");
        ledger.one_order("reset_after");
        assert_eq!(stage.orders().await, 2);
    });
    futures_util::future::join_all(runs).await;
}

/// The venue is silent past the cap: halted with a cause, nothing new, no verdict. The halt lifts itself with the truth.
#[tokio::test]
async fn lists_that_fail_past_the_cap() {
    let runs = ["reset_before", "act_then_status:504"].map(|create| async move {
        let stage = Stage::without_stream().await;
        let venue = stage.venue().with_cap(Duration::from_millis(400));
        let bot = stage.bot_at(venue).await;
        stage.fault("create", create, 0).await;
        stage.faults("lookup", "status:502", 0, 100_000).await;
        let intent = stage.intent("first", Fate::Rests).await;
        let id = id_of(&intent);
        let order = bot.order(intent).await;
        let halt = until("a halt", async || bot.halts().pop()).await;
        let lacking = Lacking::Answer;
        assert_eq!(halt.cause, HaltCause::Doubt { id, lacking });
        let refused = bot.place(stage.intent("other", Fate::Rests).await).await;
        match refused {
            Err(PlaceError::Halted(halt)) => assert!(halt.text.contains(&id.to_string())),
            other => panic!("{other:?}"),
        }
        assert_eq!(stage.creates().await, 1);
        assert!(order.latest().state.is_doubt());
        stage.no_more_faults().await;
        settled(&order).await;
        let ledger = judge(&stage, bot).await;
        assert_eq!(ledger.one_order("first").state, OrdState::Acked);
    });
    futures_util::future::join_all(runs).await;
}

/// A person's halt in doubt: the order is looked for, and nothing is sent again until it is lifted.
#[tokio::test]
async fn a_declared_halt_holds_back_the_next_attempt() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    stage.fault("create", "reset_before", 0).await;
    // No round before the halt.
    stage.faults("lookup", "status:502", 0, 100_000).await;
    let order = bot.order(stage.intent("first", Fate::Rests).await).await;
    let engine = bot.engine();
    engine
        .halt(Scope::venue(ALIAS), "maintenance")
        .await
        .expect("halted");
    stage.no_more_faults().await;
    let sent = stage.creates().await;
    // Rounds past the fence, each of which would have been enough.
    let fence = stage.requests("create").await[0]["at_ms"]
        .as_u64()
        .expect("ms")
        + 600;
    stage.reach(fence).await;
    let looks = stage.requests("fills").await.len();
    stage.asked("fills", looks + 6).await;
    let refused = bot.place(stage.intent("other", Fate::Rests).await).await;
    assert!(
        matches!(&refused, Err(PlaceError::Halted(halt)) if &*halt.text == "maintenance"),
        "{refused:?}"
    );
    assert_eq!(stage.creates().await, sent);
    engine
        .resume(Scope::venue(ALIAS), "the tests", "looked")
        .await
        .expect("resumed");
    drop(engine);
    settled(&order).await;
    judge(&stage, bot).await.one_order("first");
}

/// Each list, and all of them, does not show the order for longer than the lag that we assume.
#[tokio::test]
async fn lists_that_do_not_show_the_order() {
    let lists: [&[&str]; 5] = [
        &["open"],
        &["closed"],
        &["fills"],
        &["open", "closed"],
        &["open", "closed", "fills"],
    ];
    let mut runs = Vec::new();
    for from in lists {
        for fate in [Fate::Rests, Fate::Fills] {
            runs.push(hidden(from, fate, "reset_after", true));
            for create in ["hold", "reset_after", "reset_before"] {
                runs.push(hidden(from, fate, create, false));
            }
        }
    }
    // Not all at once, so that a window of 300 ms is enough.
    while !runs.is_empty() {
        let next: Vec<_> = runs.drain(..runs.len().min(14)).collect();
        futures_util::future::join_all(next).await;
    }
}

async fn hidden(from: &[&str], fate: Fate, create: &str, streams: bool) {
    let stage = Stage::with_stream(streams).await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", fate).await;
    let id = id_of(&intent);
    stage.hide(id, from, 900).await;
    let shown = stage.now_ms().await + 900;
    stage.fault("create", create, 0).await;
    let order = bot.order(intent).await;
    settled(&order).await;
    // Until then an order that was named may be lost from sight again.
    stage.reach(shown).await;
    let ledger = judge(&stage, bot).await;
    let row = ledger.one_order("first");
    let state = match fate {
        Fate::Rests => OrdState::Acked,
        Fate::Fills => OrdState::Filled,
    };
    assert_eq!(row.state, state, "{from:?} {create}: {row:?}");
}

/// An order that fills, and one that is canceled, is in no list for a moment: no new attempt, and no end without the venue's word.
#[tokio::test]
async fn an_order_between_two_lists() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let intent = stage.intent("filled", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    settled(&order).await;
    stage.fill(id, "0.004").await;
    until("partly filled", async || {
        (order.latest().state == OrdState::Partial).then_some(())
    })
    .await;
    stage.hide(id, &["open", "closed"], 900).await;
    stage.fill(id, "0.006").await;
    until("ended", async || {
        let state = order.latest().state;
        assert!(!matches!(state, OrdState::Canceled | OrdState::Rejected));
        (state == OrdState::Filled).then_some(())
    })
    .await;
    let intent = stage.intent("canceled", Fate::Rests).await;
    let id = id_of(&intent);
    let order = bot.order(intent).await;
    settled(&order).await;
    stage.hide(id, &["open", "closed"], 900).await;
    bot.cancel(id).await.expect("asked");
    let ended = tokio::time::timeout(crate::stage::BOUND, order.done());
    assert_eq!(ended.await.expect("an end").state, OrdState::Canceled);
    let ledger = judge(&stage, bot).await;
    ledger.one_order("filled");
    ledger.one_order("canceled");
    assert_eq!(stage.creates().await, 2);
}

/// The venue's clock is set, ahead and back, before a create and while an order is in doubt.
#[tokio::test]
async fn a_venue_clock_that_is_set() {
    let runs = [5_000, -5_000, 400, -400].map(|skew_ms: i64| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let before = stage.intent("before", Fate::Rests).await;
        settled(&bot.order(before).await).await;
        stage.post("/clock", json!({"skew_ms": skew_ms})).await;
        let after = bot.order(stage.intent("after", Fate::Fills).await).await;
        settled(&after).await;
        stage.fault("create", "reset_after", 0).await;
        let doubt = bot.order(stage.intent("doubt", Fate::Rests).await).await;
        stage.post("/clock", json!({"skew_ms": 0})).await;
        settled(&doubt).await;
        let ledger = judge(&stage, bot).await;
        for strategy in ["before", "after", "doubt"] {
            ledger.one_order(strategy);
        }
    });
    futures_util::future::join_all(runs).await;
}

/// Banned: the create's 403 proves nothing, and the lookups fail as well until the ban is over.
#[tokio::test]
async fn a_ban() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let known = bot.order(stage.intent("known", Fate::Rests).await).await;
    settled(&known).await;
    stage.post("/venue", json!({"ban_ms": 1_500})).await;
    let order = bot.order(stage.intent("banned", Fate::Fills).await).await;
    settled(&order).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("banned").state, OrdState::Filled);
    ledger.one_order("known");
}

/// Down, from before the create and from the moment on in which it is acted upon.
#[tokio::test]
async fn a_venue_that_is_down() {
    let before = async {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let known = bot.order(stage.intent("known", Fate::Rests).await).await;
        settled(&known).await;
        stage.post("/restart", json!({"down_ms": 1_000})).await;
        let order = bot.order(stage.intent("down", Fate::Fills).await).await;
        settled(&order).await;
        let ledger = judge(&stage, bot).await;
        assert_eq!(ledger.one_order("down").state, OrdState::Filled);
        assert_eq!(ledger.one_order("known").state, OrdState::Acked);
        // Of failed connects the venue knows nothing.
        assert!(stage.creates().await <= 3);
    };
    let during = async {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        stage.fault("create", "drop_answer", 0).await;
        bot.begin(stage.intent("down", Fate::Rests).await);
        stage.placed(1).await;
        stage.post("/restart", json!({"down_ms": 1_000})).await;
        let ledger = judge(&stage, bot).await;
        assert_eq!(ledger.one_order("down").state, OrdState::Acked);
        assert_eq!(stage.creates().await, 1);
    };
    tokio::join!(before, during);
}
