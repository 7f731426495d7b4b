#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test code: an assertion that fails is what a suite is for"
)]

mod faulty;
pub mod store;

pub use faulty::{Faulty, Landing};
