//! `surefill recover`: every open order is settled, or its scope is halted.

use std::time::Duration;

use surefill_core::{
    Alias, ClOrdId, Engine, Halt, HaltCause, OrderRecord, RecoveryReport, Store, VenueRecovery,
};
use surefill_store_sqlite::SqliteStore;
use tokio::time::Instant;

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
    wait: Duration,
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
    let before = store.unfinished().await?;
    let stopped = || Failure::new(Exit::NotKnown, "a stop was asked during recovery");
    let running = engine::recover(store, &venues, stop)
        .await?
        .ok_or_else(stopped)?;
    let mut report = running.report.clone();
    settle(&running.engine, &before, &mut report, wait, stop).await?;
    report.halts = running.engine.halts();
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

/// Waits for the orders that recovery left in doubt: their scope is halted, and the engine looks on. Then counts anew.
async fn settle(
    engine: &Engine,
    before: &[OrderRecord],
    report: &mut RecoveryReport,
    wait: Duration,
    stop: &Stop,
) -> Result<(), Failure> {
    let deadline = Instant::now() + wait;
    let halts = report.halts.clone();
    let silent = |alias: &Alias| {
        halts
            .iter()
            .any(|halt| halt.scope.venue == *alias && halt.cause == HaltCause::Unreachable)
    };
    for (alias, venue) in &mut report.venues {
        // What the journal says of a venue that did not answer is nothing new.
        if venue.unknown == 0 || silent(alias) {
            continue;
        }
        let mut counted = VenueRecovery {
            checked: venue.checked,
            foreign: venue.foreign,
            ..VenueRecovery::default()
        };
        for row in before.iter().filter(|row| row.alias() == alias) {
            let Some(order) = engine.order(row.id).await? else {
                continue;
            };
            let after = tokio::select! {
                after = order.settled() => after,
                () = tokio::time::sleep_until(deadline) => order.latest(),
                () = stop.asked() => order.latest(),
            };
            let add = |n: &mut usize| *n = n.saturating_add(1);
            if after.attempts.len() > row.attempts.len() {
                add(&mut counted.resent);
            }
            if !after.state.is_working() && !after.state.is_terminal() {
                add(&mut counted.unknown);
                continue;
            }
            if after.admitted() {
                add(&mut counted.found);
            } else if after.state.is_terminal() {
                add(&mut counted.given_up);
            }
            lifted(engine, row.id, deadline).await;
        }
        *venue = counted;
    }
    Ok(())
}

/// Waits until the halt from doubt about an order is lifted, which follows the truth at once.
async fn lifted(engine: &Engine, id: ClOrdId, deadline: Instant) {
    let doubts =
        |halt: &Halt| matches!(&halt.cause, HaltCause::Doubt { id: other, .. } if *other == id);
    while engine.halts().iter().any(doubts) && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
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
