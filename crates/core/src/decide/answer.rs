//! What the answer to a send, or to a revocation, changes.

use super::{Case, Step};
use crate::{
    AsOf, AttemptNo, AttemptState, Cause, Change, Copies, DuplicateOf, Halt, HaltCause, Mark,
    OrdState, Reject, Revocation, RevocationState, Submission, UnknownCause, Watch,
};

impl Case<'_> {
    /// The answer to a send of attempt `no`.
    pub(super) fn answered(self, no: AttemptNo, answer: &Submission, first: bool) -> Step {
        // This send was the attempt's only copy, and no copy of another attempt may be on its way.
        let alone = first
            && self.order.state == OrdState::Submitted
            && self.others(no).all(AttemptState::settled);
        match answer {
            Submission::Acked(report) => self.sighted(std::slice::from_ref(report), Cause::Answer),
            Submission::Received(key) => self.receipt(no, key),
            Submission::Rejected(reject) => self.refused(no, reject, first, alone),
            Submission::Duplicate(of) => self.duplicate(no, *of),
            Submission::NotTaken { cause, .. } if alone => {
                let change = self.change(Cause::Answer, format_args!("not taken: {cause}"));
                Step::advance(change.to(OrdState::Pending).mark(no, Mark::TurnedAway))
            }
            Submission::NotTaken { cause, .. } => {
                self.no_verdict(format_args!("not taken: {cause}"), None)
            }
            Submission::NotSent(why) if first => {
                let change = self.change(Cause::Answer, why).mark(no, Mark::NoneLeft);
                match self.order.state {
                    OrdState::Submitted if alone => Step::advance(change.to(OrdState::Pending)),
                    OrdState::Submitted => Step::advance(change.to(OrdState::Unknown)),
                    OrdState::Pending
                    | OrdState::Unknown
                    | OrdState::Reconciling
                    | OrdState::Acked
                    | OrdState::Partial
                    | OrdState::Filled
                    | OrdState::Canceled
                    | OrdState::Rejected => self.resume(),
                }
            }
            Submission::NotSent(why) => self.no_verdict(why, None),
            Submission::Unknown(UnknownCause(why)) => self.no_verdict(why, None),
        }
    }

    fn others(&self, no: AttemptNo) -> impl Iterator<Item = &AttemptState> {
        self.order
            .attempts
            .iter()
            .filter(move |attempt| attempt.no != no)
    }

    fn receipt(self, no: AttemptNo, key: &crate::Key) -> Step {
        let known = self
            .order
            .attempt(no)
            .is_some_and(|attempt| attempt.keys.contains(key));
        if known || self.order.state.is_terminal() {
            return Step::LookAgain { after: self.soon() };
        }
        let change = self.change(Cause::Answer, format_args!("taken under {key}"));
        Step::advance(change.mark(no, Mark::Receipt(key.clone())))
    }

    /// A refusal speaks only of the send that it answers.
    fn refused(self, no: AttemptNo, reject: &Reject, first: bool, alone: bool) -> Step {
        let evidence = format_args!("refused: {}", reject.reason).to_string();
        let halt = self.refused_keys(reject);
        if alone {
            let mut change = self.change(Cause::Answer, &evidence);
            change.halt = halt;
            let mut change = change
                .to(OrdState::Rejected)
                .mark(no, Mark::Refused)
                .reason(Some(reject.reason.clone()));
            // Only where the refusal used up the bytes is it the last word: elsewhere a doubled copy may still land. Keys and account
            // are refused before anything is used up.
            let turned = self
                .others(no)
                .any(|attempt| attempt.copies == Copies::Turned);
            let used_up =
                self.profile.refusal_uses_up_bytes && !reject.halts_account && !reject.leaves_bytes;
            if !used_up || turned {
                change = change.watched(Watch::UntilAbsent);
            }
            return Step::advance(change);
        }
        let mut change = self.change(Cause::Answer, evidence);
        change.halt = halt;
        if first && !self.order.state.is_terminal() {
            change = change.mark(no, Mark::Refused);
        }
        self.into_doubt(change)
    }

    /// The halt for keys or an account that the venue refuses, whatever was asked with them.
    pub(super) fn refused_keys(&self, reject: &Reject) -> Option<Halt> {
        let alarm = HaltCause::Refused { id: self.order.id };
        let raised = !reject.halts_account || self.at.raised(&alarm);
        let scope = self.order.account_scope();
        (!raised).then(|| Halt::new(scope, alarm, self.at.now.now, &reject.reason))
    }

    /// The venue knows the id or the bytes. After a revocation was asked that may be the revocation's doing.
    fn duplicate(self, no: AttemptNo, of: DuplicateOf) -> Step {
        let attempt = self.order.attempt(no);
        let revoking = attempt.is_some_and(|attempt| attempt.revocation != RevocationState::None);
        let (mark, known, what) = match of {
            DuplicateOf::Id => (Mark::Admitted, attempt.is_some_and(|a| a.admitted), "id"),
            DuplicateOf::Bytes => (
                Mark::BytesKnown,
                attempt.is_some_and(|a| a.bytes_known),
                "bytes",
            ),
        };
        let evidence = format!("the venue knows the {what}");
        if revoking || known {
            return self.no_verdict(evidence, None);
        }
        self.no_verdict(evidence, Some((no, mark)))
    }

    /// An answer that leaves the fate open.
    fn no_verdict(self, evidence: impl std::fmt::Display, mark: Option<(AttemptNo, Mark)>) -> Step {
        let mut change = self.change(Cause::Answer, evidence);
        change.marks.extend(mark);
        self.into_doubt(change)
    }

    /// From Submitted into doubt; elsewhere only what was learned counts.
    fn into_doubt(self, change: Change) -> Step {
        if self.order.state == OrdState::Submitted {
            return Step::advance(change.to(OrdState::Unknown));
        }
        if change.marks.is_empty() && change.halt.is_none() {
            return self.resume();
        }
        Step::advance(change)
    }

    /// The answer to the revocation of attempt `no`.
    pub(super) fn revoked(self, no: AttemptNo, answer: &Revocation) -> Step {
        let Some(attempt) = self.order.attempt(no) else {
            return self.resume();
        };
        let change = match (answer, attempt.revocation) {
            (Revocation::Revoked, RevocationState::Revoked)
            | (Revocation::Used, RevocationState::Used(_) | RevocationState::Revoked) => {
                return self.resume();
            }
            (Revocation::Revoked, _) => self
                .change(Cause::RevokeAnswer, "revoked")
                .mark(no, Mark::Revoked),
            (Revocation::Used, _) => {
                let at = self
                    .at
                    .height
                    .map_or(AsOf::Clock(self.at.now.latest()), AsOf::Height);
                self.change(Cause::RevokeAnswer, "the nonce is used")
                    .mark(no, Mark::Used(at))
            }
            (Revocation::Inconclusive(_) | Revocation::Unsupported, _) => {
                return Step::LookAgain { after: self.soon() };
            }
        };
        Step::advance(change)
    }
}
