//! What a simulated Bybit is started with.

use std::{fmt, io, path::PathBuf};

use serde::Deserialize;

use crate::journal::JournalError;

/// The throwaway key of the vectors.
const FAKE_RSA: &str = "-----BEGIN PUBLIC KEY-----\n\
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0RfciZSBNnSYBTdQ3Dty\n\
3ZdX1uNOh2LiXbzNvZuvEcnPF+O+6mSCsHLHBaGHtKiKTZEdo6mkTxS7uJzLxNci\n\
5o6bl+1TYJSZN6m7Obnxa5C2+dpRkp72Dfc/YShFk/ZFXU/08f4fOyrK2WHrZl8+\n\
HBPqVWhDJTO5dHYTrREmqK74kr2hCr9aiaY0DBwE3ddtZ80MsqSNJcLOh2UPosCQ\n\
sc8QyOYR8EFE1onW5knAT2iAyMPStQmhMY12ABmg1JfqyqdPUE01EjE4i8WgbtPX\n\
mZonctlS/DkNb+Iuz1QKsA/Y46rhEZriK/RYm2MgKrvxrfhUSJ+PrGJN3YyIb2ZS\n\
2QIDAQAB\n\
-----END PUBLIC KEY-----";

/// Settings of one simulated Bybit.
#[derive(Debug, Clone)]
pub struct Config {
    /// Port on 127.0.0.1; 0 is any free one.
    pub port: u16,
    /// Makes the venue's ids; the same seed and the same commands give the same ids.
    pub seed: u64,
    /// Where the commands are journaled, if anywhere: in the folder `bybit` of this one.
    pub journal: Option<PathBuf>,
    /// Who may log in.
    pub logins: Vec<Login>,
    /// Most open orders of one account and symbol; a journal keeps what it was made with.
    pub max_open_orders: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: 0,
            seed: 0,
            journal: None,
            logins: Login::built_in(),
            max_open_orders: 500,
        }
    }
}

/// One API key. Several may belong to one account.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The account's number at the venue.
    pub uid: String,
    /// The public half.
    pub api_key: String,
    /// The secret half of an HMAC key; empty for an RSA key.
    #[serde(default)]
    pub api_secret: String,
    /// The public half of an RSA key, PEM; such a key signs with its private half, which the venue never sees.
    #[serde(default)]
    pub public_key_pem: Option<String>,
    /// Requests of each order endpoint in a rolling second.
    #[serde(default = "ten")]
    pub orders_per_s: u32,
    /// Requests of each reading endpoint in a rolling second.
    #[serde(default = "fifty")]
    pub reads_per_s: u32,
}

const fn ten() -> u32 {
    10
}

const fn fifty() -> u32 {
    50
}

impl Login {
    /// A key with the limits of an ordinary account.
    #[must_use]
    pub fn new(uid: &str, api_key: &str, api_secret: &str) -> Self {
        Self {
            uid: uid.to_owned(),
            api_key: api_key.to_owned(),
            api_secret: api_secret.to_owned(),
            public_key_pem: None,
            orders_per_s: ten(),
            reads_per_s: fifty(),
        }
    }

    /// An RSA key with the limits of an ordinary account.
    #[must_use]
    pub fn rsa(uid: &str, api_key: &str, public_key_pem: &str) -> Self {
        Self {
            public_key_pem: Some(public_key_pem.to_owned()),
            ..Self::new(uid, api_key, "")
        }
    }

    /// The two accounts that are always there: 1001 with the two keys of the vectors, and 1002.
    #[must_use]
    pub fn built_in() -> Vec<Self> {
        vec![
            Self::new(
                "1001",
                "SUREFILLFAKEKEY001",
                "fakefakefakefakefakefakefakefake0001",
            ),
            Self::new(
                "1002",
                "SUREFILLFAKEKEY002",
                "fakefakefakefakefakefakefakefake0002",
            ),
            Self::rsa("1001", "SUREFILLFAKERSA001", FAKE_RSA),
        ]
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("uid", &self.uid)
            .field("api_key", &"[redacted]")
            .field("api_secret", &"[redacted]")
            .field("orders_per_s", &self.orders_per_s)
            .field("reads_per_s", &self.reads_per_s)
            .finish()
    }
}

/// Why a simulated Bybit did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The port is taken, or there is none.
    #[error("cannot listen")]
    Listen(#[source] io::Error),
    /// The journal cannot be used.
    #[error("the journal cannot be used")]
    Journal(#[from] JournalError),
    /// Two logins have one key, or a UID is no number.
    #[error("account {uid} cannot be used: {text}")]
    Accounts {
        /// Which.
        uid: String,
        /// Why.
        text: String,
    },
}
