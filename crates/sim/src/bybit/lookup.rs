//! Reads: orders, closed orders, fills, positions, account, market. Each looks at one moment.

use std::{cmp::Reverse, collections::BTreeSet};

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    config::Login,
    reply::Code,
    route::Endpoint,
    rows::{self, plain},
    venue::Bybit,
};
use crate::{
    core::{Core, Fill, Instrument, OrdStatus, Order, OrderNo},
    edge::{Request, Shelf, Venue},
};

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;
const WEEK_MS: u64 = 7 * DAY_MS;
const TWO_YEARS_MS: u64 = 730 * DAY_MS;
/// How many closed orders the realtime list keeps.
const RECENT: usize = 500;
const CATEGORIES: [&str; 4] = ["linear", "inverse", "spot", "option"];

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
        Endpoint::Wallet => wallet(venue, uid, &query),
        Endpoint::AccountInfo => Ok(account_info(venue)),
        Endpoint::QueryApi => Ok(query_api(login)),
        Endpoint::Instruments => instruments(venue, &query),
        Endpoint::Time => Ok(time(venue)),
        Endpoint::Create | Endpoint::Amend | Endpoint::Cancel | Endpoint::CancelAll => {
            Err(Code::new(10_016, "Server error."))
        }
    }
}

struct Query(Vec<(String, String)>);

impl Query {
    /// A parameter that is not empty.
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    fn whole(&self, name: &str) -> Result<Option<u64>, Code> {
        let read = |text: &str| {
            text.parse()
                .map_err(|_| Code::param(&format!("{name} invalid")))
        };
        self.get(name).map(read).transpose()
    }

    fn category(&self) -> Result<&str, Code> {
        let category = self
            .get("category")
            .ok_or_else(|| Code::param("category is required"))?;
        if CATEGORIES.contains(&category) {
            Ok(category)
        } else {
            Err(Code::param("category invalid"))
        }
    }

    fn limit(&self, default: u64, most: u64) -> Result<usize, Code> {
        let limit = self.whole("limit")?.unwrap_or(default);
        let fits = (1..=most).contains(&limit);
        fits.then(|| usize::try_from(limit).ok())
            .flatten()
            .ok_or_else(|| Code::param("limit invalid"))
    }

    /// Whether the symbol, or else the base, or else the settle coin, fits; all of them if none is given.
    fn fits(&self, instrument: &Instrument) -> bool {
        match (
            self.get("symbol"),
            self.get("baseCoin"),
            self.get("settleCoin"),
        ) {
            (Some(symbol), _, _) => instrument.symbol == symbol,
            (None, Some(base), _) => instrument.base == base,
            (None, None, Some(settle)) => instrument.quote == settle,
            (None, None, None) => true,
        }
    }

    fn has_scope(&self) -> bool {
        ["symbol", "baseCoin", "settleCoin"]
            .into_iter()
            .any(|name| self.get(name).is_some())
    }

    fn by_id(&self) -> bool {
        self.get("orderId").is_some() || self.get("orderLinkId").is_some()
    }

    /// The number in a cursor of ours. Clients send it as it came or encoded once more: both are in use.
    fn cursor(&self) -> Result<Option<u64>, Code> {
        let Some(sent) = self.get("cursor") else {
            return Ok(None);
        };
        let text = sent
            .replace("%3A", ":")
            .replace("%2C", ",")
            .replace("%3D", "=")
            .replace("%26", "&");
        let last = text.rsplit([',', '=']).next().unwrap_or_default();
        let digits = last.split([':', '&']).next().unwrap_or_default();
        let number = digits.rsplit('-').next().unwrap_or_default();
        let radix = if digits.contains('-') { 16 } else { 10 };
        u64::from_str_radix(number, radix)
            .map(Some)
            .map_err(|_| Code::param("cursor invalid"))
    }

    /// From and to: the last seven days, or seven days from the one that is given.
    fn window(&self, now_ms: u64) -> Result<(u64, u64), Code> {
        match (self.whole("startTime")?, self.whole("endTime")?) {
            (None, None) => Ok((now_ms.saturating_sub(WEEK_MS), u64::MAX)),
            (Some(start), None) => Ok((start, start.saturating_add(WEEK_MS))),
            (None, Some(end)) => Ok((end.saturating_sub(WEEK_MS), end)),
            (Some(start), Some(end)) if start <= end && end.saturating_sub(start) <= WEEK_MS => {
                Ok((start, end))
            }
            (Some(_), Some(_)) => Err(Code::param(
                "startTime and endTime are at most 7 days apart",
            )),
        }
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
    let recent = recent(venue, core, uid, category);
    let shown = |order: &Order| {
        let open = order.status.is_open();
        let listed = if query.by_id() {
            open || recent.contains(&order.no)
        } else {
            open
        };
        let listed = if closed_only && !query.by_id() {
            recent.contains(&order.no)
        } else {
            listed
        };
        listed && before.is_none_or(|no| order.no.0 < no) && !hidden(venue, Shelf::Open, order)
    };
    let among = if closed_only {
        Among::Closed
    } else {
        Among::Open
    };
    let all = meant(venue, core, uid, query, among)?;
    let page: Vec<_> = all
        .into_iter()
        .filter(|(order, _)| shown(order))
        .take(limit)
        .collect();
    let mark =
        |order: &Order| format!("{}%3A{}", venue.ids().order(order.no), order.accepted_at_ms);
    let cursor = match (page.first(), page.last()) {
        (Some((first, _)), Some((last, _))) => format!("{}%2C{}", mark(first), mark(last)),
        _ => String::new(),
    };
    let list: Vec<Value> = page
        .iter()
        .map(|(order, i)| rows::order(venue.ids(), order, i, false))
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
            && status.is_none_or(|status| rows::status(order.status) == status)
            && before.is_none_or(|no| order.no.0 < no)
            && !hidden(venue, Shelf::Closed, order)
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
        .filter(|(_, order, _)| !hidden(venue, Shelf::Fills, order))
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
            let last = position
                .last_fill
                .and_then(|no| usize::try_from(no.saturating_sub(1)).ok());
            let sweep = last
                .and_then(|index| core.fills().get(index))
                .map(|fill| fill.sweep);
            list.push(rows::position(position, instrument, sweep, now_ms));
        }
    }
    list.truncate(limit);
    Ok(json!({ "nextPageCursor": "", "category": category, "list": list }))
}

fn wallet(venue: &Bybit, uid: &str, query: &Query) -> Result<Value, Code> {
    if query.get("accountType") != Some("UNIFIED") {
        return Err(Code::param("accountType invalid"));
    }
    let wanted = query
        .get("coin")
        .map(|coins| coins.split(',').map(str::to_owned).collect::<Vec<_>>());
    let world = venue.stage().world();
    let balances = world
        .core()
        .accounts()
        .get(uid)
        .map(|account| account.balances.clone())
        .unwrap_or_default();
    let total = balances.get("USDT").copied().unwrap_or(Decimal::ZERO);
    let coin = |(coin, amount): (&String, &Decimal)| {
        json!({
            "coin": coin, "equity": plain(*amount), "walletBalance": plain(*amount), "locked": "0",
            "borrowAmount": "0", "unrealisedPnl": "0", "cumRealisedPnl": "0", "availableToWithdraw": "",
        })
    };
    let fits = |(coin, _): &(&String, &Decimal)| {
        wanted.as_ref().is_none_or(|wanted| wanted.contains(coin))
    };
    let coins: Vec<Value> = balances.iter().filter(fits).map(coin).collect();
    Ok(json!({ "list": [{
        "accountType": "UNIFIED", "totalEquity": plain(total), "totalWalletBalance": plain(total),
        "totalAvailableBalance": plain(total), "totalMarginBalance": plain(total), "coin": coins,
    }] }))
}

fn account_info(venue: &Bybit) -> Value {
    json!({
        "unifiedMarginStatus": 5, "marginMode": "REGULAR_MARGIN", "isMasterTrader": false,
        "spotHedgingStatus": "OFF", "updatedTime": venue.stage().clock.now_ms().to_string(), "dcpStatus": "OFF",
        "timeWindow": 10, "smpGroup": 0,
    })
}

fn query_api(login: Option<&Login>) -> Value {
    let (uid, key) = login.map_or(("0", ""), |login| {
        (login.uid.as_str(), login.api_key.as_str())
    });
    json!({
        "id": uid, "note": "simulated", "apiKey": key, "readOnly": 0, "secret": "",
        "permissions": {
            "ContractTrade": ["Order", "Position"], "Spot": ["SpotTrade"], "Wallet": [], "Options": ["OptionsTrade"],
            "Derivatives": [], "CopyTrading": [], "BlockTrade": [], "Exchange": [], "NFT": [], "Affiliate": [],
        },
        "ips": ["*"], "type": 1, "deadlineDay": 90, "expiredAt": "2099-01-01T00:00:00Z",
        "createdAt": "2026-01-01T00:00:00Z", "unified": 0, "uta": 1, "userID": uid.parse::<u64>().unwrap_or(0),
        "inviterID": 0, "vipLevel": "No VIP", "mktMakerLevel": "0", "affiliateID": 0, "rsaPublicKey": "",
        "isMaster": true, "parentUid": "0", "kycLevel": "LEVEL_DEFAULT", "kycRegion": "",
    })
}

fn instruments(venue: &Bybit, query: &Query) -> Result<Value, Code> {
    let limit = query.limit(500, 1_000)?;
    let category = query.category()?;
    let world = venue.stage().world();
    let fits = |i: &&Instrument| {
        i.category == category && query.get("symbol").is_none_or(|symbol| i.symbol == symbol)
    };
    let list: Vec<Value> = world
        .core()
        .instruments()
        .values()
        .filter(fits)
        .take(limit)
        .map(rows::instrument)
        .collect();
    if list.is_empty()
        && let Some(symbol) = query.get("symbol")
    {
        return Err(Code::param(&format!("symbol invalid {symbol}")));
    }
    Ok(json!({ "category": category, "list": list, "nextPageCursor": "" }))
}

fn time(venue: &Bybit) -> Value {
    let now_ms = venue.stage().clock.now_ms();
    json!({
        "timeSecond": (now_ms / 1_000).to_string(),
        "timeNano": u128::from(now_ms).saturating_mul(1_000_000).to_string(),
    })
}
