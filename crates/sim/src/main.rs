//! The simulated venues as a program of their own.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    surefill_sim::program::run(std::env::args_os().skip(1)).await
}
