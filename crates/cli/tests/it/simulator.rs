//! `surefill sim`: the ready line, the port, the end, the journal.

use std::process::Command;

use serde_json::json;

use crate::bench::{SURE, Sim, control, ended, run, signal};

#[test]
fn it_says_where_it_listens_and_stops_cleanly() {
    let mut sim = Sim::start(&["--venue", "bybit", "--seed", "3"]);
    let address = sim.url().strip_prefix("http://").unwrap().to_owned();
    let expected = json!({
        "ready": true, "venue": "bybit", "rest": format!("http://{address}"), "ws": format!("ws://{address}"),
        "control": format!("http://{address}/_sim"), "pid": sim.child.id(), "journal": null,
    });
    assert_eq!(sim.ready, expected);
    assert!(address.starts_with("127.0.0.1:"));
    signal(&sim.child, rustix::process::Signal::TERM);
    assert_eq!(ended(&mut sim.child).code, 0);
}

#[test]
fn a_port_in_use_is_held_by_another() {
    let sim = Sim::start(&["--venue", "all"]);
    let port = sim.url().rsplit(':').next().unwrap().to_owned();
    let said = run(Command::new(SURE).args(["sim", "run", "--venue", "bybit", "--port", &port]));
    assert_eq!(said.code, 6, "{said:?}");
    assert!(said.err.contains(&port), "{said:?}");
}

#[test]
fn its_journal_is_verified_and_one_that_differs_is_told() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().to_str().unwrap();
    let mut sim = Sim::start(&["--venue", "bybit", "--journal", path]);
    sim.control(
        "POST",
        "/market",
        &json!({ "symbol": "BTCUSDT", "bid": "59000", "ask": "59001", "size": "1" }),
    );
    assert_eq!(sim.ready["journal"], path);
    signal(&sim.child, rustix::process::Signal::TERM);
    assert_eq!(ended(&mut sim.child).code, 0);
    let verify = || run(Command::new(SURE).args(["sim", "verify", path]));
    assert_eq!(verify().code, 0);
    let missing = run(Command::new(SURE).args(["sim", "verify", "/nowhere"]));
    assert_eq!(missing.code, 2, "{missing:?}");
    let events = walk(dir.path(), "events.jsonl");
    let text = std::fs::read_to_string(&events).unwrap();
    assert!(text.contains("59000"), "{text}");
    std::fs::write(&events, text.replace("59000", "59000.5")).unwrap();
    let differs = verify();
    assert_eq!(differs.code, 1, "{differs:?}");
}

#[test]
fn several_venues_listen_one_port_after_the_other_and_are_verified_together() {
    for venues in ["bybit,hyperliquid", "all"] {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().to_str().unwrap();
        let (mut sim, second) = Sim::start_two(&["--venue", venues, "--journal", path]);
        assert_eq!(sim.ready["venue"], "bybit");
        assert_eq!(second.ready["venue"], "hyperliquid");
        assert_eq!(sim.ready["pid"], second.ready["pid"]);
        for (venue, symbol) in [(&sim.ready, "BTCUSDT"), (&second.ready, "BTC")] {
            let market = json!({ "symbol": symbol, "bid": "59000", "ask": "59001", "size": "1" });
            control(venue["rest"].as_str().unwrap(), "POST", "/market", &market);
        }
        signal(&sim.child, rustix::process::Signal::TERM);
        assert_eq!(ended(&mut sim.child).code, 0);
        let verify = || run(Command::new(SURE).args(["sim", "verify", path]));
        let verified = verify();
        assert_eq!(verified.code, 0, "{verified:?}");
        let venues: Vec<String> = verified
            .out
            .lines()
            .map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                assert!(line["commands"].as_u64().unwrap() > 1, "{line}");
                line["venue"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(venues, ["bybit", "hyperliquid"]);
        // A journal that differs is told, whichever it is.
        for venue in ["bybit", "hyperliquid"] {
            let events = dir.path().join(venue).join("events.jsonl");
            let text = std::fs::read_to_string(&events).unwrap();
            assert!(text.contains("59000"), "{venue}: {text}");
            std::fs::write(&events, text.replace("59000", "59000.5")).unwrap();
            let differs = verify();
            assert_eq!(differs.code, 1, "{venue}: {differs:?}");
            std::fs::write(&events, text).unwrap();
        }
        assert_eq!(verify().code, 0);
    }
}

fn walk(dir: &std::path::Path, name: &str) -> std::path::PathBuf {
    let entries = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut folders = entries.filter(|path| path.is_dir());
    folders.next().expect("a venue's folder").join(name)
}
