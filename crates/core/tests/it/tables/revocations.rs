//! §5: revocations, and nonces that are used.

use surefill_core::{
    AsOf, CancelOutcome, Cause, DuplicateOf, Observation, OrdState, Revocation, RevocationState,
    Step, Submission, UnknownCause,
};

use super::{PLAIN, REVOCABLE, UNIQUE, by_absence, doubt, looks};
use crate::kit::{BOUND, Camp, DRAIN, FenceKind, LAG, T0, TTL, at, intent, no_answer};

#[test]
fn revoked_by_the_venues_word_carries_a_new_attempt_at_once() {
    let mut bench = doubt(REVOCABLE, intent());
    assert_eq!(bench.absent_at(T0 + 500), Step::Revoke { no: 1 });
    let revoked = Observation::Revoked {
        no: 1,
        answer: &Revocation::Revoked,
    };
    assert_eq!(bench.see(&revoked), Step::NewAttempt);
}

#[test]
fn revoked_by_the_venues_word_ends_a_stale_order_at_once() {
    let mut bench = doubt(REVOCABLE, intent());
    bench.now = T0 + TTL;
    assert_eq!(bench.absent_at(T0 + TTL), Step::Revoke { no: 1 });
    let revoked = Observation::Revoked {
        no: 1,
        answer: &Revocation::Revoked,
    };
    assert_eq!(bench.see(&revoked), Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Rejected, None));
}

#[test]
fn a_revocation_is_durable_before_it_is_asked() {
    let mut bench = doubt(REVOCABLE, intent());
    bench.absent_at(T0 + 500);
    let asked = bench.log.last().unwrap();
    assert_eq!(asked.cause, Cause::RevokeAsked);
    assert_eq!(asked.durability(), surefill_core::Durability::Sync);
    assert_eq!(bench.row.attempts[0].revocation, RevocationState::Asked);
    bench.crash();
    assert!(looks(&bench.resume()));
    assert_eq!(bench.absent_at(T0 + 600), Step::Revoke { no: 1 });
}

#[test]
fn revocation_required_before_a_new_attempt() {
    // The id is unique for ever, absence is complete, and still the venue's own word is asked.
    let camp = Camp {
        revocable: true,
        ..UNIQUE
    };
    let mut bench = doubt(camp, by_absence());
    bench.absent_at(BOUND);
    bench.now += LAG;
    let step = bench.absent_at(BOUND + LAG);
    assert_eq!(step, Step::Revoke { no: 1 });
    let inconclusive = Revocation::Inconclusive(UnknownCause::new("502"));
    let seen = Observation::Revoked {
        no: 1,
        answer: &inconclusive,
    };
    assert!(looks(&bench.see(&seen)));
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::Revoke { no: 1 });
}

#[test]
fn a_revocation_that_the_venue_lacks_is_required_no_more() {
    let camp = Camp {
        revocable: true,
        ..UNIQUE
    };
    let mut bench = doubt(camp, intent());
    assert_eq!(bench.absent_at(T0 + 500), Step::Revoke { no: 1 });
    let unsupported = Observation::Revoked {
        no: 1,
        answer: &Revocation::Unsupported,
    };
    bench.see(&unsupported);
    assert_eq!(bench.absent_at(BOUND), Step::NewAttempt);
}

#[test]
fn a_revocation_asked_ends_replay() {
    let camp = Camp {
        replayable: true,
        revocable: true,
        ..PLAIN
    };
    let mut bench = doubt(camp, intent());
    assert_eq!(bench.absent_at(T0 + 500), Step::Replay { no: 1 });
    bench.ask_cancel();
    // The cancel asked leads to a revocation; that it was asked for another reason changes nothing.
    bench.now += 2_000;
    bench.see(&Observation::CancelAnswer(&CancelOutcome::NotOpen));
    let step = bench.absent_at(bench.now);
    assert!(step == Step::Cancel || step == Step::Revoke { no: 1 });
    bench.resume();
    assert_eq!(bench.row.attempts[0].revocation, RevocationState::Asked);
    bench.row.cancel_requested = false;
    for _ in 0..5 {
        bench.now += 100;
        assert!(!matches!(bench.resume(), Step::Replay { .. }));
    }
}

#[test]
fn duplicate_after_own_revocation_is_no_evidence() {
    let mut bench = doubt(REVOCABLE, intent());
    assert_eq!(bench.absent_at(T0 + 500), Step::Revoke { no: 1 });
    for of in [DuplicateOf::Id, DuplicateOf::Bytes] {
        bench.replay_answered(&Submission::Duplicate(of));
    }
    assert!(!bench.row.admitted());
    assert!(!bench.row.attempts[0].bytes_known);
}

#[test]
fn used_carries_a_new_attempt_only_after_absence() {
    for (intent, carries) in [(intent(), false), (by_absence(), true)] {
        let mut bench = doubt(
            Camp {
                fence: FenceKind::None,
                ..REVOCABLE
            },
            intent,
        );
        let asked = bench.absent_at(T0 + 500);
        assert_eq!(asked, Step::Revoke { no: 1 });
        bench.now = T0 + 600;
        let used = Observation::Revoked {
            no: 1,
            answer: &Revocation::Used,
        };
        assert!(looks(&bench.see(&used)));
        let bound = T0 + 600 + LAG + 100;
        assert!(
            looks(&bench.absent(bound - 1, bound + 10)),
            "begun too early"
        );
        assert!(looks(&bench.absent_at(bound + 20)));
        let second = bench.absent_at(bound + 20 + LAG);
        assert_eq!(second == Step::NewAttempt, carries, "{second:?}");
        assert_eq!(bench.state() == OrdState::Rejected, !carries);
    }
}

/// Each look comes when a cancel is due again: the end must come all the same.
#[test]
fn cancels_do_not_put_off_the_end_where_looks_are_slow() {
    let mut bench = doubt(PLAIN, intent());
    bench.ask_cancel();
    let mut now = T0;
    for _ in 0..20 {
        now += LAG;
        if bench.absent_at(now) == Step::Cancel {
            bench.see(&Observation::CancelAnswer(&CancelOutcome::NotOpen));
        }
    }
    assert_eq!(bench.state(), OrdState::Canceled);
}

/// The first round that counts sets the wait for the second: a lag, not the backoff of looks before it.
#[test]
fn the_second_round_follows_the_first_that_counts_by_a_lag() {
    let mut bench = doubt(PLAIN, by_absence());
    for n in 0..8 {
        assert!(looks(&bench.absent_at(T0 + 500 + n)));
    }
    let after = match bench.absent_at(BOUND) {
        Step::LookAgain { after } => after,
        other => panic!("{other:?}"),
    };
    assert_eq!(after, std::time::Duration::from_millis(LAG + 1));
}

/// A gate may use up the nonce of a copy that then waits for the book: two rounds a lag after `Used` would miss it.
#[test]
fn what_used_the_nonce_may_still_be_on_its_way_to_the_book() {
    for (fence, carries) in [(FenceKind::Documented, true), (FenceKind::Assumed, false)] {
        let camp = Camp { fence, ..REVOCABLE };
        let mut bench = doubt(camp, by_absence());
        assert_eq!(bench.absent_at(T0 + 500), Step::Revoke { no: 1 });
        bench.now = T0 + 600;
        let used = Observation::Revoked {
            no: 1,
            answer: &Revocation::Used,
        };
        assert!(looks(&bench.see(&used)));
        let too_early = T0 + 600 + LAG + 100;
        assert!(looks(&bench.absent_at(too_early)));
        assert!(looks(&bench.absent_at(too_early + LAG)), "{fence:?}");
        let bound = too_early + DRAIN;
        assert!(looks(&bench.absent_at(bound)));
        let second = bench.absent_at(bound + LAG);
        assert_eq!(second == Step::NewAttempt, carries, "{fence:?}: {second:?}");
    }
}

#[test]
fn used_counts_for_that_attempt_only() {
    let mut bench = doubt(UNIQUE, intent());
    assert_eq!(bench.absent_at(BOUND), Step::NewAttempt);
    bench.resend();
    bench.answered(&no_answer());
    let made = bench.now;
    // The second attempt's nonce is used, and its fence is still ahead; the first is past its own.
    bench.row.attempts[1].revocation = RevocationState::Used(AsOf::Clock(at(made)));
    bench.row.cancel_requested = true;
    bench.absent_at(made + DRAIN + LAG + 100);
    bench.absent_at(made + DRAIN + 2 * LAG + 200);
    bench.resume();
    assert_eq!(bench.state(), OrdState::Canceled, "both are bounded");

    let mut bench = doubt(UNIQUE, intent());
    assert_eq!(bench.absent_at(BOUND), Step::NewAttempt);
    bench.resend();
    bench.answered(&no_answer());
    let made = bench.now;
    bench.row.attempts[0].revocation = RevocationState::Used(AsOf::Clock(at(made)));
    bench.row.cancel_requested = true;
    bench.absent_at(made + DRAIN + LAG + 100);
    bench.absent_at(made + DRAIN + 2 * LAG + 200);
    bench.resume();
    assert_eq!(
        bench.state(),
        OrdState::Reconciling,
        "the second attempt's fence is ahead"
    );
}
