//! What lists say, row by row: orders and fills. Pure.
//!
//! Quantities and prices are read strictly: a row that cannot be read makes a list that proves nothing of the orders that it may be of.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use surefill_core::{
    AsOf, Currency, ExecId, ExecReport, Fill, Handle, Key, Lookup, Money, OrdStatus, OrderId, Px,
    Qty, Reason, SeenTerms, Settlement, Side, Symbol, UnknownCause, VenueTime,
};
use surefill_transport::SendFailure;

use crate::codes::{self, Word};
use crate::error::ReadFailure;
use crate::list::{self, List};
use crate::outcome::Sent;
use crate::{id, wire};

/// An order as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRow {
    /// The client order id, in lower case.
    pub key: Option<Key>,
    /// The venue's id.
    pub order_id: OrderId,
    /// The terms.
    pub seen: SeenTerms,
    /// Executed.
    pub cum_qty: Option<Qty>,
    /// The status; `None` for a word that is not known.
    pub status: Option<OrdStatus>,
    /// The venue's word for the status.
    pub word: Box<str>,
    /// When it was placed.
    pub placed_at: VenueTime,
    /// When the status changed.
    pub changed_at: VenueTime,
}

/// A fill with the client order id of its order, where the venue tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillRow {
    /// The client order id, in lower case.
    pub key: Option<Key>,
    /// The fill.
    pub fill: Fill,
}

/// The body of a read, as `T`.
///
/// # Errors
/// [`ReadFailure`].
pub(crate) fn body<T: DeserializeOwned>(sent: &Sent) -> Result<T, ReadFailure> {
    serde_json::from_slice(ok_body(sent)?)
        .map_err(|_| ReadFailure::unreadable("the answer has another shape"))
}

/// The body of an answer that is one.
fn ok_body(sent: &Sent) -> Result<&[u8], ReadFailure> {
    let answer = match sent {
        Ok(answer) => answer,
        Err(SendFailure::NotSent(why)) => return Err(ReadFailure::not_sent(why)),
        Err(SendFailure::Unknown(cause)) => return Err(ReadFailure::Unreachable(cause.clone())),
    };
    let status = answer.status();
    if status != 200 {
        let text = String::from_utf8_lossy(answer.body());
        let reason = Reason::new(format_args!("HTTP {status}"), &text);
        return Err(ReadFailure::Refused(reason));
    }
    Ok(answer.body())
}

fn key(cloid: Option<&str>) -> Option<Key> {
    cloid.map(|cloid| Key::from(cloid.to_ascii_lowercase()))
}

/// Whether a client order id is one of ours.
fn is_ours(key: Option<&Key>) -> bool {
    key.is_some_and(|key| id::read(key.as_str()).is_some())
}

fn order(row: &wire::OrderRow, word: &str, changed_at: Option<u64>) -> Result<OrderRow, Box<str>> {
    let bad = |what: &str| Box::from(format!("order {}: {what}", row.oid));
    let order_qty: Qty = row.orig_sz.parse().map_err(|_| bad("origSz"))?;
    let left: Qty = row.sz.parse().map_err(|_| bad("sz"))?;
    let price: Px = row.limit_px.parse().map_err(|_| bad("limitPx"))?;
    let side = match row.side.as_str() {
        "B" => Side::Buy,
        "A" => Side::Sell,
        _ => return Err(bad("side")),
    };
    let status = codes::word(word).map(|word| match word {
        Word::Open => OrdStatus::Open,
        Word::Filled => OrdStatus::Filled,
        Word::Canceled => OrdStatus::Canceled,
        Word::Rejected => OrdStatus::Rejected,
    });
    Ok(OrderRow {
        key: key(row.cloid.as_deref()),
        order_id: OrderId::from(row.oid.to_string()),
        seen: SeenTerms {
            symbol: Some(Symbol::from(row.coin.as_str())),
            side: Some(side),
            order_qty: Some(order_qty),
            price: Some(price),
        },
        // A take-profit or stop-loss of a position has no size until it fires.
        cum_qty: order_qty.checked_sub(left),
        status,
        word: word.into(),
        placed_at: VenueTime::from_ms(row.timestamp),
        changed_at: VenueTime::from_ms(changed_at.unwrap_or(row.timestamp)),
    })
}

pub(crate) fn status_row(row: &wire::StatusRow) -> Result<OrderRow, Box<str>> {
    order(&row.order, &row.status, Some(row.status_timestamp))
}

/// Changes of status, row by row.
pub(crate) fn status_rows(raws: &[&RawValue]) -> List<OrderRow> {
    list::each(raws, "order", status_row)
}

/// Fills, row by row.
pub(crate) fn fill_rows(raws: &[&RawValue]) -> List<FillRow> {
    list::each(raws, "", fill)
}

/// The rows of a list, unread.
fn raws(sent: &Sent) -> Result<Vec<&RawValue>, ReadFailure> {
    serde_json::from_slice(ok_body(sent)?)
        .map_err(|_| ReadFailure::unreadable("the answer is no list"))
}

/// `openOrders`.
///
/// # Errors
/// [`ReadFailure`].
pub fn open_orders(sent: &Sent) -> Result<List<OrderRow>, ReadFailure> {
    let read = |row: &wire::OrderRow| order(row, "open", None);
    Ok(list::each(&raws(sent)?, "", read))
}

/// `historicalOrders`: a row for each change of status, newest first.
///
/// # Errors
/// [`ReadFailure`].
pub fn history(sent: &Sent) -> Result<List<OrderRow>, ReadFailure> {
    Ok(status_rows(&raws(sent)?))
}

/// `orderStatus`; `None` for an order that is not known, which never proves that there is none.
///
/// # Errors
/// [`ReadFailure`].
pub fn order_status(sent: &Sent) -> Result<Option<OrderRow>, ReadFailure> {
    let answer: wire::OrderStatus = body(sent)?;
    match (answer.status.as_str(), answer.order) {
        ("order", Some(row)) => status_row(&row).map(Some).map_err(ReadFailure::Unreadable),
        ("unknownOid", None) => Ok(None),
        (status, _) => Err(ReadFailure::unreadable(format!("order status {status:?}"))),
    }
}

fn fill(row: &wire::FillRow) -> Result<FillRow, Box<str>> {
    let bad = |what: &str| format!("fill {} of order {}: {what}", row.tid, row.oid);
    let fill = Fill {
        symbol: Symbol::from(row.coin.as_str()),
        order_id: OrderId::from(row.oid.to_string()),
        // Unique by time, coin and this number, within an order: dust has the number 0.
        exec_id: ExecId::from(format!("{}-{}", row.time, row.tid)),
        last_qty: row.sz.parse().map_err(|_| bad("sz"))?,
        last_px: row.px.parse().map_err(|_| bad("px"))?,
        fee: row.fee.parse::<Money>().map_err(|_| bad("fee"))?,
        fee_currency: Currency::from(row.fee_token.as_str()),
        transact_time: VenueTime::from_ms(row.time),
        settlement: Settlement::Final,
    };
    Ok(FillRow {
        key: key(row.cloid.as_deref()),
        fill,
    })
}

/// `userFillsByTime`, oldest first.
///
/// # Errors
/// [`ReadFailure`].
pub fn fills(sent: &Sent) -> Result<List<FillRow>, ReadFailure> {
    Ok(fill_rows(&raws(sent)?))
}

impl OrderRow {
    /// The row as a report; `None` for a status that is not known.
    pub fn report(&self) -> Option<ExecReport> {
        let status = self.status?;
        let reason = match status {
            OrdStatus::Open | OrdStatus::Filled | OrdStatus::NotShown => None,
            OrdStatus::Canceled | OrdStatus::Rejected => Some(Reason::new(&self.word, "")),
        };
        Some(ExecReport {
            handle: Handle {
                key: self.key.clone(),
                order_id: Some(self.order_id.clone()),
            },
            status,
            cum_qty: match status {
                OrdStatus::Rejected => Some(Qty::ZERO),
                OrdStatus::Open | OrdStatus::Filled | OrdStatus::Canceled | OrdStatus::NotShown => {
                    self.cum_qty
                }
            },
            avg_px: None,
            reason,
            fills: Vec::new(),
            seen: self.seen.clone(),
            transact_time: Some(self.changed_at),
        })
    }
}

/// The rows of a list over the account as reports, one per order: the newest row of each counts. A status that is not known is passed
/// over: such a list finds orders and proves nothing, and whoever asks about this one is told that it is not known.
pub fn reports(rows: &[OrderRow]) -> Vec<ExecReport> {
    let mut all: Vec<ExecReport> = Vec::with_capacity(rows.len());
    let mut at = std::collections::HashMap::new();
    for row in rows {
        let Some(report) = row.report() else {
            tracing::warn!(order_id = %row.order_id, word = %row.word, "an order with a status that is not known");
            continue;
        };
        match at
            .get(&row.order_id)
            .and_then(|at: &usize| all.get_mut(*at))
        {
            Some(have) => merge(have, report),
            None => {
                at.insert(row.order_id.clone(), all.len());
                all.push(report);
            }
        }
    }
    all
}

/// A row that a stream told, as a report; none for another's order with a status that is not known.
///
/// # Errors
/// [`ReadFailure::Unreadable`]: such a status of an order that is ours.
pub fn told(row: &OrderRow) -> Result<Option<ExecReport>, ReadFailure> {
    match row.report() {
        None if is_ours(row.key.as_ref()) => {
            Err(ReadFailure::unreadable(format!("status {:?}", row.word)))
        }
        report => Ok(report),
    }
}

/// What one round of lookups for the order known as `key` proves; `rows` are those of the lists and lookups, in the order in which they
/// were read.
pub fn lookup(
    key: &Key,
    rows: &[OrderRow],
    fills: Vec<FillRow>,
    begun: AsOf,
    ended: AsOf,
) -> Lookup {
    let inconclusive = |why: &str| Lookup::Inconclusive(UnknownCause::new(why));
    let mut reports: Vec<ExecReport> = Vec::new();
    for row in rows {
        if row.key.as_ref() != Some(key) {
            return inconclusive("a row of another order");
        }
        let Some(report) = row.report() else {
            return inconclusive(&format!("order status {}", row.word));
        };
        let same = |have: &&mut ExecReport| have.handle.order_id == report.handle.order_id;
        match reports.iter_mut().find(same) {
            Some(have) => merge(have, report),
            None => reports.push(report),
        }
    }
    for FillRow { key: of, fill } in fills {
        let known = rows.iter().any(|row| row.order_id == fill.order_id);
        if of.as_ref().map_or(!known, |of| of != key) {
            return inconclusive("a fill of another order");
        }
        let by_fills =
            |report: &&mut ExecReport| report.handle.order_id.as_ref() == Some(&fill.order_id);
        match reports.iter_mut().find(by_fills) {
            Some(report) => report.fills.push(fill),
            None => reports.push(not_shown(key, fill)),
        }
    }
    for report in &mut reports {
        add_up(report);
    }
    if reports.is_empty() {
        return Lookup::Absent { begun, ended };
    }
    Lookup::Found(reports)
}

/// An order of which only a fill speaks.
fn not_shown(key: &Key, fill: Fill) -> ExecReport {
    ExecReport {
        handle: Handle {
            key: Some(key.clone()),
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
        transact_time: Some(fill.transact_time),
        fills: vec![fill],
    }
}

/// What fills say beyond the row counts: rows and fills are read at different moments.
fn add_up(report: &mut ExecReport) {
    let mut fills = report.fills.iter();
    let sum = fills.try_fold(Qty::ZERO, |sum, fill| sum.checked_add(fill.last_qty));
    let executed = sum.filter(|sum| !sum.is_zero());
    report.cum_qty = report.cum_qty.max(executed);
}

/// Two rows of one order: an end is never overruled, the newer row counts otherwise, and what is executed never shrinks.
fn merge(have: &mut ExecReport, report: ExecReport) {
    let cum_qty = have.cum_qty.max(report.cum_qty);
    let newer = match (have.status.is_ended(), report.status.is_ended()) {
        (true, false) => false,
        (false, true) => true,
        (true, true) | (false, false) => report.transact_time > have.transact_time,
    };
    if newer {
        let fills = std::mem::take(&mut have.fills);
        *have = report;
        have.fills.extend(fills);
    }
    have.cum_qty = cum_qty;
}
