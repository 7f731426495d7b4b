//! The states of an order and the steps between them: one table.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where an order stands in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrdState {
    /// Journaled, and no copy of any attempt may be on its way.
    Pending,
    /// An attempt is durable; a copy may be on its way.
    Submitted,
    /// Its fate is not known.
    Unknown,
    /// Its fate is not known and this process is finding out.
    Reconciling,
    /// The venue named it.
    Acked,
    /// It works and has filled in part.
    Partial,
    /// It ended by execution.
    Filled,
    /// It ended otherwise.
    Canceled,
    /// It never became an order, or the venue threw it out unfilled.
    Rejected,
}

/// A step that the table does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an order that is {from} cannot become {to}")]
pub struct IllegalTransition {
    /// Where it stands.
    pub from: OrdState,
    /// Where it was to go.
    pub to: OrdState,
}

impl OrdState {
    /// Every state, in the order of a life.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Submitted,
        Self::Unknown,
        Self::Reconciling,
        Self::Acked,
        Self::Partial,
        Self::Filled,
        Self::Canceled,
        Self::Rejected,
    ];

    /// The lower-case word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Submitted => "submitted",
            Self::Unknown => "unknown",
            Self::Reconciling => "reconciling",
            Self::Acked => "acked",
            Self::Partial => "partial",
            Self::Filled => "filled",
            Self::Canceled => "canceled",
            Self::Rejected => "rejected",
        }
    }

    /// Whether nothing may change it any more.
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Filled | Self::Canceled | Self::Rejected => true,
            Self::Pending
            | Self::Submitted
            | Self::Unknown
            | Self::Reconciling
            | Self::Acked
            | Self::Partial => false,
        }
    }

    /// Whether the order's fate is not known.
    pub const fn is_doubt(self) -> bool {
        match self {
            Self::Unknown | Self::Reconciling => true,
            Self::Pending
            | Self::Submitted
            | Self::Acked
            | Self::Partial
            | Self::Filled
            | Self::Canceled
            | Self::Rejected => false,
        }
    }

    /// Whether the venue has named the order and it works, as far as is known.
    pub const fn is_working(self) -> bool {
        match self {
            Self::Acked | Self::Partial => true,
            Self::Pending
            | Self::Submitted
            | Self::Unknown
            | Self::Reconciling
            | Self::Filled
            | Self::Canceled
            | Self::Rejected => false,
        }
    }

    /// Whether the venue's verdict is in: it works, or it has ended.
    pub const fn is_known(self) -> bool {
        self.is_working() || self.is_terminal()
    }

    /// Takes the step to `to`.
    ///
    /// # Errors
    /// [`IllegalTransition`] when the table does not hold it.
    pub const fn step(self, to: Self) -> Result<Self, IllegalTransition> {
        if self.may_become(to) {
            Ok(to)
        } else {
            Err(IllegalTransition { from: self, to })
        }
    }

    /// The table.
    const fn may_become(self, to: Self) -> bool {
        use OrdState::{
            Acked, Canceled, Filled, Partial, Pending, Reconciling, Rejected, Submitted, Unknown,
        };
        match self {
            Pending => matches!(to, Submitted | Unknown | Canceled | Rejected),
            Submitted => matches!(
                to,
                Pending | Unknown | Acked | Partial | Filled | Canceled | Rejected
            ),
            Unknown => matches!(
                to,
                Reconciling | Acked | Partial | Filled | Canceled | Rejected
            ),
            Reconciling => matches!(
                to,
                Unknown | Submitted | Acked | Partial | Filled | Canceled | Rejected
            ),
            Acked => matches!(to, Partial | Filled | Canceled | Rejected | Unknown),
            Partial => matches!(to, Filled | Canceled | Unknown),
            Filled | Canceled | Rejected => false,
        }
    }
}

impl fmt::Display for OrdState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no state of an order")]
pub struct OrdStateError {
    text: String,
}

impl FromStr for OrdState {
    type Err = OrdStateError;

    fn from_str(text: &str) -> Result<Self, OrdStateError> {
        let known = Self::ALL.into_iter().find(|state| state.as_str() == text);
        known.ok_or_else(|| OrdStateError {
            text: text.chars().take(64).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the contract, written out once more as pairs.
    const LEGAL: &[(&str, &str)] = &[
        ("pending", "submitted unknown canceled rejected"),
        (
            "submitted",
            "acked partial filled canceled rejected unknown pending",
        ),
        (
            "unknown",
            "reconciling acked partial filled canceled rejected",
        ),
        (
            "reconciling",
            "unknown submitted canceled rejected acked partial filled",
        ),
        ("acked", "partial filled canceled rejected unknown"),
        ("partial", "filled canceled unknown"),
        ("filled", ""),
        ("canceled", ""),
        ("rejected", ""),
    ];

    #[test]
    fn every_pair_is_legal_or_refused_as_the_contract_says() {
        let mut walked = 0;
        for (from, legal) in LEGAL {
            let from: OrdState = from.parse().expect("a state");
            for to in OrdState::ALL {
                let expected = legal.split(' ').any(|word| word == to.as_str());
                let got = from.step(to);
                assert_eq!(got.is_ok(), expected, "{from} -> {to}");
                if !expected {
                    assert_eq!(got, Err(IllegalTransition { from, to }));
                }
                walked += 1;
            }
        }
        assert_eq!(walked, 81);
    }

    #[test]
    fn words_read_back() {
        for state in OrdState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        assert!("open".parse::<OrdState>().is_err());
    }
}
