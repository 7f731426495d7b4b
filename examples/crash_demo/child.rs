//! The demo's processes: itself, in hidden roles.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::moment::Moment;
use crate::venue::At;
use crate::{Failure, PATIENCE, Role};

/// A simulated venue in a process of its own; it ends with this value.
#[derive(Debug)]
pub(crate) struct Simulator {
    _process: Child,
    pub(crate) rest: String,
    pub(crate) control: String,
}

/// What the simulator prints once it listens.
#[derive(Deserialize)]
struct Ready {
    rest: String,
    control: String,
}

impl Simulator {
    pub(crate) async fn start(at: At) -> Result<Self, Failure> {
        let mut command = itself()?;
        command.args(["--role", &Role::Sim.word(), "--venue", at.word()]);
        let (process, mut lines) = spawn(command)?;
        let line = next_line(&mut lines).await?;
        let Ready { rest, control } = serde_json::from_str(&line)?;
        Ok(Self {
            _process: process,
            rest,
            control,
        })
    }
}

/// What a bot told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The moment is here; it waits to be killed.
    At(Moment),
    /// The moment slipped by.
    Missed,
    /// It has done its work.
    Done,
}

/// A bot in a process of its own.
#[derive(Debug)]
pub(crate) struct Bot {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// What a bot is started with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) at: At,
    pub(crate) role: Role,
    pub(crate) simulator: &'a Simulator,
    pub(crate) journal: &'a Path,
    pub(crate) signal_ms: u64,
    pub(crate) price: &'a str,
}

impl Bot {
    pub(crate) fn start(start: Start<'_>, die: Option<Moment>) -> Result<Self, Failure> {
        let mut command = itself()?;
        command.args(["--role", &start.role.word(), "--venue", start.at.word()]);
        command.args(["--url", &start.simulator.rest]);
        command.args([
            "--control",
            &start.simulator.control,
            "--price",
            start.price,
        ]);
        command.args(["--signal-ms", &start.signal_ms.to_string()]);
        command.arg("--journal").arg(start.journal);
        if let Some(moment) = die {
            command.args(["--die", &moment.word()]);
        }
        let (process, lines) = spawn(command)?;
        Ok(Self { process, lines })
    }

    /// The next thing that it tells.
    pub(crate) async fn told(&mut self) -> Result<Told, Failure> {
        let line = next_line(&mut self.lines).await?;
        match line.split_once(' ') {
            Some(("AT", word)) => Ok(Told::At(clap::ValueEnum::from_str(word, false)?)),
            Some(("DONE", _)) => Ok(Told::Done),
            None if line == "MISSED" => Ok(Told::Missed),
            _ => Err(format!("a bot said {line:?}").into()),
        }
    }

    /// Kills it with SIGKILL, and checks that it died of that.
    pub(crate) async fn kill(mut self) -> Result<(), Failure> {
        self.process.start_kill()?;
        let status = self.process.wait().await?;
        match status.signal() {
            Some(9) => Ok(()),
            _ => Err(format!("a bot did not die of signal 9: {status}").into()),
        }
    }

    /// Waits for its own end.
    pub(crate) async fn end(mut self) -> Result<(), Failure> {
        let status = tokio::time::timeout(PATIENCE, self.process.wait()).await??;
        if status.success() {
            Ok(())
        } else {
            Err(format!("a bot ended with {status}").into())
        }
    }
}

fn itself() -> Result<Command, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    Ok(command)
}

fn spawn(mut command: Command) -> Result<(Child, Lines<BufReader<ChildStdout>>), Failure> {
    let mut process = command.spawn()?;
    let stdout = process.stdout.take().ok_or("a child has no pipe")?;
    Ok((process, BufReader::new(stdout).lines()))
}

async fn next_line(lines: &mut Lines<BufReader<ChildStdout>>) -> Result<String, Failure> {
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await??;
    line.ok_or_else(|| "a child ended without a word".into())
}
