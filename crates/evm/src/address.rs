//! An account's address.

use std::fmt;
use std::str::FromStr;

/// An account's address: 20 bytes. Shown in lower case with `0x`, as venues spell it in what they hash.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address([u8; 20]);

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no address: 0x and 40 hex digits")]
pub struct AddressError {
    text: String,
}

impl Address {
    /// The address of no account.
    pub const ZERO: Self = Self([0; 20]);

    /// The address of these bytes.
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }
}

impl FromStr for Address {
    type Err = AddressError;

    /// Reads `0x` and 40 hex digits in any case. A checksum in the case of the letters is not looked at.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let digits = text.strip_prefix("0x");
        let mut bytes = [0; 20];
        let read = digits.is_some_and(|digits| hex::decode_to_slice(digits, &mut bytes).is_ok());
        if read {
            return Ok(Self(bytes));
        }
        Err(AddressError {
            text: text.chars().take(48).collect(),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_in_any_case_and_shown_in_lower_case() {
        let address: Address = "0x14791697260E4c9A71f18484C9f997B308e59325"
            .parse()
            .expect("an address");
        assert_eq!(
            address.to_string(),
            "0x14791697260e4c9a71f18484c9f997b308e59325"
        );
        for no in [
            "",
            "0x",
            "14791697260e4c9a71f18484c9f997b308e59325",
            "0x1",
            "0x14791697260e4c9a71f18484c9f997b308e593zz",
        ] {
            no.parse::<Address>().expect_err(no);
        }
    }
}
