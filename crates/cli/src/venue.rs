//! From a kind of venue to its adapter: one arm a kind, in this file only.

use std::sync::Arc;

use surefill_bybit::{Bybit, Category};
use surefill_core::{
    BootTime, Connect, Journal, MemoryStore, Nonces, OrderIntent, Rate, Venue, VenueClock, VenueCtx,
};
use surefill_hyperliquid::{Hyperliquid, HyperliquidParams};

use crate::config::{ConfigError, Network, Section, TimingConfig, VenueConfig};
use crate::failure::{Exit, Failure};
use crate::keys;

/// A kind of venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bybit,
    Hyperliquid,
}

/// What only one kind has.
#[derive(Clone, Debug)]
pub(crate) enum Settings {
    Bybit {
        category: Category,
        stream: bool,
        trade_socket: bool,
    },
    Hyperliquid {
        /// The account, checked against the one that the key trades for; needed by nobody, and a help where the key is an agent's.
        account: Option<String>,
        /// The vault or sub-account that is traded for.
        vault: Option<String>,
        /// Builders' dexes whose orders and positions are seen.
        dexes: Vec<String>,
        stream: bool,
        /// How far from the middle a market order may go; `None` for the adapter's own.
        slippage_bps: Option<u32>,
    },
}

/// The widest that a market order may go from the middle, hundredths of a percent.
const WIDEST_BPS: u64 = 5_000;

/// Kinds that have a name and no adapter in this build.
const NOT_BUILT: [&str; 4] = ["binance-spot", "binance-usdm", "polymarket", "jito"];

impl Kind {
    const ALL: [Self; 2] = [Self::Bybit, Self::Hyperliquid];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Bybit => "bybit",
            Self::Hyperliquid => "hyperliquid",
        }
    }

    /// Reads a kind's name.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if let Some(kind) = Self::ALL.into_iter().find(|kind| kind.as_str() == text) {
            return Ok(kind);
        }
        let built: Vec<&str> = Self::ALL.iter().map(|kind| kind.as_str()).collect();
        let built = built.join(", ");
        Err(if NOT_BUILT.contains(&text) {
            format!("{text} is not built into this surefill; it has: {built}")
        } else {
            format!(
                "unknown kind {text:?}; known: {built}, {}",
                NOT_BUILT.join(", ")
            )
        })
    }

    /// The networks that it has.
    pub(crate) const fn networks(self) -> &'static [Network] {
        match self {
            Self::Bybit => &[
                Network::Simulator,
                Network::Testnet,
                Network::Demo,
                Network::Mainnet,
            ],
            Self::Hyperliquid => &[Network::Simulator, Network::Testnet, Network::Mainnet],
        }
    }

    /// The keys of the configuration that only this kind has.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Bybit => &[
                "secret_env",
                "secret_file",
                "category",
                "stream",
                "trade_socket",
            ],
            Self::Hyperliquid => &[
                "account_address",
                "vault_address",
                "dexes",
                "stream",
                "slippage_bps",
            ],
        }
    }
}

impl Settings {
    /// Reads what only this kind has.
    pub(crate) fn read(kind: Kind, section: &mut Section<'_>) -> Result<Self, ConfigError> {
        match kind {
            Kind::Bybit => Ok(Self::Bybit {
                category: category(section)?,
                stream: section.flag("stream")?.unwrap_or(true),
                trade_socket: section.flag("trade_socket")?.unwrap_or(false),
            }),
            Kind::Hyperliquid => Ok(Self::Hyperliquid {
                account: evm_address(section, "account_address")?,
                vault: evm_address(section, "vault_address")?,
                dexes: dexes(section)?,
                stream: section.flag("stream")?.unwrap_or(true),
                slippage_bps: slippage(section)?,
            }),
        }
    }
}

/// The adapter of a venue, with its keys, not connected yet: what the engine takes.
pub(crate) fn adapter(venue: &VenueConfig) -> Result<Box<dyn Connect>, Failure> {
    match &venue.settings {
        Settings::Bybit {
            category,
            stream,
            trade_socket,
        } => {
            let keys = keys::bybit(venue)?;
            let mut bybit = match venue.network {
                Network::Simulator => {
                    Bybit::simulator(venue.url.as_deref().unwrap_or_default(), keys)
                }
                Network::Testnet => Bybit::testnet(keys),
                Network::Demo => Bybit::demo(keys),
                Network::Mainnet => Bybit::mainnet(keys),
            };
            bybit = bybit.with_category(*category);
            if let Some(url) = &venue.ws_url {
                bybit = bybit.with_ws_url(url);
            }
            if let Some(timing) = &venue.timing {
                bybit = bybit.with_timing(bybit_timing(timing));
            }
            if !stream {
                bybit = bybit.without_stream();
            }
            if *trade_socket {
                bybit = bybit.with_trade_socket();
            }
            Ok(Box::new(bybit))
        }
        Settings::Hyperliquid {
            account,
            vault,
            dexes,
            stream,
            slippage_bps: _,
        } => {
            let keys = keys::hyperliquid(venue, account.as_deref(), vault.as_deref())?;
            let mut hyperliquid = match venue.network {
                Network::Simulator => {
                    Hyperliquid::simulator(venue.url.as_deref().unwrap_or_default(), keys)
                }
                Network::Testnet => Hyperliquid::testnet(keys),
                Network::Mainnet => Hyperliquid::mainnet(keys),
                Network::Demo => {
                    let text = format!("{}: hyperliquid has no demo", venue.place);
                    return Err(Failure::usage(text));
                }
            };
            if let Some(url) = &venue.ws_url {
                // What the simulator says when it listens, or with the path that the adapter wants.
                let base = url.trim_end_matches("/ws");
                hyperliquid = hyperliquid.with_ws_url(&format!("{base}/ws"));
            }
            if let Some(timing) = &venue.timing {
                hyperliquid = hyperliquid.with_timing(hyperliquid_timing(timing));
            }
            for dex in dexes {
                hyperliquid = hyperliquid.with_dex(dex);
            }
            if !stream {
                hyperliquid = hyperliquid.without_stream();
            }
            Ok(Box::new(hyperliquid))
        }
    }
}

/// The intent with what the configuration says about orders of its kind.
pub(crate) fn shaped(venue: &VenueConfig, intent: OrderIntent) -> Result<OrderIntent, Failure> {
    match &venue.settings {
        Settings::Hyperliquid {
            slippage_bps: Some(slippage_bps),
            ..
        } if intent.ord_type.price().is_none() => {
            let slippage_bps = *slippage_bps;
            let shaped = intent.with_params(&HyperliquidParams { slippage_bps });
            shaped.map_err(|error| Failure::usage(error.to_string()))
        }
        Settings::Bybit { .. } | Settings::Hyperliquid { .. } => Ok(intent),
    }
}

/// A venue outside of an engine, for commands that only ask. Its nonces, where it has any, come from a journal of their own in
/// memory, and its clock has not heard the venue yet.
pub(crate) fn connect(venue: &VenueConfig) -> Result<Connected, Failure> {
    let adapter = adapter(venue)?;
    let clock = Arc::new(VenueClock::new(Arc::new(BootTime)));
    let nonces = adapter.nonce_scope().map(|scope| {
        let journal = Journal::new(Arc::new(MemoryStore::default()));
        Arc::new(Nonces::new(journal, scope))
    });
    let ctx = VenueCtx {
        alias: venue.alias.clone(),
        clock: Arc::clone(&clock),
        nonces,
        rate: Arc::new(Rate::new(adapter.profile().rates)),
    };
    let failed = |error| Failure::new(Exit::Usage, format!("{}: {error}", venue.place));
    let venue = adapter.connect(ctx).map_err(failed)?;
    Ok(Connected { venue, clock })
}

/// A venue outside of an engine.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) venue: Arc<dyn Venue>,
    pub(crate) clock: Arc<VenueClock>,
}

fn category(section: &mut Section<'_>) -> Result<Category, ConfigError> {
    let source = section.source();
    let Some(at) = section.text("category")? else {
        return Ok(Category::default());
    };
    match at.value.as_str() {
        "linear" => Ok(Category::Linear),
        "inverse" => Ok(Category::Inverse),
        "spot" => Ok(Category::Spot),
        _ => Err(at.error(source, "must be linear, inverse or spot")),
    }
}

/// An account on a chain: `0x` and 40 hex digits. What is none is not shown, because it may be a key.
fn evm_address(section: &mut Section<'_>, name: &str) -> Result<Option<String>, ConfigError> {
    let source = section.source();
    let Some(at) = section.text(name)? else {
        return Ok(None);
    };
    let digits = at.value.strip_prefix("0x").unwrap_or_default();
    if digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Some(at.value));
    }
    Err(at.error(source, "is no address: 0x and 40 hex digits"))
}

/// The longest name of a builder's dex that is taken for one.
const LONGEST_DEX: usize = 16;

/// Names of builders' dexes. What is none is not shown, because it may be a key.
fn dexes(section: &mut Section<'_>) -> Result<Vec<String>, ConfigError> {
    let source = section.source();
    let Some(at) = section.texts("dexes")? else {
        return Ok(Vec::new());
    };
    let is_name = |name: &String| {
        let fits = (1..=LONGEST_DEX).contains(&name.len());
        fits && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if !at.value.iter().all(is_name) {
        let what =
            format!("holds what is no dex's name: letters and digits, {LONGEST_DEX} at most");
        return Err(at.error(source, what));
    }
    let twice = |name: &&String| at.value.iter().filter(|other| other == name).count() > 1;
    match at.value.iter().find(twice) {
        Some(name) => Err(at.error(source, format!("names {name} twice"))),
        None => Ok(at.value),
    }
}

fn slippage(section: &mut Section<'_>) -> Result<Option<u32>, ConfigError> {
    let source = section.source();
    let Some(at) = section.whole("slippage_bps")? else {
        return Ok(None);
    };
    let fits = (1..=WIDEST_BPS).contains(&at.value);
    match u32::try_from(at.value) {
        Ok(bps) if fits => Ok(Some(bps)),
        Ok(_) | Err(_) => Err(at.error(source, format!("must be from 1 to {WIDEST_BPS}"))),
    }
}

/// The durations that are given, and of the others those that really hold.
fn bybit_timing(given: &TimingConfig) -> surefill_bybit::Timing {
    let real = surefill_bybit::Timing::default();
    surefill_bybit::Timing {
        receive_window_ms: given.receive_window_ms.unwrap_or(real.receive_window_ms),
        visibility_lag_ms: given.visibility_lag_ms.unwrap_or(real.visibility_lag_ms),
        drain_ms: given.drain_ms.unwrap_or(real.drain_ms),
        margin_ms: given.margin_ms.unwrap_or(real.margin_ms),
        watch_ms: given.watch_ms.unwrap_or(real.watch_ms),
    }
}

/// The same.
fn hyperliquid_timing(given: &TimingConfig) -> surefill_hyperliquid::Timing {
    let real = surefill_hyperliquid::Timing::default();
    surefill_hyperliquid::Timing {
        receive_window_ms: given.receive_window_ms.unwrap_or(real.receive_window_ms),
        visibility_lag_ms: given.visibility_lag_ms.unwrap_or(real.visibility_lag_ms),
        drain_ms: given.drain_ms.unwrap_or(real.drain_ms),
        margin_ms: given.margin_ms.unwrap_or(real.margin_ms),
        watch_ms: given.watch_ms.unwrap_or(real.watch_ms),
    }
}
