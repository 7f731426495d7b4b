//! §5: which rounds count, and when absence is complete.

use surefill_core::{Lookup, Observation, OrdState, Step, UnknownCause};

use super::{PLAIN, by_absence, doubt, looks};
use crate::kit::{
    BOUND, Camp, FenceKind, H_BOUND, H_FENCE, H0, LAG, T0, TTL, height_at, intent, no_answer,
};

#[test]
fn absence_complete_ends_an_order_that_may_not_be_sent_again() {
    let mut bench = doubt(PLAIN, intent());
    assert!(looks(&bench.absent_at(BOUND)));
    assert_eq!(bench.absent_at(BOUND + LAG), Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Rejected, None));
}

#[test]
fn absence_complete_carries_one_new_attempt_where_the_intent_says_so() {
    let mut bench = doubt(PLAIN, by_absence());
    assert!(looks(&bench.absent_at(BOUND)));
    assert_eq!(bench.absent_at(BOUND + LAG), Step::NewAttempt);
    bench.resend();
    bench.answered(&no_answer());
    let bound = BOUND + LAG + (BOUND - T0);
    assert!(looks(&bench.absent_at(bound)));
    bench.absent_at(bound + LAG);
    assert_eq!(bench.state(), OrdState::Rejected, "it rests on a number");
}

#[test]
fn one_round_is_no_proof() {
    let mut bench = doubt(PLAIN, by_absence());
    assert!(looks(&bench.absent_at(BOUND)));
    for _ in 0..5 {
        bench.now += 10 * LAG;
        assert!(looks(&bench.resume()) || bench.now >= T0 + TTL);
    }
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn a_round_that_began_before_the_bound_is_no_proof() {
    let mut bench = doubt(PLAIN, by_absence());
    assert!(looks(&bench.absent_at(BOUND - 1)));
    assert!(looks(&bench.absent_at(BOUND + LAG)));
    assert_eq!(bench.absent_at(BOUND + 2 * LAG), Step::NewAttempt);
}

#[test]
fn answer_time_instead_of_begun_is_no_proof() {
    let mut bench = doubt(PLAIN, by_absence());
    assert!(looks(&bench.absent(BOUND - 1, BOUND + 500)));
    assert!(looks(&bench.absent(BOUND + 500 + LAG, BOUND + 500 + LAG)));
    let step = bench.absent_at(BOUND + 500 + 2 * LAG);
    assert_eq!(step, Step::NewAttempt);
}

#[test]
fn two_rounds_where_the_second_begins_too_early_are_no_proof() {
    let mut bench = doubt(PLAIN, by_absence());
    assert!(looks(&bench.absent_at(BOUND)));
    assert!(looks(&bench.absent_at(BOUND + LAG - 1)));
    assert_eq!(bench.absent_at(BOUND + LAG), Step::NewAttempt);
}

#[test]
fn the_distance_counts_from_the_first_rounds_end() {
    let mut bench = doubt(PLAIN, by_absence());
    assert!(looks(&bench.absent(BOUND, BOUND + 700)));
    let from_begun = bench.absent(BOUND + LAG, BOUND + LAG + 10);
    assert!(looks(&from_begun), "{from_begun:?}");
    let from_ended = bench.absent_at(BOUND + 700 + LAG);
    assert_eq!(from_ended, Step::NewAttempt);
}

#[test]
fn a_failed_read_makes_the_round_inconclusive() {
    let mut bench = doubt(PLAIN, by_absence());
    assert!(looks(&bench.absent_at(BOUND)));
    bench.now = BOUND + LAG;
    let failed = Lookup::Inconclusive(UnknownCause::new("502"));
    assert!(looks(&bench.see(&Observation::Looked(&failed))));
    assert_eq!(bench.absent_at(BOUND + LAG + 1), Step::NewAttempt);
}

#[test]
fn a_restart_forgets_rounds() {
    let mut bench = doubt(PLAIN, by_absence());
    assert!(looks(&bench.absent_at(BOUND)));
    bench.crash();
    assert!(looks(&bench.resume()));
    assert!(looks(&bench.absent_at(BOUND + LAG)));
    assert_eq!(bench.absent_at(BOUND + 2 * LAG), Step::NewAttempt);
}

#[test]
fn last_fence_of_all_attempts_counts() {
    let mut bench = doubt(PLAIN, by_absence());
    bench.absent_at(BOUND);
    assert_eq!(bench.absent_at(BOUND + LAG), Step::NewAttempt);
    bench.resend();
    bench.answered(&no_answer());
    bench.ask_cancel();
    // Long past the first attempt's bound, not yet past the second's.
    let bound = bench.now + (BOUND - T0);
    bench.absent_at(bound - 2 * LAG);
    bench.absent_at(bound - 1);
    bench.resume();
    assert_eq!(bench.state(), OrdState::Reconciling);
    bench.absent_at(bound);
    bench.absent_at(bound + LAG);
    bench.resume();
    assert_eq!(bench.state(), OrdState::Canceled);
}

#[test]
fn heights_bound_an_attempt_whose_fence_is_one() {
    let camp = Camp {
        fence: FenceKind::Height,
        ..PLAIN
    };
    let mut bench = doubt(camp, by_absence());
    let bound = T0 + (H_BOUND - H0) * 1_000;
    assert_eq!(height_at(bound), H_BOUND);
    assert!(height_at(bound) > H_FENCE);
    assert!(looks(&bench.absent_at(bound - 1_000)));
    assert!(looks(&bench.absent_at(bound)));
    assert!(looks(&bench.absent_at(bound + 1_000)), "a block too early");
    assert_eq!(bench.absent_at(bound + 2_000), Step::NewAttempt);
}

#[test]
fn a_round_by_the_clock_does_not_count_against_a_height() {
    let camp = Camp {
        fence: FenceKind::Height,
        ..PLAIN
    };
    let mut bench = doubt(camp, by_absence());
    for n in 1..5 {
        bench.now = BOUND + n * 5 * LAG;
        let round = PLAIN.round(bench.now, bench.now);
        bench.see(&Observation::Looked(&round));
        assert_eq!(bench.state(), OrdState::Reconciling);
    }
}
