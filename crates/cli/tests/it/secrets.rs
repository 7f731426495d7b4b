//! Every command at trace level, with marked secrets: none of them shows anywhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::bench::{AGENT, Bench, KEY, SECRET, Said, WALLET, address, run, words};

fn hidden(what: &str, text: &[u8]) {
    for secret in [KEY, SECRET, WALLET, AGENT] {
        let shown = text
            .windows(secret.len())
            .any(|window| window.eq_ignore_ascii_case(secret.as_bytes()));
        assert!(
            !shown,
            "{what} shows {secret}: {}",
            String::from_utf8_lossy(text)
        );
    }
}

#[test]
fn no_command_shows_a_secret_at_trace_level() {
    let bench = Bench::new();
    let said = |args: &[&str]| -> Said {
        let said = run(bench.command(args).arg("-vvv"));
        hidden(&format!("{args:?}"), said.out.as_bytes());
        hidden(&format!("{args:?}"), said.err.as_bytes());
        assert!(!said.err.contains("panicked"), "{said:?}");
        said
    };
    let limit = words(
        "place --venue by --symbol BTCUSDT --side buy --qty 0.01 --price 50000 --strategy s --json",
    );
    let placed = said(&limit);
    assert!(
        placed.err.contains("TRACE") || placed.err.contains("DEBUG"),
        "logs: {}",
        placed.err
    );
    let id = placed.json()["order"]["cl_ord_id"]
        .as_str()
        .unwrap()
        .to_owned();
    // A refusal of the keys, an answer that is lost, and one that is garbage.
    for fault in [
        "reset_after",
        "garbage",
        "status:500",
        "code:10003",
        "code:10004",
        "throttle",
    ] {
        bench.sim.fault(&json!({ "op": "create", "do": fault }));
        let mut args = limit.clone();
        args.extend(["--nonce", "7", "--wait", "500ms"]);
        args[12] = fault;
        said(&args);
    }
    bench.sim.no_faults();
    for args in [
        &["orders"][..],
        &["orders", "--foreign"],
        &["show", &id],
        &["halts"],
        &["halt", "by", "--reason", "x"],
        &["resume", "by", "--reason", "x"],
        &["doctor"],
        &["cancel", &id],
        &["cancel-all", "by"],
        &["recover"],
        &["probe", "by"],
        &["vectors", "bybit", "/nowhere"],
        &["completions", "bash"],
        &["man"],
        &["show", "nothing"],
        &["nonsense"],
    ] {
        said(args);
    }
    // Keys in files; one that others can read, and one that is no key.
    bench.write_private("key", KEY);
    bench.write_private("secret", &format!("{SECRET}\n"));
    let files = bench
        .config()
        .replace("key_env = \"SF_TEST_KEY\"", "key_file = \"key\"")
        .replace(
            "secret_env = \"SF_TEST_SECRET\"",
            "secret_file = \"secret\"",
        );
    bench.write("surefill.toml", &files);
    assert_eq!(said(&["recover"]).code, 0);
    fs::set_permissions(bench.path("secret"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(said(&["recover"]).code, 2);
    bench.write_private(
        "secret",
        &format!("{SECRET}\n-----BEGIN RSA PRIVATE KEY-----\n"),
    );
    assert_eq!(said(&["recover"]).code, 2);
    bench.write_private("key", &format!("{KEY}\n{KEY}"));
    assert_eq!(said(&["recover"]).code, 2);
    // In the wrong place of the configuration.
    for line in [
        format!("api_secret = \"{SECRET}\""),
        format!("secret = {SECRET}"),
        format!("key_env = \"{KEY}\""),
        format!("{SECRET} = 1"),
        format!("url = \"http://me:{SECRET}@127.0.0.1:1\""),
        format!("account = \"0x{}\"", "ab".repeat(32)),
    ] {
        let config = bench.config().replace("category = \"linear\"", &line);
        bench.write("surefill.toml", &config);
        let refused = said(&["recover"]);
        assert_eq!(refused.code, 2, "{line}: {refused:?}");
        hidden(
            "the marked key",
            refused.err.replace(&"ab".repeat(32), KEY).as_bytes(),
        );
    }
    assert!(journal(&bench) >= 2, "the file and its lock");
}

#[test]
fn the_journal_shows_no_secret_while_an_engine_writes() {
    let bench = Bench::new();
    bench.place("rest", &[]).with(0);
    let engine = bench.engine();
    assert!(bench.path("orders.db-wal").exists());
    assert!(journal(&bench) >= 3, "the log, too");
    let said = engine.stop();
    hidden("place", said.err.as_bytes());
}

#[test]
fn no_command_shows_a_private_key_at_trace_level() {
    let bench = Bench::hyperliquid();
    let said = |args: &[&str]| -> Said {
        let said = run(bench.command(args).arg("-vvv"));
        hidden(&format!("{args:?}"), said.out.as_bytes());
        hidden(&format!("{args:?}"), said.err.as_bytes());
        assert!(!said.err.contains("panicked"), "{said:?}");
        said
    };
    let limit = "place --venue hl --symbol BTC --side buy --qty 0.01 --price 50000 --json --wait 500ms --strategy s";
    let limit = words(limit);
    let placed = said(&limit);
    assert!(placed.err.contains("DEBUG") || placed.err.contains("TRACE"));
    let id = placed.json()["order"]["cl_ord_id"]
        .as_str()
        .unwrap()
        .to_owned();
    for fault in [
        "reset_after",
        "garbage",
        "status:500",
        "truncate",
        "throttle",
    ] {
        bench.sim.fault(&json!({ "op": "create", "do": fault }));
        let mut args = limit.clone();
        args.extend(["--nonce", "7"]);
        args[15] = fault;
        said(&args);
    }
    bench.sim.no_faults();
    for args in [
        &["orders", "--foreign"][..],
        &["show", &id],
        &["doctor"],
        &["cancel", &id],
        &["cancel-all", "hl"],
        &["recover"],
        &["probe", "hl"],
    ] {
        said(args);
    }
    // In files, and in the wrong places.
    let good = bench.hyperliquid_config();
    let key = "key_env = \"SF_TEST_WALLET\"";
    bench.write_private("key", &format!("0x{WALLET}\n"));
    bench.write("surefill.toml", &good.replace(key, "key_file = \"key\""));
    assert_eq!(said(&["recover"]).code, 0);
    fs::set_permissions(bench.path("key"), fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(said(&["recover"]).code, 2);
    for text in [
        format!("{WALLET}{WALLET}"),
        format!("{WALLET}0"),
        format!("{AGENT}, {WALLET}"),
    ] {
        bench.write_private("key", &text);
        assert_eq!(said(&["recover"]).code, 2);
    }
    for line in [
        format!("key_env = \"{WALLET}\""),
        format!("key_env = \"K_{WALLET}\""),
        format!("{key}\nprivate_key = \"{WALLET}\""),
        format!("{key}\naccount = \"0x{WALLET}\""),
        format!("{key}\naccount_address = \"{WALLET}\""),
        format!("{key}\naccount_address = \"{}{WALLET}\"", address(AGENT)),
        format!("{key}\nvault_address = \"0x{WALLET}0\""),
        format!("{key}\n{WALLET} = 1"),
    ] {
        bench.write("surefill.toml", &good.replace(key, &line));
        assert_eq!(said(&["recover"]).code, 2, "{line}");
    }
    assert!(journal(&bench) >= 2, "the file and its lock");
}

/// Reads every file of the journal; how many there are.
fn journal(bench: &Bench) -> usize {
    let entries = fs::read_dir(bench.dir.path()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("orders.db")
    });
    files
        .map(|path| hidden(&path.display().to_string(), &fs::read(&path).unwrap()))
        .count()
}
