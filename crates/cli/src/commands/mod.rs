//! The commands, one file each.

mod cancel;
mod cancel_all;
mod doctor;
mod halt;
mod halts;
mod orders;
mod place;
mod probe;
mod recover;
mod shell;
mod show;
#[cfg(feature = "sim")]
mod sim;
mod vectors;

use std::process::ExitCode;

use crate::args::{Cli, Command};
use crate::config::Config;
use crate::failure::Failure;
use crate::output::{Said, finish};
use crate::stop::Stop;

/// Runs a command to its exit code.
pub(crate) async fn run(cli: Cli) -> ExitCode {
    let as_json = cli.json;
    #[cfg(feature = "sim")]
    if let Command::Sim(command) = cli.command {
        return sim::run(command).await;
    }
    finish(said(cli).await, as_json)
}

async fn said(cli: Cli) -> Result<Said, Failure> {
    let config = || Config::load(&cli.config);
    match &cli.command {
        Command::Place(args) => place::run(&config()?, args, &Stop::listen()?).await,
        Command::Cancel(args) => cancel::run(&config()?, args, &Stop::listen()?).await,
        Command::CancelAll(args) => cancel_all::run(&config()?, args, &Stop::listen()?).await,
        Command::Recover { venue, wait } => {
            recover::run(&config()?, venue.as_deref(), *wait, &Stop::listen()?).await
        }
        Command::Orders(args) => orders::run(&config()?, args).await,
        Command::Show { id } => show::run(&config()?, id),
        Command::Halts => halts::run(&config()?),
        Command::Halt(args) => halt::halt(&config()?, args, &Stop::listen()?).await,
        Command::Resume(args) => halt::resume(&config()?, args, &Stop::listen()?).await,
        Command::Probe(args) => probe::run(&config()?, args, &Stop::listen()?).await,
        Command::Vectors { kind, file } => vectors::run(kind, file),
        Command::Doctor { venue } => doctor::run(&config()?, venue.as_deref()).await,
        #[cfg(feature = "sim")]
        Command::Sim(_) => Err(Failure::usage("the simulator was not started")),
        Command::Completions { shell } => shell::completions(*shell),
        Command::Man { command } => shell::man(command.as_deref()),
    }
}
