//! Bybit's adapter: the shared vectors through its real functions, and the adapter against a scripted server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test code"
)]

mod acts;
mod ban;
mod categories;
mod engine;
mod lists;
mod prepare;
mod secrets;
mod sequences;
mod server;
mod simulated;
mod socket;
mod stream;
mod trade;
mod vectors;
mod world;
