#![doc = include_str!("../README.md")]

mod adapter;
mod category;
mod client;
mod codes;
mod config;
mod error;
mod follow;
mod prepare;
mod profile;
mod reader;
mod trader;
mod wire;

pub mod batch;
pub mod id;
pub mod market;
pub mod outcome;
pub mod rows;
pub mod sign;
pub mod stream;
pub mod trade;

pub use category::Category;
pub use config::{Bybit, Network, Timing};
pub use error::KeyError;
pub use prepare::BybitParams;
pub use profile::IP_BAN;
pub use sign::Keys;
