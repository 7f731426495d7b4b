//! What a bot writes down to use Bybit.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use surefill_core::{Connect, NonceScope, Venue, VenueCtx, VenueError, VenueProfile};
use surefill_transport::{HttpClient, HttpConfig};

use crate::adapter::Adapter;
use crate::client::Client;
use crate::profile::{self, profile};
use crate::sign::Keys;

/// Where orders go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Real money.
    Mainnet,
    /// The venue's testnet.
    Testnet,
    /// The venue's demo trading, with keys of its own.
    Demo,
    /// A simulated venue.
    Simulator,
}

impl Network {
    /// The word of the network in an account's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mainnet => "mainnet",
            Self::Testnet => "testnet",
            Self::Demo => "demo",
            Self::Simulator => "simulator",
        }
    }
}

/// Durations of a simulated venue, shorter than the real ones so that tests need not wait. The default is what really holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timing {
    /// How long the gateway takes a request, milliseconds.
    pub receive_window_ms: u64,
    /// The longest time until an accepted or changed order shows in lookups, milliseconds.
    pub visibility_lag_ms: u64,
    /// The longest way from the gateway to the book, milliseconds.
    pub drain_ms: u64,
    /// Added where we wait for an instant of the venue's clock, milliseconds.
    pub margin_ms: u64,
    /// How long a row that ended on an assumed number is looked after, milliseconds.
    pub watch_ms: u64,
}

impl Default for Timing {
    fn default() -> Self {
        let ms = |of: Duration| u64::try_from(of.as_millis()).unwrap_or(u64::MAX);
        Self {
            receive_window_ms: ms(profile::RECEIVE_WINDOW),
            visibility_lag_ms: ms(profile::LAG),
            drain_ms: ms(profile::DRAIN),
            margin_ms: ms(profile::MARGIN),
            watch_ms: ms(profile::WATCH),
        }
    }
}

/// Bybit, not connected yet. USDT-settled linear contracts of a unified account.
#[derive(Clone, Debug)]
pub struct Bybit {
    network: Network,
    rest: String,
    keys: Keys,
    timing: Timing,
    poll: Option<Duration>,
    cap: Option<Duration>,
}

impl Bybit {
    /// The real venue.
    pub fn mainnet(keys: Keys) -> Self {
        Self::new(Network::Mainnet, "https://api.bybit.com", keys)
    }

    /// The testnet.
    pub fn testnet(keys: Keys) -> Self {
        Self::new(Network::Testnet, "https://api-testnet.bybit.com", keys)
    }

    /// Demo trading.
    pub fn demo(keys: Keys) -> Self {
        Self::new(Network::Demo, "https://api-demo.bybit.com", keys)
    }

    /// A simulated venue at `url`, such as `http://127.0.0.1:7001`.
    pub fn simulator(url: &str, keys: Keys) -> Self {
        Self::new(Network::Simulator, url.trim_end_matches('/'), keys)
    }

    fn new(network: Network, rest: &str, keys: Keys) -> Self {
        Self {
            network,
            rest: rest.to_owned(),
            keys,
            timing: Timing::default(),
            poll: None,
            cap: None,
        }
    }

    /// The network.
    pub const fn network(&self) -> Network {
        self.network
    }

    /// Shortens the profile's durations. Has an effect on a simulator only: [`Connect::connect`] refuses it elsewhere.
    #[must_use]
    pub const fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// Sets how often an open order is asked for. On a simulator only, as [`Self::with_timing`].
    #[must_use]
    pub const fn with_poll(mut self, poll: Duration) -> Self {
        self.poll = Some(poll);
        self
    }

    /// Sets how long an order may stay in doubt before its scope halts. On a simulator only, as [`Self::with_timing`].
    #[must_use]
    pub const fn with_cap(mut self, cap: Duration) -> Self {
        self.cap = Some(cap);
        self
    }

    fn check(&self) -> Result<(), VenueError> {
        let config = |what: &str| Err(VenueError::Config(what.into()));
        let changed = self.timing != Timing::default() || self.poll.is_some() || self.cap.is_some();
        if self.network != Network::Simulator && changed {
            return config("timing can be set on a simulator only");
        }
        if self.timing.receive_window_ms == 0 {
            return config("receive_window_ms must be above zero");
        }
        if !(self.rest.starts_with("https://") || self.rest.starts_with("http://")) {
            return config("url must begin with http:// or https://");
        }
        Ok(())
    }
}

impl Connect for Bybit {
    fn nonce_scope(&self) -> Option<NonceScope> {
        None
    }

    fn profile(&self) -> VenueProfile {
        let mut profile = profile(&self.timing);
        profile.poll = self.poll.unwrap_or(profile.poll);
        profile.cap = self.cap.unwrap_or(profile.cap);
        profile
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        self.check()?;
        let profile = self.profile();
        let window = Duration::from_millis(self.timing.receive_window_ms);
        // An answer that comes after the window says no more than a lookup does.
        let timeout = window.clamp(Duration::from_secs(2), profile::RECEIVE_WINDOW);
        let http = HttpClient::new(HttpConfig {
            connect_timeout: timeout.min(Duration::from_secs(3)),
            timeout,
            ..HttpConfig::default()
        })
        .map_err(|error| VenueError::Config(error.to_string().into()))?;
        let client = Client::new(http, self.rest, self.keys, window);
        Ok(Arc::new(Adapter::new(ctx, profile, self.network, client)))
    }
}
