//! Decimals as the venue reads and writes them, and its rules for prices and sizes.

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, de::Error};

/// Most decimals of any number on the wire.
const MOST_DECIMALS: u32 = 8;
/// Most significant figures of a price that is no integer.
const FIGURES: u32 = 5;

/// A decimal string: digits, perhaps a point, at most eight decimals. Anything else does not deserialize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(pub(super) Decimal);

impl Number {
    fn read(text: &str) -> Option<Self> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(rest) {
            return None;
        }
        let number = Decimal::from_str_exact(text).ok()?.normalize();
        (number.scale() <= MOST_DECIMALS).then_some(Self(number))
    }

    /// The form that is hashed: no zero that does not count.
    pub(super) fn canonical(self) -> String {
        self.0.normalize().to_string()
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| D::Error::custom("no decimal"))
    }
}

/// A decimal as answers spell it: always with a point.
pub(super) fn point(number: Decimal) -> String {
    let text = number.normalize().to_string();
    if text.contains('.') {
        text
    } else {
        format!("{text}.0")
    }
}

/// Whether a price has at most five significant figures, or is an integer, and not too many decimals.
#[must_use]
pub fn price_fits(price: Decimal, sz_decimals: u32, spot: bool) -> bool {
    let price = price.normalize();
    if price <= Decimal::ZERO {
        return false;
    }
    let most = if spot { MOST_DECIMALS } else { 6 }.saturating_sub(sz_decimals);
    let figures = price
        .mantissa()
        .checked_ilog10()
        .map_or(0, |log| log.saturating_add(1));
    price.scale() == 0 || (price.scale() <= most && figures <= FIGURES)
}

/// Whether a size has no decimals beyond those of its market.
#[must_use]
pub fn size_fits(size: Decimal, sz_decimals: u32) -> bool {
    size.normalize().scale() <= sz_decimals
}
