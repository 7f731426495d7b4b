//! The client against raw sockets: what reaches the server, and what a failed send is said to prove.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod faults;
mod go;
mod server;
mod ws;
