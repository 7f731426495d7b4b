//! The program's whole body, so that another executable can be a simulator too.

use std::{
    ffi::OsString,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use serde::Serialize;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::journal::{JournalError, verify};

const USAGE: &str = "\
usage: surefill-sim [run] --venue NAME[,NAME...]|all [--port P] [--seed N] [--journal DIR] [--accounts FILE]
       surefill-sim verify DIR

Simulated venues on 127.0.0.1. Venues: bybit. Prints one line of JSON per venue when it listens.";

/// Runs the simulator with the arguments of `sim run` or `sim verify`, without the program's name; the word `run` may
/// be left out. Returns when SIGTERM or SIGINT comes, with what the process should exit with: 0 done, 1 a journal
/// differs, 2 usage, 6 the port or the journal is held by another, 8 the journal is damaged.
///
/// Needs a tokio runtime with I/O and time.
pub async fn run<I: IntoIterator<Item = OsString>>(args: I) -> ExitCode {
    let mut words = Vec::new();
    for arg in args {
        match arg.into_string() {
            Ok(word) => words.push(word),
            Err(word) => return usage(&format!("not readable: {}", word.display())),
        }
    }
    match words.first().map(String::as_str) {
        Some("verify") => match words.as_slice() {
            [_, dir] => verify_all(&PathBuf::from(dir)),
            _ => usage("verify needs one DIR"),
        },
        Some("--help" | "-h") => done(say(USAGE)),
        Some("run") => start(words.get(1..).unwrap_or_default()).await,
        Some(_) => start(&words).await,
        None => usage("--venue is missing"),
    }
}

/// The ready line.
#[derive(Debug, Serialize)]
struct Ready {
    ready: bool,
    venue: &'static str,
    rest: String,
    ws: String,
    control: String,
    pid: u32,
    journal: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct Options {
    venues: Vec<String>,
    port: u16,
    seed: u64,
    journal: Option<PathBuf>,
    accounts: Option<PathBuf>,
}

impl Options {
    fn read(words: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, inline) = word
                .split_once('=')
                .map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            let value = inline.or_else(|| words.next().map(String::as_str));
            let value = value.ok_or_else(|| format!("{name} needs a value"))?;
            let wrong = || format!("{name}: {value} is no number that fits");
            match name {
                "--venue" => options.venues = value.split(',').map(str::to_owned).collect(),
                "--port" => options.port = value.parse().map_err(|_| wrong())?,
                "--seed" => options.seed = value.parse().map_err(|_| wrong())?,
                "--journal" => options.journal = Some(PathBuf::from(value)),
                "--accounts" => options.accounts = Some(PathBuf::from(value)),
                _ => return Err(format!("unknown argument {name}")),
            }
        }
        if options.venues.is_empty() {
            return Err("--venue is missing".to_owned());
        }
        match options
            .venues
            .iter()
            .find(|venue| !["bybit", "all"].contains(&venue.as_str()))
        {
            Some(venue) => Err(format!("--venue: {venue} is not simulated")),
            None => Ok(options),
        }
    }
}

async fn start(words: &[String]) -> ExitCode {
    let options = match Options::read(words) {
        Ok(options) => options,
        Err(text) => return usage(&text),
    };
    #[cfg(feature = "bybit")]
    return run_bybit(options).await;
    #[cfg(not(feature = "bybit"))]
    usage(&format!("built without {:?}", options.venues))
}

#[cfg(feature = "bybit")]
async fn run_bybit(options: Options) -> ExitCode {
    use crate::bybit::{Config, Login, StartError};

    // Before anything is announced, so that a stop right after the ready line is a clean one.
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return fail(2, "cannot wait for signals");
    };
    let mut logins = Login::built_in();
    if let Some(path) = &options.accounts {
        let read = std::fs::read(path).map_err(|error| error.to_string());
        let more = read.and_then(|bytes| {
            serde_json::from_slice::<Vec<Login>>(&bytes).map_err(|error| error.to_string())
        });
        match more {
            Ok(more) => {
                // A key that is built in gets the limits of the file.
                logins.retain(|login| more.iter().all(|other| other.api_key != login.api_key));
                logins.extend(more);
            }
            Err(error) => return fail(2, &format!("--accounts {}: {error}", path.display())),
        }
    }
    let config = Config {
        port: options.port,
        seed: options.seed,
        journal: options.journal.clone(),
        logins,
        ..Config::default()
    };
    let handle = match crate::bybit::start(config).await {
        Ok(handle) => handle,
        Err(error) => {
            let code = match &error {
                StartError::Listen(_) | StartError::Journal(JournalError::Held { .. }) => 6,
                StartError::Journal(_) => 8,
                StartError::Accounts { .. } => 2,
            };
            let port = match &error {
                StartError::Listen(_) => format!("port {}: ", options.port),
                StartError::Journal(_) | StartError::Accounts { .. } => String::new(),
            };
            return fail(code, &format!("{port}{}", chain(&error)));
        }
    };
    let ready = Ready {
        ready: true,
        venue: "bybit",
        rest: handle.url(),
        ws: handle.ws_url(),
        control: handle.control_url(),
        pid: std::process::id(),
        journal: options.journal,
    };
    let ready = serde_json::to_string(&ready).map_err(io::Error::other);
    if let Err(error) = ready.and_then(|ready| say(&ready)) {
        return fail(2, &format!("cannot say that it is ready: {error}"));
    }
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    handle.shutdown().await;
    ExitCode::SUCCESS
}

/// Verifies the journal of each venue in `dir`.
fn verify_all(dir: &std::path::Path) -> ExitCode {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return fail(2, &format!("{}: {error}", dir.display())),
    };
    let mut dirs: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    dirs.retain(|path| path.join("commands.jsonl").is_file());
    dirs.sort();
    if dirs.is_empty() {
        return fail(2, &format!("{}: no journal here", dir.display()));
    }
    for path in dirs {
        match verify(&path) {
            Ok(verified) => {
                let (commands, events) = (verified.commands, verified.events);
                let venue = path
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                if let Err(error) = say(
                    &json!({ "venue": venue, "commands": commands, "events": events }).to_string(),
                ) {
                    return fail(2, &error.to_string());
                }
            }
            Err(error @ JournalError::Differs { .. }) => return fail(1, &chain(&error)),
            Err(error) => return fail(8, &chain(&error)),
        }
    }
    ExitCode::SUCCESS
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

fn done(said: io::Result<()>) -> ExitCode {
    match said {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

fn usage(text: &str) -> ExitCode {
    fail(2, &format!("{text}\n{USAGE}"))
}

fn fail(code: u8, text: &str) -> ExitCode {
    // Where even this cannot be said, the exit code still can.
    if writeln!(io::stderr().lock(), "surefill-sim: {text}").is_err() {
        return ExitCode::from(code);
    }
    ExitCode::from(code)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
