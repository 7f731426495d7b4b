//! The tests of the crate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::wildcard_enum_match_arm,
    reason = "test code"
)]

mod answers;
mod book;
mod conformance;
mod engine;
mod input;
mod lists;
mod lookups;
mod nonces;
mod scenarios;
mod server;
mod simulated;
mod stream;
mod switch;
mod vectors;
mod world;
