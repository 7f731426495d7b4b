//! Bad input: the message names the thing and the line, the exit code is the table's, nothing panics.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::bench::{Bench, SURE, Said, run};

/// A case: what is done, the exit code, and what the message names.
type Case<'a> = (&'a str, Box<dyn Fn() -> Said + 'a>, i32, &'a [&'a str]);

#[test]
fn whatever_is_wrong_is_named_with_the_code_of_the_table() {
    let bench = Bench::new();
    let bench = &bench;
    let good = bench.config();
    bench.place("rest", &[]).with(0);
    let with = |from: &str, to: &str| {
        let changed = good.replace(from, to);
        assert_ne!(changed, good, "{from}");
        changed
    };
    let recover = |config: String| {
        move || {
            let name = "changed.toml";
            bench.write(name, &config);
            let mut command = crate::bench::command(&bench.path(name), &["recover", "--json"]);
            run(&mut command)
        }
    };
    let here = |args: &'static [&'static str]| move || bench.json(args);
    let engine = bench.engine();
    bench.write_private("loose", "x");
    fs::set_permissions(bench.path("loose"), fs::Permissions::from_mode(0o644)).unwrap();
    let port = bench.sim.url().rsplit(':').next().unwrap().to_owned();
    let cases: Vec<Case<'_>> = vec![
        (
            "a wrong type",
            Box::new(recover(with(
                "max_open_orders = 50",
                "max_open_orders = \"fifty\"",
            ))),
            2,
            &[
                "changed.toml",
                "line 22",
                "venues.by.limits.max_open_orders",
                "whole number",
            ],
        ),
        (
            "a float",
            Box::new(recover(with("\"5000\"", "5000.0"))),
            2,
            &["line 21", "venues.by.limits.max_order_notional"],
        ),
        (
            "an unknown key",
            Box::new(recover(with("account =", "acount ="))),
            2,
            &["line 7", "venues.by.acount", "unknown key"],
        ),
        (
            "an unknown table",
            Box::new(recover(with("[venues.by.limits]", "[venues.by.limit]"))),
            2,
            &["line 20", "venues.by.limit"],
        ),
        (
            "an unknown kind",
            Box::new(recover(with("kind = \"bybit\"", "kind = \"kraken\""))),
            2,
            &["line 5", "venues.by.kind", "kraken"],
        ),
        (
            "a secret in the file",
            Box::new(recover(with("account = \"main\"", "api_secret = \"hush\""))),
            2,
            &["line 7", "venues.by.api_secret", "secret"],
        ),
        (
            "url on mainnet",
            Box::new(recover(with("simulator", "mainnet"))),
            2,
            &["line 8", "venues.by.url", "only a simulator"],
        ),
        (
            "timing on testnet",
            Box::new(recover(with(
                &format!(
                    "simulator\"\naccount = \"main\"\nurl = \"{}\"",
                    bench.sim.url()
                ),
                "testnet\"\naccount = \"main\"",
            ))),
            2,
            &["venues.by.timing", "only a simulator"],
        ),
        (
            "a missing key variable",
            Box::new(recover(with("SF_TEST_KEY", "SF_NO_KEY"))),
            2,
            &["line 10", "venues.by.key_env", "SF_NO_KEY", "not set"],
        ),
        (
            "a key file that others can read",
            Box::new(recover(with(
                "key_env = \"SF_TEST_KEY\"",
                "key_file = \"loose\"",
            ))),
            2,
            &[
                "line 10",
                "venues.by.key_file",
                "loose",
                "0644",
                "chmod 600",
            ],
        ),
        (
            "a key file that is not there",
            Box::new(recover(with(
                "key_env = \"SF_TEST_KEY\"",
                "key_file = \"none\"",
            ))),
            2,
            &["line 10", "none"],
        ),
        (
            "both",
            Box::new(recover(with(
                "key_env = \"SF_TEST_KEY\"",
                "key_env = \"A_B\"\nkey_file = \"loose\"",
            ))),
            2,
            &["venues.by.key_file"],
        ),
        (
            "no TOML",
            Box::new(recover(with("kind = \"bybit\"", "kind = "))),
            2,
            &["line 5", "not TOML"],
        ),
        (
            "a key twice",
            Box::new(recover(with("account = \"main\"", "kind = \"bybit\""))),
            2,
            &["line 7", "not TOML"],
        ),
        (
            "no configuration",
            Box::new(|| {
                run(&mut crate::bench::command(
                    &bench.path("no.toml"),
                    &["orders"],
                ))
            }),
            2,
            &["no.toml"],
        ),
        (
            "no folder for the journal",
            Box::new(recover(with(
                "sqlite:orders.db",
                "sqlite:no/where/orders.db",
            ))),
            8,
            &["no/where/orders.db"],
        ),
        (
            "a journal held by another",
            Box::new(here(&["recover"])),
            6,
            &["orders.db", "held by process"],
        ),
        (
            "a venue that is not there",
            Box::new(here(&["recover", "--venue", "nope"])),
            2,
            &["nope", "by"],
        ),
        (
            "an id that does not exist",
            Box::new(here(&["show", "5f01ffffffffffffffffffffffffffff"])),
            2,
            &["5f01ffffffffffffffffffffffffffff"],
        ),
        (
            "no id",
            Box::new(here(&["cancel", "sf1-xyz"])),
            2,
            &["sf1-xyz"],
        ),
        (
            "a scope that names no venue",
            Box::new(here(&["halt", "nope", "--reason", "x"])),
            2,
            &["scope", "nope"],
        ),
        (
            "a scope that names no account",
            Box::new(here(&["resume", "by/nobody", "--reason", "x"])),
            2,
            &["by/nobody", "nobody"],
        ),
        (
            "no scope",
            Box::new(here(&["cancel-all", "by//BTCUSDT"])),
            2,
            &["by//BTCUSDT", "V/ACCOUNT"],
        ),
        (
            "an unknown state",
            Box::new(here(&["orders", "--state", "lost"])),
            2,
            &["--state", "lost", "reconciling"],
        ),
        (
            "an instant in seconds",
            Box::new(here(&["orders", "--since", "1796040000"])),
            2,
            &["--since", "13 digits"],
        ),
        ("no command", Box::new(here(&[])), 2, &["Usage"]),
        ("an unknown command", Box::new(here(&["buy"])), 2, &["buy"]),
        (
            "a port in use",
            Box::new(move || {
                run(Command::new(SURE).args(["sim", "run", "--venue", "bybit", "--port", &port]))
            }),
            6,
            &["port", "listen"],
        ),
        (
            "a venue that is not simulated",
            Box::new(|| run(Command::new(SURE).args(["sim", "run", "--venue", "kraken"]))),
            2,
            &["kraken"],
        ),
    ];
    for (name, act, code, names) in &cases {
        let said = act();
        assert_eq!(said.code, *code, "{name}: {said:?}");
        for part in *names {
            let named = said.err.to_lowercase().contains(&part.to_lowercase());
            assert!(named, "{name}: {part} is not named: {said:?}");
        }
        assert!(!said.err.contains("panicked"), "{name}: {said:?}");
        assert!(!said.err.contains("hush"), "{name}: {said:?}");
    }
    drop(engine);
}

#[test]
fn what_is_no_order_is_refused_by_name() {
    let bench = Bench::new();
    let place = |from: &str, to: &str| {
        let args = "place --venue by --symbol BTCUSDT --side buy --qty 0.01 --price 50000 --strategy s --json";
        let changed = args.replace(from, to);
        assert_ne!(changed, args, "{from}");
        let args: Vec<&str> = changed.split(' ').collect();
        bench.run(&args)
    };
    for (from, to, code, names) in [
        ("--venue by", "--venue nope", 2, "nope"),
        ("BTCUSDT", "NOPEUSDT", 2, "NOPEUSDT"),
        ("--side buy", "--side up", 2, "--side"),
        ("--qty 0.01", "--qty 1e-2", 2, "--qty"),
        ("--qty 0.01", "--qty 0", 2, "amount is zero"),
        ("--qty 0.01", "--qty 0.0105", 2, "0.010"),
        ("--price 50000", "--price 50000.01", 2, "50000.0"),
        (" --price 50000", "", 2, "--price"),
        ("--price 50000", "--price 50000 --type market", 2, "--price"),
        ("--strategy s", "--strategy s --ttl 5", 2, "--ttl"),
        ("--strategy s", "--strategy s --ttl 48h", 2, "ttl"),
        ("--strategy s", "--strategy s --tif day", 2, "--tif"),
        (
            "--strategy s",
            "--strategy s --decided-at 4102444800000",
            2,
            "ahead",
        ),
        (" --strategy s", "", 2, "--strategy"),
    ] {
        let said = place(from, to);
        assert_eq!(said.code, code, "{to}: {said:?}");
        assert!(said.err.contains(names), "{to}: {said:?}");
        assert!(!said.err.contains("panicked"), "{said:?}");
    }
    assert_eq!(bench.sim.orders().len(), 0);
}
