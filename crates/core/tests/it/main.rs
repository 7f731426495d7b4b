//! The core's contract, held by tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "test code"
)]

mod amends;
mod decide_walk;
mod doubts;
mod engine;
mod engine_amends;
mod engine_doubt;
mod engine_full;
mod engine_races;
mod engine_requests;
mod fake_venue;
mod flaky_store;
mod kit;
mod nonces;
mod power_cut;
mod quantities;
mod schedules;
mod sim_world;
mod tables;
