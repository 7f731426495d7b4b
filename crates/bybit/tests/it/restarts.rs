//! The bot dies at interesting moments, and its next start reads the journal from the disk.

use serde_json::json;
use surefill_core::{OrdState, PlaceError};
use surefill_referee::{judge, settled};

use crate::stage::{ALIAS, Fate, Stage, id_of, until};

/// Between the send and the answer, whatever became of the request.
#[tokio::test]
async fn it_dies_while_a_create_is_on_its_way() {
    let faults = [
        ("hold", 200),
        ("hold", 1_200),
        ("drop_answer", 0),
        ("drop_answer", 200),
        ("drop_answer", 1_200),
    ];
    let mut runs = Vec::new();
    for (doing, ms) in faults {
        for fate in [Fate::Rests, Fate::Fills] {
            runs.push(async move {
                let stage = Stage::new().await;
                let bot = stage.bot().await;
                stage.fault("create", doing, ms).await;
                let intent = stage.intent("first", fate).await;
                bot.begin(intent.clone());
                stage.asked("create", 1).await;
                bot.crash();
                let bot = stage.bot().await;
                let recovered = &bot.report.venues[&ALIAS.into()];
                // A stream may have told the end of it before the bot died.
                assert!(recovered.checked <= 1, "{recovered:?}");
                // The strategy, restarted as well, decides the same again: it gets the order that is there.
                let again = bot.place(intent.clone()).await.expect("known");
                assert_eq!(again.order().id(), id_of(&intent));
                settled(again.order()).await;
                let met = stage.requests("create").await[0]["at_ms"].as_u64();
                stage.reach(met.expect("ms") + ms + 350).await;
                let ledger = judge(&stage, bot).await;
                let row = ledger.one_order("first");
                let state = match fate {
                    Fate::Rests => OrdState::Acked,
                    Fate::Fills => OrdState::Filled,
                };
                assert_eq!(row.state, state, "{doing} {ms}: {row:?}");
            });
        }
    }
    futures_util::future::join_all(runs).await;
}

/// Again and again, in doubt, with the lists failing, until the venue answers.
#[tokio::test]
async fn it_dies_in_doubt_and_in_recovery() {
    let runs = ["reset_before", "act_then_status:504"].map(|doing| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        stage.fault("create", doing, 0).await;
        stage.faults("lookup", "status:502", 0, 100_000).await;
        bot.begin(stage.intent("first", Fate::Rests).await);
        stage.asked("lookup", 2).await;
        bot.crash();
        for _ in 0..3 {
            // It dies inside of its recovery: nobody got an engine.
            let looked = stage.requests("lookup").await.len();
            let recovering = stage.bot();
            let died = stage.asked("lookup", looked + 1);
            tokio::select! {
                biased;
                () = died => {}
                bot = recovering => bot.crash(),
            }
        }
        stage.no_more_faults().await;
        let bot = stage.bot().await;
        let ledger = judge(&stage, bot).await;
        assert_eq!(ledger.one_order("first").state, OrdState::Acked);
    });
    futures_util::future::join_all(runs).await;
}

/// What happens while nobody is there is found: fills, an end, fills that were owed.
#[tokio::test]
async fn what_happened_meanwhile_is_booked_once() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let mut ids = Vec::new();
    for strategy in ["part", "whole", "late", "none"] {
        let intent = stage.intent(strategy, Fate::Rests).await;
        ids.push(id_of(&intent));
        settled(&bot.order(intent).await).await;
    }
    stage.fill(ids[0], "0.003").await;
    stage.fill(ids[2], "0.003").await;
    let engine = bot.engine();
    for id in [ids[0], ids[2]] {
        until("its first fill is booked", async || {
            let fills = engine.fills(id).await.expect("fills");
            (fills.len() == 1).then_some(())
        })
        .await;
    }
    drop(engine);
    bot.crash();
    stage.fill(ids[0], "0.002").await;
    stage.fill(ids[1], "0.010").await;
    stage.fill(ids[2], "0.007").await;
    // The end shows before its fills.
    stage.hide(ids[2], &["fills"], 700).await;
    let bot = stage.bot().await;
    bot.crash();
    let bot = stage.bot().await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("part").cum_qty.to_string(), "0.005");
    assert_eq!(ledger.one_order("whole").state, OrdState::Filled);
    assert_eq!(ledger.one_order("late").state, OrdState::Filled);
    assert_eq!(ledger.one_order("none").state, OrdState::Acked);
    assert_eq!(stage.creates().await, 4);
}

/// A cancel that was asked survives, and is repeated by whoever comes next.
#[tokio::test]
async fn it_dies_with_a_cancel_asked() {
    let runs = ["reset_before", "drop_answer"].map(|doing| async move {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let intent = stage.intent("first", Fate::Rests).await;
        let id = id_of(&intent);
        settled(&bot.order(intent).await).await;
        stage.faults("cancel", doing, 0, 100_000).await;
        bot.cancel(id).await.expect("asked");
        stage.asked("cancel", 1).await;
        bot.crash();
        stage.no_more_faults().await;
        let bot = stage.bot().await;
        let ledger = judge(&stage, bot).await;
        assert_eq!(
            ledger.one_order("first").state,
            OrdState::Canceled,
            "{doing}"
        );
    });
    futures_util::future::join_all(runs).await;
}

/// It dies after a cancel in doubt: the row ends, is watched, and nothing is sent by the next start either.
#[tokio::test]
async fn it_dies_with_a_cancel_asked_in_doubt() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    stage.fault("create", "reset_before", 0).await;
    stage.faults("lookup", "status:502", 0, 100_000).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    bot.order(intent).await;
    bot.cancel(id).await.expect("asked");
    bot.crash();
    stage.no_more_faults().await;
    let bot = stage.bot().await;
    let ledger = judge(&stage, bot).await;
    ledger.no_order("first", OrdState::Canceled);
    assert_eq!(stage.creates().await, 1);
}

/// A start while the venue is down: halted, what the journal holds is handed out, a cancel is durable at once; and once it is up all
/// goes on by itself.
#[tokio::test]
async fn it_starts_while_the_venue_is_down() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let resting = stage.intent("resting", Fate::Rests).await;
    settled(&bot.order(resting.clone()).await).await;
    let kept = stage.intent("kept", Fate::Rests).await;
    settled(&bot.order(kept).await).await;
    stage.fault("create", "drop_answer", 0).await;
    let first = stage.intent("first", Fate::Fills).await;
    bot.begin(first.clone());
    stage.placed(3).await;
    bot.crash();
    stage.post("/restart", json!({"down_ms": 1_500})).await;
    let bot = stage.bot().await;
    // Whether it is down still or up again by now:
    for intent in [&first, &resting] {
        let known = bot.place(intent.clone()).await.expect("known");
        assert_eq!(known.order().id(), id_of(intent));
    }
    let canceled = bot.cancel(id_of(&resting)).await.expect("asked");
    assert!(canceled.cancel_requested || canceled.state.is_terminal());
    let canceled = bot.cancel(id_of(&resting)).await.expect("asked again");
    assert!(canceled.cancel_requested || canceled.state.is_terminal());
    let other = bot.place(stage.intent("other", Fate::Rests).await).await;
    let refused = matches!(
        &other,
        Err(PlaceError::Halted(_) | PlaceError::Doubt { .. })
    );
    assert!(refused || other.is_ok(), "{other:?}");
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("first").state, OrdState::Filled);
    assert_eq!(ledger.one_order("resting").state, OrdState::Canceled);
    assert_eq!(ledger.one_order("kept").state, OrdState::Acked);
    assert_eq!(stage.creates().await, 3 + usize::from(!refused));
}

/// The journal is lost and made anew: the order that it lacks halts its account, and its decision is not placed again.
#[tokio::test]
async fn its_journal_is_gone() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", Fate::Rests).await;
    settled(&bot.order(intent.clone()).await).await;
    bot.shutdown().await.expect("stopped");
    for end in ["", "-wal", "-shm"] {
        let path = stage
            .journal()
            .into_os_string()
            .into_string()
            .expect("text")
            + end;
        if std::fs::exists(&path).expect("a folder") {
            std::fs::remove_file(path).expect("removed");
        }
    }
    let bot = stage.bot().await;
    let refused = bot.place(intent).await;
    assert!(matches!(refused, Err(PlaceError::Halted(_))), "{refused:?}");
    assert_eq!(stage.creates().await, 1);
}
