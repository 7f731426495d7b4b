#![cfg_attr(feature = "bybit", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "bybit"), doc = "Simulated venues, built without Bybit.")]
#![cfg_attr(
    not(any(feature = "bybit", feature = "hyperliquid")),
    allow(
        dead_code,
        unused_imports,
        reason = "without a venue the core and the journal serve nobody"
    )
)]
#![recursion_limit = "256"]

#[cfg(feature = "bybit")]
pub mod bybit;
#[cfg(any(feature = "bybit", feature = "hyperliquid"))]
mod clock;
pub mod core;
#[cfg(any(feature = "bybit", feature = "hyperliquid"))]
#[cfg_attr(
    not(all(feature = "bybit", feature = "hyperliquid")),
    allow(dead_code, reason = "parts that only another venue needs")
)]
mod edge;
#[cfg(feature = "hyperliquid")]
pub mod hyperliquid;
mod journal;
pub mod program;
#[cfg(any(feature = "bybit", feature = "hyperliquid"))]
mod world;

pub use journal::{JournalError, Verified, verify};
