//! Halts: where no new risk may be taken, and why.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{AccountId, Alias, ClOrdId, Symbol, VenueTime};

/// What a halt covers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Scope {
    /// The venue's name in the configuration.
    pub venue: Alias,
    /// Only this account there, as the venue names it (the last part of its [`AccountId`]).
    pub account: Option<AccountId>,
    /// Only this symbol of it.
    pub symbol: Option<Symbol>,
}

impl Scope {
    /// A whole venue.
    pub fn venue(venue: impl Into<Alias>) -> Self {
        Self {
            venue: venue.into(),
            account: None,
            symbol: None,
        }
    }

    /// One account at a venue.
    pub fn account(venue: impl Into<Alias>, account: AccountId) -> Self {
        Self {
            venue: venue.into(),
            account: Some(account),
            symbol: None,
        }
    }

    /// One symbol of an account.
    pub fn symbol(venue: impl Into<Alias>, account: AccountId, symbol: Symbol) -> Self {
        Self {
            venue: venue.into(),
            account: Some(account),
            symbol: Some(symbol),
        }
    }

    /// Whether an entry in `symbol` of `account` at `venue` is covered.
    pub fn covers(&self, venue: &Alias, account: &AccountId, symbol: &Symbol) -> bool {
        self.venue == *venue
            && self.account.as_ref().is_none_or(|a| a == account)
            && self.symbol.as_ref().is_none_or(|s| s == symbol)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.venue)?;
        if let Some(account) = &self.account {
            write!(f, "/{account}")?;
        }
        if let Some(symbol) = &self.symbol {
            write!(f, "/{symbol}")?;
        }
        Ok(())
    }
}

/// A text that names no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no scope: give V, V/ACCOUNT or V/ACCOUNT/SYMBOL")]
pub struct ScopeError {
    text: String,
}

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        let mut parts = text.splitn(3, '/');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let Some(venue) = next() else {
            return Err(ScopeError {
                text: text.to_owned(),
            });
        };
        let (account, symbol) = (next(), next());
        let given = 1 + usize::from(account.is_some()) + usize::from(symbol.is_some());
        if text.splitn(3, '/').count() != given {
            return Err(ScopeError {
                text: text.to_owned(),
            });
        }
        Ok(Self {
            venue: venue.into(),
            account: account.map(AccountId::from),
            symbol: symbol.map(Symbol::from),
        })
    }
}

/// The property that a venue or an attempt lacks, so that doubt cannot be ended by waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lacking {
    /// No answer has said what became of it: lookups fail, or each further attempt does.
    Answer,
    /// Neither a fence nor a revocation bounds when the attempt may land.
    Fence,
    /// The time from gate to book is only assumed, and the intent is strict.
    DocumentedDrain,
    /// The venue has spoken of the order, so its absence is never final.
    Sight,
    /// The lists do not reach back far enough.
    Retention,
}

impl Lacking {
    const fn text(self) -> &'static str {
        match self {
            Self::Answer => "no answer has said what became of it",
            Self::Fence => "nothing bounds when the request may still land",
            Self::DocumentedDrain => {
                "the way from gate to book is bounded by an assumed number only"
            }
            Self::Sight => "the venue has named the order and does not show it",
            Self::Retention => "the venue's lists do not reach back to the order",
        }
    }
}

/// Why a scope is halted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HaltCause {
    /// An order stayed unknown past the cap. Lifts by itself when the truth arrives.
    Doubt {
        /// The order.
        id: ClOrdId,
        /// What keeps the doubt from ending.
        lacking: Lacking,
    },
    /// A second order lives or lived for one intent.
    SecondOrder {
        /// The intent's order.
        id: ClOrdId,
    },
    /// An order came to light whose row was already ended.
    Surprise {
        /// The order.
        id: ClOrdId,
    },
    /// The venue shows our id with other terms than were sent.
    TermsDiffer {
        /// The order.
        id: ClOrdId,
    },
    /// Fills beyond what the order ended with.
    LateFill {
        /// The order.
        id: ClOrdId,
    },
    /// Keys or account are refused.
    Refused {
        /// The order whose answer said so.
        id: ClOrdId,
    },
    /// The venue did not answer during recovery. Lifts by itself when it does.
    Unreachable,
    /// The venue shows an order with our tag, newer than this journal, that the journal lacks.
    JournalWentBack,
    /// The venue shows an order with our tag, older than this journal, that the journal lacks.
    UnknownTagged,
    /// A person or program asked.
    Asked,
}

impl HaltCause {
    /// Whether only a person can lift it.
    pub const fn needs_person(&self) -> bool {
        match self {
            Self::Doubt { .. } | Self::Unreachable => false,
            Self::SecondOrder { .. }
            | Self::Surprise { .. }
            | Self::TermsDiffer { .. }
            | Self::LateFill { .. }
            | Self::Refused { .. }
            | Self::JournalWentBack
            | Self::UnknownTagged
            | Self::Asked => true,
        }
    }

    /// The order that it speaks of.
    pub const fn order(&self) -> Option<ClOrdId> {
        match self {
            Self::Doubt { id, .. }
            | Self::SecondOrder { id }
            | Self::Surprise { id }
            | Self::TermsDiffer { id }
            | Self::LateFill { id }
            | Self::Refused { id } => Some(*id),
            Self::Unreachable | Self::JournalWentBack | Self::UnknownTagged | Self::Asked => None,
        }
    }
}

impl fmt::Display for HaltCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Doubt { id, lacking } => {
                write!(f, "the fate of order {id} is not known: {}", lacking.text())
            }
            Self::SecondOrder { id } => write!(f, "a second order came to light for {id}"),
            Self::Surprise { id } => write!(f, "order {id} came to light after its row had ended"),
            Self::TermsDiffer { id } => {
                write!(f, "the venue shows {id} with other terms than were sent")
            }
            Self::LateFill { id } => write!(f, "order {id} filled beyond what it ended with"),
            Self::Refused { id } => write!(f, "keys or account were refused when {id} was sent"),
            Self::Unreachable => f.write_str("the venue did not answer"),
            Self::JournalWentBack => f.write_str(
                "the venue holds an order of ours that this journal lacks: it went back in time",
            ),
            Self::UnknownTagged => {
                f.write_str("the venue holds an order with our tag from before this journal")
            }
            Self::Asked => f.write_str("asked for"),
        }
    }
}

/// A halt as the journal keeps it. A scope holds at most one halt per cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halt {
    /// What it covers.
    pub scope: Scope,
    /// Why.
    pub cause: HaltCause,
    /// Since when, venue time.
    pub since: VenueTime,
    /// In words, for people.
    pub text: Box<str>,
}

impl Halt {
    /// A halt of `scope` for `cause`; `text` adds what the cause does not say.
    pub fn new(scope: Scope, cause: HaltCause, since: VenueTime, text: impl fmt::Display) -> Self {
        let text: Box<str> = text.to_string().chars().take(1024).collect();
        let text = if text.is_empty() {
            cause.to_string().into()
        } else {
            text
        };
        Self {
            scope,
            cause,
            since,
            text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_read_back_and_nothing_else_does() {
        for text in ["v", "v/bybit:testnet:1001", "v/bybit:testnet:1001/BTC/USDT"] {
            assert_eq!(text.parse::<Scope>().expect("a scope").to_string(), text);
        }
        for text in ["", "/", "v/", "v//s", "/a", "v/a/"] {
            assert!(text.parse::<Scope>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_scope_covers_what_is_below_it() {
        let (v, a, s) = (Alias::from("v"), AccountId::from("a"), Symbol::from("s"));
        assert!(Scope::venue("v").covers(&v, &a, &s));
        assert!(Scope::account("v", a.clone()).covers(&v, &a, &s));
        assert!(!Scope::account("v", AccountId::from("b")).covers(&v, &a, &s));
        assert!(!Scope::symbol("v", a.clone(), Symbol::from("t")).covers(&v, &a, &s));
        assert!(!Scope::venue("w").covers(&v, &a, &s));
    }
}
