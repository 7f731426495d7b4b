//! Pushes of the private socket: what they say, and what they do to an order in the journal.

use serde_json::{Map, Value, json};
use surefill_bybit::rows::{FillRow, OrderRow, Totals};
use surefill_bybit::stream::{self, Said};
use surefill_core::{ExecReport, Key, OrdStatus, VenueEvent};

use crate::driver::Driver;
use crate::file::Case;
use crate::input::{Unfit, member};

use super::{lists, order, shown, words};

pub(super) fn private(case: &Case<'_>) -> Result<Value, Unfit> {
    let frame = member(case.input, "frame")?;
    let category = shown::category(frame);
    let said = stream::read(&frame.to_string(), category).map_err(Unfit::new)?;
    match &said {
        Said::Auth(Ok(())) => Ok(json!({"class": "AUTH_OK"})),
        Said::Auth(Err(_)) => Ok(json!({"class": "AUTH_FAIL"})),
        Said::Subscribed(Ok(())) => Ok(json!({"class": "SUB_OK"})),
        Said::Subscribed(Err(_)) => Ok(json!({"class": "SUB_FAIL"})),
        Said::Pong => Ok(json!({"class": "PONG"})),
        Said::Orders(page) => match &page.rows[..] {
            [row] if page.unreadable.is_empty() => {
                let mut driver = order::of_pushed(case.file, row, category)?;
                pushed_order(case, row, &mut driver, said.clone())
            }
            _ => Err(Unfit::new("not one row of an order that can be read")),
        },
        Said::Fills(page) => {
            let rows = page.rows.clone();
            if !page.unreadable.is_empty() {
                return Err(Unfit::new("a row that cannot be read"));
            }
            pushed_fills(case, &rows, said)
        }
        Said::Positions(page) => {
            let row = page.rows.first().filter(|_| page.unreadable.is_empty());
            let row = row.ok_or_else(|| Unfit::new("no position that can be read"))?;
            Ok(json!({"class": "POSITION", "signed_size": row.signed_qty.to_string()}))
        }
        Said::Other(topic) => Err(Unfit(format!("unknown topic {topic:?}"))),
    }
}

fn pushed_order(
    case: &Case<'_>,
    row: &OrderRow,
    driver: &mut Driver,
    said: Said,
) -> Result<Value, Unfit> {
    let key = row.key.as_ref().map_or("", Key::as_str);
    if row.is_refused_duplicate() {
        return second_attempt(case, row, key, driver, said);
    }
    let Some(first) = row.report() else {
        return Ok(json!({"class": "ORDER", "order": lists::order(row)}));
    };
    // The order as it is stored: as the newest row of it in the file left it where the case presupposes that, else by this frame.
    let stored = match case.given().map(|_| newest(case, row)) {
        Some(newest) => newest?,
        None => row.clone(),
    };
    driver.report(&stored.report().unwrap_or(first))?;
    let before = driver.order.clone();
    for report in reports(said)? {
        driver.report(&report)?;
    }
    let after = &driver.order;
    let unchanged = (after.state, after.cum_qty, &after.order_ids, &after.watch)
        == (
            before.state,
            before.cum_qty,
            &before.order_ids,
            &before.watch,
        );
    let mut got = json!({
        "class": "ORDER",
        "idempotent": unchanged,
        "order": lists::order(row),
    });
    if case.given().is_some()
        && let Some(got) = got.as_object_mut()
    {
        let order = json!({
            "state": words::state(after.state),
            "terminal": after.state.is_terminal(),
            "filled": after.cum_qty.to_string(),
            "order_id": after.order_id().map(ToString::to_string),
            "orderLinkId": key,
        });
        got.insert("order".to_owned(), order);
        let given = json!({
            "stored_state": words::status(&stored.status),
            "stored_updated_ms": stored.updated.map(surefill_core::VenueTime::as_ms),
        });
        got.insert("given".to_owned(), given);
    }
    Ok(got)
}

/// The newest row of the order in the other cases, which must be newer than this one.
fn newest(case: &Case<'_>, row: &OrderRow) -> Result<OrderRow, Unfit> {
    let rows = shown::others(case).filter(|other| other.order_id == row.order_id);
    let newest = rows.max_by_key(|row| row.updated);
    newest
        .filter(|newest| newest.updated > row.updated)
        .ok_or_else(|| Unfit::new("no other case shows the order as it is presupposed"))
}

/// A second attempt under the same id that matching refused: the live order stays as it is.
fn second_attempt(
    case: &Case<'_>,
    row: &OrderRow,
    key: &str,
    driver: &mut Driver,
    said: Said,
) -> Result<Value, Unfit> {
    let mut order = Map::new();
    let applies_to = row.order_id.to_string();
    order.insert("applies_to_order_id".to_owned(), json!(applies_to));
    if let Some(live) = shown::live_order(case, key, &row.order_id) {
        driver.report(&ExecReport::ack(Key::from(key), live))?;
        let before = driver.order.clone();
        for report in reports(said)? {
            driver.report(&report)?;
        }
        let unchanged = driver.order == before;
        let live = driver.order.order_id().filter(|_| unchanged);
        let live = live.map(ToString::to_string);
        order.insert("live_order_unchanged".to_owned(), json!(live));
    }
    Ok(json!({"class": "ORDER", "order": order}))
}

fn reports(said: Said) -> Result<Vec<ExecReport>, Unfit> {
    let events = stream::events(said).map_err(Unfit::new)?;
    let reports = events.into_iter().map(|event| match event {
        VenueEvent::Report(report) => Ok(report),
        VenueEvent::Fill(..) => Err(Unfit::new("a fill among orders")),
    });
    reports.collect()
}

fn pushed_fills(case: &Case<'_>, rows: &[FillRow], said: Said) -> Result<Value, Unfit> {
    let mut got = json!({"class": "EXECUTION", "fills": 0, "filled": "0"});
    let Some(first) = rows.first() else {
        return Ok(got);
    };
    let known = rows.iter().find_map(|row| row.key.clone());
    let key = known.unwrap_or_else(|| Key::from(first.fill.order_id.as_str()));
    let mut driver = order::of_fill(case.file, &key, &first.fill)?;
    let seen = case.given().and_then(|given| given.get("seen_exec_ids"));
    let seen = seen.and_then(Value::as_array).map(Vec::as_slice);
    let is_seen = |row: &&FillRow| {
        let id = row.fill.exec_id.as_str();
        seen.is_some_and(|seen| seen.iter().any(|one| one == id))
    };
    let booked: Vec<&FillRow> = rows.iter().filter(is_seen).collect();
    for row in &booked {
        driver.booked(row.fill.clone());
    }
    let mut match_by = "orderLinkId";
    for event in stream::events(said).map_err(Unfit::new)? {
        let VenueEvent::Fill(handle, fill) = event else {
            return Err(Unfit::new("an order among fills"));
        };
        if handle.key.is_none() {
            match_by = "orderId";
        }
        driver.report(&ExecReport {
            handle,
            status: OrdStatus::NotShown,
            fills: vec![fill.clone()],
            ..ExecReport::ack(key.clone(), fill.order_id.clone())
        })?;
    }
    let fresh = driver.fills().len() - booked.len();
    let totals = Totals::of(driver.fills());
    let totals = totals.ok_or_else(|| Unfit::new("the sums do not fit"))?;
    if let Some(got) = got.as_object_mut() {
        got.insert("fills".to_owned(), json!(fresh));
        got.insert("filled".to_owned(), json!(totals.qty.to_string()));
        got.insert("match_by".to_owned(), json!(match_by));
        if case.given().is_some() {
            let ids: Vec<&str> = booked.iter().map(|row| row.fill.exec_id.as_str()).collect();
            got.insert("given".to_owned(), json!({"seen_exec_ids": ids}));
        }
    }
    Ok(got)
}
