//! A profile or an attempt that claims too much is found out by what the venue does.

use std::time::Duration;

use surefill_bybit::Category;
use surefill_core::DuplicateRule;
use surefill_probe::{Duplicate, FenceSeen, Report};

use crate::liar::{Liar, Lie};
use crate::world::World;

async fn with(lie: Lie, rule: &str) -> Report {
    let world = World::new().await;
    world.rule(rule).await;
    let inner = world.bybit(Category::Linear);
    let report = world.probe(Liar { inner, lie }).await;
    world.is_clean().await;
    report.expect("a report")
}

fn differs(report: &Report, text: &str) {
    assert!(!report.agrees);
    let found = report.differences.iter().any(|one| one.contains(text));
    assert!(found, "{:?}", report.differences);
}

/// The venue takes a request for longer than the adapter says.
#[tokio::test]
async fn a_fence_that_the_venue_does_not_keep_is_found() {
    let early = Duration::from_millis(600);
    let report = with(Lie { early, ..Lie::NONE }, "refused_forever").await;
    assert_eq!(report.fence, FenceSeen::NotEnforced);
    differs(
        &report,
        "fence: the profile has one, and a request after it became an order",
    );
}

#[tokio::test]
async fn lookups_that_are_slower_than_said_are_measured() {
    let blind = Duration::from_millis(400);
    let report = with(Lie { blind, ..Lie::NONE }, "refused_forever").await;
    let lag = report.visibility_lag_ms.expect("shown in the end");
    assert!(lag >= 400, "{lag}");
    differs(
        &report,
        "visibility_lag_ms: the profile says at most 150, it took ",
    );
    // What is seen late is told right all the same.
    assert_eq!(report.duplicate, Duplicate::RefusedForever);
}

/// A lookup that takes longer than any lag and cannot be read is none that showed nothing.
#[tokio::test]
async fn a_lookup_that_comes_late_is_no_sign_of_a_lag() {
    let stalled = Duration::from_millis(2_500);
    let lie = Lie {
        stalled,
        ..Lie::NONE
    };
    let report = with(lie, "refused_forever").await;
    assert!(report.agrees, "{report:?}");
}

#[tokio::test]
async fn a_second_order_that_shows_late_is_counted() {
    let blind = Duration::from_millis(400);
    let report = with(Lie { blind, ..Lie::NONE }, "accepted").await;
    assert_eq!(report.duplicate, Duplicate::Accepted);
}

#[tokio::test]
async fn bytes_that_are_not_remembered_are_found() {
    let lie = Lie {
        replayable: true,
        ..Lie::NONE
    };
    let report = with(lie, "while_open").await;
    differs(
        &report,
        "replay: the attempts say that their bytes are remembered, and the venue did while_open",
    );
}

/// The report is the venue's, and only the differences are the profile's.
#[tokio::test]
async fn the_profile_changes_nothing_but_the_differences() {
    let lie = Lie {
        duplicate: Some(DuplicateRule::Accepted),
        ..Lie::NONE
    };
    let report = with(lie, "refused_forever").await;
    assert_eq!(report.duplicate, Duplicate::RefusedForever);
    differs(
        &report,
        "duplicate: the profile says accepted, the venue did refused_forever",
    );
}

#[tokio::test]
async fn where_there_are_no_market_orders_limits_take() {
    let lie = Lie {
        no_market: true,
        ..Lie::NONE
    };
    let report = with(lie, "refused_forever").await;
    assert!(report.agrees, "{report:?}");
    assert_ne!(report.after_fill, surefill_probe::Reuse::NotTested);
}
