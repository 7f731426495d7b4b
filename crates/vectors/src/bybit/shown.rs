//! What the file's other cases show of an order: its create, its rows, its acknowledgment.

use serde_json::Value;
use surefill_bybit::rows::{self, OrderRow};
use surefill_bybit::stream::{self, Said};
use surefill_bybit::{Category, outcome};
use surefill_core::{Key, OrderId, Submission};

use crate::file::{Case, VectorFile};

use super::answer;

/// The body of the create with this id, where a case sends one.
pub(super) fn create_body(file: &VectorFile, key: &str) -> Option<Value> {
    let bodies = file.cases().filter_map(|case| match case.kind {
        "ws_request" => case.input.get("order").cloned(),
        "rest_sign" if case.input.get("path")? == "/v5/order/create" => {
            serde_json::from_str(case.input.get("payload")?.as_str()?).ok()
        }
        _ => None,
    });
    let named = |body: &Value| body.get("orderLinkId").and_then(Value::as_str) == Some(key);
    bodies.into_iter().find(named)
}

/// The rows of orders in one case, of a list or a push.
fn rows_of(case: &Case<'_>) -> Vec<OrderRow> {
    let page = match case.kind {
        "http" => answer::sent(case.input).ok().and_then(|sent| {
            let path = case.input.pointer("/request/path")?.as_str()?;
            let listed = matches!(path, "/v5/order/realtime" | "/v5/order/history");
            rows::orders(&sent).ok().filter(|_| listed)
        }),
        "ws" => case.input.get("frame").and_then(|frame| {
            match stream::read(&frame.to_string(), category(frame)).ok()? {
                Said::Orders(page) => Some(page),
                Said::Auth(_)
                | Said::Subscribed(_)
                | Said::Pong
                | Said::Fills(_)
                | Said::Positions(_)
                | Said::Other(_) => None,
            }
        }),
        _ => None,
    };
    page.map(|page| page.rows).unwrap_or_default()
}

/// Every row of an order in the file, but those of the case that asks.
pub(super) fn others<'f>(case: &Case<'f>) -> impl Iterator<Item = OrderRow> + use<'f> {
    let asks = case.id;
    let cases = case.file.cases().filter(move |case| case.id != asks);
    cases.flat_map(|case| rows_of(&case))
}

/// The first row under this id that is no refused second attempt.
pub(super) fn first_row(file: &VectorFile, key: &str) -> Option<OrderRow> {
    let mut rows = file.cases().flat_map(|case| rows_of(&case));
    rows.find(|row| named(row, key) && !row.is_refused_duplicate())
}

/// The order that a create under this id made.
pub(super) fn acked(file: &VectorFile, key: &str) -> Option<Submission> {
    let mut answers = file.cases().filter_map(|case| {
        let path = case
            .input
            .pointer("/request/path")
            .filter(|_| case.kind == "http");
        let sent = answer::sent(case.input).ok();
        let sent = sent.filter(|_| path.is_some_and(|path| path == "/v5/order/create"))?;
        Some(outcome::submission(&sent, key))
    });
    answers.find(|answer| matches!(answer, Submission::Acked(_)))
}

/// The order that lives under this id beside `other`.
pub(super) fn live_order(case: &Case<'_>, key: &str, other: &OrderId) -> Option<OrderId> {
    let ids = others(case).filter(|row| named(row, key) && !row.is_refused_duplicate());
    ids.map(|row| row.order_id).find(|id| id != other)
}

fn named(row: &OrderRow, key: &str) -> bool {
    row.key.as_ref().map(Key::as_str) == Some(key)
}

/// The category that a pushed frame is of; rows of others are left out by the adapter.
pub(super) fn category(frame: &Value) -> Category {
    let named = frame.pointer("/data/0/category").cloned();
    let named = named.and_then(|category| serde_json::from_value(category).ok());
    named.unwrap_or_default()
}
