//! What people read: tables of plain text.

use crate::documents::{HaltDoc, OrderDoc, ShowDoc};

/// A table whose columns are as wide as their widest cell.
pub(crate) fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        let head = heads.get(column).map_or(0, |head| head.chars().count());
        widest.max(head)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (cell, width) in cells.zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    };
    let mut text = line(&mut heads.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

fn or_dash(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| "-".to_owned())
}

/// Orders, one a line.
pub(crate) fn orders(orders: &[OrderDoc]) -> String {
    if orders.is_empty() {
        return "no orders".to_owned();
    }
    let heads = [
        "id", "venue", "symbol", "side", "qty", "price", "state", "filled", "strategy", "notes",
    ];
    let rows: Vec<Vec<String>> = orders
        .iter()
        .map(|order| {
            let id = order.cl_ord_id.as_ref().or(order.wire_id.as_ref());
            let id = id.or(order.order_id.as_ref());
            vec![
                id.cloned().unwrap_or_else(|| "-".to_owned()),
                order.venue.clone(),
                or_dash(&order.symbol),
                order.side.unwrap_or("-").to_owned(),
                or_dash(&order.order_qty),
                order.price.clone().unwrap_or_else(|| "market".to_owned()),
                order.state.to_owned(),
                or_dash(&order.cum_qty),
                or_dash(&order.strategy),
                notes(order),
            ]
        })
        .collect();
    table(&heads, &rows)
}

fn notes(order: &OrderDoc) -> String {
    let marks = [
        (order.foreign, "foreign"),
        (order.watched, "watched"),
        (order.fills_owed, "fills owed"),
        (
            order.cancel_requested && order.leaves_qty.as_deref() != Some("0"),
            "cancel asked",
        ),
    ];
    let mut notes: Vec<String> = marks
        .iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, note)| (*note).to_owned())
        .collect();
    notes.extend(order.reason.clone());
    notes.join(", ")
}

/// One order, with everything that is known of it.
pub(crate) fn show(doc: &ShowDoc) -> String {
    let mut text = order(&doc.order);
    let rows: Vec<Vec<String>> = doc
        .attempts
        .iter()
        .map(|attempt| {
            let bytes = attempt.bytes_sha256.as_deref().unwrap_or("-");
            vec![
                attempt.n.to_string(),
                attempt.sent_at_ms.to_string(),
                serde_json::to_string(&attempt.fence).unwrap_or_default(),
                bytes.chars().take(16).collect(),
                attempt.outcome.clone(),
            ]
        })
        .collect();
    text.push('\n');
    text.push_str(&table(
        &["attempt", "sent at", "fence", "bytes", "outcome"],
        &rows,
    ));
    let rows: Vec<Vec<String>> = doc
        .transitions
        .iter()
        .map(|entry| {
            vec![
                entry.at_ms.to_string(),
                entry.from.unwrap_or("-").to_owned(),
                entry.to.to_owned(),
                entry.cause.to_owned(),
                entry.evidence.clone(),
            ]
        })
        .collect();
    text.push('\n');
    text.push_str(&table(&["at", "from", "to", "cause", "evidence"], &rows));
    if !doc.fills.is_empty() {
        let rows: Vec<Vec<String>> = doc
            .fills
            .iter()
            .map(|fill| {
                vec![
                    fill.exec_id.clone(),
                    fill.qty.clone(),
                    fill.price.clone(),
                    format!("{} {}", fill.fee, fill.fee_currency),
                    fill.at_ms.to_string(),
                    fill.settlement.to_owned(),
                    if fill.late { "late" } else { "" }.to_owned(),
                ]
            })
            .collect();
        text.push('\n');
        let heads = ["fill", "qty", "price", "fee", "at", "settlement", ""];
        text.push_str(&table(&heads, &rows));
    }
    text
}

/// One order, a field a line.
pub(crate) fn order(order: &OrderDoc) -> String {
    let price = order.price.as_deref().unwrap_or("market");
    let terms = format!(
        "{} {} {} at {price}",
        order.side.unwrap_or("-"),
        or_dash(&order.order_qty),
        or_dash(&order.symbol)
    );
    let filled = match &order.avg_px {
        Some(price) => format!("{} at {price} on average", or_dash(&order.cum_qty)),
        None => or_dash(&order.cum_qty),
    };
    let decided = order
        .decided_at_ms
        .map_or_else(String::new, |at| at.to_string());
    let fields = [
        ("order", or_dash(&order.cl_ord_id)),
        (
            "at the venue",
            format!(
                "{} (order id {})",
                or_dash(&order.wire_id),
                or_dash(&order.order_id)
            ),
        ),
        (
            "venue",
            format!("{}, account {}", order.venue, or_dash(&order.account)),
        ),
        ("terms", terms),
        ("state", order.state.to_owned()),
        ("filled", filled),
        (
            "decision",
            format!(
                "{} at {decided}, leg {}",
                or_dash(&order.strategy),
                order.nonce.unwrap_or(0)
            ),
        ),
        ("notes", notes(order)),
    ];
    let lines = fields
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name:<13} {value}\n"));
    lines.collect()
}

/// Halts, one a line.
pub(crate) fn halts(halts: &[HaltDoc]) -> String {
    if halts.is_empty() {
        return "nothing is halted".to_owned();
    }
    let rows: Vec<Vec<String>> = halts
        .iter()
        .map(|halt| {
            let lifts = if halt.needs_person {
                "by a person"
            } else {
                "by itself"
            };
            vec![
                halt.scope.clone(),
                halt.cause.to_owned(),
                lifts.to_owned(),
                halt.since_ms.to_string(),
                halt.text.clone(),
            ]
        })
        .collect();
    table(&["scope", "cause", "lifts", "since", "why"], &rows)
}
