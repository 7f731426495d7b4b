//! The suites, run over what core itself has, and over a venue in memory of every camp.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test code"
)]

mod camps;
mod catalogue;
mod fake;
mod faulty;
mod liars;
mod memory;
