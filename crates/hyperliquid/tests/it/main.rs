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
mod child;
mod conformance;
mod engine;
mod following;
mod found_out;
mod input;
mod liar;
mod lists;
mod lookups;
mod nonces;
mod scenarios;
mod server;
mod simulated;
mod stage;
mod stream;
mod switch;
mod vectors;
mod world;
