//! How long a doubt lasts: from its first moment, through every further attempt, to the verdict; past the cap it halts.

use surefill_core::{
    Cause, DuplicateRule, HaltCause, Lacking, NotSent, Observation, OrdState, OrdStatus,
    Revocation, Step, Submission, UnknownCause,
};

use crate::kit::{
    BOUND, Bench, CAP, Camp, LAG, MARGIN, T0, at, intent, ms, no_answer, not_taken, refusal, report,
};

const REVOCABLE: Camp = Camp {
    revocable: true,
    ..Camp::PLAIN
};

/// An intent that stays fresh for longer than the cap.
fn patient(camp: Camp) -> Bench {
    let mut one = intent();
    one.ttl = ms(10 * CAP);
    let mut bench = Bench::placed(camp, one);
    bench.answered(&no_answer());
    assert_eq!(bench.row.doubt_since, Some(at(T0)));
    bench
}

fn revoked(bench: &mut Bench) -> Step {
    let no = bench.row.last_attempt().unwrap().no;
    let answer = &Revocation::Revoked;
    bench.see(&Observation::Revoked { no, answer })
}

/// A look that shows nothing, and the revocation that follows: the next attempt is due.
fn cleared(bench: &mut Bench) -> Step {
    let step = bench.absent_at(bench.now);
    let no = bench.row.last_attempt().unwrap().no;
    assert_eq!(step, Step::Revoke { no });
    revoked(bench)
}

fn halts(bench: &Bench, step: &Step) {
    let Step::Halt { scope, cause } = step else {
        panic!("{step:?}")
    };
    assert_eq!(*scope, bench.row.account_scope());
    let lacking = Lacking::Answer;
    let id = bench.row.id;
    assert_eq!(*cause, HaltCause::Doubt { id, lacking });
}

fn raise(bench: &mut Bench, step: &Step) {
    let Step::Halt { cause, .. } = step else {
        panic!("{step:?}")
    };
    bench.alarms.push(cause.clone());
}

#[test]
fn a_doubt_is_as_old_as_its_first_moment() {
    let mut bench = patient(REVOCABLE);
    for n in 1..5 {
        bench.now += 1_000;
        assert_eq!(cleared(&mut bench), Step::NewAttempt);
        bench.resend();
        assert_eq!(bench.state(), OrdState::Submitted);
        assert_eq!(bench.row.doubt_since, Some(at(T0)), "attempt {n}");
        bench.now += 1_000;
        bench.answered(&no_answer());
        assert_eq!(bench.state(), OrdState::Reconciling);
        assert_eq!(bench.row.doubt_since, Some(at(T0)), "attempt {n}");
    }
    // The connect fails, and the venue turns away: no copy is on its way, and what becomes of the order is open.
    cleared(&mut bench);
    bench.resend();
    let refused = NotSent::Connect("refused".into());
    bench.answered(&Submission::NotSent(refused));
    assert_eq!(bench.state(), OrdState::Pending);
    assert_eq!(bench.row.doubt_since, Some(at(T0)));
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::NewAttempt);
    bench.resend();
    bench.answered(&not_taken());
    assert_eq!(bench.state(), OrdState::Pending);
    assert_eq!(bench.row.doubt_since, Some(at(T0)));
    // The next process goes on from there.
    bench.crash();
    bench.resume();
    assert_eq!(bench.row.doubt_since, Some(at(T0)));
}

#[test]
fn only_a_verdict_ends_a_doubt() {
    let further = || {
        let mut bench = patient(REVOCABLE);
        cleared(&mut bench);
        bench.resend();
        assert!(bench.row.in_doubt());
        bench
    };
    let mut bench = further();
    bench.answered(&Submission::Received("receipt".into()));
    assert_eq!(bench.state(), OrdState::Submitted);
    assert!(bench.row.in_doubt(), "a receipt names nothing");
    let mut bench = further();
    bench.answered(&Submission::Acked(report(OrdStatus::Open, "A", None)));
    assert_eq!(
        (bench.state(), bench.row.doubt_since),
        (OrdState::Acked, None)
    );
    // What was named and is not shown any more is in doubt from then on.
    bench.now = T0 + 2 * (LAG + MARGIN);
    bench.absent_at(bench.now);
    assert_eq!(bench.row.doubt_since, Some(at(bench.now)));
    bench.found(&[report(OrdStatus::Open, "A", Some("1"))]);
    assert_eq!(
        (bench.state(), bench.row.doubt_since),
        (OrdState::Partial, None)
    );
    let mut bench = further();
    bench.answered(&refusal());
    assert_eq!(
        (bench.state(), bench.row.doubt_since),
        (OrdState::Rejected, None)
    );
    let mut bench = further();
    bench.answered(&not_taken());
    bench.ask_cancel();
    assert_eq!(
        (bench.state(), bench.row.doubt_since),
        (OrdState::Canceled, None)
    );
}

#[test]
fn past_the_cap_it_halts_before_the_next_attempt_and_goes_on_under_the_halt() {
    let mut bench = patient(REVOCABLE);
    bench.now = T0 + CAP - 1;
    assert_eq!(cleared(&mut bench), Step::NewAttempt);
    bench.resend();
    bench.now = T0 + CAP;
    bench.answered(&no_answer());
    let step = bench.absent_at(bench.now);
    halts(&bench, &step);
    raise(&mut bench, &step);
    bench.now += LAG;
    assert_eq!(bench.resume(), Step::Revoke { no: 2 });
    assert_eq!(revoked(&mut bench), Step::NewAttempt);
    // A halt that was declared holds it back; one from doubt does not.
    bench.halted = true;
    assert!(matches!(bench.resume(), Step::LookAgain { .. }));
    bench.halted = false;
    assert_eq!(bench.resume(), Step::NewAttempt);
    bench.resend();
    bench.answered(&Submission::Acked(report(OrdStatus::Open, "A", None)));
    assert_eq!(
        (bench.state(), bench.row.doubt_since),
        (OrdState::Acked, None)
    );
}

/// Under the halt for an old doubt what was sent lately is looked for as soon as ever: the halt ends with it.
#[test]
fn a_further_attempt_is_looked_for_at_the_usual_pace_also_under_the_halt() {
    let slowly = ms(15 * LAG);
    let mut bench = patient(REVOCABLE);
    bench.now = T0 + CAP - 1;
    cleared(&mut bench);
    bench.resend();
    // No answer to the revocation, so that there is nothing but to look.
    let unheard = Revocation::Inconclusive(UnknownCause::new("504"));
    bench.answered(&no_answer());
    let sent_at = bench.now;
    bench.now = T0 + CAP;
    let step = bench.absent_at(bench.now);
    raise(&mut bench, &step);
    let mut paced = Vec::new();
    for now in [
        sent_at + LAG,
        sent_at + CAP / 2,
        sent_at + CAP - LAG,
        sent_at + CAP + LAG,
    ] {
        bench.now = now;
        assert_eq!(bench.absent_at(now), Step::Revoke { no: 2 });
        let answer = &unheard;
        bench.see(&Observation::Revoked { no: 2, answer });
        let Step::LookAgain { after } = bench.absent_at(now) else {
            panic!("a revocation was just asked")
        };
        paced.push(after);
    }
    assert!(
        paced[..3].iter().all(|after| *after <= ms(5 * LAG / 2)),
        "{paced:?}"
    );
    assert_eq!(paced[3], slowly);
}

#[test]
fn past_the_cap_it_halts_between_the_states_too() {
    // Every connect fails after a first attempt was in doubt.
    let mut bench = patient(REVOCABLE);
    cleared(&mut bench);
    bench.resend();
    let refused = || Submission::NotSent(NotSent::Connect("refused".into()));
    bench.answered(&refused());
    bench.now = T0 + CAP;
    let step = bench.resume();
    assert_eq!(bench.state(), OrdState::Pending);
    halts(&bench, &step);
    raise(&mut bench, &step);
    assert_eq!(bench.resume(), Step::NewAttempt);
    // Taken under a receipt, and in doubt before.
    let mut bench = patient(REVOCABLE);
    bench.now = T0 + CAP - 1;
    cleared(&mut bench);
    bench.resend();
    bench.answered(&Submission::Received("receipt".into()));
    bench.now = T0 + CAP;
    let step = bench.resume();
    assert_eq!(bench.state(), OrdState::Submitted);
    halts(&bench, &step);
    // One that was never in doubt waits for its turn, however long.
    let mut bench = Bench::placed(REVOCABLE, intent());
    bench.row.intent.ttl = ms(10 * CAP);
    bench.answered(&refused());
    bench.now = T0 + 2 * CAP;
    assert_eq!(bench.resume(), Step::NewAttempt);
}

#[test]
fn an_end_comes_before_the_halt() {
    // The next process comes late, looks first, and finds the proof that was missing.
    let unique = Camp {
        duplicate: DuplicateRule::RefusedForever,
        ..Camp::PLAIN
    };
    let mut bench = Bench::placed(unique, intent());
    bench.answered(&no_answer());
    bench.crash();
    bench.now = BOUND + CAP;
    assert!(
        matches!(bench.resume(), Step::LookAgain { .. }),
        "looks first"
    );
    bench.found(&[report(OrdStatus::Filled, "A", Some("3"))]);
    assert_eq!((bench.state(), bench.alarms.len()), (OrdState::Filled, 0));
    // Each attempt is revoked, and the intent is stale.
    let mut bench = patient(REVOCABLE);
    bench.absent_at(bench.now);
    bench.now = T0 + 10 * CAP;
    revoked(&mut bench);
    assert_eq!(bench.state(), OrdState::Rejected);
    assert_eq!(bench.log.last().unwrap().cause, Cause::Stale);
    assert_eq!(bench.alarms, []);
}
