//! Tests of the simulated venues: the core by itself, and the servers over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::future_not_send,
    reason = "test code"
)]

mod categories;
mod control;
mod desk;
mod duplicates;
mod faults;
mod flow;
mod gate;
mod hyperliquid;
mod journal;
mod lists;
mod matching;
mod private;
mod program;
mod socket;
mod support;
mod trade;
mod vectors;
