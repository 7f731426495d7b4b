//! Quantities and prices: decimals that are never floats and never negative where they cannot be.

use std::fmt;
use std::str::FromStr;

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A text or number that is no quantity, price or money.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountError {
    /// Not a plain decimal.
    #[error("{text:?} is not a plain decimal number")]
    NotDecimal {
        /// What was given.
        text: String,
    },
    /// Below zero.
    #[error("{value} is negative")]
    Negative {
        /// What was given.
        value: Decimal,
    },
}

/// Plain decimals only: digits with at most one point, no sign other than a leading minus, no exponent.
fn parse(text: &str) -> Result<Decimal, AmountError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.bytes().any(|b| b.is_ascii_digit());
    let not = || AmountError::NotDecimal {
        text: text.chars().take(64).collect(),
    };
    if !plain {
        return Err(not());
    }
    Decimal::from_str_exact(text).map_err(|_| not())
}

macro_rules! decimal_word {
    ($(#[$doc:meta])* $name:ident, signed: $signed:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(Decimal);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(Decimal::ZERO);

            /// Checks and wraps a decimal.
            ///
            /// # Errors
            /// [`AmountError::Negative`] where the word has no sign and the value is below zero.
            pub fn new(value: Decimal) -> Result<Self, AmountError> {
                if !$signed && value.is_sign_negative() && !value.is_zero() {
                    return Err(AmountError::Negative { value });
                }
                Ok(Self(value))
            }

            /// The decimal.
            pub const fn value(self) -> Decimal {
                self.0
            }

            /// Whether it is zero.
            pub const fn is_zero(self) -> bool {
                self.0.is_zero()
            }

            /// The sum; `None` when it does not fit.
            pub fn checked_add(self, other: Self) -> Option<Self> {
                self.0.checked_add(other.0).map(Self)
            }

            /// The difference; `None` when it does not fit or may not be negative.
            pub fn checked_sub(self, other: Self) -> Option<Self> {
                self.0.checked_sub(other.0).and_then(|v| Self::new(v).ok())
            }
        }

        impl FromStr for $name {
            type Err = AmountError;

            fn from_str(text: &str) -> Result<Self, AmountError> {
                Self::new(parse(text)?)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

decimal_word!(
    /// A quantity in base units (contracts where the instrument counts those); never negative, the side carries the sign.
    Qty, signed: false
);
decimal_word!(
    /// A price in quote units per base unit; never negative.
    Px, signed: false
);
decimal_word!(
    /// An amount of money in the currency named beside it; a fee below zero is a rebate.
    Money, signed: true
);

impl Px {
    /// Price times quantity; `None` when it does not fit.
    pub fn notional(self, qty: Qty) -> Option<Money> {
        self.0.checked_mul(qty.0).map(Money)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimals_are_amounts() {
        for bad in [
            "", "NaN", "inf", "1e3", "+1", "1,0", " 1", "1 ", "-", ".", "0x1", "1_000", "--1",
            "1.2.3",
        ] {
            assert!(bad.parse::<Qty>().is_err(), "{bad:?} must not parse");
        }
        assert_eq!(
            "-1".parse::<Qty>(),
            Err(AmountError::Negative {
                value: Decimal::NEGATIVE_ONE
            })
        );
        assert_eq!(
            "0.0010".parse::<Qty>().map(|q| q.to_string()),
            Ok("0.0010".to_owned())
        );
        assert!("-0.015".parse::<Money>().is_ok());
    }

    #[test]
    fn amounts_travel_as_strings() {
        let qty: Qty = "0.030".parse().expect("a quantity");
        let text = serde_json::to_string(&qty).expect("json");
        assert_eq!(text, "\"0.030\"");
        assert_eq!(serde_json::from_str::<Qty>(&text).expect("back"), qty);
        assert!(
            serde_json::from_str::<Qty>("0.03").is_err(),
            "a JSON number has been through a float"
        );
    }
}
