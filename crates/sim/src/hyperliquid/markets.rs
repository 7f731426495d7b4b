//! What is listed, under which asset ids, and what an account owns at the start.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::core::{Flat, Instrument, Kind};

/// Category of the perps of the main dex.
pub(super) const PERP: &str = "perp";
/// Category of spot.
pub(super) const SPOT: &str = "spot";
/// The builder's dex, its name also the category of its perps.
pub(super) const DEX: &str = "xyz";
/// What one unit of margin carries, and the most leverage.
pub(super) const LEVERAGE: u32 = 20;
/// A perp that is still in the universe, and no longer traded.
const DELISTED: &str = "OLD";

/// One market as the metadata has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Market {
    /// Id in actions.
    pub(super) asset: u32,
    /// The core's category.
    pub(super) category: &'static str,
    /// Name in answers.
    pub(super) coin: &'static str,
    pub(super) sz_decimals: u32,
    pub(super) delisted: bool,
}

/// All markets: each universe in its order.
pub(super) const MARKETS: [Market; 6] = [
    market(0, PERP, "BTC", 5),
    market(1, PERP, "ETH", 4),
    market(2, PERP, "SOL", 2),
    Market {
        delisted: true,
        ..market(3, PERP, DELISTED, 0)
    },
    market(10_000, SPOT, "PURR/USDC", 0),
    market(110_000, DEX, "xyz:XYZ100", 2),
];

const fn market(
    asset: u32,
    category: &'static str,
    coin: &'static str,
    sz_decimals: u32,
) -> Market {
    Market {
        asset,
        category,
        coin,
        sz_decimals,
        delisted: false,
    }
}

impl Market {
    /// The market with this id in actions.
    pub(super) fn of_asset(asset: u32) -> Option<&'static Self> {
        MARKETS.iter().find(|market| market.asset == asset)
    }

    /// The market with this name.
    pub(super) fn of_coin(coin: &str) -> Option<&'static Self> {
        MARKETS.iter().find(|market| market.coin == coin)
    }

    /// The core's key.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.category, self.coin)
    }

    /// Whether coins change hands.
    pub(super) fn is_spot(&self) -> bool {
        self.category == SPOT
    }
}

/// The coin of an instrument's key.
pub(super) fn coin(key: &str) -> &str {
    key.split_once('/').map_or(key, |(_, coin)| coin)
}

/// The category of an instrument's key.
pub(super) fn category(key: &str) -> &str {
    key.split_once('/').map_or(key, |(category, _)| category)
}

/// What the core trades.
pub(super) fn instruments() -> Vec<Instrument> {
    let traded = MARKETS.iter().filter(|market| !market.delisted);
    traded.map(instrument).collect()
}

fn instrument(market: &Market) -> Instrument {
    // Mid and tick: what five significant figures leave at that price.
    let (mid, tick) = match market.coin {
        "BTC" => (Decimal::new(60_000, 0), Decimal::ONE),
        "ETH" => (Decimal::new(3_000, 0), Decimal::new(1, 1)),
        "SOL" => (Decimal::new(150, 0), Decimal::new(1, 2)),
        "PURR/USDC" => (Decimal::new(5, 0), Decimal::new(1, 4)),
        _ => (Decimal::ONE_HUNDRED, Decimal::new(1, 2)),
    };
    let step = Decimal::new(1, market.sz_decimals);
    let most = Decimal::new(1_000_000_000, 0);
    let (taker, maker) = if market.is_spot() { (70, 40) } else { (45, 15) };
    let base = market
        .coin
        .split_once('/')
        .map_or(market.coin, |(base, _)| base);
    Instrument {
        category: market.category.to_owned(),
        kind: if market.is_spot() {
            Kind::Spot
        } else {
            Kind::Linear
        },
        symbol: market.coin.to_owned(),
        base: base.to_owned(),
        quote: "USDC".to_owned(),
        tick,
        step,
        min_qty: step,
        max_qty: most,
        max_market_qty: most,
        min_notional: Decimal::TEN,
        min_price: Decimal::new(1, 8),
        max_price: most,
        taker_rate: Decimal::new(taker, 5),
        maker_rate: Decimal::new(maker, 5),
        leverage: Decimal::from(if market.is_spot() { 1 } else { LEVERAGE }),
        max_open_orders: 1_000,
        flat: Flat {
            bid: mid.saturating_sub(tick),
            ask: mid.saturating_add(tick),
            size: Decimal::ONE,
            levels: 100,
        },
    }
}

/// What each account owns at the start. Perps and spot share the USDC.
pub(super) fn riches() -> BTreeMap<String, String> {
    [("USDC", "1000000"), ("PURR", "100")]
        .map(|(coin, amount)| (coin.to_owned(), amount.to_owned()))
        .into()
}

/// The answer to `meta` for one dex; the main one is empty.
pub(super) fn meta(dex: &str) -> Option<Value> {
    let category = dex_category(dex)?;
    let row = |market: &Market| {
        let mut row = json!({
            "name": market.coin, "szDecimals": market.sz_decimals, "maxLeverage": LEVERAGE, "marginTableId": LEVERAGE,
        });
        if market.delisted
            && let Some(row) = row.as_object_mut()
        {
            row.insert("isDelisted".to_owned(), json!(true));
        }
        row
    };
    let universe: Vec<Value> = MARKETS
        .iter()
        .filter(|market| market.category == category)
        .map(row)
        .collect();
    let tier = json!({ "lowerBound": "0.0", "maxLeverage": LEVERAGE });
    Some(json!({
        "universe": universe,
        "marginTables": [[LEVERAGE, { "description": "", "marginTiers": [tier] }]],
        "collateralToken": 0,
    }))
}

/// The category of a dex; none if there is no such dex.
pub(super) fn dex_category(dex: &str) -> Option<&'static str> {
    match dex {
        "" => Some(PERP),
        DEX => Some(DEX),
        _ => None,
    }
}

/// The answer to `perpDexs`.
pub(super) fn dexs() -> Value {
    let zero = "0x0000000000000000000000000000000000000000";
    json!([null, {
        "name": DEX, "fullName": "simulated", "deployer": zero, "oracleUpdater": null, "feeRecipient": null,
        "assetToStreamingOiCap": [],
    }])
}

/// The answer to `spotMeta`.
pub(super) fn spot_meta() -> Value {
    let token = |name: &str, index: u32, sz_decimals: u32, wei_decimals: u32, id: &str| {
        json!({
            "name": name, "szDecimals": sz_decimals, "weiDecimals": wei_decimals, "index": index, "tokenId": id,
            "isCanonical": true, "evmContract": null, "fullName": null, "deployerTradingFeeShare": "0.0",
        })
    };
    json!({
        "universe": [{ "name": "PURR/USDC", "tokens": [1, 0], "index": 0, "isCanonical": true }],
        "tokens": [
            token("USDC", 0, 8, 8, "0x6d1e7cde53ba9467b783cb7c530ce054"),
            token("PURR", 1, 0, 5, "0xc4bf3f870c0e9465323c0b6ed28096c2"),
        ],
    })
}
