//! A process that drives the order: what it remembers, and where it stands between two steps.

use std::sync::Arc;

use surefill_core::{HeldBack, OrdStatus, Pursuit};

use super::camp::Tick;
use super::journal::Row;
use super::venue::FillSet;

/// What a report shows of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shown {
    /// Which order.
    pub order: u8,
    /// How it stands.
    pub status: Status,
    /// Units executed.
    pub cum: u8,
    /// The fills that come with it.
    pub fills: FillSet,
}

/// [`OrdStatus`], as far as the model's venue says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It works.
    Open,
    /// It ended by execution.
    Filled,
    /// It ended otherwise.
    Canceled,
    /// Only fills speak of it.
    NotShown,
}

impl Status {
    pub(crate) const fn word(self) -> OrdStatus {
        match self {
            Self::Open => OrdStatus::Open,
            Self::Filled => OrdStatus::Filled,
            Self::Canceled => OrdStatus::Canceled,
            Self::NotShown => OrdStatus::NotShown,
        }
    }
}

/// An answer to a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The venue named the order.
    Acked(Shown),
    /// Refused for good.
    Rejected,
    /// The id is known.
    DuplicateId,
    /// The bytes are known.
    DuplicateBytes,
    /// Turned away before it was acted upon.
    NotTaken,
    /// The connect failed.
    NoConnect,
    /// The last check said no.
    HeldBack(HeldBackBy),
    /// Nothing is known.
    Unknown,
}

/// [`HeldBack`], as a model can hash it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeldBackBy {
    /// See [`HeldBack::Fence`].
    Fence,
    /// See [`HeldBack::Stale`].
    Stale,
    /// See [`HeldBack::CancelAsked`].
    CancelAsked,
    /// See [`HeldBack::LeaseLost`].
    LeaseLost,
}

impl HeldBackBy {
    pub(crate) const fn word(self) -> HeldBack {
        match self {
            Self::Fence => HeldBack::Fence,
            Self::Stale => HeldBack::Stale,
            Self::CancelAsked => HeldBack::CancelAsked,
            Self::LeaseLost => HeldBack::LeaseLost,
        }
    }
}

/// What was just seen, and is to be decided about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// Nothing: go on from the row.
    Resume,
    /// The answer to a send.
    Sent {
        /// The attempt.
        no: u8,
        /// The answer.
        answer: Answer,
        /// No byte of it left before.
        first: bool,
    },
    /// A round found it.
    Found(Vec<Shown>),
    /// A round did not show it.
    Absent {
        /// When it began, as the adapter says.
        begun: Tick,
        /// When it ended, as the adapter says.
        ended: Tick,
    },
    /// A round failed.
    Failed,
    /// A stream or a list spoke.
    Report(Shown),
    /// The answer to a cancel.
    Cancel(CancelSaid),
    /// The answer to a revocation.
    Revoked {
        /// The attempt.
        no: u8,
        /// The answer.
        said: RevokeSaid,
    },
}

/// What a cancel was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CancelSaid {
    /// It ended.
    Canceled(Shown),
    /// Taken.
    Taken,
    /// Nothing open.
    NotOpen,
    /// No information.
    Unknown,
}

/// What a revocation was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RevokeSaid {
    /// It cannot land any more.
    Revoked,
    /// The nonce is used.
    Used,
    /// No information.
    Inconclusive,
}

/// A request other than a send or a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// A cancel.
    Cancel,
    /// A revocation of this attempt.
    Revoke(u8),
}

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// It does not run.
    Down,
    /// Nothing to do any more.
    Rest,
    /// The strategy asks for the order; it is not journaled.
    Place,
    /// Something was seen.
    Decide(Seen),
    /// The next attempt is being built; its ticket is of this tick.
    Prepare {
        /// The ticket's time.
        made: Tick,
    },
    /// A send is durable, and not checked yet.
    Ready {
        /// The attempt.
        no: u8,
        /// No byte of it left before.
        first: bool,
    },
    /// The answer to a send is awaited.
    Sending {
        /// The attempt.
        no: u8,
        /// No byte of it left before.
        first: bool,
    },
    /// It waits.
    Waiting {
        /// Until then.
        until: Tick,
        /// Then it looks; else it decides again.
        look: bool,
    },
    /// A round of lookups is under way.
    Looking {
        /// When it began.
        begun: Tick,
        /// Whether the list of open orders has been read, and what it showed.
        open: Option<u8>,
    },
    /// A cancel or a revocation is about to leave.
    Asking(Ask),
}

/// A process that drives the order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bot {
    /// Where it stands.
    pub mode: Mode,
    /// The row as it knows it.
    pub row: Option<Arc<Row>>,
    /// What it remembers.
    pub(crate) pursuit: Arc<Pursuit>,
    /// When the next look is due.
    pub(crate) due: Option<Tick>,
    /// It makes no step until it goes on.
    pub paused: bool,
    /// It has made a round that showed nothing, for the lie of one round.
    pub(crate) looked: bool,
}

impl Bot {
    pub(crate) fn down() -> Self {
        Self {
            mode: Mode::Down,
            row: None,
            pursuit: Arc::default(),
            due: None,
            paused: false,
            looked: false,
        }
    }

    /// Whether it takes its next step at once, before anything else happens.
    pub(crate) const fn urgent(&self) -> bool {
        !self.paused
            && matches!(
                self.mode,
                Mode::Place | Mode::Decide(_) | Mode::Ready { .. } | Mode::Asking(_)
            )
    }

    /// Whether it hears what comes in while it waits for something else.
    pub(crate) const fn listens(&self) -> bool {
        !self.paused
            && matches!(
                self.mode,
                Mode::Waiting { .. }
                    | Mode::Prepare { .. }
                    | Mode::Sending { .. }
                    | Mode::Looking { .. }
            )
    }
}
