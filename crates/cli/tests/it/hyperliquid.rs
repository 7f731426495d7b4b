//! The commands at a simulated Hyperliquid: the account's key, an agent's, a vault's orders, and what is wrong.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::{AGENT, Bench, Said, VAULT, WALLET, address, ended_within, run, words};
use crate::probe::is_clean;

/// Places a limit order far from the market.
fn place(bench: &Bench, symbol: &str, (qty, price): (&str, &str), more: &[&str]) -> Said {
    let line = format!(
        "place --venue hl --symbol {symbol} --side buy --qty {qty} --price {price} --strategy s"
    );
    let args = words(&line);
    run(bench.command(&args).args(more).arg("--json"))
}

const BTC: (&str, &str) = ("0.01", "50000");

#[test]
fn an_order_is_placed_once_followed_and_canceled() {
    let bench = Bench::hyperliquid();
    let doctor = bench.json(&["doctor"]).with(0);
    let found = doctor["checks"].to_string();
    assert!(
        found.contains(&format!("a private key, of {}", address(WALLET))),
        "{found}"
    );
    let at = |document: &Value| document["order"]["decided_at_ms"].to_string();
    let placed = place(&bench, "BTC", BTC, &[]).with(0);
    assert_eq!(placed["outcome"], "live");
    let decided_at = at(&placed);
    // The same decision is the same order.
    let again = place(&bench, "BTC", BTC, &["--decided-at", &decided_at]).with(0);
    assert_eq!(again["order"]["cl_ord_id"], placed["order"]["cl_ord_id"]);
    assert_eq!(bench.sim.orders().len(), 1);
    let spot = place(&bench, "PURR/USDC", ("20", "4"), &[]).with(0);
    let account = format!("hyperliquid:simulator:{}", address(WALLET));
    assert_eq!(placed["order"]["account"], account);
    let id = placed["order"]["wire_id"].as_str().unwrap();
    assert!(id.starts_with("0x5f01"), "{id}");
    let shown = bench.json(&["show", id]).with(0);
    assert_eq!(shown["order"]["cl_ord_id"], placed["order"]["cl_ord_id"]);
    assert_eq!(shown["attempts"][0]["n"], 1);
    // A market order, which is one with a limit that takes.
    let market = "place --venue hl --symbol ETH --side buy --qty 0.01 --type market --strategy m";
    let market: Vec<&str> = market.split(' ').collect();
    let market = bench.json(&market).with(0);
    assert_eq!(market["order"]["state"], "filled", "{market}");
    // A scope names a symbol with a slash in it as well.
    let scope = format!("hl/{}/PURR/USDC", address(WALLET));
    let canceled = bench.json(&["cancel-all", &scope]).with(0);
    assert_eq!(
        canceled["orders"].as_array().unwrap().len(),
        1,
        "{canceled}"
    );
    assert_eq!(
        canceled["orders"][0]["cl_ord_id"],
        spot["order"]["cl_ord_id"]
    );
    assert_eq!(
        bench
            .json(&["orders", "--state", "open"])
            .with(0)
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let canceled = bench.json(&["cancel", id]).with(0);
    assert_eq!(canceled["order"]["state"], "canceled", "{canceled}");
    assert_eq!(bench.json(&["orders", "--foreign"]).with(0), json!([]));
    assert_eq!(bench.json(&["halts"]).with(0), json!([]));
    bench
        .json(&["halt", "hl/main", "--reason", "lunch"])
        .with(0);
    place(&bench, "BTC", BTC, &[]).with(5);
    bench
        .json(&["resume", "hl/main", "--reason", "back"])
        .with(0);
    for name in ["orders", "halts"] {
        assert_eq!(bench.run(&[name]).code, 0);
    }
}

#[test]
fn a_lost_request_or_answer_ends_as_one_order() {
    let bench = Bench::hyperliquid();
    for (n, fault) in ["reset_before", "reset_after", "act_then_status:504"]
        .iter()
        .enumerate()
    {
        bench.sim.fault(&json!({ "op": "create", "do": fault }));
        let nonce = n.to_string();
        let placed = place(&bench, "BTC", BTC, &["--nonce", &nonce, "--wait", "30s"]).with(0);
        assert_eq!(placed["outcome"], "live", "{fault}: {placed}");
        assert_eq!(bench.sim.orders().len(), n + 1, "{fault}");
    }
    // In doubt when the command ends, because no stream tells of it; recovery finds out.
    let config = bench.hyperliquid_config();
    let config = config.replace("key_env", "stream = false\nkey_env");
    bench.write("surefill.toml", &config);
    bench
        .sim
        .fault(&json!({ "op": "create", "do": "reset_after" }));
    bench
        .sim
        .fault(&json!({ "op": "lookup", "times": 100_000, "do": "status:500" }));
    let doubt = place(&bench, "ETH", ("0.1", "2000"), &["--wait", "300ms"]).with(4);
    assert_eq!(doubt["outcome"], "unknown");
    bench.sim.no_faults();
    let recovered = bench.json(&["recover"]).with(0);
    assert_eq!(recovered["venues"]["hl"]["unknown"], 0, "{recovered}");
    let orders = bench.sim.orders();
    assert_eq!(orders.len(), 4, "{orders:?}");
    bench.json(&["cancel-all", "hl"]).with(0);
    is_clean(&bench.sim);
}

#[test]
fn an_agent_trades_for_its_account_and_for_a_vault() {
    let bench = Bench::hyperliquid();
    let account = format!("account_address = \"{}\"\n", address(WALLET));
    let config = bench
        .hyperliquid_config()
        .replace("SF_TEST_WALLET\"\n", &format!("SF_TEST_AGENT\"\n{account}"));
    bench.write("surefill.toml", &config);
    let placed = place(&bench, "BTC", BTC, &[]).with(0);
    let name = format!("hyperliquid:simulator:{}", address(WALLET));
    assert_eq!(placed["order"]["account"], name);
    assert_eq!(bench.sim.orders()[0]["account"], address(WALLET));
    // The same alias for another account is refused.
    let vault = config.replace(&account, &format!("{account}vault_address = \"{VAULT}\"\n"));
    bench.write("surefill.toml", &vault);
    let said = place(&bench, "BTC", BTC, &[]);
    said.with(2);
    assert!(said.err.contains(VAULT), "{said:?}");
    let vault = vault
        .replace("orders.db", "vault.db")
        .replace("key_env", "stream = false\nkey_env");
    bench.write("surefill.toml", &vault);
    let placed = place(&bench, "BTC", BTC, &[]).with(0);
    assert_eq!(
        placed["order"]["account"],
        format!("hyperliquid:simulator:{VAULT}")
    );
    let owners = bench.sim.orders();
    assert!(
        owners.iter().any(|order| order["account"] == VAULT),
        "{owners:?}"
    );
    bench.json(&["cancel-all", "hl"]).with(0);
}

/// A builder's dex is looked at where it is named, and takes no order.
#[test]
fn a_builders_dex_is_seen_where_it_is_named() {
    let bench = Bench::hyperliquid();
    let config = bench.hyperliquid_config();
    let named = |dexes: &str| config.replace("key_env", &format!("dexes = {dexes}\nkey_env"));
    let there = |bench: &Bench| place(bench, "xyz:XYZ100", ("1", "90"), &[]);
    let said = there(&bench);
    said.with(2);
    assert!(
        said.err.contains("xyz:XYZ100 is not traded here"),
        "{said:?}"
    );
    bench.write("surefill.toml", &named("[\"xyz\"]"));
    let said = there(&bench);
    said.with(2);
    assert!(said.err.contains("builder's dex"), "{said:?}");
    let asked = bench
        .sim
        .control("GET", "/requests", &Value::Null)
        .to_string();
    assert!(asked.contains("open_orders"), "{asked}");
    assert_eq!(bench.json(&["orders", "--foreign"]).with(0), json!([]));
    assert!(bench.sim.orders().is_empty());
    // One that is not there is no silence about its orders.
    bench.write("surefill.toml", &named("[\"nodex\"]"));
    let said = place(&bench, "BTC", BTC, &["--wait", "2s"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(said.err.contains("nodex"), "{said:?}");
    assert!(bench.sim.orders().is_empty());
}

#[test]
fn how_far_a_market_order_goes_is_configured() {
    let bench = Bench::hyperliquid();
    let narrow = bench
        .hyperliquid_config()
        .replace("key_env", "slippage_bps = 1\nkey_env");
    bench.write("surefill.toml", &narrow);
    // The nearest offer is farther from the middle than that.
    bench.sim.control(
        "POST",
        "/market",
        &json!({ "symbol": "BTC", "bid": "59900", "ask": "60100", "size": "1" }),
    );
    let market =
        "place --venue hl --symbol BTC --side buy --qty 0.01 --type market --strategy m --nonce";
    let market = |nonce: &str| {
        let mut args: Vec<&str> = market.split(' ').collect();
        args.push(nonce);
        bench.json(&args)
    };
    let said = market("1");
    let order = &said.json()["order"];
    assert!(
        ["canceled", "rejected"].contains(&order["state"].as_str().unwrap()),
        "{said:?}"
    );
    bench.write("surefill.toml", &narrow.replace("= 1\n", "= 50\n"));
    assert_eq!(market("2").with(0)["order"]["state"], "filled");
}

#[test]
fn whatever_is_wrong_is_named() {
    let bench = Bench::hyperliquid();
    let good = bench.hyperliquid_config();
    let key = "key_env = \"SF_TEST_WALLET\"";
    let agent = "key_env = \"SF_TEST_AGENT\"";
    let (wallet, theirs) = (address(WALLET), address(AGENT));
    let private = |name: &str, text: &str| {
        bench.write_private(name, text);
        format!("key_file = \"{name}\"")
    };
    let with = |line: &str| format!("{key}\n{line}");
    let cases: Vec<(&str, String, Vec<&str>)> = vec![
        (
            "31 bytes",
            private("short", &WALLET[2..]),
            vec!["line 4", "venues.hl", "31 bytes", "32"],
        ),
        (
            "33 bytes",
            private("long", &format!("{WALLET}00")),
            vec!["venues.hl", "33 bytes"],
        ),
        (
            "no hex",
            private("words", "hush hush"),
            vec!["venues.hl", "not hex"],
        ),
        (
            "zero",
            private("zero", &"00".repeat(32)),
            vec!["venues.hl", "zero"],
        ),
        (
            "no key",
            String::new(),
            vec!["venues.hl", "key_env", "key_file"],
        ),
        (
            "a secret of two",
            with("secret_env = \"SF_TEST_SECRET\""),
            vec!["line 10", "secret_env", "unknown key"],
        ),
        (
            "a category",
            with("category = \"linear\""),
            vec!["line 10", "category", "unknown key"],
        ),
        (
            "no address",
            with("account_address = \"0x12\""),
            vec!["line 10", "account_address", "40 hex digits"],
        ),
        (
            "no vault",
            with("vault_address = \"main\""),
            vec!["line 10", "vault_address", "40 hex digits"],
        ),
        (
            "a key for an address",
            with(&format!("account_address = \"0x{WALLET}\"")),
            vec!["line 10", "account_address", "secret"],
        ),
        (
            "a key and more for an address",
            with(&format!("account_address = \"0x{WALLET}a\"")),
            vec!["line 10", "account_address", "40 hex digits"],
        ),
        (
            "dexes that are no list",
            with("dexes = \"xyz\""),
            vec!["line 10", "venues.hl.dexes", "list of texts"],
        ),
        (
            "a dex that is no text",
            with("dexes = [\"xyz\", 7]"),
            vec!["line 10", "venues.hl.dexes", "whole number"],
        ),
        (
            "a dex twice",
            with("dexes = [\"xyz\", \"xyz\"]"),
            vec!["line 10", "venues.hl.dexes", "xyz twice"],
        ),
        (
            "a key for a dex",
            with(&format!("dexes = [\"{WALLET}\"]")),
            vec!["line 10", "venues.hl.dexes", "no dex's name"],
        ),
        (
            "slippage",
            with("slippage_bps = 5001"),
            vec!["line 10", "slippage_bps", "5000"],
        ),
        (
            "no slippage",
            with("slippage_bps = 0"),
            vec!["line 10", "slippage_bps", "1 to"],
        ),
        (
            "an agent for the account",
            format!("{agent}\naccount_address = \"{theirs}\""),
            vec![&theirs, "address of an agent", &wallet],
        ),
        (
            "another account",
            with(&format!("account_address = \"{theirs}\"")),
            vec![&wallet, &theirs, "the configuration names"],
        ),
        (
            "its own vault",
            with(&format!("vault_address = \"{wallet}\"")),
            vec!["vault"],
        ),
        (
            "nobody's vault",
            with("vault_address = \"0x00000000000000000000000000000000000000ff\""),
            vec!["00ff", "neither a vault nor a sub-account"],
        ),
    ];
    for (name, line, names) in cases {
        bench.write("surefill.toml", &good.replace(key, &line));
        let said = bench.json(&["recover"]);
        assert_eq!(said.code, 2, "{name}: {said:?}");
        for part in names {
            assert!(
                said.err.contains(part),
                "{name}: {part} is not named: {said:?}"
            );
        }
        for secret in [WALLET, AGENT, "hush", &WALLET[2..40]] {
            assert!(
                !said.err.contains(secret) && !said.out.contains(secret),
                "{name}: {said:?}"
            );
        }
        assert!(!said.err.contains("panicked"), "{name}: {said:?}");
    }
    bench.write("surefill.toml", &good.replace("simulator", "demo"));
    let said = bench.json(&["recover"]);
    said.with(2);
    assert!(
        said.err
            .contains("hyperliquid has no demo; it has: simulator, testnet, mainnet"),
        "{said:?}"
    );
    // A coin that nobody lists, and numbers off its steps.
    bench.write("surefill.toml", &good);
    for (symbol, terms, part) in [
        ("NOPE", BTC, "NOPE"),
        ("NOPE/USDC", BTC, "NOPE/USDC"),
        ("BTC", ("0.000001", "50000"), "0.00001"),
        ("BTC", ("0.01", "50000.55"), "5000"),
        ("BTC", ("0.00001", "50000"), "10"),
    ] {
        let said = place(&bench, symbol, terms, &[]);
        assert_eq!(said.code, 2, "{symbol} {terms:?}: {said:?}");
        assert!(
            said.err.contains(part),
            "{symbol}: {part} is not named: {said:?}"
        );
    }
    let reduce = place(&bench, "PURR/USDC", ("20", "4"), &["--reduce-only"]);
    reduce.with(2);
    assert!(reduce.err.contains("reduce-only on spot"), "{reduce:?}");
    assert_eq!(bench.sim.orders().len(), 0);
}

/// What the probe reports under a rule of the simulator; under none, under its own.
fn under(rule: Option<&str>) -> Value {
    let bench = Bench::hyperliquid();
    if let Some(rule) = rule {
        let rule = json!({ "duplicate": rule, "window": 10_000 });
        bench.sim.control("POST", "/rules", &rule);
    }
    // Refusals in words that the adapter does not know are waited out, each past its fence: that takes over a minute.
    let mut child = bench
        .command(&["probe", "hl", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = ended_within(&mut child, Duration::from_secs(300));
    is_clean(&bench.sim);
    let mut document = said.json();
    let agrees = document["agrees"].as_bool();
    assert_eq!(
        said.code,
        if agrees == Some(true) { 0 } else { 1 },
        "{rule:?}: {said:?}"
    );
    let report = document.as_object_mut().unwrap();
    let lag = report.remove("visibility_lag_ms").unwrap();
    assert!(lag.is_u64(), "{lag}");
    document
}

#[test]
fn the_probe_confirms_the_profile_and_finds_each_other_rule() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let expected = json!({
                "venue": "hl", "duplicate": "accepted", "replay": "refused", "fence": "enforced",
                "after_fill": "accepted", "after_cancel": "accepted", "after_refusal": "accepted",
                "agrees": true, "differences": [],
            });
            assert_eq!(under(None), expected);
        });
        for rule in [
            "refused_forever",
            "refused_day",
            "while_open",
            "returns_existing",
            "accepted",
        ] {
            scope.spawn(move || {
                let found = under(Some(rule));
                assert_eq!(found["duplicate"], rule, "{found}");
                assert_eq!(found["agrees"], rule == "accepted", "{found}");
            });
        }
    });
}
