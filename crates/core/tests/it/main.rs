//! The contract of the core, from outside: what it decides, what it keeps and what it never does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "test code"
)]

mod decide_walk;
mod kit;
mod power_cut;
mod quantities;
mod schedules;
mod sim_world;
mod tables;
