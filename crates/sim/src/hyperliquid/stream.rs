//! What events are to the sockets.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{ids::VenueIds, info, markets::coin, number::point, rows};
use crate::{
    core::{Core, Ended, Event, Fill, Happening, Order, OrderNo},
    edge::Push,
};

/// The pushes of one command's events: fills, then orders as they stand now, then the market.
pub(super) fn pushes(ids: VenueIds, core: &Core, events: &[Event]) -> Vec<Push> {
    let Some(last) = events.last() else {
        return Vec::new();
    };
    let mut fills: BTreeMap<&str, Vec<&Fill>> = BTreeMap::new();
    let mut trades: BTreeMap<&str, Vec<&Fill>> = BTreeMap::new();
    let mut orders: Vec<OrderNo> = Vec::new();
    let mut canceled: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut markets: BTreeSet<&str> = BTreeSet::new();
    for event in events {
        let no = match &event.what {
            Happening::Accepted(order) | Happening::Recorded(order) => order.no,
            Happening::Filled(fill) => {
                fills.entry(&fill.account).or_default().push(fill);
                if !fill.maker {
                    trades.entry(&fill.instrument).or_default().push(fill);
                }
                fill.order
            }
            Happening::Amended { order, .. } => *order,
            Happening::Closed { order: no, ended } => {
                if let (true, Some(order)) = (by_venue(*ended), core.order(*no)) {
                    let row = json!({ "coin": coin(&order.instrument), "oid": ids.oid(*no) });
                    canceled.entry(order.account.clone()).or_default().push(row);
                }
                *no
            }
            Happening::MarketSet { instrument, .. } => {
                markets.insert(instrument);
                continue;
            }
            Happening::AccountOpened { .. }
            | Happening::Listed { .. }
            | Happening::Refused { .. }
            | Happening::Existing { .. }
            | Happening::RulesSet { .. }
            | Happening::DayClosed
            | Happening::Noted(_) => continue,
        };
        if !orders.contains(&no) {
            orders.push(no);
        }
    }
    let push = |account: &str, topic, coin: &str, rows| Push {
        account: account.to_owned(),
        topic,
        category: coin.to_owned(),
        seq: last.seq,
        at_ms: last.at_ms,
        id: String::new(),
        rows,
    };
    let mut said = Vec::new();
    for (account, fills) in &fills {
        if let Value::Array(rows) = info::fill_rows(ids, core, fills, false) {
            said.push(push(account, "userFills", "", rows.clone()));
            said.push(push(
                account,
                "userEvents",
                "",
                vec![json!({ "fills": rows })],
            ));
        }
    }
    for (account, rows) in canceled {
        said.push(push(
            &account,
            "userEvents",
            "",
            vec![json!({ "nonUserCancel": rows })],
        ));
    }
    let mut updates: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for order in orders.iter().filter_map(|no| core.order(*no)) {
        markets.insert(&order.instrument);
        updates
            .entry(&order.account)
            .or_default()
            .push(update(ids, order));
    }
    for (account, rows) in updates {
        said.push(push(account, "orderUpdates", "", rows));
    }
    for (key, fills) in &trades {
        let rows = fills.iter().map(|fill| trade(ids, fill)).collect();
        said.push(push("", "trades", coin(key), rows));
    }
    for key in markets {
        said.push(push(
            "",
            "l2Book",
            coin(key),
            vec![rows::book(core, key, last.at_ms)],
        ));
        said.push(push(
            "",
            "allMids",
            "",
            vec![json!({ "mids": rows::mids(core, super::markets::PERP) })],
        ));
    }
    said
}

/// Whether an order ended for a reason that its owner did not give, after it had stood in the book.
const fn by_venue(ended: Ended) -> bool {
    match ended {
        Ended::SelfTrade | Ended::ReduceOnly | Ended::Scheduled => true,
        Ended::Filled
        | Ended::ByRequest
        | Ended::WouldTake
        | Ended::NoImmediate
        | Ended::NotEnough
        | Ended::Refused(_) => false,
    }
}

fn update(ids: VenueIds, order: &Order) -> Value {
    json!({
        "order": rows::short(ids, order), "status": rows::status(order), "statusTimestamp": order.updated_at_ms,
    })
}

fn trade(ids: VenueIds, fill: &Fill) -> Value {
    let nobody = "0x0000000000000000000000000000000000000000";
    json!({
        "coin": coin(&fill.instrument), "side": rows::side(fill.side), "px": point(fill.price), "sz": point(fill.qty),
        "time": fill.at_ms, "hash": ids.transaction(fill.sweep), "tid": ids.tid(fill.no),
        "users": [fill.account, nobody],
    })
}
