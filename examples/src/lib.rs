//! What the examples share: one order from its placing to its end, the simulated venues' built-in accounts, their clock, and their short
//! timing.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "programs that show what becomes of their orders"
)]

mod one_order;

pub use one_order::{Failed, Terms, Unsent, exit, trade, unsent, variable};

use serde_json::Value;
use surefill_bybit::{KeyError, Keys, Timing};
use surefill_sim::bybit::Handle;

/// The API key of the simulated Bybit's built-in account 1001. Fake, and known to everybody.
pub const SIMULATED_KEY: &str = "SUREFILLFAKEKEY001";

/// Its secret. Fake, and known to everybody.
pub const SIMULATED_SECRET: &str = "fakefakefakefakefakefakefakefake0001";

/// The keys of the simulated Bybit's built-in account 1001.
///
/// # Errors
/// Never for these two texts; the constructor's.
pub fn simulated_keys() -> Result<Keys, KeyError> {
    Keys::hmac(SIMULATED_KEY, SIMULATED_SECRET)
}

/// The simulated venue's time, milliseconds.
///
/// # Errors
/// Its control port's.
pub async fn now_at(simulator: &Handle) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    let clock = simulator.control("GET", "/clock", &Value::Null).await?;
    let now = clock.get("now_ms").and_then(Value::as_u64);
    now.ok_or_else(|| "the simulator's clock does not say now_ms".into())
}

/// Durations of a simulated venue that are short enough to watch.
pub const SHORT: Timing = Timing {
    receive_window_ms: 300,
    visibility_lag_ms: 100,
    drain_ms: 50,
    margin_ms: 100,
    watch_ms: 1_000,
};

/// The key of the simulated Hyperliquid's first wallet. Fake, and known to everybody.
pub const HYPERLIQUID_SIMULATED_KEY: &str =
    "0x0123456789012345678901234567890123456789012345678901234567890123";

/// As [`SHORT`], for Hyperliquid.
pub const HYPERLIQUID_SHORT: surefill_hyperliquid::Timing = surefill_hyperliquid::Timing {
    receive_window_ms: 600,
    visibility_lag_ms: 100,
    drain_ms: 50,
    margin_ms: 100,
    watch_ms: 1_000,
};
