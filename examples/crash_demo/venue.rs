//! The venues at which the demo is played.

use clap::ValueEnum;
use surefill_bybit::Bybit;
use surefill_core::{ClOrdId, Connect};
use surefill_examples::{HYPERLIQUID_SHORT, HYPERLIQUID_SIMULATED_KEY, SHORT, simulated_keys};
use surefill_hyperliquid::{Hyperliquid, Keys};

use crate::Failure;

/// Which simulated venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum At {
    /// Remembers an id for ever: a second create with it is refused.
    Bybit,
    /// Remembers no id: it refuses a nonce that was used, and ours are used up by a revocation before a new one is signed.
    Hyperliquid,
}

impl At {
    /// What the simulator and the demo are told.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Bybit => "bybit",
            Self::Hyperliquid => "hyperliquid",
        }
    }

    /// What the heading calls it.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Bybit => "Bybit",
            Self::Hyperliquid => "Hyperliquid",
        }
    }

    /// The perpetual that is traded.
    pub(crate) const fn symbol(self) -> &'static str {
        match self {
            Self::Bybit => "BTCUSDT",
            Self::Hyperliquid => "BTC",
        }
    }

    /// Receive window, visibility lag, drain, margin, watch: milliseconds.
    pub(crate) const fn timing(self) -> [u64; 5] {
        match self {
            Self::Bybit => [
                SHORT.receive_window_ms,
                SHORT.visibility_lag_ms,
                SHORT.drain_ms,
                SHORT.margin_ms,
                SHORT.watch_ms,
            ],
            Self::Hyperliquid => [
                HYPERLIQUID_SHORT.receive_window_ms,
                HYPERLIQUID_SHORT.visibility_lag_ms,
                HYPERLIQUID_SHORT.drain_ms,
                HYPERLIQUID_SHORT.margin_ms,
                HYPERLIQUID_SHORT.watch_ms,
            ],
        }
    }

    /// How the venue writes an id.
    pub(crate) fn spell(self, id: &ClOrdId) -> String {
        match self {
            Self::Bybit => surefill_bybit::id::spell(id),
            Self::Hyperliquid => surefill_hyperliquid::id::spell(id),
        }
    }

    /// The adapter of the built-in account.
    pub(crate) fn adapter(self, url: &str) -> Result<Box<dyn Connect>, Failure> {
        Ok(match self {
            Self::Bybit => Box::new(Bybit::simulator(url, simulated_keys()?).with_timing(SHORT)),
            Self::Hyperliquid => {
                let keys = Keys::new(HYPERLIQUID_SIMULATED_KEY)?;
                Box::new(Hyperliquid::simulator(url, keys).with_timing(HYPERLIQUID_SHORT))
            }
        })
    }
}
