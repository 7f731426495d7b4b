//! `surefill`: the operator's command.

mod args;
mod commands;
mod config;
mod documents;
mod engine;
mod failure;
mod identity;
mod keys;
mod output;
mod stop;
mod text;
mod venue;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tokio::runtime::Builder;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

use crate::args::Cli;

/// How long threads that wait for the system, such as one that asks for an address, are waited for at the end.
const LAST: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let cli = Cli::parse();
    log(cli.verbose);
    let runtime = match Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::say_aside(&format!("no threads can be started: {error}"));
            return ExitCode::from(failure::Exit::Usage.code());
        }
    };
    let code = runtime.block_on(commands::run(cli));
    runtime.shutdown_timeout(LAST);
    code
}

/// Logs to stderr. Other people's crates say less than ours: what they log has not been read for secrets.
fn log(verbose: u8) {
    let (ours, theirs) = match verbose {
        0 => (LevelFilter::WARN, LevelFilter::ERROR),
        1 => (LevelFilter::INFO, LevelFilter::WARN),
        2 => (LevelFilter::DEBUG, LevelFilter::WARN),
        _ => (LevelFilter::TRACE, LevelFilter::INFO),
    };
    let levels = Targets::new()
        .with_target("surefill", ours)
        .with_default(theirs);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false);
    tracing_subscriber::registry()
        .with(lines.with_filter(levels))
        .init();
}
