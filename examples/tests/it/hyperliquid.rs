//! The example for Hyperliquid: what it prints, what it never shows, and how it ends where there is no venue.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use surefill_examples::HYPERLIQUID_SIMULATED_KEY;
use surefill_sim::hyperliquid::{Config, hash_action, recover_signer, start};

/// No run takes longer: a minute.
const LOOKS: u32 = 3_000;

/// Arguments, environment, and what is said.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str);

/// The built example: `cargo test -p surefill-examples` builds it beside the tests.
fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/hyperliquid");
    assert!(path.exists(), "{} is not built", path.display());
    path
}

fn run(args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut child = Command::new(example())
        .args(args)
        .env_remove("HYPERLIQUID_KEY")
        .env_remove("HYPERLIQUID_ACCOUNT")
        .envs(env.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut looks = 0;
    while child.try_wait().unwrap().is_none() {
        looks += 1;
        if looks > LOOKS {
            child.kill().unwrap();
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn an_order_is_placed_and_canceled() {
    let output = run(&[], &[]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        shown.contains("is acked") && shown.contains("is canceled"),
        "{shown}"
    );
}

/// The answer to the create is lost: nobody else knows of the order, so it is looked for and canceled.
#[test]
fn an_order_whose_answer_is_lost_is_not_left_behind() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let venue = runtime.block_on(start(Config::default())).unwrap();
    let fault = json!({ "op": "create", "do": "reset_after" });
    let control = |method, path, body| runtime.block_on(venue.control(method, path, body));
    control("POST", "/faults", &fault).unwrap();
    let output = run(&["--url", &venue.url()], &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = text(&output.stdout);
    // It may be found before the placing gives up waiting, or after.
    assert!(shown.contains("is canceled"), "{shown}");
    let orders = control("GET", "/orders", &Value::Null).unwrap();
    let statuses: Vec<&Value> = orders
        .as_array()
        .unwrap()
        .iter()
        .map(|order| &order["status"])
        .collect();
    assert_eq!(statuses, ["canceled"], "{orders}");
}

/// The bytes are those that the venue would take, and nobody is sent them.
#[test]
fn a_dry_run_shows_the_request_and_never_the_key() {
    let output = run(
        &[
            "--dry-run",
            "--symbol",
            "PURR/USDC",
            "--qty",
            "20",
            "--price",
            "4.50",
        ],
        &[],
    );
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let body = shown
        .lines()
        .find(|line| line.starts_with('{'))
        .expect("a body");
    let posted: Value = serde_json::from_str(body).unwrap();
    let order = &posted["action"]["orders"][0];
    assert_eq!(
        (&order["a"], &order["p"], &order["s"]),
        (&10_000.into(), &"4.5".into(), &"20".into())
    );
    assert!(posted["expiresAfter"].as_u64().unwrap() > posted["nonce"].as_u64().unwrap());
    // The simulated venue's own code recovers the signer from these bytes.
    let number = |name: &str| posted[name].as_u64().unwrap();
    let (nonce, expires) = (number("nonce"), Some(number("expiresAfter")));
    let hashed = hash_action(&posted["action"].to_string(), nonce, None, expires, false).unwrap();
    let signature = |name: &str| posted["signature"][name].as_str().unwrap().to_owned();
    let v = posted["signature"]["v"].as_u64().unwrap();
    let signer = recover_signer(&hashed.digest, &signature("r"), &signature("s"), v).unwrap();
    assert!(
        shown.contains(&format!("signer {signer}")),
        "{signer}: {shown}"
    );
    assert!(shown.contains("nothing was sent"), "{shown}");
    for secret in [HYPERLIQUID_SIMULATED_KEY, &HYPERLIQUID_SIMULATED_KEY[2..]] {
        assert!(!shown.contains(secret) && !text(&output.stderr).contains(secret));
    }
}

/// Nobody listens at port 1.
#[test]
fn without_a_venue_it_ends_with_its_code_and_says_why() {
    for more in [&[][..], &["--dry-run"], &["--no-stream"]] {
        let args: Vec<&str> = ["--url", "http://127.0.0.1:1"]
            .iter()
            .chain(more)
            .copied()
            .collect();
        let output = run(&args, &[]);
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        let said = text(&output.stderr);
        assert!(
            said.starts_with("error: the venue cannot be reached: "),
            "{said}"
        );
        assert!(
            !said.contains("panicked") && output.stdout.is_empty(),
            "{output:?}"
        );
    }
}

#[test]
fn what_is_wrong_from_the_start_is_named_and_keys_are_not_shown() {
    let short = &HYPERLIQUID_SIMULATED_KEY[..40];
    let cases: [Case<'_>; 7] = [
        (&["--testnet"], &[], "HYPERLIQUID_KEY is not set"),
        (
            &["--testnet"],
            &[("HYPERLIQUID_KEY", short)],
            "HYPERLIQUID_KEY: ",
        ),
        (
            &["--testnet"],
            &[("HYPERLIQUID_KEY", "hush hush")],
            "HYPERLIQUID_KEY: ",
        ),
        (
            &["--testnet"],
            &[
                ("HYPERLIQUID_KEY", HYPERLIQUID_SIMULATED_KEY),
                ("HYPERLIQUID_ACCOUNT", "0x12"),
            ],
            "HYPERLIQUID_ACCOUNT: ",
        ),
        (
            &["--testnet", "--url", "http://127.0.0.1:1"],
            &[],
            "cannot be used with",
        ),
        (&["--qty", "much"], &[], "qty \"much\""),
        (&["--price", "50000.55"], &[], "50000"),
    ];
    for (args, env, part) in cases {
        let output = run(args, env);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(said.contains(part), "{args:?}: {said}");
        for secret in [short, "hush", &HYPERLIQUID_SIMULATED_KEY[2..]] {
            assert!(
                !said.contains(secret) && !text(&output.stdout).contains(secret),
                "{said}"
            );
        }
    }
}
