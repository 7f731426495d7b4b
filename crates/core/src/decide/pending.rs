//! No copy may be on its way: send again, or end.

use std::time::Duration;

use super::{Case, Step};
use crate::{
    AttemptState, Cause, Copies, DuplicateRule, Fence, Lacking, OrdState, Reason, Resubmit,
    RevocationState, Watch,
};

impl Case<'_> {
    /// Goes on from Pending. One that came there through doubt stays in doubt: nobody knows yet whether it comes to be an order.
    pub(super) fn pending(self) -> Step {
        self.capped(self.unsent(), Lacking::Answer)
    }

    fn unsent(self) -> Step {
        let intent = &self.order.intent;
        if self.order.admitted() || self.bytes_known() {
            let evidence = "the venue knows of a copy that nobody here sent";
            return Step::advance(self.change(Cause::NotShown, evidence).to(OrdState::Unknown));
        }
        if self.order.cancel_requested {
            return self.end_unsent(
                OrdState::Canceled,
                Cause::CancelAsked,
                "canceled before it was taken",
            );
        }
        if self.stale() {
            return self.end_unsent(
                OrdState::Rejected,
                Cause::Stale,
                "stale before it was taken",
            );
        }
        let refused = self.order.attempts.iter().any(|attempt| attempt.refused);
        if intent.resubmit == Resubmit::Never || refused {
            return self.end_unsent(
                OrdState::Rejected,
                Cause::Answer,
                "not taken, and not to be sent again",
            );
        }
        let Some(last) = self.order.last_attempt() else {
            return Step::Nothing;
        };
        if !self.fresh() || self.at.entries_halted {
            return Step::Wait {
                after: self.until_stale().min(Duration::from_secs(1)),
            };
        }
        if let Some(wait) = self.must_wait() {
            return Step::Wait { after: wait };
        }
        let neither = !last.replayable && !last.revocable;
        let turned = match last.copies {
            Copies::None => false,
            Copies::Turned | Copies::Loose => true,
        };
        if last.rebuildable && (!turned || self.unique_for_ever() || neither) {
            return Step::NewAttempt;
        }
        let revoking = last.revocation != RevocationState::None;
        if (last.replayable || !turned) && !revoking && self.before_fence(last) {
            return Step::Replay { no: last.no };
        }
        if !turned {
            return self.end_unsent(
                OrdState::Rejected,
                Cause::Absent,
                "never sent, and cannot be built again",
            );
        }
        let change = self.change(
            Cause::NotShown,
            "not taken, and not to be sent again by its kind",
        );
        Step::advance(change.to(OrdState::Unknown))
    }

    /// Ends an order of which no copy is on its way; watched where one had left.
    fn end_unsent(self, to: OrdState, cause: Cause, text: &str) -> Step {
        let last = self
            .order
            .last_attempt()
            .map(|attempt| attempt.outcome.to_string());
        let said = last
            .filter(|outcome| !outcome.is_empty())
            .unwrap_or_default();
        let reason = if said.is_empty() {
            text.to_owned()
        } else {
            format!("{text}; {said}")
        };
        let mut change = self
            .change(cause, text)
            .to(to)
            .reason(Some(Reason::new("", &reason)));
        if !self.order.attempts.iter().all(AttemptState::out_of_reach) {
            change = change.watched(Watch::UntilAbsent);
        }
        Step::advance(change)
    }

    /// Certainly too old.
    pub(super) fn stale(&self) -> bool {
        self.at.now.earliest() >= self.order.intent.stale_at()
    }

    /// Certainly not too old.
    pub(super) fn fresh(&self) -> bool {
        self.at.now.latest() < self.order.intent.stale_at()
    }

    fn until_stale(&self) -> Duration {
        let until = self.order.intent.stale_at().since(self.at.now.earliest());
        until.max(Duration::from_millis(1))
    }

    /// How long the venue, or a failed connection, makes us wait.
    pub(super) fn must_wait(&self) -> Option<Duration> {
        let wait = self.pursuit.not_before?.since(self.at.now.now);
        (!wait.is_zero()).then_some(wait)
    }

    pub(super) fn unique_for_ever(&self) -> bool {
        match self.profile.duplicate {
            DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => true,
            DuplicateRule::RefusedWithin(_)
            | DuplicateRule::RefusedWhileOpen
            | DuplicateRule::Accepted => false,
        }
    }

    /// Certainly before the fence; true where there is none.
    pub(super) fn before_fence(&self, attempt: &AttemptState) -> bool {
        match attempt.fence {
            Fence::None => true,
            Fence::Clock(fence) => self.at.now.latest() < fence,
            Fence::Height(fence) => self.at.height.is_some_and(|height| height < fence),
        }
    }
}
