//! `surefill recover`: every open order is settled, or its scope is halted.

use surefill_core::{HaltCause, RecoveryReport};
use surefill_store_sqlite::SqliteStore;

use crate::config::Config;
use crate::documents::RecoverDoc;
use crate::engine;
use crate::failure::{Exit, Failure};
use crate::output::Said;
use crate::stop::Stop;
use crate::text;

pub(crate) async fn run(
    config: &Config,
    venue: Option<&str>,
    stop: &Stop,
) -> Result<Said, Failure> {
    let venues = match venue {
        Some(alias) => vec![config.venue(&alias.into())?],
        None => config.venues.iter().collect(),
    };
    if venues.is_empty() {
        let text = format!("{} names no venue", config.file.display());
        return Err(Failure::usage(text));
    }
    for venue in &venues {
        crate::venue::adapter(venue)?;
    }
    let store = SqliteStore::open(&config.journal)?;
    let stopped = || Failure::new(Exit::NotKnown, "a stop was asked during recovery");
    let running = engine::recover(store, &venues, stop)
        .await?
        .ok_or_else(stopped)?;
    let report = running.report.clone();
    running.shut_down().await?;
    let document = RecoverDoc::of(&report);
    let rows: Vec<Vec<String>> = document
        .venues
        .iter()
        .map(|(name, of)| {
            let counts = [
                of.checked,
                of.found,
                of.resent,
                of.given_up,
                of.unknown,
                of.foreign,
            ];
            let counts = counts.iter().map(ToString::to_string);
            std::iter::once(name.clone()).chain(counts).collect()
        })
        .collect();
    let heads = [
        "venue", "checked", "found", "resent", "given up", "unknown", "foreign",
    ];
    let text = format!(
        "{}\n{}",
        text::table(&heads, &rows),
        text::halts(&document.halts)
    );
    Said::new(exit(&report), &document, text)
}

/// A venue that did not answer, then orders whose fate is not known.
fn exit(report: &RecoveryReport) -> Exit {
    let silent = report.halts.iter().any(|halt| {
        halt.cause == HaltCause::Unreachable && report.venues.contains_key(&halt.scope.venue)
    });
    if silent {
        Exit::Unreachable
    } else if report.venues.values().any(|venue| venue.unknown > 0) {
        Exit::NotKnown
    } else {
        Exit::Done
    }
}
