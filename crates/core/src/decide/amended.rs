//! What an amend's answer, and the terms that a report shows, say of the terms that stand. Doubt about terms is none about the order.

use super::{Case, Step};
use crate::{
    AmendNo, AmendOutcome, AmendState, Cause, ExecReport, Fence, FenceRule, OrdStatus, VenueTime,
};

impl Case<'_> {
    /// The answer to an amend: only a refusal, or that no byte left, says something of the terms. All else is looked up.
    pub(super) fn amended(self, no: AmendNo, answer: &AmendOutcome) -> Step {
        let asked = self.order.amending().is_some_and(|amend| amend.no == no);
        let (refused, halt) = match answer {
            AmendOutcome::Rejected(reject) => {
                let text = format!("amend {no}: {}", reject.reason);
                (text, self.refused_keys(reject))
            }
            AmendOutcome::NotSent(why) => (format!("amend {no}: {why}"), None),
            AmendOutcome::Unsupported => (format!("amend {no}: there is no such request"), None),
            AmendOutcome::Taken | AmendOutcome::NotOpen | AmendOutcome::Unknown(_) => {
                return self.resume();
            }
        };
        if !asked && halt.is_none() {
            return self.resume();
        }
        let mut change = self.change(Cause::AmendAnswer, refused);
        change.amended = asked.then_some((no, AmendState::Refused));
        change.halt = halt;
        Step::advance(change)
    }

    /// What a report's terms say of an amend, where that is new.
    pub(super) fn shown_terms(
        &self,
        report: &ExecReport,
        cause: Cause,
    ) -> Option<(AmendNo, AmendState)> {
        // Fills alone show no terms.
        if report.status == OrdStatus::NotShown {
            return None;
        }
        let settled = cause == Cause::Found && self.past_amend();
        self.order
            .amend_seen(&report.seen, report.transact_time, settled)
    }

    /// Whether the look began when no copy of the last amend could change the order any more. Only a fence says when that is: where
    /// there is none, a copy may be held on its way for as long as it likes, and only the venue's word settles the amend.
    fn past_amend(&self) -> bool {
        let drain = match self.profile.fence {
            FenceRule::None | FenceRule::Height { .. } => return false,
            FenceRule::Clock { drain, .. } => drain.value(),
        };
        let absence = &self.profile.absence;
        let wait = drain.saturating_add(absence.lag.value());
        let settled = |fence: VenueTime| fence.after(wait).after(absence.margin);
        let fence = self.order.amending().map(|amend| amend.fence);
        match (self.pursuit.begun, fence) {
            (Some(begun), Some(Fence::Clock(fence))) => begun >= settled(fence),
            (Some(_), Some(Fence::None | Fence::Height(_))) | (None, _) | (_, None) => false,
        }
    }
}
