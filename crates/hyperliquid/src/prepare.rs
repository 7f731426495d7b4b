//! From an intent to the signed bytes of an order. Pure.

use std::time::Duration;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use surefill_core::{
    Amount, Attempt, ClOrdId, Fence, Key, OrdType, OrderIntent, PrepareError, Px, Qty, Side,
    Symbol, Ticket, TimeInForce, VenueParams, VenueTime,
};
use surefill_evm::{Address, SecretKey};

use crate::action::{Limit, Order, OrderItem, Tif};
use crate::coins::{Asset, MIN_NOTIONAL};
use crate::id;
use crate::nonce;
use crate::number::{self, Market};
use crate::outcome::Asked;
use crate::sign::{self, SignError, Source, Terms};

/// The layout of an order's wire: signer, account, body; a line each.
pub(crate) const FORMAT: &str = "hyperliquid.exchange.1";

/// How far from the middle a market order's limit is, in hundredths of a percent: that of the official SDK.
const SLIPPAGE_BPS: u32 = 500;

/// What only Hyperliquid has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HyperliquidParams {
    /// How far from the middle the limit of a market order is, in hundredths of a percent, from 1 to 5000.
    pub slippage_bps: u32,
}

impl Default for HyperliquidParams {
    fn default() -> Self {
        Self {
            slippage_bps: SLIPPAGE_BPS,
        }
    }
}

impl VenueParams for HyperliquidParams {
    const KIND: &'static str = "hyperliquid";
}

/// Who signs, for whom, and for how long.
#[derive(Clone, Debug)]
pub(crate) struct Signer {
    pub(crate) key: SecretKey,
    pub(crate) source: Source,
    /// The vault or sub-account that is traded for.
    pub(crate) vault: Option<Address>,
    /// How long the venue takes a request.
    pub(crate) window: Duration,
}

impl Signer {
    /// A signed request, which the venue takes until the window has passed.
    pub(crate) fn body(
        &self,
        action: &impl Serialize,
        nonce: u64,
        now: VenueTime,
    ) -> Result<String, SignError> {
        let terms = Terms {
            nonce,
            vault: self.vault,
            expires_after: Some(now.after(self.window).as_ms()),
        };
        sign::signed_body(&self.key, self.source, action, &terms)
    }

    /// The same for nobody in particular: nonces belong to the signer, whoever is traded for.
    pub(crate) fn own_body(
        &self,
        action: &impl Serialize,
        nonce: u64,
        now: VenueTime,
    ) -> Result<String, SignError> {
        let own = Self {
            vault: None,
            ..self.clone()
        };
        own.body(action, nonce, now)
    }
}

/// What was fetched for one symbol; no asset for one that the venue does not list.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) symbol: Symbol,
    pub(crate) asset: Option<Asset>,
    /// The middle of the book, for a market order.
    pub(crate) mid: Option<Decimal>,
}

/// Builds the attempt.
pub(crate) fn prepare(
    id: &ClOrdId,
    intent: &OrderIntent,
    ticket: &Ticket,
    signer: &Signer,
    account: Address,
) -> Result<Attempt, PrepareError> {
    let listed: &Listed = ticket
        .facts
        .get()
        .filter(|listed: &&Listed| listed.symbol == intent.symbol)
        .ok_or_else(|| invalid("the facts are of another venue or symbol"))?;
    let unknown = || PrepareError::UnknownSymbol {
        symbol: intent.symbol.clone(),
    };
    let asset = listed.asset.as_ref().ok_or_else(unknown)?;
    asset.tradable()?;
    let params: HyperliquidParams = intent
        .params()
        .map_err(|error| invalid(error.to_string()))?
        .unwrap_or_default();
    if asset.market == Market::Spot && intent.reduce_only {
        return Err(unsupported("reduce-only on spot"));
    }
    let nonce = ticket.nonce.ok_or_else(|| invalid("there is no nonce"))?;
    nonce::check(nonce, ticket.now).map_err(|error| invalid(error.to_string()))?;
    let Amount::Base(qty) = intent.amount else {
        return Err(unsupported("an amount in quote money"));
    };
    check_size(qty, asset)?;
    let price = match intent.ord_type {
        OrdType::Limit { price } => {
            check_price(price, asset)?;
            price.value()
        }
        OrdType::Market => market_price(intent.side, listed, asset, params)?,
    };
    check_notional(price, qty, intent)?;
    let tif = time_in_force(intent)?;
    let item = OrderItem {
        a: asset.id,
        b: intent.side == Side::Buy,
        p: wire_number(price)?,
        s: wire_number(qty.value())?,
        r: intent.reduce_only,
        t: Limit::new(tif),
        c: Some(id::spell(id)),
    };
    let body = signer
        .body(&Order::new(vec![item]), nonce, ticket.now)
        .map_err(|error| invalid(error.to_string()))?;
    let wire = format!("{}\n{account}\n{body}", signer.key.address());
    Ok(Attempt {
        no: ticket.no,
        format: FORMAT.into(),
        wire: wire.into_bytes(),
        keys: vec![id::key(id)],
        fence: Fence::Clock(ticket.now.after(signer.window)),
        replayable: true,
        revocable: true,
        rebuildable: true,
    })
}

/// A journaled order's wire, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    /// Whose key signed it: the nonce is remembered for this one.
    pub(crate) signer: Address,
    pub(crate) nonce: u64,
    pub(crate) body: String,
    pub(crate) asked: Asked,
}

#[derive(Deserialize)]
struct Posted {
    action: PostedOrder,
    nonce: u64,
}

#[derive(Deserialize)]
struct PostedOrder {
    orders: [PostedItem; 1],
}

#[derive(Deserialize)]
struct PostedItem {
    s: Qty,
    t: PostedType,
    c: String,
}

#[derive(Deserialize)]
struct PostedType {
    limit: PostedTif,
}

#[derive(Deserialize)]
struct PostedTif {
    tif: String,
}

impl Wire {
    /// Reads an attempt's wire; `None` for bytes that are not ours.
    pub(crate) fn decode(attempt: &Attempt) -> Option<Self> {
        if &*attempt.format != FORMAT {
            return None;
        }
        let text = str::from_utf8(&attempt.wire).ok()?;
        let (signer, rest) = text.split_once('\n')?;
        let (_account, body) = rest.split_once('\n')?;
        let posted: Posted = serde_json::from_str(body).ok()?;
        let [item] = posted.action.orders;
        Some(Self {
            signer: signer.parse().ok()?,
            nonce: posted.nonce,
            body: body.to_owned(),
            asked: Asked {
                key: Key::from(item.c),
                size: item.s,
                rests: item.t.limit.tif != "Ioc",
            },
        })
    }
}

fn wire_number(value: Decimal) -> Result<String, PrepareError> {
    number::to_wire(value).map_err(|error| invalid(error.to_string()))
}

fn check_size(qty: Qty, asset: &Asset) -> Result<(), PrepareError> {
    let (value, step) = (qty.value(), asset.size_step());
    if value < step {
        return Err(PrepareError::BelowMinimum {
            what: "quantity",
            value,
            min: step,
        });
    }
    on_step("quantity", value, step)
}

fn check_price(price: Px, asset: &Asset) -> Result<(), PrepareError> {
    let value = price.value();
    let step = asset.market.price_step(value, asset.sz_decimals);
    let step = step.ok_or_else(|| invalid("the price is not above zero"))?;
    on_step("price", value, step)
}

/// The floor does not hold for orders that only make a position smaller, as far as is known: the venue decides.
fn check_notional(price: Decimal, qty: Qty, intent: &OrderIntent) -> Result<(), PrepareError> {
    let value = price
        .checked_mul(qty.value())
        .ok_or_else(|| invalid("price times quantity does not fit"))?;
    if value < MIN_NOTIONAL && !intent.reduce_only {
        return Err(PrepareError::BelowMinimum {
            what: "notional",
            value: value.normalize(),
            min: MIN_NOTIONAL,
        });
    }
    Ok(())
}

/// The limit of a market order: the middle and the slippage, rounded towards the middle, so that it never costs more than was said.
fn market_price(
    side: Side,
    listed: &Listed,
    asset: &Asset,
    params: HyperliquidParams,
) -> Result<Decimal, PrepareError> {
    if !(1..=5_000).contains(&params.slippage_bps) {
        return Err(invalid("slippage_bps is from 1 to 5000"));
    }
    let mid = listed
        .mid
        .ok_or_else(|| invalid("the middle of the book is not known"))?;
    let slippage = Decimal::new(params.slippage_bps.into(), 4);
    let factor = match side {
        Side::Buy => Decimal::ONE.checked_add(slippage),
        Side::Sell => Decimal::ONE.checked_sub(slippage),
    };
    let does_not_fit = || invalid("the price of the market order does not fit");
    let raw = factor
        .and_then(|factor| mid.checked_mul(factor))
        .ok_or_else(does_not_fit)?;
    let step = asset.market.price_step(raw, asset.sz_decimals);
    let (below, above) = around(raw, step.ok_or_else(does_not_fit)?).ok_or_else(does_not_fit)?;
    let price = match side {
        Side::Buy => below,
        Side::Sell => above,
    };
    if price <= Decimal::ZERO {
        return Err(does_not_fit());
    }
    Ok(price)
}

/// The nearest multiples of a step, which are one where the value is one.
fn around(value: Decimal, step: Decimal) -> Option<(Decimal, Decimal)> {
    let over = value.checked_rem(step)?;
    let below = value.checked_sub(over)?.normalize();
    if over.is_zero() {
        return Some((below, below));
    }
    Some((below, below.checked_add(step)?.normalize()))
}

fn on_step(what: &'static str, value: Decimal, step: Decimal) -> Result<(), PrepareError> {
    if number::is_multiple(value, step) {
        return Ok(());
    }
    let does_not_fit = || invalid(format!("{what} {value} does not fit a step of {step}"));
    let (below, above) = around(value, step).ok_or_else(does_not_fit)?;
    Err(PrepareError::OffStep {
        what,
        value,
        step,
        below,
        above,
    })
}

fn time_in_force(intent: &OrderIntent) -> Result<Tif, PrepareError> {
    match (intent.ord_type, intent.time_in_force) {
        (OrdType::Market, TimeInForce::Ioc) => Ok(Tif::Ioc),
        (OrdType::Market, _) => Err(unsupported("a market order other than ioc")),
        (OrdType::Limit { .. }, TimeInForce::Gtc) => Ok(Tif::Gtc),
        (OrdType::Limit { .. }, TimeInForce::Ioc) => Ok(Tif::Ioc),
        (OrdType::Limit { .. }, TimeInForce::PostOnly) => Ok(Tif::Alo),
        (OrdType::Limit { .. }, TimeInForce::Fok) => Err(unsupported("time in force fok")),
        (OrdType::Limit { .. }, TimeInForce::Gtd(_)) => Err(unsupported("time in force gtd")),
    }
}

fn unsupported(what: impl Into<Box<str>>) -> PrepareError {
    PrepareError::Unsupported { what: what.into() }
}

fn invalid(what: impl Into<Box<str>>) -> PrepareError {
    PrepareError::Invalid { what: what.into() }
}
