//! The whole probe: its order, and what happens when it is stopped.

use surefill_core::Connect;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, whole_ms};
use crate::cases::reuse;
use crate::compare::{Found, differences};
use crate::{Network, Options, ProbeError, Report};

/// Finds out what a venue does about duplicates.
///
/// Places small orders, cancels them all, and closes what was filled, also when `stop` is canceled or a step fails. The future has to be
/// polled to its end for that.
///
/// # Errors
/// [`ProbeError`]. Mainnets are refused, and testnets without [`Options::yes`], before anything is sent.
///
/// # Cancel safety
/// None: dropping the future leaves orders at the venue. Cancel `stop` instead.
pub async fn probe(
    connect: Box<dyn Connect>,
    options: Options,
    stop: &CancellationToken,
) -> Result<Report, ProbeError> {
    let name = || options.alias.to_string();
    match options.network {
        Network::Mainnet => return Err(ProbeError::Mainnet(name())),
        Network::Testnet if options.sim.is_some() => return Err(ProbeError::NoSimulator),
        Network::Testnet if !options.yes => return Err(ProbeError::NotConfirmed(name())),
        Network::Testnet | Network::Simulator => {}
    }
    let bench = tokio::select! {
        biased;
        () = stop.cancelled() => return Err(ProbeError::Stopped),
        bench = Bench::connect(connect, &options) => bench?,
    };
    let outcome = tokio::select! {
        biased;
        () = stop.cancelled() => Err(ProbeError::Stopped),
        outcome = report(&bench, &options) => outcome,
    };
    bench.clean(outcome.is_ok()).await?;
    outcome
}

async fn report(bench: &Bench, options: &Options) -> Result<Report, ProbeError> {
    let terms = bench.find_rest(options.price).await?;
    bench.rest.get_or_init(|| terms.price);
    let lag = bench.visibility(terms).await?;
    let open = bench.while_open(terms).await?;
    let replay = bench.replay(terms).await?;
    let (second, canceled) = bench.after_cancel(terms).await?;
    let after_cancel = reuse(second);
    let after_refusal = bench.after_refusal(terms).await?;
    let after_fill = bench.after_fill(terms).await?;
    let fence = bench.fence(terms).await?;
    let ends = [after_fill, after_cancel];
    let duplicate = bench.duplicate(open, ends, &canceled).await?;
    let mut report = Report {
        venue: bench.alias.to_string(),
        duplicate,
        replay,
        fence,
        visibility_lag_ms: lag.shown.map(whole_ms),
        after_fill,
        after_cancel,
        after_refusal,
        agrees: false,
        differences: Vec::new(),
    };
    report.differences = differences(&Found {
        report: &report,
        profile: &bench.profile,
        not_yet: lag.not_yet,
        replayable: canceled.attempt.replayable,
        days: bench.sim.is_some(),
    });
    report.agrees = report.differences.is_empty();
    Ok(report)
}
