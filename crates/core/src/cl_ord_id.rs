//! The client order id: a function of the decision and of nothing else.

use std::fmt;
use std::str::FromStr;

use blake2::digest::consts::U14;
use blake2::{Blake2s, Digest};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{AccountId, Decision, Side, Symbol};

/// The tag in front of every id: surefill, scheme 1.
const TAG: [u8; 2] = [0x5f, 0x01];

/// First string of the hashed text, so that no other use of the hash can give the same digest.
const DOMAIN: &str = "surefill.clordid.1";

/// Crockford's base 32 in lower case: digits and letters without i, l, o, u.
const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Digits of 128 bits in base 32.
const BASE32_LEN: usize = 26;

/// A client order id (FIX 11): 16 bytes, tag `5f 01` and 14 bytes of BLAKE2s over the decision.
///
/// The same decision gives the same id in every process and after every restart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClOrdId([u8; 16]);

/// A text that is no client order id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a client order id (32 lower-case hex digits that begin with 5f01)")]
pub struct ClOrdIdError {
    text: String,
}

impl ClOrdId {
    /// The id of a decision on an account.
    pub fn derive(decision: &Decision, account: &AccountId, symbol: &Symbol, side: Side) -> Self {
        let digest = Blake2s::<U14>::digest(Self::preimage(decision, account, symbol, side));
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(TAG.iter().chain(digest.iter())) {
            *to = *from;
        }
        Self(bytes)
    }

    /// The text whose hash [`Self::derive`] takes. Strings are prefixed with their length in 4 bytes, integers are 8 bytes, both big
    /// endian.
    pub fn preimage(
        decision: &Decision,
        account: &AccountId,
        symbol: &Symbol,
        side: Side,
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        for text in [
            DOMAIN,
            decision.strategy.as_str(),
            account.as_str(),
            symbol.as_str(),
            side.as_str(),
        ] {
            let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&len.to_be_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(&decision.decided_at.as_ms().to_be_bytes());
        out.extend_from_slice(&u64::from(decision.nonce).to_be_bytes());
        out
    }

    /// The id that these bytes are, if they carry our tag.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        bytes.starts_with(&TAG).then_some(Self(bytes))
    }

    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// 26 digits of Crockford's base 32 in lower case, most significant first.
    pub fn to_base32(&self) -> String {
        let value = u128::from_be_bytes(self.0);
        (0..BASE32_LEN)
            .rev()
            .map(|digit| {
                let bits = (value >> (5 * digit)) & 31;
                let at = usize::try_from(bits).unwrap_or(0);
                char::from(BASE32.get(at).copied().unwrap_or(b'0'))
            })
            .collect()
    }

    /// Reads what [`Self::to_base32`] writes; `None` for anything else or an id without our tag.
    pub fn from_base32(text: &str) -> Option<Self> {
        if text.len() != BASE32_LEN {
            return None;
        }
        let mut value: u128 = 0;
        for byte in text.bytes() {
            let digit = BASE32.iter().position(|&b| b == byte)?;
            value = value
                .checked_mul(32)?
                .checked_add(u128::try_from(digit).ok()?)?;
        }
        Self::from_bytes(value.to_be_bytes())
    }

    /// The 16 bytes in the text form of a UUID.
    pub fn to_uuid(&self) -> String {
        let hex = self.to_string();
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
        format!(
            "{}-{}-{}-{}-{}",
            part(0, 8),
            part(8, 12),
            part(12, 16),
            part(16, 20),
            part(20, 32)
        )
    }

    /// Bytes 2 to 9 as a big-endian integer shifted right by 11: 53 bits that a double keeps; 1 in place of 0.
    pub fn to_salt53(&self) -> u64 {
        let mut eight = [0; 8];
        for (to, from) in eight.iter_mut().zip(self.0.iter().skip(2)) {
            *to = *from;
        }
        (u64::from_be_bytes(eight) >> 11).max(1)
    }
}

impl fmt::Display for ClOrdId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ClOrdId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ClOrdId {
    type Err = ClOrdIdError;

    fn from_str(text: &str) -> Result<Self, ClOrdIdError> {
        let not = || ClOrdIdError {
            text: text.chars().take(64).collect(),
        };
        let mut bytes = [0; 16];
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(not());
        }
        hex::decode_to_slice(text, &mut bytes).map_err(|_| not())?;
        Self::from_bytes(bytes).ok_or_else(not)
    }
}

impl Serialize for ClOrdId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ClOrdId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    const VECTORS: &str = include_str!("../../vectors/tests/vectors/ids.json");

    fn text<'v>(value: &'v Value, key: &str) -> &'v str {
        value[key]
            .as_str()
            .unwrap_or_else(|| panic!("{key} is text in {value}"))
    }

    /// Every case and every normative leaf of the shared file; an unknown leaf fails.
    #[test]
    fn every_id_vector_holds() {
        let file: Value = serde_json::from_str(VECTORS).expect("the vector file is JSON");
        let cases = file["vectors"].as_array().expect("a list of cases");
        assert_eq!(
            Some(u64::try_from(cases.len()).expect("a length")),
            file["count"].as_u64()
        );
        for case in cases {
            assert_eq!(case["kind"], "cl_ord_id");
            let input = &case["input"];
            let decision = Decision::new(
                text(input, "strategy"),
                input["decided_at_ms"].as_u64().expect("ms"),
            )
            .leg(u32::try_from(input["nonce"].as_u64().expect("nonce")).expect("u32"));
            let account = AccountId::from(text(input, "account_id"));
            let symbol = Symbol::from(text(input, "symbol"));
            let side = if text(input, "side") == "buy" {
                Side::Buy
            } else {
                Side::Sell
            };
            let id = ClOrdId::derive(&decision, &account, &symbol, side);
            for (leaf, expected) in case["expect"].as_object().expect("expect") {
                match leaf.as_str() {
                    "preimage_hex" => {
                        assert_eq!(
                            hex::encode(ClOrdId::preimage(&decision, &account, &symbol, side)),
                            *expected
                        );
                    }
                    "cl_ord_id" => assert_eq!(id.to_string(), *expected),
                    "spelling" => {
                        for (venue, spelled) in expected.as_object().expect("spelling") {
                            let ours = match venue.as_str() {
                                "hyperliquid" | "metaflux" => format!("0x{id}"),
                                "bybit" | "binance" | "fix" => format!("sf1-{}", id.to_base32()),
                                "okx" => format!("sf1{}", id.to_base32()),
                                "coinbase" => id.to_uuid(),
                                "polymarket_salt" => id.to_salt53().to_string(),
                                other => panic!("no spelling known for {other}"),
                            };
                            assert_eq!(ours, *spelled, "{}", case["id"]);
                        }
                    }
                    other => panic!("unknown leaf {other}"),
                }
            }
        }
    }

    #[test]
    fn an_id_without_our_tag_is_not_ours() {
        assert_eq!(ClOrdId::from_bytes([0; 16]), None);
        assert!("00".repeat(16).parse::<ClOrdId>().is_err());
        assert!("5F01".repeat(8).parse::<ClOrdId>().is_err());
        assert_eq!(ClOrdId::from_base32("zzzzzzzzzzzzzzzzzzzzzzzzzz"), None);
        assert_eq!(ClOrdId::from_base32(""), None);
    }

    prop_compose! {
        fn any_id()(strategy in ".{0,40}", account in ".{0,40}", symbol in ".{0,40}", sell: bool, at: u64, leg: u32)
            -> (String, String, String, Side, u64, u32, ClOrdId) {
            let side = if sell { Side::Sell } else { Side::Buy };
            let decision = Decision::new(strategy.as_str(), at).leg(leg);
            let id = ClOrdId::derive(&decision, &AccountId::from(account.as_str()), &Symbol::from(symbol.as_str()), side);
            (strategy, account, symbol, side, at, leg, id)
        }
    }

    proptest! {
        #[test]
        fn every_spelling_reads_back((.., id) in any_id()) {
            prop_assert_eq!(id.to_string().parse::<ClOrdId>(), Ok(id));
            prop_assert_eq!(ClOrdId::from_base32(&id.to_base32()), Some(id));
            prop_assert_eq!(serde_json::from_str::<ClOrdId>(&serde_json::to_string(&id).expect("json")).expect("back"), id);
            prop_assert!(id.to_salt53() >= 1 && id.to_salt53() < 1 << 53);
            prop_assert_eq!(id.to_uuid().replace('-', ""), id.to_string());
        }

        #[test]
        fn two_decisions_have_one_id_only_when_they_are_one(a in any_id(), b in any_id()) {
            let same = (&a.0, &a.1, &a.2, a.3, a.4, a.5) == (&b.0, &b.1, &b.2, b.3, b.4, b.5);
            prop_assert_eq!(a.6 == b.6, same);
        }

        #[test]
        fn a_character_moved_across_a_border_changes_the_id(text in "[a-z]{2,30}", cut in 1_usize..29) {
            let cut = cut.min(text.len() - 1);
            let decision = Decision::new("s", 1);
            let id = |at: usize| ClOrdId::derive(&decision, &AccountId::from(&text[..at]), &Symbol::from(&text[at..]), Side::Buy);
            prop_assert_ne!(id(cut), id(cut - 1));
        }
    }
}
