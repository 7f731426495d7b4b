//! What a probe is told.

use std::sync::Arc;

use surefill_core::{Alias, Px, Symbol};

use crate::SimControl;

/// What kind of network the venue is on, by the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// A simulated venue.
    Simulator,
    /// No real money: a testnet, or demo trading.
    Testnet,
    /// Real money. Refused.
    Mainnet,
}

/// What a probe is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The venue's name, for the report.
    pub alias: Alias,
    /// The network.
    pub network: Network,
    /// The instrument; one of bitcoin's, or the first that is listed, where none is named.
    pub symbol: Option<Symbol>,
    /// A price at which a buy rests; searched for, with post-only orders, where none is named.
    pub price: Option<Px>,
    /// Orders may be placed on a testnet.
    pub yes: bool,
    /// The control port of a simulated venue: it holds a request past its fence, and ends the day.
    pub sim: Option<Arc<dyn SimControl>>,
}

impl Options {
    /// The venue named `alias` on that network, and nothing else said.
    pub fn new(alias: impl Into<Alias>, network: Network) -> Self {
        Self {
            alias: alias.into(),
            network,
            symbol: None,
            price: None,
            yes: false,
            sim: None,
        }
    }
}
