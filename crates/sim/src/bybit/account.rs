//! Reads of the account and of the market.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    config::Login,
    query::Query,
    reply::Code,
    rows::{self, plain},
    venue::Bybit,
};
use crate::{
    core::{Core, Instrument, Kind, Side},
    edge::Venue,
};

pub(super) fn wallet(venue: &Bybit, uid: &str, query: &Query) -> Result<Value, Code> {
    if query.get("accountType") != Some("UNIFIED") {
        return Err(Code::param("accountType invalid"));
    }
    let wanted = query
        .get("coin")
        .map(|coins| coins.split(',').map(str::to_owned).collect::<Vec<_>>());
    let world = venue.stage().world();
    let shown = |coin: &str| {
        wanted
            .as_ref()
            .is_none_or(|wanted| wanted.iter().any(|other| other == coin))
    };
    Ok(json!({ "list": [wallet_row(world.core(), uid, shown)] }))
}

/// What an account owns, as REST and the stream say it.
pub(super) fn wallet_row(core: &Core, uid: &str, shown: impl Fn(&str) -> bool) -> Value {
    let owner = core.accounts().get(uid);
    let balances = owner.map(|account| &account.balances);
    let total = balances
        .and_then(|balances| balances.get("USDT"))
        .copied()
        .unwrap_or(Decimal::ZERO);
    let in_use = |coin: &str| owner.map_or(Decimal::ZERO, |owner| core.in_use(owner, coin));
    let free = total.saturating_sub(in_use("USDT"));
    let coin = |(coin, amount): (&String, &Decimal)| {
        json!({
            "coin": coin, "equity": plain(*amount), "usdValue": plain(*amount), "walletBalance": plain(*amount),
            "locked": plain(locked(core, uid, coin)), "spotHedgingQty": "0", "borrowAmount": "0",
            "accruedInterest": "0", "totalOrderIM": "0", "totalPositionIM": plain(in_use(coin)),
            "totalPositionMM": "0", "unrealisedPnl": "0", "cumRealisedPnl": "0", "bonus": "0",
            "collateralSwitch": true, "marginCollateral": true, "spotBorrow": "0", "availableToWithdraw": "",
            "availableToBorrow": "",
        })
    };
    let coins: Vec<Value> = balances
        .into_iter()
        .flatten()
        .filter(|(coin, _)| shown(coin))
        .map(coin)
        .collect();
    json!({
        "accountType": "UNIFIED", "totalEquity": plain(total), "totalWalletBalance": plain(total),
        "totalAvailableBalance": plain(free), "totalMarginBalance": plain(total), "totalInitialMargin": "0",
        "totalMaintenanceMargin": "0", "totalPerpUPL": "0", "accountIMRate": "0", "accountMMRate": "0", "coin": coins,
    })
}

/// What open spot orders hold back of a coin.
fn locked(core: &Core, uid: &str, coin: &str) -> Decimal {
    let Some(owner) = core.accounts().get(uid) else {
        return Decimal::ZERO;
    };
    let orders = owner.open.iter().filter_map(|no| core.order(*no));
    let held = orders.filter_map(|order| {
        let instrument = core.instruments().get(&order.instrument)?;
        let (other, amount) = match order.side {
            Side::Buy => (
                &instrument.quote,
                order.leaves_qty().saturating_mul(order.price),
            ),
            Side::Sell => (&instrument.base, order.leaves_qty()),
        };
        (instrument.kind == Kind::Spot && other == coin).then_some(amount)
    });
    held.fold(Decimal::ZERO, Decimal::saturating_add)
}

pub(super) fn account_info(venue: &Bybit) -> Value {
    json!({
        "unifiedMarginStatus": 5, "marginMode": "REGULAR_MARGIN", "isMasterTrader": false,
        "spotHedgingStatus": "OFF", "updatedTime": venue.stage().clock.now_ms().to_string(), "dcpStatus": "OFF",
        "timeWindow": 10, "smpGroup": 0,
    })
}

pub(super) fn query_api(login: Option<&Login>) -> Value {
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

pub(super) fn instruments(venue: &Bybit, query: &Query) -> Result<Value, Code> {
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

pub(super) fn time(venue: &Bybit) -> Value {
    let now_ms = venue.stage().clock.now_ms();
    json!({
        "timeSecond": (now_ms / 1_000).to_string(),
        "timeNano": u128::from(now_ms).saturating_mul(1_000_000).to_string(),
    })
}
