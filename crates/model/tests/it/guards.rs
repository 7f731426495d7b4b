//! Each guard taken out by a part that lies: the checker finds what the guard is for, and shows the way there.

use surefill_core::DuplicateRule;
use surefill_model::check::{Budget, Camp, Check, FenceKind, Lie, Promise, Scenario};

/// No more generated worlds than this for a lie, and at least as many for its honest twin.
const LIMIT: usize = 3_000_000;
const TWIN: usize = 25_000;

const FAULT: Budget = Budget {
    faults: 1,
    crashes: 0,
    doubles: 0,
    refusals: 0,
    trades: 0,
    cancels: 0,
    halts: 0,
    pushes: 0,
    slow: 0,
    pauses: 0,
    takeovers: 0,
};
const CRASH: Budget = Budget {
    crashes: 1,
    ..FAULT
};
const UNIQUE: Camp = Camp {
    duplicate: DuplicateRule::RefusedForever,
    ..Camp::PLAIN
};
const GATE: Camp = Camp {
    fence: FenceKind::Gate,
    ..Camp::PLAIN
};

/// Checks with and without the lie; the way to the broken promise is printed, and takes these steps in this order.
fn found_out(lie: Lie, promise: Promise, camp: Camp, budget: Budget, way: &[&str]) {
    caught(lie, promise, || Check::new(camp, budget), way);
}

fn caught(lie: Lie, promise: Promise, check: impl Fn() -> Check, way: &[&str]) {
    let report = check().lying(lie).only(promise).run(LIMIT);
    let found = report.found.first().unwrap_or_else(|| {
        panic!(
            "{lie:?} is not found out in {} states, cut {}",
            report.states, report.cut
        )
    });
    println!(
        "{lie:?} breaks {:?} after {} steps, {} states:\n  {}",
        found.promise,
        found.script.len(),
        report.states,
        found.script.join("\n  ")
    );
    assert_eq!(found.promise, promise);
    let mut lines = found.script.iter();
    for step in way {
        let there = lines.any(|line| line.contains(step));
        assert!(
            there,
            "{lie:?}: the way does not go by {step:?} in its turn"
        );
    }
    // The twin goes at least as deep as the lie had to.
    let honest = check().run(TWIN.max(4 * report.states));
    assert!(honest.found.is_empty(), "without the lie: {honest:#?}");
}

#[test]
fn no_persistence_before_the_send() {
    found_out(
        Lie::AttemptLazy,
        Promise::AtMostOne,
        Camp::PLAIN,
        CRASH,
        &[
            "; orders at the venue: 1",
            "the power of bot 0 fails; 1 lazy commits are lost; now Down; the row is gone",
            "starts and recovers; now Place",
            "the row is submitted, attempts 1",
            "; orders at the venue: 2",
        ],
    );
}

#[test]
fn no_wait_for_the_fence() {
    found_out(
        Lie::FenceEarly,
        Promise::AtMostOne,
        Camp::PLAIN,
        FAULT,
        &[
            "waits no longer for the answer",
            "t4 copy 0 reaches the gate",
            "the row is submitted, attempts 2",
            "; orders at the venue: 2",
        ],
    );
}

#[test]
fn the_drain_left_out() {
    found_out(
        Lie::NoDrain,
        Promise::AtMostOne,
        Camp::PLAIN,
        FAULT,
        &[
            "waits no longer for the answer",
            "t2 copy 0 reaches the gate",
            "t4 bot 0 goes on; now Prepare",
            "the row is submitted, attempts 2",
            "; orders at the venue: 2",
        ],
    );
}

const LISTS: Budget = Budget {
    trades: 1,
    slow: 1,
    ..FAULT
};

#[test]
fn the_time_of_the_answer_instead_of_the_begin() {
    found_out(
        Lie::BegunAtEnd,
        Promise::AtMostOne,
        Camp::PLAIN,
        LISTS,
        &[
            "waits no longer for the answer",
            "; orders at the venue: 1",
            "the venue ends order 0",
            "the row is submitted, attempts 2",
            "; orders at the venue: 2",
        ],
    );
}

#[test]
fn one_round_instead_of_two() {
    found_out(
        Lie::OneRound,
        Promise::AtMostOne,
        Camp::PLAIN,
        LISTS,
        &[
            "and the answer is lost",
            "one unit of order 0 is executed",
            "the row is submitted, attempts 2",
            "; orders at the venue: 2",
        ],
    );
}

#[test]
fn retention_unchecked() {
    let budget = Budget { trades: 1, ..CRASH };
    let check = || Check::new(Camp::PLAIN, budget).kept(3);
    caught(
        Lie::LongRetention,
        Promise::AtMostOne,
        check,
        &[
            "; orders at the venue: 1",
            "the venue ends order 0",
            "the row is submitted, attempts 2",
            "; orders at the venue: 2",
        ],
    );
}

#[test]
fn the_refusal_of_a_replay_believed() {
    let camp = Camp {
        replayable: true,
        ..Camp::PLAIN
    };
    let budget = Budget {
        refusals: 1,
        ..FAULT
    };
    found_out(
        Lie::AlwaysFirst,
        Promise::RejectedIsFinal,
        camp,
        budget,
        &[
            "waits no longer for the answer",
            "now Ready { no: 1, first: true }",
            "copy 1 is refused at the book",
            "the row is rejected",
            "copy 0 reaches the book; orders at the venue: 1",
        ],
    );
}

#[test]
fn a_refusal_of_attempt_2_that_ends_attempt_1() {
    let camp = Camp {
        fence: FenceKind::None,
        ..UNIQUE
    };
    let budget = Budget {
        refusals: 1,
        ..FAULT
    };
    found_out(
        Lie::RefusalForAll,
        Promise::RejectedIsFinal,
        camp,
        budget,
        &[
            "waits no longer for the answer",
            "the row is submitted, attempts 2",
            "is refused at the book; now Decide(Sent { no: 2",
            "the row is rejected",
            "reaches the book; orders at the venue: 1",
        ],
    );
}

#[test]
fn a_unique_id_taken_as_proof_of_absence() {
    let budget = Budget {
        refusals: 1,
        ..FAULT
    };
    found_out(
        Lie::IdIsProof,
        Promise::RejectedIsFinal,
        UNIQUE,
        budget,
        &[
            "waits no longer for the answer",
            "now Decide(Revoked { no: 1, said: Revoked })",
            "the row is submitted, attempts 2",
            "is refused at the book; now Decide(Sent { no: 2",
            "the row is rejected",
            "reaches the book; orders at the venue: 1",
        ],
    );
}

#[test]
fn used_counted_for_the_order_instead_of_the_attempt() {
    let camp = Camp {
        fence: FenceKind::None,
        revocable: true,
        ..Camp::PLAIN
    };
    let budget = Budget { faults: 3, ..FAULT };
    found_out(
        Lie::UsedForAll,
        Promise::RejectedIsFinal,
        camp,
        budget,
        &[
            "is lost",
            "asks the venue, and the answer is lost",
            "now Decide(Revoked { no: 1, said: Used })",
            "the row is submitted, attempts 2",
            "waits no longer for the answer",
            "the row is rejected",
            "copy 0 reaches the book; orders at the venue: 1",
        ],
    );
}

#[test]
fn a_new_attempt_after_not_taken_of_a_doubled_request() {
    let camp = Camp {
        replayable: true,
        uses_up: true,
        ..Camp::PLAIN
    };
    let budget = Budget {
        doubles: 1,
        ..FAULT
    };
    caught(
        Lie::MemoryDenied,
        Promise::AtMostOne,
        || Check::new(camp, budget),
        &[
            "and the request is doubled",
            "is turned away at the gate; now Decide(Sent { no: 1, answer: NotTaken",
            "the row is pending",
            "the row is submitted, attempts 2",
            "; orders at the venue: 2",
        ],
    );
}

#[test]
fn a_claim_kept_over_a_crash() {
    found_out(
        Lie::ClaimKept,
        Promise::ExactlyOne,
        Camp::PLAIN,
        CRASH,
        &[
            "the row is reconciling",
            "bot 0 dies",
            "bot 0 starts and recovers; now Waiting",
        ],
    );
}

#[test]
fn fills_of_closed_orders_not_asked_for() {
    let budget = Budget { trades: 2, ..FAULT };
    found_out(
        Lie::NoSweep,
        Promise::NothingLost,
        Camp::PLAIN,
        budget,
        &[
            "one unit of order 0 is executed",
            "one unit of order 0 is executed",
            "the row is filled, executed 2",
        ],
    );
}

#[test]
fn a_cancel_that_does_not_stop_a_create() {
    let budget = Budget {
        cancels: 1,
        ..CRASH
    };
    found_out(
        Lie::CancelLost,
        Promise::CancelEndsSends,
        Camp::PLAIN,
        budget,
        &[
            "the row is pending",
            "asks bot 0 for a cancel",
            "the power of bot 0 fails; 1 lazy commits are lost",
            "the row is submitted, attempts 2",
        ],
    );
}

#[test]
fn the_own_revocation_read_as_landed() {
    let camp = Camp {
        revocable: true,
        ..Camp::PLAIN
    };
    let budget = Budget { faults: 2, ..FAULT };
    found_out(
        Lie::UsedIsOrder,
        Promise::VenueWord,
        camp,
        budget,
        &[
            "is lost",
            "asks the venue, and the answer is lost",
            "asks the venue, and is answered; now Decide(Report",
            "the row is acked",
        ],
    );
}

#[test]
fn a_halt_written_lazily() {
    let budget = Budget { halts: 1, ..CRASH };
    found_out(
        Lie::HaltLazy,
        Promise::HaltHolds,
        Camp::PLAIN,
        budget,
        &[
            "a person declares a halt",
            "the power of bot 0 fails; 1 lazy commits are lost; now Down; halts: []",
            "the row is submitted, attempts 2",
        ],
    );
}

#[test]
fn a_halt_tested_before_the_commit_only() {
    let budget = Budget { halts: 1, ..FAULT };
    found_out(
        Lie::HaltNotTested,
        Promise::HaltHolds,
        Camp::PLAIN,
        budget,
        &[
            "now Prepare",
            "a person declares a halt",
            "the row is submitted, attempts 2",
        ],
    );
}

#[test]
fn rejected_told_before_it_is_durable() {
    let budget = Budget {
        refusals: 1,
        ..CRASH
    };
    found_out(
        Lie::RejectedLazy,
        Promise::NothingAfterRejected,
        Camp::PLAIN,
        budget,
        &[
            "is refused at the book",
            "the row is rejected",
            "1 lazy commits are lost; now Down; the row is submitted",
            "the row is submitted, attempts 2",
        ],
    );
}

#[test]
fn a_watch_forgotten_over_a_crash() {
    found_out(
        Lie::WatchLost,
        Promise::InTheIndex,
        GATE,
        CRASH,
        &[
            "waits no longer for the answer",
            "the row is rejected",
            "bot 0 dies",
            "bot 0 starts and recovers; now Rest",
            "; orders at the venue: 1",
        ],
    );
}

#[test]
fn a_second_order_that_nobody_watches() {
    found_out(
        Lie::SecondUnwatched,
        Promise::ExactlyOne,
        Camp::PLAIN,
        Scenario::Second.budget(0),
        &[
            "the request is doubled",
            "asks bot 0 for a cancel",
            "; orders at the venue: 2",
        ],
    );
}

#[test]
fn a_watch_of_no_length() {
    found_out(
        Lie::NoWatch,
        Promise::InTheIndex,
        GATE,
        FAULT,
        &[
            "waits no longer for the answer",
            "; orders at the venue: 1",
            "the row is rejected",
        ],
    );
}

const TAKEOVER: Budget = Budget {
    pauses: 1,
    takeovers: 1,
    ..FAULT
};

#[test]
fn no_compare_and_set() {
    found_out(
        Lie::NoCas,
        Promise::AtMostOne,
        Camp::PLAIN,
        TAKEOVER,
        &[
            "stands still",
            "takes the lease and recovers",
            "may go on",
            "the row is submitted, attempts 2",
            "; orders at the venue: 1",
            "; orders at the venue: 2",
        ],
    );
}

#[test]
fn no_compare_and_set_and_a_terminal_row_changes() {
    let budget = Budget {
        trades: 1,
        ..TAKEOVER
    };
    found_out(
        Lie::NoCas,
        Promise::TerminalIsFinal,
        Camp::PLAIN,
        budget,
        &[
            "stands still",
            "the venue ends order 0",
            "bot 1 goes on; now Decide(Resume); the row is canceled",
            "bot 0 may go on",
            "the row is acked",
        ],
    );
}

#[test]
fn no_compare_and_set_and_quantities_shrink() {
    let budget = Budget {
        trades: 1,
        ..TAKEOVER
    };
    found_out(
        Lie::NoCas,
        Promise::QuantitiesGrow,
        Camp::PLAIN,
        budget,
        &[
            "stands still",
            "the row is partial, executed 1",
            "bot 0 may go on",
            "the row is acked, executed 0",
        ],
    );
}

#[test]
fn no_compare_and_set_and_a_next_attempt_follows_evidence() {
    found_out(
        Lie::NoCas,
        Promise::EvidenceIsSticky,
        Camp::PLAIN,
        TAKEOVER,
        &[
            "stands still",
            "may go on",
            "the row is acked",
            "bot 1 goes on; now Ready { no: 2, first: true }; the row is submitted",
        ],
    );
}

#[test]
fn no_compare_and_set_and_the_row_refuses() {
    found_out(
        Lie::VersionUnread,
        Promise::Lawful,
        Camp::PLAIN,
        TAKEOVER,
        &[
            "stands still",
            "bot 1 takes the lease and recovers",
            "may go on",
            "bot 0 goes on; now Rest",
        ],
    );
}

#[test]
fn a_lost_lease_taken_for_the_own_and_revoked_bytes_are_sent() {
    let camp = Camp {
        revocable: true,
        ..Camp::PLAIN
    };
    found_out(
        Lie::LeaseKept,
        Promise::RevocationEndsReplay,
        camp,
        TAKEOVER,
        &[
            "now Ready { no: 1",
            "bot 0 stands still",
            "bot 1 takes the lease and recovers",
            "revocation of attempt 1: Asked",
            "bot 0 may go on",
            "bot 0 goes on; now Sending { no: 1",
        ],
    );
}

#[test]
fn a_halt_for_doubt_that_is_not_declared() {
    let camp = Camp {
        fence: FenceKind::None,
        ..Camp::PLAIN
    };
    found_out(
        Lie::DoubtUnsaid,
        Promise::DoubtStops,
        camp,
        FAULT,
        &[
            "is lost; now Decide(Sent { no: 1, answer: Unknown",
            "the row is reconciling",
            "t17 ",
        ],
    );
}

/// The connect fails, the stored bytes go out from Pending and become an order, and the power takes that they went.
#[test]
fn pending_to_submitted_written_lazily() {
    caught(
        Lie::SubmittedLazy,
        Promise::AtMostOne,
        || Check::new(Camp::PLAIN, CRASH).caller_signed(),
        &[
            "and the connect fails",
            "now Ready { no: 1, first: true }; the row is submitted",
            "1 lazy commits are lost; now Down; the row is pending",
            "now Ready { no: 1, first: true }; the row is submitted",
            "; orders at the venue: 2",
        ],
    );
}

/// An order ends while a slow round goes on, and is in neither list for two ticks. A second round a lag after the first *ended* sees it, one that
/// keeps its distance from the begin does not. With a lag of one tick the wait before a look, never less than a tick, would hide the difference.
#[test]
fn the_distance_from_the_start_of_the_first_round() {
    caught(
        Lie::EndedAtBegun,
        Promise::AtMostOne,
        || Check::new(Camp::PLAIN, LISTS).lagging(2),
        &[
            "waits no longer for the answer",
            "; orders at the venue: 1",
            "the venue ends order 0",
            "the row is submitted, attempts 2",
            "; orders at the venue: 2",
        ],
    );
}

/// The id is unique for ever, so a second attempt may follow a first one that no fence ends. Its refusal ends nothing while the first may land: who asks
/// only for the fence of the last attempt tells Rejected, and the first one lands.
#[test]
fn the_last_attempts_fence_only() {
    let budget = Budget {
        refusals: 1,
        ..FAULT
    };
    caught(
        Lie::OneFence,
        Promise::RejectedIsFinal,
        || Check::new(UNIQUE, budget).first_fence(None),
        &[
            "waits no longer for the answer",
            "the row is submitted, attempts 2",
            "is refused at the book; now Decide(Sent { no: 2",
            "the row is rejected",
            "; orders at the venue: 1",
        ],
    );
}

/// Where the id is not unique a next attempt follows one that was turned away before its fence. A copy of it that was doubled below the client is then
/// bounded by the first attempt's fence alone.
#[test]
fn the_last_attempts_fence_only_and_a_doubled_request() {
    let budget = Budget {
        faults: 2,
        doubles: 1,
        ..FAULT
    };
    caught(
        Lie::OneFence,
        Promise::InTheIndex,
        || Check::new(Camp::PLAIN, budget).first_fence(Some(7)),
        &[
            "is turned away at the gate",
            "the row is submitted, attempts 2",
            "t7 copy 0 reaches the book; orders at the venue: 1",
            "the row is rejected",
        ],
    );
}
