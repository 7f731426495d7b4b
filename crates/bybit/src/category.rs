//! The kinds of instruments, each with a book of its own.

use serde::Deserialize;
use surefill_core::Symbol;

use crate::client::Query;

/// Which instruments are traded. An order, its lookups and its cancels name the same one: another answers an empty list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Perpetuals and futures settled in USDT.
    #[default]
    Linear,
    /// Perpetuals and futures settled in their coin; a quantity is a number of contracts of one US dollar.
    Inverse,
    /// Coins. What is held is a balance and no position.
    Spot,
}

/// The coin in which linear contracts are settled.
pub(crate) const SETTLE_COIN: &str = "USDT";

impl Category {
    /// The venue's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Inverse => "inverse",
            Self::Spot => "spot",
        }
    }

    /// The coin that a list over the whole account must be narrowed to, where it must be.
    pub(crate) const fn settle_coin(self) -> Option<&'static str> {
        match self {
            Self::Linear => Some(SETTLE_COIN),
            Self::Inverse | Self::Spot => None,
        }
    }

    pub(crate) const fn is_spot(self) -> bool {
        match self {
            Self::Spot => true,
            Self::Linear | Self::Inverse => false,
        }
    }

    /// Every list of this category.
    pub(crate) fn query(self) -> Query {
        Query::new().with("category", self.as_str())
    }

    /// The orders of one symbol, or all.
    pub(crate) fn of_symbol(self, symbol: Option<&Symbol>) -> Query {
        match (symbol, self.settle_coin()) {
            (Some(symbol), _) => self.query().with("symbol", symbol),
            (None, Some(coin)) => self.query().with("settleCoin", coin),
            (None, None) => self.query(),
        }
    }
}
