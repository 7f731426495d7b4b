//! What the examples share: the simulated venue's built-in account, and its short timing.

use surefill_bybit::{KeyError, Keys, Timing};

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

/// Durations of a simulated venue that are short enough to watch.
pub const SHORT: Timing = Timing {
    receive_window_ms: 300,
    visibility_lag_ms: 100,
    drain_ms: 50,
    margin_ms: 100,
    watch_ms: 1_000,
};
