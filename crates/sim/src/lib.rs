#![doc = include_str!("../README.md")]
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
