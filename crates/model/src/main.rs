//! Goes deeper than the tests do, and writes the table of guarantees.
#![allow(clippy::print_stdout, reason = "a program for people")]
#![allow(clippy::unwrap_used, reason = "a program for people")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use surefill_model::check::{Camp, Check, Scenario, check_all, table};
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
        /// Ticks until a change shows in lists.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
        lag: u8,
        /// Only what goes wrong in this scenario: crash, lists, takeover, doubled, cancel. May be given again.
        #[arg(long = "scenario")]
        scenarios: Vec<Scenario>,
        /// Stop a check after so many generated worlds; without it each goes to the end.
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
        script: Option<PathBuf>,
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
        document: PathBuf,
        /// Only say whether it is fresh.
        #[arg(long)]
        verify: bool,
        /// Stop a check after so many generated worlds; without it each goes to the end, and the table says where one did not.
        #[arg(long, default_value_t = usize::MAX)]
        limit: usize,
        /// Checks at once.
        #[arg(long, default_value_t = 2)]
        threads: usize,
    },
}

fn main() -> ExitCode {
    match Args::parse().command {
        Command::Check {
            deeper,
            lag,
            scenarios,
            limit,
            threads,
        } => {
            let scenarios = if scenarios.is_empty() {
                Scenario::ALL.to_vec()
            } else {
                scenarios
            };
            check(&scenarios, deeper, lag, threads, limit)
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
        Command::Table {
            document,
            verify,
            limit,
            threads,
        } => match write_table(&document, verify, threads, limit) {
            Ok(said) => {
                println!("{}: {said}", document.display());
                ExitCode::SUCCESS
            }
            Err(error) => {
                println!("{}: {error}", document.display());
                ExitCode::FAILURE
            }
        },
    }
}

/// Checks every kind of venue, and says what each check met.
fn check(scenarios: &[Scenario], deeper: u8, lag: u8, threads: usize, limit: usize) -> ExitCode {
    let make =
        |camp: Camp, scenario: Scenario| Check::new(camp, scenario.budget(deeper)).lagging(lag);
    let reports = check_all(scenarios, threads, limit, make, |camp, of, report| {
        let cut = if report.cut { ", cut" } else { "" };
        println!("{of}, {camp}: {} states{cut}", report.states);
        for found in &report.found {
            println!("{:?}\n  {}", found.promise, found.script.join("\n  "));
        }
    });
    let broken = reports.iter().any(|(.., report)| !report.found.is_empty());
    let states: usize = reports.iter().map(|(.., report)| report.states).sum();
    let cut = reports.iter().filter(|(.., report)| report.cut).count();
    println!("{} checks, {states} states, {cut} cut", reports.len());
    if broken {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Writes the table into a document, or says whether it stands there.
fn write_table(
    document: &Path,
    verify: bool,
    threads: usize,
    limit: usize,
) -> Result<&'static str, String> {
    let text = std::fs::read_to_string(document).map_err(|error| error.to_string())?;
    // Before the work: a document without the section takes no table.
    if table::written(&text, "").is_none() {
        return Err("there is no section for the table".into());
    }
    let make = |camp: Camp, scenario: Scenario| Check::new(camp, scenario.budget(0));
    let reports = check_all(&Scenario::ALL, threads, limit, make, |_, _, _| {});
    let fresh = table::written(&text, &table::table(&reports));
    let fresh = fresh.ok_or("there is no section for the table")?;
    if fresh == text {
        return Ok("the table is fresh");
    }
    if verify {
        return Err("the table is not what the check finds".into());
    }
    std::fs::write(document, &fresh).map_err(|error| error.to_string())?;
    Ok("the table is written")
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
