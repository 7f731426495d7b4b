//! What a bot writes down to use Hyperliquid.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use surefill_core::{Connect, NonceScope, Symbol, Venue, VenueCtx, VenueError, VenueProfile};
use surefill_evm::{Address, AddressError, SecretKey};
use surefill_transport::{HttpClient, HttpConfig, WsClient};

use crate::adapter::{Adapter, Parts};
use crate::client::Client;
use crate::error::KeyError;
use crate::follow::ws_config;
use crate::prepare::Signer;
use crate::profile::{self, profile};
use crate::sign::Source;
use crate::switch::DeadMansSwitch;

/// Where orders go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Real money.
    Mainnet,
    /// The venue's testnet.
    Testnet,
    /// A simulated venue. It takes the signatures of the testnet.
    Simulator,
}

impl Network {
    /// Where the venue is, over HTTP and over its socket; `None` for a simulator, which is anywhere.
    const fn hosts(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Mainnet => Some((
                "https://api.hyperliquid.xyz",
                "wss://api.hyperliquid.xyz/ws",
            )),
            Self::Testnet => Some((
                "https://api.hyperliquid-testnet.xyz",
                "wss://api.hyperliquid-testnet.xyz/ws",
            )),
            Self::Simulator => None,
        }
    }

    /// The word of the network in an account's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mainnet => "mainnet",
            Self::Testnet => "testnet",
            Self::Simulator => "simulator",
        }
    }

    const fn source(self) -> Source {
        match self {
            Self::Mainnet => Source::Mainnet,
            Self::Testnet | Self::Simulator => Source::Testnet,
        }
    }
}

/// Who signs, and for whom: the account's own key, or that of an agent that the account approved.
#[derive(Clone, Debug)]
pub struct Keys {
    signer: SecretKey,
    account: Option<Address>,
    vault: Option<Address>,
}

impl Keys {
    /// The key of 64 hex digits, with or without `0x`. An agent's own: with no other program and for no other account at the same time.
    ///
    /// # Errors
    /// [`KeyError`], which never shows the key.
    pub fn new(private_key: &str) -> Result<Self, KeyError> {
        Ok(Self {
            signer: SecretKey::from_hex(private_key)?,
            account: None,
            vault: None,
        })
    }

    /// Says which account is meant: another than the signer's own, or than the one that the agent belongs to, is refused at the start.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn for_account(mut self, account: &str) -> Result<Self, AddressError> {
        self.account = Some(account.parse()?);
        Ok(self)
    }

    /// Trades for a sub-account or a vault of the account.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn for_vault(mut self, vault: &str) -> Result<Self, AddressError> {
        self.vault = Some(vault.parse()?);
        Ok(self)
    }

    /// The address of the key that signs.
    pub const fn signer(&self) -> Address {
        self.signer.address()
    }
}

/// How a position is margined, and how many times its margin it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leverage {
    /// By the whole account.
    Cross(u32),
    /// By a margin of its own.
    Isolated(u32),
}

/// Durations of a simulated venue, shorter than the real ones so that tests need not wait. The default is what really holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timing {
    /// How long the venue takes a request, milliseconds.
    pub receive_window_ms: u64,
    /// The longest time until an accepted or changed order shows in lookups, milliseconds.
    pub visibility_lag_ms: u64,
    /// How far the chain's clock may be behind the one that is read, milliseconds.
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
            receive_window_ms: ms(profile::WINDOW),
            visibility_lag_ms: ms(profile::LAG),
            drain_ms: ms(profile::DRAIN),
            margin_ms: ms(profile::MARGIN),
            watch_ms: ms(profile::WATCH),
        }
    }
}

/// Hyperliquid, not connected yet: perpetuals and spot of one account.
#[derive(Clone, Debug)]
pub struct Hyperliquid {
    network: Network,
    rest: String,
    ws: String,
    stream: bool,
    keys: Keys,
    dexes: Vec<String>,
    leverage: HashMap<Symbol, Leverage>,
    timing: Timing,
    poll: Option<Duration>,
    cap: Option<Duration>,
    silence: Option<Duration>,
    switch: DeadMansSwitch,
}

impl Hyperliquid {
    /// The real venue.
    pub fn mainnet(keys: Keys) -> Self {
        Self::on(Network::Mainnet, keys)
    }

    /// The testnet.
    pub fn testnet(keys: Keys) -> Self {
        Self::on(Network::Testnet, keys)
    }

    fn on(network: Network, keys: Keys) -> Self {
        let (rest, ws) = network.hosts().unwrap_or_default();
        Self::new(network, rest, ws, keys)
    }

    /// A simulated venue at `url`, such as `http://127.0.0.1:7001`. Its socket is at the same host and port.
    pub fn simulator(url: &str, keys: Keys) -> Self {
        let rest = url.trim_end_matches('/');
        let ws = format!("{}/ws", rest.replacen("http", "ws", 1));
        Self::new(Network::Simulator, rest, &ws, keys)
    }

    fn new(network: Network, rest: &str, ws: &str, keys: Keys) -> Self {
        Self {
            network,
            rest: rest.to_owned(),
            ws: ws.to_owned(),
            stream: true,
            keys,
            dexes: Vec::new(),
            leverage: HashMap::new(),
            timing: Timing::default(),
            poll: None,
            cap: None,
            silence: None,
            switch: DeadMansSwitch::default(),
        }
    }

    /// The network.
    pub const fn network(&self) -> Network {
        self.network
    }

    /// Lists a builder's dex, too: its orders and positions are seen, and none is placed there.
    #[must_use]
    pub fn with_dex(mut self, name: &str) -> Self {
        self.dexes.push(name.to_owned());
        self
    }

    /// Sets the leverage of a perpetual, before the first order of this process for it. An order is not sent unless the venue has
    /// taken the setting.
    #[must_use]
    pub fn with_leverage(mut self, coin: &str, leverage: Leverage) -> Self {
        self.leverage.insert(Symbol::from(coin), leverage);
        self
    }

    /// The dead man's switch of the account. It works once the engine has connected the venue.
    pub fn dead_mans_switch(&self) -> DeadMansSwitch {
        self.switch.clone()
    }

    /// Follows no stream: the engine asks for its orders instead.
    #[must_use]
    pub const fn without_stream(mut self) -> Self {
        self.stream = false;
        self
    }

    /// Sets where the socket is, such as `ws://127.0.0.1:7002/ws`. On a simulator only, as [`Self::with_timing`].
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

    /// Sets how long the socket may be silent before it is given up; it is pinged twice in that time. On a simulator only, as
    /// [`Self::with_timing`].
    #[must_use]
    pub const fn with_silence(mut self, silence: Duration) -> Self {
        self.silence = Some(silence);
        self
    }

    fn check(&self) -> Result<(), VenueError> {
        let config = |what: &str| Err(VenueError::Config(what.into()));
        let ours = (&*self.rest, &*self.ws);
        if self.network.hosts().is_some_and(|hosts| hosts != ours) {
            return config("the socket's address can be set on a simulator only");
        }
        let changed = self.timing != Timing::default()
            || self.poll.is_some()
            || self.cap.is_some()
            || self.silence.is_some();
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
        if self.keys.vault == Some(self.keys.signer()) {
            return config("the vault is the address of the key that signs");
        }
        Ok(())
    }

    /// Nonces are tracked per signer, whoever it signs for.
    fn scope(&self) -> NonceScope {
        let (network, signer) = (self.network.as_str(), self.keys.signer());
        NonceScope(format!("hyperliquid:{network}:{signer}").into())
    }
}

impl Connect for Hyperliquid {
    fn nonce_scope(&self) -> Option<NonceScope> {
        Some(self.scope())
    }

    fn profile(&self) -> VenueProfile {
        let mut profile = profile(&self.timing, self.scope());
        profile.poll = self.poll.unwrap_or(profile.poll);
        profile.cap = self.cap.unwrap_or(profile.cap);
        profile
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        self.check()?;
        let profile = self.profile();
        let config = |error: &dyn std::error::Error| VenueError::Config(error.to_string().into());
        let window = Duration::from_millis(self.timing.receive_window_ms);
        // An answer that comes after the window says no more than a lookup does.
        let timeout = window.clamp(Duration::from_secs(2), Duration::from_secs(10));
        let http = HttpClient::new(HttpConfig {
            connect_timeout: timeout.min(Duration::from_secs(3)),
            timeout,
            ..HttpConfig::default()
        });
        let http = http.map_err(|error| config(&error))?;
        let ws = WsClient::new(ws_config(self.silence)).map_err(|error| config(&error))?;
        let nonces = ctx.nonces.clone();
        let nonces = nonces.ok_or_else(|| VenueError::Config("there are no nonces".into()))?;
        let parts = Parts {
            network: self.network,
            client: Client::new(http, self.rest),
            signer: Signer {
                key: self.keys.signer,
                source: self.network.source(),
                vault: self.keys.vault,
                window,
            },
            account: self.keys.account,
            dexes: self.dexes,
            leverage: self.leverage,
            nonces,
            budget: profile::budget(&self.timing),
            socket: self.stream.then_some((ws, self.ws)),
        };
        let adapter = Arc::new(Adapter::new(ctx, profile, parts));
        self.switch.connect(&adapter);
        Ok(adapter)
    }
}
