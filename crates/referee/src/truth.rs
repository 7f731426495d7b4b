//! What the venue holds, against what the journal says.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use serde_json::Value;
use surefill_core::{ClOrdId, Fill, OrdState, OrderRecord, Side};

use crate::simulated::Simulated;
use crate::stage::Stage;

/// What the venue holds of our account.
pub(crate) struct Truth {
    orders: Vec<Value>,
    fills: Vec<Value>,
    positions: Vec<Value>,
}

impl Truth {
    pub(crate) async fn of<V: Simulated>(stage: &Stage<V>) -> Self {
        let mut orders = stage.ours("/orders").await;
        // The record of a refusal is no order.
        orders.retain(|order| order["status"] != "rejected");
        Self {
            orders,
            fills: stage.ours("/fills").await,
            positions: stage.ours("/positions").await,
        }
    }
}

/// Whether journal and venue tell one story. More than one order for a decision ends the test at once.
pub(crate) fn compare(
    truth: &Truth,
    rows: &[OrderRecord],
    fills: &BTreeMap<ClOrdId, Vec<Fill>>,
) -> Result<(), String> {
    let mut booked_in_all: BTreeMap<String, Decimal> = BTreeMap::new();
    for row in rows {
        let id = row.id.to_string();
        let there: Vec<&Value> = truth
            .orders
            .iter()
            .filter(|order| order["cl_ord_id"] == id.as_str())
            .collect();
        assert!(there.len() <= 1, "two orders for {id}: {there:?}");
        let booked = fills.get(&row.id).map(Vec::as_slice).unwrap_or_default();
        one_story(row, booked, there.first().copied(), &truth.fills)
            .map_err(|why| format!("{}: {why}: {row:?}", row.intent.decision.strategy))?;
        let position = booked_in_all.entry(row.symbol().to_string()).or_default();
        match row.intent.side {
            Side::Buy => *position += row.booked_qty.value(),
            Side::Sell => *position -= row.booked_qty.value(),
        }
    }
    for order in &truth.orders {
        let known = rows
            .iter()
            .any(|row| order["cl_ord_id"] == row.id.to_string().as_str());
        if !known {
            return Err(format!("an order that the journal lacks: {order}"));
        }
    }
    let mut positions: BTreeMap<String, Decimal> = BTreeMap::new();
    for row in &truth.positions {
        let symbol = row["symbol"].as_str().expect("a symbol").to_owned();
        *positions.entry(symbol).or_default() += decimal(&row["qty"]);
    }
    booked_in_all.retain(|_, qty| !qty.is_zero());
    positions.retain(|_, qty| !qty.is_zero());
    if positions != booked_in_all {
        return Err(format!(
            "{booked_in_all:?} booked, and the position is {positions:?}"
        ));
    }
    Ok(())
}

fn one_story(
    row: &OrderRecord,
    booked: &[Fill],
    there: Option<&Value>,
    fills: &[Value],
) -> Result<(), String> {
    if row.watch.is_some() {
        return Err("watched on".to_owned());
    }
    if row.cancel_requested && !row.state.is_terminal() {
        return Err("its cancel has not ended".to_owned());
    }
    let Some(there) = there else {
        // The record of a refusal may have an id.
        let refusal = row.attempts.iter().any(|attempt| attempt.refused);
        return match row.state {
            OrdState::Rejected if refusal || row.order_ids.is_empty() => Ok(()),
            OrdState::Canceled if row.order_ids.is_empty() => Ok(()),
            state => Err(format!("{state} without an order")),
        };
    };
    let order_id = there["order_id"].as_str().expect("an order id");
    if row.order_ids.len() != 1 || row.order_ids[0].as_str() != order_id {
        return Err(format!("the venue's order is {order_id}"));
    }
    let filled = !decimal(&there["cum_qty"]).is_zero();
    let state = match there["status"].as_str().expect("a status") {
        "new" => OrdState::Acked,
        "partially_filled" => OrdState::Partial,
        "filled" => OrdState::Filled,
        "canceled" => OrdState::Canceled,
        other => panic!("{other}"),
    };
    if row.state != state || (row.state == OrdState::Acked && filled) {
        return Err(format!("the venue says {}", there["status"]));
    }
    if row.amending().is_some() {
        return Err("the terms after an amend are not known".to_owned());
    }
    if let Some(terms) = row.terms() {
        let theirs = (decimal(&there["order_qty"]), decimal(&there["price"]));
        if (terms.order_qty.value(), terms.price.value()) != theirs {
            return Err(format!("the venue's terms are {theirs:?}"));
        }
    }
    if row.cum_qty.value() != decimal(&there["cum_qty"]) {
        return Err(format!("the venue executed {}", there["cum_qty"]));
    }
    let ours: BTreeSet<&str> = booked.iter().map(|fill| fill.exec_id.as_str()).collect();
    assert_eq!(
        ours.len(),
        booked.len(),
        "a fill is booked twice: {booked:?}"
    );
    let theirs: BTreeSet<&str> = fills
        .iter()
        .filter(|fill| fill["order_id"] == order_id)
        .map(|fill| fill["exec_id"].as_str().expect("an exec id"))
        .collect();
    let sum: Decimal = booked.iter().map(|fill| fill.last_qty.value()).sum();
    if ours != theirs || sum != row.booked_qty.value() || sum != row.cum_qty.value() {
        return Err(format!("booked {ours:?}, at the venue {theirs:?}"));
    }
    Ok(())
}

fn decimal(value: &Value) -> Decimal {
    value
        .as_str()
        .expect("a decimal")
        .parse()
        .expect("a decimal")
}
