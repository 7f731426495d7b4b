//! What other processes ask of the engine that holds the journal.

use serde::{Deserialize, Serialize};

use crate::{ClOrdId, Halt, HaltCause, Scope, VenueTime};

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
    /// Lift the halts of exactly this scope that were in force when it was posted. What is declared later, nobody has looked at.
    Resume {
        /// What it covers.
        scope: Scope,
        /// Who asks.
        who: Box<str>,
        /// Why.
        reason: Box<str>,
        /// When it was asked, for an engine that has not heard the venue's time.
        at: VenueTime,
        /// What it lifts; the inbox fills this in, whatever is given.
        #[serde(default)]
        seen: SeenHalts,
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

impl Request {
    /// Whether it asks for a cancel.
    pub(crate) const fn cancels(&self) -> bool {
        match self {
            Self::Cancel { .. } | Self::CancelAll { .. } => true,
            Self::Halt { .. } | Self::Resume { .. } | Self::Unreadable => false,
        }
    }
}

/// What a resume lifts: the halts of its scope as they were when it was posted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenHalts {
    /// Those in force.
    pub halts: Vec<Halt>,
    /// One was asked through the inbox before, and not done yet: it is lifted, too.
    pub waiting: bool,
}

impl SeenHalts {
    /// Whether the halt is one of them.
    pub fn has(&self, halt: &Halt) -> bool {
        self.halts.contains(halt) || (self.waiting && halt.cause == HaltCause::Asked)
    }
}

impl Request {
    /// The request as an inbox keeps it, beside the halts in force and the requests that wait.
    #[must_use]
    pub fn posted(&self, halts: &[Halt], before: &[Requested]) -> Self {
        let mut request = self.clone();
        if let Self::Resume { scope, seen, .. } = &mut request {
            let here = halts.iter().filter(|halt| halt.scope == *scope);
            let asks = |requested: &Requested| matches!(&requested.request, Self::Halt { scope: other, .. } if *other == *scope);
            *seen = SeenHalts {
                halts: here.cloned().collect(),
                waiting: before.iter().any(asks),
            };
        }
        request
    }
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
    /// These halts are lifted; others of the scope were declared after the request.
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
