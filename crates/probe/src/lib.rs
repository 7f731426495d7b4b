#![doc = include_str!("../README.md")]

mod bench;
mod cases;
mod clean;
mod compare;
mod control;
mod error;
mod fence;
mod options;
mod report;
mod run;
mod seen;
mod size;

pub use control::{HttpControl, SimControl};
pub use error::ProbeError;
pub use options::{Network, Options};
pub use report::{Duplicate, FenceSeen, Replay, Report, Reuse};
pub use run::probe;
