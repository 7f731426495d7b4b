#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "test code: an assertion that fails is what a referee is for"
)]

mod bot;
mod judge;
mod ledger;
mod log;
mod process;
mod simulated;
mod stage;
mod truth;

pub use bot::{Bot, becomes, insist, settled};
pub use judge::{judge, judge_within};
pub use ledger::Ledger;
pub use process::{Process, told, wait};
pub use simulated::{Fate, Simulated};
pub use stage::{BOUND, LISTS, Stage, until};
