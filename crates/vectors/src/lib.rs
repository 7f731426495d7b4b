#![doc = include_str!("../README.md")]

mod bybit;
mod compare;
mod driver;
mod file;
mod hyperliquid;
mod ids;
mod input;
mod kind;
mod report;
mod run;

pub use file::FrameError;
pub use kind::{Kind, UnknownKind};
pub use report::{Failure, Report};
pub use run::{check, run};
