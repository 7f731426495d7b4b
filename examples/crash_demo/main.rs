//! Kills a bot with SIGKILL at five moments of an order's life, restarts it, and counts the orders that the venue holds.
//!
//! Beside it the same schedule is run by a naive bot. Exit 0 only if no decision through surefill ever had two orders, every fill
//! is in its journal once, and the naive bot doubled at least once. All processes are this program, in hidden roles.
#![allow(clippy::print_stdout, reason = "a program that shows a table")]

mod bot;
mod child;
mod control;
mod death;
mod maker;
mod moment;
mod naive;
mod run;
mod stop_at;
mod table;
mod venue;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use moment::Moment;
use venue::At;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Base units that each bot wants, once.
const QTY: &str = "0.03";

/// How long anything may take before the demo gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// What this process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// The parent: it starts, kills, restarts and counts.
    Demo,
    /// The simulated venue.
    Sim,
    /// The bot that trades through surefill.
    Bot,
    /// The bot without it.
    Naive,
}

impl Role {
    fn word(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Kills bots and counts orders.
#[derive(Debug, Parser)]
struct Args {
    /// At which simulated venue.
    #[arg(long, value_enum, default_value = "bybit")]
    venue: At,
    #[arg(long, hide = true, default_value = "demo")]
    role: Role,
    #[arg(long, hide = true, default_value = "")]
    url: String,
    #[arg(long, hide = true, default_value = "")]
    control: String,
    #[arg(long, hide = true, default_value = "orders.db")]
    journal: PathBuf,
    #[arg(long, hide = true, default_value_t = 0)]
    signal_ms: u64,
    #[arg(long, hide = true, default_value = "60100")]
    price: String,
    #[arg(long, hide = true)]
    die: Option<Moment>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match args.role {
        Role::Demo => several_threads().and_then(|runtime| runtime.block_on(demo(args.venue))),
        Role::Sim => several_threads().map(|runtime| {
            let words = ["run", "--venue", args.venue.word()].map(std::ffi::OsString::from);
            runtime.block_on(surefill_sim::program::run(words))
        }),
        // One thread each, so that a moment stops all of the bot.
        Role::Bot => one_thread()
            .and_then(|runtime| runtime.block_on(bot::run(orders(&args))))
            .map(|()| ExitCode::SUCCESS),
        Role::Naive => one_thread()
            .and_then(|runtime| runtime.block_on(naive::run(orders(&args))))
            .map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        eprintln!("crash_demo ({:?}): {error}", args.role);
        ExitCode::FAILURE
    })
}

fn orders(args: &Args) -> bot::Orders<'_> {
    bot::Orders {
        at: args.venue,
        url: &args.url,
        control: &args.control,
        journal: &args.journal,
        signal_ms: args.signal_ms,
        die: args.die,
        price: &args.price,
    }
}

fn several_threads() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?)
}

fn one_thread() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}

async fn demo(at: At) -> Result<ExitCode, Failure> {
    let [window, lag, drain, margin, watch] = at.timing();
    println!(
        "simulated {}, short timing: receive window {window} ms, visibility lag {lag} ms, drain {drain} ms, margin {margin} ms, watch {watch} ms\n",
        at.title()
    );
    let mut running = Vec::new();
    for moment in Moment::ALL {
        for role in [Role::Bot, Role::Naive] {
            running.push(tokio::spawn(run::run(at, moment, role)));
        }
    }
    let mut outcomes = Vec::new();
    for task in running {
        outcomes.push(task.await??);
    }
    println!("{}", table::table(&outcomes));
    let ours = |outcome: &&run::Outcome| outcome.role == Role::Bot;
    let kept = outcomes.iter().filter(ours).all(run::Outcome::holds);
    let doubled = outcomes
        .iter()
        .filter(|outcome| !ours(outcome) && outcome.orders > 1)
        .count();
    println!(
        "surefill: {}",
        if kept {
            "every decision is exactly one order, every fill is booked once"
        } else {
            "BROKEN"
        }
    );
    println!(
        "naive bot: doubled {doubled} of {} decisions",
        Moment::ALL.len()
    );
    Ok(if kept && doubled > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
