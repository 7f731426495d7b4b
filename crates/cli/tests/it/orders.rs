//! Placing, finding, canceling and recovering, with the exit codes and the documents that scripts rely on.

use serde_json::{Value, json};

use crate::bench::{Bench, UID, words};

/// The names of a document's fields.
fn fields(document: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = document
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

const ORDER: [&str; 23] = [
    "account",
    "attempts",
    "avg_px",
    "cl_ord_id",
    "cum_qty",
    "decided_at_ms",
    "fills_owed",
    "foreign",
    "leaves_qty",
    "nonce",
    "order_id",
    "order_qty",
    "price",
    "reason",
    "side",
    "state",
    "strategy",
    "symbol",
    "updated_at_ms",
    "venue",
    "version",
    "watched",
    "wire_id",
];

fn has_fields(document: &Value, expected: &[&str]) {
    let names = fields(document);
    for name in expected {
        assert!(names.contains(name), "{name} is missing: {document}");
    }
}

#[test]
fn an_order_is_placed_once_however_often_it_is_asked_for() {
    let bench = Bench::new();
    let said = bench.place("s", &[]);
    let placed = said.with(0);
    assert_eq!(placed["outcome"], "live");
    let order = &placed["order"];
    has_fields(order, &ORDER);
    assert_eq!(order["state"], "acked");
    assert_eq!(order["venue"], "by");
    assert_eq!(order["account"], format!("bybit:simulator:{UID}"));
    assert_eq!(order["order_qty"], "0.01");
    assert_eq!(order["price"], "50000");
    assert_eq!(order["leaves_qty"], "0.01");
    assert_eq!(
        (order["foreign"].clone(), order["watched"].clone()),
        (json!(false), json!(false))
    );
    // The first call says what the next one has to pass.
    let at = order["decided_at_ms"].as_u64().unwrap().to_string();
    assert!(said.err.contains(&format!("--decided-at {at}")), "{said:?}");
    for _ in 0..2 {
        let again = bench.place("s", &["--decided-at", &at]);
        assert_eq!(again.with(0)["order"]["cl_ord_id"], order["cl_ord_id"]);
    }
    // Other terms of the same decision are no order of it; another leg is another order.
    let other = bench.place("s", &["--decided-at", &at, "--reduce-only"]);
    assert_eq!(other.code, 2, "{other:?}");
    assert!(other.err.contains("other terms"), "{other:?}");
    assert!(
        other.json()["error"]
            .as_str()
            .unwrap()
            .contains("other terms")
    );
    let leg = bench.place("s", &["--decided-at", &at, "--nonce", "1"]);
    assert_ne!(leg.with(0)["order"]["cl_ord_id"], order["cl_ord_id"]);
    assert_eq!(bench.sim.orders().len(), 2);
    for held in bench.sim.orders() {
        assert_eq!(held["wire_id"].as_str().unwrap().len(), 30);
    }
}

#[test]
fn what_ends_at_once_is_waited_for() {
    let bench = Bench::new();
    let market =
        words("place --venue by --symbol ETHUSDT --side sell --qty 0.5 --type market --strategy m");
    // A market order has no price by which it could be held to the limit.
    let refused = bench.json(&market);
    assert_eq!(refused.code, 5, "{refused:?}");
    bench.write(
        "surefill.toml",
        &bench
            .config()
            .replace("max_order_notional = \"5000\"\n", ""),
    );
    let filled = bench.json(&market).with(0);
    assert_eq!(filled["outcome"], "done");
    assert_eq!(filled["order"]["state"], "filled");
    assert_eq!(filled["order"]["price"], Value::Null);
    let id = filled["order"]["cl_ord_id"].as_str().unwrap();
    let shown = bench.json(&["show", id]).with(0);
    assert_eq!(
        fields(&shown),
        ["attempts", "fills", "order", "transitions"]
    );
    let fill = &shown["fills"][0];
    has_fields(
        fill,
        &[
            "exec_id",
            "qty",
            "price",
            "fee",
            "fee_currency",
            "at_ms",
            "late",
            "settlement",
        ],
    );
    assert_eq!(
        (fill["late"].clone(), fill["settlement"].clone()),
        (json!(false), json!("final"))
    );
    let attempt = &shown["attempts"][0];
    assert_eq!(
        fields(attempt),
        ["bytes_sha256", "fence", "n", "outcome", "sent_at_ms"]
    );
    assert_eq!(attempt["n"], 1);
    assert_eq!(attempt["bytes_sha256"].as_str().unwrap().len(), 64);
    assert!(attempt["fence"].as_u64() > attempt["sent_at_ms"].as_u64());
    let first = &shown["transitions"][0];
    assert_eq!(fields(first), ["at_ms", "cause", "evidence", "from", "to"]);
    assert_eq!(
        (first["from"].clone(), first["to"].clone()),
        (Value::Null, json!("submitted"))
    );
    // What finds nobody is canceled by its time in force, as asked.
    let ioc = bench.place("ioc", &["--tif", "ioc"]).with(0);
    assert_eq!(
        (ioc["order"]["state"].clone(), ioc["outcome"].clone()),
        (json!("canceled"), json!("done"))
    );
}

#[test]
fn a_refusal_of_the_venue_is_an_exit_code_of_its_own() {
    let bench = Bench::new();
    bench
        .sim
        .fault(&json!({ "op": "create", "do": "code:110007" }));
    let said = bench.place("s", &[]);
    let rejected = said.with(3);
    assert_eq!(rejected["outcome"], "done");
    assert_eq!(rejected["order"]["state"], "rejected");
    assert!(
        rejected["order"]["reason"]
            .as_str()
            .unwrap()
            .contains("110007")
    );
    // A stale decision is over: no order now, none later.
    let stale = bench.place("s", &["--decided-at", "1700000000000"]);
    assert_eq!(stale.code, 3, "{stale:?}");
    assert_eq!(bench.sim.orders().len(), 0);
}

#[test]
fn a_lost_answer_ends_as_one_order() {
    let bench = Bench::new();
    bench
        .sim
        .fault(&json!({ "op": "create", "do": "reset_after" }));
    let found = bench.place("after", &[]).with(0);
    assert_eq!(found["order"]["state"], "acked");
    assert_eq!(found["order"]["attempts"], 1);
    bench
        .sim
        .fault(&json!({ "op": "create", "do": "reset_before" }));
    let resent = bench.place("before", &[]).with(0);
    assert_eq!(resent["order"]["attempts"], 2);
    assert_eq!(bench.sim.orders().len(), 2);
}

#[test]
fn doubt_is_an_exit_code_and_recover_ends_it() {
    let bench = Bench::new();
    bench
        .sim
        .fault(&json!({ "op": "create", "do": "reset_after" }));
    bench
        .sim
        .fault(&json!({ "op": "lookup", "times": 100_000, "do": "status:500" }));
    let unknown = bench.place("s", &["--wait", "300ms"]);
    let order = unknown.with(4)["order"].clone();
    assert_eq!(unknown.json()["outcome"], "unknown");
    bench.sim.no_faults();
    let recovered = bench.json(&["recover"]).with(0);
    let counts = &recovered["venues"]["by"];
    assert_eq!(
        fields(counts),
        [
            "checked", "foreign", "found", "given_up", "resent", "unknown"
        ]
    );
    assert_eq!(
        (counts["checked"].clone(), counts["found"].clone()),
        (json!(1), json!(1))
    );
    assert_eq!(recovered["halts"], json!([]));
    let at = order["decided_at_ms"].as_u64().unwrap().to_string();
    let same = bench.place("s", &["--decided-at", &at]).with(0);
    assert_eq!(same["order"]["cl_ord_id"], order["cl_ord_id"]);
    assert_eq!(bench.sim.orders().len(), 1);
}

#[test]
fn orders_are_listed_by_what_is_asked_for() {
    let bench = Bench::new();
    let resting = bench.place("rest", &[]).with(0)["order"].clone();
    let ended = bench.place("end", &["--tif", "ioc"]).with(0)["order"].clone();
    let listed = |more: &[&str]| -> Vec<Value> {
        let args: Vec<&str> = ["orders"].iter().chain(more).copied().collect();
        bench.json(&args).with(0).as_array().unwrap().clone()
    };
    let all = listed(&[]);
    has_fields(&all[0], &ORDER);
    let ids = |rows: &[Value]| -> Vec<Value> {
        rows.iter().map(|row| row["cl_ord_id"].clone()).collect()
    };
    let (one, two) = (resting["cl_ord_id"].clone(), ended["cl_ord_id"].clone());
    assert_eq!(ids(&all), [one.clone(), two.clone()]);
    assert_eq!(
        ids(&listed(&["--state", "open"])),
        std::slice::from_ref(&one)
    );
    assert_eq!(
        ids(&listed(&["--state", "acked", "--venue", "by"])),
        std::slice::from_ref(&one)
    );
    assert_eq!(ids(&listed(&["--state", "canceled"])), [two]);
    assert_eq!(ids(&listed(&["--state", "unknown"])), [Value::Null; 0]);
    assert_eq!(
        ids(&listed(&["--since", "4102444800000"])),
        [Value::Null; 0]
    );
    let text = bench.run(&["orders"]);
    assert!(text.out.contains(one.as_str().unwrap()), "{text:?}");
    // Another journal on the same account: what it did not place is foreign to it.
    bench.write(
        "other.toml",
        &bench.config().replace("orders.db", "other.db"),
    );
    let other = bench.path("other.toml");
    let args = ["orders", "--foreign", "--json"];
    let foreign = crate::bench::run(&mut crate::bench::command(&other, &args)).with(0);
    assert_eq!(foreign[0]["wire_id"], resting["wire_id"]);
    assert_eq!(foreign[0]["foreign"], true);
    has_fields(&foreign[0], &ORDER);
    assert_eq!(listed(&["--foreign"]), [Value::Null; 0]);
}

#[test]
fn an_order_is_canceled_by_either_id() {
    let bench = Bench::new();
    for field in ["cl_ord_id", "wire_id"] {
        let order = bench.place(field, &[]).with(0)["order"].clone();
        let id = order[field].as_str().unwrap();
        assert_eq!(
            bench.json(&["show", id]).with(0)["order"]["cl_ord_id"],
            order["cl_ord_id"]
        );
        let canceled = bench.json(&["cancel", id]).with(0);
        assert_eq!(canceled["order"]["state"], "canceled");
        assert_eq!(canceled["outcome"], "done");
        // Once more changes nothing.
        assert_eq!(
            bench.json(&["cancel", id]).with(0)["order"],
            canceled["order"]
        );
    }
}

#[test]
fn every_order_of_a_scope_is_canceled() {
    let bench = Bench::new();
    for strategy in ["a", "b", "c"] {
        bench.place(strategy, &[]).with(0);
    }
    let none = bench.json(&["cancel-all", "by/main/ETHUSDT"]).with(0);
    assert_eq!(none["orders"], json!([]));
    let all = bench
        .json(&["cancel-all", &format!("by/{UID}/BTCUSDT")])
        .with(0);
    let orders = all["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 3);
    assert!(
        orders.iter().all(|order| order["state"] == "canceled"),
        "{all}"
    );
    assert_eq!(
        bench.json(&["orders", "--state", "open"]).with(0),
        json!([])
    );
}

#[test]
fn halts_refuse_new_risk_until_they_are_lifted() {
    let bench = Bench::new();
    // Before anything was placed, too.
    let halted = bench.json(&["halt", "by", "--reason", "lunch"]).with(0);
    assert_eq!(halted["halts"].as_array().unwrap().len(), 1);
    let halts = bench.json(&["halts"]).with(0);
    assert_eq!(
        fields(&halts[0]),
        ["cause", "needs_person", "scope", "since_ms", "text"]
    );
    assert_eq!(halts[0]["scope"], "by");
    assert_eq!(halts[0]["cause"], "asked");
    assert_eq!(halts[0]["needs_person"], true);
    assert!(halts[0]["since_ms"].as_u64().unwrap() > 1_700_000_000_000);
    assert_eq!(halts[0]["text"], "ann: lunch");
    let refused = bench.place("s", &[]);
    assert_eq!(refused.code, 5, "{refused:?}");
    assert!(refused.err.contains("halted: ann: lunch"), "{refused:?}");
    // Exactly this scope: another one has no halt.
    let other = bench
        .json(&["resume", "by/main", "--reason", "back"])
        .with(0);
    assert_eq!(other["lifted"], json!([]));
    let lifted = bench.json(&["resume", "by", "--reason", "back"]).with(0);
    assert_eq!(lifted["lifted"], halts);
    assert_eq!(bench.json(&["halts"]).with(0), json!([]));
    bench.place("s", &[]).with(0);
    // An account by each of its names is one scope.
    for account in [
        "main".to_owned(),
        UID.to_owned(),
        format!("bybit:simulator:{UID}"),
    ] {
        let scope = format!("by/{account}");
        bench.json(&["halt", &scope, "--reason", "x"]).with(0);
    }
    assert_eq!(bench.json(&["halts"]).with(0).as_array().unwrap().len(), 1);
}

#[test]
fn limits_refuse_before_anything_is_journaled() {
    let bench = Bench::new();
    let args =
        words("place --venue by --symbol BTCUSDT --side buy --qty 1 --price 50000 --strategy s");
    let refused = bench.json(&args);
    assert_eq!(refused.code, 5, "{refused:?}");
    assert!(refused.err.contains("limit of 5000"), "{refused:?}");
    assert_eq!(bench.json(&["orders"]).with(0), json!([]));
}

#[test]
fn a_venue_that_does_not_answer_is_an_exit_code() {
    let mut bench = Bench::new();
    let order = bench.place("s", &[]).with(0)["order"].clone();
    bench.sim.child.kill().unwrap();
    bench.sim.child.wait().unwrap();
    let unreachable = bench.place("t", &[]);
    assert_eq!(unreachable.code, 7, "{unreachable:?}");
    let recovered = bench.json(&["recover"]);
    let document = recovered.with(7);
    assert_eq!(document["venues"]["by"]["unknown"], 1);
    assert_eq!(document["halts"][0]["cause"], "unreachable");
    // The cancel is kept, and nobody knows yet what came of it.
    let id = order["cl_ord_id"].as_str().unwrap();
    let canceled = bench.json(&["cancel", id, "--wait", "1s"]);
    assert_eq!(canceled.with(4)["order"]["cancel_requested"], true);
}
