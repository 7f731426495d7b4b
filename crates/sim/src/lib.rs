#![cfg_attr(feature = "bybit", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "bybit"), doc = "Simulated venues, built without any.")]
#![cfg_attr(
    not(feature = "bybit"),
    allow(
        dead_code,
        unused_imports,
        reason = "without a venue the core and the journal serve nobody"
    )
)]
#![recursion_limit = "256"]

#[cfg(feature = "bybit")]
pub mod bybit;
#[cfg(feature = "bybit")]
mod clock;
pub mod core;
#[cfg(feature = "bybit")]
mod edge;
mod journal;
pub mod program;
#[cfg(feature = "bybit")]
mod world;

pub use journal::{JournalError, Verified, verify};
