//! Goes deeper than the tests do, and writes the table of guarantees.
#![allow(clippy::print_stdout, reason = "a program for people")]
#![allow(clippy::unwrap_used, reason = "a program for people")]

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use surefill_model::check::{Scenario, check_all, table};
use surefill_model::sim::{Script, run, run_seeds, shrink};

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
    /// Runs schedules of the real engine in virtual time, from seeds or from a script.
    Simulate {
        /// So many seeds.
        #[arg(long, default_value_t = 10_000)]
        seeds: u64,
        /// The first seed.
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// For so many seconds instead; `m` and `h` after the number stand for minutes and hours.
        #[arg(long = "for", value_parser = duration)]
        during: Option<Duration>,
        /// Only the schedule of this file, with everything that happens.
        #[arg(long)]
        script: Option<std::path::PathBuf>,
        /// Only the schedule of this seed, with everything that happens.
        #[arg(long, conflicts_with = "script")]
        seed: Option<u64>,
        /// Schedules at once.
        #[arg(long, default_value_t = 2)]
        threads: u64,
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
        Command::Simulate {
            seeds,
            from,
            during,
            script,
            seed,
            threads,
        } => {
            let script = match (script, seed) {
                (Some(file), _) => Some(std::fs::read_to_string(file).unwrap().parse().unwrap()),
                (None, seed) => seed.map(Script::of),
            };
            match script {
                Some(script) => replay(&script),
                None => simulate(from, seeds, during, threads.max(1)),
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

/// One schedule, with everything that happens.
fn replay(script: &Script) -> ExitCode {
    println!("{script}");
    let outcome = run(script, None);
    for line in &outcome.log {
        println!("{line}");
    }
    match outcome.broken {
        None => ExitCode::SUCCESS,
        Some(broken) => {
            println!("{broken}");
            ExitCode::FAILURE
        }
    }
}

/// Many schedules; the first that fails is made short and printed.
fn simulate(from: u64, seeds: u64, during: Option<Duration>, threads: u64) -> ExitCode {
    let seeds = if during.is_some() {
        u64::MAX - from
    } else {
        seeds
    };
    let tally = run_seeds(from, seeds, during, threads, None);
    println!("from seed {from}: {tally}");
    let Some((seed, broken)) = tally.failed else {
        return ExitCode::SUCCESS;
    };
    println!("seed {seed}: {broken}");
    if let Some(shrunk) = shrink(&Script::of(seed), None, 5_000) {
        println!("the same, shorter: {}\n{}", shrunk.broken, shrunk.script);
    }
    ExitCode::FAILURE
}

/// A number of seconds, or of minutes or hours where `m` or `h` follows.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| format!("{text:?} is no duration: give 90, 90s, 30m or 2h"))?;
    let seconds = match unit {
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3_600),
        _ => Some(number),
    };
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| format!("{text:?} is too long"))
}
