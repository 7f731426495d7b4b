//! `POST /info`: lookups, lists, and the market.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    address::{Address, Which},
    chain::cap,
    ids::VenueIds,
    markets::{self, Market},
    number::point,
    rows, state,
    venue::{Hyperliquid, Relation},
};
use crate::{
    core::{Core, Fill, Order, OrderNo},
    edge::{Shelf, Venue},
};

/// Most rows of one answer.
pub(super) const MOST_ROWS: usize = 2_000;
/// Most fills that can be asked for by time.
const MOST_FILLS: usize = 10_000;

/// What is asked. Fields that an item does not know are ignored.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum Ask {
    Meta {
        dex: Option<String>,
    },
    SpotMeta,
    MetaAndAssetCtxs {
        dex: Option<String>,
    },
    SpotMetaAndAssetCtxs,
    PerpDexs,
    AllMids {
        dex: Option<String>,
    },
    L2Book {
        coin: String,
    },
    ExchangeStatus,
    OrderStatus {
        user: Address,
        oid: Which,
    },
    OpenOrders {
        user: Address,
        dex: Option<String>,
    },
    FrontendOpenOrders {
        user: Address,
        dex: Option<String>,
    },
    HistoricalOrders {
        user: Address,
    },
    UserFills {
        user: Address,
        aggregate_by_time: Option<bool>,
    },
    UserFillsByTime(ByTime),
    UserRateLimit {
        user: Address,
    },
    UserRole {
        user: Address,
    },
    ExtraAgents {
        user: Address,
    },
    SubAccounts {
        user: Address,
    },
    ClearinghouseState {
        user: Address,
        dex: Option<String>,
    },
    SpotClearinghouseState {
        user: Address,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ByTime {
    user: Address,
    start_time: u64,
    end_time: Option<u64>,
    aggregate_by_time: Option<bool>,
    reversed: Option<bool>,
}

/// An argument that the venue fails over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failed;

impl Ask {
    /// Reads the first JSON value of a body.
    pub(super) fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        Self::deserialize(&mut serde_json::Deserializer::from_slice(body))
    }

    /// What it weighs, before the rows of its answer.
    pub(super) const fn weight(&self) -> u64 {
        match self {
            Self::L2Book { .. }
            | Self::AllMids { .. }
            | Self::ClearinghouseState { .. }
            | Self::OrderStatus { .. }
            | Self::SpotClearinghouseState { .. }
            | Self::ExchangeStatus => 2,
            Self::UserRole { .. } => 60,
            Self::Meta { .. }
            | Self::SpotMeta
            | Self::MetaAndAssetCtxs { .. }
            | Self::SpotMetaAndAssetCtxs
            | Self::PerpDexs
            | Self::OpenOrders { .. }
            | Self::FrontendOpenOrders { .. }
            | Self::HistoricalOrders { .. }
            | Self::UserFills { .. }
            | Self::UserFillsByTime(_)
            | Self::UserRateLimit { .. }
            | Self::ExtraAgents { .. }
            | Self::SubAccounts { .. } => 20,
        }
    }

    /// Whether each twenty rows of its answer weigh one more.
    pub(super) const fn weighs_rows(&self) -> bool {
        matches!(
            self,
            Self::HistoricalOrders { .. } | Self::UserFills { .. } | Self::UserFillsByTime(_)
        )
    }
}

/// Answers.
pub(super) fn answer(venue: &Hyperliquid, ask: &Ask) -> Result<Value, Failed> {
    let now_ms = venue.now_ms();
    let ids = venue.ids();
    let dex = |dex: &Option<String>| {
        markets::dex_category(dex.as_deref().unwrap_or_default()).ok_or(Failed)
    };
    let meta =
        |dex: &Option<String>| markets::meta(dex.as_deref().unwrap_or_default()).ok_or(Failed);
    // The chain is always locked before the world.
    let mut chain = venue.chain();
    let world = venue.stage().world();
    let core = world.core();
    Ok(match ask {
        Ask::Meta { dex } => meta(dex)?,
        Ask::SpotMeta => markets::spot_meta(),
        Ask::MetaAndAssetCtxs { dex: name } => {
            json!([meta(name)?, state::contexts(core, dex(name)?)])
        }
        Ask::SpotMetaAndAssetCtxs => {
            json!([markets::spot_meta(), state::contexts(core, markets::SPOT)])
        }
        Ask::PerpDexs => markets::dexs(),
        Ask::AllMids { dex: name } => rows::mids(core, dex(name)?),
        Ask::L2Book { coin } => match Market::of_coin(coin).filter(|market| !market.delisted) {
            Some(market) => rows::book(core, &market.key(), now_ms),
            None => Value::Null,
        },
        Ask::ExchangeStatus => json!({ "time": now_ms, "specialStatuses": null }),
        Ask::OrderStatus { user, oid } => order_status(venue, core, &user.to_string(), oid, now_ms),
        Ask::OpenOrders { user, dex: name } => {
            let open = open(venue, core, &user.to_string(), dex(name)?, now_ms);
            open.iter().map(|order| rows::short(ids, order)).collect()
        }
        Ask::FrontendOpenOrders { user, dex: name } => {
            let open = open(venue, core, &user.to_string(), dex(name)?, now_ms);
            open.iter()
                .map(|order| rows::full(ids, order, order.leaves_qty()))
                .collect()
        }
        Ask::HistoricalOrders { user } => history(venue, core, &user.to_string(), now_ms),
        Ask::UserFills {
            user,
            aggregate_by_time,
        } => {
            let mut fills = fills(venue, core, &user.to_string(), now_ms);
            fills.reverse();
            fills.truncate(MOST_ROWS);
            fill_rows(ids, core, &fills, aggregate_by_time.unwrap_or(false))
        }
        Ask::UserFillsByTime(by) => by_time(venue, core, by, now_ms),
        Ask::UserRateLimit { user } => {
            let user = user.to_string();
            let volume = chain.volume(core, &user);
            let used = chain.spent(&user).requests;
            json!({
                "cumVlm": point(volume.round_dp(2)), "nRequestsUsed": used,
                "nRequestsCap": cap(volume.to_u64().unwrap_or(u64::MAX)), "nRequestsSurplus": 0,
            })
        }
        Ask::UserRole { user } => {
            let user = user.to_string();
            match (venue.relation(&user), chain.agent(&user, now_ms)) {
                (Some(Relation::User), _) => json!({ "role": "user" }),
                (Some(Relation::Vault(_)), _) => json!({ "role": "vault" }),
                (Some(Relation::Sub(master)), _) => {
                    json!({ "role": "subAccount", "data": { "master": master } })
                }
                (None, Some(agent)) => json!({ "role": "agent", "data": { "user": agent.master } }),
                (None, None) => json!({ "role": "missing" }),
            }
        }
        Ask::ExtraAgents { user } => {
            let user = user.to_string();
            let named = chain
                .agents_of(&user)
                .filter(|(_, agent)| !agent.name.is_empty());
            let row = |(address, agent): (&String, &super::chain::Agent)| json!({ "name": agent.name, "address": address, "validUntil": agent.until_ms });
            named.map(row).collect()
        }
        Ask::SubAccounts { user } => {
            let user = user.to_string();
            let row = |sub: &String| {
                json!({
                    "subAccountUser": sub, "name": "simulated", "master": user,
                    "clearinghouseState": state::perps(core, &chain, sub, markets::PERP, now_ms),
                    "spotState": state::spot(core, sub),
                })
            };
            let subs: Vec<Value> = venue.subs_of(&user).map(row).collect();
            if subs.is_empty() {
                Value::Null
            } else {
                json!(subs)
            }
        }
        Ask::ClearinghouseState { user, dex: name } => {
            state::perps(core, &chain, &user.to_string(), dex(name)?, now_ms)
        }
        Ask::SpotClearinghouseState { user } => state::spot(core, &user.to_string()),
    })
}

fn order_status(venue: &Hyperliquid, core: &Core, user: &str, which: &Which, now_ms: u64) -> Value {
    let visible = |order: &&Order| {
        let order = seen(venue, order, now_ms);
        let shelf = if order.status.is_open() {
            Shelf::Open
        } else {
            Shelf::Closed
        };
        order.account == user && !hidden(venue, shelf, &order, now_ms)
    };
    let lag_ms = venue.settings().lookup_lag_ms;
    let found = match which {
        Which::Oid(oid) => {
            let order = venue.ids().order_no(*oid).and_then(|no| core.order(no));
            order.filter(visible)
        }
        // Only the latest one with the id is found; the index may be behind.
        Which::Cloid(cloid) => {
            let numbers = core.by_wire_id(user, &cloid.0).iter().rev();
            let mut orders = numbers.filter_map(|no| core.order(*no)).filter(visible);
            orders.find(|order| order.accepted_at_ms.saturating_add(lag_ms) <= now_ms)
        }
    };
    match found {
        Some(order) => {
            let order = seen(venue, order, now_ms);
            json!({ "status": "order", "order": rows::with_status(venue.ids(), &order) })
        }
        None => json!({ "status": "unknownOid" }),
    }
}

/// The order as lists show it: as it is, or for a while as it was.
fn seen<'a>(venue: &Hyperliquid, order: &'a Order, now_ms: u64) -> Cow<'a, Order> {
    let picture = venue.stage().stale.shows(order.no, now_ms);
    picture.map_or(Cow::Borrowed(order), |(then, _)| Cow::Owned(then))
}

/// Whether the control port hides an order from a shelf.
fn hidden(venue: &Hyperliquid, shelf: Shelf, order: &Order, now_ms: u64) -> bool {
    let means = |id: &str| {
        order
            .wire_id
            .as_deref()
            .is_some_and(|wire_id| venue.means(id, wire_id))
    };
    venue.stage().hidden.hides(shelf, now_ms, means)
}

/// Open orders of one dex, newest first; spot comes with the main one.
fn open<'a>(
    venue: &Hyperliquid,
    core: &'a Core,
    user: &str,
    dex: &str,
    now_ms: u64,
) -> Vec<Cow<'a, Order>> {
    let account = core.accounts().get(user);
    let open = account.into_iter().flat_map(|account| &account.open);
    let mut numbers: BTreeSet<OrderNo> = open.copied().collect();
    numbers.extend(venue.stage().stale.numbers(now_ms));
    let orders = numbers.iter().rev().filter_map(|no| core.order(*no));
    orders
        .filter(|order| order.account == user)
        .map(|order| seen(venue, order, now_ms))
        .filter(|order| order.status.is_open())
        .filter(|order| rows::shown_in(markets::category(&order.instrument), dex))
        .filter(|order| !hidden(venue, Shelf::Open, order, now_ms))
        .collect()
}

fn history(venue: &Hyperliquid, core: &Core, user: &str, now_ms: u64) -> Value {
    let orders = core.orders().iter().filter(|order| order.account == user);
    let shown = orders.filter(|order| !hidden(venue, Shelf::Closed, order, now_ms));
    let mut all: Vec<(u64, Value)> = shown
        .flat_map(|order| rows::history(venue.ids(), core, &seen(venue, order, now_ms)))
        .collect();
    all.sort_by_key(|(at_ms, _)| std::cmp::Reverse(*at_ms));
    all.into_iter()
        .take(MOST_ROWS)
        .map(|(_, row)| row)
        .collect()
}

/// All fills of an account, oldest first.
fn fills<'a>(venue: &Hyperliquid, core: &'a Core, user: &str, now_ms: u64) -> Vec<&'a Fill> {
    let later = |fill: &Fill| {
        let picture = venue.stage().stale.shows(fill.order, now_ms);
        let at = || {
            core.fills_of(fill.order)
                .position(|other| other.no == fill.no)
        };
        picture.is_some_and(|(_, fills)| at() >= Some(fills))
    };
    let shown = |fill: &&Fill| {
        let order = core.order(fill.order);
        fill.account == user
            && !order.is_some_and(|order| hidden(venue, Shelf::Fills, order, now_ms))
            && !later(fill)
    };
    core.fills().iter().filter(shown).collect()
}

/// Of the fills that still exist here, the first ones of the window.
fn by_time(venue: &Hyperliquid, core: &Core, by: &ByTime, now_ms: u64) -> Value {
    let all = fills(venue, core, &by.user.to_string(), now_ms);
    let gone = all.len().saturating_sub(MOST_FILLS);
    let end_time = by.end_time.unwrap_or(u64::MAX);
    let within = |fill: &&Fill| (by.start_time..=end_time).contains(&fill.at_ms);
    let mut fills: Vec<&Fill> = all.into_iter().skip(gone).filter(within).collect();
    if by.reversed.unwrap_or(false) {
        fills.reverse();
    }
    fills.truncate(MOST_ROWS);
    fill_rows(
        venue.ids(),
        core,
        &fills,
        by.aggregate_by_time.unwrap_or(false),
    )
}

/// Rows of fills; `merged` makes one row of what one order took in one command.
pub(super) fn fill_rows(ids: VenueIds, core: &Core, fills: &[&Fill], merged: bool) -> Value {
    let row = |fill: &Fill| {
        let order = core.order(fill.order)?;
        let instrument = core.instruments().get(&fill.instrument)?;
        Some(rows::fill(ids, fill, order, instrument))
    };
    if !merged {
        return fills.iter().filter_map(|fill| row(fill)).collect();
    }
    let mut sums: BTreeMap<(u64, u64), Fill> = BTreeMap::new();
    let mut order = Vec::new();
    for fill in fills {
        let key = (fill.order.0, fill.sweep);
        match sums.get_mut(&key).filter(|_| !fill.maker) {
            None => {
                order.push(key);
                sums.insert(key, (*fill).clone());
            }
            Some(sum) => {
                let value = sum.qty.saturating_mul(sum.price);
                let value = value.saturating_add(fill.qty.saturating_mul(fill.price));
                sum.qty = sum.qty.saturating_add(fill.qty);
                sum.price = value
                    .checked_div(sum.qty)
                    .unwrap_or(Decimal::ZERO)
                    .round_dp(8);
                sum.fee = sum.fee.saturating_add(fill.fee);
                sum.realized = sum.realized.saturating_add(fill.realized);
            }
        }
    }
    order
        .iter()
        .filter_map(|key| sums.get(key))
        .filter_map(row)
        .collect()
}
