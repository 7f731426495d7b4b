//! What a simulated Hyperliquid is started with.

use std::{io, path::PathBuf};

use serde::Deserialize;

use crate::journal::JournalError;

/// Settings of one simulated Hyperliquid.
#[derive(Debug, Clone)]
pub struct Config {
    /// Port on 127.0.0.1; 0 is any free one.
    pub port: u16,
    /// Makes the venue's ids; the same seed and the same commands give the same ids.
    pub seed: u64,
    /// Where the commands are journaled, if anywhere: in the folder `hyperliquid` of this one.
    pub journal: Option<PathBuf>,
    /// Who has an account.
    pub wallets: Vec<Wallet>,
    /// Most open orders of one account and market; a journal keeps what it was made with.
    pub max_open_orders: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: 0,
            seed: 0,
            journal: None,
            wallets: Wallet::built_in(),
            max_open_orders: 1_000,
        }
    }
}

/// One account: a user, a sub-account, or a vault.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wallet {
    /// `0x` and 40 hex digits.
    pub address: String,
    /// The user whose sub-account it is.
    #[serde(default)]
    pub master: Option<String>,
    /// The user who leads it, if it is a vault.
    #[serde(default)]
    pub leader: Option<String>,
    /// Addresses of API wallets that are approved from the start.
    #[serde(default)]
    pub agents: Vec<String>,
}

impl Wallet {
    /// A user.
    #[must_use]
    pub fn user(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            master: None,
            leader: None,
            agents: Vec::new(),
        }
    }

    /// A sub-account.
    #[must_use]
    pub fn sub_account(address: &str, master: &str) -> Self {
        Self {
            master: Some(master.to_owned()),
            ..Self::user(address)
        }
    }

    /// A vault.
    #[must_use]
    pub fn vault(address: &str, leader: &str) -> Self {
        Self {
            leader: Some(leader.to_owned()),
            ..Self::user(address)
        }
    }

    /// The accounts that are always there: those of the three keys of the vectors, and, of the first one, the vault and
    /// the sub-account that the vectors name.
    #[must_use]
    pub fn built_in() -> Vec<Self> {
        let first = "0x14791697260e4c9a71f18484c9f997b308e59325";
        vec![
            Self::user(first),
            Self::user("0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a"),
            Self::user("0x1563915e194d8cfba1943570603f7606a3115508"),
            Self::vault("0x1719884eb866cb12b2287399b15f7db5e7d775ea", first),
            Self::sub_account("0x1d9470d4b963f552e6f671a81619d395877bf409", first),
        ]
    }
}

/// Why a simulated Hyperliquid did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The port is taken, or there is none.
    #[error("cannot listen")]
    Listen(#[source] io::Error),
    /// The journal cannot be used.
    #[error("the journal cannot be used")]
    Journal(#[from] JournalError),
    /// An address is none, is twice there, or belongs to nobody.
    #[error("account {address} cannot be used: {text}")]
    Accounts {
        /// Which.
        address: String,
        /// Why.
        text: String,
    },
}
