//! From an intent to the bytes of a create. Pure.

use std::time::Duration;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use surefill_core::{
    Amount, Attempt, ClOrdId, Fence, OrdType, OrderIntent, PrepareError, Px, Qty, Side, Symbol,
    Ticket, TimeInForce, VenueParams, VenueTime,
};

use crate::category::Category;
use crate::market::Filters;
use crate::wire::Create;
use crate::{id, sign};

/// The layout of a create's wire: timestamp, receive window, body; a line each.
pub(crate) const FORMAT: &str = "bybit.create.1";

/// What only Bybit has. Attached take-profit and stop-loss cannot be written down: they make orders of their own, without an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BybitParams {
    /// 0 one-way, 1 the buy side, 2 the sell side of hedge mode.
    pub position_idx: u8,
}

impl VenueParams for BybitParams {
    const KIND: &'static str = "bybit";
}

/// What was fetched for one symbol; no filters for one that the venue does not list.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) symbol: Symbol,
    pub(crate) filters: Option<Filters>,
}

/// Builds the attempt.
pub(crate) fn prepare(
    id: &ClOrdId,
    intent: &OrderIntent,
    ticket: &Ticket,
    receive_window: Duration,
    category: Category,
) -> Result<Attempt, PrepareError> {
    let listed: &Listed = ticket
        .facts
        .get()
        .filter(|listed: &&Listed| listed.symbol == intent.symbol)
        .ok_or_else(|| invalid("the facts are of another venue or symbol"))?;
    let unknown = || PrepareError::UnknownSymbol {
        symbol: intent.symbol.clone(),
    };
    let filters = listed.filters.as_ref().ok_or_else(unknown)?;
    if let (Some(coin), Some(ours)) = (&filters.settle_coin, category.settle_coin())
        && coin.as_str() != ours
    {
        return Err(unsupported(format!("a contract settled in {coin}")));
    }
    let params: BybitParams = intent
        .params()
        .map_err(|error| invalid(error.to_string()))?
        .unwrap_or_default();
    if params.position_idx > 2 {
        return Err(invalid("position_idx is 0, 1 or 2"));
    }
    let link = id::spell(id);
    if !id::allowed(&link) {
        return Err(invalid("the client order id does not fit"));
    }
    let position_idx = match category {
        Category::Linear => Some(params.position_idx),
        Category::Inverse if params.position_idx == 0 => Some(0),
        Category::Spot if params.position_idx == 0 => None,
        Category::Inverse | Category::Spot => {
            return Err(unsupported("hedge mode outside of linear contracts"));
        }
    };
    if category.is_spot() && intent.reduce_only {
        return Err(unsupported("reduce-only on spot"));
    }
    let price = checked_price(intent, filters)?;
    let (qty, market_unit) = match intent.amount {
        Amount::Base(qty) => {
            check_qty(qty, intent, filters)?;
            if let Some(price) = price {
                check_notional(price, qty, intent, filters, category)?;
            }
            let unit = (category.is_spot() && price.is_none()).then_some("baseCoin");
            (plain(qty.value(), filters.instrument.qty_step), unit)
        }
        Amount::Quote(amount) => {
            if !category.is_spot() || price.is_some() {
                let what = "an amount in quote money for anything but a market order on spot";
                return Err(unsupported(what));
            }
            (checked_amount(amount, filters)?, Some("quoteCoin"))
        }
    };
    let price = price.map(|price| plain(price.value(), filters.instrument.tick));
    let body = serde_json::to_string(&Create {
        category: category.as_str(),
        symbol: intent.symbol.as_str(),
        side: match intent.side {
            Side::Buy => "Buy",
            Side::Sell => "Sell",
        },
        order_type: match intent.ord_type {
            OrdType::Limit { .. } => "Limit",
            OrdType::Market => "Market",
        },
        qty: &qty,
        market_unit,
        price: price.as_deref(),
        time_in_force: time_in_force(intent)?,
        reduce_only: intent.reduce_only,
        position_idx,
        order_link_id: &link,
    })
    .map_err(|error| invalid(error.to_string()))?;
    let wire = Wire {
        timestamp: ticket.now,
        receive_window,
        body,
    };
    Ok(Attempt {
        no: ticket.no,
        format: FORMAT.into(),
        wire: wire.encode(),
        keys: vec![id::key(id)],
        fence: Fence::Clock(sign::fence(wire.timestamp, wire.receive_window)),
        replayable: false,
        revocable: false,
        rebuildable: true,
    })
}

/// Everything of a create that decides what the venue does, and until when. Only the authentication is added when it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(crate) timestamp: VenueTime,
    pub(crate) receive_window: Duration,
    pub(crate) body: String,
}

impl Wire {
    fn encode(&self) -> Vec<u8> {
        let window = self.receive_window.as_millis();
        format!("{}\n{window}\n{}", self.timestamp, self.body).into_bytes()
    }

    /// Reads an attempt's wire; `None` for bytes that are not ours.
    pub(crate) fn decode(attempt: &Attempt) -> Option<Self> {
        if &*attempt.format != FORMAT {
            return None;
        }
        let text = str::from_utf8(&attempt.wire).ok()?;
        let (timestamp, rest) = text.split_once('\n')?;
        let (window, body) = rest.split_once('\n')?;
        Some(Self {
            timestamp: VenueTime::from_ms(timestamp.parse().ok()?),
            receive_window: Duration::from_millis(window.parse().ok()?),
            body: body.to_owned(),
        })
    }
}

fn check_qty(qty: Qty, intent: &OrderIntent, filters: &Filters) -> Result<(), PrepareError> {
    let (listed, value) = (&filters.instrument, qty.value());
    let min = listed.min_qty.value().max(listed.qty_step);
    if value < min {
        return Err(PrepareError::BelowMinimum {
            what: "quantity",
            value,
            min,
        });
    }
    on_step("quantity", value, listed.qty_step)?;
    // Above it the venue splits a reduce-only order into several, under one id.
    let max = match intent.ord_type {
        OrdType::Limit { .. } => listed.max_limit_qty,
        OrdType::Market => listed.max_market_qty,
    };
    if qty > max {
        return Err(PrepareError::AboveMaximum {
            what: "quantity",
            value,
            max: max.value(),
        });
    }
    Ok(())
}

/// An amount in quote money. The most is given in base units, so that the venue checks it.
fn checked_amount(amount: Qty, filters: &Filters) -> Result<String, PrepareError> {
    let (value, min) = (amount.value(), filters.instrument.min_notional);
    if value < min || value.is_zero() {
        return Err(PrepareError::BelowMinimum {
            what: "amount",
            value,
            min,
        });
    }
    let Some(step) = filters.quote_step else {
        return Ok(value.normalize().to_string());
    };
    on_step("amount", value, step)?;
    Ok(plain(value, step))
}

fn checked_price(intent: &OrderIntent, filters: &Filters) -> Result<Option<Px>, PrepareError> {
    let Some(price) = intent.ord_type.price() else {
        return Ok(None);
    };
    let (tick, value) = (filters.instrument.tick, price.value());
    let min = filters.min_price.value().max(tick);
    if value < min {
        return Err(PrepareError::BelowMinimum {
            what: "price",
            value,
            min,
        });
    }
    on_step("price", value, tick)?;
    match filters.max_price {
        Some(max) if price > max => Err(PrepareError::AboveMaximum {
            what: "price",
            value,
            max: max.value(),
        }),
        Some(_) | None => Ok(Some(price)),
    }
}

/// The floor does not hold for orders that only make a position smaller, as far as is known: the venue decides.
fn check_notional(
    price: Px,
    qty: Qty,
    intent: &OrderIntent,
    filters: &Filters,
    category: Category,
) -> Result<(), PrepareError> {
    let min = filters.instrument.min_notional;
    let value = match category {
        // A contract is a dollar.
        Category::Inverse => qty.value(),
        Category::Linear | Category::Spot => price
            .notional(qty)
            .ok_or_else(|| invalid("price times quantity does not fit"))?
            .value(),
    };
    if value < min && !intent.reduce_only {
        return Err(PrepareError::BelowMinimum {
            what: "notional",
            value: value.normalize(),
            min,
        });
    }
    Ok(())
}

fn on_step(what: &'static str, value: Decimal, step: Decimal) -> Result<(), PrepareError> {
    let does_not_fit = || invalid(format!("{what} {value} does not fit a step of {step}"));
    let over = value.checked_rem(step).ok_or_else(does_not_fit)?;
    if over.is_zero() {
        return Ok(());
    }
    let below = value.checked_sub(over).ok_or_else(does_not_fit)?;
    Err(PrepareError::OffStep {
        what,
        value,
        step,
        below: below.normalize(),
        above: below
            .checked_add(step)
            .ok_or_else(does_not_fit)?
            .normalize(),
    })
}

/// A plain decimal with no more digits than the step has. The value is a multiple of the step, so only zeros are cut.
fn plain(value: Decimal, step: Decimal) -> String {
    if value.scale() > step.scale() {
        value.normalize().to_string()
    } else {
        value.to_string()
    }
}

fn time_in_force(intent: &OrderIntent) -> Result<Option<&'static str>, PrepareError> {
    match (intent.ord_type, intent.time_in_force) {
        // The venue makes an immediate-or-cancel order of every market order, whatever is asked.
        (OrdType::Market, TimeInForce::Ioc) => Ok(None),
        (OrdType::Market, _) => Err(unsupported("a market order other than ioc")),
        (OrdType::Limit { .. }, TimeInForce::Gtc) => Ok(Some("GTC")),
        (OrdType::Limit { .. }, TimeInForce::Ioc) => Ok(Some("IOC")),
        (OrdType::Limit { .. }, TimeInForce::Fok) => Ok(Some("FOK")),
        (OrdType::Limit { .. }, TimeInForce::PostOnly) => Ok(Some("PostOnly")),
        (OrdType::Limit { .. }, TimeInForce::Gtd(_)) => Err(unsupported("time in force gtd")),
    }
}

fn unsupported(what: impl Into<Box<str>>) -> PrepareError {
    PrepareError::Unsupported { what: what.into() }
}

fn invalid(what: impl Into<Box<str>>) -> PrepareError {
    PrepareError::Invalid { what: what.into() }
}
