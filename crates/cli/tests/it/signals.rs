//! SIGTERM and SIGINT in the middle: nothing in doubt that was not journaled, gone within five seconds.

use std::collections::HashSet;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::bench::{Bench, ended, signal, until, words};

/// How soon a command is gone that is told to stop. A machine that is busy may be late once, and is not late for ever.
const GONE: Duration = Duration::from_secs(5);

/// Every order that the venue holds is in the journal, and no id has two.
fn referee(bench: &Bench) {
    let rows = bench.json(&["orders"]).json();
    let journaled: HashSet<String> = rows
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| row["wire_id"].as_str().unwrap().to_owned())
        .collect();
    let mut seen = HashSet::new();
    for order in bench.sim.orders() {
        let id = order["wire_id"].as_str().unwrap().to_owned();
        assert!(journaled.contains(&id), "{id} is not in the journal");
        assert!(seen.insert(id), "two orders under one id: {order}");
    }
}

/// Ends the load, also where the test fails in the middle of it.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_stop_in_the_middle_of_place_under_load_leaves_nothing_that_is_not_journaled() {
    let bench = Bench::new();
    let over = AtomicBool::new(false);
    let mut took = Vec::new();
    std::thread::scope(|scope| {
        let _over = Over(&over);
        // Others keep the venue and the machine busy.
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    bench.sim.control("GET", "/requests", &Value::Null);
                }
            });
        }
        for n in 0..24_u64 {
            // Before, during and after the send: the answer is held back for a while.
            bench
                .sim
                .fault(&json!({ "op": "create", "do": "hold", "ms": 150 }));
            let at = format!("s{n}");
            let line = format!(
                "place --venue by --symbol BTCUSDT --side buy --qty 0.01 --price 50000 --strategy {at} --json"
            );
            let args = words(&line);
            let mut child = bench
                .command(&args)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(n * 12));
            let which = if n % 2 == 0 {
                Signal::TERM
            } else {
                Signal::INT
            };
            let asked = Instant::now();
            signal(&child, which);
            let said = ended(&mut child);
            took.push(asked.elapsed());
            // Before the command listens a signal ends it at once, as any process; then nothing was opened yet.
            let known = [0, 4, -1];
            // So many starts in a second may be too many for the venue: then nothing was sent.
            let throttled = said.code == 7 && said.out.contains("nothing sent");
            assert!(known.contains(&said.code) || throttled, "{said:?}");
            if said.code == 0 {
                assert_eq!(said.json()["outcome"], "live", "{said:?}");
            }
            bench.sim.no_faults();
        }
    });
    took.sort_unstable();
    assert!(took[took.len() / 2] < GONE, "{took:?}");
    // What was held back arrives.
    until(|| bench.json(&["recover"]).code == 0);
    referee(&bench);
    let open = bench.json(&["orders"]).json();
    for row in open.as_array().into_iter().flatten() {
        let state = row["state"].as_str().unwrap();
        assert!(["acked", "rejected"].contains(&state), "{row}");
    }
}

#[test]
fn a_stop_while_the_fate_is_not_known_says_so_and_closes_the_journal() {
    until(|| {
        let bench = Bench::new();
        let engine = bench.engine();
        let asked = Instant::now();
        let said = engine.stop();
        let took = asked.elapsed();
        assert_eq!(said.with(4)["outcome"], "unknown");
        assert!(!said.err.contains("panicked"), "{said:?}");
        // Nobody holds it any more.
        let recovered = bench.json(&["recover"]).with(0);
        assert_eq!(recovered["venues"]["by"]["checked"], 1);
        referee(&bench);
        took < GONE
    });
}

#[test]
fn a_stop_during_recovery_is_heard() {
    until(|| {
        let bench = Bench::new();
        let engine = bench.engine();
        engine.kill();
        bench
            .sim
            .fault(&json!({ "op": "lookup", "times": 100_000, "do": "status:500" }));
        let looks = || {
            let requests = bench.sim.control("GET", "/requests", &Value::Null);
            let requests = requests.as_array().unwrap().iter();
            requests.filter(|row| row["op"] == "lookup").count()
        };
        let before = looks();
        let mut child = bench
            .command(&["recover", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It looks, and waits for the truth.
        until(|| looks() > before);
        assert!(child.try_wait().unwrap().is_none());
        let asked = Instant::now();
        signal(&child, Signal::TERM);
        let said = ended(&mut child);
        let took = asked.elapsed();
        assert_eq!(said.code, 4, "{said:?}");
        bench.sim.no_faults();
        bench.json(&["recover"]).with(0);
        took < GONE
    });
}
