//! The journal in SQLite: the suite, and what only a file can suffer.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test code"
)]

mod child;
mod counts;
mod durable;
mod failed;
mod fixture;
mod full;
mod opening;
mod process;
mod random;
mod reader;
mod suite;
