//! The order of system calls: the attempt is on the disk before the first byte of its request is written.
//!
//! This binary runs once more as a bot of its own, under `strace`; the venue stays here, so that its calls are not traced.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use surefill_bybit::Bybit;
use surefill_core::{Cold, Placement};
use surefill_store_sqlite::SqliteStore;
use surefill_store_sqlite::tap::Options;

use crate::server::keys;
use crate::stage::{ALIAS, Fate, Stage};
use crate::world::timing;

/// Where the bot finds what it is to do: the venue's address, the journal, and the decision's time. Only set for a child.
const URL: &str = "SUREFILL_TEST_CHILD_URL";
const JOURNAL: &str = "SUREFILL_TEST_CHILD_JOURNAL";
const DECIDED_AT: &str = "SUREFILL_TEST_CHILD_DECIDED_AT";
const UNSYNCED: &str = "SUREFILL_TEST_CHILD_UNSYNCED";

/// Names the intent, so that its bytes are known in the journal's log.
const STRATEGY: &str = "order-of-calls";

/// The first bytes of the request.
const REQUEST: &str = "\"POST /v5/order/create ";

/// A bot that places one order. In the run that everybody sees it does nothing.
#[test]
fn placed_by_a_child() {
    let Ok(url) = std::env::var(URL) else { return };
    let var = |name| std::env::var(name).expect("told");
    let decided_at = var(DECIDED_AT).parse().expect("ms");
    let options = Options {
        unsynced: std::env::var_os(UNSYNCED).is_some(),
        ..Options::default()
    };
    let rt = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    rt.block_on(async {
        let store = SqliteStore::open_with(var(JOURNAL), options).expect("a journal");
        // Under strace all takes longer than the short numbers of other tests allow.
        let slow = surefill_bybit::Timing {
            receive_window_ms: 5_000,
            ..timing()
        };
        let venue = Bybit::simulator(&url, keys()).with_timing(slow);
        let cold = Cold::new(store).venue(ALIAS, venue.without_stream());
        let (engine, _) = cold.recover().await.expect("recovered");
        let intent = Stage::intent_of(STRATEGY, decided_at, Fate::Rests);
        let placed = engine.place(intent).await.expect("placed");
        assert!(matches!(placed, Placement::Live(_)), "{placed:?}");
        let stopped = engine.shutdown(crate::stage::BOUND).await;
        stopped.expect("a clean stop");
    });
}

/// Runs the bot under strace; what strace wrote.
async fn traced(unsynced: bool) -> Result<String, String> {
    let stage = Stage::without_stream().await;
    let folder = tempfile::TempDir::new().expect("a folder");
    let trace = folder.path().join("trace");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-y", "-s", "65536", "-o"])
        .arg(&trace)
        .arg("-e")
        .arg("trace=fsync,fdatasync,sync_file_range,msync,write,pwrite64,writev,pwritev,sendto,sendmsg")
        .arg(std::env::current_exe().expect("this binary"))
        .args(["--exact", "syscalls::placed_by_a_child", "--nocapture"])
        .env(URL, stage.sim.url())
        .env(JOURNAL, folder.path().join("orders.db"))
        .env(DECIDED_AT, stage.now_ms().await.to_string())
        .stdin(Stdio::null());
    if unsynced {
        strace.env(UNSYNCED, "1");
    }
    let ran = tokio::task::spawn_blocking(move || strace.output()).await;
    let ran: Output = ran.expect("waited").map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    if !ran.status.success() {
        let refused = said.contains("PTRACE") || said.contains("ptrace");
        assert!(
            refused,
            "the bot: {said} {}",
            String::from_utf8_lossy(&ran.stdout)
        );
        return Err(said);
    }
    assert_eq!(stage.creates().await, 1);
    assert_eq!(stage.orders().await, 1);
    Ok(read(&trace))
}

fn read(trace: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(trace).expect("a trace")).into_owned()
}

/// The trace, or nothing where there is no strace and nobody demands it.
async fn traced_if_possible(unsynced: bool) -> Option<String> {
    match traced(unsynced).await {
        Ok(trace) => Some(trace),
        Err(why) => {
            let required = std::env::var("SUREFILL_REQUIRE").unwrap_or_default();
            let required = required.split(',').any(|part| part == "strace");
            assert!(!required, "strace is required: {why}");
            println!("skipped, there is no strace here: {why}");
            None
        }
    }
}

/// One system call: the lines of the trace at which it began and returned.
#[derive(Debug)]
struct Called<'t> {
    name: &'t str,
    args: &'t str,
    begun: usize,
    returned: usize,
}

/// The calls of a trace, those of one thread put together from their two halves where others came between.
fn calls(trace: &str) -> Vec<Called<'_>> {
    let lines: Vec<&str> = trace.lines().collect();
    let mut calls = Vec::new();
    for (begun, line) in lines.iter().enumerate() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, args)) = rest.trim_start().split_once('(') else {
            continue;
        };
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let returned = if line.ends_with("<unfinished ...>") {
            let resumed = format!("<... {name} resumed>");
            let end = lines.iter().enumerate().skip(begun).find(|(_, line)| {
                line.split_once(' ').is_some_and(|(who, rest)| {
                    who == thread && rest.trim_start().starts_with(&resumed)
                })
            });
            end.map(|(at, line)| (at, *line))
        } else {
            Some((begun, *line))
        };
        // A call that failed or never returned did nothing.
        if let Some((returned, end)) = returned
            && !end.contains(" = -1 ")
        {
            calls.push(Called {
                name,
                args,
                begun,
                returned,
            });
        }
    }
    calls
}

/// Whether a sync of the journal's log begun after the attempt was written to it, and returned before the request's first byte.
fn synced_before_sent(trace: &str) -> Result<(), String> {
    let calls = calls(trace);
    let of_log = |call: &&Called<'_>| {
        let file = call.args.split_once('>').map_or("", |(file, _)| file);
        file.ends_with("orders.db-wal")
    };
    let writes = [
        "write", "pwrite64", "writev", "pwritev", "sendto", "sendmsg",
    ];
    let sent = calls
        .iter()
        .find(|call| writes.contains(&call.name) && call.args.contains(REQUEST));
    let sent = sent.ok_or("no request was sent")?;
    let written = calls
        .iter()
        .filter(of_log)
        .filter(|call| writes.contains(&call.name) && call.args.contains(STRATEGY))
        .find(|call| call.begun < sent.begun);
    let written = written.ok_or("the attempt was not written before its request")?;
    // The whole commit: every write to the log from there to the request.
    let last = calls
        .iter()
        .filter(of_log)
        .filter(|call| writes.contains(&call.name) && call.begun < sent.begun)
        .map(|call| call.returned)
        .max()
        .unwrap_or(written.returned);
    let synced = calls.iter().filter(of_log).any(|call| {
        let sync = matches!(call.name, "fsync" | "fdatasync");
        sync && call.begun > last && call.returned < sent.begun
    });
    if synced {
        Ok(())
    } else {
        Err(format!(
            "no sync of the log returned between line {} of the trace, the attempt's last write, and line {}, the request",
            last + 1,
            sent.begun + 1
        ))
    }
}

#[tokio::test]
async fn the_attempt_is_synced_before_its_request_is_written() {
    if let Some(trace) = traced_if_possible(false).await {
        let said = synced_before_sent(&trace);
        said.unwrap_or_else(|why| panic!("{why}\n{trace}"));
    }
}

/// The twin: where the journal waits for no disk, the check says so.
#[tokio::test]
async fn a_journal_that_does_not_sync_is_found_out() {
    if let Some(trace) = traced_if_possible(true).await {
        let said = synced_before_sent(&trace);
        let why = said.expect_err("the check cannot fail");
        assert!(why.starts_with("no sync of the log returned"), "{why}");
    }
}

#[test]
fn a_trace_is_read_as_strace_writes_it() {
    let log = "</f/orders.db-wal>";
    let right = [
        format!("7 pwrite64(9{log}, \"head\", 24, 0) = 24"),
        format!("7 pwrite64(9{log}, \"..order-of-calls..\", 2048, 24) = 2048"),
        format!("7 fdatasync(9{log} <unfinished ...>"),
        "8 write(4<anon_inode:[eventfd]>, \"\\1\", 8) = 8".to_owned(),
        "7 <... fdatasync resumed>) = 0".to_owned(),
        "8 sendto(11<socket:[5]>, \"POST /v5/order/create HTTP/1.1\", 30, 0, NULL, 0) = 30"
            .to_owned(),
    ];
    assert_eq!(synced_before_sent(&right.join("\n")), Ok(()));
    // The request leaves while the sync is under way.
    let mut wrong = right.clone();
    wrong.swap(4, 5);
    assert!(synced_before_sent(&wrong.join("\n")).is_err());
    // The sync was that of something earlier.
    let mut wrong = right.clone();
    wrong.swap(1, 4);
    wrong.swap(1, 2);
    assert!(synced_before_sent(&wrong.join("\n")).is_err());
    // The sync failed.
    let mut wrong = right.clone();
    wrong[4] = "7 <... fdatasync resumed>) = -1 EIO (Input/output error)".to_owned();
    assert!(synced_before_sent(&wrong.join("\n")).is_err());
    // Another file was synced.
    let mut wrong = right;
    wrong[2] = wrong[2].replace("orders.db-wal", "orders.db");
    assert!(synced_before_sent(&wrong.join("\n")).is_err());
}
