//! The simulated Hyperliquid over real sockets.

mod accounts;
mod admission;
mod client;
mod faults;
mod journal;
mod limits;
mod lookups;
mod modify;
mod orders;
mod socket;
mod vectors;
