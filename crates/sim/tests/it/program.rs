//! The program: its ready line, its exit codes, its end.

use std::{net::SocketAddr, process::Stdio};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

use surefill_sim::bybit::Login;

use crate::support::{BOUND, request, send, signed_by};

fn program(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefill-sim"));
    command
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

async fn exit_code(mut child: Child) -> Option<i32> {
    tokio::time::timeout(BOUND, child.wait())
        .await
        .expect("it ends")
        .unwrap()
        .code()
}

/// What the program says, a line at a time; it needs someone who listens for as long as it starts.
type Said = Lines<BufReader<ChildStdout>>;

fn said(child: &mut Child) -> Said {
    BufReader::new(child.stdout.take().unwrap()).lines()
}

async fn next(said: &mut Said) -> Value {
    let line = tokio::time::timeout(BOUND, said.next_line())
        .await
        .expect("a line")
        .unwrap()
        .unwrap();
    serde_json::from_str(&line).unwrap()
}

async fn ready(child: &mut Child) -> Value {
    next(&mut said(child)).await
}

async fn terminate(child: Child) {
    let pid = child.id().unwrap().to_string();
    let killed = Command::new("kill")
        .args(["-TERM", &pid])
        .status()
        .await
        .unwrap();
    assert!(killed.success());
    assert_eq!(exit_code(child).await, Some(0));
}

#[tokio::test]
async fn it_says_where_it_listens_and_stops_cleanly() {
    for args in [
        &["run", "--venue", "bybit", "--seed", "3"][..],
        &["--venue=bybit"],
    ] {
        let mut child = program(args);
        let line = ready(&mut child).await;
        assert_eq!(
            (&line["ready"], &line["venue"], &line["journal"]),
            (&true.into(), &"bybit".into(), &Value::Null)
        );
        assert_eq!(line["pid"], child.id().unwrap());
        let rest = line["rest"].as_str().unwrap();
        let addr = rest.strip_prefix("http://").unwrap();
        assert_eq!(line["ws"], format!("ws://{addr}"));
        assert_eq!(line["control"], format!("http://{addr}/_sim"));
        let answer = send(
            addr.parse().unwrap(),
            request("GET", "/_sim/orders", &[], ""),
        )
        .await
        .unwrap();
        assert_eq!(answer.json(), Value::Array(Vec::new()));
        let (_, port) = addr.split_once(':').unwrap();
        assert_eq!(
            exit_code(program(&["--venue", "bybit", "--port", port])).await,
            Some(6),
            "the port is taken"
        );
        terminate(child).await;
    }
}

#[tokio::test]
async fn several_venues_say_in_order_where_each_listens() {
    for (list, venues) in [
        ("all", ["bybit", "hyperliquid"]),
        ("hyperliquid,bybit", ["hyperliquid", "bybit"]),
    ] {
        let mut child = program(&["--venue", list]);
        let mut said = said(&mut child);
        let mut ports = Vec::new();
        for venue in venues {
            let line = next(&mut said).await;
            assert_eq!(line["venue"], venue);
            let addr: SocketAddr = line["rest"].as_str().unwrap()["http://".len()..]
                .parse()
                .unwrap();
            let answer = send(addr, request("GET", "/_sim/orders", &[], ""));
            assert_eq!(answer.await.unwrap().json(), Value::Array(Vec::new()));
            ports.push(addr.port());
        }
        assert_ne!(ports[0], ports[1]);
        terminate(child).await;
    }
}

#[tokio::test]
async fn a_file_of_several_venues_has_accounts_for_each() {
    let dir = tempfile::tempdir().unwrap();
    let accounts = dir.path().join("accounts.json");
    let more = r#"{
        "bybit": [{"uid":"1003","api_key":"K3","api_secret":"S3"}],
        "hyperliquid": [{"address":"0x00000000000000000000000000000000000000AA"}]
    }"#;
    std::fs::write(&accounts, more).unwrap();
    let mut child = program(&["--venue", "all", "--accounts", accounts.to_str().unwrap()]);
    let mut said = said(&mut child);
    let (_, line) = (next(&mut said).await, next(&mut said).await);
    let addr = line["rest"].as_str().unwrap()["http://".len()..]
        .parse()
        .unwrap();
    let asked = r#"{"type":"userRole","user":"0x00000000000000000000000000000000000000aa"}"#;
    let answer = send(addr, request("POST", "/info", &[], asked))
        .await
        .unwrap();
    assert_eq!(answer.json(), serde_json::json!({ "role": "user" }));
    terminate(child).await;
}

#[tokio::test]
async fn wrong_arguments_are_a_usage_error() {
    for args in [
        &["--venue", "nowhere"][..],
        &["--venue", "bybit,bybit"],
        &["--venue", "bybit,hyperliquid", "--port", "65535"],
        &[],
        &["--port", "1"],
        &["--venue", "bybit", "--seed", "x"],
        &["verify"],
    ] {
        assert_eq!(exit_code(program(args)).await, Some(2), "{args:?}");
    }
}

#[tokio::test]
async fn a_journal_is_verified_and_accounts_are_added() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal");
    let accounts = dir.path().join("accounts.json");
    // One more account, and other limits for a key that is built in.
    let more = r#"[
        {"uid":"1003","api_key":"K3","api_secret":"S3","orders_per_s":500},
        {"uid":"1001","api_key":"SUREFILLFAKEKEY001","api_secret":"other","reads_per_s":7}
    ]"#;
    std::fs::write(&accounts, more).unwrap();
    let (journal, accounts) = (journal.to_str().unwrap(), accounts.to_str().unwrap());
    let mut child = program(&[
        "--venue",
        "bybit",
        "--journal",
        journal,
        "--accounts",
        accounts,
    ]);
    let line = ready(&mut child).await;
    assert_eq!(line["journal"], journal);
    let addr = line["rest"]
        .as_str()
        .unwrap()
        .strip_prefix("http://")
        .unwrap()
        .parse()
        .unwrap();
    let now: u64 = send(addr, request("GET", "/v5/market/time", &[], ""))
        .await
        .unwrap()
        .json()["time"]
        .as_u64()
        .unwrap();
    for (uid, key, secret, limit) in [
        (1003, "K3", "S3", "50"),
        (1001, "SUREFILLFAKEKEY001", "other", "7"),
    ] {
        let login = Login::new("", key, secret);
        let asked = signed_by(&login, "GET", "/v5/user/query-api", "", "", now, 60_000);
        let answer = send(addr, asked).await.unwrap();
        assert_eq!(answer.json()["result"]["userID"], uid);
        assert_eq!(answer.header("X-Bapi-Limit"), Some(limit));
    }
    let pid = child.id().unwrap().to_string();
    assert!(
        Command::new("kill")
            .args(["-KILL", &pid])
            .status()
            .await
            .unwrap()
            .success()
    );
    assert_eq!(exit_code(child).await, None);
    assert_eq!(exit_code(program(&["verify", journal])).await, Some(0));
    let events = format!("{journal}/bybit/events.jsonl");
    let text = std::fs::read_to_string(&events)
        .unwrap()
        .replace("1003", "1004");
    std::fs::write(&events, text).unwrap();
    assert_eq!(exit_code(program(&["verify", journal])).await, Some(1));
    assert_eq!(
        exit_code(program(&["--venue", "bybit", "--journal", journal])).await,
        Some(8)
    );
}
