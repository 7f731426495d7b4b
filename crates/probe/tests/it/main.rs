//! The probe against simulated venues: it tells what the venue does, whatever the profile says, and leaves nothing behind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test code"
)]

mod consent;
mod liar;
mod lies;
mod rules;
mod stop;
mod world;
