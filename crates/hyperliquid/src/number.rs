//! Numbers as the venue takes them: decimal text, and the rules of prices and sizes. Pure.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/tick-and-lot-size>.

use rust_decimal::Decimal;

/// The most decimals of a number on the wire.
pub const WIRE_DECIMALS: u32 = 8;

/// The most significant figures of a price that is no integer.
const FIGURES: u32 = 5;

/// A number that cannot be sent as it is. None is ever rounded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Not a decimal number, or one with more digits than are kept.
    #[error("{0:?} is no decimal number that can be kept exactly")]
    NotDecimal(String),
    /// More decimals than allowed.
    #[error("{value} has more than {decimals} decimals")]
    TooFine {
        /// The number.
        value: Decimal,
        /// The most.
        decimals: u32,
    },
    /// An integer that does not fit.
    #[error("{0} does not fit")]
    TooLarge(Decimal),
}

/// Reads decimal text, exponents included, without losing a digit.
///
/// # Errors
/// [`NumberError::NotDecimal`].
pub fn read(text: &str) -> Result<Decimal, NumberError> {
    exact(text).ok_or_else(|| NumberError::NotDecimal(text.chars().take(64).collect()))
}

fn exact(text: &str) -> Option<Decimal> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let digits = mantissa.trim_start_matches(['+', '-']);
    let plain = mantissa.len() <= digits.len() + 1
        && digits.bytes().any(|b| b.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !plain {
        return None;
    }
    let value = Decimal::from_str_exact(mantissa).ok()?.normalize();
    if value.is_zero() {
        return Some(Decimal::ZERO);
    }
    let shift = exponent.unsigned_abs();
    if exponent >= 0 {
        return value.checked_mul(power(shift)?);
    }
    let scale = value.scale().checked_add(shift)?;
    Decimal::try_from_i128_with_scale(value.mantissa(), scale).ok()
}

/// Ten to a power, if it fits.
fn power(exponent: u32) -> Option<Decimal> {
    let value = 10_i128.checked_pow(exponent)?;
    Decimal::try_from_i128_with_scale(value, 0).ok()
}

/// A number as it is hashed and sent: no exponent, no trailing zeros, no minus before zero.
///
/// # Errors
/// [`NumberError::TooFine`].
pub fn to_wire(value: Decimal) -> Result<String, NumberError> {
    let value = value.normalize();
    if value.is_zero() {
        return Ok("0".to_owned());
    }
    if value.scale() > WIRE_DECIMALS {
        return Err(NumberError::TooFine {
            value,
            decimals: WIRE_DECIMALS,
        });
    }
    Ok(value.to_string())
}

/// A number in units of `decimals` decimals.
///
/// # Errors
/// [`NumberError::TooFine`], [`NumberError::TooLarge`].
pub fn to_int(value: Decimal, decimals: u32) -> Result<i128, NumberError> {
    let value = value.normalize();
    let missing = decimals.checked_sub(value.scale());
    let missing = missing.ok_or(NumberError::TooFine { value, decimals })?;
    let factor = 10_i128.checked_pow(missing);
    let scaled = factor.and_then(|factor| value.mantissa().checked_mul(factor));
    scaled.ok_or(NumberError::TooLarge(value))
}

/// What is traded, as far as the rule of prices goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Market {
    /// A perpetual.
    Perp,
    /// A spot pair.
    Spot,
}

impl Market {
    /// The most decimals of a price.
    pub const fn price_decimals(self, sz_decimals: u32) -> u32 {
        let most: u32 = match self {
            Self::Perp => 6,
            Self::Spot => 8,
        };
        most.saturating_sub(sz_decimals)
    }

    /// The step of prices around `price`: five figures, no more decimals than the market has, and never coarser than one. `None` for a
    /// price that is not above zero.
    pub fn price_step(self, price: Decimal, sz_decimals: u32) -> Option<Decimal> {
        if price <= Decimal::ZERO {
            return None;
        }
        let price = price.normalize();
        let digits = price.mantissa().unsigned_abs().checked_ilog10()?;
        // The decimals that five figures leave: `scale - digits` is how far the first figure stands behind the point.
        let by_figures = (FIGURES - 1)
            .saturating_add(price.scale())
            .saturating_sub(digits);
        let decimals = by_figures.min(self.price_decimals(sz_decimals));
        Some(Decimal::new(1, decimals))
    }
}

/// Whether the venue takes a price.
pub fn price_is_valid(price: Decimal, sz_decimals: u32, market: Market) -> bool {
    let step = market.price_step(price, sz_decimals);
    step.is_some_and(|step| is_multiple(price, step))
}

/// Whether the venue takes a size.
pub fn size_is_valid(size: Decimal, sz_decimals: u32) -> bool {
    size > Decimal::ZERO && size.normalize().scale() <= sz_decimals
}

/// Whether `value` is a multiple of `step`, which is a power of ten not above one.
pub(crate) fn is_multiple(value: Decimal, step: Decimal) -> bool {
    value.normalize().scale() <= step.scale()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Decimal {
        read(text).expect(text)
    }

    #[test]
    fn digits_are_never_lost() {
        assert_eq!(of("1e-28"), Decimal::new(1, 28));
        for no in [
            "1e-29",
            "1e29",
            "0.12345678901234567890123456789",
            "1e",
            "--1",
            "+-1",
            "",
            ".",
            "1_0",
            " 1",
            "0x1",
        ] {
            read(no).expect_err(no);
        }
        assert_eq!(of("+.5e1"), Decimal::from(5));
        assert_eq!(to_wire(of("-0e9")), Ok("0".to_owned()));
    }

    #[test]
    fn the_step_of_a_price_follows_its_size() {
        let step = |price: &str, sz| {
            Market::Perp
                .price_step(of(price), sz)
                .map(|s| s.to_string())
        };
        assert_eq!(step("123456.7", 0).as_deref(), Some("1"));
        assert_eq!(step("12345.6", 0).as_deref(), Some("1"));
        assert_eq!(step("1234.56", 0).as_deref(), Some("0.1"));
        assert_eq!(step("0.99999", 0).as_deref(), Some("0.00001"));
        assert_eq!(step("0.5", 5).as_deref(), Some("0.1"));
        assert_eq!(step("0.00001", 0).as_deref(), Some("0.000001"));
        assert_eq!(step("7", 9).as_deref(), Some("1"));
        assert_eq!(step("0", 0), None);
        assert_eq!(step("-1", 0), None);
    }

    #[test]
    fn an_integer_of_many_units_fits_or_is_refused() {
        assert_eq!(
            to_int(of("123123123123"), 8),
            Ok(12_312_312_312_300_000_000)
        );
        assert_eq!(
            to_int(of("1e28"), 28),
            Err(NumberError::TooLarge(of("1e28")))
        );
    }
}
