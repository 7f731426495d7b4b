//! Create, amend, cancel and cancel-all, after the gate.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    create::{check_price, check_qty},
    params::Params,
    reply::Code,
    stream,
    venue::Bybit,
};
use crate::{
    core::{Core, Happening, NewOrder, OrdStatus, Order, OrderNo, Refusal, What},
    edge::Venue,
};

/// The order that a request names.
#[derive(Debug)]
pub(super) struct Target {
    instrument: String,
    order_id: Option<String>,
    link_id: Option<String>,
}

/// Other terms for an order.
#[derive(Debug)]
pub(super) struct Amend {
    target: Target,
    order_qty: Option<Decimal>,
    price: Option<Decimal>,
}

/// Which orders a cancel-all means.
#[derive(Debug)]
pub(super) struct Scope {
    category: String,
    of: Of,
}

#[derive(Debug)]
enum Of {
    Symbol(String),
    Base(String),
    Settle(String),
    All,
}

pub(super) fn read_target(params: &Params, core: &Core) -> Result<Target, Code> {
    let instrument = params.instrument(core)?.key();
    let (order_id, link_id) = (params.text("orderId")?, params.text("orderLinkId")?);
    if order_id.is_none() && link_id.is_none() {
        return Err(Code::param("orderId or orderLinkId is required"));
    }
    Ok(Target {
        instrument,
        order_id: order_id.map(str::to_owned),
        link_id: link_id.map(str::to_owned),
    })
}

pub(super) fn read_amend(params: &Params, core: &Core) -> Result<Amend, Code> {
    let target = read_target(params, core)?;
    let instrument = params.instrument(core)?;
    let (order_qty, price) = (params.decimal("qty")?, params.decimal("price")?);
    if let Some(qty) = order_qty {
        check_qty(qty, instrument.max_qty, instrument)?;
    }
    if let Some(price) = price {
        check_price(price, instrument)?;
    }
    if order_qty.is_none() && price.is_none() {
        return Err(Code::param("nothing to amend"));
    }
    Ok(Amend {
        target,
        order_qty,
        price,
    })
}

pub(super) fn read_scope(params: &Params) -> Result<Scope, Code> {
    let category = params.category()?.to_owned();
    let scope = |of| {
        Ok(Scope {
            category: category.clone(),
            of,
        })
    };
    let owned = |text: Option<&str>| text.map(str::to_owned);
    if let Some(symbol) = owned(params.text("symbol")?) {
        return scope(Of::Symbol(symbol));
    }
    if let Some(base) = owned(params.text("baseCoin")?) {
        return scope(Of::Base(base));
    }
    match owned(params.text("settleCoin")?) {
        Some(settle) if category != "spot" => scope(Of::Settle(settle)),
        _ if category == "spot" => scope(Of::All),
        Some(_) | None => Err(Code::param("symbol, baseCoin or settleCoin is required")),
    }
}

/// Gives the order to the core; the answer is a receipt, whatever the order meets in the book.
pub(super) fn create(venue: &Bybit, new: NewOrder) -> Result<Value, Code> {
    let link_id = new.wire_id.clone().unwrap_or_default();
    let key = new.instrument.clone();
    let category = category_of(&key);
    for event in apply(venue, What::Place(Box::new(new)))? {
        let no = match event {
            Happening::Accepted(order) => order.no,
            Happening::Existing { order } => order,
            Happening::Refused { refusal } => return Err(venue.refused(category, refusal)),
            Happening::AccountOpened { .. }
            | Happening::Listed { .. }
            | Happening::Filled(_)
            | Happening::Amended { .. }
            | Happening::Closed { .. }
            | Happening::MarketSet { .. }
            | Happening::RulesSet { .. }
            | Happening::DayClosed
            | Happening::Recorded(_)
            | Happening::Noted(_) => continue,
        };
        return Ok(json!({ "orderId": venue.ids().order(&key, no), "orderLinkId": link_id }));
    }
    Err(Code::refusal(Refusal::UnknownAccount))
}

pub(super) fn amend(venue: &Bybit, uid: &str, amend: &Amend) -> Result<Value, Code> {
    let category = category_of(&amend.target.instrument);
    let too_late = || match category {
        "spot" => Code::spot(Refusal::NotOpen),
        _ => Code::new(110_001, "order not exists or too late to replace"),
    };
    let Some(order) = find(venue, uid, &amend.target, OrdStatus::is_open) else {
        let ended = lost_race(venue, uid, &amend.target).ok_or_else(too_late)?;
        return Ok(receipt(venue, &ended));
    };
    let what = What::Amend {
        order: order.no,
        order_qty: amend.order_qty,
        price: amend.price,
    };
    match refusal(&apply(venue, what)?) {
        Some(Refusal::NotOpen | Refusal::UnknownOrder) => Err(too_late()),
        Some(refusal) => Err(venue.refused(category, refusal)),
        None => Ok(receipt(venue, &order)),
    }
}

pub(super) fn cancel(venue: &Bybit, uid: &str, target: &Target) -> Result<Value, Code> {
    let category = category_of(&target.instrument);
    let Some(order) = find(venue, uid, target, OrdStatus::is_open) else {
        let ended = lost_race(venue, uid, target)
            .ok_or_else(|| venue.refused(category, Refusal::UnknownOrder))?;
        if ended.status == OrdStatus::Filled {
            stream::filled_again(venue, &ended);
        }
        return Ok(receipt(venue, &ended));
    };
    match refusal(&apply(venue, What::Cancel { order: order.no })?) {
        Some(refusal) => Err(venue.refused(category, refusal)),
        None => Ok(receipt(venue, &order)),
    }
}

pub(super) fn cancel_all(venue: &Bybit, uid: &str, scope: &Scope) -> Result<Value, Code> {
    let meant: Vec<Order> = {
        let world = venue.stage().world();
        let core = world.core();
        let open = core
            .accounts()
            .get(uid)
            .map(|account| account.open.iter())
            .into_iter()
            .flatten();
        let fits = |order: &&Order| {
            core.instruments()
                .get(&order.instrument)
                .filter(|instrument| instrument.category == scope.category)
                .is_some_and(|instrument| match &scope.of {
                    Of::Symbol(symbol) => instrument.symbol == *symbol,
                    Of::Base(base) => instrument.base == *base,
                    Of::Settle(settle) => instrument.money() == settle,
                    Of::All => true,
                })
        };
        open.filter_map(|no| core.order(*no))
            .filter(fits)
            .take(500)
            .cloned()
            .collect()
    };
    let mut list = Vec::new();
    for order in meant {
        if refusal(&apply(venue, What::Cancel { order: order.no })?).is_none() {
            list.push(receipt(venue, &order));
        }
    }
    Ok(json!({ "list": list, "success": "1" }))
}

/// The ended order that a cancel or amend came too late for, if that is to be acked.
fn lost_race(venue: &Bybit, uid: &str, target: &Target) -> Option<Order> {
    let ended = find(venue, uid, target, |status| !status.is_open())?;
    venue.loses_race().then_some(ended)
}

/// `orderId` wins over `orderLinkId`; of several orders with one link id the newest that fits is meant.
fn find(
    venue: &Bybit,
    uid: &str,
    target: &Target,
    fits: impl Fn(OrdStatus) -> bool,
) -> Option<Order> {
    let world = venue.stage().world();
    let core = world.core();
    let numbers: Vec<OrderNo> = match (&target.order_id, &target.link_id) {
        (Some(id), _) => venue.ids().order_no(id).into_iter().collect(),
        (None, Some(id)) => core.by_wire_id(uid, id).to_vec(),
        (None, None) => Vec::new(),
    };
    let own = |order: &&Order| {
        order.account == uid && order.instrument == target.instrument && fits(order.status)
    };
    numbers
        .iter()
        .rev()
        .filter_map(|no| core.order(*no))
        .find(own)
        .cloned()
}

fn receipt(venue: &Bybit, order: &Order) -> Value {
    json!({ "orderId": venue.ids().order(&order.instrument, order.no), "orderLinkId": order.wire_id.clone().unwrap_or_default() })
}

fn apply(venue: &Bybit, what: What) -> Result<Vec<Happening>, Code> {
    match venue.apply(what) {
        Ok(events) => Ok(events.into_iter().map(|event| event.what).collect()),
        Err(error) => {
            tracing::error!(%error, "journal failed");
            Err(Code::new(10_016, "Server error."))
        }
    }
}

fn refusal(happened: &[Happening]) -> Option<Refusal> {
    happened.iter().find_map(|what| {
        if let Happening::Refused { refusal } = what {
            Some(*refusal)
        } else {
            None
        }
    })
}

fn category_of(key: &str) -> &str {
    key.split_once('/').map_or(key, |(category, _)| category)
}
