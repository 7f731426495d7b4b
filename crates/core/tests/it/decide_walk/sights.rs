//! Everything that can be seen.

use std::time::Duration;

use surefill_core::{
    CancelOutcome, DuplicateOf, ExecReport, HeldBack, Lookup, NotSent, OrdStatus, Reason, Reject,
    Revocation, SeenTerms, Side, Submission, UnknownCause,
};

use super::stands::STANDS;
use crate::kit::{Camp, T0, fill, filled_by, key, no_answer, not_taken, refusal, report};

pub(super) fn answers() -> Vec<Submission> {
    let open = report(OrdStatus::Open, "A", None);
    vec![
        Submission::Acked(open),
        Submission::Acked(report(OrdStatus::Filled, "A", Some("3"))),
        Submission::Received(key()),
        Submission::Received("bundle-1".into()),
        refusal(),
        Submission::Rejected(Reject {
            reason: Reason::new("10003", "invalid key"),
            halts_account: true,
            leaves_bytes: false,
        }),
        Submission::Duplicate(DuplicateOf::Id),
        Submission::Duplicate(DuplicateOf::Bytes),
        not_taken(),
        Submission::NotTaken {
            cause: Reason::new("429", ""),
            retry_after: Some(Duration::from_secs(3)),
        },
        Submission::NotSent(NotSent::Connect("refused".into())),
        Submission::NotSent(NotSent::HeldBack(HeldBack::CancelAsked)),
        no_answer(),
    ]
}

pub(super) fn looks(camp: Camp, now: u64) -> Vec<Lookup> {
    let mut other = report(OrdStatus::Open, "A", None);
    other.seen = SeenTerms {
        side: Some(Side::Sell),
        ..SeenTerms::default()
    };
    let fills = filled_by(
        report(OrdStatus::NotShown, "A", None),
        &[fill("A", "x1", "1")],
    );
    vec![
        Lookup::Found(vec![report(OrdStatus::Open, "A", Some("0"))]),
        Lookup::Found(vec![report(OrdStatus::Open, "A", Some("2"))]),
        Lookup::Found(vec![report(OrdStatus::Filled, "A", Some("3"))]),
        Lookup::Found(vec![report(OrdStatus::Canceled, "A", Some("1"))]),
        Lookup::Found(vec![report(OrdStatus::Rejected, "A", None)]),
        Lookup::Found(vec![fills]),
        Lookup::Found(vec![report(OrdStatus::Open, "", None)]),
        Lookup::Found(vec![
            report(OrdStatus::Canceled, "A", None),
            report(OrdStatus::Open, "B", None),
        ]),
        Lookup::Found(vec![other]),
        Lookup::Found(vec![]),
        camp.round(now - 100, now),
        camp.round(T0 + 500, now),
        Lookup::Inconclusive(UnknownCause::new("502")),
    ]
}

pub(super) fn reports() -> Vec<ExecReport> {
    vec![
        report(OrdStatus::Open, "A", None),
        report(OrdStatus::Open, "B", None),
        filled_by(
            report(OrdStatus::Open, "A", Some("2")),
            &[fill("A", "x1", "1"), fill("A", "x2", "1")],
        ),
        report(OrdStatus::Filled, "A", Some("3")),
        report(OrdStatus::Canceled, "A", Some("0")),
        report(OrdStatus::Rejected, "A", None),
        report(OrdStatus::Rejected, "A", Some("1")),
        report(OrdStatus::Open, "A", Some("9")),
    ]
}

pub(super) fn cancels() -> Vec<CancelOutcome> {
    vec![
        CancelOutcome::Canceled(report(OrdStatus::Canceled, "A", Some("1"))),
        CancelOutcome::Taken,
        CancelOutcome::NotOpen,
        CancelOutcome::NotYet,
        CancelOutcome::Unknown(UnknownCause::new("502")),
    ]
}

pub(super) fn revocations() -> Vec<Revocation> {
    vec![
        Revocation::Revoked,
        Revocation::Used,
        Revocation::Inconclusive(UnknownCause::new("502")),
        Revocation::Unsupported,
    ]
}

/// All that can be seen in one camp; the lists stand for every variant.
pub(super) struct Sights {
    pub(super) answers: Vec<Submission>,
    /// By stand.
    pub(super) looks: Vec<Vec<Lookup>>,
    pub(super) reports: Vec<ExecReport>,
    pub(super) cancels: Vec<CancelOutcome>,
    pub(super) revocations: Vec<Revocation>,
}

impl Sights {
    pub(super) fn of(camp: Camp) -> Self {
        Self {
            answers: answers(),
            looks: STANDS.iter().map(|stand| looks(camp, stand.now)).collect(),
            reports: reports(),
            cancels: cancels(),
            revocations: revocations(),
        }
    }
}
