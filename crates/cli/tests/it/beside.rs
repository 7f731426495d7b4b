//! While another process holds the journal: reads need no lock, requests go through its inbox and take effect within a second.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Bench, until};

/// How soon a request takes effect.
const SOON: Duration = Duration::from_secs(1);

#[test]
fn reads_need_no_lock_and_entries_are_refused_by_whom_it_is_held() {
    let bench = Bench::new();
    let resting = bench.place("rest", &[]).with(0)["order"].clone();
    let engine = bench.engine();
    let id = resting["cl_ord_id"].as_str().unwrap();
    assert_eq!(bench.json(&["orders"]).with(0).as_array().unwrap().len(), 2);
    assert_eq!(bench.json(&["show", id]).with(0)["order"]["state"], "acked");
    bench.json(&["halts"]).with(0);
    let pid = engine.child.id().to_string();
    for said in [bench.place("t", &[]), bench.json(&["recover"])] {
        assert_eq!(said.code, 6, "{said:?}");
        assert!(
            said.err.contains(&format!("held by process {pid}")),
            "{said:?}"
        );
    }
    // Stopped in order it says what it knows: nothing.
    let said = engine.stop();
    assert_eq!(said.with(4)["outcome"], "unknown");
}

#[test]
fn a_halt_and_a_resume_reach_the_running_engine_within_a_second() {
    let bench = Bench::new();
    let engine = bench.engine();
    let asked = |halts: &Value| {
        let halts = halts.as_array().unwrap().clone();
        halts.iter().filter(|halt| halt["cause"] == "asked").count()
    };
    // A machine that is busy may be late once, and is not late for ever.
    until(|| {
        let started = Instant::now();
        let halted = bench.json(&["halt", "by", "--reason", "lunch"]).with(0);
        let halted_in = started.elapsed();
        assert_eq!(asked(&halted["halts"]), 1);
        assert_eq!(asked(&bench.json(&["halts"]).with(0)), 1);
        let started = Instant::now();
        let resumed = bench.json(&["resume", "by", "--reason", "back"]).with(0);
        let resumed_in = started.elapsed();
        assert_eq!(asked(&resumed["lifted"]), 1);
        assert_eq!(asked(&bench.json(&["halts"]).with(0)), 0);
        halted_in < SOON && resumed_in < SOON
    });
    // The engine logs it: it was the engine that did it.
    let said = engine.stop();
    assert!(said.err.contains("by is halted: ann: lunch"), "{said:?}");
}

#[test]
fn cancels_reach_the_running_engine() {
    let bench = Bench::new();
    let one = bench.place("one", &[]).with(0)["order"].clone();
    let two = bench.place("two", &[]).with(0)["order"].clone();
    let engine = bench.engine();
    // Looks do not answer, so the venue's word comes over the stream, or at the end by the looks.
    bench.sim.no_faults();
    let id = one["wire_id"].as_str().unwrap();
    let canceled = bench.json(&["cancel", id]).with(0);
    assert_eq!(canceled["order"]["state"], "canceled");
    let all = bench.json(&["cancel-all", "by/main/BTCUSDT"]).with(0);
    assert_eq!(all["orders"].as_array().unwrap().len(), 1);
    assert_eq!(all["orders"][0]["cl_ord_id"], two["cl_ord_id"]);
    assert_eq!(all["orders"][0]["state"], "canceled");
    drop(engine);
}

#[test]
fn a_request_whose_engine_dies_is_done_by_whoever_asks() {
    let bench = Bench::new();
    let engine = bench.engine();
    // It holds the lock and does nothing any more.
    crate::bench::signal(&engine.child, rustix::process::Signal::STOP);
    let mut halting = bench
        .command(&["halt", "by", "--reason", "lunch", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    until(|| {
        let health = bench.json(&["doctor"]).json();
        health.to_string().contains("1 requests wait")
    });
    engine.kill();
    let halted = crate::bench::ended(&mut halting).with(0);
    let text = halted["halts"].to_string();
    assert!(text.contains("ann: lunch"), "{text}");
    assert_eq!(text.matches("ann: lunch").count(), 1);
}

#[test]
fn a_request_that_nobody_answers_is_done_by_the_next_engine() {
    let bench = Bench::new();
    let order = bench.place("rest", &[]).with(0)["order"].clone();
    let engine = bench.engine();
    crate::bench::signal(&engine.child, rustix::process::Signal::STOP);
    let id = order["cl_ord_id"].as_str().unwrap();
    // Told to stop waiting, it says that the request stays.
    let mut canceling = bench
        .command(&["cancel", id, "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    until(|| {
        bench
            .json(&["doctor"])
            .json()
            .to_string()
            .contains("1 requests wait")
    });
    crate::bench::signal(&canceling, rustix::process::Signal::INT);
    let said = crate::bench::ended(&mut canceling);
    assert_eq!(said.code, 4, "{said:?}");
    engine.kill();
    bench.sim.no_faults();
    bench.json(&["recover"]);
    until(|| bench.json(&["show", id]).with(0)["order"]["state"] == json!("canceled"));
}
