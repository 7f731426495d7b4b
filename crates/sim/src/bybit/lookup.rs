//! Reads: orders, closed orders, fills, positions, account, market. Each looks at one moment.

use std::{cmp::Reverse, collections::BTreeSet};

use serde_json::{Value, json};

use super::{
    account, config::Login, query::Query, reply::Code, route::Endpoint, rows, venue::Bybit,
};
use crate::{
    core::{Core, Fill, Instrument, OrdStatus, Order, OrderNo},
    edge::{Request, Shelf, Venue},
};

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;
const TWO_YEARS_MS: u64 = 730 * DAY_MS;
/// How many closed orders the realtime list keeps.
const RECENT: usize = 500;

/// Answers a read.
pub(super) fn read(
    venue: &Bybit,
    endpoint: Endpoint,
    login: Option<&Login>,
    request: &Request,
) -> Result<Value, Code> {
    let query = Query(request.pairs());
    let uid = login.map_or("", |login| login.uid.as_str());
    match endpoint {
        Endpoint::Realtime => realtime(venue, uid, &query),
        Endpoint::History => history(venue, uid, &query),
        Endpoint::Executions => executions(venue, uid, &query),
        Endpoint::Positions => positions(venue, uid, &query),
        Endpoint::Wallet => account::wallet(venue, uid, &query),
        Endpoint::AccountInfo => Ok(account::account_info(venue)),
        Endpoint::QueryApi => Ok(account::query_api(login)),
        Endpoint::Instruments => account::instruments(venue, &query),
        Endpoint::Time => Ok(account::time(venue)),
        Endpoint::Create
        | Endpoint::Amend
        | Endpoint::Cancel
        | Endpoint::CancelAll
        | Endpoint::CreateBatch
        | Endpoint::AmendBatch
        | Endpoint::CancelBatch => Err(Code::new(10_016, "Server error.")),
    }
}

/// Where a list without an id looks.
#[derive(Debug, Clone, Copy)]
enum Among {
    Open,
    Closed,
}

/// Orders of this account that the query means, newest first, with their instruments.
fn meant<'a>(
    venue: &Bybit,
    core: &'a Core,
    uid: &str,
    query: &Query,
    among: Among,
) -> Result<Vec<(&'a Order, &'a Instrument)>, Code> {
    let category = query.category()?;
    let Some(account) = core.accounts().get(uid) else {
        return Ok(Vec::new());
    };
    let (numbers, scoped): (Vec<OrderNo>, bool) =
        match (query.get("orderId"), query.get("orderLinkId")) {
            (Some(id), _) => (venue.ids().order_no(id).into_iter().collect(), false),
            (None, Some(id)) => (core.by_wire_id(uid, id).to_vec(), false),
            (None, None) => match among {
                Among::Open => (account.open.iter().copied().collect(), true),
                Among::Closed => (account.closed.clone(), true),
            },
        };
    let orders = numbers
        .into_iter()
        .filter_map(|no| core.order(no))
        .filter(|order| order.account == uid);
    let listed = orders.filter_map(|order| {
        core.instruments()
            .get(&order.instrument)
            .map(|i| (order, i))
    });
    let mut found: Vec<_> = listed
        .filter(|(_, i)| i.category == category && (!scoped || query.fits(i)))
        .collect();
    found.sort_by_key(|(order, _)| Reverse(order.no));
    Ok(found)
}

fn hidden(venue: &Bybit, shelf: Shelf, order: &Order) -> bool {
    let now_ms = venue.stage().clock.now_ms();
    let wire_id = order.wire_id.as_deref().unwrap_or_default();
    venue
        .stage()
        .hidden
        .hides(shelf, now_ms, |id| venue.means(id, wire_id))
}

fn realtime(venue: &Bybit, uid: &str, query: &Query) -> Result<Value, Code> {
    let limit = query.limit(20, 50)?;
    let category = query.category()?;
    if category == "linear" && !query.by_id() && !query.has_scope() {
        return Err(Code::param("symbol, baseCoin or settleCoin is required"));
    }
    let closed_only = match query.get("openOnly") {
        None | Some("0" | "2") => false,
        Some("1") => true,
        Some(_) => return Err(Code::param("openOnly invalid")),
    };
    let before = query.cursor()?;
    let world = venue.stage().world();
    let core = world.core();
    // With an id both are searched; without one the list is of open orders only, or of closed ones only.
    let among = if closed_only {
        Among::Closed
    } else {
        Among::Open
    };
    let all = meant(venue, core, uid, query, among)?;
    let recent = if all.iter().all(|(order, _)| order.status.is_open()) {
        BTreeSet::new()
    } else {
        recent(venue, core, uid, category)
    };
    let now_ms = venue.stage().clock.now_ms();
    let picture = |order: &Order| venue.stage().stale.shows(order.no, now_ms);
    let shown = |order: &Order| {
        (order.status.is_open() || recent.contains(&order.no) || picture(order).is_some())
            && before.is_none_or(|no| order.no.0 < no)
            && !hidden(venue, Shelf::Open, order)
    };
    let page: Vec<_> = all
        .into_iter()
        .filter(|(order, _)| shown(order))
        .take(limit)
        .collect();
    let mark = |order: &Order| {
        format!(
            "{}%3A{}",
            venue.ids().order(&order.instrument, order.no),
            order.accepted_at_ms
        )
    };
    let cursor = match (page.first(), page.last()) {
        (Some((first, _)), Some((last, _))) => format!("{}%2C{}", mark(first), mark(last)),
        _ => String::new(),
    };
    let list: Vec<Value> = page
        .iter()
        .map(|(order, i)| match picture(order) {
            Some((was, _)) => rows::order(venue.ids(), &was, i, false),
            None => rows::order(venue.ids(), order, i, false),
        })
        .collect();
    Ok(json!({ "nextPageCursor": cursor, "category": category, "list": list }))
}

/// The newest 500 orders of a category that closed since the last restart.
fn recent(venue: &Bybit, core: &Core, uid: &str, category: &str) -> BTreeSet<OrderNo> {
    let wiped = venue.wiped_seq();
    let closed = core
        .accounts()
        .get(uid)
        .map(|account| account.closed.iter().rev())
        .into_iter()
        .flatten();
    let orders = closed
        .filter_map(|no| core.order(*no))
        .take_while(|order| order.updated_seq > wiped);
    let of_category = orders.filter(|order| {
        order
            .instrument
            .split_once('/')
            .is_some_and(|(of, _)| of == category)
    });
    of_category.take(RECENT).map(|order| order.no).collect()
}

fn history(venue: &Bybit, uid: &str, query: &Query) -> Result<Value, Code> {
    let limit = query.limit(20, 50)?;
    let category = query.category()?;
    let status = query.get("orderStatus");
    if matches!(status, Some("New" | "PartiallyFilled" | "Untriggered")) {
        return Err(Code::new(181_017, "OrderStatus must be final status"));
    }
    let now_ms = venue.stage().clock.now_ms();
    let (from, to) = query.window(now_ms)?;
    let before = query.cursor()?;
    let world = venue.stage().world();
    let kept = |order: &Order| {
        let (ended_ago, filled) = (
            now_ms.saturating_sub(order.updated_at_ms),
            !order.cum_qty.is_zero(),
        );
        let memory = match order.status {
            OrdStatus::New | OrdStatus::PartiallyFilled => return false,
            OrdStatus::Canceled if !filled => DAY_MS,
            OrdStatus::Canceled | OrdStatus::Filled => TWO_YEARS_MS,
        };
        ended_ago < memory
    };
    let shown = |order: &Order| {
        kept(order)
            && (from..=to).contains(&order.accepted_at_ms)
            && status.is_none_or(|status| rows::status(order) == status)
            && before.is_none_or(|no| order.no.0 < no)
            && !hidden(venue, Shelf::Closed, order)
            && venue.stage().stale.shows(order.no, now_ms).is_none()
    };
    let all = meant(venue, world.core(), uid, query, Among::Closed)?;
    let page: Vec<_> = all
        .into_iter()
        .filter(|(order, _)| shown(order))
        .take(limit)
        .collect();
    // The last page may bring a cursor as well.
    let cursor = page
        .last()
        .map(|(last, _)| format!("page_token%3D{}%26", last.no.0))
        .unwrap_or_default();
    let list: Vec<Value> = page
        .iter()
        .map(|(order, i)| rows::order(venue.ids(), order, i, true))
        .collect();
    Ok(json!({ "nextPageCursor": cursor, "category": category, "list": list }))
}

fn executions(venue: &Bybit, uid: &str, query: &Query) -> Result<Value, Code> {
    let limit = query.limit(50, 100)?;
    let category = query.category()?;
    let now_ms = venue.stage().clock.now_ms();
    // With an id the other filters are ignored; whether the time window is among them is not known: here it is.
    let (from, to) = if query.by_id() {
        (0, u64::MAX)
    } else {
        query.window(now_ms)?
    };
    let of_type = query.get("execType").is_none_or(|kind| kind == "Trade") || query.by_id();
    let before = query.cursor()?;
    let world = venue.stage().world();
    let core = world.core();
    let shown = |fill: &&Fill| {
        of_type
            && (from..=to).contains(&fill.at_ms)
            && now_ms.saturating_sub(fill.at_ms) < TWO_YEARS_MS
            && before.is_none_or(|no| fill.no < no)
    };
    let fills: Vec<&Fill> = if query.by_id() {
        let mut fills: Vec<&Fill> = meant(venue, core, uid, query, Among::Closed)?
            .into_iter()
            .flat_map(|(order, _)| core.fills_of(order.no))
            .collect();
        fills.sort_by_key(|fill| Reverse(fill.no));
        fills
    } else {
        core.fills()
            .iter()
            .rev()
            .filter(|fill| fill.account == uid)
            .collect()
    };
    let with_order = fills.into_iter().filter(shown).filter_map(|fill| {
        let instrument = core.instruments().get(&fill.instrument)?;
        let fits = instrument.category == category && (query.by_id() || query.fits(instrument));
        core.order(fill.order)
            .filter(|_| fits)
            .map(|order| (fill, order, instrument))
    });
    let page: Vec<_> = with_order
        .filter(|(fill, order, _)| {
            let later = |(_, fills): (Order, usize)| {
                let mut of_order = core.fills_of(order.no);
                of_order.position(|other| other.no == fill.no) >= Some(fills)
            };
            let stale = venue.stage().stale.shows(order.no, now_ms);
            !hidden(venue, Shelf::Fills, order) && !stale.is_some_and(later)
        })
        .take(limit.saturating_add(1))
        .collect();
    let more = page.len() > limit;
    let page = page.get(..limit).unwrap_or(&page);
    let cursor = match (page.first(), page.last()) {
        (Some((first, ..)), Some((last, ..))) if more => {
            format!("{}%3A1%2C{}%3A1", first.no, last.no)
        }
        _ => String::new(),
    };
    let list: Vec<Value> = page
        .iter()
        .map(|(fill, order, i)| rows::execution(venue.ids(), fill, order, i))
        .collect();
    Ok(json!({ "nextPageCursor": cursor, "category": category, "list": list }))
}

fn positions(venue: &Bybit, uid: &str, query: &Query) -> Result<Value, Code> {
    let limit = query.limit(20, 200)?;
    let category = query.category()?;
    if category == "spot" {
        return Err(Code::param("category invalid"));
    }
    if category == "linear" && !query.has_scope() {
        return Err(Code::param("symbol or settleCoin is required"));
    }
    let now_ms = venue.stage().clock.now_ms();
    let world = venue.stage().world();
    let core = world.core();
    let held = core.accounts().get(uid).map(|account| &account.positions);
    let mut list = Vec::new();
    for instrument in core
        .instruments()
        .values()
        .filter(|i| i.category == category && query.fits(i))
    {
        let position = held
            .and_then(|held| held.get(&instrument.key()))
            .copied()
            .unwrap_or_default();
        // By symbol a flat slot is a row too.
        if query.get("symbol").is_some() || !position.qty.is_zero() {
            let sweep = rows::last_sweep(position, core);
            list.push(rows::position(position, instrument, sweep, now_ms));
        }
    }
    list.truncate(limit);
    Ok(json!({ "nextPageCursor": "", "category": category, "list": list }))
}
