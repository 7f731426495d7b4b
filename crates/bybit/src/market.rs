//! What the venue says of the market and the account: instruments, positions, balances, keys, time. Pure.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use surefill_core::{Currency, Instrument, Money, Px, Qty, Reason, Side, Symbol, VenueTime};

use crate::outcome::Sent;
use crate::rows::{Page, ReadFailure, page, px, qty, result, side, some};
use crate::wire::{AccountInfo, ApiKey, Balance, Coin, Listing, PositionRow, ServerTime, Text};

/// An instrument with what the venue checks besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filters {
    /// The instrument.
    pub instrument: Instrument,
    /// The least price; zero where none is said.
    pub min_price: Px,
    /// The highest price, where one is said.
    pub max_price: Option<Px>,
    /// The coin of settlement, where it is said.
    pub settle_coin: Option<Currency>,
    /// The step of amounts in quote money, where it is said.
    pub quote_step: Option<Decimal>,
}

/// A page of instruments, linear or spot.
///
/// # Errors
/// [`ReadFailure`].
pub fn instruments(sent: &Sent) -> Result<Page<Filters>, ReadFailure> {
    page(
        sent,
        |row: &Listing| &row.symbol,
        |row, _| filters(row).map(Some),
    )
}

fn filters(row: &Listing) -> Result<Filters, Box<str>> {
    let (lot, price) = (&row.lot_size_filter, &row.price_filter);
    let spot = some(&lot.qty_step).is_none();
    // Spot's step is `basePrecision`, its floor `minOrderAmt`; its `minOrderQty` is deprecated.
    let (step, min_qty, floor, limit, market) = if spot {
        (
            &lot.base_precision,
            None,
            &lot.min_order_amt,
            &lot.max_limit_order_qty,
            &lot.max_market_order_qty,
        )
    } else {
        (
            &lot.qty_step,
            Some(&lot.min_order_qty),
            &lot.min_notional_value,
            &lot.max_order_qty,
            &lot.max_mkt_order_qty,
        )
    };
    let min_notional = match floor.as_str() {
        "" => Decimal::ZERO,
        text => px(text)?.value(),
    };
    Ok(Filters {
        instrument: Instrument {
            symbol: Symbol::from(some(&row.symbol).ok_or("an instrument without a symbol")?),
            tick: step_of(price.tick_size.as_str())?,
            qty_step: step_of(step.as_str())?,
            min_qty: min_qty.map_or(Ok(Qty::ZERO), |min| qty(min.as_str()))?,
            min_notional,
            max_limit_qty: qty(limit.as_str())?,
            max_market_qty: qty(market.as_str())?,
        },
        min_price: some(&price.min_price).map_or(Ok(Px::ZERO), px)?,
        max_price: some(&price.max_price).map(px).transpose()?,
        settle_coin: some(&row.settle_coin).map(Currency::from),
        quote_step: some(&lot.quote_precision).map(step_of).transpose()?,
    })
}

fn step_of(text: &str) -> Result<Decimal, Box<str>> {
    let step = px(text)?.value();
    if step.is_zero() {
        return Err("a step of zero".into());
    }
    Ok(step)
}

/// A position row, signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionSlot {
    /// The instrument.
    pub symbol: Symbol,
    /// 0 one-way, 1 the buy side, 2 the sell side of hedge mode.
    pub position_idx: Box<str>,
    /// Below zero is short; zero for a slot that is flat.
    pub signed_qty: Decimal,
}

/// A page of positions, flat slots among them.
///
/// # Errors
/// [`ReadFailure`].
pub fn positions(sent: &Sent) -> Result<Page<PositionSlot>, ReadFailure> {
    page(
        sent,
        |row: &PositionRow| &row.symbol,
        |row, _| position(row).map(Some),
    )
}

pub(crate) fn position(row: &PositionRow) -> Result<PositionSlot, Box<str>> {
    let size = qty(row.size.as_str())?.value();
    let signed_qty = match row.side.as_str() {
        _ if size.is_zero() => size,
        text => match side(text)? {
            Side::Buy => size,
            Side::Sell => -size,
        },
    };
    Ok(PositionSlot {
        symbol: Symbol::from(some(&row.symbol).ok_or("a position without a symbol")?),
        position_idx: row.position_idx.as_str().into(),
        signed_qty,
    })
}

/// What the unified wallet holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wallet {
    /// What can be used, in US dollars.
    pub available_usd: Money,
    /// Balances by coin.
    pub coins: BTreeMap<Currency, Money>,
}

/// The unified wallet.
///
/// # Errors
/// [`ReadFailure`].
pub fn wallet(sent: &Sent) -> Result<Wallet, ReadFailure> {
    let read = |row: &Balance, _: &str| -> Result<Option<Wallet>, Box<str>> {
        let money = |text: &Text| -> Result<Money, Box<str>> {
            text.as_str()
                .parse()
                .map_err(|_| "a balance that is no number".into())
        };
        let coin = |coin: &Coin| {
            Ok((
                Currency::from(coin.coin.as_str()),
                money(&coin.wallet_balance)?,
            ))
        };
        Ok(Some(Wallet {
            available_usd: money(&row.total_available_balance)?,
            coins: row.coin.iter().map(coin).collect::<Result<_, Box<str>>>()?,
        }))
    };
    let page = page(sent, |row: &Balance| &row.total_available_balance, read)?;
    let wallet = page.rows.into_iter().next();
    wallet.ok_or_else(|| ReadFailure::unreadable("no unified wallet"))
}

/// The account that the keys belong to, as the venue names it.
///
/// # Errors
/// [`ReadFailure`]; [`ReadFailure::Keys`] also for keys that cannot trade.
pub fn user_id(sent: &Sent) -> Result<String, ReadFailure> {
    let key: ApiKey = result(sent)?;
    if key.read_only.as_str() == "1" {
        return Err(ReadFailure::Keys(Reason::new(
            "",
            "the API key is read-only",
        )));
    }
    let id = some(&key.user_id).filter(|id| *id != "0");
    id.map(str::to_owned)
        .ok_or_else(|| ReadFailure::unreadable("the account has no id"))
}

/// Whether the account is of a kind whose lists and categories are as this adapter takes them.
///
/// # Errors
/// [`ReadFailure`]; [`ReadFailure::Keys`] for an account that is no UTA 2.0: there inverse stands apart, with other lists.
///
/// # Source
/// <https://bybit-exchange.github.io/docs/v5/acct-mode>: `unifiedMarginStatus` 5 and 6.
pub fn check_account(sent: &Sent) -> Result<(), ReadFailure> {
    let account: AccountInfo = result(sent)?;
    match account.unified_margin_status.as_str() {
        "5" | "6" => Ok(()),
        "" => Err(ReadFailure::unreadable("the account's kind is not said")),
        status => {
            let text = format!("unifiedMarginStatus {status}: only UTA 2.0 (5 and 6) is supported");
            Err(ReadFailure::Keys(Reason::new("", &text)))
        }
    }
}

/// The venue's time.
///
/// # Errors
/// [`ReadFailure`].
pub fn server_time(sent: &Sent) -> Result<VenueTime, ReadFailure> {
    let time: ServerTime = result(sent)?;
    let nanos: u64 = time
        .time_nano
        .as_str()
        .parse()
        .map_err(|_| ReadFailure::unreadable("the time is no number"))?;
    Ok(VenueTime::from_ms(nanos / 1_000_000))
}
