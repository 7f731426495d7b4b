//! `surefill doctor`: each check by itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::bench::{Bench, KEY, SECRET};

fn check<'a>(document: &'a Value, name: &str) -> &'a Value {
    let mut checks = document["checks"].as_array().unwrap().iter();
    checks
        .find(|check| check["check"] == name)
        .unwrap_or_else(|| panic!("no {name}: {document}"))
}

/// The checks that failed, each with something to do.
fn failed(document: &Value) -> Vec<&str> {
    let checks = document["checks"].as_array().unwrap().iter();
    let failed = checks.filter(|check| check["ok"] == false);
    failed
        .map(|check| {
            assert!(!check["todo"].as_str().unwrap().is_empty());
            check["check"].as_str().unwrap()
        })
        .collect()
}

#[test]
fn a_healthy_bench_passes_before_and_after_the_first_order() {
    let bench = Bench::new();
    let before = bench.json(&["doctor"]).with(0);
    assert!(
        check(&before, "account")["found"]
            .as_str()
            .unwrap()
            .contains("does not know yet")
    );
    bench.place("s", &[]).with(0);
    let after = bench.json(&["doctor", "by"]).with(0);
    for name in [
        "configuration",
        "journal",
        "engine",
        "halts",
        "keys",
        "reachable",
        "clock",
        "account",
        "permissions",
    ] {
        assert_eq!(check(&after, name)["ok"], true);
    }
    let keys = check(&after, "keys")["found"].as_str().unwrap();
    let shape = format!("a key of {} characters", KEY.len());
    assert!(
        keys.contains(&shape) && !keys.contains(KEY) && !keys.contains(SECRET),
        "{keys}"
    );
    let journal = check(&after, "journal")["found"].as_str().unwrap();
    assert!(
        journal.contains("schema 1") && journal.contains("1 unfinished"),
        "{journal}"
    );
    assert_eq!(bench.run(&["doctor"]).code, 0);
}

#[test]
fn each_fault_is_found_and_says_what_to_do() {
    let bench = Bench::new();
    bench.place("s", &[]).with(0);
    // A clock that is off.
    bench
        .sim
        .control("POST", "/clock", &json!({ "skew_ms": 60_000 }));
    assert_eq!(failed(&bench.json(&["doctor"]).with(1)), ["clock"]);
    bench
        .sim
        .control("POST", "/clock", &json!({ "skew_ms": 0 }));
    // Somebody halted it.
    bench.json(&["halt", "by", "--reason", "x"]).with(0);
    assert_eq!(failed(&bench.json(&["doctor"]).with(1)), ["halts"]);
    bench.json(&["resume", "by", "--reason", "x"]).with(0);
    // Others can read it.
    let mode = |mode| {
        fs::set_permissions(bench.path("orders.db"), fs::Permissions::from_mode(mode)).unwrap()
    };
    mode(0o644);
    assert_eq!(failed(&bench.json(&["doctor"]).with(1)), ["journal's mode"]);
    mode(0o600);
    // Keys of another account.
    let other = bench
        .config()
        .replace("SF_TEST_KEY", "SF_OTHER_KEY")
        .replace("SF_TEST_SECRET", "SF_OTHER_SECRET");
    bench.write("surefill.toml", &other);
    let run = |key: &str, secret: &str| {
        let mut command = bench.command(&["doctor", "--json"]);
        crate::bench::run(
            command
                .env("SF_OTHER_KEY", key)
                .env("SF_OTHER_SECRET", secret),
        )
        .with(1)
    };
    let document = run("SUREFILLFAKEKEY001", "fakefakefakefakefakefakefakefake0001");
    assert_eq!(failed(&document), ["account"]);
    assert!(
        check(&document, "account")["found"]
            .to_string()
            .contains("bound to")
    );
    // A secret that is wrong.
    let document = run(KEY, "wrong");
    assert_eq!(failed(&document), ["account"]);
    // No keys at all.
    assert_eq!(failed(&bench.json(&["doctor"]).with(1)), ["keys"]);
}

#[test]
fn a_venue_that_is_away_and_a_damaged_journal_are_told() {
    let mut bench = Bench::new();
    bench.place("s", &[]).with(0);
    bench.sim.child.kill().unwrap();
    bench.sim.child.wait().unwrap();
    assert_eq!(failed(&bench.json(&["doctor"]).with(1)), ["reachable"]);
    fs::write(bench.path("orders.db"), vec![b'x'; 8192]).unwrap();
    let document = bench.json(&["doctor"]).with(1);
    assert_eq!(failed(&document), ["journal", "reachable"]);
    // Any other command refuses it by the exit code.
    for args in [
        &["orders"][..],
        &["halts"],
        &["recover"],
        &["halt", "by", "--reason", "x"],
    ] {
        let said = bench.json(args);
        assert_eq!(said.code, 8, "{args:?}: {said:?}");
    }
}
