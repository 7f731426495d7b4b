//! `surefill probe`: what a venue does about duplicates, found out by trying.

use std::io::{self, BufRead, IsTerminal};
use std::sync::Arc;

use surefill_core::{Store, StoreError};
use surefill_probe::{HttpControl, Network as Where, Options, ProbeError, Report, SimControl};
use surefill_store_sqlite::SqliteStore;
use tokio_util::sync::CancellationToken;

use crate::args::ProbeArgs;
use crate::config::{Config, Network, VenueConfig};
use crate::failure::{Exit, Failure};
use crate::output::{Said, say_aside};
use crate::stop::Stop;
use crate::venue;

pub(crate) async fn run(config: &Config, args: &ProbeArgs, stop: &Stop) -> Result<Said, Failure> {
    let venue = config.venue(&args.venue.as_str().into())?;
    let network = match venue.network {
        Network::Simulator => Where::Simulator,
        // No real money in either.
        Network::Testnet | Network::Demo => Where::Testnet,
        Network::Mainnet => return Err(ProbeError::Mainnet(args.venue.clone()).into()),
    };
    let adapter = venue::adapter(venue)?;
    let yes = network == Where::Simulator || args.yes || agreed(venue, stop).await?;
    let journal = hold(config)?;
    let options = Options {
        symbol: args.symbol.as_deref().map(Into::into),
        price: args.price,
        yes,
        sim: control(venue)?,
        ..Options::new(venue.alias.clone(), network)
    };
    let token = CancellationToken::new();
    let probing = surefill_probe::probe(adapter, options, &token);
    tokio::pin!(probing);
    let outcome = tokio::select! {
        outcome = &mut probing => outcome,
        () = stop.asked() => {
            say_aside("stopping: what the probe placed is canceled, and what it bought is sold");
            token.cancel();
            probing.await
        }
    };
    // What the probe found or left stands also where the journal could not be closed in order.
    if let Some(store) = journal
        && let Err(error) = store.close().await
    {
        tracing::warn!(%error, "the journal was not closed in order");
    }
    let report = outcome?;
    let exit = if report.agrees {
        Exit::Done
    } else {
        Exit::CheckFailed
    };
    Said::new(exit, &report, text(&report))
}

/// The control port of a simulated venue.
fn control(venue: &VenueConfig) -> Result<Option<Arc<dyn SimControl>>, Failure> {
    match (venue.network, &venue.url) {
        (Network::Simulator, Some(url)) => {
            let control = HttpControl::new(&format!("{url}/_sim"))?;
            Ok(Some(Arc::new(control)))
        }
        _ => Ok(None),
    }
}

/// Keeps bots out while the probe runs: an engine on this account would take the probe's orders for its own that its journal has lost,
/// and halt. Where there is no journal there is none yet, and none is made.
fn hold(config: &Config) -> Result<Option<SqliteStore>, Failure> {
    if !config.journal.exists() {
        return Ok(None);
    }
    match SqliteStore::open(&config.journal) {
        Ok(store) => Ok(Some(store)),
        Err(error @ StoreError::Held { .. }) => {
            let todo =
                "a bot at work would take the probe's orders for its own and halt: stop it first";
            Err(Failure::new(Exit::Held, format!("{error}; {todo}")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks on a terminal; where there is none, nobody agreed.
async fn agreed(venue: &VenueConfig, stop: &Stop) -> Result<bool, Failure> {
    let refused = || Failure::from(ProbeError::NotConfirmed(venue.alias.to_string()));
    if !io::stdin().is_terminal() {
        return Err(refused());
    }
    say_aside(&format!(
        "a probe places and cancels small orders on {} ({} of {}). Go on? [y/N]",
        venue.alias,
        venue.network.as_str(),
        venue.kind.as_str()
    ));
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let line = tokio::select! {
        answer = answer => answer.ok().and_then(Result::ok).unwrap_or_default(),
        () = stop.asked() => String::new(),
    };
    if is_yes(&line) {
        Ok(true)
    } else {
        Err(refused())
    }
}

/// Only a clear yes is one.
fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn text(report: &Report) -> String {
    let lag = report
        .visibility_lag_ms
        .map_or_else(|| "never shown".to_owned(), |ms| ms.to_string());
    let rows = [
        ("venue", report.venue.as_str()),
        ("duplicate", report.duplicate.as_str()),
        ("replay", report.replay.as_str()),
        ("fence", report.fence.as_str()),
        ("visibility_lag_ms", &lag),
        ("after_fill", report.after_fill.as_str()),
        ("after_cancel", report.after_cancel.as_str()),
        ("after_refusal", report.after_refusal.as_str()),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        text.push_str(&format!("{name:<17}  {value}\n"));
    }
    if report.agrees {
        text.push_str("it does what its profile says");
    } else {
        let n = report.differences.len();
        text.push_str(&format!("it differs from its profile in {n}:\n"));
        text.push_str(&report.differences.join("\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_a_clear_yes_is_one() {
        for line in ["y\n", "yes\n", " YES \r\n", "Y"] {
            assert!(is_yes(line), "{line:?}");
        }
        for line in ["", "\n", "n\n", "yess\n", "y n\n", "ja\n"] {
            assert!(!is_yes(line), "{line:?}");
        }
    }
}
