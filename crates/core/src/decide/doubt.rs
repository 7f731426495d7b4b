//! Its fate is not known: look, replay, revoke, send anew, give up, or halt.

use std::time::Duration;

use super::absence::{Bound, Rounds};
use super::{Case, Step};
use crate::{
    AttemptState, Cause, Copies, DuplicateRule, FenceRule, GiveUp, HaltCause, Lacking, Mark,
    OrdState, Reason, Resubmit, RevocationState, VenueTime, Watch,
};

/// On what ground an order that was never seen may end.
enum Ground {
    /// No attempt can land, by the venue's word or because none left.
    Word,
    /// Each copy was turned away or refused, by the venue's word; one doubled below us may wait.
    Settled,
    /// Absence is complete, on documented numbers.
    Absence,
    /// Absence is complete, on a number that is only assumed, or in spite of bytes that the venue knows.
    AssumedAbsence,
}

impl Case<'_> {
    /// Goes on from Reconciling, claimed by this process.
    pub(super) fn doubt(self, rounds: Rounds) -> Step {
        if rounds.last.is_none() && self.pursuit.looks == 0 {
            return Step::LookAgain {
                after: Duration::ZERO,
            };
        }
        let step = self.capped(self.verdict(rounds), self.lacking(rounds));
        // A cancel goes out where there is nothing else to do but wait: one that comes first would, where looks are slow, put off the
        // end or the halt for ever.
        let cancels = match step {
            Step::LookAgain { .. } => self.pursuit.cancel_due(&self),
            // What may be there is canceled before bytes are sent to land.
            Step::Replay { .. } => self.pursuit.last_cancel.is_none(),
            Step::Advance(_)
            | Step::Wait { .. }
            | Step::NewAttempt
            | Step::Revoke { .. }
            | Step::Cancel
            | Step::Halt { .. }
            | Step::Nothing => false,
        };
        if cancels && self.order.cancel_requested {
            return Step::Cancel;
        }
        step
    }

    fn verdict(self, rounds: Rounds) -> Step {
        if self.seen_before() {
            return self.lost(rounds);
        }
        if let Some(step) = self.resend(rounds) {
            return step;
        }
        if self.wants_end() {
            if let Some(ground) = self.ground(rounds) {
                return self.give_up(&ground);
            }
            if let Some(step) = self.land() {
                return step;
            }
            if let Some(step) = self.revoke() {
                return step;
            }
        }
        self.go_on(self.lacking(rounds), rounds)
    }

    /// The venue has spoken of the order, so its absence is never final.
    fn seen_before(&self) -> bool {
        self.order.admitted()
    }

    pub(super) fn bytes_known(&self) -> bool {
        self.order
            .attempts
            .iter()
            .any(|attempt| attempt.bytes_known)
    }

    /// An order that exists or existed and is not shown: look on, or let it go past the reach of the lists.
    fn lost(self, rounds: Rounds) -> Step {
        if self.forgotten() && self.fills_kept() && rounds.spaced >= 2 {
            let text = "nothing open, nothing filled, and past the reach of the closed list";
            let change = self.change(Cause::OutOfMemory, text).to(OrdState::Canceled);
            return Step::advance(change.reason(Some(Reason::new("", text))));
        }
        self.go_on(self.lacking(rounds), rounds)
    }

    /// Whether the closed list does not reach back to when the venue last spoke of the order.
    fn forgotten(&self) -> bool {
        let spoken = self.order.seen_at.unwrap_or(self.order.created_at);
        let kept = self.profile.absence.closed_retention.value();
        self.at.now.earliest() >= spoken.after(kept)
    }

    /// Whether the list of fills reaches back to the order's first moment.
    fn fills_kept(&self) -> bool {
        let kept = self.profile.absence.fills_retention.value();
        self.at.now.latest() < self.order.created_at.after(kept)
    }

    /// The next send, if one is allowed now.
    fn resend(&self, rounds: Rounds) -> Option<Step> {
        if !self.may_send() {
            return None;
        }
        let last = self.order.last_attempt()?;
        if self.may_replay(last) {
            return self
                .pursuit
                .replay_due(self)
                .then_some(Step::Replay { no: last.no });
        }
        if !self.further_attempt() || self.must_wait().is_some() {
            return None;
        }
        if self
            .order
            .attempts
            .iter()
            .all(|attempt| self.clears(attempt, rounds))
        {
            return Some(Step::NewAttempt);
        }
        // Where a revocation exists it is required before a new attempt.
        self.revoke()
    }

    /// Whether anything may be sent for this intent now.
    fn may_send(&self) -> bool {
        self.at.lease
            && !self.at.entries_halted
            && self.fresh()
            && !self.order.cancel_requested
            && self.order.intent.resubmit != Resubmit::Never
    }

    /// Bytes that the venue remembers may be sent again before the fence, as long as it has not said that it knows them.
    fn may_replay(&self, attempt: &AttemptState) -> bool {
        attempt.replayable
            && attempt.copies != Copies::None
            && attempt.revocation == RevocationState::None
            && !attempt.bytes_known
            && !attempt.refused
            && self.before_fence(attempt)
    }

    /// Whether another attempt is possible at all, now or after waiting.
    fn further_attempt(&self) -> bool {
        let rebuildable = self
            .order
            .last_attempt()
            .is_some_and(|attempt| attempt.rebuildable);
        let refused = self.order.attempts.iter().any(|attempt| attempt.refused);
        rebuildable
            && !refused
            && !self.bytes_known()
            && self.order.intent.resubmit != Resubmit::Never
            && self
                .order
                .attempts
                .iter()
                .all(|attempt| self.may_clear(attempt))
    }

    /// Whether an attempt can ever stop standing in the way of the next one.
    fn may_clear(&self, attempt: &AttemptState) -> bool {
        let by_word = match attempt.revocation {
            RevocationState::Revoked => true,
            RevocationState::None | RevocationState::Asked => {
                attempt.revocable && !self.pursuit.unrevocable
            }
            RevocationState::Used(_) => false,
        };
        let turned = attempt.copies == Copies::Turned && !attempt.replayable && !attempt.revocable;
        by_word
            || attempt.copies == Copies::None
            || turned
            || self.unique_for_ever()
            || self.in_id_window()
            || self.absence_may_clear(attempt)
    }

    /// Absence carries one new attempt, where the intent says so and no number is only assumed.
    fn absence_may_clear(&self, attempt: &AttemptState) -> bool {
        let used = matches!(attempt.revocation, RevocationState::Used(_));
        // Where a revocation exists it is required.
        let revocable = attempt.revocable && !self.pursuit.unrevocable && !used;
        let fenced = match self.profile.fence {
            FenceRule::None => false,
            FenceRule::Clock { .. } | FenceRule::Height { .. } => true,
        };
        self.order.intent.resubmit == Resubmit::AfterAbsence
            && self.order.attempts.len() < 2
            && !revocable
            && (used || fenced)
            // A used nonce says that a copy passed the gate, and an assumed drain bounds it as little as it bounds the fence's.
            && !self.profile.fence.drain_assumed()
            && self.in_retention()
    }

    /// Whether an attempt does not stand in the way of the next one now.
    fn clears(&self, attempt: &AttemptState, rounds: Rounds) -> bool {
        if attempt.out_of_reach() {
            return true;
        }
        if attempt.copies == Copies::Turned && !attempt.replayable && !attempt.revocable {
            return true;
        }
        let must_revoke = match attempt.revocation {
            RevocationState::None | RevocationState::Asked => {
                attempt.revocable && !self.pursuit.unrevocable
            }
            RevocationState::Used(_) | RevocationState::Revoked => false,
        };
        if must_revoke {
            return false;
        }
        // The id itself stops a second order; one clean round past the fence spares the venue the question.
        let looked = rounds.first.is_some_and(|first| self.counts(first))
            || (self.bound() == Bound::Never && rounds.last.is_some());
        if (self.unique_for_ever() || self.in_id_window()) && looked {
            return true;
        }
        self.absence_may_clear(attempt) && self.complete(rounds)
    }

    /// Whether a send now arrives while the venue still refuses the id of the first attempt.
    fn in_id_window(&self) -> bool {
        let DuplicateRule::RefusedWithin(window) = self.profile.duplicate else {
            return false;
        };
        let longest = match self.profile.fence {
            // What rests on an assumed number is looked after for a watch: so much later it may arrive.
            FenceRule::Clock { max, drain } if self.profile.fence.drain_assumed() => max
                .saturating_add(drain.value())
                .saturating_add(self.profile.watch),
            FenceRule::Clock { max, drain } => max.saturating_add(drain.value()),
            FenceRule::None | FenceRule::Height { .. } => return false,
        };
        let arrived = self
            .at
            .now
            .latest()
            .after(longest)
            .after(self.profile.absence.margin);
        arrived < self.order.created_at.after(window)
    }

    /// Whether it is time to end: canceled, stale, or nothing more to try.
    fn wants_end(&self) -> bool {
        self.order.cancel_requested
            || self.stale()
            || !(self.further_attempt() || self.may_replay_on())
    }

    fn may_replay_on(&self) -> bool {
        let last = self.order.last_attempt();
        self.order.intent.resubmit != Resubmit::Never
            && last.is_some_and(|last| self.may_replay(last))
    }

    /// On what ground the order may end now; `None` while it may still land, as far as is known.
    fn ground(&self, rounds: Rounds) -> Option<Ground> {
        if self.order.attempts.iter().all(AttemptState::out_of_reach) {
            return Some(Ground::Word);
        }
        if self.order.attempts.iter().all(AttemptState::settled) {
            return Some(Ground::Settled);
        }
        if !(self.complete(rounds) && self.in_retention()) {
            return None;
        }
        let assumed = self.profile.fence.drain_assumed() || self.bytes_known();
        Some(if assumed {
            Ground::AssumedAbsence
        } else {
            Ground::Absence
        })
    }

    fn give_up(self, ground: &Ground) -> Step {
        let watch = match ground {
            // Absence is complete for what has a bound only.
            Ground::Absence if self.rests_on_word() => {
                Some(Watch::Until(self.at.now.latest().after(self.profile.watch)))
            }
            Ground::Word | Ground::Absence => None,
            Ground::Settled => Some(Watch::UntilAbsent),
            Ground::AssumedAbsence if self.order.intent.give_up == GiveUp::Strict => {
                return self.halt_or_look(Lacking::DocumentedDrain);
            }
            Ground::AssumedAbsence => {
                Some(Watch::Until(self.at.now.latest().after(self.profile.watch)))
            }
        };
        let (to, cause, text) = if self.order.cancel_requested {
            (
                OrdState::Canceled,
                Cause::Absent,
                "canceled; it never came to be an order",
            )
        } else if self.stale() {
            (
                OrdState::Rejected,
                Cause::Stale,
                "stale; it never came to be an order",
            )
        } else {
            (
                OrdState::Rejected,
                Cause::Absent,
                "it never came to be an order",
            )
        };
        let mut change = self
            .change(cause, text)
            .to(to)
            .reason(Some(Reason::new("", text)));
        if let Some(watch) = watch {
            change = change.watched(watch);
        }
        Step::advance(change)
    }

    /// Lands the stored bytes so that they can be canceled, where the intent says so.
    fn land(&self) -> Option<Step> {
        let last = self.order.last_attempt()?;
        let unwanted = self.order.cancel_requested || self.stale();
        let lands = self.order.intent.give_up == GiveUp::Land && self.may_replay(last);
        if !lands || !unwanted || !self.at.lease || self.at.entries_halted {
            return None;
        }
        if !self.order.land {
            let mut change = self.change(
                Cause::CancelAsked,
                "landing the stored bytes to cancel them",
            );
            change.land = true;
            change.cancel_requested = true;
            return Some(Step::advance(change));
        }
        self.pursuit
            .replay_due(self)
            .then_some(Step::Replay { no: last.no })
    }

    /// Revokes the newest attempt that may land and can be revoked.
    fn revoke(&self) -> Option<Step> {
        if self.pursuit.unrevocable {
            return None;
        }
        let mut attempts = self.order.attempts.iter().rev();
        let attempt = attempts.find(|attempt| attempt.revocable && !attempt.out_of_reach())?;
        match attempt.revocation {
            RevocationState::None => {
                let change =
                    self.change(Cause::RevokeAsked, format_args!("attempt {}", attempt.no));
                Some(Step::advance(change.mark(attempt.no, Mark::RevokeAsked)))
            }
            RevocationState::Asked => self
                .pursuit
                .revoke_due(self)
                .then_some(Step::Revoke { no: attempt.no }),
            RevocationState::Used(_) | RevocationState::Revoked => None,
        }
    }

    /// What keeps the doubt from ending.
    fn lacking(&self, rounds: Rounds) -> Lacking {
        if self.seen_before() && self.forgotten() && !self.fills_kept() {
            Lacking::Retention
        } else if self.seen_before() {
            Lacking::Sight
        } else if !self.in_retention() {
            Lacking::Retention
        } else if rounds.last.is_none() {
            Lacking::Answer
        } else if self.bound() == Bound::Never {
            Lacking::Fence
        } else {
            Lacking::Answer
        }
    }

    /// Looks on; halts when waiting cannot help, or once the doubt is older than the cap.
    fn go_on(self, lacking: Lacking, rounds: Rounds) -> Step {
        let hopeless = match lacking {
            Lacking::Retention | Lacking::DocumentedDrain => true,
            Lacking::Fence => {
                self.wants_end() && self.order.last_attempt().is_none_or(|a| !a.revocable)
            }
            Lacking::Answer | Lacking::Sight => false,
        };
        let halts = self.past_cap() && !self.at.doubt_raised(self.order.id);
        if hopeless || halts || self.long_out() {
            return self.halt_or_look(lacking);
        }
        Step::LookAgain {
            after: self.next_look(rounds),
        }
    }

    /// Whether its newest attempt has been out for longer than the cap: what was sent lately is looked for at the usual pace, also under
    /// the halt for an older doubt.
    pub(super) fn long_out(&self) -> bool {
        let last = self.order.last_attempt();
        let sent_at = last.map_or(self.order.created_at, |attempt| attempt.made_at);
        self.past_cap() && self.at.now.earliest() >= sent_at.after(self.profile.cap)
    }

    /// Whether its fate has not been known for longer than the cap.
    fn past_cap(&self) -> bool {
        let capped = |since: VenueTime| self.at.now.earliest() >= since.after(self.profile.cap);
        self.order.doubt_since.is_some_and(capped)
    }

    /// The step, but for a doubt past its cap: that halts first, whatever is still tried. Only an end comes before it.
    pub(super) fn capped(self, step: Step, lacking: Lacking) -> Step {
        let comes_first = match &step {
            Step::Advance(change) => change.to.is_some_and(OrdState::is_known),
            Step::Halt { .. } => true,
            Step::LookAgain { .. }
            | Step::Wait { .. }
            | Step::Replay { .. }
            | Step::NewAttempt
            | Step::Revoke { .. }
            | Step::Cancel
            | Step::Nothing => false,
        };
        if comes_first || !self.past_cap() || self.at.doubt_raised(self.order.id) {
            return step;
        }
        self.halt_or_look(lacking)
    }

    fn halt_or_look(self, lacking: Lacking) -> Step {
        if self.at.doubt_raised(self.order.id) {
            return Step::LookAgain {
                after: self.slowly(),
            };
        }
        let cause = HaltCause::Doubt {
            id: self.order.id,
            lacking,
        };
        Step::Halt {
            scope: self.order.account_scope(),
            cause,
        }
    }

    /// The wait before the next look: not long past the instant from which a round counts.
    fn next_look(&self, rounds: Rounds) -> Duration {
        let backoff = self.backoff();
        let counted = rounds.first.filter(|first| self.counts(*first));
        let until = match counted.map(|first| first.ended) {
            Some(crate::AsOf::Clock(ended)) => {
                Some(ended.after(self.spacing()).since(self.at.now.earliest()))
            }
            Some(crate::AsOf::Height(_)) => None,
            None => self.until_bound(),
        };
        match until {
            Some(until) if !until.is_zero() => {
                backoff.min(until.saturating_add(Duration::from_millis(1)))
            }
            Some(_) | None => backoff,
        }
    }

    pub(super) fn slowly(&self) -> Duration {
        self.profile.absence.lag.value().saturating_mul(15)
    }
}
