//! What an account owns and holds, as the venue says it.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    chain::Chain,
    markets::{LEVERAGE, SPOT, category, coin},
    number::point,
};
use crate::core::{Account, Core, Instrument, Kind, Position, Side};

/// The answer to `clearinghouseState` for the dex of one category.
pub(super) fn perps(core: &Core, chain: &Chain, user: &str, dex: &str, now_ms: u64) -> Value {
    let empty = Account::default();
    let account = core.accounts().get(user).unwrap_or(&empty);
    let cash = account.balances.get("USDC").copied().unwrap_or_default();
    let held = account.positions.iter().filter_map(|(key, position)| {
        let instrument = core.instruments().get(key)?;
        let shown = category(key) == dex && !position.qty.is_zero();
        shown.then_some((key, position, instrument))
    });
    let (mut rows, mut notional, mut profit, mut margin) =
        (Vec::new(), Decimal::ZERO, Decimal::ZERO, Decimal::ZERO);
    for (key, position, instrument) in held {
        let leverage = chain.leverage(user, key);
        let figures = Figures::of(position, instrument, leverage.value);
        notional = notional.saturating_add(figures.value);
        profit = profit.saturating_add(figures.profit);
        margin = margin.saturating_add(figures.margin);
        let kind = if leverage.cross { "cross" } else { "isolated" };
        let mut lever = json!({ "type": kind, "value": leverage.value });
        if let (false, Some(lever)) = (leverage.cross, lever.as_object_mut()) {
            lever.insert("rawUsd".to_owned(), json!(point(figures.margin)));
        }
        rows.push(json!({
            "type": "oneWay",
            "position": {
                "coin": coin(key), "szi": point(position.qty), "leverage": lever,
                "entryPx": point(position.avg_px.round_dp(8)), "positionValue": point(figures.value),
                "unrealizedPnl": point(figures.profit), "returnOnEquity": point(figures.return_on_equity),
                "liquidationPx": null, "marginUsed": point(figures.margin), "maxLeverage": LEVERAGE,
                "cumFunding": { "allTime": "0.0", "sinceOpen": "0.0", "sinceChange": "0.0" },
            },
        }));
    }
    let value = cash.saturating_add(profit);
    let summary = json!({
        "accountValue": point(value.round_dp(6)), "totalNtlPos": point(notional.round_dp(6)),
        "totalRawUsd": point(cash.round_dp(6)), "totalMarginUsed": point(margin.round_dp(6)),
    });
    let free = cash
        .saturating_sub(core.in_use(account, "USDC"))
        .max(Decimal::ZERO);
    json!({
        "marginSummary": summary, "crossMarginSummary": summary, "crossMaintenanceMarginUsed": "0.0",
        "withdrawable": point(free.round_dp(6)), "assetPositions": rows, "time": now_ms,
    })
}

/// What one position comes to at the mark.
#[derive(Debug)]
struct Figures {
    value: Decimal,
    profit: Decimal,
    margin: Decimal,
    return_on_equity: Decimal,
}

impl Figures {
    fn of(position: &Position, instrument: &Instrument, leverage: u32) -> Self {
        let mark = instrument.mark();
        let value = position.qty.abs().saturating_mul(mark);
        let profit = position
            .qty
            .saturating_mul(mark.saturating_sub(position.avg_px));
        let margin = value.checked_div(Decimal::from(leverage)).unwrap_or(value);
        Self {
            value: value.round_dp(6),
            profit: profit.round_dp(6),
            margin: margin.round_dp(6),
            return_on_equity: profit.checked_div(margin).unwrap_or_default().round_dp(10),
        }
    }
}

/// The answer to `spotClearinghouseState`.
pub(super) fn spot(core: &Core, user: &str) -> Value {
    let Some(account) = core.accounts().get(user) else {
        return json!({ "balances": [] });
    };
    let mut rows = Vec::new();
    for (token, name) in ["USDC", "PURR"].into_iter().enumerate() {
        let total = account.balances.get(name).copied().unwrap_or_default();
        rows.push(json!({
            "coin": name, "token": token, "total": point(total), "hold": point(held(core, account, name)),
            "entryNtl": "0.0",
        }));
    }
    json!({ "balances": rows })
}

/// What open spot orders hold back of a coin.
fn held(core: &Core, account: &Account, wanted: &str) -> Decimal {
    let orders = account.open.iter().filter_map(|no| core.order(*no));
    let held = orders.filter_map(|order| {
        let instrument = core.instruments().get(&order.instrument)?;
        let (coin, amount) = match order.side {
            Side::Buy => (
                &instrument.quote,
                order.leaves_qty().saturating_mul(order.price),
            ),
            Side::Sell => (&instrument.base, order.leaves_qty()),
        };
        (instrument.kind == Kind::Spot && coin == wanted).then_some(amount)
    });
    held.fold(Decimal::ZERO, Decimal::saturating_add)
}

/// The contexts that follow the metadata of one dex, in the order of its universe.
pub(super) fn contexts(core: &Core, wanted: &str) -> Vec<Value> {
    let markets = super::markets::MARKETS
        .iter()
        .filter(|market| market.category == wanted);
    let context = |market: &super::markets::Market| {
        let instrument = core.instruments().get(&market.key());
        let mark = instrument.map(|instrument| point(instrument.mark()));
        let mut row = json!({
            "dayNtlVlm": "0.0", "dayBaseVlm": "0.0", "prevDayPx": mark, "markPx": mark, "midPx": mark,
        });
        if let Some(row) = row.as_object_mut() {
            if market.category == SPOT {
                row.insert("circulatingSupply".to_owned(), json!("0.0"));
                row.insert("totalSupply".to_owned(), json!("0.0"));
                row.insert("coin".to_owned(), json!(market.coin));
            } else {
                for name in ["funding", "openInterest", "premium"] {
                    row.insert(name.to_owned(), json!("0.0"));
                }
                row.insert("oraclePx".to_owned(), json!(mark));
                row.insert("impactPxs".to_owned(), json!([mark, mark]));
            }
        }
        row
    };
    markets.map(context).collect()
}
