//! §3: answers to the first send, and what may be sent again from Pending.

use surefill_core::{
    Copies, NotSent, OrdState, OrdStatus, OrderIntent, Resubmit, Step, Submission, Watch,
};

use super::{PLAIN, REPLAYABLE, REVOCABLE, UNIQUE, acked, doubt, looks};
use crate::kit::{BOUND, Bench, Camp, FENCE, LAG, T0, TTL, intent, ms, not_taken, report};

#[test]
fn an_answer_names_the_order() {
    let bench = acked(PLAIN);
    assert_eq!(bench.row.order_id().unwrap().as_str(), "A");
    assert!(bench.row.admitted());
}

#[test]
fn an_answer_may_end_the_order_at_once() {
    for (status, cum_qty, expected) in [
        (OrdStatus::Filled, Some("3"), OrdState::Filled),
        (OrdStatus::Open, Some("1"), OrdState::Partial),
        (OrdStatus::Canceled, Some("0"), OrdState::Canceled),
        (OrdStatus::Rejected, None, OrdState::Rejected),
    ] {
        let mut bench = Bench::placed(PLAIN, intent());
        bench.answered(&Submission::Acked(report(status, "A", cum_qty)));
        assert_eq!(bench.state(), expected);
    }
}

#[test]
fn not_sent_is_built_again_at_once() {
    let mut bench = Bench::placed(REVOCABLE, intent());
    let step = bench.answered(&Submission::NotSent(NotSent::Connect("refused".into())));
    assert_eq!(bench.state(), OrdState::Pending);
    assert!(matches!(step, Step::Wait { .. }), "{step:?}");
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::NewAttempt);
}

#[test]
fn not_sent_and_not_rebuildable_sends_the_same_bytes_before_the_fence() {
    let mut bench = Bench::placed(PLAIN, intent());
    bench.row.attempts[0].rebuildable = false;
    bench.answered(&Submission::NotSent(NotSent::Connect("refused".into())));
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::Replay { no: 1 });
    bench.now = T0 + FENCE;
    bench.resume();
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Rejected, None));
}

#[test]
fn not_taken_then_same_bytes_before_the_fence() {
    let mut bench = Bench::placed(REPLAYABLE, intent());
    bench.answered(&not_taken());
    assert_eq!(bench.state(), OrdState::Pending);
    assert_eq!(bench.row.attempts[0].copies, Copies::Turned);
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::Replay { no: 1 });
    bench.now = T0 + FENCE;
    assert!(looks(&bench.resume()));
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn not_taken_then_a_new_attempt_where_the_attempt_has_neither_memory_nor_revocation() {
    let mut bench = Bench::placed(PLAIN, intent());
    bench.answered(&not_taken());
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::NewAttempt);
}

#[test]
fn not_taken_then_a_new_attempt_where_the_id_is_unique_for_ever() {
    let camp = Camp {
        replayable: true,
        revocable: true,
        ..UNIQUE
    };
    let mut bench = Bench::placed(camp, intent());
    bench.answered(&not_taken());
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::NewAttempt);
}

#[test]
fn not_taken_and_revocable_is_revoked_before_a_new_attempt() {
    let mut bench = Bench::placed(REVOCABLE, intent());
    bench.answered(&not_taken());
    bench.now += LAG;
    assert!(looks(&bench.resume()));
    assert_eq!(bench.state(), OrdState::Reconciling);
    assert_eq!(bench.absent_at(bench.now), Step::Revoke { no: 1 });
}

#[test]
fn not_taken_waits_as_long_as_the_venue_asks() {
    let mut bench = Bench::placed(PLAIN, intent());
    let answer = Submission::NotTaken {
        cause: surefill_core::Reason::new("429", ""),
        retry_after: Some(ms(3_000)),
    };
    assert_eq!(bench.answered(&answer), Step::Wait { after: ms(3_000) });
    bench.now += 1;
    assert_eq!(bench.resume(), Step::Wait { after: ms(2_999) });
    bench.now += 2_999;
    assert_eq!(bench.resume(), Step::NewAttempt);
}

#[test]
fn not_taken_in_answer_to_a_replay_proves_nothing() {
    let mut bench = doubt(REPLAYABLE, intent());
    bench.now = T0 + 1_000;
    assert_eq!(bench.absent_at(T0 + 1_000), Step::Replay { no: 1 });
    bench.replay();
    bench.replay_answered(&not_taken());
    assert_eq!(bench.state(), OrdState::Reconciling);
    assert_eq!(bench.row.attempts[0].copies, Copies::Loose);
}

#[test]
fn a_pending_order_is_canceled_and_watched_where_a_copy_had_left() {
    let mut bench = Bench::placed(PLAIN, intent());
    bench.answered(&not_taken());
    bench.ask_cancel();
    assert_eq!(
        (bench.state(), bench.row.watch),
        (OrdState::Canceled, Some(Watch::UntilAbsent))
    );
    let mut bench = Bench::placed(PLAIN, intent());
    bench.answered(&Submission::NotSent(NotSent::Connect("refused".into())));
    bench.ask_cancel();
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Canceled, None));
}

#[test]
fn a_pending_order_ends_when_stale() {
    let mut bench = Bench::placed(PLAIN, intent());
    bench.answered(&not_taken());
    bench.now = T0 + TTL;
    bench.resume();
    assert_eq!(bench.state(), OrdState::Rejected);
    assert_eq!(bench.row.watch, Some(Watch::UntilAbsent));
}

#[test]
fn a_pending_order_waits_under_a_declared_halt() {
    let mut bench = Bench::placed(PLAIN, intent());
    bench.answered(&not_taken());
    bench.now += LAG;
    bench.halted = true;
    assert!(matches!(bench.resume(), Step::Wait { .. }));
    bench.halted = false;
    assert_eq!(bench.resume(), Step::NewAttempt);
}

#[test]
fn never_is_never_sent_again() {
    let never = OrderIntent {
        resubmit: Resubmit::Never,
        ..intent()
    };
    let mut bench = Bench::placed(UNIQUE, never.clone());
    bench.answered(&not_taken());
    assert_eq!(bench.state(), OrdState::Rejected);
    let camp = Camp {
        replayable: true,
        ..UNIQUE
    };
    let mut bench = doubt(camp, never);
    assert!(looks(&bench.absent_at(T0 + 1_000)));
    assert!(looks(&bench.absent_at(BOUND)));
    bench.absent_at(BOUND + LAG);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Rejected, None));
}
