//! With the rules of the simulator changed, the probe reports the changed rule.

use surefill_bybit::Category;
use surefill_probe::{Duplicate, FenceSeen, Replay, Report, Reuse};

use crate::world::World;

async fn under(word: &str) -> Report {
    let world = World::new().await;
    world.rule(word).await;
    let report = world.probe(world.bybit(Category::Linear)).await;
    world.is_clean().await;
    let report = report.expect("a report");
    assert_eq!(report.duplicate.as_str(), word);
    assert_eq!(report.fence, FenceSeen::Enforced);
    assert!(report.visibility_lag_ms.is_some());
    assert_eq!(report.agrees, report.differences.is_empty());
    // The simulator gives an id to an accepted order only.
    assert_eq!(report.after_refusal, Reuse::Accepted);
    report
}

fn about(report: &Report) -> Vec<&str> {
    let names = report.differences.iter();
    names
        .map(|text| text.split_once(':').expect("a name").0)
        .collect()
}

#[tokio::test]
async fn refused_forever_is_what_the_profile_says() {
    let report = under("refused_forever").await;
    assert_eq!(report.replay, Replay::Refused);
    assert_eq!(
        (report.after_fill, report.after_cancel),
        (Reuse::Refused, Reuse::Refused)
    );
    assert!(report.differences.is_empty(), "{report:?}");
    assert!(report.agrees);
}

#[tokio::test]
async fn refused_day_is_told_from_for_ever() {
    let report = under("refused_day").await;
    assert_eq!(report.replay, Replay::Refused);
    assert_eq!(
        (report.after_fill, report.after_cancel),
        (Reuse::Refused, Reuse::Refused)
    );
    assert_eq!(
        report.differences,
        ["duplicate: the profile says refused_forever, the venue did refused_day"]
    );
}

#[tokio::test]
async fn while_open_takes_the_id_again_after_each_end() {
    let report = under("while_open").await;
    assert_eq!(report.replay, Replay::WhileOpen);
    assert_eq!(
        (report.after_fill, report.after_cancel),
        (Reuse::Accepted, Reuse::Accepted)
    );
    assert_eq!(about(&report), ["duplicate", "after_fill", "after_cancel"]);
}

#[tokio::test]
async fn returns_existing_names_the_first_order() {
    let report = under("returns_existing").await;
    assert_eq!(report.replay, Replay::ReturnsExisting);
    let ends = (report.after_fill, report.after_cancel);
    assert_eq!(ends, (Reuse::ReturnsExisting, Reuse::ReturnsExisting));
    assert_eq!(about(&report), ["duplicate", "after_fill", "after_cancel"]);
}

#[tokio::test]
async fn accepted_is_two_orders() {
    let report = under("accepted").await;
    assert_eq!(report.replay, Replay::Accepted);
    assert_eq!(
        (report.after_fill, report.after_cancel),
        (Reuse::Accepted, Reuse::Accepted)
    );
    assert_eq!(about(&report), ["duplicate", "after_fill", "after_cancel"]);
    assert_eq!(report.duplicate, Duplicate::Accepted);
}

#[tokio::test]
async fn spot_and_inverse_are_probed_as_well() {
    for category in [Category::Spot, Category::Inverse] {
        let world = World::new().await;
        let report = world.probe(world.bybit(category)).await.expect("a report");
        assert!(report.agrees, "{category:?}: {report:?}");
        assert_eq!(report.after_fill, Reuse::Refused, "{category:?}");
        world.is_clean().await;
    }
}

/// Without the control port nothing can be held, and no day ends.
#[tokio::test]
async fn without_a_control_port_the_fence_is_not_tested() {
    let world = World::new().await;
    world.rule("while_open").await;
    let options = surefill_probe::Options {
        sim: None,
        ..world.options()
    };
    let connect = Box::new(world.bybit(Category::Linear));
    let report = surefill_probe::probe(connect, options, &Default::default()).await;
    let report = report.expect("a report");
    assert_eq!(report.fence, FenceSeen::NotTested);
    assert_eq!(report.duplicate, Duplicate::WhileOpen);
    world.is_clean().await;
}

#[tokio::test]
async fn a_report_has_the_names_that_scripts_read() {
    let world = World::new().await;
    let report = world
        .probe(world.bybit(Category::Linear))
        .await
        .expect("a report");
    let mut json = serde_json::to_value(&report).expect("JSON");
    json["visibility_lag_ms"] = serde_json::json!(7);
    let expected = serde_json::json!({
        "venue": "sim",
        "duplicate": "refused_forever",
        "replay": "refused",
        "fence": "enforced",
        "visibility_lag_ms": 7,
        "after_fill": "refused",
        "after_cancel": "refused",
        "after_refusal": "accepted",
        "agrees": true,
        "differences": [],
    });
    assert_eq!(json, expected);
}

/// The durations of the real venue, as without `[timing]`.
#[tokio::test]
async fn with_the_real_durations_it_agrees_as_well() {
    let world = World::new().await;
    let venue = surefill_bybit::Bybit::simulator(&world.sim.url(), crate::world::keys());
    let report = world.probe(venue).await.expect("a report");
    assert!(report.agrees, "{report:?}");
    assert_eq!(report.fence, FenceSeen::Enforced);
    world.is_clean().await;
}
