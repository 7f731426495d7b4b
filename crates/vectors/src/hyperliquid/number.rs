//! Numbers as they are sent, and the rules of prices and sizes.

use rust_decimal::Decimal;
use serde_json::{Value, json};
use surefill_hyperliquid::number::{self, Market};

use crate::file::Case;
use crate::input::{Got, Unfit, number as whole, text};

pub(super) fn to_wire(case: &Case<'_>) -> Result<Got, Unfit> {
    let wire = number::read(text(case.input, "text")?).and_then(number::to_wire);
    Ok(refused_or("wire", wire.ok()).into())
}

pub(super) fn to_int(case: &Case<'_>) -> Result<Got, Unfit> {
    let decimals = small(case.input, "decimals")?;
    let value = number::read(text(case.input, "text")?);
    let int = value.and_then(|value| number::to_int(value, decimals));
    Ok(refused_or("value", int.ok().map(|int| int.to_string())).into())
}

pub(super) fn price_rule(case: &Case<'_>) -> Result<Got, Unfit> {
    let market = match text(case.input, "market")? {
        "perp" => Market::Perp,
        "spot" => Market::Spot,
        other => return Err(Unfit(format!("market {other:?}"))),
    };
    let (price, decimals) = value_and_decimals(case.input, "price")?;
    let valid = price.is_some_and(|price| number::price_is_valid(price, decimals, market));
    Ok(json!({ "valid": valid }).into())
}

pub(super) fn size_rule(case: &Case<'_>) -> Result<Got, Unfit> {
    let (size, decimals) = value_and_decimals(case.input, "size")?;
    let valid = size.is_some_and(|size| number::size_is_valid(size, decimals));
    Ok(json!({ "valid": valid }).into())
}

fn value_and_decimals(input: &Value, name: &str) -> Result<(Option<Decimal>, u32), Unfit> {
    let decimals = small(input, "sz_decimals")?;
    Ok((number::read(text(input, name)?).ok(), decimals))
}

fn small(input: &Value, name: &str) -> Result<u32, Unfit> {
    let number = whole(input, name)?;
    u32::try_from(number).map_err(|_| Unfit(format!("`{name}` is above 32 bits")))
}

fn refused_or(name: &str, value: Option<String>) -> Value {
    value.map_or_else(|| json!({ "refuse": true }), |value| json!({ name: value }))
}
