#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test code: an assertion that fails is what a suite is for"
)]

mod crash_at;
mod faulty;
mod hooked;
pub mod store;
pub mod venue;

pub use crash_at::{Call, CrashAt, CrashPoint, Edge, World};
pub use faulty::{FailsOnce, Faulty, Landing};
pub use hooked::{Hook, Hooked, StoreCall};
