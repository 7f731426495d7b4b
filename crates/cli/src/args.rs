//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use surefill_core::{GiveUp, OrdState, Px, Qty, Resubmit, Side, TimeInForce, VenueTime};

const CODES: &str = "\
Exit codes:
  0  done: acked, filled, canceled as asked, all checks passed
  1  a check failed: vectors, probe, sim verify, doctor
  2  usage or configuration
  3  rejected
  4  not known: ask again with the same decision, never with a new one
  5  refused by a halt or a limit
  6  held by another: the journal's lock, a port
  7  venue or database not reachable
  8  journal damaged, newer, or not writable";

/// Places orders exactly once, whatever crashes, and shows what became of them.
///
/// One journal holds every order. `place`, `cancel` and `recover` take it for themselves and look after all open orders of their venue
/// first; `orders`, `show` and `halts` read it also while a bot runs on it; `halt`, `resume`, `cancel` and `cancel-all` reach that bot
/// through it.
#[derive(Debug, Parser)]
#[command(name = "surefill", version, after_help = CODES, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// The configuration. Paths in it are relative to it.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        default_value = "surefill.toml"
    )]
    pub(crate) config: PathBuf,
    /// Print one JSON document on stdout instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log more on stderr: -v, -vv, -vvv.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Place an order, exactly once per decision.
    ///
    /// A decision is strategy, account, symbol, side, --decided-at and --nonce. The same decision again returns the order that there
    /// is, whatever happened meanwhile: a script that retries passes the --decided-at that the first call printed.
    Place(Box<PlaceArgs>),
    /// Cancel an order; the venue is asked until it says that the order ended.
    Cancel(CancelArgs),
    /// Cancel every order of ours in a scope. Foreign orders are not touched.
    CancelAll(CancelAllArgs),
    /// Find out about every open order, and book every fill.
    Recover {
        /// Only this venue. The orders of the others are left as they are.
        #[arg(long, value_name = "V")]
        venue: Option<String>,
        /// How long to wait for orders whose scope is halted because their fate is not known.
        #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
        wait: Duration,
    },
    /// List orders, oldest first.
    Orders(OrdersArgs),
    /// Show an order with its attempts, its log and its fills.
    Show {
        /// A client order id (32 hex digits), or the venue's spelling of it.
        id: String,
    },
    /// List the halts in force.
    Halts,
    /// Refuse new risk in a scope, until somebody resumes it. Cancels and reduce-only orders pass.
    Halt(HaltArgs),
    /// Lift every halt of exactly this scope: somebody looked.
    Resume(HaltArgs),
    /// Find out by trying what a venue does with duplicates, replays and late requests. Never on a mainnet.
    Probe(ProbeArgs),
    /// Recompute every case of a file of test vectors.
    Vectors {
        /// A kind of venue, or `ids`.
        #[arg(value_name = "VENUE")]
        kind: String,
        /// The file.
        file: PathBuf,
    },
    /// Check configuration, keys, account, clock, venue and journal, and say what to do.
    Doctor {
        /// Only this venue.
        #[arg(value_name = "V")]
        venue: Option<String>,
    },
    /// Simulated venues on loopback.
    #[cfg(feature = "sim")]
    #[command(subcommand)]
    Sim(SimCommand),
    /// Print shell completions.
    #[command(hide = true)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print a man page.
    #[command(hide = true)]
    Man {
        /// Of this command only.
        command: Option<String>,
    },
}

/// What is probed.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// A venue's name in the configuration.
    #[arg(value_name = "V")]
    pub(crate) venue: String,
    /// The symbol to try with.
    #[arg(long, value_name = "S")]
    pub(crate) symbol: Option<String>,
    /// A price at which a buy rests. Searched for where it is left out.
    #[arg(long, value_name = "P")]
    pub(crate) price: Option<Px>,
    /// Yes, place orders on this testnet. Without it a terminal is asked.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What is placed.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The venue's name in the configuration.
    #[arg(long, value_name = "V")]
    pub(crate) venue: String,
    /// The instrument, as the venue spells it.
    #[arg(long, value_name = "S")]
    pub(crate) symbol: String,
    /// Buy or sell.
    #[arg(long)]
    pub(crate) side: SideArg,
    /// How much, base units (contracts where the instrument counts those).
    #[arg(long, value_name = "Q")]
    pub(crate) qty: Qty,
    /// The worst price that is taken. Needed for a limit order.
    #[arg(long, value_name = "P")]
    pub(crate) price: Option<Px>,
    /// The order type.
    #[arg(long = "type", value_enum, default_value_t = TypeArg::Limit)]
    pub(crate) ord_type: TypeArg,
    /// How long it works: gtc, ioc, fok, post-only, or gtd:MS for an instant in ms since 1970 [default: gtc, for a market order ioc].
    #[arg(long, value_parser = tif)]
    pub(crate) tif: Option<TimeInForce>,
    /// Only make a position smaller.
    #[arg(long)]
    pub(crate) reduce_only: bool,
    /// Who decides; part of the decision.
    #[arg(long, value_name = "NAME")]
    pub(crate) strategy: String,
    /// When it was decided, ms since 1970 on the venue's clock; part of the decision. Printed when it is left out.
    #[arg(long, value_name = "MS", value_parser = instant)]
    pub(crate) decided_at: Option<VenueTime>,
    /// The leg of the decision; part of it.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) nonce: u32,
    /// How long after --decided-at it may still become an order.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub(crate) ttl: Duration,
    /// How long to wait for a verdict.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) wait: Duration,
    /// On what ground it may be sent again while its fate is not known.
    #[arg(long, value_enum, default_value_t = ResubmitArg::Proof)]
    pub(crate) resubmit: ResubmitArg,
    /// What happens when it is stale: reject it once absence is complete, halt where an assumed number would decide, or let it land
    /// and cancel it.
    #[arg(long, value_enum, default_value_t = GiveUpArg::Accept)]
    pub(crate) give_up: GiveUpArg,
}

/// What is canceled.
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// A client order id (32 hex digits), or the venue's spelling of it.
    pub(crate) id: String,
    /// How long to wait until the venue says that it ended.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) wait: Duration,
}

/// Whose orders are canceled.
#[derive(Debug, Args)]
pub(crate) struct CancelAllArgs {
    /// V, V/ACCOUNT or V/ACCOUNT/SYMBOL.
    pub(crate) scope: String,
    /// How long to wait until the venue says that they ended.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) wait: Duration,
}

/// Which orders are listed.
#[derive(Debug, Args)]
pub(crate) struct OrdersArgs {
    /// Only of this venue.
    #[arg(long, value_name = "V")]
    pub(crate) venue: Option<String>,
    /// Only in this state: pending submitted unknown reconciling acked partial filled canceled rejected, or open for all that have not
    /// ended.
    #[arg(long, value_parser = state)]
    pub(crate) state: Option<StateArg>,
    /// Ask the venues for open orders that the journal does not hold, and list those instead.
    #[arg(long)]
    pub(crate) foreign: bool,
    /// Only those journaled at or after this instant, ms since 1970.
    #[arg(long, value_name = "MS", value_parser = instant)]
    pub(crate) since: Option<VenueTime>,
}

/// What is halted or resumed.
#[derive(Debug, Args)]
pub(crate) struct HaltArgs {
    /// V, V/ACCOUNT or V/ACCOUNT/SYMBOL.
    pub(crate) scope: String,
    /// Why; kept in the journal.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

/// Simulated venues.
#[cfg(feature = "sim")]
#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// Run simulated venues until SIGTERM. Prints one line of JSON per venue when it listens.
    Run {
        /// The venues, with commas in between, or `all`.
        #[arg(long, value_name = "NAME[,NAME…]|all")]
        venue: String,
        /// The port of the first venue; the others take the next ones. 0 is any free port.
        #[arg(long, value_name = "P", default_value_t = 0)]
        port: u16,
        /// The seed of everything that the venues choose.
        #[arg(long, value_name = "N", default_value_t = 0)]
        seed: u64,
        /// Journal every command in this folder, and replay it at the next start.
        #[arg(long, value_name = "DIR")]
        journal: Option<PathBuf>,
        /// More accounts, as JSON.
        #[arg(long, value_name = "FILE")]
        accounts: Option<PathBuf>,
    },
    /// Replay the journals in a folder; 1 when an event differs.
    Verify {
        /// The folder.
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
}

/// Buy or sell.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SideArg {
    Buy,
    Sell,
}

impl From<SideArg> for Side {
    fn from(arg: SideArg) -> Self {
        match arg {
            SideArg::Buy => Self::Buy,
            SideArg::Sell => Self::Sell,
        }
    }
}

/// The order type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TypeArg {
    Limit,
    Market,
}

/// On what ground an intent may be sent again.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ResubmitArg {
    /// Never.
    Never,
    /// On the venue's word.
    Proof,
    /// Also when absence is complete.
    Absence,
}

impl From<ResubmitArg> for Resubmit {
    fn from(arg: ResubmitArg) -> Self {
        match arg {
            ResubmitArg::Never => Self::Never,
            ResubmitArg::Proof => Self::AfterProof,
            ResubmitArg::Absence => Self::AfterAbsence,
        }
    }
}

/// What happens to an intent that is stale.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GiveUpArg {
    /// Rejected once absence is complete.
    Accept,
    /// Halted where an assumed number would decide.
    Strict,
    /// Sent until the venue knows it, then canceled.
    Land,
}

impl From<GiveUpArg> for GiveUp {
    fn from(arg: GiveUpArg) -> Self {
        match arg {
            GiveUpArg::Accept => Self::Accept,
            GiveUpArg::Strict => Self::Strict,
            GiveUpArg::Land => Self::Land,
        }
    }
}

/// Which states are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateArg {
    Open,
    One(OrdState),
}

fn state(text: &str) -> Result<StateArg, String> {
    if text == "open" {
        return Ok(StateArg::Open);
    }
    let states: Vec<&str> = OrdState::ALL.iter().map(|state| state.as_str()).collect();
    text.parse()
        .map(StateArg::One)
        .map_err(|_| format!("it is none of {} and open", states.join(", ")))
}

fn instant(text: &str) -> Result<VenueTime, String> {
    let ms: u64 = text
        .parse()
        .map_err(|_| "it is no number of milliseconds since 1970".to_owned())?;
    // A number of seconds is what is most easily given instead; 10^12 ms is in 2001.
    if ms < 1_000_000_000_000 {
        return Err("milliseconds since 1970 have 13 digits".to_owned());
    }
    Ok(VenueTime::from_ms(ms))
}

fn tif(text: &str) -> Result<TimeInForce, String> {
    match text {
        "gtc" => Ok(TimeInForce::Gtc),
        "ioc" => Ok(TimeInForce::Ioc),
        "fok" => Ok(TimeInForce::Fok),
        "post-only" => Ok(TimeInForce::PostOnly),
        _ => match text.strip_prefix("gtd:") {
            Some(ms) => instant(ms).map(TimeInForce::Gtd),
            None => Err("it is none of gtc, ioc, fok, post-only and gtd:MS".to_owned()),
        },
    }
}

/// A number with its unit: `250ms`, `30s`, `5m`, `1h`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("it is no time such as 250ms, 30s, 5m or 1h".to_owned()),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| "it is no time such as 250ms, 30s, 5m or 1h".to_owned())?;
    let ms = number.checked_mul(unit_ms);
    ms.map(Duration::from_millis)
        .ok_or_else(|| "it is too long".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_have_units_and_instants_are_milliseconds() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        for bad in [
            "",
            "30",
            "s",
            "1.5s",
            "-1s",
            "1d",
            "99999999999999999999s",
            "9999999999999999h",
        ] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert!(instant("1796040000").is_err(), "seconds");
        assert!(instant("1796040000000").is_ok());
        assert_eq!(
            tif("gtd:1796040000000"),
            Ok(TimeInForce::Gtd(VenueTime::from_ms(1_796_040_000_000)))
        );
        assert!(tif("gtd:tomorrow").is_err());
    }
}
