//! `surefill doctor`: what is wrong, and what to do about it.

use serde::Serialize;
use surefill_core::{AccountId, Alias, HaltCause, VenueError};
use surefill_store_sqlite::SqliteReader;

use crate::config::{Config, Network, VenueConfig};
use crate::engine;
use crate::failure::{Exit, Failure, chain};
use crate::output::Said;
use crate::venue::{self, Connected};
use crate::{keys, text};

/// From this size on the log of the journal should have been moved into its file, bytes.
const LONG_LOG: u64 = 64 * 1024 * 1024;

/// How far this machine's clock may be from the venue's, ms, before it is said.
const FAR_MS: u64 = 1_000;

/// What one check found.
#[derive(Debug, Serialize)]
struct CheckDoc {
    check: &'static str,
    venue: Option<String>,
    ok: bool,
    found: String,
    todo: Option<String>,
}

#[derive(Debug, Serialize)]
struct DoctorDoc {
    ok: bool,
    checks: Vec<CheckDoc>,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Findings(Vec<CheckDoc>);

impl Findings {
    fn fine(&mut self, check: &'static str, venue: Option<&Alias>, found: impl Into<String>) {
        self.add(check, venue, found.into(), None);
    }

    fn bad(
        &mut self,
        check: &'static str,
        venue: Option<&Alias>,
        found: impl Into<String>,
        todo: impl Into<String>,
    ) {
        self.add(check, venue, found.into(), Some(todo.into()));
    }

    fn add(
        &mut self,
        check: &'static str,
        venue: Option<&Alias>,
        found: String,
        todo: Option<String>,
    ) {
        self.0.push(CheckDoc {
            check,
            venue: venue.map(ToString::to_string),
            ok: todo.is_none(),
            found,
            todo,
        });
    }
}

pub(crate) async fn run(config: &Config, only: Option<&str>) -> Result<Said, Failure> {
    let venues: Vec<&VenueConfig> = match only {
        Some(alias) => vec![config.venue(&alias.into())?],
        None => config.venues.iter().collect(),
    };
    let mut findings = Findings::default();
    let venues_named = format!("{}: {} venues", config.file.display(), config.venues.len());
    findings.fine("configuration", None, venues_named);
    let bindings = journal(config, &mut findings);
    for config in venues {
        venue_checks(config, &bindings, &mut findings).await;
    }
    let checks = findings.0;
    let ok = checks.iter().all(|check| check.ok);
    let rows: Vec<Vec<String>> = checks
        .iter()
        .map(|check| {
            vec![
                if check.ok { "ok" } else { "FAILED" }.to_owned(),
                check.venue.clone().unwrap_or_else(|| "-".to_owned()),
                check.check.to_owned(),
                match &check.todo {
                    Some(todo) => format!("{}: {todo}", check.found),
                    None => check.found.clone(),
                },
            ]
        })
        .collect();
    let text = text::table(&["", "venue", "check", "found"], &rows);
    let exit = if ok { Exit::Done } else { Exit::CheckFailed };
    Said::new(exit, &DoctorDoc { ok, checks }, text)
}

/// Looks at the journal; returns the accounts that it knows.
fn journal(config: &Config, findings: &mut Findings) -> Vec<(Alias, AccountId)> {
    let file = config.journal.display();
    if !config.journal.exists() {
        let found = format!("{file} is not there yet; the first place makes it");
        findings.fine("journal", None, found);
        return Vec::new();
    }
    let found = SqliteReader::open(&config.journal).and_then(|reader| {
        let (health, fault) = (reader.health()?, reader.fault()?);
        Ok((health, fault, reader.halts()?, reader.bindings()?))
    });
    let (health, fault, halts, bindings) = match found {
        Ok(found) => found,
        Err(error) => {
            let todo = "keep the file; use the newer program, restore a copy, or start a new journal and compare open orders by hand";
            findings.bad("journal", None, chain(&error), todo);
            return Vec::new();
        }
    };
    let sizes = format!(
        "{file}: schema {}, {} bytes, {} bytes of log, {} unfinished and {} finished orders, written last at {}",
        health.schema,
        health.file_bytes,
        health.log_bytes,
        health.unfinished,
        health.finished,
        health
            .written_at
            .map_or_else(|| "an unknown time".to_owned(), |at| at.to_string()),
    );
    match fault {
        None => findings.fine("journal", None, sizes),
        Some(fault) => {
            let todo = "keep the file, restore a copy or start a new journal, and compare open orders by hand";
            findings.bad("journal", None, format!("{sizes}; damaged: {fault}"), todo);
        }
    }
    if health.open_to_others > 0 {
        let found = format!("others can read {file}");
        findings.bad("journal's mode", None, found, format!("chmod 600 {file}"));
    }
    if health.log_bytes > LONG_LOG {
        let todo = "something reads the journal without end: close it, or restart the process that holds the journal";
        let found = format!("{} bytes wait to be moved into the file", health.log_bytes);
        findings.bad("journal's log", None, found, todo);
    }
    match (&health.holder, health.waiting) {
        (Some(pid), 0) => findings.fine("engine", None, format!("process {pid} holds the journal")),
        (Some(pid), waiting) => findings.fine(
            "engine",
            None,
            format!("process {pid} holds the journal; {waiting} requests wait for it"),
        ),
        (None, 0) => findings.fine("engine", None, "no process holds the journal"),
        (None, waiting) => findings.bad(
            "engine",
            None,
            format!("{waiting} requests wait, and no process holds the journal"),
            "start the bot, or run surefill recover: whoever comes first does them",
        ),
    }
    let person = halts.iter().filter(|halt| halt.cause.needs_person());
    match person.count() {
        0 => findings.fine(
            "halts",
            None,
            format!("{} in force, none waits for a person", halts.len()),
        ),
        waiting => findings.bad(
            "halts",
            None,
            format!("{waiting} in force that wait for a person"),
            match halts.iter().any(|halt| halt.cause != HaltCause::Asked) {
                true => {
                    "surefill halts says why; compare with the venue by hand, then surefill resume"
                }
                false => "surefill resume, when the reason is over",
            },
        ),
    }
    bindings
}

async fn venue_checks(
    config: &VenueConfig,
    bindings: &[(Alias, AccountId)],
    findings: &mut Findings,
) {
    let alias = Some(&config.alias);
    match keys::shape(config) {
        Ok(shape) => findings.fine("keys", alias, shape),
        Err(failure) => {
            let todo = "set what the configuration names; the other checks of this venue need it";
            findings.bad("keys", alias, failure.text, todo);
            return;
        }
    }
    let connected = match venue::connect(config) {
        Ok(connected) => connected,
        Err(failure) => {
            findings.bad("adapter", alias, failure.text, "correct the configuration");
            return;
        }
    };
    if !clock(config, &connected, findings).await {
        return;
    }
    let account = match connected.venue.account().await {
        Ok(account) => account,
        Err(error) => {
            let todo = match &error {
                VenueError::Keys(_) => {
                    "use a key of this network that may trade and is bound to this address"
                }
                VenueError::Unreachable(_)
                | VenueError::Refused(_)
                | VenueError::Unreadable(_)
                | VenueError::Config(_)
                | VenueError::Unsupported(_)
                | _ => "see what the venue says about its state, then try again",
            };
            findings.bad("account", alias, error.to_string(), todo);
            return;
        }
    };
    let bound = bindings.iter().find(|(bound, _)| *bound == config.alias);
    match bound {
        None => {
            let found = format!("{account}, which the journal does not know yet");
            findings.fine("account", alias, found);
        }
        Some((_, bound)) if *bound == account => {
            findings.fine("account", alias, format!("{account}, as in the journal"));
        }
        Some((_, bound)) => {
            let found =
                format!("the keys are those of {account}, and the journal is bound to {bound}");
            let todo = format!("use the keys of {bound}, or another name and journal");
            findings.bad("account", alias, found, todo);
        }
    }
    permissions(config, &connected, findings).await;
}

/// The venue's clock beside this machine's; `false` when the venue did not answer.
async fn clock(config: &VenueConfig, connected: &Connected, findings: &mut Findings) -> bool {
    let alias = Some(&config.alias);
    // The best of a few: the first carries the handshake.
    for _ in 0..3 {
        if let Err(error) = connected.venue.venue_time().await {
            let todo = match config.network {
                Network::Simulator => "start it: surefill sim run, at the port that url names",
                Network::Testnet | Network::Demo | Network::Mainnet => {
                    "look at the network, and at what the venue says about its state"
                }
            };
            findings.bad("reachable", alias, error.to_string(), todo);
            return false;
        }
    }
    let found = format!(
        "{} on {} answers",
        config.kind.as_str(),
        config.network.as_str()
    );
    findings.fine("reachable", alias, found);
    let here = engine::wall_clock();
    let Some(reading) = connected.clock.read() else {
        let todo = "see what the venue says about its state";
        findings.bad("clock", alias, "the venue's time was not heard", todo);
        return true;
    };
    let (ahead, behind) = (here.since(reading.now), reading.now.since(here));
    let error = reading.error.as_millis();
    let (off, word) = if ahead > behind {
        (ahead, "ahead of")
    } else {
        (behind, "behind")
    };
    let off_ms = u64::try_from(off.as_millis()).unwrap_or(u64::MAX);
    let found = format!("this machine is {off_ms} ms {word} the venue, give or take {error} ms");
    if off_ms > FAR_MS {
        let todo = "set this machine's clock (NTP): the engine goes by the venue's, but what stamps decisions may not";
        findings.bad("clock", alias, found, todo);
    } else {
        findings.fine("clock", alias, found);
    }
    true
}

/// What the keys may do, found out by reading; nothing is placed.
async fn permissions(config: &VenueConfig, connected: &Connected, findings: &mut Findings) {
    let alias = Some(&config.alias);
    let open = connected.venue.open_orders(None).await;
    let positions = connected.venue.positions().await;
    let positions = match positions {
        // Where there are none, nobody needs to read them.
        Err(VenueError::Unsupported(_)) => Ok(None),
        Ok(positions) => Ok(Some(positions.rows.len())),
        Err(error) => Err(error),
    };
    match (open, positions) {
        (Ok(open), Ok(positions)) => {
            let positions = positions.map_or_else(String::new, |n| format!(", {n} positions"));
            let found = format!(
                "the keys are not read-only, and read {} open orders{positions}; only an order shows that they may trade",
                open.rows.len()
            );
            findings.fine("permissions", alias, found);
        }
        (Err(error), _) => {
            let todo = "give the key the permission to read and place orders";
            findings.bad("permissions", alias, format!("open orders: {error}"), todo);
        }
        (_, Err(error)) => {
            let todo = "give the key the permission to read positions";
            findings.bad("permissions", alias, format!("positions: {error}"), todo);
        }
    }
}
