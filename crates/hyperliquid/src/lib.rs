#![doc = include_str!("../README.md")]

mod adapter;
mod budget;
mod client;
mod config;
mod error;
mod follow;
mod nonce;
mod prepare;
mod profile;
mod reader;
mod switch;
mod wire;

pub mod action;
pub mod codes;
pub mod coins;
pub mod id;
pub mod identity;
pub mod list;
pub mod number;
pub mod ordered;
pub mod outcome;
pub mod rows;
pub mod sign;
pub mod stream;

pub use config::{Hyperliquid, Keys, Leverage, Network, Timing};
pub use error::{AddressError, KeyError, ReadFailure};
pub use prepare::HyperliquidParams;
pub use switch::DeadMansSwitch;
