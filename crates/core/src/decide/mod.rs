//! The decision: what to do about one order, from what is known and what was just seen.
//!
//! One pure function: no I/O, no clock, no randomness. Everything that the engine does about an order comes out of it.

mod absence;
mod amended;
mod answer;
mod doubt;
mod ended;
mod pending;
mod pursuit;
mod sighting;

use std::time::Duration;

pub use absence::Round;
pub use pursuit::Pursuit;

use crate::{
    AmendNo, AmendOutcome, AttemptNo, CancelOutcome, Cause, Change, ClOrdId, ExecReport, HaltCause,
    Lacking, Lookup, OrdState, OrderRecord, Reading, Revocation, Scope, Submission, VenueProfile,
};

/// What was just seen.
#[derive(Clone, Copy, Debug)]
pub enum Observation<'a> {
    /// The answer to a send of an attempt.
    Sent {
        /// The attempt.
        no: AttemptNo,
        /// What the answer proves.
        answer: &'a Submission,
        /// No byte of this attempt left before, in any process. After a restart nothing is first.
        first: bool,
    },
    /// A full round of lookups.
    Looked(&'a Lookup),
    /// A list or a stream spoke of the order.
    Report(&'a ExecReport),
    /// The answer to a cancel.
    CancelAnswer(&'a CancelOutcome),
    /// The answer to a revocation.
    Revoked {
        /// The attempt.
        no: AttemptNo,
        /// What the answer proves.
        answer: &'a Revocation,
    },
    /// The answer to an amend.
    Amended {
        /// The amend.
        no: AmendNo,
        /// What the answer proves.
        answer: &'a AmendOutcome,
    },
    /// Nothing: go on from the row, after a change, a wait or a restart.
    Resume,
}

impl Observation<'_> {
    /// The reports in it: one per venue order id.
    fn reports(&self) -> &[ExecReport] {
        match *self {
            Observation::Sent {
                answer: Submission::Acked(report),
                ..
            }
            | Observation::Report(report)
            | Observation::CancelAnswer(CancelOutcome::Canceled(report)) => {
                std::slice::from_ref(report)
            }
            Observation::Looked(Lookup::Found(reports)) => reports,
            Observation::Sent {
                answer:
                    Submission::Received(_)
                    | Submission::Rejected(_)
                    | Submission::Duplicate(_)
                    | Submission::NotTaken { .. }
                    | Submission::NotSent(_)
                    | Submission::Unknown(_),
                ..
            }
            | Observation::Looked(Lookup::Absent { .. } | Lookup::Inconclusive(_))
            | Observation::CancelAnswer(
                CancelOutcome::Taken
                | CancelOutcome::NotOpen
                | CancelOutcome::NotYet
                | CancelOutcome::Unknown(_),
            )
            | Observation::Revoked { .. }
            | Observation::Amended { .. }
            | Observation::Resume => &[],
        }
    }
}

/// Where things stand around the order.
#[derive(Clone, Debug)]
pub struct Situation {
    /// The venue's time.
    pub now: Reading,
    /// The venue's block height, where its fences are heights.
    pub height: Option<u64>,
    /// Whether this process drives the order.
    pub lease: bool,
    /// A declared halt covers the order: nothing is sent again. Halts from doubt do not count, whoever's doubt it is.
    pub entries_halted: bool,
    /// The halts in force that speak of this order.
    pub alarms: Vec<HaltCause>,
}

impl Situation {
    pub(crate) fn raised(&self, alarm: &HaltCause) -> bool {
        self.alarms.contains(alarm)
    }

    pub(crate) fn doubt_raised(&self, id: ClOrdId) -> bool {
        let mut alarms = self.alarms.iter();
        alarms.any(|alarm| matches!(alarm, HaltCause::Doubt { id: other, .. } if *other == id))
    }
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Commit the change, then decide again with [`Observation::Resume`].
    Advance(Box<Change>),
    /// Look the order up after this long.
    LookAgain {
        /// How long to wait; the driver adds jitter.
        after: Duration,
    },
    /// Decide again after this long; there is nothing to look up.
    Wait {
        /// How long to wait.
        after: Duration,
    },
    /// Send the stored bytes of this attempt again.
    Replay {
        /// The attempt.
        no: AttemptNo,
    },
    /// Build, journal and send the next attempt.
    NewAttempt,
    /// Make this attempt unlandable; that it is asked is durable already.
    Revoke {
        /// The attempt.
        no: AttemptNo,
    },
    /// Ask the venue to cancel.
    Cancel,
    /// Halt, then decide again.
    Halt {
        /// What.
        scope: Scope,
        /// Why.
        cause: HaltCause,
    },
    /// Nothing more to do.
    Nothing,
}

impl Step {
    pub(crate) fn advance(change: Change) -> Self {
        Self::Advance(Box::new(change))
    }
}

/// Everything that a rule looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) order: &'a OrderRecord,
    pub(crate) pursuit: &'a Pursuit,
    pub(crate) profile: &'a VenueProfile,
    pub(crate) at: &'a Situation,
}

/// Decides what to do about `order` next.
///
/// `pursuit` is what this process remembers of it; the caller keeps it up to date with [`Pursuit::note`].
pub fn decide(
    order: &OrderRecord,
    pursuit: &Pursuit,
    profile: &VenueProfile,
    seen: &Observation<'_>,
    at: &Situation,
) -> Step {
    let case = Case {
        order,
        pursuit,
        profile,
        at,
    };
    match *seen {
        Observation::Sent { no, answer, first } => case.answered(no, answer, first),
        Observation::Looked(Lookup::Found(reports)) => case.sighted(reports, Cause::Found),
        Observation::Looked(Lookup::Absent { begun, ended }) => case.not_shown(Round {
            begun: *begun,
            ended: *ended,
        }),
        Observation::Looked(Lookup::Inconclusive(_)) => case.resume(),
        Observation::Report(report) => case.sighted(std::slice::from_ref(report), Cause::Report),
        Observation::CancelAnswer(CancelOutcome::Canceled(report)) => {
            case.sighted(std::slice::from_ref(report), Cause::CancelAnswer)
        }
        // None of these is terminal, and a refused cancel proves nothing: look.
        Observation::CancelAnswer(
            CancelOutcome::Taken
            | CancelOutcome::NotOpen
            | CancelOutcome::NotYet
            | CancelOutcome::Unknown(_),
        ) => Step::LookAgain { after: case.soon() },
        Observation::Revoked { no, answer } => case.revoked(no, answer),
        Observation::Amended { no, answer } => case.amended(no, answer),
        Observation::Resume => case.resume(),
    }
}

impl<'a> Case<'a> {
    /// A change of the order, now.
    pub(crate) fn change(&self, cause: Cause, evidence: impl std::fmt::Display) -> Change {
        Change::of(self.order, self.at.now.now, cause, evidence)
    }

    /// Goes on from the row.
    pub(crate) fn resume(self) -> Step {
        if !self.at.lease {
            return Step::Nothing;
        }
        match self.order.state {
            OrdState::Pending => self.pending(),
            OrdState::Submitted if self.pursuit.in_flight => Step::Nothing,
            OrdState::Submitted if self.pursuit.received => self.received(None),
            OrdState::Submitted => {
                let evidence = "an attempt was durable and its answer is not known";
                Step::advance(
                    self.change(Cause::Restarted, evidence)
                        .to(OrdState::Unknown),
                )
            }
            OrdState::Unknown => {
                let change = self.change(Cause::Claimed, "finding out");
                Step::advance(change.to(OrdState::Reconciling))
            }
            OrdState::Reconciling if self.pursuit.claimed => self.doubt(self.pursuit.rounds),
            OrdState::Reconciling => {
                let change = self.change(Cause::Restarted, "the claim was another's");
                Step::advance(change.to(OrdState::Unknown))
            }
            OrdState::Acked | OrdState::Partial => self.working(),
            OrdState::Filled | OrdState::Canceled | OrdState::Rejected => {
                self.ended(self.pursuit.rounds, None)
            }
        }
    }

    /// The venue named it and it works.
    fn working(&self) -> Step {
        if self.order.cancel_requested && self.pursuit.cancel_due(self) {
            return Step::Cancel;
        }
        let after = if self.order.cancel_requested {
            self.soon()
        } else if self.order.amending().is_some() {
            self.profile.poll.min(self.soon().saturating_mul(2))
        } else {
            self.profile.poll
        };
        Step::LookAgain { after }
    }

    /// Taken under a receipt that names nothing which a lookup must find; doubt from the fence, or a lag after the send, on.
    fn received(self, round: Option<Round>) -> Step {
        self.capped(self.taken(round), Lacking::Answer)
    }

    fn taken(&self, round: Option<Round>) -> Step {
        if self.order.cancel_requested && self.pursuit.cancel_due(self) {
            return Step::Cancel;
        }
        let lag = self.profile.absence.lag.value();
        let sent_at = self
            .order
            .last_attempt()
            .map_or(self.order.created_at, |a| a.made_at);
        let time_out = sent_at.after(lag.saturating_add(self.profile.absence.margin));
        // A look that proved nothing will do: a silent venue must not hide the doubt.
        let looked = round.is_some() || self.pursuit.looks > 0;
        if looked && self.at.now.earliest() >= time_out {
            let change = self.change(Cause::NotShown, "taken, and not shown in time");
            return Step::advance(change.to(OrdState::Unknown));
        }
        Step::LookAgain { after: self.soon() }
    }

    /// A full round did not show the order.
    fn not_shown(self, round: Round) -> Step {
        let rounds = self.pursuit.rounds.with(round, &self);
        match self.order.state {
            OrdState::Pending => self.resume(),
            OrdState::Submitted if self.pursuit.received && self.at.lease => {
                self.received(Some(round))
            }
            OrdState::Submitted | OrdState::Unknown => self.resume(),
            OrdState::Reconciling if self.pursuit.claimed && self.at.lease => self.doubt(rounds),
            OrdState::Reconciling => self.resume(),
            OrdState::Acked | OrdState::Partial => self.lost_sight(round),
            OrdState::Filled | OrdState::Canceled | OrdState::Rejected => {
                if self.at.lease {
                    self.ended(rounds, Some(round))
                } else {
                    Step::Nothing
                }
            }
        }
    }

    /// An order that the venue named is not shown: in doubt once the lists had time to show it.
    fn lost_sight(&self, round: Round) -> Step {
        let spoken = self.order.seen_at.unwrap_or(self.order.updated_at);
        if self.begun_a_lag_after(round, spoken) {
            let evidence = "no list shows an order that the venue named";
            return Step::advance(self.change(Cause::NotShown, evidence).to(OrdState::Unknown));
        }
        self.resume()
    }

    /// The shortest wait between two looks: a tenth of the lag.
    pub(crate) fn soon(&self) -> Duration {
        (self.profile.absence.lag.value() / 10).max(Duration::from_millis(5))
    }

    /// The wait before the next look: doubling from [`Self::soon`], to two and a half lags; slow under a halt of its own, unless an
    /// attempt has left since the cap.
    pub(crate) fn backoff(&self) -> Duration {
        let lag = self.profile.absence.lag.value();
        let lately = self.order.in_doubt() && !self.long_out();
        if self.at.doubt_raised(self.order.id) && !lately {
            return lag.saturating_mul(15);
        }
        let doubled = self.soon().saturating_mul(1 << self.pursuit.looks.min(10));
        doubled.min(lag.saturating_mul(5) / 2)
    }
}
