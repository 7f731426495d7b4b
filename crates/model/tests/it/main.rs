//! The proof: the model check, the guards taken out one by one, the seeded simulation.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "test code"
)]

mod camps;
mod guards;
mod lies;
mod program;
mod scripts;
mod seeds;
