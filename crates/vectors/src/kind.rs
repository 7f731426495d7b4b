//! Whose vectors a file holds.

use std::fmt;
use std::str::FromStr;

use crate::input::Recompute;
use crate::{bybit, hyperliquid, ids};

/// Whose vectors a file holds: a venue's, or those of the client order id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The client order id and its spellings.
    Ids,
    /// Bybit V5.
    Bybit,
    /// Hyperliquid.
    Hyperliquid,
    /// Binance, spot and USD-M.
    Binance,
    /// Polymarket's order book.
    Polymarket,
    /// Jito bundles on Solana.
    Jito,
}

/// A text that names no kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is none of {names}", names = Kind::names())]
pub struct UnknownKind(Box<str>);

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Ids,
        Self::Bybit,
        Self::Hyperliquid,
        Self::Binance,
        Self::Polymarket,
        Self::Jito,
    ];

    /// The word in a file's `venue`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ids => "ids",
            Self::Bybit => "bybit",
            Self::Hyperliquid => "hyperliquid",
            Self::Binance => "binance",
            Self::Polymarket => "polymarket",
            Self::Jito => "jito",
        }
    }

    /// All words, for people.
    fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }

    /// What recomputes a case of this kind of case; `Ok(None)` for one that nobody knows.
    ///
    /// # Errors
    /// What is not built yet, by name: every case of it fails.
    pub(crate) fn recompute(self, kind: &str) -> Result<Option<Recompute>, String> {
        match self {
            Self::Ids => Ok(ids::recompute(kind)),
            Self::Bybit => Ok(bybit::recompute(kind)),
            Self::Hyperliquid => Ok(hyperliquid::recompute(kind)),
            Self::Binance if kind == "sign_fix_logon" => {
                Err("the FIX logon of binance is not built yet".to_owned())
            }
            Self::Binance | Self::Polymarket | Self::Jito => {
                Err(format!("the adapter of {self} is not built yet"))
            }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        known.ok_or_else(|| UnknownKind(text.chars().take(64).collect()))
    }
}
