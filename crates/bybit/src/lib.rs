#![doc = include_str!("../README.md")]

mod adapter;
mod client;
mod codes;
mod config;
mod error;
mod prepare;
mod profile;
mod reader;
mod wire;

pub mod id;
pub mod market;
pub mod outcome;
pub mod rows;
pub mod sign;

pub use config::{Bybit, Network, Timing};
pub use error::KeyError;
pub use prepare::BybitParams;
pub use sign::Keys;
