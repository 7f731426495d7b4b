//! What a bot writes down to use Bybit.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use surefill_core::{Connect, NonceScope, Venue, VenueCtx, VenueError, VenueProfile};
use surefill_transport::{HttpClient, HttpConfig, WsClient};

use crate::adapter::{Adapter, Parts};
use crate::category::Category;
use crate::client::Client;
use crate::follow::{Feed, ws_config};
use crate::profile::{self, profile};
use crate::sign::Keys;
use crate::trader::Trader;

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
    /// Where the venue is, over HTTP and over sockets; `None` for a simulator, which is anywhere.
    const fn hosts(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Mainnet => Some(("https://api.bybit.com", "wss://stream.bybit.com")),
            Self::Testnet => Some((
                "https://api-testnet.bybit.com",
                "wss://stream-testnet.bybit.com",
            )),
            Self::Demo => Some(("https://api-demo.bybit.com", "wss://stream-demo.bybit.com")),
            Self::Simulator => None,
        }
    }

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

/// Bybit, not connected yet. One category of a unified account: USDT-settled linear contracts unless it says otherwise.
#[derive(Clone, Debug)]
pub struct Bybit {
    network: Network,
    rest: String,
    ws: String,
    category: Category,
    stream: bool,
    trade_socket: bool,
    keys: Keys,
    timing: Timing,
    poll: Option<Duration>,
    cap: Option<Duration>,
}

impl Bybit {
    /// The real venue.
    pub fn mainnet(keys: Keys) -> Self {
        Self::on(Network::Mainnet, keys)
    }

    /// The testnet.
    pub fn testnet(keys: Keys) -> Self {
        Self::on(Network::Testnet, keys)
    }

    /// Demo trading.
    pub fn demo(keys: Keys) -> Self {
        Self::on(Network::Demo, keys)
    }

    fn on(network: Network, keys: Keys) -> Self {
        let (rest, ws) = network.hosts().unwrap_or_default();
        Self::new(network, rest, ws, keys)
    }

    /// A simulated venue at `url`, such as `http://127.0.0.1:7001`. Its sockets are at the same host and port.
    pub fn simulator(url: &str, keys: Keys) -> Self {
        let rest = url.trim_end_matches('/');
        let ws = rest.replacen("http", "ws", 1);
        Self::new(Network::Simulator, rest, &ws, keys)
    }

    fn new(network: Network, rest: &str, ws: &str, keys: Keys) -> Self {
        Self {
            network,
            rest: rest.to_owned(),
            ws: ws.to_owned(),
            category: Category::default(),
            stream: true,
            trade_socket: false,
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

    /// Trades another category. One venue in the configuration trades one.
    #[must_use]
    pub const fn with_category(mut self, category: Category) -> Self {
        self.category = category;
        self
    }

    /// Follows no private stream: the engine asks for its orders instead.
    #[must_use]
    pub const fn without_stream(mut self) -> Self {
        self.stream = false;
        self
    }

    /// Sends creates and cancels over the trade socket. Demo trading has none: [`Connect::connect`] refuses it there.
    #[must_use]
    pub const fn with_trade_socket(mut self) -> Self {
        self.trade_socket = true;
        self
    }

    /// Sets where the sockets are, such as `ws://127.0.0.1:7002`. On a simulator only, as [`Self::with_timing`].
    #[must_use]
    pub fn with_ws_url(mut self, url: &str) -> Self {
        url.trim_end_matches('/').clone_into(&mut self.ws);
        self
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
        let ours = (&*self.rest, &*self.ws);
        if self.network.hosts().is_some_and(|hosts| hosts != ours) {
            return config("the sockets' address can be set on a simulator only");
        }
        if self.network == Network::Demo && self.trade_socket {
            return config("demo trading has no trade socket");
        }
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
        if !(self.ws.starts_with("wss://") || self.ws.starts_with("ws://")) {
            return config("ws_url must begin with ws:// or wss://");
        }
        Ok(())
    }
}

impl Connect for Bybit {
    fn nonce_scope(&self) -> Option<NonceScope> {
        None
    }

    fn profile(&self) -> VenueProfile {
        let mut profile = profile(&self.timing, self.category);
        profile.poll = self.poll.unwrap_or(profile.poll);
        profile.cap = self.cap.unwrap_or(profile.cap);
        // https://bybit-exchange.github.io/docs/v5/demo: batches of linear contracts and options only.
        if self.network == Network::Demo && self.category != Category::Linear {
            profile.cancel_batch = 1;
        }
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
        let ws = WsClient::new(ws_config())
            .map_err(|error| VenueError::Config(error.to_string().into()))?;
        let feed = self.stream.then(|| Feed {
            ws: ws.clone(),
            url: format!("{}/v5/private", self.ws),
            keys: self.keys.clone(),
            category: self.category,
        });
        let url = format!("{}/v5/trade", self.ws);
        let trader = self
            .trade_socket
            .then(|| Trader::new(ws, url, self.keys.clone(), timeout));
        let parts = Parts {
            network: self.network,
            category: self.category,
            client: Client::new(http, self.rest, self.keys, window),
            ban: profile::ban(&self.timing),
            feed,
            trader,
        };
        Ok(Arc::new(Adapter::new(ctx, profile, parts)))
    }
}
