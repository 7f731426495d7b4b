//! Addresses and client ids: hex of a fixed length, in lower case.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// The 20 bytes of an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Address(pub(super) [u8; 20]);

impl Address {
    /// Reads `0x` and 40 hex digits.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut bytes = [0_u8; 20];
        hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| D::Error::custom("no address"))
    }
}

impl Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A client id: `0x` and 32 hex digits, kept in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cloid(pub(super) String);

impl Cloid {
    fn read(text: &str) -> Option<Self> {
        let digits = text
            .strip_prefix("0x")
            .filter(|digits| digits.len() == 32)?;
        let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex.then(|| Self(text.to_ascii_lowercase()))
    }
}

impl<'de> Deserialize<'de> for Cloid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| D::Error::custom("no client id"))
    }
}

/// An order, by the venue's number or by client id.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Which {
    /// The venue's number.
    Oid(u64),
    /// The client's id.
    Cloid(Cloid),
}
