//! Rows of orders and fills, as the venue spells them. Shapes: section 15 of the notes.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    ids::VenueIds,
    markets::{SPOT, category, coin},
    number::point,
};
use crate::core::{
    Core, Ended, Fill, Instrument, Kind, OrdStatus, OrdType, Order, Refusal, Side, TimeInForce,
};

/// The venue's letter for a side.
pub(super) const fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "B",
        Side::Sell => "A",
    }
}

/// The venue's word for where an order stands.
pub(super) fn status(order: &Order) -> &'static str {
    let untouched = order.cum_qty.is_zero();
    match order.ended {
        None => "open",
        Some(Ended::Filled) => "filled",
        Some(Ended::ByRequest) => "canceled",
        Some(Ended::Scheduled) => "scheduledCancel",
        Some(Ended::SelfTrade) => "selfTradeCanceled",
        Some(Ended::WouldTake) => "badAloPxRejected",
        // What an IOC order fills is all that it ever will: the rest is gone, and the word is the same.
        Some(Ended::NoImmediate | Ended::NotEnough) if untouched => "iocCancelRejected",
        Some(Ended::NoImmediate | Ended::NotEnough) => "filled",
        Some(Ended::ReduceOnly) if untouched && order.updated_at_ms == order.accepted_at_ms => {
            "reduceOnlyRejected"
        }
        Some(Ended::ReduceOnly) if !untouched && order.time_in_force == TimeInForce::Ioc => {
            "filled"
        }
        Some(Ended::ReduceOnly) => "reduceOnlyCanceled",
        Some(Ended::Refused(refusal)) => rejected(refusal, category(&order.instrument) == SPOT),
    }
}

const fn rejected(refusal: Refusal, spot: bool) -> &'static str {
    match refusal {
        Refusal::BelowMinimum => "minTradeNtlRejected",
        Refusal::Funds if spot => "insufficientSpotBalanceRejected",
        Refusal::Funds => "perpMarginRejected",
        Refusal::NothingToReduce => "reduceOnlyRejected",
        Refusal::TooManyOrders => "tooManyOpenOrdersRejected",
        Refusal::UnknownAccount
        | Refusal::UnknownInstrument
        | Refusal::UnknownOrder
        | Refusal::NotOpen
        | Refusal::Exists
        | Refusal::BadNumber
        | Refusal::Duplicate
        | Refusal::BeyondOrder => "rejected",
    }
}

/// What has not traded, also of an order that ended.
pub(super) fn left(order: &Order) -> Decimal {
    order.order_qty.saturating_sub(order.cum_qty)
}

/// A row of `openOrders` and of `orderUpdates`.
pub(super) fn short(ids: VenueIds, order: &Order) -> Value {
    let mut row = json!({
        "coin": coin(&order.instrument), "side": side(order.side), "limitPx": point(order.price),
        "sz": point(left(order)), "oid": ids.oid(order.no), "timestamp": order.accepted_at_ms,
        "origSz": point(order.order_qty),
    });
    if let Some(row) = row.as_object_mut() {
        if order.reduce_only {
            row.insert("reduceOnly".to_owned(), json!(true));
        }
        if let Some(cloid) = &order.wire_id {
            row.insert("cloid".to_owned(), json!(cloid));
        }
    }
    row
}

/// An order with `sz` as it was or is.
pub(super) fn full(ids: VenueIds, order: &Order, sz: Decimal) -> Value {
    let (order_type, tif) = match (order.ord_type, order.time_in_force) {
        (OrdType::Market, _) => ("Market", "FrontendMarket"),
        (OrdType::Limit, TimeInForce::Gtc) => ("Limit", "Gtc"),
        (OrdType::Limit, TimeInForce::Ioc | TimeInForce::Fok) => ("Limit", "Ioc"),
        (OrdType::Limit, TimeInForce::PostOnly) => ("Limit", "Alo"),
    };
    json!({
        "coin": coin(&order.instrument), "side": side(order.side), "limitPx": point(order.price), "sz": point(sz),
        "oid": ids.oid(order.no), "timestamp": order.accepted_at_ms, "triggerCondition": "N/A", "isTrigger": false,
        "triggerPx": "0.0", "children": [], "isPositionTpsl": false, "reduceOnly": order.reduce_only,
        "orderType": order_type, "origSz": point(order.order_qty), "tif": tif, "cloid": order.wire_id,
    })
}

/// The order as it stands, with its status.
pub(super) fn with_status(ids: VenueIds, order: &Order) -> Value {
    json!({
        "order": full(ids, order, left(order)), "status": status(order),
        "statusTimestamp": order.updated_at_ms,
    })
}

/// The rows of an order in the history, newest first: how it ended, and that it was open if it rested.
pub(super) fn history(ids: VenueIds, core: &Core, order: &Order) -> Vec<(u64, Value)> {
    let mut rows = Vec::new();
    if !order.status.is_open() {
        rows.push((order.updated_at_ms, with_status(ids, order)));
    }
    if rested(core, order) {
        let taken = core.fills_of(order.no).filter(|fill| !fill.maker);
        let at_once = taken.fold(Decimal::ZERO, |sum, fill| sum.saturating_add(fill.qty));
        let row = json!({
            "order": full(ids, order, order.order_qty.saturating_sub(at_once)), "status": "open",
            "statusTimestamp": order.accepted_at_ms,
        });
        rows.push((order.accepted_at_ms, row));
    }
    rows
}

/// Whether an order ever stood in the book.
fn rested(core: &Core, order: &Order) -> bool {
    match (order.status, order.ended) {
        (OrdStatus::New | OrdStatus::PartiallyFilled, _) => true,
        (OrdStatus::Rejected, _) => false,
        (OrdStatus::Filled, _) => core.fills_of(order.no).any(|fill| fill.maker),
        (OrdStatus::Canceled, Some(Ended::ByRequest | Ended::Scheduled | Ended::SelfTrade)) => true,
        (OrdStatus::Canceled, Some(Ended::ReduceOnly)) => {
            order.updated_at_ms > order.accepted_at_ms
        }
        (
            OrdStatus::Canceled,
            Some(
                Ended::WouldTake
                | Ended::NoImmediate
                | Ended::NotEnough
                | Ended::Filled
                | Ended::Refused(_),
            )
            | None,
        ) => false,
    }
}

/// A fill.
pub(super) fn fill(ids: VenueIds, fill: &Fill, order: &Order, instrument: &Instrument) -> Value {
    let mut row = json!({
        "coin": coin(&fill.instrument), "px": point(fill.price), "sz": point(fill.qty), "side": side(fill.side),
        "time": fill.at_ms, "startPosition": point(fill.held_before), "dir": direction(fill, instrument.kind),
        "closedPnl": point(fill.realized), "hash": ids.transaction(fill.sweep), "oid": ids.oid(fill.order),
        "crossed": !fill.maker, "fee": point(fill.fee), "tid": ids.tid(fill.no),
        "feeToken": instrument.fee_coin(fill.side), "twapId": null,
    });
    if let (Some(cloid), Some(row)) = (&order.wire_id, row.as_object_mut()) {
        row.insert("cloid".to_owned(), json!(cloid));
    }
    row
}

/// What a fill did to the position, in the venue's words.
fn direction(fill: &Fill, kind: Kind) -> &'static str {
    let after = fill.held_before.saturating_add(fill.side.signed(fill.qty));
    let (before, zero) = (fill.held_before, Decimal::ZERO);
    match (kind, fill.side) {
        (Kind::Spot, Side::Buy) => "Buy",
        (Kind::Spot, Side::Sell) => "Sell",
        (Kind::Linear | Kind::Inverse, Side::Buy) if before >= zero => "Open Long",
        (Kind::Linear | Kind::Inverse, Side::Buy) if after > zero => "Short > Long",
        (Kind::Linear | Kind::Inverse, Side::Buy) => "Close Short",
        (Kind::Linear | Kind::Inverse, Side::Sell) if before <= zero => "Open Short",
        (Kind::Linear | Kind::Inverse, Side::Sell) if after < zero => "Long > Short",
        (Kind::Linear | Kind::Inverse, Side::Sell) => "Close Long",
    }
}

/// Both sides of a book, twenty levels each.
pub(super) fn book(core: &Core, key: &str, now_ms: u64) -> Value {
    let levels = |side| {
        let level = |level: &crate::core::Level| json!({ "px": point(level.price), "sz": point(level.qty), "n": level.orders });
        core.depth(key, side, 20)
            .iter()
            .map(level)
            .collect::<Vec<_>>()
    };
    json!({ "coin": coin(key), "time": now_ms, "levels": [levels(Side::Buy), levels(Side::Sell)] })
}

/// Coin to mid of one category; of the main dex also spot.
pub(super) fn mids(core: &Core, wanted: &str) -> Value {
    let fits = |instrument: &&Instrument| shown_in(&instrument.category, wanted);
    let mid = |instrument: &Instrument| {
        let key = instrument.key();
        let best = |side| core.depth(&key, side, 1).first().map(|level| level.price);
        let mid = match (best(Side::Buy), best(Side::Sell)) {
            (Some(bid), Some(ask)) => bid
                .saturating_add(ask)
                .checked_div(Decimal::TWO)
                .unwrap_or(bid),
            (one, other) => one.or(other).unwrap_or_else(|| instrument.mark()),
        };
        (instrument.symbol.clone(), json!(point(mid)))
    };
    Value::Object(core.instruments().values().filter(fits).map(mid).collect())
}

/// Whether what is of `category` is shown where the dex of category `wanted` is asked for.
pub(super) fn shown_in(category: &str, wanted: &str) -> bool {
    category == wanted || (category == SPOT && wanted == super::markets::PERP)
}
