//! `surefill sim`: the program of the simulated venues, as it is.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::args::SimCommand;

pub(crate) async fn run(command: SimCommand) -> ExitCode {
    surefill_sim::program::run(words(command)).await
}

/// The program's own arguments.
fn words(command: SimCommand) -> Vec<OsString> {
    match command {
        SimCommand::Run {
            venue,
            port,
            seed,
            journal,
            accounts,
        } => {
            let mut words: Vec<OsString> = ["run", "--venue", &venue]
                .iter()
                .map(OsString::from)
                .collect();
            words.extend(["--port".into(), port.to_string().into()]);
            words.extend(["--seed".into(), seed.to_string().into()]);
            for (name, path) in [("--journal", journal), ("--accounts", accounts)] {
                if let Some(path) = path {
                    words.extend([name.into(), path.into_os_string()]);
                }
            }
            words
        }
        SimCommand::Verify { dir } => vec!["verify".into(), dir.into_os_string()],
    }
}
