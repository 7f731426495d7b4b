//! What this process remembers of an order: lost in a crash, and safe to lose.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use super::absence::Rounds;
use super::{Case, Observation, Round, Situation, Step};
use crate::{
    CancelOutcome, ExecId, Fill, Lookup, NotSent, OrdState, OrderId, OrderRecord, Revocation,
    Submission, VenueProfile, VenueTime,
};

/// What this process remembers of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pursuit {
    /// A send is under way: its answer comes first.
    pub(crate) in_flight: bool,
    /// The last send was taken under a receipt.
    pub(crate) received: bool,
    /// This process claimed the doubt.
    pub(crate) claimed: bool,
    /// Rounds since the row last changed its state.
    pub(crate) looks: u32,
    pub(crate) rounds: Rounds,
    /// What was known of the venue's time before the first read of the newest look left.
    pub(crate) begun: Option<VenueTime>,
    /// Nothing is sent again before this.
    pub(crate) not_before: Option<VenueTime>,
    pub(crate) failed_connects: u32,
    pub(crate) last_replay: Option<VenueTime>,
    pub(crate) last_cancel: Option<VenueTime>,
    pub(crate) last_revoke: Option<VenueTime>,
    pub(crate) unrevocable: bool,
    booked: BTreeSet<(OrderId, ExecId)>,
    /// Venue orders that ended by the venue's word.
    ended: BTreeSet<OrderId>,
}

/// The longest wait between two tries to connect.
const MAX_CONNECT_BACKOFF: Duration = Duration::from_secs(5);

impl Pursuit {
    /// Remembers fills that the journal holds, so that they are no news.
    pub fn booked<'f>(&mut self, fills: impl IntoIterator<Item = &'f Fill>) {
        let ids = fills
            .into_iter()
            .map(|fill| (fill.order_id.clone(), fill.exec_id.clone()));
        self.booked.extend(ids);
    }

    /// Forgets fills whose commit was refused: the journal does not hold them after all.
    pub(crate) fn not_booked(&mut self, fills: &[Fill]) {
        for fill in fills {
            self.booked
                .remove(&(fill.order_id.clone(), fill.exec_id.clone()));
        }
    }

    /// A send of an attempt is about to begin.
    pub fn sending(&mut self) {
        self.in_flight = true;
        self.received = false;
        self.looks = 0;
        // A round from before says nothing of this copy.
        self.rounds = Rounds::default();
    }

    /// A look is about to begin: what it shows is no older than this.
    pub fn looking(&mut self, begun: VenueTime) {
        self.begun = Some(begun);
    }

    /// Nothing is sent again before this instant.
    pub fn hold_until(&mut self, instant: VenueTime) {
        self.not_before = Some(self.not_before.unwrap_or_default().max(instant));
    }

    /// Whether the journal does not hold the fill, as far as this process knows.
    pub(crate) fn is_fresh(&self, fill: &Fill) -> bool {
        !self
            .booked
            .contains(&(fill.order_id.clone(), fill.exec_id.clone()))
    }

    /// Whether the venue said that this order of its ended, as far as this process heard.
    pub(crate) fn has_ended(&self, order_id: &OrderId) -> bool {
        self.ended.contains(order_id)
    }

    /// Takes in what was seen, and what was decided about it. Call it after [`super::decide`], before the step is taken.
    pub fn note(
        &mut self,
        order: &OrderRecord,
        profile: &VenueProfile,
        seen: &Observation<'_>,
        step: &Step,
        at: &Situation,
    ) {
        let now = at.now.now;
        if let Observation::Looked(_) = seen {
            self.begun = None;
        }
        let ended = seen.reports().iter().filter(|r| r.status.is_ended());
        let ended = ended.filter_map(|report| report.handle.order_id.clone());
        self.ended.extend(ended);
        match seen {
            Observation::Sent { answer, .. } => self.answered(answer, profile, now),
            Observation::Looked(Lookup::Absent { begun, ended }) => {
                let round = Round {
                    begun: *begun,
                    ended: *ended,
                };
                let case = Case {
                    order,
                    pursuit: self,
                    profile,
                    at,
                };
                let rounds = case.pursuit.rounds.with(round, &case);
                self.rounds = rounds;
                self.looks = self.looks.saturating_add(1);
            }
            // The rounds before a sighting were wrong, or are outdated.
            Observation::Looked(Lookup::Found(_)) => {
                self.rounds = Rounds::default();
                self.looks = self.looks.saturating_add(1);
            }
            Observation::Report(_) | Observation::CancelAnswer(CancelOutcome::Canceled(_)) => {
                self.rounds = Rounds::default();
            }
            Observation::Looked(Lookup::Inconclusive(_)) => {
                self.looks = self.looks.saturating_add(1);
            }
            Observation::Revoked {
                answer: Revocation::Unsupported,
                ..
            } => self.unrevocable = true,
            Observation::Revoked { .. }
            | Observation::CancelAnswer(
                CancelOutcome::Taken
                | CancelOutcome::NotOpen
                | CancelOutcome::NotYet
                | CancelOutcome::Unknown(_),
            )
            | Observation::Amended { .. }
            | Observation::Resume => {}
        }
        match step {
            Step::Advance(change) => {
                if let Some(to) = change.to {
                    self.claimed = to == OrdState::Reconciling;
                    self.looks = 0;
                }
                self.booked(&change.fills);
            }
            Step::Replay { .. } => self.last_replay = Some(now),
            Step::Cancel => self.last_cancel = Some(now),
            Step::Revoke { .. } => self.last_revoke = Some(now),
            Step::LookAgain { .. }
            | Step::Wait { .. }
            | Step::NewAttempt
            | Step::Halt { .. }
            | Step::Nothing => {}
        }
    }

    fn answered(&mut self, answer: &Submission, profile: &VenueProfile, now: VenueTime) {
        self.in_flight = false;
        self.received = matches!(answer, Submission::Received(_));
        let soon = profile.absence.lag.value() / 10;
        match answer {
            Submission::NotTaken { retry_after, .. } => {
                self.not_before = Some(now.after(retry_after.unwrap_or(soon)));
            }
            // What holds a send back may last: each try is journaled, so they keep a distance.
            Submission::NotSent(NotSent::Connect(_) | NotSent::HeldBack(_)) => {
                let backoff = soon.saturating_mul(1 << self.failed_connects.min(10));
                self.failed_connects = self.failed_connects.saturating_add(1);
                self.not_before = Some(now.after(backoff.min(MAX_CONNECT_BACKOFF)));
            }
            Submission::Acked(_)
            | Submission::Received(_)
            | Submission::Rejected(_)
            | Submission::Duplicate(_)
            | Submission::Unknown(_) => {
                self.failed_connects = 0;
            }
        }
    }

    /// Whether a cancel may go out again.
    pub(crate) fn cancel_due(&self, case: &Case<'_>) -> bool {
        self.spaced(self.last_cancel, case)
    }

    /// Whether the bytes may go out again.
    pub(crate) fn replay_due(&self, case: &Case<'_>) -> bool {
        self.spaced(self.last_replay, case)
    }

    /// Whether a revocation may go out again.
    pub(crate) fn revoke_due(&self, case: &Case<'_>) -> bool {
        self.spaced(self.last_revoke, case)
    }

    fn spaced(&self, last: Option<VenueTime>, case: &Case<'_>) -> bool {
        let wait = (case.profile.absence.lag.value() / 2).max(Duration::from_millis(20));
        last.is_none_or(|last| case.at.now.now >= last.after(wait))
    }

    /// Hashes what of it can still decide something about `order`: what hashes alike is followed by the same decisions.
    ///
    /// For checkers that tell worlds apart. An instant so far back that no rule can tell it from an earlier one hashes like that one. `at` needs
    /// no alarms, and is of the begin of the round of lookups that is under way, where one is.
    pub fn hash_decisive(
        &self,
        order: &OrderRecord,
        profile: &VenueProfile,
        at: &Situation,
        state: &mut impl Hasher,
    ) {
        let case = Case {
            order,
            pursuit: self,
            profile,
            at,
        };
        let now = at.now.now;
        (self.in_flight, self.received, self.claimed).hash(state);
        (self.unrevocable, self.failed_connects).hash(state);
        (&self.booked, &self.ended).hash(state);
        // Beyond ten looks every wait is the longest one.
        self.looks.min(10).hash(state);
        // Waiting goes by what is still ahead.
        self.not_before.filter(|instant| *instant > now).hash(state);
        for (last, due) in [
            (self.last_replay, self.replay_due(&case)),
            (self.last_cancel, self.cancel_due(&case)),
            (self.last_revoke, self.revoke_due(&case)),
        ] {
            (last.is_some(), last.filter(|_| !due)).hash(state);
        }
        self.rounds.hash_decisive(&case, state);
    }
}
