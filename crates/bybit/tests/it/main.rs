//! Bybit's adapter: the shared vectors through its real functions, the adapter against a scripted server, and
//! the whole way from the engine and its journal on disk to a simulated venue.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "test code"
)]

mod acts;
mod amends;
mod bad_input;
mod ban;
mod cancels;
mod categories;
mod conformance;
mod crowd;
mod disk;
mod engine;
mod following;
mod lists;
mod lookups;
mod malformed;
mod markets;
mod prepare;
mod restarts;
mod scenarios;
mod secrets;
mod server;
mod simulated;
mod socket;
mod stage;
mod stream;
#[cfg(target_os = "linux")]
mod syscalls;
mod trade;
mod vectors;
mod wire;
mod words;
mod world;
