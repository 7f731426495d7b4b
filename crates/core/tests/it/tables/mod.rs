//! The rows of the two tables of the contract, one named test each: the life of an order, and when "not found" is final.

mod absence;
mod beside;
mod found;
mod giving_up;
mod identity;
mod life;
mod refusals;
mod revocations;
mod sends;
mod watches;

use surefill_core::{
    DuplicateRule, GiveUp, HaltCause, Lacking, OrdState, OrdStatus, OrderIntent, Resubmit, Step,
    Submission,
};

use crate::kit::{Bench, Camp, FenceKind, T0, intent, no_answer, report};

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
