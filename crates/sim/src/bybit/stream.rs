//! What events are to the private streams. Shapes: vectors `ws-16` to `ws-26`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{account, ids::VenueIds, rows, venue::Bybit};
use crate::{
    core::{Core, Event, Fill, Happening, Order, OrderNo},
    edge::{Push, Venue},
};

/// The pushes of one command's events: fills, then orders as they stand now, then positions and wallets.
pub(super) fn pushes(ids: VenueIds, core: &Core, events: &[Event]) -> Vec<Push> {
    let Some(last) = events.last() else {
        return Vec::new();
    };
    let (seq, at_ms) = (last.seq, last.at_ms);
    let mut fills: BTreeMap<(&str, &str), Vec<&Fill>> = BTreeMap::new();
    let mut orders: Vec<OrderNo> = Vec::new();
    for event in events {
        let no = match &event.what {
            Happening::Accepted(order) => order.no,
            Happening::Filled(fill) => {
                fills
                    .entry((&fill.account, &fill.instrument))
                    .or_default()
                    .push(fill);
                fill.order
            }
            Happening::Amended { order, .. } | Happening::Closed { order, .. } => *order,
            Happening::AccountOpened { .. }
            | Happening::Listed { .. }
            | Happening::Refused { .. }
            | Happening::Existing { .. }
            | Happening::MarketSet { .. }
            | Happening::RulesSet { .. }
            | Happening::DayClosed
            | Happening::Recorded(_)
            | Happening::Noted(_) => continue,
        };
        if !orders.contains(&no) {
            orders.push(no);
        }
    }
    let push = |account: &str, topic, category: &str, id: String, rows| Push {
        account: account.to_owned(),
        topic,
        category: category.to_owned(),
        seq,
        at_ms,
        id,
        rows,
    };
    let mut said = Vec::new();
    for ((account, key), fills) in &fills {
        let Some(instrument) = core.instruments().get(*key) else {
            continue;
        };
        let with_order = fills
            .iter()
            .filter_map(|fill| core.order(fill.order).map(|order| (*fill, order)));
        let (full, fast): (Vec<Value>, Vec<Value>) = with_order
            .map(|(fill, order)| {
                (
                    rows::pushed_execution(ids, fill, order, instrument),
                    rows::fast_execution(ids, fill, order, instrument),
                )
            })
            .unzip();
        let sweep = fills.first().map_or(0, |fill| rows::seq(fill.sweep));
        let id = format!("{account}_{}_{sweep}", instrument.symbol);
        let category = instrument.category.as_str();
        said.push(push(account, "execution", category, id.clone(), full));
        said.push(push(account, "execution.fast", category, id, fast));
    }
    let mut touched: BTreeSet<(&str, &str)> = BTreeSet::new();
    for no in orders {
        let Some(order) = core.order(no) else {
            continue;
        };
        let Some(instrument) = core.instruments().get(&order.instrument) else {
            continue;
        };
        touched.insert((&order.account, &order.instrument));
        said.push(push(
            &order.account,
            "order",
            &instrument.category,
            ids.message(seq, no.0),
            vec![rows::pushed_order(ids, order, instrument)],
        ));
    }
    for (account, key) in touched {
        let (Some(owner), Some(instrument)) =
            (core.accounts().get(account), core.instruments().get(key))
        else {
            continue;
        };
        let category = instrument.category.as_str();
        let id = ids.message(seq, 0);
        if category != "spot" {
            let position = owner.positions.get(key).copied().unwrap_or_default();
            let row = rows::pushed_position(position, instrument, core, at_ms);
            said.push(push(account, "position", category, id.clone(), vec![row]));
        }
        if fills.contains_key(&(account, key)) {
            let row = account::wallet_row(core, account, |_| true);
            said.push(push(account, "wallet", category, id, vec![row]));
        }
    }
    said
}

/// Says once more that an order is filled, because a cancel of it came too late. Shape: vector `ws-19`.
pub(super) fn filled_again(venue: &Bybit, order: &Order) {
    let world = venue.stage().world();
    let core = world.core();
    let Some(instrument) = core.instruments().get(&order.instrument) else {
        return;
    };
    let mut row = rows::pushed_order(venue.ids(), order, instrument);
    if let Some(row) = row.as_object_mut() {
        row.insert("cancelType".to_owned(), json!("CancelByUser"));
        row.insert(
            "rejectReason".to_owned(),
            json!("EC_OrigClOrdIDDoesNotExist"),
        );
    }
    venue.stage().pushes.say(Push {
        account: order.account.clone(),
        topic: "order",
        category: instrument.category.clone(),
        // No event is behind it, so it is newer than every subscription.
        seq: u64::MAX,
        at_ms: venue.now_ms(),
        id: venue.ids().message(core.seq(), order.no.0),
        rows: vec![row],
    });
}

/// Fields of a row that another one has under the same names.
pub(super) fn picked(row: &Value, names: &[&str]) -> Value {
    let field = |name: &&str| {
        (
            (*name).to_owned(),
            row.get(*name).cloned().unwrap_or(json!("")),
        )
    };
    Value::Object(names.iter().map(field).collect())
}
