//! Goes deeper than the tests do, and writes the table of guarantees.
#![allow(clippy::print_stdout, reason = "a program for people")]
#![allow(clippy::unwrap_used, reason = "a program for people")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use surefill_model::check::{Scenario, check_all, table};

/// The proof of the core.
#[derive(Debug, Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks every kind of venue.
    Check {
        /// So many faults more than the tests allow, and refusals and executions everywhere.
        #[arg(long, default_value_t = 0)]
        deeper: u8,
        /// Stop a check after so many generated states.
        #[arg(long, default_value_t = usize::MAX)]
        limit: usize,
        /// Checks at once.
        #[arg(long, default_value_t = 2)]
        threads: usize,
    },
    /// Writes the table into a document.
    Table {
        /// Where.
        #[arg(default_value = "docs/guarantees.md")]
        document: std::path::PathBuf,
    },
}

fn main() -> ExitCode {
    match Args::parse().command {
        Command::Check {
            deeper,
            limit,
            threads,
        } => {
            let reports = check_all(
                &Scenario::ALL,
                deeper,
                threads,
                limit,
                |camp, of, report| {
                    let cut = if report.cut { ", cut" } else { "" };
                    println!("{of}, {camp}: {} states{cut}", report.states);
                    for found in &report.found {
                        println!("{:?}\n  {}", found.promise, found.script.join("\n  "));
                    }
                },
            );
            let broken = reports.iter().any(|(.., report)| !report.found.is_empty());
            let states: usize = reports.iter().map(|(.., report)| report.states).sum();
            println!("{} checks, {states} states", reports.len());
            if broken {
                ExitCode::FAILURE
            } else {
                ExitCode::SUCCESS
            }
        }
        Command::Table { document } => {
            let reports = check_all(&Scenario::TABLE, 0, 2, Scenario::LIMIT, |_, _, _| {});
            let text = std::fs::read_to_string(&document).unwrap();
            let Some(text) = table::written(&text, &table::table(&reports)) else {
                println!("{} has no section for the table", document.display());
                return ExitCode::FAILURE;
            };
            std::fs::write(&document, text).unwrap();
            ExitCode::SUCCESS
        }
    }
}
