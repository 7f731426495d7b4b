//! From a kind of venue to its adapter: one arm a kind, in this file only.

use std::sync::Arc;

use surefill_bybit::{Bybit, Category, Timing};
use surefill_core::{
    BootTime, Connect, Journal, MemoryStore, Nonces, Rate, Venue, VenueClock, VenueCtx,
};

use crate::config::{ConfigError, Network, Section, TimingConfig, VenueConfig};
use crate::failure::{Exit, Failure};
use crate::keys;

/// A kind of venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bybit,
}

/// What only one kind has.
#[derive(Clone, Debug)]
pub(crate) enum Settings {
    Bybit {
        category: Category,
        stream: bool,
        trade_socket: bool,
    },
}

/// Kinds that have a name and no adapter in this build.
const NOT_BUILT: [&str; 5] = [
    "hyperliquid",
    "binance-spot",
    "binance-usdm",
    "polymarket",
    "jito",
];

impl Kind {
    const ALL: [Self; 1] = [Self::Bybit];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Bybit => "bybit",
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
        }
    }

    /// The keys of the configuration that only this kind has.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Bybit => &["category", "stream", "trade_socket"],
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

fn bybit_timing(given: &TimingConfig) -> Timing {
    let real = Timing::default();
    Timing {
        receive_window_ms: given.receive_window_ms.unwrap_or(real.receive_window_ms),
        visibility_lag_ms: given.visibility_lag_ms.unwrap_or(real.visibility_lag_ms),
        drain_ms: given.drain_ms.unwrap_or(real.drain_ms),
        margin_ms: given.margin_ms.unwrap_or(real.margin_ms),
        watch_ms: given.watch_ms.unwrap_or(real.watch_ms),
    }
}
