//! Schedules that were judged once, each kept as the shortest script that shows the same, with what is right.

use surefill_core::{Halt, HaltCause, OrdState, OrdStatus};
use surefill_model::sim::{Event, Last, Outcome, Script, run};

/// Runs a script, which must keep every promise.
fn play(script: &str) -> Outcome {
    let script: Script = script.parse().expect("a script");
    let outcome = run(&script, None);
    assert_eq!(outcome.broken, None, "{:#?}", outcome.log);
    outcome
}

/// The only order of the journal.
fn only(outcome: &Outcome) -> &Last {
    let [only] = outcome.last.as_slice() else {
        panic!("{:#?}", outcome.last)
    };
    only
}

/// Two orders of one intent: somebody is told, the account is halted, and the row knows both.
fn told_of_two(outcome: &Outcome) {
    let last = only(outcome);
    assert_eq!(last.at_venue.len(), 2, "{last:#?}");
    let second = HaltCause::SecondOrder { id: last.row.id };
    assert!(outcome.told.contains(&second), "{:#?}", outcome.told);
    let halt = outcome.halts.iter().find(|halt| halt.cause == second);
    let scope = &halt.expect("a halt in force").scope;
    assert_eq!(*scope, last.row.account_scope());
    assert_eq!(last.row.order_ids.len(), 2, "{last:#?}");
}

/// No order is left of what was canceled.
fn none_lives(outcome: &Outcome) {
    let last = only(outcome);
    assert_eq!(last.row.state, OrdState::Canceled, "{last:#?}");
    assert_eq!(last.row.watch, None, "{last:#?}");
    let ended = |(_, status, _): &(String, OrdStatus, u32)| *status == OrdStatus::Canceled;
    assert!(last.at_venue.iter().all(ended), "{last:#?}");
}

/// Seed 266. Below us the request is doubled; the first order is canceled, and only then does the copy arrive, inside its fence. Nothing stops
/// it at a venue that remembers neither id nor bytes (P1): it is found, told and halted (I11), at the next look at the open orders, and canceled as
/// the first one was. The row stays Canceled (I3).
#[test]
fn a_copy_that_arrives_after_our_cancel_is_found_and_halts() {
    let outcome = play(
        r#"{"seed":266,"camp":{"ids":"Accepted","fence":"Book","remembered":false,"revocable":false,"stream":false,"cancel_final":true}}
        {"OnCreate":{"Doubled":175}}
        {"Place":{"n":0,"resubmit":0,"exit":false,"give_up":1}}
        {"Advance":20}
        "CancelAll"
        {"Advance":333}"#,
    );
    told_of_two(&outcome);
    none_lives(&outcome);
}

/// Seed 4753. The copy is at the venue already when the cancel is asked, and has not been seen: a request that names the id ends one of the two,
/// and a final answer ends the row. The other one is found, told, halted and canceled.
#[test]
fn a_copy_that_was_not_seen_before_our_cancel_is_found_and_halts() {
    let outcome = play(
        r#"{"seed":4753,"camp":{"ids":"Accepted","fence":"Documented","remembered":false,"revocable":true,"stream":false,"cancel_final":true}}
        {"OnCreate":{"Doubled":7}}
        {"Place":{"n":1,"resubmit":1,"exit":false,"give_up":1}}
        {"Advance":170}
        {"Cancel":1}
        {"Advance":365}"#,
    );
    told_of_two(&outcome);
    none_lives(&outcome);
}

/// The same, with a poll between: both orders are known, told and halted before the cancel is asked.
#[test]
fn a_copy_that_was_seen_before_our_cancel_halts_at_once() {
    let outcome = play(
        r#"{"seed":4753,"camp":{"ids":"Accepted","fence":"Documented","remembered":false,"revocable":true,"stream":false,"cancel_final":true}}
        {"OnCreate":{"Doubled":7}}
        {"Place":{"n":1,"resubmit":1,"exit":false,"give_up":1}}
        {"Advance":900}
        {"Cancel":1}
        {"Advance":900}"#,
    );
    told_of_two(&outcome);
    none_lives(&outcome);
    let place = |text: &str| outcome.log.iter().position(|line| line.contains(text));
    assert!(place("halt: order o1 beside o0") < place("cancel_asked"));
    assert!(place("halt: order o1 beside o0").is_some());
}

/// Seed 11756. A cancel is asked while the first send is on its way. The first order ends by it; the copy arrives and is ended by the repetition of
/// the same cancel, before any list shows it. Nothing lives and nothing was executed: nobody has to be told.
#[test]
fn a_copy_that_our_cancel_ends_unseen_and_unexecuted_costs_nothing() {
    let outcome = play(
        r#"{"seed":11756,"camp":{"ids":"Accepted","fence":"Documented","remembered":false,"revocable":false,"stream":false,"cancel_final":false}}
        {"OnCreate":{"Doubled":34}}
        {"Place":{"n":1,"resubmit":0,"exit":true,"give_up":1}}
        {"Cancel":1}
        {"Advance":200}"#,
    );
    let last = only(&outcome);
    assert_eq!(last.row.state, OrdState::Canceled);
    let ended =
        |(_, status, cum): &(String, OrdStatus, u32)| *status == OrdStatus::Canceled && *cum == 0;
    assert_eq!(last.at_venue.len(), 2);
    assert!(last.at_venue.iter().all(ended), "{last:#?}");
    assert!(outcome.halts.is_empty(), "{:#?}", outcome.halts);
}

/// The same, and the copy executes before the cancel ends it: the fill is booked, told and halts.
#[test]
fn a_copy_that_our_cancel_ends_unseen_and_executed_is_told() {
    let outcome = play(
        r#"{"seed":11756,"camp":{"ids":"Accepted","fence":"Documented","remembered":false,"revocable":false,"stream":false,"cancel_final":false}}
        {"OnCreate":{"Doubled":34}}
        {"Place":{"n":1,"resubmit":0,"exit":true,"give_up":1}}
        {"Cancel":1}
        {"Advance":120}
        {"Fill":{"n":1,"qty":1}}
        {"Advance":200}"#,
    );
    told_of_two(&outcome);
    let last = only(&outcome);
    assert_eq!(last.at_venue[1].2, 1, "the second executed: {last:#?}");
    assert_eq!(last.row.booked_qty.to_string(), "1");
}

/// Seed 103609. The strategy places and cancels while the process stands still before it has read the journal: the cancel finds no driver, then a row.
/// It must reach the driver that has come meanwhile, before the flag alone is durable: no create leaves after a durable cancel (I7).
#[test]
fn a_cancel_that_races_its_placement_is_heard_before_it_is_durable() {
    let outcome = play(
        r#"{"seed":103609,"camp":{"ids":"Accepted","fence":"Documented","remembered":false,"revocable":true,"stream":true,"cancel_final":true}}
        {"Pause":{"after":5,"ms":37}}
        {"Advance":148}
        {"Advance":112}
        {"Advance":945}
        {"Place":{"n":1,"resubmit":0,"exit":false,"give_up":2}}
        {"Place":{"n":2,"resubmit":2,"exit":true,"give_up":0}}
        {"Cancel":2}"#,
    );
    assert!(outcome.events.contains(&Event::Paused));
    let canceled = outcome.last.iter().filter(|last| last.row.cancel_requested);
    let canceled: Vec<_> = canceled.collect();
    assert_eq!(canceled.len(), 1);
    assert_eq!(canceled[0].row.state, OrdState::Canceled);
}

/// Seeds 1002062 and 1020603. That a revocation is asked is durable; then another order's commit fails, which closes the journal: the revocation
/// is not sent again, nothing but cancels is (§9).
#[test]
fn a_closed_journal_revokes_nothing() {
    let outcome = play(
        r#"{"seed":1002062,"camp":{"ids":"Existing","fence":"None","remembered":false,"revocable":true,"stream":true,"cancel_final":true,"nonces":true}}
        {"Advance":332}
        {"OnCreate":{"Late":740}}
        {"Advance":530}
        {"Place":{"n":1,"resubmit":2,"exit":false,"give_up":1}}
        {"Advance":173}
        {"CommitFails":{"after":3,"kept":true}}
        {"OnRevoke":"Lost"}
        {"Advance":46}
        {"Advance":75}"#,
    );
    assert!(outcome.events.contains(&Event::CommitFailedAndKept));
    let other = play(
        r#"{"seed":1020603,"camp":{"ids":"Forever","fence":"Assumed","remembered":false,"revocable":true,"stream":false,"cancel_final":false}}
        {"OnCancel":"Lost"}
        {"Place":{"n":2,"resubmit":2,"exit":false,"give_up":1}}
        {"OnCreate":"Lost"}
        {"Advance":80}
        {"Place":{"n":1,"resubmit":0,"exit":true,"give_up":1}}
        {"Cancel":2}
        {"CommitFails":{"after":3,"kept":true}}
        {"OnRevoke":"Lost"}
        {"Advance":355}"#,
    );
    assert!(other.events.contains(&Event::CommitFailedAndKept));
}

/// Seed 1004303. The journal says that an order works, so recovery takes it as settled; while recovery waits for another order, its end is in no list.
/// That is doubt as of any order that works: it refuses entries in its symbol and ends by a look.
#[test]
fn an_order_that_ends_unseen_during_recovery_is_in_doubt_for_a_moment() {
    let outcome = play(
        r#"{"seed":1004303,"camp":{"ids":"WhileOpen","fence":"Book","remembered":false,"revocable":false,"stream":false,"cancel_final":false,"nonces":true,"amends":true}}
        {"Place":{"n":2,"resubmit":2,"exit":false,"give_up":2}}
        {"Advance":1432}
        {"Cancel":2}
        {"Crash":{"after":4,"lose":2}}
        {"Place":{"n":1,"resubmit":0,"exit":true,"give_up":1}}"#,
    );
    let state = |n: usize| outcome.last[n].row.state;
    assert_eq!((state(0), state(1)), (OrdState::Canceled, OrdState::Acked));
}

/// Seed 1019426. An amend is doubled below us, and its copy is taken after the next amend: the order has the older terms again. The venue's word
/// stands, and says so by the instant of its change (I11, P5).
#[test]
fn terms_that_a_doubled_amend_brings_back_stand() {
    let outcome = play(
        r#"{"seed":1019426,"camp":{"ids":"WhileOpen","fence":"None","remembered":true,"revocable":false,"stream":false,"cancel_final":true,"nonces":true,"amends":true}}
        {"OnAmend":{"Doubled":269}}
        {"Place":{"n":2,"resubmit":0,"exit":false,"give_up":2}}
        {"Advance":1}
        {"Amend":{"n":2,"qty":5,"px":101}}
        {"Advance":77}
        {"Amend":{"n":2,"qty":1,"px":100}}"#,
    );
    let row = &only(&outcome).row;
    let terms = row.terms().expect("a limit order");
    assert_eq!(terms.order_qty.to_string(), "5");
    assert_eq!(row.amends.len(), 2);
}

/// Seed 1038091. A person lifts a halt, an entry is journaled, and the same halt is declared again before the entry leaves: a halt that comes after the
/// commit does not take back what was entered.
#[test]
fn an_entry_between_two_equal_halts_leaves() {
    let outcome = play(
        r#"{"seed":1038091,"camp":{"ids":"Accepted","fence":"None","remembered":false,"revocable":false,"stream":true,"cancel_final":false,"nonces":true,"amends":true}}
        "Halt"
        {"Pause":{"after":0,"ms":602}}
        "Resume"
        {"Place":{"n":0,"resubmit":2,"exit":false,"give_up":0}}
        "Halt"
        {"Advance":222}"#,
    );
    assert_eq!(only(&outcome).at_venue.len(), 1);
    assert!(outcome.told.contains(&HaltCause::Asked));
}

/// Seed 2003537. A commit fails while the process recovers: it can write neither an end nor a halt, and it places nothing; the next start reads back.
#[test]
fn a_journal_that_closes_during_recovery_lets_nothing_in() {
    let outcome = play(
        r#"{"seed":2003537,"camp":{"ids":"Existing","fence":"None","remembered":false,"revocable":false,"stream":false,"cancel_final":true,"nonces":false,"amends":true}}
        {"OnCreate":"NoConnection"}
        {"Place":{"n":1,"resubmit":2,"exit":false,"give_up":2}}
        {"Crash":{"after":2,"lose":0}}
        {"Advance":33}
        {"CommitFails":{"after":0,"kept":false}}
        {"Advance":1400}
        {"Place":{"n":0,"resubmit":2,"exit":false,"give_up":2}}
        {"Advance":100}"#,
    );
    assert!(outcome.events.contains(&Event::CommitFailed));
    assert_eq!(outcome.last.len(), 1, "{:#?}", outcome.last);
}

/// Seed 2007746. The nonce of an amend cannot be journaled: the amend does not go out, and the order keeps its terms.
#[test]
fn an_amend_without_a_durable_nonce_does_not_go_out() {
    let outcome = play(
        r#"{"seed":2007746,"camp":{"ids":"Existing","fence":"Book","remembered":false,"revocable":true,"stream":false,"cancel_final":true,"nonces":true,"amends":true}}
        {"Place":{"n":1,"resubmit":0,"exit":false,"give_up":0}}
        {"Advance":5}
        {"CommitFails":{"after":1,"kept":true}}
        {"Amend":{"n":1,"qty":2,"px":101}}"#,
    );
    let terms = only(&outcome).row.terms().expect("a limit order");
    assert_eq!(terms.order_qty.to_string(), "3");
    assert!(outcome.events.contains(&Event::AmendAsked));
}

/// Seeds 1063660, 33292, 2016064, 2050279, 3002463 and 3037480. A decision from the future, and a venue's time that is told too early by more than
/// the fence: each attempt has expired when it arrives, and the intent does not go stale. Further attempts end no doubt, so its cap comes: halted.
#[test]
fn attempts_that_all_arrive_expired_reach_the_cap() {
    let outcome = play(
        r#"{"seed":1063660,"camp":{"ids":"Forever","fence":"Book","remembered":false,"revocable":false,"stream":true,"cancel_final":false,"nonces":false,"amends":true}}
        {"ClockStep":47355}
        {"Advance":120}
        {"OnCreate":"Lost"}
        {"Place":{"n":2,"resubmit":2,"exit":false,"give_up":2}}
        {"TimeBehind":1745}
        {"Advance":120}
        {"Crash":{"after":0,"lose":0}}
        {"Advance":2500}"#,
    );
    let last = only(&outcome);
    assert_eq!(last.at_venue, [], "nothing got through");
    assert!(!last.row.state.is_terminal(), "{last:#?}");
    assert!(last.row.attempts.len() > 2, "it was resent: {last:#?}");
    let doubt =
        |halt: &Halt| matches!(halt.cause, HaltCause::Doubt { id, .. } if id == last.row.id);
    let halt = outcome.halts.iter().find(|halt| doubt(halt));
    assert_eq!(
        halt.map(|halt| &halt.scope),
        Some(&last.row.account_scope())
    );
}

/// Seed 3077336. A process dies after it has made a second attempt durable and before a byte of it left. The next one cancels, with a nonce of its
/// own, and dies too; the third sends the attempt's bytes, with the nonce that was given out when they were made. It is right that this one is lower
/// than the cancel's: signed bytes keep their nonce, and no nonce was given out twice.
#[test]
fn bytes_that_a_dead_process_made_durable_leave_with_their_nonce() {
    let outcome = play(
        r#"{"seed":3077336,"camp":{"ids":"WhileOpen","fence":"None","remembered":true,"revocable":false,"stream":false,"cancel_final":true,"nonces":true,"amends":true}}
        {"Down":195}
        {"Place":{"n":2,"resubmit":1,"exit":true,"give_up":2}}
        {"Advance":2}
        {"Crash":{"after":4,"lose":0}}
        {"Advance":131}
        {"Cancel":2}
        {"Advance":1930}
        {"Crash":{"after":0,"lose":0}}
        {"Advance":1000}"#,
    );
    let last = only(&outcome);
    assert_eq!(last.row.state, OrdState::Canceled);
    assert_eq!(last.row.attempts.len(), 2, "{last:#?}");
    assert_eq!(last.at_venue.len(), 1, "{last:#?}");
    assert!(outcome.events.contains(&Event::NonceReserved));
}

/// Seed 3075790. One amend changes the quantity and the next one both terms; the first one's request is doubled, and its copy arrives last. The venue
/// then has terms that were never asked for as a whole: the account halts. The order is ours all the same: its fills are booked, it is canceled as
/// asked, and its row ends.
#[test]
fn an_order_whose_terms_differ_is_booked_canceled_and_ends() {
    let outcome = play(
        r#"{"seed":3075790,"camp":{"ids":"Existing","fence":"Documented","remembered":false,"revocable":true,"stream":true,"cancel_final":true,"nonces":false,"amends":true}}
        {"Place":{"n":2,"resubmit":1,"exit":true,"give_up":0}}
        {"Advance":400}
        {"OnAmend":{"Doubled":267}}
        {"Amend":{"n":2,"qty":5,"px":100}}
        {"Advance":60}
        {"Amend":{"n":2,"qty":6,"px":101}}
        {"Advance":700}
        {"Fill":{"n":2,"qty":2}}
        {"Advance":300}
        "CancelAll"
        {"Advance":900}"#,
    );
    let last = only(&outcome);
    let differ = HaltCause::TermsDiffer { id: last.row.id };
    let halt = outcome.halts.iter().find(|halt| halt.cause == differ);
    let scope = &halt.expect("a halt in force").scope;
    assert_eq!(*scope, last.row.account_scope());
    assert_eq!(last.row.state, OrdState::Canceled);
    assert_eq!(last.row.booked_qty.to_string(), "2");
}

/// Seed 3136443. The nonce of the first attempt is used up, so that one is bounded; the second has no fence and is refused, and its copy below us
/// arrives after the rounds that bound the first. The row is watched as long as the profile says: the copy is found, canceled and told.
#[test]
fn a_copy_of_a_refused_attempt_beside_a_bounded_one_is_watched_for() {
    let script = Script::of(3_136_443);
    let outcome = run(&script, None);
    assert_eq!(outcome.broken, None, "{:#?}", outcome.log);
    let surprised = |cause: &HaltCause| matches!(cause, HaltCause::Surprise { .. });
    assert!(outcome.told.iter().any(surprised), "{:#?}", outcome.told);
    for last in &outcome.last {
        let lives = |(_, status, _): &(String, OrdStatus, u32)| *status == OrdStatus::Open;
        assert!(!last.at_venue.iter().any(lives), "{last:#?}");
    }
}

/// Seed 3057885. A doubled request's copy arrives while the process starts again, after the open orders were read; its first order was canceled
/// before, so no driver looks, the stream tells of nothing before it was opened, and nothing is executed. The next sweep reads what is open.
#[test]
fn a_copy_that_arrives_between_the_list_and_the_stream_is_found_by_the_sweep() {
    let outcome = play(
        r#"{"seed":3057885,"camp":{"ids":"Accepted","fence":"Documented","remembered":false,"revocable":false,"stream":true,"cancel_final":true,"nonces":false,"amends":true}}
        {"OnCreate":"AnswerLost"}
        {"Advance":24}
        {"Place":{"n":0,"resubmit":0,"exit":false,"give_up":2}}
        {"OnCreate":{"Doubled":295}}
        {"Advance":106}
        {"Advance":352}
        {"Advance":667}
        {"Place":{"n":1,"resubmit":0,"exit":false,"give_up":2}}
        "CancelAll""#,
    );
    let of_two = |last: &&Last| last.at_venue.len() == 2;
    let last = outcome.last.iter().find(of_two).expect("a second order");
    let second = HaltCause::SecondOrder { id: last.row.id };
    assert!(outcome.told.contains(&second), "{:#?}", outcome.told);
    assert_eq!((last.row.state, last.row.watch), (OrdState::Canceled, None));
    let lives = |(_, status, _): &(String, OrdStatus, u32)| *status == OrdStatus::Open;
    assert!(!last.at_venue.iter().any(lives), "{last:#?}");
}

/// Seed 4090493. The process stands still between the write of a halt and the moment it takes it in: nobody was told that it is halted. An entry that
/// was journaled before it leaves when both go on.
#[test]
fn a_halt_that_its_process_has_not_taken_in_holds_nothing_back() {
    let outcome = play(
        r#"{"seed":4090493,"camp":{"ids":"Within","fence":"Documented","remembered":false,"revocable":false,"stream":false,"cancel_final":true,"nonces":true,"amends":false}}
        {"Pause":{"after":2,"ms":173}}
        {"Place":{"n":2,"resubmit":1,"exit":false,"give_up":1}}
        {"Advance":5}
        {"Pause":{"after":0,"ms":468}}
        {"Advance":4}
        {"Crash":{"after":3,"lose":3}}
        {"Advance":7}
        "Halt"
        {"Pause":{"after":1,"ms":12}}
        {"Advance":152}"#,
    );
    assert!(outcome.told.contains(&HaltCause::Asked));
    assert_eq!(only(&outcome).at_venue.len(), 1);
}

/// Seed 5006463. The same, where the halt comes out of what a sweep found while the process stands still: the entry and the halt go on at one moment.
#[test]
fn a_surprise_that_its_process_has_not_taken_in_holds_nothing_back() {
    let outcome = play(
        r#"{"seed":5006463,"camp":{"ids":"Accepted","fence":"None","remembered":false,"revocable":true,"stream":false,"cancel_final":false,"nonces":true,"amends":false}}
        {"OnCreate":{"RefusedDoubled":315}}
        {"Advance":296}
        {"Place":{"n":1,"resubmit":2,"exit":false,"give_up":2}}
        {"Advance":121}
        {"Pause":{"after":3,"ms":758}}
        {"Place":{"n":0,"resubmit":2,"exit":false,"give_up":0}}
        {"Advance":143}
        {"Advance":230}"#,
    );
    let surprised = |cause: &HaltCause| matches!(cause, HaltCause::Surprise { .. });
    assert!(outcome.told.iter().any(surprised), "{:#?}", outcome.told);
    let canceled = |last: &Last| {
        last.at_venue
            .iter()
            .any(|(_, status, _)| *status == OrdStatus::Canceled)
    };
    assert!(outcome.last.iter().any(canceled), "{:#?}", outcome.last);
}
