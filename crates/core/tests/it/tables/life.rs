//! §3: doubt, sight and cancels, up to the end.

use surefill_core::{
    CancelOutcome, Cause, Lacking, Lookup, Observation, OrdState, OrdStatus, Step, Submission,
    UnknownCause,
};

use super::{PLAIN, REPLAYABLE, UNFENCED, UNIQUE, acked, by_absence, doubt, doubt_halt, looks};
use crate::kit::{
    BOUND, Bench, CAP, CLOSED_KEPT, Camp, LAG, T0, TTL, at, intent, key, ms, no_answer, qty, report,
};

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
