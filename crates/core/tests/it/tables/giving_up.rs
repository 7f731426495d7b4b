//! §5: giving up, landing, and the reach of the lists.

use surefill_core::{
    Cause, GiveUp, Lacking, OrdState, OrdStatus, OrderIntent, Resubmit, Step, Submission, Watch,
};

use super::{
    ASSUMED, PLAIN, REPLAYABLE, UNFENCED, acked, by_absence, doubt, doubt_halt, giving_up, looks,
};
use crate::kit::{
    BOUND, CLOSED_KEPT, Camp, FILLS_KEPT, FenceKind, LAG, T0, TTL, WATCH, at, fill, filled_by,
    intent, report,
};

#[test]
fn assumed_drain_carries_no_new_attempt() {
    let mut bench = doubt(ASSUMED, by_absence());
    assert!(looks(&bench.absent_at(BOUND)));
    assert!(looks(&bench.absent_at(BOUND + LAG)));
    assert_eq!(bench.state(), OrdState::Rejected);
    let until = at(BOUND + LAG + WATCH);
    assert_eq!(bench.row.watch, Some(Watch::Until(until)));
}

#[test]
fn strict_halts_on_an_assumed_drain() {
    let mut bench = doubt(ASSUMED, giving_up(GiveUp::Strict));
    bench.absent_at(BOUND);
    let step = bench.absent_at(BOUND + LAG);
    assert_eq!(doubt_halt(&step), Some(Lacking::DocumentedDrain));
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn without_fence_and_revocation_nothing_is_given_up() {
    let mut bench = doubt(UNFENCED, intent());
    let step = bench.absent_at(T0 + LAG);
    assert_eq!(doubt_halt(&step), Some(Lacking::Fence));
    if let Step::Halt { cause, .. } = step {
        bench.alarms.push(cause);
    }
    for n in 1..50 {
        assert!(looks(&bench.absent_at(T0 + n * 60_000)));
    }
    assert_eq!(bench.state(), OrdState::Reconciling);
    bench.found(&[report(OrdStatus::Filled, "A", Some("3"))]);
    assert_eq!(bench.state(), OrdState::Filled, "the truth still arrives");
}

#[test]
fn land_is_journaled_first() {
    let camp = Camp {
        fence: FenceKind::None,
        ..REPLAYABLE
    };
    let mut bench = doubt(camp, giving_up(GiveUp::Land));
    let step = bench.absent_at(T0 + TTL);
    let landing = bench.log.last().unwrap();
    assert!(landing.land && landing.cancel_requested);
    assert_eq!(landing.durability(), surefill_core::Durability::Sync);
    assert_eq!(step, Step::Cancel, "what may be there is canceled first");
    assert_eq!(bench.resume(), Step::Replay { no: 1 });
    bench.replay();
    bench.replay_answered(&Submission::Acked(report(OrdStatus::Open, "A", None)));
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::Cancel);
}

#[test]
fn land_applies_when_a_cancel_is_asked_in_doubt_and_not_before() {
    let camp = Camp {
        fence: FenceKind::None,
        ..REPLAYABLE
    };
    let never = OrderIntent {
        resubmit: Resubmit::Never,
        ..giving_up(GiveUp::Land)
    };
    let mut bench = doubt(camp, never);
    bench.absent_at(T0 + LAG);
    assert!(!bench.row.land, "fresh and wanted");
    bench.ask_cancel();
    bench.resume();
    assert!(bench.row.land);
}

#[test]
fn land_waits_under_a_declared_halt() {
    let camp = Camp {
        fence: FenceKind::None,
        ..REPLAYABLE
    };
    let mut bench = doubt(camp, giving_up(GiveUp::Land));
    bench.halted = true;
    bench.absent_at(T0 + TTL);
    assert!(!bench.row.land);
    bench.halted = false;
    bench.resume();
    assert!(bench.row.land);
}

#[test]
fn past_retention_never_seen_halts() {
    let mut bench = doubt(PLAIN, intent());
    bench.crash();
    bench.now = T0 + CLOSED_KEPT;
    bench.resume();
    bench.absent_at(T0 + CLOSED_KEPT);
    let step = bench.absent_at(T0 + CLOSED_KEPT + 2 * LAG);
    let step = if let Some(lacking) = doubt_halt(&step) {
        Some(lacking)
    } else {
        doubt_halt(&bench.resume())
    };
    assert_eq!(step, Some(Lacking::Retention));
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn past_retention_seen_before_is_canceled_out_of_memory() {
    let mut bench = acked(PLAIN);
    let now = T0 + 100 + CLOSED_KEPT;
    bench.crash();
    bench.now = now;
    bench.resume();
    bench.absent_at(now);
    assert_eq!(
        bench.state(),
        OrdState::Reconciling,
        "one round is no proof"
    );
    bench.absent_at(now + LAG);
    assert_eq!(bench.state(), OrdState::Canceled);
    assert_eq!(bench.log.last().unwrap().cause, Cause::OutOfMemory);
}

#[test]
fn past_the_retention_of_fills_too_it_halts() {
    let mut bench = acked(PLAIN);
    let now = T0 + 100 + FILLS_KEPT;
    bench.crash();
    bench.now = now;
    bench.resume();
    bench.absent_at(now);
    let step = bench.absent_at(now + LAG);
    assert!(doubt_halt(&step).is_some() || doubt_halt(&bench.resume()).is_some());
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn rounds_from_before_a_report_do_not_count_against_it() {
    let mut bench = doubt(PLAIN, intent());
    bench.absent_at(T0 + 500);
    bench.absent_at(T0 + 500 + 2 * LAG);
    bench.now = T0 + 3_000;
    bench.reported(&report(OrdStatus::Open, "A", None));
    assert_eq!(bench.state(), OrdState::Acked);
    // Past the reach of the closed list one round, which may fall between two lists, is all there is.
    bench.absent_at(T0 + 3_000 + CLOSED_KEPT);
    bench.resume();
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn fills_alone_do_not_keep_an_order_working() {
    // Open and closed lists are past their reach, and the fills' longer list still shows what was executed.
    let mut bench = acked(PLAIN);
    let fills = filled_by(
        report(OrdStatus::NotShown, "A", None),
        &[fill("A", "x1", "1")],
    );
    bench.now = T0 + CLOSED_KEPT;
    assert!(looks(&bench.found(std::slice::from_ref(&fills))));
    assert_eq!(bench.state(), OrdState::Partial);
    let mut halted = None;
    for _ in 0..40 {
        bench.now += 5 * LAG;
        let step = bench.found(std::slice::from_ref(&fills));
        if let Step::Halt { cause, .. } = &step {
            halted = doubt_halt(&step);
            bench.alarms.push(cause.clone());
        } else {
            assert!(
                matches!(step, Step::LookAgain { after } if !after.is_zero() || halted.is_none())
            );
        }
    }
    assert_eq!(bench.state(), OrdState::Reconciling);
    assert_eq!(halted, Some(Lacking::Sight));
    bench.found(&[report(OrdStatus::Filled, "A", Some("3"))]);
    assert_eq!(bench.state(), OrdState::Filled);
}
