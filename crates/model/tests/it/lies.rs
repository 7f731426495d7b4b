//! The watch over the schedules can see: each promise is found broken by a store, a venue or an adapter that lies.

use surefill_model::sim::{Lie, Script, run, shrink};

/// So many seeds are tried.
const SEEDS: u64 = 6_000;

/// The first seed at which the lie breaks the promise, made short.
fn found(lie: Lie, promise: &str) {
    let breaks = |seed: &u64| {
        let broken = run(&Script::of(*seed), Some(lie)).broken;
        broken.is_some_and(|broken| broken.starts_with(promise))
    };
    let seed = (1..=SEEDS).find(breaks);
    let seed = seed.unwrap_or_else(|| panic!("{lie:?} breaks {promise} at no seed"));
    let shrunk = shrink(&Script::of(seed), Some(lie), 600).expect("a seed that fails");
    println!(
        "{lie:?}: seed {seed}, shrunk in {} runs to: {}\n{}",
        shrunk.runs, shrunk.broken, shrunk.script
    );
    let again: Script = shrunk.script.to_string().parse().expect("a script");
    assert_eq!(again, shrunk.script, "it reads back");
    assert_eq!(run(&again, Some(lie)).broken, Some(shrunk.broken));
    assert_eq!(run(&again, None).broken, None, "without the lie it holds");
    let steps = again.steps.len();
    assert!(steps <= 10, "what shows it is short: {steps} steps");
}

macro_rules! lies {
    ($($name:ident: $lie:ident, $promise:literal;)*) => {
        $(#[test]
        fn $name() {
            found(Lie::$lie, $promise);
        })*
    };
}

lies! {
    ids_that_are_not_unique: IdsNotUnique, "P1";
    a_longer_way_to_the_book: LongerDrain, "P1";
    bytes_that_are_forgotten: BytesForgotten, "P1";
    doubts_that_a_start_does_not_see: UnfinishedHidden, "P2";
    fills_that_are_shown_twice: FillsTwice, "P3";
    halts_and_doubts_that_refuse_nothing: GateIgnored, "P4";
    an_order_that_is_never_shown: NeverShown, "P5";
    an_intent_that_is_answered_before_it_is_written: BeginNotKept, "I1";
    a_change_that_is_said_to_be_durable: SyncNotKept, "I1";
    a_change_that_is_not_written: ChangeNotKept, "I2";
    an_end_that_a_crash_takes_back: LostInCrash, "I3";
    executions_that_never_were: CumTooMuch, "I4";
    a_decision_that_is_moved: DecisionMoved, "I5";
    two_processes_on_one_journal: LockIgnored, "I6";
    a_cancel_that_is_not_written: CancelForgotten, "I7";
    a_cancel_that_is_not_sent: CancelNotSent, "I7";
    a_log_with_a_hole: LogRewritten, "I8";
    orders_in_doubt_that_recovery_does_not_see: UnfinishedHidden, "I9";
    a_rejection_that_a_power_cut_takes_back: SyncNotKept, "I10";
    a_second_order_that_is_hidden: SecondHidden, "I11";
    a_second_order_that_is_not_watched: SecondUnwatched, "I11";
    an_amend_that_was_not_made: AmendNotMade, "I11";
    a_revocation_before_it_is_asked: RevokedEarly, "I12";
    evidence_that_is_not_written: EvidenceForgotten, "I13";
    terms_that_are_forgotten: TermsForgotten, "§4";
    a_halt_that_is_not_written: HaltNotKept, "§8";
    nonces_without_a_mark: NoncesForgotten, "§9: nonce";
    a_failed_commit_that_is_called_a_full_disk: FailureCalledFull, "§9";
    a_crash_that_loses_what_only_a_power_cut_may: LostInCrash, "§9";
}
