//! Answers to reads: orders, executions, instruments, positions, the wallet, the time.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use surefill_bybit::market;
use surefill_bybit::outcome::{self, Sent};
use surefill_bybit::rows::{self, FillRow, OrderRow, Page, ReadFailure, Totals};
use surefill_core::{AsOf, Key, Lookup, OrdStatus, VenueTime};

use crate::file::{Case, VectorFile};
use crate::input::{Unfit, list, member, text};

use super::answer;
use super::words;

pub(super) fn read(
    case: &Case<'_>,
    path: &str,
    request: &Value,
    sent: &Sent,
) -> Result<Value, Unfit> {
    match path {
        "/v5/order/realtime" | "/v5/order/history" => lookup(member(request, "query")?, sent),
        "/v5/execution/list" => executions(case, member(request, "query")?, sent),
        "/v5/market/time" => Ok(or_error(
            market::server_time(sent),
            |time| json!({"class": "OK", "server_ms": time.as_ms()}),
        )),
        "/v5/market/instruments-info" => instruments(request, sent),
        "/v5/position/list" => positions(request, sent),
        "/v5/account/wallet-balance" => Ok(or_error(market::wallet(sent), |wallet| {
            let mut got = Map::new();
            got.insert("class".to_owned(), json!("OK"));
            got.insert(
                "available_usd".to_owned(),
                json!(wallet.available_usd.to_string()),
            );
            for (coin, balance) in &wallet.coins {
                let name = format!("{}_wallet", coin.as_str().to_lowercase());
                got.insert(name, json!(balance.to_string()));
            }
            Value::Object(got)
        })),
        other => Err(Unfit(format!("unknown path {other:?}"))),
    }
}

fn error() -> Value {
    json!({"class": words::LOOKUP_ERROR})
}

fn or_error<T>(read: Result<T, ReadFailure>, got: impl FnOnce(T) -> Value) -> Value {
    read.map_or_else(|_| error(), got)
}

/// A page without a row that could not be read.
fn whole<T>(read: Result<Page<T>, ReadFailure>) -> Option<Page<T>> {
    read.ok().filter(|page| page.unreadable.is_empty())
}

fn lookup(query: &Value, sent: &Sent) -> Result<Value, Unfit> {
    let Some(page) = whole(rows::orders(sent)) else {
        return Ok(error());
    };
    let by_order_id = || {
        let id = query.get("orderId").and_then(Value::as_str)?;
        let row = page.rows.iter().find(|row| row.order_id.as_str() == id)?;
        row.key.as_ref().map(Key::as_str)
    };
    let key = text(query, "orderLinkId").ok().or_else(by_order_id);
    let key = key.ok_or_else(|| Unfit::new("the query names no order"))?;
    let at = AsOf::Clock(VenueTime::from_ms(1));
    let found = outcome::lookup(key, &page.rows, Vec::new(), at, at);
    let ours = |row: &&OrderRow| row.key.as_ref().map(Key::as_str) == Some(key);
    let row = page.rows.iter().find(ours);
    match (found, row) {
        (Lookup::Absent { .. }, None) => Ok(json!({"class": "MISS"})),
        // Found, and in a state that says nothing.
        (Lookup::Inconclusive(_), Some(row)) if row.status.ord_status().is_none() => {
            Ok(json!({"class": "FOUND", "order": order(row)}))
        }
        (Lookup::Inconclusive(_), _) => Ok(error()),
        (Lookup::Found(reports), Some(row)) if reports.len() == 1 => {
            Ok(json!({"class": "FOUND", "order": order(row)}))
        }
        (found, _) => Err(Unfit(format!("the lookup is read as {found:?}"))),
    }
}

/// An order's row, as the adapter reports it.
pub(super) fn order(row: &OrderRow) -> Value {
    let report = row.report();
    let cum_qty = report
        .as_ref()
        .map_or(Some(row.cum_qty), |report| report.cum_qty);
    let mut got = json!({
        "state": words::status(&row.status),
        "terminal": report.as_ref().map(|report| report.status != OrdStatus::Open),
        "filled": cum_qty.map(|qty| qty.to_string()),
        "order_id": row.order_id.as_str(),
        "orderLinkId": row.key.as_ref().map(Key::as_str),
    });
    if let Some((got, px)) = got.as_object_mut().zip(row.avg_px) {
        got.insert("avg_price".to_owned(), json!(px.to_string()));
    }
    got
}

fn executions(case: &Case<'_>, query: &Value, sent: &Sent) -> Result<Value, Unfit> {
    let Some(page) = whole(rows::fills(sent)) else {
        return Ok(error());
    };
    let listed = member(case.input, "response")?;
    let listed = list(member(member(listed, "body")?, "result")?, "list")?.len();
    let mut got = json!({
        "class": "PAGE",
        "fills": page.rows.len(),
        "ignored": listed.saturating_sub(page.rows.len()),
        "next_cursor": page.next,
    });
    let mut all = before(case.file, query)?;
    all.extend(page.rows);
    let totals = Totals::of(all.iter().map(|row| &row.fill));
    let totals = totals.ok_or_else(|| Unfit::new("the sums do not fit"))?;
    let ids: BTreeSet<_> = all.iter().map(|row| &row.fill.exec_id).collect();
    let fees = totals.fees.iter();
    let fees: Map<String, Value> = fees
        .map(|(coin, fee)| (coin.to_string(), json!(fee.to_string())))
        .collect();
    let mut sums = json!({
        "filled": totals.qty.to_string(),
        "value": totals.value.normalize().to_string(),
        "exec_ids": ids.len(),
        "fee": fees,
    });
    if let Some((sums, px)) = sums.as_object_mut().zip(totals.avg_px()) {
        let rounded = px.value().round_dp(18);
        sums.insert("avg_price".to_owned(), json!(rounded.to_string()));
    }
    if let Some(got) = got.as_object_mut() {
        got.insert("after_both_pages".to_owned(), sums);
    }
    Ok(got)
}

/// The fills of the pages before this one: that whose cursor was sent, and so on.
fn before(file: &VectorFile, query: &Value) -> Result<Vec<FillRow>, Unfit> {
    let mut pages = Vec::new();
    let mut cursor = query.get("cursor");
    let mut seen = BTreeSet::new();
    while let Some(asked) = cursor.and_then(Value::as_str) {
        if !seen.insert(asked) {
            return Err(Unfit::new("the cursors go round in a circle"));
        }
        let page = file.cases().find(|case| {
            let next = case.input.pointer("/response/body/result/nextPageCursor");
            case.kind == "http" && next.and_then(Value::as_str) == Some(asked)
        });
        let page = page.ok_or_else(|| Unfit(format!("no page leads to cursor {asked:?}")))?;
        let read = whole(rows::fills(&answer::sent(page.input)?));
        pages.push(read.ok_or_else(|| Unfit(format!("{} cannot be read", page.id)))?);
        cursor = page.input.pointer("/request/query/cursor");
    }
    let pages = pages.into_iter().rev();
    Ok(pages.flat_map(|page| page.rows).collect())
}

/// The row of the symbol that was asked for.
fn row_of<'p, T>(
    page: &'p Page<T>,
    request: &Value,
    symbol: impl Fn(&T) -> &str,
) -> Result<&'p T, Unfit> {
    let asked = request.pointer("/query/symbol").and_then(Value::as_str);
    let named = |row: &&T| asked.is_none_or(|asked| symbol(row) == asked);
    let row = page.rows.iter().find(named);
    row.ok_or_else(|| Unfit::new("the list has no row of the symbol"))
}

fn instruments(request: &Value, sent: &Sent) -> Result<Value, Unfit> {
    let Some(page) = whole(market::instruments(sent)) else {
        return Ok(error());
    };
    let row = row_of(&page, request, |row| row.instrument.symbol.as_str())?;
    let listed = &row.instrument;
    let mut filters = json!({
        "tick": listed.tick.to_string(),
        "qty_step": listed.qty_step.to_string(),
        "min_notional": listed.min_notional.to_string(),
        "max_limit_qty": listed.max_limit_qty.to_string(),
        "max_market_qty": listed.max_market_qty.to_string(),
    });
    // Spot's own is deprecated, and not read.
    if !listed.min_qty.is_zero()
        && let Some(filters) = filters.as_object_mut()
    {
        filters.insert("min_qty".to_owned(), json!(listed.min_qty.to_string()));
    }
    Ok(json!({"class": "OK", "filters": filters}))
}

fn positions(request: &Value, sent: &Sent) -> Result<Value, Unfit> {
    let Some(page) = whole(market::positions(sent)) else {
        return Ok(error());
    };
    let row = row_of(&page, request, |row| row.symbol.as_str())?;
    Ok(json!({"class": "OK", "position": {"signed_size": row.signed_qty.to_string()}}))
}
