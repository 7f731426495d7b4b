//! Modify: the old order is canceled and a new one placed.

use serde_json::Value;

use super::{
    action::{Modifies, Modify, Order, Terms, Tif},
    address::Which,
    exchange::By,
    orders::{self, Checked, Placed},
    reply::{Stop, error, plain, statuses},
    venue::Hyperliquid,
};
use crate::{
    core::{OrderNo, TimeInForce, What},
    edge::Venue,
};

/// Answers without the new number; an error is the whole action's.
pub(super) fn one(venue: &Hyperliquid, by: &By, action: &Modify) -> Result<Value, Stop> {
    let always = action.a.unwrap_or(false);
    let checked = check(venue, by, &action.order, always)?.map_err(Stop::Refused)?;
    change(venue, by, &action.oid, checked, always)?.map_err(Stop::Refused)?;
    Ok(plain())
}

/// Answers like new orders do.
pub(super) fn all(venue: &Hyperliquid, by: &By, action: &Modifies) -> Result<Value, Stop> {
    let always = action.a.unwrap_or(false);
    let mut checked = Vec::new();
    for change in &action.modifies {
        match check(venue, by, &change.order, always)? {
            Ok(order) => checked.push((&change.oid, order)),
            Err(text) => return Ok(statuses("order", &[error(&text)])),
        }
    }
    let mut elements = Vec::new();
    for (which, order) in checked {
        let placed = change(venue, by, which, order, always)?;
        elements.push(placed.unwrap_or_else(|text| error(&text)));
    }
    Ok(statuses("order", &elements))
}

/// The new order. Unless it is placed whatever happens, it has to rest: GTC becomes post-only.
fn check(
    venue: &Hyperliquid,
    by: &By,
    order: &Order,
    always: bool,
) -> Result<Result<Checked, String>, Stop> {
    let rests = matches!(
        order.t,
        Terms::Limit {
            tif: Tif::Gtc | Tif::Alo
        }
    );
    if !always && !rests {
        return Ok(Err("Invalid order type for modify.".to_owned()));
    }
    let checked = orders::check(venue, by, order)?;
    Ok(checked.map(|mut checked| {
        if !always {
            checked.new.time_in_force = TimeInForce::PostOnly;
        }
        checked
    }))
}

fn change(
    venue: &Hyperliquid,
    by: &By,
    which: &Which,
    order: Checked,
    always: bool,
) -> Result<Placed, Stop> {
    match (open(venue, by, which), always) {
        (Some(old), _) => drop(venue.act(What::Cancel { order: old })?),
        (None, true) => {}
        (None, false) => return Ok(Err("Cannot modify canceled or filled order".to_owned())),
    }
    let placed = orders::place(venue, order)?;
    Ok(placed.map_err(|text| format!("Error placing new order during modify: {text}")))
}

/// The open order that is meant, in whatever market.
fn open(venue: &Hyperliquid, by: &By, which: &Which) -> Option<OrderNo> {
    let world = venue.stage().world();
    let core = world.core();
    let numbers = match which {
        Which::Oid(oid) => venue.ids().order_no(*oid).into_iter().collect(),
        Which::Cloid(cloid) => core.by_wire_id(&by.account, &cloid.0).to_vec(),
    };
    let orders = numbers.iter().rev().filter_map(|no| core.order(*no));
    let mut open = orders.filter(|order| order.account == by.account && order.status.is_open());
    open.next().map(|order| order.no)
}
