//! The control port: what the venue really holds, and what goes wrong next.

use hyper::Method;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    exchange::{Reply, decoded},
    fault::Fault,
    fields::{Fields, Wrong},
    stage::Venue,
};
use crate::core::{
    DuplicateRule, Fill, Flat, Happening, Instrument, Order, OrderNo, Refusal, What,
};

/// One control request; the path is without `/_sim`.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    pub(super) body: &'a [u8],
}

/// What a control request is answered with.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) done: Result<Value, Wrong>,
    /// The venue is to go down for so long.
    pub(super) restart_ms: Option<u64>,
}

impl Answer {
    pub(super) fn reply(self) -> Reply {
        match self.done {
            Ok(value) => Reply::json(200, value.to_string()),
            Err(wrong) => Reply::json(wrong.status, json!({ "error": wrong.text }).to_string()),
        }
    }
}

/// The path within the control port, if it belongs there.
pub(super) fn within(path: &str) -> Option<&str> {
    path.strip_prefix("/_sim")
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Answers one control request.
pub(super) fn answer<V: Venue>(venue: &V, asked: &Asked<'_>) -> Answer {
    let mut restart_ms = None;
    let done = route(venue, asked, &mut restart_ms);
    Answer { done, restart_ms }
}

fn route<V: Venue>(
    venue: &V,
    asked: &Asked<'_>,
    restart_ms: &mut Option<u64>,
) -> Result<Value, Wrong> {
    let Asked {
        method,
        path,
        query,
        body,
    } = *asked;
    let stage = venue.stage();
    let ok = json!({ "ok": true });
    if *method == Method::GET {
        let wanted = wanted_id(path, query)?;
        return match path {
            "/orders" => Ok(orders(venue, wanted.as_deref())),
            "/fills" => Ok(fills(venue)),
            "/positions" => Ok(positions(venue)),
            "/clock" => Ok(clock(venue)),
            "/rules" => Ok(rules(venue)),
            "/requests" => Ok(stage.requests.rows()),
            "/faults" => Ok(stage.faults.rows()),
            _ => Err(no_such(path)),
        };
    }
    if *method == Method::DELETE && path == "/faults" {
        stage.faults.clear();
        return Ok(ok);
    }
    if *method != Method::POST {
        return Err(Wrong {
            status: 405,
            text: format!("no {method} here"),
        });
    }
    let mut fields = Fields::read(body)?;
    match path {
        "/faults" => stage.faults.post(Fault::read(fields)?),
        "/hide" => stage.hidden.post(fields, stage.clock.now_ms())?,
        "/stale" => {
            let now_ms = stage.clock.now_ms();
            let world = stage.world();
            let is = |id: &str, wire_id: &str| venue.means(id, wire_id);
            stage.stale.post(fields, world.core(), now_ms, is)?;
        }
        "/replay" => {
            fields.done()?;
            stage.pushes.say_again();
        }
        "/fill" => return fill(venue, fields),
        "/market" => market(venue, fields)?,
        "/clock" => {
            set_clock(venue, fields)?;
            return Ok(clock(venue));
        }
        "/restart" => {
            let down_ms = fields.whole("down_ms")?.unwrap_or(0);
            fields.done()?;
            *restart_ms = Some(down_ms);
        }
        "/rules" => {
            set_rules(venue, fields)?;
            return Ok(rules(venue));
        }
        "/close_day" => {
            fields.done()?;
            apply(venue, What::CloseDay)?;
        }
        "/venue" => venue.set(fields)?,
        _ => return Err(no_such(path)),
    }
    Ok(ok)
}

fn no_such(path: &str) -> Wrong {
    Wrong {
        status: 404,
        text: format!("no `{path}` here"),
    }
}

/// The `cl_ord_id` of the query, which only `/orders` knows.
fn wanted_id(path: &str, query: &str) -> Result<Option<String>, Wrong> {
    let mut wanted = None;
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("cl_ord_id", id)) if path == "/orders" => wanted = Some(decoded(id)),
            Some((name, _)) => return Err(Wrong::new(format!("unknown field `{name}`"))),
            None => return Err(Wrong::new(format!("unknown field `{part}`"))),
        }
    }
    Ok(wanted)
}

fn apply<V: Venue>(venue: &V, what: What) -> Result<Vec<Happening>, Wrong> {
    let events = venue.apply(what).map_err(|error| Wrong {
        status: 500,
        text: error.to_string(),
    })?;
    let happened: Vec<Happening> = events.into_iter().map(|event| event.what).collect();
    match happened.first() {
        Some(Happening::Refused { refusal }) => {
            let status = match refusal {
                Refusal::UnknownOrder | Refusal::UnknownAccount | Refusal::UnknownInstrument => 404,
                Refusal::NotOpen
                | Refusal::Exists
                | Refusal::Duplicate
                | Refusal::NothingToReduce
                | Refusal::Funds
                | Refusal::TooManyOrders
                | Refusal::BelowMinimum => 409,
                Refusal::BadNumber | Refusal::BeyondOrder => 400,
            };
            Err(Wrong {
                status,
                text: format!("refused: {refusal:?}"),
            })
        }
        _ => Ok(happened),
    }
}

fn orders<V: Venue>(venue: &V, wanted: Option<&str>) -> Value {
    let world = venue.stage().world();
    let core = world.core();
    let kind = |order: &Order| {
        let instrument = core.instruments().get(&order.instrument);
        instrument.map(|instrument| instrument.kind)
    };
    let row = |order: &Order| {
        let (category, symbol) = order
            .instrument
            .split_once('/')
            .unwrap_or(("", &order.instrument));
        json!({
            "wire_id": order.wire_id,
            "cl_ord_id": order.wire_id.as_deref().and_then(|id| venue.cl_ord_id(id)),
            "order_id": venue.order_id(&order.instrument, order.no),
            "account": order.account,
            "symbol": symbol,
            "category": category,
            "side": order.side.word(),
            "order_qty": text(order.order_qty),
            "cum_qty": text(order.cum_qty),
            "leaves_qty": text(order.leaves_qty()),
            "price": text(order.price),
            "quote_qty": order.quote_qty.map(text),
            "avg_px": kind(order).and_then(|kind| order.avg_px(kind)).map(text),
            "status": order.status.word(),
            "ended": order.ended,
            "ord_type": order.ord_type,
            "time_in_force": order.time_in_force,
            "reduce_only": order.reduce_only,
            "accepted_at_ms": order.accepted_at_ms,
            "updated_at_ms": order.updated_at_ms,
        })
    };
    let fits = |order: &&Order| {
        wanted.is_none_or(|id| {
            order
                .wire_id
                .as_deref()
                .is_some_and(|wire_id| venue.means(id, wire_id))
        })
    };
    core.orders().iter().filter(fits).map(row).collect()
}

fn fills<V: Venue>(venue: &V) -> Value {
    let world = venue.stage().world();
    let core = world.core();
    let row = |fill: &Fill| {
        let wire_id = core
            .order(fill.order)
            .and_then(|order| order.wire_id.as_deref());
        json!({
            "exec_id": venue.exec_id(fill),
            "order_id": venue.order_id(&fill.instrument, fill.order),
            "wire_id": wire_id,
            "cl_ord_id": wire_id.and_then(|id| venue.cl_ord_id(id)),
            "account": fill.account,
            "symbol": fill.instrument.split_once('/').map_or(fill.instrument.as_str(), |(_, symbol)| symbol),
            "side": fill.side.word(),
            "qty": text(fill.qty),
            "price": text(fill.price),
            "fee": text(fill.fee),
            "fee_currency": core.instruments().get(&fill.instrument).map(|instrument| instrument.fee_coin(fill.side)),
            "maker": fill.maker,
            "at_ms": fill.at_ms,
        })
    };
    core.fills().iter().map(row).collect()
}

fn positions<V: Venue>(venue: &V) -> Value {
    let world = venue.stage().world();
    let accounts = world.core().accounts().iter();
    let rows = accounts.flat_map(|(name, account)| {
        account.positions.iter().map(move |(key, position)| {
            json!({
                "account": name,
                "symbol": key.split_once('/').map_or(key.as_str(), |(_, symbol)| symbol),
                "qty": text(position.qty),
                "avg_px": text(position.avg_px),
                "realized": text(position.realized),
            })
        })
    });
    rows.collect()
}

fn clock<V: Venue>(venue: &V) -> Value {
    let clock = &venue.stage().clock;
    let (skew_ms, rate) = clock.setting();
    json!({ "now_ms": clock.now_ms(), "skew_ms": skew_ms, "rate": text(rate) })
}

fn set_clock<V: Venue>(venue: &V, mut fields: Fields) -> Result<(), Wrong> {
    let skew_ms = fields.signed("skew_ms")?;
    let advance_ms = fields.whole("advance_ms")?;
    let rate = fields.decimal("rate")?;
    fields.done()?;
    let clock = &venue.stage().clock;
    match (skew_ms, advance_ms, rate) {
        (Some(skew_ms), None, None) => clock.skew(skew_ms),
        (None, Some(advance_ms), None) => clock.advance(advance_ms),
        (None, None, Some(rate)) if rate >= Decimal::ZERO && rate <= Decimal::ONE_THOUSAND => {
            clock.set_rate(rate)
        }
        (None, None, Some(rate)) => return Err(Wrong::value("rate", &Value::from(text(rate)))),
        _ => return Err(Wrong::new("one of `skew_ms`, `advance_ms`, `rate`")),
    }
    Ok(())
}

fn rules<V: Venue>(venue: &V) -> Value {
    let (duplicate, window) = venue.stage().world().core().rules();
    json!({ "duplicate": duplicate, "window": window })
}

fn set_rules<V: Venue>(venue: &V, mut fields: Fields) -> Result<(), Wrong> {
    let (mut duplicate, mut window) = venue.stage().world().core().rules();
    if let Some(word) = fields.text("duplicate")? {
        let rule = DuplicateRule::ALL
            .into_iter()
            .find(|rule| rule.word() == word);
        duplicate = rule.ok_or_else(|| Wrong::value("duplicate", &Value::from(word)))?;
    }
    if let Some(count) = fields.whole("window")? {
        window = u32::try_from(count).map_err(|_| Wrong::value("window", &Value::from(count)))?;
    }
    fields.done()?;
    apply(venue, What::SetRules { duplicate, window }).map(drop)
}

fn fill<V: Venue>(venue: &V, mut fields: Fields) -> Result<Value, Wrong> {
    let id = fields
        .text("cl_ord_id")?
        .ok_or_else(|| Wrong::missing("cl_ord_id"))?;
    let qty = fields
        .decimal("qty")?
        .ok_or_else(|| Wrong::missing("qty"))?;
    let price = fields.decimal("price")?;
    fields.done()?;
    let order = find(venue, &id).ok_or_else(|| Wrong {
        status: 404,
        text: format!("no order `{id}`"),
    })?;
    let happened = apply(venue, What::Fill { order, qty, price })?;
    let fill = happened.iter().find_map(|what| {
        if let Happening::Filled(fill) = what {
            Some(venue.exec_id(fill))
        } else {
            None
        }
    });
    Ok(json!({ "ok": true, "exec_id": fill }))
}

/// The newest order with this id, an open one first.
fn find<V: Venue>(venue: &V, id: &str) -> Option<OrderNo> {
    let world = venue.stage().world();
    let orders = world.core().orders();
    let is = |order: &&Order| {
        order
            .wire_id
            .as_deref()
            .is_some_and(|wire_id| venue.means(id, wire_id))
    };
    let open = orders
        .iter()
        .rev()
        .filter(|order| order.status.is_open())
        .find(is);
    open.or_else(|| orders.iter().rev().find(is))
        .map(|order| order.no)
}

fn market<V: Venue>(venue: &V, mut fields: Fields) -> Result<(), Wrong> {
    let symbol = fields
        .text("symbol")?
        .ok_or_else(|| Wrong::missing("symbol"))?;
    let (bid, ask, size) = (
        fields.decimal("bid")?,
        fields.decimal("ask")?,
        fields.decimal("size")?,
    );
    fields.done()?;
    let found: Vec<Instrument> = {
        let world = venue.stage().world();
        let fits =
            |instrument: &&Instrument| instrument.symbol == symbol || instrument.key() == symbol;
        world
            .core()
            .instruments()
            .values()
            .filter(fits)
            .cloned()
            .collect()
    };
    if found.is_empty() {
        return Err(Wrong::value("symbol", &Value::from(symbol)));
    }
    for instrument in found {
        let now = &instrument.flat;
        let flat = Flat {
            bid: bid.unwrap_or(now.bid),
            ask: ask.unwrap_or(now.ask),
            size: size.unwrap_or(now.size),
            levels: now.levels,
        };
        apply(
            venue,
            What::SetMarket {
                instrument: instrument.key(),
                flat,
            },
        )?;
    }
    Ok(())
}

fn text(number: Decimal) -> String {
    number.normalize().to_string()
}
