//! New orders and cancels, after admission.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    action::{Cancel, CloidCancel, Grouping, GroupingName, Order, Orders, Terms, Tif},
    exchange::By,
    markets::Market,
    number::{point, price_fits, size_fits},
    reply::{Stop, error, statuses},
    venue::Hyperliquid,
};
use crate::{
    core::{
        Core, Ended, Happening, NewOrder, OrdStatus, OrdType, Order as CoreOrder, OrderNo, Refusal,
        SelfTrade, Side, TimeInForce, What,
    },
    edge::Venue,
};

/// An order that passed the checks of its payload, with its market.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) market: &'static Market,
    pub(super) new: NewOrder,
}

/// What became of an order: its element, or why it was refused.
pub(super) type Placed = Result<Value, String>;

/// Checks what the payload alone decides, of all orders, then places one after the other.
pub(super) fn place_all(venue: &Hyperliquid, by: &By, action: &Orders) -> Result<Value, Stop> {
    let one_for_all = |text: &str| Ok(statuses("order", &[error(text)]));
    if action.orders.is_empty() {
        return one_for_all("Orders are empty.");
    }
    let triggers = action
        .orders
        .iter()
        .any(|order| matches!(order.t, Terms::Trigger { .. }));
    match action.grouping {
        Grouping::Named(GroupingName::NormalTpsl | GroupingName::PositionTpsl) if !triggers => {
            return one_for_all("Unexpected number of trigger orders");
        }
        Grouping::Named(
            GroupingName::Na | GroupingName::NormalTpsl | GroupingName::PositionTpsl,
        )
        | Grouping::Priority(_) => {}
    }
    let mut checked = Vec::new();
    for order in &action.orders {
        match check(venue, by, order)? {
            Ok(order) => checked.push(order),
            Err(text) => return one_for_all(&text),
        }
    }
    if venue.vanishes() {
        return Ok(statuses("order", &[]));
    }
    let mut elements = Vec::new();
    for order in checked {
        elements.push(place(venue, order)?.unwrap_or_else(|text| error(&text)));
    }
    if venue.names_nothing() {
        elements.clear();
    }
    Ok(statuses("order", &elements))
}

/// The market of an asset id. An unknown one refuses the whole action.
pub(super) fn market(asset: u32) -> Result<&'static Market, Stop> {
    Market::of_asset(asset).ok_or_else(|| {
        let spot = (10_000..100_000).contains(&asset);
        Stop::refused(if spot {
            "Invalid spot"
        } else {
            "Invalid asset"
        })
    })
}

/// What the payload alone decides. A refusal here leaves no record.
pub(super) fn check(
    venue: &Hyperliquid,
    by: &By,
    order: &Order,
) -> Result<Result<Checked, String>, Stop> {
    let market = market(order.a)?;
    let (price, qty) = (order.p.0, order.s.0);
    let mark = {
        let world = venue.stage().world();
        world
            .core()
            .instruments()
            .get(&market.key())
            .map(crate::core::Instrument::mark)
    };
    let named = |text: &str| Ok(Err(format!("{text} asset={}", order.a)));
    let Some(mark) = mark else {
        return named("Trading is halted.");
    };
    let tif = match order.t {
        Terms::Trigger { .. } => return named("Trigger orders are not simulated."),
        Terms::Limit { tif } => tif,
    };
    if qty.is_zero() {
        return named("Order has zero size.");
    }
    if !size_fits(qty, market.sz_decimals) {
        return named("Order has invalid size.");
    }
    if price.is_zero() {
        return named("Order has invalid price.");
    }
    if !price_fits(price, market.sz_decimals, market.is_spot()) {
        return named("Price must be divisible by tick size.");
    }
    if market.is_spot() && order.r {
        return named("Reduce-only is invalid for spot trading.");
    }
    let (lowest, highest) = (
        mark.saturating_mul(Decimal::new(2, 1)),
        mark.saturating_mul(Decimal::new(5, 0)),
    );
    if price <= lowest || price > highest {
        return named("Order price cannot be more than 80% away from the reference price");
    }
    let (ord_type, time_in_force) = match tif {
        Tif::Gtc => (OrdType::Limit, TimeInForce::Gtc),
        Tif::Ioc => (OrdType::Limit, TimeInForce::Ioc),
        Tif::Alo => (OrdType::Limit, TimeInForce::PostOnly),
        Tif::FrontendMarket => (OrdType::Market, TimeInForce::Ioc),
    };
    let new = NewOrder {
        account: by.account.clone(),
        instrument: market.key(),
        wire_id: order.c.as_ref().map(|cloid| cloid.0.clone()),
        side: if order.b { Side::Buy } else { Side::Sell },
        ord_type,
        time_in_force,
        price,
        order_qty: qty,
        quote_qty: None,
        reduce_only: order.r,
        self_trade: SelfTrade::CancelMaker,
    };
    Ok(Ok(Checked { market, new }))
}

/// Gives one order to the core. A refusal from here on is kept as a record, but for a taken client id.
pub(super) fn place(venue: &Hyperliquid, order: Checked) -> Result<Placed, Stop> {
    let Checked { market, new } = order;
    let bbo = bbo(venue, &new.instrument);
    let value = new.order_qty.saturating_mul(new.price);
    if value < Decimal::TEN && !new.reduce_only {
        return refuse(venue, market, new, Refusal::BelowMinimum).map(Err);
    }
    for event in venue.act(What::Place(Box::new(new.clone())))? {
        let no = match event {
            Happening::Accepted(order) => order.no,
            Happening::Existing { order } => order,
            Happening::Refused { refusal } => return refuse(venue, market, new, refusal).map(Err),
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
        let world = venue.stage().world();
        let order = world.core().order(no).ok_or(Stop::Broken)?;
        return Ok(
            element(venue, order, &bbo).map_err(|text| format!("{text} asset={}", market.asset))
        );
    }
    Err(Stop::Broken)
}

/// The element of an order as it stands after its command.
fn element(venue: &Hyperliquid, order: &CoreOrder, bbo: &str) -> Placed {
    let oid = venue.ids().oid(order.no);
    let with_cloid = |mut inner: Value| {
        if let (Some(id), Some(inner)) = (&order.wire_id, inner.as_object_mut()) {
            inner.insert("cloid".to_owned(), json!(id));
        }
        inner
    };
    if order.status.is_open() {
        return Ok(json!({ "resting": with_cloid(json!({ "oid": oid })) }));
    }
    if !order.cum_qty.is_zero() {
        let price = order
            .avg_px(crate::core::Kind::Linear)
            .unwrap_or_default()
            .round_dp(6);
        let filled = json!({ "totalSz": point(order.cum_qty), "avgPx": point(price), "oid": oid });
        return Ok(json!({ "filled": with_cloid(filled) }));
    }
    Err(match order.ended {
        Some(Ended::WouldTake) => {
            format!("Post only order would have immediately matched, bbo was {bbo}.")
        }
        Some(Ended::ReduceOnly) => "Reduce only order would increase position.".to_owned(),
        Some(
            Ended::NoImmediate
            | Ended::NotEnough
            | Ended::SelfTrade
            | Ended::Filled
            | Ended::ByRequest
            | Ended::Scheduled
            | Ended::Refused(_),
        )
        | None => "Order could not immediately match against any resting orders.".to_owned(),
    })
}

/// The text of a refusal, and the record that the venue keeps of it.
fn refuse(
    venue: &Hyperliquid,
    market: &Market,
    new: NewOrder,
    refusal: Refusal,
) -> Result<String, Stop> {
    let text = match (refusal, market.is_spot()) {
        (Refusal::BelowMinimum, false) => "Order must have minimum value of $10.",
        (Refusal::BelowMinimum, true) => "Order must have minimum value of 10 USDC.",
        (Refusal::Funds, false) => "Insufficient margin to place order.",
        (Refusal::Funds, true) => "Insufficient spot balance",
        (Refusal::NothingToReduce, _) => "Reduce only order would increase position.",
        (Refusal::TooManyOrders, _) => "Too many open orders.",
        (Refusal::Duplicate, _) => "Order with this cloid already exists.",
        (
            Refusal::UnknownAccount
            | Refusal::UnknownInstrument
            | Refusal::UnknownOrder
            | Refusal::NotOpen
            | Refusal::Exists
            | Refusal::BadNumber
            | Refusal::BeyondOrder,
            _,
        ) => "Order has invalid size.",
    };
    let recorded = match refusal {
        Refusal::BelowMinimum
        | Refusal::Funds
        | Refusal::NothingToReduce
        | Refusal::TooManyOrders => true,
        Refusal::Duplicate
        | Refusal::UnknownAccount
        | Refusal::UnknownInstrument
        | Refusal::UnknownOrder
        | Refusal::NotOpen
        | Refusal::Exists
        | Refusal::BadNumber
        | Refusal::BeyondOrder => false,
    };
    if recorded {
        drop(venue.act(What::Record {
            order: Box::new(new),
            refusal,
        })?);
    }
    Ok(format!("{text} asset={}", market.asset))
}

fn bbo(venue: &Hyperliquid, key: &str) -> String {
    let world = venue.stage().world();
    let best = |side| {
        let level = world.core().depth(key, side, 1).first().copied();
        level.map_or_else(
            || "0".to_owned(),
            |level| level.price.normalize().to_string(),
        )
    };
    format!("{}@{}", best(Side::Buy), best(Side::Sell))
}

/// An unknown market refuses the whole action, before anything is canceled.
pub(super) fn cancel_all(venue: &Hyperliquid, by: &By, cancels: &[Cancel]) -> Result<Value, Stop> {
    let keys = keys(cancels.iter().map(|cancel| cancel.a))?;
    let mut elements = Vec::new();
    for (cancel, key) in cancels.iter().zip(keys) {
        let no = venue.ids().order_no(cancel.o);
        let open = open_one(venue.stage().world().core(), by, &key, no.as_slice());
        elements.push(end(venue, open, cancel.a)?);
    }
    Ok(statuses("cancel", &elements))
}

/// The same by client id.
pub(super) fn cancel_all_by_cloid(
    venue: &Hyperliquid,
    by: &By,
    cancels: &[CloidCancel],
) -> Result<Value, Stop> {
    let keys = keys(cancels.iter().map(|cancel| cancel.asset))?;
    let mut elements = Vec::new();
    for (cancel, key) in cancels.iter().zip(keys) {
        let open = {
            let world = venue.stage().world();
            let numbers = world.core().by_wire_id(&by.account, &cancel.cloid.0);
            open_one(world.core(), by, &key, numbers)
        };
        elements.push(end(venue, open, cancel.asset)?);
    }
    Ok(statuses("cancel", &elements))
}

fn keys(assets: impl Iterator<Item = u32>) -> Result<Vec<String>, Stop> {
    assets.map(|asset| market(asset).map(Market::key)).collect()
}

/// The newest of these orders that is the account's, open, and of this market.
fn open_one(core: &Core, by: &By, key: &str, numbers: &[OrderNo]) -> Option<OrderNo> {
    let fits = |order: &&CoreOrder| {
        order.account == by.account
            && order.instrument == key
            && matches!(order.status, OrdStatus::New | OrdStatus::PartiallyFilled)
    };
    let orders = numbers.iter().rev().filter_map(|no| core.order(*no));
    orders.filter(fits).map(|order| order.no).next()
}

fn end(venue: &Hyperliquid, order: Option<OrderNo>, asset: u32) -> Result<Value, Stop> {
    let refused = |happened: &Happening| matches!(happened, Happening::Refused { .. });
    let ended = match order {
        None => false,
        Some(order) => !venue.act(What::Cancel { order })?.iter().any(refused),
    };
    Ok(if ended {
        json!("success")
    } else {
        error(&format!(
            "Order was never placed, already canceled, or filled. asset={asset}"
        ))
    })
}
