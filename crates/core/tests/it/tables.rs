//! The rows of the two tables of the contract, one named test each: the life of an order, and when "not found" is final.

use surefill_core::{
    AsOf, CancelOutcome, Cause, Copies, DuplicateOf, DuplicateRule, GiveUp, HaltCause, Lacking,
    Lookup, NotSent, Observation, OrdState, OrdStatus, OrderIntent, Reject, Resubmit, Revocation,
    RevocationState, SeenTerms, Side, Step, Submission, UnknownCause, Watch,
};

use crate::kit::{
    BOUND, Bench, CAP, CLOSED_KEPT, Camp, DRAIN, FENCE, FILLS_KEPT, FenceKind, H_BOUND, H_FENCE,
    H0, LAG, T0, TTL, WATCH, at, fill, filled_by, height_at, intent, key, ms, no_answer, not_taken,
    qty, refusal, report,
};

fn by_absence() -> OrderIntent {
    OrderIntent {
        resubmit: Resubmit::AfterAbsence,
        ..intent()
    }
}

fn giving_up(give_up: GiveUp) -> OrderIntent {
    OrderIntent {
        give_up,
        ..intent()
    }
}

const PLAIN: Camp = Camp::PLAIN;
const REPLAYABLE: Camp = Camp {
    replayable: true,
    ..PLAIN
};
const REVOCABLE: Camp = Camp {
    revocable: true,
    ..PLAIN
};
const UNIQUE: Camp = Camp {
    duplicate: DuplicateRule::RefusedForever,
    ..PLAIN
};
const UNFENCED: Camp = Camp {
    fence: FenceKind::None,
    ..PLAIN
};
const ASSUMED: Camp = Camp {
    fence: FenceKind::Assumed,
    ..PLAIN
};

/// Placed, sent, and no answer: in doubt, claimed, about to look.
fn doubt(camp: Camp, intent: OrderIntent) -> Bench {
    let mut bench = Bench::placed(camp, intent);
    let step = bench.answered(&no_answer());
    assert!(looks(&step), "{step:?}");
    assert_eq!(bench.state(), OrdState::Reconciling);
    bench
}

/// Placed and acknowledged as order A.
fn acked(camp: Camp) -> Bench {
    let mut bench = Bench::placed(camp, intent());
    bench.now = T0 + 100;
    let step = bench.answered(&Submission::Acked(report(OrdStatus::Open, "A", None)));
    assert!(looks(&step), "{step:?}");
    assert_eq!(bench.state(), OrdState::Acked);
    bench
}

/// Refused in answer to its only copy, where a refusal does not use up the bytes.
fn refused(camp: Camp) -> Bench {
    let mut bench = Bench::placed(camp, intent());
    let step = bench.answered(&refusal());
    assert!(looks(&step), "{step:?}");
    assert_eq!(
        (bench.state(), bench.row.watch),
        (OrdState::Rejected, Some(Watch::UntilAbsent))
    );
    bench
}

fn looks(step: &Step) -> bool {
    matches!(step, Step::LookAgain { .. })
}

fn doubt_halt(step: &Step) -> Option<Lacking> {
    match step {
        Step::Halt {
            cause: HaltCause::Doubt { lacking, .. },
            ..
        } => Some(*lacking),
        _ => None,
    }
}

// §3: the life of an order.

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

#[test]
fn no_verdict_is_doubt_and_is_looked_up_at_once() {
    let mut bench = Bench::placed(PLAIN, intent());
    let step = bench.answered(&no_answer());
    assert_eq!(step, Step::LookAgain { after: ms(0) });
    assert_eq!(bench.row.doubt_since, Some(at(T0)));
}

#[test]
fn nothing_that_proves_nothing_ends_an_order() {
    let answers = [
        CancelOutcome::Taken,
        CancelOutcome::NotOpen,
        CancelOutcome::NotYet,
        CancelOutcome::Unknown(UnknownCause::new("502")),
    ];
    let mut bench = doubt(UNFENCED, intent());
    bench.ask_cancel();
    for n in 0..50_u64 {
        bench.now += CAP;
        let inconclusive = Lookup::Inconclusive(UnknownCause::new("502"));
        bench.see(&Observation::Looked(&inconclusive));
        for answer in &answers {
            bench.see(&Observation::CancelAnswer(answer));
        }
        bench.absent_at(bench.now);
        assert_eq!(bench.state(), OrdState::Reconciling, "round {n}");
    }
}

#[test]
fn a_restart_puts_a_submitted_order_in_doubt() {
    let mut bench = Bench::placed(PLAIN, intent());
    assert_eq!(bench.resume(), Step::Nothing, "the answer comes first");
    bench.crash();
    assert!(looks(&bench.resume()));
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn a_claim_of_another_process_is_made_anew() {
    let mut bench = doubt(PLAIN, intent());
    bench.crash();
    assert!(looks(&bench.resume()));
    let states: Vec<_> = bench.log.iter().filter_map(|change| change.to).collect();
    let tail = [
        OrdState::Reconciling,
        OrdState::Unknown,
        OrdState::Reconciling,
    ];
    assert!(states.ends_with(&tail), "{states:?}");
}

#[test]
fn without_the_lease_nothing_is_done() {
    let mut bench = doubt(UNIQUE, intent());
    bench.absent_at(BOUND);
    bench.lease = false;
    assert_eq!(bench.resume(), Step::Nothing);
    assert_eq!(bench.absent_at(BOUND + LAG), Step::Nothing);
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn acked_then_not_shown_is_unknown_and_never_resent() {
    let camp = Camp {
        replayable: true,
        revocable: true,
        ..UNIQUE
    };
    let mut bench = acked(camp);
    let soon = bench.absent_at(T0 + 200);
    assert!(looks(&soon));
    assert_eq!(bench.state(), OrdState::Acked, "the lag explains it");
    let lost = bench.absent_at(T0 + 100 + LAG + 100);
    assert!(looks(&lost), "{lost:?}");
    assert_eq!(bench.state(), OrdState::Reconciling);
    let mut now = bench.now;
    let mut halted = None;
    while now < T0 + CLOSED_KEPT - 1_000_000 {
        now += 10_000;
        let step = bench.absent_at(now);
        assert!(looks(&step) || doubt_halt(&step).is_some(), "{step:?}");
        if let Step::Halt { cause, .. } = &step {
            halted = doubt_halt(&step);
            bench.alarms.push(cause.clone());
        }
    }
    assert_eq!(halted, Some(Lacking::Sight));
    assert_eq!(bench.state(), OrdState::Reconciling);
    bench.found(&[report(OrdStatus::Open, "A", None)]);
    assert_eq!(bench.state(), OrdState::Acked);
}

#[test]
fn rejected_late_with_fills_is_canceled() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Rejected, "A", Some("1")));
    assert_eq!(bench.state(), OrdState::Canceled);
    assert_eq!(bench.row.cum_qty, qty("1"));
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Rejected, "A", None));
    assert_eq!(bench.state(), OrdState::Rejected);
}

#[test]
fn an_older_report_takes_nothing_back() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Open, "A", Some("2")));
    assert_eq!(bench.state(), OrdState::Partial);
    bench.reported(&report(OrdStatus::Open, "A", Some("1")));
    bench.reported(&report(OrdStatus::Open, "A", None));
    assert_eq!(
        (bench.state(), bench.row.cum_qty),
        (OrdState::Partial, qty("2"))
    );
    bench.reported(&report(OrdStatus::Filled, "A", Some("3")));
    bench.reported(&report(OrdStatus::Open, "A", Some("2")));
    assert_eq!(
        (bench.state(), bench.row.cum_qty),
        (OrdState::Filled, qty("3"))
    );
    assert!(bench.alarms.is_empty());
}

#[test]
fn a_receipt_stays_submitted_until_its_time_is_out() {
    let mut bench = Bench::placed(PLAIN, intent());
    assert!(looks(
        &bench.answered(&Submission::Received("bundle-1".into()))
    ));
    assert_eq!(bench.state(), OrdState::Submitted);
    assert!(bench.row.attempts[0].keys.contains(&"bundle-1".into()));
    bench.absent_at(T0 + 500);
    assert_eq!(bench.state(), OrdState::Submitted);
    bench.absent_at(T0 + 2 * LAG);
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn a_receipt_under_a_silent_venue_becomes_doubt_all_the_same() {
    let mut bench = Bench::placed(PLAIN, intent());
    bench.answered(&Submission::Received(key()));
    let silence = Lookup::Inconclusive(UnknownCause::new("502"));
    for _ in 0..3 {
        bench.now += LAG;
        bench.see(&Observation::Looked(&silence));
    }
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn a_cancel_asked_of_a_receipt_goes_out() {
    let mut bench = Bench::placed(PLAIN, intent());
    bench.answered(&Submission::Received(key()));
    assert_eq!(bench.ask_cancel(), Step::Cancel);
    assert!(looks(&bench.resume()), "and not again at once");
}

#[test]
fn a_cancel_is_repeated_until_the_order_is_terminal() {
    let mut bench = acked(PLAIN);
    assert_eq!(bench.ask_cancel(), Step::Cancel);
    for answer in [
        CancelOutcome::NotOpen,
        CancelOutcome::Taken,
        CancelOutcome::NotYet,
        CancelOutcome::Unknown(UnknownCause::new("502")),
    ] {
        assert!(looks(&bench.see(&Observation::CancelAnswer(&answer))));
        bench.now += LAG;
        assert_eq!(bench.resume(), Step::Cancel);
    }
    bench.crash();
    assert_eq!(bench.resume(), Step::Cancel, "it survives a crash");
    let ended = CancelOutcome::Canceled(report(OrdStatus::Canceled, "A", Some("1")));
    assert_eq!(
        bench.see(&Observation::CancelAnswer(&ended)),
        Step::LookAgain { after: ms(100) },
        "a fill is owed"
    );
    assert_eq!(bench.state(), OrdState::Canceled);
}

#[test]
fn a_cancel_asked_in_doubt_ends_every_send_and_ends_in_canceled() {
    let camp = Camp {
        replayable: true,
        ..UNIQUE
    };
    let mut bench = doubt(camp, by_absence());
    bench.absent_at(T0 + 500);
    assert_eq!(bench.ask_cancel(), Step::Cancel);
    for now in [T0 + 1_000, T0 + 3_000, BOUND] {
        let step = bench.absent_at(now);
        assert!(looks(&step) || step == Step::Cancel, "{step:?}");
    }
    bench.absent_at(BOUND + LAG);
    bench.resume();
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Canceled, None));
}

// I10 and its watch.

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

#[test]
fn watched_row_that_surfaces_is_canceled_until_the_venue_says_it_ended() {
    let mut bench = refused(PLAIN);
    let step = bench.found(&[report(OrdStatus::Open, "A", None)]);
    assert_eq!(step, Step::Cancel);
    assert_eq!(bench.row.watch, Some(Watch::Surfaced));
    let surprise = HaltCause::Surprise { id: bench.row.id };
    assert_eq!(bench.alarms, [surprise]);
    for _ in 0..3 {
        bench.now += BOUND;
        let not_open = Observation::CancelAnswer(&CancelOutcome::NotOpen);
        assert!(looks(&bench.see(&not_open)));
        assert_eq!(
            bench.absent_at(bench.now),
            Step::Cancel,
            "absence is no word"
        );
    }
    let ended = report(OrdStatus::Canceled, "A", Some("1"));
    let ended = filled_by(ended, &[fill("A", "x1", "1")]);
    assert_eq!(bench.found(&[ended]), Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Rejected, None));
    assert_eq!(bench.row.booked_qty, qty("1"));
}

#[test]
fn a_rejected_row_that_is_not_watched_and_surfaces_is_canceled_and_halts() {
    let camp = Camp {
        uses_up: true,
        ..PLAIN
    };
    let mut bench = Bench::placed(camp, intent());
    bench.answered(&refusal());
    assert_eq!(bench.row.watch, None);
    let step = bench.reported(&report(OrdStatus::Open, "A", None));
    assert_eq!(step, Step::Cancel);
    assert_eq!(bench.state(), OrdState::Rejected);
    assert_eq!(bench.row.watch, Some(Watch::Surfaced));
    assert_eq!(bench.alarms, [HaltCause::Surprise { id: bench.row.id }]);
}

#[test]
fn the_venues_record_of_its_refusal_is_no_surprise() {
    for camp in [
        PLAIN,
        Camp {
            uses_up: true,
            ..PLAIN
        },
    ] {
        let mut bench = Bench::placed(camp, intent());
        bench.answered(&refusal());
        assert_eq!(
            bench.reported(&report(OrdStatus::Rejected, "A", None)),
            Step::Nothing
        );
        assert!(bench.alarms.is_empty());
        assert_eq!(bench.row.watch, None);
    }
}

#[test]
fn an_older_report_of_a_canceled_order_is_no_surprise() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Canceled, "A", None));
    bench.reported(&report(OrdStatus::Open, "A", None));
    assert!(bench.alarms.is_empty());
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Canceled, None));
}

#[test]
fn a_watch_goes_on_where_the_drain_is_assumed() {
    let mut bench = refused(ASSUMED);
    bench.absent_at(BOUND);
    assert!(looks(&bench.absent_at(BOUND + LAG)));
    let until = BOUND + LAG + WATCH;
    assert_eq!(bench.row.watch, Some(Watch::Until(at(until))));
    assert!(looks(&bench.absent_at(until - 1)));
    assert!(
        looks(&bench.absent(until - 1, until + 50)),
        "begun too early"
    );
    assert_eq!(bench.absent_at(until + 60), Step::Nothing);
    assert_eq!(bench.row.watch, None);
}

#[test]
fn a_watch_without_a_fence_lasts_as_long_as_the_profile_says() {
    let mut bench = Bench::placed(UNFENCED, intent());
    assert!(looks(&bench.answered(&refusal())));
    let until = T0 + WATCH;
    assert_eq!(bench.row.watch, Some(Watch::Until(at(until))));
    assert!(looks(&bench.absent_at(until - 1)));
    assert_eq!(bench.absent_at(until), Step::Nothing);
}

#[test]
fn a_watch_by_height_needs_a_round_after_its_end() {
    let camp = Camp {
        fence: FenceKind::AssumedHeight,
        ..PLAIN
    };
    let mut bench = refused(camp);
    let bound = T0 + (H_BOUND - H0) * 1_000;
    bench.absent_at(bound);
    bench.absent_at(bound + 2_000);
    let Some(Watch::Until(until)) = bench.row.watch else {
        panic!("{:?}", bench.row.watch)
    };
    bench.absent_at(bound + 3_000);
    bench.now = until.as_ms() + 1;
    assert!(looks(&bench.resume()), "no round began after its end yet");
    assert!(bench.row.watch.is_some());
    bench.absent_at(until.as_ms() + 3 * LAG);
    assert_eq!(bench.row.watch, None);
}

// §5: may be sent again, may conclude "never".

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

// I3, I4, I11.

#[test]
fn fills_owed_stay_unfinished() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Filled, "A", Some("3")));
    assert!(bench.row.fills_owed() && bench.row.unfinished());
    assert!(looks(&bench.resume()));
    let fills = [fill("A", "x1", "1"), fill("A", "x2", "2")];
    let step = bench.found(&[filled_by(report(OrdStatus::Filled, "A", Some("3")), &fills)]);
    assert_eq!(step, Step::Nothing);
    assert!(!bench.row.unfinished());
    assert!(bench.alarms.is_empty());
}

#[test]
fn late_fill_halts() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Canceled, "A", Some("1")));
    let late = [fill("A", "x1", "1"), fill("A", "x2", "1")];
    bench.reported(&filled_by(report(OrdStatus::NotShown, "A", None), &late));
    assert_eq!(bench.state(), OrdState::Canceled);
    assert_eq!(bench.row.booked_qty, qty("2"), "booked all the same");
    assert_eq!(bench.alarms, [HaltCause::LateFill { id: bench.row.id }]);
}

#[test]
fn a_fill_seen_twice_is_booked_once() {
    let mut bench = acked(PLAIN);
    let once = filled_by(
        report(OrdStatus::Open, "A", Some("1")),
        &[fill("A", "x1", "1")],
    );
    for _ in 0..3 {
        bench.reported(&once);
        bench.crash();
        bench.found(std::slice::from_ref(&once));
    }
    assert_eq!(bench.row.booked_qty, qty("1"));
    assert_eq!(bench.fills.len(), 1);
}

#[test]
fn second_venue_order_id_halts() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Open, "B", None));
    let second = HaltCause::SecondOrder { id: bench.row.id };
    assert_eq!(bench.alarms, [second]);
    assert_eq!(bench.row.order_ids.len(), 2, "both in the journal");
}

#[test]
fn two_order_ids_in_one_round_halt() {
    let mut bench = doubt(PLAIN, intent());
    bench.found(&[
        report(OrdStatus::Open, "A", None),
        report(OrdStatus::Open, "B", None),
    ]);
    bench.found(&[
        report(OrdStatus::Open, "A", None),
        report(OrdStatus::Open, "B", None),
    ]);
    assert_eq!(bench.row.order_ids.len(), 2);
    let second = HaltCause::SecondOrder { id: bench.row.id };
    assert!(bench.alarms.contains(&second));
    // With both in the journal, the first stands for the row.
    bench.found(&[
        report(OrdStatus::Open, "A", None),
        report(OrdStatus::Canceled, "B", None),
    ]);
    assert_eq!(bench.state(), OrdState::Acked);
}

#[test]
fn fills_of_a_second_order_are_booked() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Open, "B", None));
    let fills = [fill("B", "x1", "1")];
    bench.reported(&filled_by(report(OrdStatus::Open, "B", Some("1")), &fills));
    assert_eq!(bench.row.booked_qty, qty("1"));
    let both = [
        filled_by(
            report(OrdStatus::Open, "A", Some("1")),
            &[fill("A", "x1", "1")],
        ),
        filled_by(
            report(OrdStatus::Open, "B", Some("2")),
            &[fill("B", "x1", "1"), fill("B", "x2", "1")],
        ),
    ];
    bench.found(&both);
    bench.found(&both);
    assert_eq!(bench.row.booked_qty, qty("3"));
}

#[test]
fn a_successor_that_the_profile_names_is_the_same_order() {
    let mut bench = acked(PLAIN);
    bench.profile.successors = true;
    bench.reported(&report(OrdStatus::Open, "B", Some("1")));
    assert!(bench.alarms.is_empty());
    assert_eq!(bench.row.order_id().unwrap().as_str(), "B");
    assert_eq!(bench.state(), OrdState::Partial);
}

#[test]
fn the_end_of_a_predecessor_is_not_the_end_of_its_successor() {
    let mut bench = acked(PLAIN);
    bench.profile.successors = true;
    let fills = [fill("A", "x1", "1")];
    let both = [
        filled_by(report(OrdStatus::Canceled, "A", Some("1")), &fills),
        report(OrdStatus::Open, "B", Some("1")),
    ];
    bench.found(&both);
    bench.found(&both);
    assert_eq!(bench.state(), OrdState::Partial);
    bench.reported(&report(OrdStatus::Canceled, "A", Some("1")));
    assert_eq!(bench.state(), OrdState::Partial);
    assert_eq!(bench.row.booked_qty, qty("1"));
    bench.reported(&report(OrdStatus::Filled, "B", Some("3")));
    assert_eq!(bench.state(), OrdState::Filled);
    assert!(bench.alarms.is_empty());
}

#[test]
fn other_terms_are_not_adopted() {
    let seen = [
        SeenTerms {
            side: Some(Side::Sell),
            ..SeenTerms::default()
        },
        SeenTerms {
            symbol: Some("ETHUSDT".into()),
            ..SeenTerms::default()
        },
        SeenTerms {
            order_qty: Some(qty("4")),
            ..SeenTerms::default()
        },
        SeenTerms {
            price: Some("60001".parse().unwrap()),
            ..SeenTerms::default()
        },
    ];
    for seen in seen {
        let mut bench = doubt(PLAIN, intent());
        let mut other = report(OrdStatus::Open, "A", None);
        other.seen = seen;
        bench.found(&[other]);
        assert_eq!(bench.state(), OrdState::Reconciling);
        assert!(bench.row.order_ids.is_empty());
        assert_eq!(bench.alarms, [HaltCause::TermsDiffer { id: bench.row.id }]);
    }
}

#[test]
fn an_order_filled_beyond_what_was_ordered_halts_and_is_booked_all_the_same() {
    let mut bench = doubt(PLAIN, intent());
    let mut beyond = report(OrdStatus::Filled, "A", Some("4"));
    beyond.fills = vec![fill("A", "e1", "4")];
    bench.found(&[beyond.clone()]);
    assert_eq!(bench.alarms, [HaltCause::TermsDiffer { id: bench.row.id }]);
    assert_eq!(bench.row.booked_qty, qty("4"));
    bench.found(&[beyond]);
    assert_eq!(bench.state(), OrdState::Filled);
}

#[test]
fn terms_of_another_scale_agree() {
    let mut bench = doubt(PLAIN, intent());
    let mut same = report(OrdStatus::Open, "A", None);
    same.seen = SeenTerms {
        symbol: Some("BTCUSDT".into()),
        side: Some(Side::Buy),
        order_qty: Some(qty("3.000")),
        price: Some("60000.00".parse().unwrap()),
    };
    bench.found(&[same]);
    assert_eq!(bench.state(), OrdState::Acked);
}

// Doubt and its cap.

#[test]
fn doubt_halts_past_the_cap_and_looks_on_slowly() {
    let mut bench = doubt(PLAIN, by_absence());
    let silence = Lookup::Inconclusive(UnknownCause::new("502"));
    bench.now = T0 + CAP - 1;
    assert!(looks(&bench.see(&Observation::Looked(&silence))));
    bench.now = T0 + CAP;
    let step = bench.see(&Observation::Looked(&silence));
    assert_eq!(doubt_halt(&step), Some(Lacking::Answer));
    let Step::Halt { scope, cause } = step else {
        panic!("a halt")
    };
    assert_eq!(scope, bench.row.account_scope());
    bench.alarms.push(cause);
    assert_eq!(
        bench.resume(),
        Step::LookAgain {
            after: ms(15 * LAG)
        }
    );
}

#[test]
fn a_declared_halt_holds_back_every_send_and_doubt_of_others_does_not() {
    let mut bench = doubt(UNIQUE, intent());
    bench.halted = true;
    assert!(looks(&bench.absent_at(BOUND)));
    bench.halted = false;
    assert_eq!(bench.resume(), Step::NewAttempt);
}

#[test]
fn a_stale_intent_is_not_sent_again() {
    for camp in [UNIQUE, REPLAYABLE] {
        let mut bench = doubt(camp, intent());
        bench.absent_at(T0 + TTL);
        bench.absent_at(T0 + TTL + LAG);
        assert_eq!(bench.state(), OrdState::Rejected);
        assert_eq!(bench.log.last().unwrap().cause, Cause::Stale);
    }
}
