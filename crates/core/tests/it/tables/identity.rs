//! §5 and I13: remembered bytes, and ids that are unique.

use surefill_core::{
    DuplicateOf, DuplicateRule, GiveUp, Lacking, OrdState, OrdStatus, Step, Submission, Watch,
};

use super::{PLAIN, REPLAYABLE, UNIQUE, by_absence, doubt, doubt_halt, giving_up, looks};
use crate::kit::{BOUND, Camp, FENCE, FenceKind, LAG, T0, WATCH, intent, ms, no_answer, report};

#[test]
fn remembered_bytes_are_sent_again_before_the_fence_and_prove_nothing() {
    let mut bench = doubt(REPLAYABLE, intent());
    assert_eq!(bench.absent_at(T0 + 500), Step::Replay { no: 1 });
    bench.replay();
    bench.replay_answered(&no_answer());
    assert_eq!(bench.state(), OrdState::Reconciling);
    assert!(looks(&bench.absent_at(T0 + FENCE)), "past the fence");
}

#[test]
fn replays_keep_a_distance() {
    let mut bench = doubt(REPLAYABLE, intent());
    assert_eq!(bench.absent_at(T0 + 500), Step::Replay { no: 1 });
    bench.replay();
    bench.replay_answered(&no_answer());
    assert!(looks(&bench.absent_at(T0 + 501)));
    assert_eq!(bench.absent_at(T0 + 1_000), Step::Replay { no: 1 });
}

#[test]
fn duplicate_bytes_bar_a_new_attempt_not_the_end() {
    let camp = Camp {
        replayable: true,
        ..UNIQUE
    };
    let mut bench = doubt(camp, by_absence());
    assert_eq!(bench.absent_at(T0 + 500), Step::Replay { no: 1 });
    bench.replay();
    bench.replay_answered(&Submission::Duplicate(DuplicateOf::Bytes));
    assert!(bench.row.attempts[0].bytes_known);
    assert!(looks(&bench.absent_at(T0 + 2_000)), "no replay either");
    assert!(looks(&bench.absent_at(BOUND)));
    bench.absent_at(BOUND + LAG);
    assert_eq!(
        bench.state(),
        OrdState::Reconciling,
        "what was taken may show later than the lag"
    );
    bench.absent_at(BOUND + WATCH - 1);
    bench.absent_at(BOUND + WATCH + LAG - 1);
    assert_eq!(bench.state(), OrdState::Reconciling, "one round is early");
    bench.absent_at(BOUND + WATCH + LAG);
    bench.absent_at(BOUND + WATCH + 2 * LAG);
    assert_eq!(bench.state(), OrdState::Rejected);
    assert!(
        matches!(bench.row.watch, Some(Watch::Until(_))),
        "and watched"
    );
}

#[test]
fn strict_halts_on_duplicate_bytes() {
    let mut bench = doubt(REPLAYABLE, giving_up(GiveUp::Strict));
    assert_eq!(bench.absent_at(T0 + 500), Step::Replay { no: 1 });
    bench.replay();
    bench.replay_answered(&Submission::Duplicate(DuplicateOf::Bytes));
    bench.absent_at(BOUND);
    let step = bench.absent_at(BOUND + LAG);
    assert_ne!(doubt_halt(&step), Some(Lacking::DocumentedDrain), "early");
    bench.absent_at(BOUND + WATCH);
    let step = bench.absent_at(BOUND + WATCH + LAG);
    assert_eq!(doubt_halt(&step), Some(Lacking::DocumentedDrain));
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn a_duplicate_id_is_evidence_for_ever() {
    let mut bench = doubt(
        Camp {
            replayable: true,
            ..UNIQUE
        },
        by_absence(),
    );
    assert_eq!(bench.absent_at(T0 + 500), Step::Replay { no: 1 });
    bench.replay();
    bench.replay_answered(&Submission::Duplicate(DuplicateOf::Id));
    assert!(bench.row.admitted());
    let mut halted = None;
    for n in 0..20 {
        let step = bench.absent_at(BOUND + n * 5 * LAG);
        if let Step::Halt { cause, .. } = &step {
            halted = doubt_halt(&step);
            bench.alarms.push(cause.clone());
        } else {
            assert!(looks(&step), "{step:?}");
        }
    }
    assert_eq!(bench.state(), OrdState::Reconciling);
    assert_eq!(halted, Some(Lacking::Sight), "look on, then halt");
}

#[test]
fn a_report_without_an_order_id_is_evidence_for_ever() {
    let mut bench = doubt(PLAIN, intent());
    bench.found(&[report(OrdStatus::NotShown, "", None)]);
    assert!(bench.row.admitted());
}

#[test]
fn an_id_unique_for_ever_is_sent_again_after_a_look() {
    let mut bench = doubt(UNIQUE, intent());
    assert!(looks(&bench.absent_at(T0 + 500)), "a round past the fence");
    assert_eq!(bench.absent_at(BOUND), Step::NewAttempt);
}

#[test]
fn an_id_unique_for_ever_without_a_fence_is_sent_again_after_a_look_each_time() {
    let camp = Camp {
        fence: FenceKind::None,
        ..UNIQUE
    };
    let mut bench = doubt(camp, intent());
    assert_eq!(bench.absent_at(T0 + 500), Step::NewAttempt);
    bench.resend();
    let step = bench.answered(&no_answer());
    assert!(looks(&step), "no attempt without a look: {step:?}");
    assert_eq!(bench.absent_at(T0 + 1_000), Step::NewAttempt);
}

#[test]
fn an_id_unique_within_a_window_is_sent_again_only_inside_it() {
    let camp = |window| Camp {
        duplicate: DuplicateRule::RefusedWithin(ms(window)),
        ..PLAIN
    };
    // Sent at BOUND, it arrives within fence, drain and margin.
    let last = BOUND - T0 + (BOUND - T0 - LAG);
    let mut inside = doubt(camp(last + 1), intent());
    assert_eq!(inside.absent_at(BOUND), Step::NewAttempt);
    let mut outside = doubt(camp(last), intent());
    assert!(looks(&outside.absent_at(BOUND)));
    outside.absent_at(BOUND + LAG);
    assert_eq!(outside.state(), OrdState::Rejected);
}

#[test]
fn an_id_unique_while_open_carries_nothing() {
    let camp = Camp {
        duplicate: DuplicateRule::RefusedWhileOpen,
        ..PLAIN
    };
    let mut bench = doubt(camp, intent());
    assert!(looks(&bench.absent_at(BOUND)));
    assert_eq!(bench.absent_at(BOUND + LAG), Step::Nothing);
    assert_eq!(bench.state(), OrdState::Rejected);
}
