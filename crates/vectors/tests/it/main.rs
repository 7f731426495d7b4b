//! The public files: every case passes as they are, and every case fails when one leaf of it is changed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test code"
)]

mod files;
mod frame;
mod mutants;
