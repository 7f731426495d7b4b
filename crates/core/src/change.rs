//! A change of an order's row: what a store commits, and what the row becomes by it.
//!
//! Every store applies changes through [`OrderRecord::apply`], so that a rule stands once.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    AmendNo, AmendRecord, AmendState, AsOf, Attempt, AttemptNo, AttemptState, ClOrdId, Copies,
    Entry, Fill, Halt, IllegalTransition, Key, OrdState, OrderId, OrderRecord, Px, Qty, Reason,
    RevocationState, VenueTime, Version, Watch,
};

/// Whether a commit waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// May be lost, as part of a suffix, in a power cut; never in a process crash.
    Lazy,
    /// Durable, with everything committed before it, when the call returns.
    Sync,
}

/// Why a row changed, in one word for logs and people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Journaled and about to be sent.
    Placed,
    /// An answer to a send.
    Answer,
    /// A lookup found it.
    Found,
    /// A round did not show it.
    NotShown,
    /// A list, a stream or a poll spoke of it.
    Report,
    /// This process starts to find out.
    Claimed,
    /// A restart, or another driver: what was in flight is not known.
    Restarted,
    /// The same bytes are sent again.
    Replayed,
    /// A new attempt is sent.
    Resent,
    /// Other terms are asked.
    AmendAsked,
    /// An answer to an amend.
    AmendAnswer,
    /// A cancel is asked.
    CancelAsked,
    /// An answer to a cancel.
    CancelAnswer,
    /// A revocation is asked.
    RevokeAsked,
    /// An answer to a revocation.
    RevokeAnswer,
    /// Absence is final.
    Absent,
    /// Too old to become an order.
    Stale,
    /// Past the reach of the venue's lists, with nothing open and nothing filled.
    OutOfMemory,
    /// The end of a watch.
    WatchEnded,
    /// Fills that came without a change of state.
    Fills,
}

impl Cause {
    /// The lower-case word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Placed => "placed",
            Self::Answer => "answer",
            Self::Found => "found",
            Self::NotShown => "not_shown",
            Self::Report => "report",
            Self::Claimed => "claimed",
            Self::Restarted => "restarted",
            Self::Replayed => "replayed",
            Self::Resent => "resent",
            Self::AmendAsked => "amend_asked",
            Self::AmendAnswer => "amend_answer",
            Self::CancelAsked => "cancel_asked",
            Self::CancelAnswer => "cancel_answer",
            Self::RevokeAsked => "revoke_asked",
            Self::RevokeAnswer => "revoke_answer",
            Self::Absent => "absent",
            Self::Stale => "stale",
            Self::OutOfMemory => "out_of_memory",
            Self::WatchEnded => "watch_ended",
            Self::Fills => "fills",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is learned about one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// No byte of it left.
    NoneLeft,
    /// Its only copy was turned away before it was acted upon.
    TurnedAway,
    /// A copy is about to leave again.
    Loose,
    /// The venue has spoken of the order.
    Admitted,
    /// The venue knows the bytes.
    BytesKnown,
    /// Refused for good, in answer to its only copy.
    Refused,
    /// Taken, with a receipt under which the venue may be asked.
    Receipt(Key),
    /// Its revocation is asked.
    RevokeAsked,
    /// It cannot land any more.
    Revoked,
    /// Its nonce was used by then.
    Used(AsOf),
}

/// A compare-and-set on one row, with its log entry and its fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The order.
    pub id: ClOrdId,
    /// The version that the row must have.
    pub expected: Version,
    /// Now, venue time.
    pub at: VenueTime,
    /// Why.
    pub cause: Cause,
    /// What it rests on, in words.
    pub evidence: Box<str>,
    /// The new state; `None` when it stays.
    pub to: Option<OrdState>,
    /// A venue order id that was seen.
    pub order_id: Option<OrderId>,
    /// Executed, as the venue says.
    pub cum_qty: Option<Qty>,
    /// Average price, as the venue says.
    pub avg_px: Option<Px>,
    /// Why it ended.
    pub reason: Option<Reason>,
    /// Fills; those already booked change nothing.
    pub fills: Vec<Fill>,
    /// What is learned about attempts.
    pub marks: Vec<(AttemptNo, Mark)>,
    /// The next attempt, durable before its first byte leaves.
    pub next_attempt: Option<Attempt>,
    /// Other terms are asked, durable before their first byte leaves.
    pub amend: Option<AmendRecord>,
    /// What is learned of an amend.
    pub amended: Option<(AmendNo, AmendState)>,
    /// A cancel is asked.
    pub cancel_requested: bool,
    /// The stored bytes are to land and be canceled.
    pub land: bool,
    /// The watch; `None` when it stays, `Some(None)` when it ends.
    pub watch: Option<Option<Watch>>,
    /// A halt that is durable with this change or not at all.
    pub halt: Option<Halt>,
    /// Refuse the change when a declared halt covers the order: tested inside the commit.
    pub unless_halted: bool,
}

impl Change {
    /// A change of `order` that changes nothing yet.
    pub fn of(
        order: &OrderRecord,
        at: VenueTime,
        cause: Cause,
        evidence: impl fmt::Display,
    ) -> Self {
        Self {
            id: order.id,
            expected: order.version,
            at,
            cause,
            evidence: evidence.to_string().chars().take(512).collect(),
            to: None,
            order_id: None,
            cum_qty: None,
            avg_px: None,
            reason: None,
            fills: Vec::new(),
            marks: Vec::new(),
            next_attempt: None,
            amend: None,
            amended: None,
            cancel_requested: false,
            land: false,
            watch: None,
            halt: None,
            unless_halted: false,
        }
    }

    /// Sets the new state.
    #[must_use]
    pub fn to(mut self, to: OrdState) -> Self {
        self.to = Some(to);
        self
    }

    /// Adds what is learned about an attempt.
    #[must_use]
    pub fn mark(mut self, no: AttemptNo, mark: Mark) -> Self {
        self.marks.push((no, mark));
        self
    }

    /// Sets why it ended.
    #[must_use]
    pub fn reason(mut self, reason: Option<Reason>) -> Self {
        self.reason = reason;
        self
    }

    /// Sets a watch.
    #[must_use]
    pub fn watched(mut self, watch: Watch) -> Self {
        self.watch = Some(Some(watch));
        self
    }

    /// Sets a halt.
    #[must_use]
    pub fn halting(mut self, halt: Halt) -> Self {
        self.halt = Some(halt);
        self
    }

    /// Whether losing it in a power cut could place a second order, revive risk or contradict what was told.
    ///
    /// All else is found again at the venue.
    pub fn durability(&self) -> Durability {
        let asks = self.marks.iter().any(|(_, mark)| match mark {
            Mark::RevokeAsked | Mark::Loose => true,
            Mark::NoneLeft
            | Mark::TurnedAway
            | Mark::Admitted
            | Mark::BytesKnown
            | Mark::Refused
            | Mark::Receipt(_)
            | Mark::Revoked
            | Mark::Used(_) => false,
        });
        let sync = asks
            || self.next_attempt.is_some()
            || self.amend.is_some()
            || self.cancel_requested
            || self.land
            || self.halt.is_some()
            || self.to == Some(OrdState::Rejected)
            || self.to == Some(OrdState::Submitted)
            || matches!(self.watch, Some(Some(_)));
        if sync {
            Durability::Sync
        } else {
            Durability::Lazy
        }
    }
}

/// A change that breaks a rule of the row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The row is at another version: someone else was first.
    #[error("order {id} is at version {found}, not {expected}")]
    Conflict {
        /// The order.
        id: ClOrdId,
        /// The version that the change expected.
        expected: Version,
        /// The version that the row has.
        found: Version,
    },
    /// The table of states does not hold the step.
    #[error(transparent)]
    Illegal(#[from] IllegalTransition),
    /// Pending means that no copy is on its way, and one may be.
    #[error("order {id} cannot be pending while a copy of an attempt may be on its way")]
    CopyLoose {
        /// The order.
        id: ClOrdId,
    },
    /// A new attempt that does not follow the last one.
    #[error("attempt {no} does not follow attempt {last} of order {id}")]
    AttemptOrder {
        /// The order.
        id: ClOrdId,
        /// The number given.
        no: AttemptNo,
        /// The last one there is.
        last: AttemptNo,
    },
    /// A new attempt, or another copy, for an order that exists, ended, or is to be canceled.
    #[error("order {id} may not be sent again")]
    NoMoreSends {
        /// The order.
        id: ClOrdId,
    },
    /// An attempt that the row does not have.
    #[error("order {id} has no attempt {no}")]
    NoSuchAttempt {
        /// The order.
        id: ClOrdId,
        /// The number given.
        no: AttemptNo,
    },
    /// An amend of an order that does not work, that is to be canceled, whose last amend is not settled, or that has no terms for it.
    #[error("order {id} may not be amended now")]
    NoAmend {
        /// The order.
        id: ClOrdId,
    },
    /// An amend that the row does not have.
    #[error("order {id} has no amend {no}")]
    NoSuchAmend {
        /// The order.
        id: ClOrdId,
        /// The number given.
        no: AmendNo,
    },
    /// A row with executions never was rejected.
    #[error("order {id} has executions and cannot be rejected")]
    RejectedWithFills {
        /// The order.
        id: ClOrdId,
    },
    /// Sums that do not fit a decimal.
    #[error("the quantities of order {id} do not fit")]
    Overflow {
        /// The order.
        id: ClOrdId,
    },
}

impl OrderRecord {
    /// The row after the change. `fresh` are the fills of the change that the journal does not hold yet.
    ///
    /// # Errors
    /// [`ChangeError`]; the row stays as it was.
    pub fn apply(&self, change: &Change, fresh: &[Fill]) -> Result<Self, ChangeError> {
        let id = self.id;
        if self.version != change.expected {
            return Err(ChangeError::Conflict {
                id,
                expected: change.expected,
                found: self.version,
            });
        }
        let mut row = self.clone();
        row.version = self.version.saturating_add(1);
        row.updated_at = self.updated_at.max(change.at);
        row.cancel_requested |= change.cancel_requested;
        row.land |= change.land;
        for (no, mark) in &change.marks {
            let attempt = row.attempts.iter_mut().find(|attempt| attempt.no == *no);
            attempt
                .ok_or(ChangeError::NoSuchAttempt { id, no: *no })?
                .learn(mark, &change.evidence);
        }
        if let Some(order_id) = &change.order_id
            && !row.order_ids.contains(order_id)
        {
            row.order_ids.push(order_id.clone());
        }
        row.book(change, fresh)?;
        if change.avg_px.is_some() {
            row.avg_px = change.avg_px;
        }
        if change.reason.is_some() && (!self.state.is_terminal() || self.reason.is_none()) {
            row.reason.clone_from(&change.reason);
        }
        if let Some(watch) = change.watch {
            row.watch = watch;
        }
        if let Some(to) = change.to {
            row.state = self.state.step(to)?;
        }
        row.check_sends(self, change)?;
        if let Some((no, state)) = change.amended
            && !row.learn_amend(no, state)
        {
            return Err(ChangeError::NoSuchAmend { id, no });
        }
        if let Some(amend) = &change.amend
            && !row.ask_amend(amend)
        {
            return Err(ChangeError::NoAmend { id });
        }
        if let Some(attempt) = &change.next_attempt {
            row.attempts.push(AttemptState::new(attempt, change.at));
        }
        // A further attempt is no verdict: the doubt is as old as its first moment until the venue says what became of the order.
        row.doubt_since = if row.state.is_known() {
            None
        } else {
            let now = row.state.is_doubt().then_some(change.at);
            self.doubt_since.or(now)
        };
        if row.state == OrdState::Rejected && !row.cum_qty.is_zero() && change.to.is_some() {
            return Err(ChangeError::RejectedWithFills { id });
        }
        Ok(row)
    }

    fn book(&mut self, change: &Change, fresh: &[Fill]) -> Result<(), ChangeError> {
        let overflow = || ChangeError::Overflow { id: self.id };
        let mut booked = self.booked_qty;
        for fill in fresh {
            booked = booked.checked_add(fill.last_qty).ok_or_else(overflow)?;
        }
        self.booked_qty = booked;
        self.cum_qty = self.cum_qty.max(change.cum_qty.unwrap_or_default());
        // What a terminal row ended with stands, so that a fill beyond it shows as late.
        if !self.state.is_terminal() {
            self.cum_qty = self.cum_qty.max(booked);
        }
        let spoken =
            change.order_id.is_some() || change.cum_qty.is_some() || !change.fills.is_empty();
        if spoken {
            self.seen_at = Some(self.seen_at.unwrap_or_default().max(change.at));
        }
        Ok(())
    }

    /// No send after the end, after existence was proven, or after a cancel was asked; Pending only with no copy out.
    fn check_sends(&self, before: &Self, change: &Change) -> Result<(), ChangeError> {
        let id = self.id;
        if self.state == OrdState::Pending && !self.attempts.iter().all(AttemptState::settled) {
            return Err(ChangeError::CopyLoose { id });
        }
        if let Some(attempt) = &change.next_attempt {
            let last = before.last_attempt().map_or(0, |attempt| attempt.no);
            if attempt.no != last.saturating_add(1) {
                return Err(ChangeError::AttemptOrder {
                    id,
                    no: attempt.no,
                    last,
                });
            }
            let known = self.admitted() || self.attempts.iter().any(|attempt| attempt.bytes_known);
            if self.cancel_requested || known || self.state != OrdState::Submitted {
                return Err(ChangeError::NoMoreSends { id });
            }
        }
        let another = change.marks.iter().any(|(_, mark)| *mark == Mark::Loose);
        if another && (self.state.is_terminal() || (self.cancel_requested && !self.land)) {
            return Err(ChangeError::NoMoreSends { id });
        }
        if change.to == Some(OrdState::Submitted) && change.next_attempt.is_none() && !another {
            return Err(ChangeError::NoMoreSends { id });
        }
        Ok(())
    }
}

impl AttemptState {
    fn learn(&mut self, mark: &Mark, evidence: &str) {
        match mark {
            Mark::NoneLeft => self.copies = Copies::None,
            Mark::TurnedAway => self.copies = Copies::Turned,
            Mark::Loose => self.copies = Copies::Loose,
            Mark::Admitted => self.admitted = true,
            Mark::BytesKnown => self.bytes_known = true,
            Mark::Refused => self.refused = true,
            Mark::Receipt(key) => {
                if !self.keys.contains(key) {
                    self.keys.push(key.clone());
                }
            }
            Mark::RevokeAsked => {
                if self.revocation == RevocationState::None {
                    self.revocation = RevocationState::Asked;
                }
            }
            Mark::Revoked => self.revocation = RevocationState::Revoked,
            Mark::Used(at) => {
                if self.revocation != RevocationState::Revoked {
                    self.revocation = RevocationState::Used(*at);
                }
            }
        }
        self.outcome = evidence.chars().take(256).collect();
    }
}

/// A row of the log of transitions. Never rewritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// The order.
    pub id: ClOrdId,
    /// The version that the row had after it.
    pub version: Version,
    /// When, venue time.
    pub at: VenueTime,
    /// The state before; `None` for the first entry.
    pub from: Option<OrdState>,
    /// The state after.
    pub to: OrdState,
    /// Why.
    pub cause: Cause,
    /// What it rests on, in words.
    pub evidence: Box<str>,
}

impl Transition {
    /// The entry of a change that took `before` to `after`.
    pub fn of(before: &OrderRecord, after: &OrderRecord, change: &Change) -> Self {
        Self {
            id: after.id,
            version: after.version,
            at: change.at,
            from: Some(before.state),
            to: after.state,
            cause: change.cause,
            evidence: change.evidence.clone(),
        }
    }

    /// The first entry of a row. Who took the responsibility for an entry in spite of a halt stands in it.
    pub fn first(order: &OrderRecord, entry: &Entry) -> Self {
        let evidence = match entry {
            Entry::Risk { .. } | Entry::Exit => "journaled before the first byte".into(),
            Entry::DespiteHalt { who } => {
                let text = format!("journaled before the first byte, in spite of halts: {who}");
                text.chars().take(512).collect()
            }
        };
        Self {
            id: order.id,
            version: order.version,
            at: order.created_at,
            from: None,
            to: order.state,
            cause: Cause::Placed,
            evidence,
        }
    }
}
