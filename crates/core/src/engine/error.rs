//! What a caller of the engine can act on.

use crate::{
    AccountId, Alias, ClOrdId, Gate, Halt, Money, PrepareError, StoreError, VenueError, VenueTime,
};

/// Why nothing was placed, or why it is not known.
///
/// Every variant but [`PlaceError::Undecided`] says that nothing was sent and nothing will be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// The engine has no venue of that name.
    #[error("nothing sent: there is no venue {alias:?}")]
    NoVenue {
        /// The name.
        alias: Alias,
    },
    /// The intent cannot be an order anywhere.
    #[error("nothing sent: {what}")]
    Invalid {
        /// What is wrong with it.
        what: Box<str>,
    },
    /// The signal lies in the future.
    #[error(
        "nothing sent: decided_at {decided_at} is {ahead_ms} ms ahead of the venue's time {now}, at most {max_ms} ms are allowed: check the clock that stamps decisions"
    )]
    TooFarAhead {
        /// The instant of the decision.
        decided_at: VenueTime,
        /// The venue's time.
        now: VenueTime,
        /// How far ahead.
        ahead_ms: u128,
        /// How far ahead it may be.
        max_ms: u128,
    },
    /// The signal is older than its time to live.
    #[error(
        "nothing sent: decided_at {decided_at} is older than its ttl of {ttl_ms} ms at the venue's time {now}"
    )]
    Stale {
        /// The instant of the decision.
        decided_at: VenueTime,
        /// The venue's time.
        now: VenueTime,
        /// The time to live.
        ttl_ms: u128,
    },
    /// The decision was placed before with other terms.
    #[error("nothing sent: decision {id} was placed before with other terms: {differs}")]
    IntentConflict {
        /// The order.
        id: ClOrdId,
        /// Which terms differ, as they were placed and as they are now.
        differs: Box<str>,
    },
    /// A halt covers it.
    #[error("nothing sent: {} is halted: {}", .0.scope, .0.text)]
    Halted(Halt),
    /// Another order in its symbol is in doubt.
    #[error("nothing sent: the fate of order {id} in the same symbol is not known")]
    Doubt {
        /// The order in doubt.
        id: ClOrdId,
    },
    /// A limit refuses it.
    #[error("nothing sent: {0}")]
    Limit(#[from] LimitError),
    /// The request cannot be built.
    #[error("nothing sent: {0}")]
    Prepare(#[source] PrepareError),
    /// What must be known before a request can be built could not be fetched.
    #[error("nothing sent: {alias} could not be asked: {error}")]
    Venue {
        /// The venue's name.
        alias: Alias,
        /// What went wrong.
        #[source]
        error: VenueError,
    },
    /// The engine stops.
    #[error("nothing sent: the engine is shutting down")]
    ShuttingDown,
    /// The journal takes nothing.
    #[error("nothing sent: {0}")]
    Journal(#[source] StoreError),
    /// The commit failed, or its end was not seen: the intent may be on disk.
    #[error("undecided: ask again with the same decision ({0})")]
    Undecided(#[source] StoreError),
}

impl PlaceError {
    /// The error of a journal that refused or failed.
    pub(crate) fn from_store(error: StoreError) -> Self {
        if let StoreError::Halted(halt) = error {
            return Self::Halted(halt);
        }
        if matches!(error, StoreError::Commit(_)) {
            return Self::Undecided(error);
        }
        Self::Journal(error)
    }

    /// The error of a gate.
    pub(crate) fn from_gate(gate: Gate) -> Self {
        match gate {
            Gate::Halted(halt) => Self::Halted(halt),
            Gate::Doubt(id) => Self::Doubt { id },
        }
    }
}

/// A limit that refused an order before anything was journaled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// Price times quantity is too large.
    #[error("the order's value of {notional} is above the limit of {max}")]
    Notional {
        /// Price times quantity.
        notional: Money,
        /// The limit.
        max: Money,
    },
    /// A market order in base units has no price by which it could be limited.
    #[error(
        "a market order in base units has no price by which it could be held to the limit of {max}"
    )]
    NoPrice {
        /// The limit.
        max: Money,
    },
    /// Too many orders are open.
    #[error("{open} orders are open, and {max} are allowed")]
    OpenOrders {
        /// Open now.
        open: usize,
        /// The limit.
        max: usize,
    },
}

/// Why a cancel was not asked durably.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CancelError {
    /// The journal holds no such order.
    #[error("the journal holds no order {id}")]
    NoSuchOrder {
        /// The order.
        id: ClOrdId,
    },
    /// The cancel went out to the venue, but it is not in the journal: after a restart it must be asked again.
    #[error("the cancel of {id} went out, but the journal does not hold it: {error}")]
    NotJournaled {
        /// The order.
        id: ClOrdId,
        /// Why.
        #[source]
        error: StoreError,
    },
    /// The journal could not be read.
    #[error(transparent)]
    Journal(StoreError),
    /// The engine stops.
    #[error("the engine is shutting down")]
    ShuttingDown,
}

/// Why an amend was not sent. Nothing left for the venue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AmendError {
    /// The journal holds no such order.
    #[error("the journal holds no order {id}")]
    NoSuchOrder {
        /// The order.
        id: ClOrdId,
    },
    /// The order ended, is in doubt, or is to be canceled.
    #[error("nothing sent: order {id} does not work, or is to be canceled")]
    NotWorking {
        /// The order.
        id: ClOrdId,
    },
    /// It is not known yet which terms the venue holds, after an amend before this one.
    #[error("nothing sent: the terms of order {id} are not known yet, after the amend before")]
    Undecided {
        /// The order.
        id: ClOrdId,
    },
    /// The venue has no amend that keeps the order's ids.
    #[error("nothing sent: {alias} has no amend that keeps an order's ids")]
    Unsupported {
        /// The venue's name.
        alias: Alias,
    },
    /// The terms cannot be those of the order.
    #[error("nothing sent: {what}")]
    Invalid {
        /// What is wrong with them.
        what: Box<str>,
    },
    /// A halt covers it.
    #[error("nothing sent: {} is halted: {}", .0.scope, .0.text)]
    Halted(Halt),
    /// Another order in its symbol is in doubt.
    #[error("nothing sent: the fate of order {id} in the same symbol is not known")]
    Doubt {
        /// The order in doubt.
        id: ClOrdId,
    },
    /// A limit refuses it.
    #[error("nothing sent: {0}")]
    Limit(#[from] LimitError),
    /// The venue would not take an order with these terms.
    #[error("nothing sent: {0}")]
    Prepare(#[source] PrepareError),
    /// What must be known before could not be fetched.
    #[error("nothing sent: {alias} could not be asked: {error}")]
    Venue {
        /// The venue's name.
        alias: Alias,
        /// What went wrong.
        #[source]
        error: VenueError,
    },
    /// The engine stops.
    #[error("nothing sent: the engine is shutting down")]
    ShuttingDown,
    /// The journal does not take it.
    #[error("nothing sent: {0}")]
    Journal(#[source] StoreError),
}

impl From<Gate> for AmendError {
    fn from(gate: Gate) -> Self {
        match gate {
            Gate::Halted(halt) => Self::Halted(halt),
            Gate::Doubt(id) => Self::Doubt { id },
        }
    }
}

/// Why an engine could not be made from its journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// Two venues of one name.
    #[error("there are two venues named {alias}")]
    TwoVenues {
        /// The name.
        alias: Alias,
    },
    /// A venue cannot be used as it is configured.
    #[error("{alias} cannot be used: {error}")]
    Venue {
        /// The venue's name.
        alias: Alias,
        /// What went wrong.
        #[source]
        error: VenueError,
    },
    /// The alias belongs to another account.
    #[error(
        "{alias} is bound to account {bound}, and the keys in use are those of {found}: use the keys of {bound}, or another name and journal"
    )]
    OtherAccount {
        /// The venue's name.
        alias: Alias,
        /// The account that the journal holds.
        bound: AccountId,
        /// The account that the keys belong to.
        found: AccountId,
    },
    /// The journal holds open orders of a venue that is not given: they could not be looked after.
    #[error(
        "the journal holds {open} unfinished orders at {alias}, and no venue of that name is given"
    )]
    VenueMissing {
        /// The venue's name.
        alias: Alias,
        /// Unfinished orders.
        open: usize,
    },
    /// The journal failed.
    #[error(transparent)]
    Journal(StoreError),
}

impl From<StoreError> for RecoverError {
    fn from(error: StoreError) -> Self {
        if let StoreError::OtherAccount {
            alias,
            bound,
            found,
        } = error
        {
            return Self::OtherAccount {
                alias,
                bound,
                found,
            };
        }
        Self::Journal(error)
    }
}
