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

Simulated venues on 127.0.0.1. Venues: bybit, hyperliquid. Prints one line of JSON per venue when it listens.";

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

/// The venues that can be simulated, in the order of `all`, and whether this build holds them.
const VENUES: [(&str, bool); 2] = [
    ("bybit", cfg!(feature = "bybit")),
    ("hyperliquid", cfg!(feature = "hyperliquid")),
];

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
        if options.venues.iter().any(|venue| venue == "all") {
            let all = VENUES.into_iter().filter(|(_, built)| *built);
            options.venues = all.map(|(venue, _)| venue.to_owned()).collect();
        }
        for (index, venue) in options.venues.iter().enumerate() {
            match VENUES.iter().find(|(name, _)| name == venue) {
                None => return Err(format!("--venue: {venue} is not simulated")),
                Some((_, false)) => return Err(format!("--venue: built without {venue}")),
                Some((_, true)) => {}
            }
            if options
                .venues
                .iter()
                .take(index)
                .any(|other| other == venue)
            {
                return Err(format!("--venue: {venue} is twice there"));
            }
        }
        if options
            .port_of(options.venues.len().saturating_sub(1))
            .is_none()
        {
            return Err("--port: there are not so many ports".to_owned());
        }
        Ok(options)
    }

    /// The port of the venue at this place of the list: any free one, or one after the other.
    fn port_of(&self, index: usize) -> Option<u16> {
        match self.port {
            0 => Some(0),
            port => port.checked_add(u16::try_from(index).ok()?),
        }
    }

    /// The further accounts of one venue: the whole file is its list, or the field of its name in an object.
    fn more<T: serde::de::DeserializeOwned>(&self, venue: &str) -> Result<Vec<T>, Failure> {
        let Some(path) = &self.accounts else {
            return Ok(Vec::new());
        };
        let read = || -> Result<Vec<T>, String> {
            let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
            let value = serde_json::from_slice::<serde_json::Value>(&bytes)
                .map_err(|error| error.to_string())?;
            let list = match value.get(venue) {
                None if value.is_object() => return Ok(Vec::new()),
                None => value,
                Some(list) => list.clone(),
            };
            serde_json::from_value(list).map_err(|error| error.to_string())
        };
        read().map_err(|text| Failure(2, format!("--accounts {}: {text}", path.display())))
    }
}

/// What the program exits with, and why.
#[derive(Debug)]
struct Failure(u8, String);

/// One venue that runs.
#[derive(Debug)]
enum Venue {
    #[cfg(feature = "bybit")]
    Bybit(crate::bybit::Handle),
    #[cfg(feature = "hyperliquid")]
    Hyperliquid(crate::hyperliquid::Handle),
}

impl Venue {
    async fn start(options: &Options, port: u16, venue: &str) -> Result<Self, Failure> {
        match venue {
            #[cfg(feature = "bybit")]
            "bybit" => bybit(options, port).await.map(Self::Bybit),
            #[cfg(feature = "hyperliquid")]
            "hyperliquid" => hyperliquid(options, port).await.map(Self::Hyperliquid),
            _ => {
                let text = format!(
                    "built without {venue} of {:?}, on port {port}",
                    options.venues
                );
                Err(Failure(2, text))
            }
        }
    }

    fn ready(&self, journal: Option<PathBuf>) -> Ready {
        let (venue, rest, ws, control) = match self {
            #[cfg(feature = "bybit")]
            Self::Bybit(handle) => ("bybit", handle.url(), handle.ws_url(), handle.control_url()),
            #[cfg(feature = "hyperliquid")]
            Self::Hyperliquid(handle) => (
                "hyperliquid",
                handle.url(),
                handle.ws_url(),
                handle.control_url(),
            ),
            #[cfg(not(any(feature = "bybit", feature = "hyperliquid")))]
            _ => ("none", String::new(), String::new(), String::new()),
        };
        Ready {
            ready: true,
            venue,
            rest,
            ws,
            control,
            pid: std::process::id(),
            journal,
        }
    }

    async fn shutdown(self) {
        match self {
            #[cfg(feature = "bybit")]
            Self::Bybit(handle) => handle.shutdown().await,
            #[cfg(feature = "hyperliquid")]
            Self::Hyperliquid(handle) => handle.shutdown().await,
        }
    }
}

async fn start(words: &[String]) -> ExitCode {
    let options = match Options::read(words) {
        Ok(options) => options,
        Err(text) => return usage(&text),
    };
    // Before anything is announced, so that a stop right after the ready line is a clean one.
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return fail(2, "cannot wait for signals");
    };
    let mut running = Vec::new();
    for (index, name) in options.venues.iter().enumerate() {
        let venue = match Venue::start(&options, options.port_of(index).unwrap_or(0), name).await {
            Ok(venue) => venue,
            Err(Failure(code, text)) => return fail(code, &text),
        };
        let ready = serde_json::to_string(&venue.ready(options.journal.clone()));
        running.push(venue);
        if let Err(error) = ready
            .map_err(io::Error::other)
            .and_then(|ready| say(&ready))
        {
            return fail(2, &format!("cannot say that it is ready: {error}"));
        }
    }
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    for venue in running {
        venue.shutdown().await;
    }
    ExitCode::SUCCESS
}

/// What a journal that cannot be used exits with.
#[cfg(any(feature = "bybit", feature = "hyperliquid"))]
const fn journal_code(error: &JournalError) -> u8 {
    match error {
        JournalError::Held { .. } => 6,
        JournalError::Io { .. }
        | JournalError::Closed
        | JournalError::Damaged { .. }
        | JournalError::Differs { .. } => 8,
    }
}

#[cfg(feature = "bybit")]
async fn bybit(options: &Options, port: u16) -> Result<crate::bybit::Handle, Failure> {
    use crate::bybit::{Config, Login, StartError};

    let more = options.more::<Login>("bybit")?;
    let mut logins = Login::built_in();
    // A key that is built in gets the limits of the file.
    logins.retain(|login| more.iter().all(|other| other.api_key != login.api_key));
    logins.extend(more);
    let config = Config {
        port,
        seed: options.seed,
        journal: options.journal.clone(),
        logins,
        ..Config::default()
    };
    crate::bybit::start(config).await.map_err(|error| {
        let text = chain(&error);
        match &error {
            StartError::Listen(_) => Failure(6, format!("port {port}: {text}")),
            StartError::Journal(error) => Failure(journal_code(error), text),
            StartError::Accounts { .. } => Failure(2, text),
        }
    })
}

#[cfg(feature = "hyperliquid")]
async fn hyperliquid(options: &Options, port: u16) -> Result<crate::hyperliquid::Handle, Failure> {
    use crate::hyperliquid::{Config, StartError, Wallet};

    let more = options.more::<Wallet>("hyperliquid")?;
    let mut wallets = Wallet::built_in();
    // An address that is built in is what the file says it is.
    let same = |one: &Wallet, other: &Wallet| one.address.eq_ignore_ascii_case(&other.address);
    wallets.retain(|wallet| !more.iter().any(|other| same(wallet, other)));
    wallets.extend(more);
    let config = Config {
        port,
        seed: options.seed,
        journal: options.journal.clone(),
        wallets,
        ..Config::default()
    };
    crate::hyperliquid::start(config).await.map_err(|error| {
        let text = chain(&error);
        match &error {
            StartError::Listen(_) => Failure(6, format!("port {port}: {text}")),
            StartError::Journal(error) => Failure(journal_code(error), text),
            StartError::Accounts { .. } => Failure(2, text),
        }
    })
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
