//! I10: a refusal speaks only of the send that it answers.

use surefill_core::{Observation, OrdState, Reject, Revocation, Step, Submission, Watch};

use super::{PLAIN, REPLAYABLE, REVOCABLE, UNIQUE, doubt, looks};
use crate::kit::{BOUND, Bench, Camp, FENCE, LAG, T0, intent, not_taken, refusal};

/// Refused in answer to its only copy, where a refusal does not use up the bytes.
pub(super) fn refused(camp: Camp) -> Bench {
    let mut bench = Bench::placed(camp, intent());
    let step = bench.answered(&refusal());
    assert!(looks(&step), "{step:?}");
    assert_eq!(
        (bench.state(), bench.row.watch),
        (OrdState::Rejected, Some(Watch::UntilAbsent))
    );
    bench
}

#[test]
fn the_refusal_of_the_only_copy_is_final_and_watched() {
    let mut bench = refused(PLAIN);
    assert!(bench.row.unfinished());
    assert!(looks(&bench.absent_at(T0 + 1_000)));
    assert!(looks(&bench.absent_at(BOUND)));
    assert_eq!(bench.absent_at(BOUND + LAG), Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Rejected, None));
    assert!(!bench.row.unfinished());
}

#[test]
fn a_refusal_that_uses_up_the_bytes_is_not_watched() {
    let camp = Camp {
        uses_up: true,
        ..PLAIN
    };
    let mut bench = Bench::placed(camp, intent());
    assert_eq!(bench.answered(&refusal()), Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Rejected, None));
}

#[test]
fn the_refusal_of_keys_uses_nothing_up_and_is_watched() {
    let camp = Camp {
        uses_up: true,
        ..PLAIN
    };
    let mut bench = Bench::placed(camp, intent());
    let Submission::Rejected(reject) = refusal() else {
        panic!("no refusal");
    };
    bench.answered(&Submission::Rejected(Reject {
        halts_account: true,
        ..reject
    }));
    assert_eq!(bench.state(), OrdState::Rejected);
    assert_eq!(bench.row.watch, Some(Watch::UntilAbsent));
}

/// A refusal that is not known to have used the bytes up, at a venue where most do.
#[test]
fn a_refusal_that_leaves_the_bytes_is_watched() {
    let camp = Camp {
        uses_up: true,
        ..PLAIN
    };
    let mut bench = Bench::placed(camp, intent());
    let Submission::Rejected(reject) = refusal() else {
        panic!("no refusal");
    };
    bench.answered(&Submission::Rejected(Reject {
        leaves_bytes: true,
        ..reject
    }));
    assert_eq!(bench.state(), OrdState::Rejected);
    assert_eq!(bench.row.watch, Some(Watch::UntilAbsent));
}

#[test]
fn the_refusal_of_a_replay_is_no_verdict() {
    let mut bench = doubt(REPLAYABLE, intent());
    assert_eq!(bench.absent_at(T0 + 1_000), Step::Replay { no: 1 });
    bench.replay();
    bench.replay_answered(&refusal());
    assert_eq!(bench.state(), OrdState::Reconciling);
    assert!(!bench.row.attempts[0].refused);
}

#[test]
fn the_refusal_of_bytes_that_were_turned_away_before_is_no_verdict() {
    let mut bench = Bench::placed(REPLAYABLE, intent());
    bench.answered(&not_taken());
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::Replay { no: 1 });
    bench.replay();
    assert_eq!(bench.state(), OrdState::Submitted);
    bench.replay_answered(&refusal());
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn a_refusal_after_a_restart_is_no_verdict() {
    let mut bench = Bench::placed(REPLAYABLE, intent());
    bench.crash();
    bench.resume();
    bench.replay();
    bench.replay_answered(&refusal());
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn the_refusal_of_a_second_attempt_waits_for_the_first() {
    let mut bench = doubt(UNIQUE, intent());
    assert_eq!(bench.absent_at(BOUND), Step::NewAttempt);
    bench.resend();
    bench.answered(&refusal());
    assert_eq!(bench.state(), OrdState::Reconciling);
    assert!(bench.row.attempts[1].refused);
    // Nothing more is sent, and absence ends it.
    let fence = BOUND + FENCE + (BOUND - T0 - FENCE);
    assert!(looks(&bench.absent_at(fence)));
    bench.absent_at(fence + LAG);
    assert_eq!(bench.state(), OrdState::Rejected);
}

#[test]
fn the_refusal_of_a_second_attempt_is_final_after_a_revocation() {
    let mut bench = doubt(REVOCABLE, intent());
    assert_eq!(bench.absent_at(T0 + 500), Step::Revoke { no: 1 });
    let step = bench.see(&Observation::Revoked {
        no: 1,
        answer: &Revocation::Revoked,
    });
    assert_eq!(step, Step::NewAttempt);
    bench.resend();
    bench.answered(&refusal());
    assert_eq!(bench.state(), OrdState::Rejected);
}
