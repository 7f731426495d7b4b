//! `surefill probe`: what a running simulator does under each of its rules, where it may run, and that it leaves nothing behind.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Stdio;

use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::bench::{Bench, Sim, ended, run, signal, until};

/// A bench whose requests live long enough to be sent again, also on a machine that is busy.
fn bench() -> Bench {
    let bench = Bench::new();
    let config = bench
        .config()
        .replace("receive_window_ms = 300", "receive_window_ms = 1500")
        .replace("visibility_lag_ms = 100", "visibility_lag_ms = 400");
    bench.write("surefill.toml", &config);
    bench
}

fn is_open(order: &Value) -> bool {
    let status = order["status"].as_str().unwrap();
    !["filled", "canceled", "rejected"].contains(&status)
}

/// Nothing is open, no position is left, and no fault waits.
pub(crate) fn is_clean(sim: &Sim) {
    for order in sim.orders() {
        assert!(!is_open(&order), "left: {order}");
    }
    let positions = sim.control("GET", "/positions", &Value::Null);
    for position in positions.as_array().unwrap() {
        assert_eq!(position["qty"], "0", "left: {position}");
    }
    assert_eq!(sim.control("GET", "/faults", &Value::Null), json!([]));
}

pub(crate) fn creates(sim: &Sim) -> usize {
    let requests = sim.control("GET", "/requests", &Value::Null);
    let requests = requests.as_array().unwrap().iter();
    requests.filter(|request| request["op"] == "create").count()
}

/// What the command reports under a rule, without the lag, which is a time.
fn under(rule: &str) -> Value {
    let bench = bench();
    bench.sim.control(
        "POST",
        "/rules",
        &json!({ "duplicate": rule, "window": 10_000 }),
    );
    let said = bench.json(&["probe", "by"]);
    is_clean(&bench.sim);
    let mut document = said.json();
    let agrees = document["agrees"].as_bool();
    assert_eq!(
        said.code,
        if agrees == Some(true) { 0 } else { 1 },
        "{said:?}"
    );
    assert!(document["visibility_lag_ms"].is_u64(), "{said:?}");
    document
        .as_object_mut()
        .unwrap()
        .remove("visibility_lag_ms");
    // The probe leaves the journal to bots: none is made for it.
    assert!(!bench.path("orders.db").exists());
    document
}

#[test]
fn each_rule_of_the_simulator_is_found_out() {
    let differs = |name: &str, said: &str, did: &str| {
        format!("{name}: the profile says {said}, the venue did {did}")
    };
    let both_ends = |did: &str| {
        [
            differs("after_fill", "refused", did),
            differs("after_cancel", "refused", did),
        ]
    };
    let duplicate = |did: &str| vec![differs("duplicate", "refused_forever", did)];
    let cases = [
        ("refused_forever", "refused", "refused", vec![]),
        (
            "refused_day",
            "refused",
            "refused",
            duplicate("refused_day"),
        ),
        (
            "while_open",
            "while_open",
            "accepted",
            [duplicate("while_open"), both_ends("accepted").to_vec()].concat(),
        ),
        (
            "returns_existing",
            "returns_existing",
            "returns_existing",
            [
                duplicate("returns_existing"),
                both_ends("returns_existing").to_vec(),
            ]
            .concat(),
        ),
        (
            "accepted",
            "accepted",
            "accepted",
            [duplicate("accepted"), both_ends("accepted").to_vec()].concat(),
        ),
    ];
    std::thread::scope(|scope| {
        for (rule, replay, after, differences) in cases {
            scope.spawn(move || {
                let expected = json!({
                    "venue": "by", "duplicate": rule, "replay": replay, "fence": "enforced",
                    "after_fill": after, "after_cancel": after, "after_refusal": "accepted",
                    "agrees": differences.is_empty(), "differences": differences,
                });
                assert_eq!(under(rule), expected);
            });
        }
    });
}

#[test]
fn people_read_the_same() {
    let bench = bench();
    let said = bench.run(&["probe", "by", "--symbol", "ETHUSDT", "--price", "1500"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.out.contains("duplicate          refused_forever\n"),
        "{said:?}"
    );
    assert!(
        said.out.ends_with("it does what its profile says\n"),
        "{said:?}"
    );
    for order in bench.sim.orders() {
        assert_eq!(order["symbol"], "ETHUSDT");
    }
    is_clean(&bench.sim);
}

#[test]
fn stopped_it_cleans_up_and_gives_no_report() {
    std::thread::scope(|scope| {
        for (least, which) in [(1, Signal::INT), (5, Signal::TERM), (9, Signal::INT)] {
            scope.spawn(move || {
                let bench = bench();
                bench
                    .sim
                    .control("POST", "/rules", &json!({ "duplicate": "accepted" }));
                let mut child = bench
                    .command(&["probe", "by", "--json"])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap();
                until(|| creates(&bench.sim) >= least);
                signal(&child, which);
                let said = ended(&mut child);
                let document = said.with(4);
                assert!(
                    document["error"].as_str().unwrap().contains("stopped"),
                    "{said:?}"
                );
                is_clean(&bench.sim);
                // What was still on its way acts now, and becomes nothing.
                bench
                    .sim
                    .control("POST", "/clock", &json!({ "advance_ms": 60_000 }));
                until(|| {
                    let requests = bench.sim.control("GET", "/requests", &Value::Null);
                    let over =
                        |request: &Value| request["acted"] == true || request["answered"] == true;
                    requests.as_array().unwrap().iter().all(over)
                });
                is_clean(&bench.sim);
            });
        }
    });
}

#[test]
fn no_bot_is_at_work_meanwhile() {
    let bench = bench();
    bench.place("rest", &[]).with(0);
    // A bot holds the journal: nothing is sent.
    let engine = bench.engine();
    let before = creates(&bench.sim);
    let said = bench.json(&["probe", "by"]);
    said.with(6);
    assert!(
        said.err.contains("held by process") && said.err.contains("stop it first"),
        "{said:?}"
    );
    assert_eq!(creates(&bench.sim), before);
    engine.kill();
    // The probe holds it: no bot starts, and what the bot had placed is left as it was.
    let mut child = bench
        .command(&["probe", "by", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until(|| creates(&bench.sim) > before);
    bench.json(&["recover"]).with(6);
    let said = ended(&mut child);
    assert_eq!(said.with(0)["agrees"], true);
    let orders = bench.sim.orders();
    let open: Vec<_> = orders.iter().filter(|order| is_open(order)).collect();
    assert_eq!(open.len(), 1, "{open:?}");
    // Nothing of it is taken for an order that the journal has lost.
    bench.json(&["recover"]).with(0);
    assert_eq!(bench.json(&["halts"]).with(0), json!([]));
}

#[test]
fn real_networks_are_refused_or_asked_about() {
    let bench = bench();
    let url = format!("url = \"{}\"\n", bench.sim.url());
    let config = bench.config().replace(&url, "");
    let (config, _) = config.split_once("[venues.by.timing]").unwrap();
    let on = |network: &str| bench.write("surefill.toml", &config.replace("simulator", network));
    on("mainnet");
    for more in [&[][..], &["--yes"]] {
        let said = run(bench.command(&["probe", "by", "--json"]).args(more));
        said.with(2);
        assert!(said.err.contains("mainnet"), "{said:?}");
    }
    for network in ["testnet", "demo"] {
        on(network);
        // No terminal, nobody who agrees.
        let said = bench.json(&["probe", "by"]);
        said.with(2);
        assert!(said.err.contains("--yes"), "{said:?}");
        for answer in ["n\n", "\n", "\u{4}"] {
            let (mut terminal, theirs) = terminal();
            let mut child = bench
                .command(&["probe", "by", "--json"])
                .stdin(theirs)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut asked = Vec::new();
            let mut err = child.stderr.take().unwrap();
            while !String::from_utf8_lossy(&asked).contains("[y/N]") {
                let mut byte = [0];
                assert_eq!(err.read(&mut byte).unwrap(), 1, "{asked:?}");
                asked.extend(byte);
            }
            terminal.write_all(answer.as_bytes()).unwrap();
            let asked = String::from_utf8(asked).unwrap();
            assert!(
                asked.contains(&format!("by ({network} of bybit)")),
                "{asked}"
            );
            let document = ended(&mut child).with(2);
            assert!(
                document["error"].as_str().unwrap().contains("--yes"),
                "{document}"
            );
        }
    }
}

/// Both ends of a terminal.
fn terminal() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let mut options = OpenOptions::new();
    let theirs = options.read(true).write(true).open(name.to_str().unwrap());
    (File::from(ours), theirs.unwrap())
}

#[test]
fn what_cannot_be_probed_is_named() {
    let mut bench = bench();
    let said = bench.json(&["probe", "by", "--symbol", "NOPEUSDT"]);
    said.with(2);
    assert!(said.err.contains("NOPEUSDT is not listed"), "{said:?}");
    let said = bench.json(&["probe", "nope"]);
    said.with(2);
    assert!(said.err.contains("nope"), "{said:?}");
    assert_eq!(creates(&bench.sim), 0);
    bench.sim.child.kill().unwrap();
    bench.sim.child.wait().unwrap();
    bench.json(&["probe", "by"]).with(7);
}
