//! The papers say what is true now.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

mod hyperliquid;
mod papers;
