//! What an amend's answer, and the terms that a report shows, say of the terms that stand. Doubt about terms is none about the order.

use super::{Case, Step};
use crate::{
    AmendNo, AmendOutcome, AmendState, Cause, ExecReport, Fence, FenceRule, OrdStatus, Reject,
    VenueTime,
};

impl Case<'_> {
    /// The answer to an amend: only a refusal, or that no byte left, says something of the terms. All else is looked up.
    pub(super) fn amended(self, no: AmendNo, answer: &AmendOutcome) -> Step {
        let asked = self.order.amending().is_some_and(|amend| amend.no == no);
        let refused = match answer {
            AmendOutcome::Rejected(Reject { reason, .. }) => format!("amend {no}: {reason}"),
            AmendOutcome::NotSent(why) => format!("amend {no}: {why}"),
            AmendOutcome::Unsupported => format!("amend {no}: there is no such request"),
            AmendOutcome::Taken | AmendOutcome::NotOpen | AmendOutcome::Unknown(_) => {
                return self.resume();
            }
        };
        if !asked {
            return self.resume();
        }
        let mut change = self.change(Cause::AmendAnswer, refused);
        change.amended = Some((no, AmendState::Refused));
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

    /// Whether a look that is answered now shows an order as no copy of its last amend can change it any more.
    fn past_amend(&self) -> bool {
        let drain = match self.profile.fence {
            FenceRule::None | FenceRule::Height { .. } => return false,
            FenceRule::Clock { drain, .. } => drain.value(),
        };
        let absence = &self.profile.absence;
        // What was known of the time when the round began is not said: one lag more stands for the round.
        let wait = absence.lag.value().saturating_mul(2);
        let settled = |fence: VenueTime| fence.after(drain).after(wait).after(absence.margin);
        self.order
            .amending()
            .is_some_and(|amend| match amend.fence {
                Fence::None | Fence::Height(_) => false,
                Fence::Clock(fence) => self.at.now.earliest() >= settled(fence),
            })
    }
}
