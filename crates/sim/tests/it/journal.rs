//! The command journal: a restart continues, and a journal that does not replay is refused by the first event.

use std::{fs, path::Path};

use serde_json::json;
use surefill_sim::{
    JournalError,
    bybit::{Config, StartError, start},
    verify,
};

use crate::support::Sim;

fn config(dir: &Path) -> Config {
    Config {
        journal: Some(dir.to_owned()),
        seed: 7,
        ..Config::default()
    }
}

#[tokio::test]
async fn a_new_start_has_the_same_orders_fills_and_ids() {
    let dir = tempfile::tempdir().unwrap();
    let sim = Sim::with(config(dir.path())).await;
    sim.set("/rules", json!({ "duplicate": "accepted" })).await;
    for id in ["x", "x", "y"] {
        sim.create(id).await.unwrap();
    }
    sim.set("/rules", json!({ "duplicate": "refused_forever" }))
        .await;
    sim.set("/fill", json!({ "cl_ord_id": "y", "qty": "0.03" }))
        .await;
    let before = [
        sim.get_control("/orders").await,
        sim.get_control("/fills").await,
        sim.get_control("/rules").await,
    ];
    sim.handle.shutdown().await;
    let verified = verify(&dir.path().join("bybit")).unwrap();
    assert!(verified.events > verified.commands);
    // Another seed does not change the ids of a journal.
    let sim = Sim::with(Config {
        seed: 8,
        ..config(dir.path())
    })
    .await;
    let after = [
        sim.get_control("/orders").await,
        sim.get_control("/fills").await,
        sim.get_control("/rules").await,
    ];
    assert_eq!(before, after);
    assert_eq!(
        sim.create("x").await.unwrap().code(),
        110_072,
        "the ids are taken still"
    );
    let held = start(config(dir.path())).await.unwrap_err();
    assert!(
        matches!(held, StartError::Journal(JournalError::Held { .. })),
        "{held:?}"
    );
}

#[tokio::test]
async fn a_torn_line_was_never_applied_and_a_lost_event_log_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let sim = Sim::with(config(dir.path())).await;
    sim.create("x").await.unwrap();
    let before = sim.get_control("/orders").await;
    sim.handle.shutdown().await;
    let (commands, events) = (
        dir.path().join("bybit/commands.jsonl"),
        dir.path().join("bybit/events.jsonl"),
    );
    let recorded = fs::read_to_string(&events).unwrap();
    fs::remove_file(&events).unwrap();
    let mut torn = fs::read_to_string(&commands).unwrap();
    torn.push_str("{\"at_ms\":17");
    fs::write(&commands, torn).unwrap();
    let sim = Sim::with(config(dir.path())).await;
    assert_eq!(sim.get_control("/orders").await, before);
    assert_eq!(fs::read_to_string(&events).unwrap(), recorded);
    sim.create("y").await.unwrap();
    sim.handle.shutdown().await;
    assert_eq!(
        Sim::with(config(dir.path()))
            .await
            .get_control("/orders")
            .await
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn a_replay_that_differs_is_refused_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let sim = Sim::with(config(dir.path())).await;
    sim.create("x").await.unwrap();
    sim.handle.shutdown().await;
    let events = dir.path().join("bybit/events.jsonl");
    let mut lines: Vec<String> = fs::read_to_string(&events)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    let last = lines.len();
    let changed = lines[last - 1].replace("\"x\"", "\"z\"");
    assert_ne!(changed, lines[last - 1]);
    lines[last - 1] = changed;
    fs::write(&events, lines.join("\n") + "\n").unwrap();
    let error = start(config(dir.path())).await.unwrap_err();
    match error {
        StartError::Journal(JournalError::Differs {
            seq,
            recorded,
            replayed,
        }) => {
            assert_eq!(seq, last);
            assert!(
                recorded.contains("\"z\"") && replayed.contains("\"x\""),
                "{recorded} {replayed}"
            );
        }
        other => panic!("{other:?}"),
    }
}

/// A journal with some orders, and what stops a start over it.
async fn recorded(dir: &Path) {
    let sim = Sim::with(config(dir)).await;
    for id in ["x", "y", "z"] {
        sim.create(id).await.unwrap();
    }
    sim.set("/fill", json!({ "cl_ord_id": "y", "qty": "0.03" }))
        .await;
    sim.handle.shutdown().await;
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn one_byte_of_a_recorded_event_changed_stops_the_start_and_names_the_event() {
    let dir = tempfile::tempdir().unwrap();
    recorded(dir.path()).await;
    let events = dir.path().join("bybit/events.jsonl");
    let good = lines(&events);
    for (index, line) in good.iter().enumerate() {
        // The last digit of the line, which every event has.
        let at = line.rfind(|letter: char| letter.is_ascii_digit()).unwrap();
        let other = if line.as_bytes()[at] == b'9' {
            "8"
        } else {
            "9"
        };
        let mut changed = good.clone();
        changed[index].replace_range(at..=at, other);
        fs::write(&events, changed.join("\n") + "\n").unwrap();
        let error = start(config(dir.path())).await.unwrap_err();
        let StartError::Journal(JournalError::Differs { seq, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(seq, index + 1);
        assert!(error_names(
            &verify(&dir.path().join("bybit")).unwrap_err(),
            seq
        ));
    }
    fs::write(&events, good.join("\n") + "\n").unwrap();
    start(config(dir.path())).await.unwrap();
}

fn error_names(error: &JournalError, seq: usize) -> bool {
    error.to_string().contains(&format!("event {seq} "))
}

#[tokio::test]
async fn two_commands_swapped_stop_the_start() {
    let dir = tempfile::tempdir().unwrap();
    recorded(dir.path()).await;
    let commands = dir.path().join("bybit/commands.jsonl");
    let mut swapped = lines(&commands);
    let count = swapped.len();
    swapped.swap(count - 3, count - 2);
    fs::write(&commands, swapped.join("\n") + "\n").unwrap();
    let error = start(config(dir.path())).await.unwrap_err();
    let StartError::Journal(JournalError::Differs {
        seq,
        recorded,
        replayed,
    }) = error
    else {
        panic!("{error:?}");
    };
    let events = lines(&dir.path().join("bybit/events.jsonl"));
    assert_eq!(events[seq - 1], recorded);
    assert!(recorded.contains("\"y\"") && replayed.contains("\"z\""));
}

#[tokio::test]
async fn the_event_log_is_derived_and_rebuilt_equal() {
    let dir = tempfile::tempdir().unwrap();
    recorded(dir.path()).await;
    let events = dir.path().join("bybit/events.jsonl");
    let before = fs::read(&events).unwrap();
    fs::remove_file(&events).unwrap();
    let handle = start(config(dir.path())).await.unwrap();
    handle.shutdown().await;
    assert_eq!(fs::read(&events).unwrap(), before);
}
