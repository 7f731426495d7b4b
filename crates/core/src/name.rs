//! Names: who and what an order speaks of, as text that is checked nowhere but where it matters.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! text_word {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Box<str>);

        impl $name {
            /// Wraps the text as it is.
            pub fn new(text: impl Into<Box<str>>) -> Self {
                Self(text.into())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
    };
}

text_word!(
    /// A venue's name in the configuration, such as `bybit-main`.
    Alias
);
text_word!(
    /// A venue's kind, such as `bybit`.
    VenueName
);
text_word!(
    /// An instrument as the venue spells it.
    Symbol
);
text_word!(
    /// The strategy that decided; part of the order's identity.
    Strategy
);
text_word!(
    /// The venue's own id of an order (FIX 37). Opaque.
    OrderId
);
text_word!(
    /// The venue's id of one execution (FIX 17). Unique only together with account, symbol and order id.
    ExecId
);
text_word!(
    /// A currency as the venue spells it.
    Currency
);
text_word!(
    /// What the venue knows an order by before its order id is known: the spelled client order id, an order hash, a transaction signature.
    Key
);

impl Strategy {
    /// The longest strategy name that is taken, bytes of UTF-8.
    pub const MAX_BYTES: usize = 64;
}

/// An account as the venue names it: `kind:network:account`, addresses in lower case.
///
/// It comes from the venue, read with the keys in use, never from a configuration alone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountId(Box<str>);

impl AccountId {
    /// The account `account` on `network` of a venue of kind `kind`.
    pub fn new(kind: &str, network: &str, account: &str) -> Self {
        Self(format!("{kind}:{network}:{account}").into())
    }

    /// The text from which ids are derived.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for AccountId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// What a lease must cover so that two processes do not use one nonce: a signer, an account or an API key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NonceScope(pub Box<str>);
