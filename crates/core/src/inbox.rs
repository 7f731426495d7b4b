//! What other processes ask of the engine that holds the journal.

use serde::{Deserialize, Serialize};

use crate::{ClOrdId, Halt, Scope, VenueTime};

/// What an operator wants of the engine that holds the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Halt a scope.
    Halt {
        /// What it covers.
        scope: Scope,
        /// Who asks.
        who: Box<str>,
        /// Why.
        reason: Box<str>,
        /// When it was asked, for an engine that has not heard the venue's time.
        at: VenueTime,
    },
    /// Lift every halt of exactly this scope.
    Resume {
        /// What it covers.
        scope: Scope,
        /// Who asks.
        who: Box<str>,
        /// Why.
        reason: Box<str>,
        /// When it was asked, for an engine that has not heard the venue's time.
        at: VenueTime,
    },
    /// Cancel an order.
    Cancel {
        /// The order.
        id: ClOrdId,
    },
    /// Cancel every order of a scope.
    CancelAll {
        /// What it covers.
        scope: Scope,
    },
    /// What this version cannot read: a later one wrote it.
    #[serde(skip)]
    Unreadable,
}

/// A request that waits, with the number by which it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    /// Its number; later ones are greater.
    pub n: i64,
    /// What is wanted.
    pub request: Request,
}

/// What the engine answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The scope is halted, durably.
    Halted,
    /// These halts are lifted.
    Resumed {
        /// In the order in which they were declared.
        lifted: Vec<Halt>,
    },
    /// The cancel of these orders is asked, durably, or they had ended before.
    CancelAsked {
        /// The orders.
        orders: Vec<ClOrdId>,
    },
    /// It was not done.
    Refused {
        /// Why.
        text: Box<str>,
    },
}
