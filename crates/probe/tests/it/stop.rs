//! Stopped at any moment, and with answers lost, a probe leaves nothing behind.

use std::time::Duration;

use serde_json::json;
use surefill_bybit::Category;
use surefill_probe::{ProbeError, probe};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// Stops once so many creates have reached the venue.
async fn stopped_after(creates: usize) -> bool {
    let world = World::new().await;
    world.rule("accepted").await;
    let stop = CancellationToken::new();
    let connect = Box::new(world.bybit(Category::Linear));
    let options = world.options();
    let run = probe(connect, options, &stop);
    let watch = async {
        while world.creates().await < creates && !stop.is_cancelled() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.cancel();
        std::future::pending::<()>().await
    };
    let outcome = tokio::select! {
        outcome = run => outcome,
        () = watch => unreachable!("it is pending"),
    };
    let stopped = matches!(outcome, Err(ProbeError::Stopped));
    assert!(stopped || outcome.is_ok(), "{creates}: {outcome:?}");
    world.is_clean().await;
    // What is still held acts now, and becomes nothing.
    world.post("/clock", json!({"advance_ms": 60_000})).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    world.is_clean().await;
    stopped
}

#[tokio::test]
async fn stopped_at_any_create_it_leaves_nothing() {
    let mut all = JoinSet::new();
    for creates in [1, 2, 4, 7, 10, 13, 16, 19, 20, 22] {
        all.spawn(stopped_after(creates));
    }
    let stopped = all.join_all().await;
    let stopped = stopped.into_iter().filter(|stopped| *stopped).count();
    assert!(stopped >= 7, "{stopped}");
}

#[tokio::test]
async fn stopped_before_it_began_it_sends_nothing() {
    let world = World::new().await;
    let stop = CancellationToken::new();
    stop.cancel();
    let connect = Box::new(world.bybit(Category::Linear));
    let outcome = probe(connect, world.options(), &stop).await;
    assert!(matches!(outcome, Err(ProbeError::Stopped)));
    assert_eq!(world.creates().await, 0);
}

/// A create whose answer is lost is no verdict: the case is begun anew, or there is no report.
#[tokio::test]
async fn lost_answers_never_make_a_false_report() {
    let mut all = JoinSet::new();
    for (nth, fault) in [
        (1, "reset_after"),
        (3, "reset_before"),
        (4, "act_then_status:504"),
        (6, "reset_after"),
        (9, "truncate"),
        (12, "reset_before"),
    ] {
        all.spawn(async move {
            let world = World::new().await;
            world.rule("while_open").await;
            let body = json!({"op": "create", "nth": nth, "do": fault});
            world.post("/faults", body).await;
            let outcome = world.probe(world.bybit(Category::Linear)).await;
            world.is_clean().await;
            match outcome {
                Ok(report) => {
                    assert_eq!(report.duplicate.as_str(), "while_open", "{nth} {fault}");
                    true
                }
                Err(ProbeError::Inconclusive(_)) => false,
                Err(error) => panic!("{nth} {fault}: {error}"),
            }
        });
    }
    // One lost answer is no reason to give up.
    let reports = all.join_all().await;
    assert!(reports.into_iter().any(|report| report));
}
