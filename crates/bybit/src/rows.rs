//! What lists say, row by row: orders and executions. Pure.
//!
//! Quantities and prices are read strictly; what only describes may be missing.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use surefill_core::{
    Currency, ExecId, ExecReport, Fill, Handle, Key, Money, OrdStatus, OrderId, Px, Qty, Reason,
    SeenTerms, Settlement, Side, Symbol, UnknownCause, VenueError, VenueTime,
};

use crate::category::SETTLE_COIN;
use crate::codes::{Class, class};
use crate::outcome::{Heard, Said, Sent, hear};
use crate::wire::{Execution, List, Order, Text};

/// A read that gave no information.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadFailure {
    /// No answer, or none of the venue's own.
    #[error("no answer: {0}")]
    Unreachable(UnknownCause),
    /// The venue refused.
    #[error("refused: {0}")]
    Refused(Reason),
    /// The venue refused the keys or the account.
    #[error("the keys were refused: {0}")]
    Keys(Reason),
    /// An answer that cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(Box<str>),
}

impl ReadFailure {
    pub(crate) fn unreachable(why: impl std::fmt::Display) -> Self {
        Self::Unreachable(UnknownCause::new(why))
    }

    pub(crate) fn unreadable(what: impl Into<Box<str>>) -> Self {
        Self::Unreadable(what.into())
    }
}

impl From<ReadFailure> for VenueError {
    fn from(failure: ReadFailure) -> Self {
        match failure {
            ReadFailure::Unreachable(cause) => Self::Unreachable(cause.0),
            ReadFailure::Refused(reason) => Self::Refused(reason),
            ReadFailure::Keys(reason) => Self::Keys(reason),
            ReadFailure::Unreadable(what) => Self::Unreadable(what),
        }
    }
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The category that the list says it is of; empty where it does not say.
    pub category: Box<str>,
    /// The rows, as far as they could be read.
    pub rows: Vec<T>,
    /// Rows that could not be read, with why.
    pub unreadable: Vec<Unreadable>,
    /// What asks for the next page, unchanged. It may be there on the last page, too.
    pub next: String,
}

/// A row that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The client order id, where the row shows one.
    pub key: Option<Key>,
    /// Why.
    pub why: Box<str>,
}

/// A yes, or why there is none.
fn yes(sent: &Sent) -> Result<Said, ReadFailure> {
    match hear(sent) {
        Heard::NotSent(why) => Err(ReadFailure::Unreachable(UnknownCause::new(why))),
        Heard::Nothing(cause) => Err(ReadFailure::Unreachable(cause)),
        Heard::Said(said) => match class(said.code) {
            Class::Ok if said.status == 200 => Ok(said),
            Class::Ok => Err(ReadFailure::unreadable(format!(
                "a yes with HTTP status {}",
                said.status
            ))),
            Class::Reject { halts: true } => Err(ReadFailure::Keys(said.reason)),
            Class::Reject { halts: false }
            | Class::Duplicate
            | Class::NotTaken { .. }
            | Class::NotOpen
            | Class::Processing
            | Class::Unknown => Err(ReadFailure::Refused(said.reason)),
        },
    }
}

pub(crate) fn result<T: DeserializeOwned>(sent: &Sent) -> Result<T, ReadFailure> {
    let said = yes(sent)?;
    said.result()
        .ok_or_else(|| ReadFailure::unreadable("the result has another shape"))
}

/// Reads a list row by row; `read` is told the list's category. `Ok(None)` leaves a row out.
pub(crate) fn page<W: DeserializeOwned, T>(
    sent: &Sent,
    key: fn(&W) -> &Text,
    read: impl Fn(&W, &str) -> Result<Option<T>, Box<str>>,
) -> Result<Page<T>, ReadFailure> {
    let list: List = result(sent)?;
    let category = list.category.as_str().to_owned();
    let mut page = read_rows(&list.list, &category, key, read)?;
    page.next = list.next_page_cursor.as_str().to_owned();
    Ok(page)
}

/// Reads rows one by one.
pub(crate) fn read_rows<W: DeserializeOwned, T>(
    list: &[Box<RawValue>],
    category: &str,
    key: fn(&W) -> &Text,
    read: impl Fn(&W, &str) -> Result<Option<T>, Box<str>>,
) -> Result<Page<T>, ReadFailure> {
    let mut page = Page {
        category: category.into(),
        rows: Vec::with_capacity(list.len()),
        unreadable: Vec::new(),
        next: String::new(),
    };
    for raw in list {
        let Ok(row) = serde_json::from_str::<W>(raw.get()) else {
            return Err(ReadFailure::unreadable("a row has another shape"));
        };
        match read(&row, category) {
            Ok(Some(row)) => page.rows.push(row),
            Ok(None) => {}
            Err(why) => page.unreadable.push(Unreadable {
                key: some(key(&row)).map(Key::from),
                why,
            }),
        }
    }
    Ok(page)
}

/// An order's status in the venue's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// In the book.
    New,
    /// In the book, with fills.
    PartiallyFilled,
    /// A conditional order that waits.
    Untriggered,
    /// Passing: a conditional order on its way to `New`.
    Triggered,
    /// Ended by execution.
    Filled,
    /// Ended; derivatives may have fills.
    Cancelled,
    /// Spot: ended with fills.
    PartiallyFilledCanceled,
    /// Refused after the acknowledgment.
    Rejected,
    /// A conditional order canceled before it fired.
    Deactivated,
    /// None that we know: no information.
    Other(Box<str>),
}

impl Status {
    fn read(text: &str) -> Self {
        match text {
            "New" => Self::New,
            "PartiallyFilled" => Self::PartiallyFilled,
            "Untriggered" => Self::Untriggered,
            "Triggered" => Self::Triggered,
            "Filled" => Self::Filled,
            "Cancelled" => Self::Cancelled,
            "PartiallyFilledCanceled" => Self::PartiallyFilledCanceled,
            "Rejected" => Self::Rejected,
            "Deactivated" => Self::Deactivated,
            other => Self::Other(other.into()),
        }
    }

    /// The venue's word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::New => "New",
            Self::PartiallyFilled => "PartiallyFilled",
            Self::Untriggered => "Untriggered",
            Self::Triggered => "Triggered",
            Self::Filled => "Filled",
            Self::Cancelled => "Cancelled",
            Self::PartiallyFilledCanceled => "PartiallyFilledCanceled",
            Self::Rejected => "Rejected",
            Self::Deactivated => "Deactivated",
            Self::Other(text) => text,
        }
    }

    /// What it means; `None` for one that we do not know.
    pub const fn ord_status(&self) -> Option<OrdStatus> {
        match self {
            Self::New | Self::PartiallyFilled | Self::Untriggered | Self::Triggered => {
                Some(OrdStatus::Open)
            }
            Self::Filled => Some(OrdStatus::Filled),
            Self::Cancelled | Self::PartiallyFilledCanceled | Self::Deactivated => {
                Some(OrdStatus::Canceled)
            }
            Self::Rejected => Some(OrdStatus::Rejected),
            Self::Other(_) => None,
        }
    }
}

/// A row of the open or the closed orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRow {
    /// The client order id, where there is one.
    pub key: Option<Key>,
    /// The venue's order id.
    pub order_id: OrderId,
    /// The status.
    pub status: Status,
    /// Executed so far.
    pub cum_qty: Qty,
    /// Average price, where anything is executed.
    pub avg_px: Option<Px>,
    /// Why it ended other than by execution.
    pub reason: Option<Reason>,
    /// The terms that can be compared.
    pub seen: SeenTerms,
    /// When it last changed.
    pub updated: Option<VenueTime>,
}

/// The matching side's refusal of a second attempt under one id. It carries an order id of its own.
const DUPLICATE: &str = "EC_DuplicatedClOrdID";

impl OrderRow {
    /// Whether the row belongs to a second attempt that was refused as a duplicate: it says nothing about the live order.
    pub fn is_refused_duplicate(&self) -> bool {
        let refused = self.reason.as_ref().map(|reason| &*reason.code) == Some(DUPLICATE);
        self.status == Status::Rejected && refused
    }

    /// The row as a report; `None` for a status that we do not know.
    pub fn report(&self) -> Option<ExecReport> {
        let status = self.status.ord_status()?;
        Some(ExecReport {
            handle: Handle {
                key: self.key.clone(),
                order_id: Some(self.order_id.clone()),
            },
            status,
            cum_qty: Some(self.cum_qty),
            avg_px: self.avg_px,
            reason: self.reason.clone(),
            fills: Vec::new(),
            seen: self.seen.clone(),
            transact_time: self.updated,
        })
    }
}

/// A page of open or closed orders.
///
/// # Errors
/// [`ReadFailure`].
pub fn orders(sent: &Sent) -> Result<Page<OrderRow>, ReadFailure> {
    page(
        sent,
        |row: &Order| &row.order_link_id,
        |row, _| order(row).map(Some),
    )
}

pub(crate) fn order(row: &Order) -> Result<OrderRow, Box<str>> {
    let order_id = some(&row.order_id).ok_or("a row without an order id")?;
    let status = Status::read(row.order_status.as_str());
    let avg_px = match row.avg_price.as_str() {
        "" => None,
        text => Some(px(text)?).filter(|px| !px.is_zero()),
    };
    // A market order is shown with its protection price.
    let limit = row.order_type.as_str() == "Limit";
    let in_base = row.market_unit.as_str() != "quoteCoin";
    Ok(OrderRow {
        key: some(&row.order_link_id).map(Key::from),
        order_id: OrderId::from(order_id),
        cum_qty: qty(row.cum_exec_qty.as_str())?,
        avg_px,
        reason: reason(row, &status),
        seen: SeenTerms {
            symbol: Some(Symbol::from(row.symbol.as_str())),
            side: Some(side(row.side.as_str())?),
            order_qty: Some(qty(row.qty.as_str())?).filter(|_| in_base),
            price: limit.then(|| px(row.price.as_str())).transpose()?,
        },
        status,
        updated: row
            .updated_time
            .as_str()
            .parse()
            .ok()
            .map(VenueTime::from_ms),
    })
}

/// Kept as it came, for people; the code alone is looked at, and only for [`DUPLICATE`].
fn reason(row: &Order, status: &Status) -> Option<Reason> {
    let ended = match status.ord_status()? {
        OrdStatus::Canceled | OrdStatus::Rejected => true,
        OrdStatus::Open | OrdStatus::Filled | OrdStatus::NotShown => false,
    };
    let said = |text: &'_ Text, none: &str| {
        some(text)
            .filter(|text| *text != none)
            .unwrap_or_default()
            .to_owned()
    };
    let code = said(&row.reject_reason, "EC_NoError");
    let text = said(&row.cancel_type, "UNKNOWN");
    (ended && !(code.is_empty() && text.is_empty())).then(|| Reason::new(code, &text))
}

/// An execution that is a fill of ours, with the client order id where the row shows one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillRow {
    /// The client order id, where the row shows one.
    pub key: Option<Key>,
    /// The fill.
    pub fill: Fill,
}

/// A page of executions: fills only. Funding, liquidation, delivery and the like are left out.
///
/// # Errors
/// [`ReadFailure`].
pub fn fills(sent: &Sent) -> Result<Page<FillRow>, ReadFailure> {
    let read = |row: &Execution, category: &str| fill(row, category, row.exec_type.as_str());
    page(sent, |row: &Execution| &row.order_link_id, read)
}

pub(crate) fn fill(
    row: &Execution,
    category: &str,
    exec_type: &str,
) -> Result<Option<FillRow>, Box<str>> {
    if exec_type != "Trade" {
        return Ok(None);
    }
    let at = row
        .exec_time
        .as_str()
        .parse()
        .map_err(|_| "a fill without a time")?;
    let fee = match row.exec_fee.as_str() {
        "" => Money::ZERO,
        text => text.parse().map_err(|_| "a fill with a fee that is none")?,
    };
    let fee_currency = match some(&row.fee_currency) {
        Some(coin) => Currency::from(coin),
        // Linear contracts pay in the coin of settlement; elsewhere a fee that names no coin says nothing.
        None if fee.is_zero() || matches!(category, "" | "linear") => Currency::from(SETTLE_COIN),
        None => return Err("a fee without a currency".into()),
    };
    Ok(Some(FillRow {
        key: some(&row.order_link_id).map(Key::from),
        fill: Fill {
            symbol: Symbol::from(some(&row.symbol).ok_or("a fill without a symbol")?),
            order_id: OrderId::from(some(&row.order_id).ok_or("a fill without an order id")?),
            exec_id: ExecId::from(some(&row.exec_id).ok_or("a fill without an execution id")?),
            last_qty: qty(row.exec_qty.as_str())?,
            last_px: px(row.exec_price.as_str())?,
            fee,
            fee_currency,
            transact_time: VenueTime::from_ms(at),
            settlement: Settlement::Final,
        },
    }))
}

/// What fills add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Quantity.
    pub qty: Qty,
    /// Quantity times price.
    pub value: Decimal,
    /// Fees by currency; below zero a rebate.
    pub fees: BTreeMap<Currency, Money>,
}

impl Totals {
    /// Adds up fills, each execution id once; `None` when a sum does not fit.
    pub fn of<'f>(fills: impl IntoIterator<Item = &'f Fill>) -> Option<Self> {
        let mut seen = std::collections::HashSet::new();
        let mut totals = Self::default();
        for fill in fills {
            if !seen.insert((&fill.symbol, &fill.order_id, &fill.exec_id)) {
                continue;
            }
            totals.qty = totals.qty.checked_add(fill.last_qty)?;
            let value = fill.last_px.notional(fill.last_qty)?.value();
            totals.value = totals.value.checked_add(value)?;
            let fee = totals.fees.entry(fill.fee_currency.clone()).or_default();
            *fee = fee.checked_add(fill.fee)?;
        }
        Some(totals)
    }

    /// Average price; `None` when nothing is filled.
    pub fn avg_px(&self) -> Option<Px> {
        let avg = self.value.checked_div(self.qty.value())?;
        Px::new(avg).ok()
    }
}

/// A report of an order that only this fill speaks of.
pub(crate) fn not_shown(key: &str, fill: Fill) -> ExecReport {
    ExecReport {
        handle: Handle {
            key: Some(Key::from(key)),
            order_id: Some(fill.order_id.clone()),
        },
        status: OrdStatus::NotShown,
        cum_qty: None,
        avg_px: None,
        reason: None,
        seen: SeenTerms {
            symbol: Some(fill.symbol.clone()),
            ..SeenTerms::default()
        },
        transact_time: None,
        fills: vec![fill],
    }
}

/// Fills can be ahead of the order's row: what is executed is at least their sum.
pub(crate) fn add_up(report: &mut ExecReport) {
    let Some(totals) = Totals::of(&report.fills).filter(|totals| !totals.qty.is_zero()) else {
        return;
    };
    if report.cum_qty.is_none_or(|cum_qty| cum_qty < totals.qty) {
        report.cum_qty = Some(totals.qty);
        report.avg_px = totals.avg_px();
    }
}

pub(crate) fn some(text: &Text) -> Option<&str> {
    Some(text.as_str()).filter(|text| !text.is_empty())
}

pub(crate) fn side(text: &str) -> Result<Side, Box<str>> {
    match text {
        "Buy" => Ok(Side::Buy),
        "Sell" => Ok(Side::Sell),
        _ => Err(format!("side {text:?}").into()),
    }
}

pub(crate) fn qty(text: &str) -> Result<Qty, Box<str>> {
    text.parse()
        .map_err(|_| format!("quantity {text:?}").into())
}

pub(crate) fn px(text: &str) -> Result<Px, Box<str>> {
    text.parse().map_err(|_| format!("price {text:?}").into())
}
