//! The command as a process, against the simulated Bybit as another one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::disallowed_methods,
    reason = "test code"
)]

mod bad_input;
mod bench;
mod beside;
mod doctor;
mod hyperliquid;
mod orders;
mod papers;
mod probe;
mod secrets;
mod signals;
mod simulator;
mod vectors;
