//! What is listed, and what an account owns at the start.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use crate::core::{Flat, Instrument, Kind};

/// `10^-scale` times `number`.
fn dec(number: i64, scale: u32) -> Decimal {
    Decimal::new(number, scale)
}

/// The instruments. Linear BTCUSDT is vector `http-mkt-02` and spot ETHUSDT `http-mkt-03`; the numbers of the others
/// are our choice.
pub(super) fn all() -> Vec<Instrument> {
    let linear = |symbol: &str, base: &str| Instrument {
        category: "linear".to_owned(),
        kind: Kind::Linear,
        symbol: symbol.to_owned(),
        base: base.to_owned(),
        quote: "USDT".to_owned(),
        tick: dec(10, 2),
        step: dec(1, 3),
        min_qty: dec(1, 3),
        max_qty: dec(1_000_000, 3),
        max_market_qty: dec(400_000, 3),
        min_notional: dec(5, 0),
        min_price: dec(10, 2),
        max_price: dec(199_999_980, 2),
        taker_rate: dec(55, 5),
        maker_rate: dec(2, 4),
        leverage: dec(10, 0),
        max_open_orders: 500,
        flat: Flat {
            bid: dec(599_999, 1),
            ask: dec(600_001, 1),
            size: Decimal::ONE,
            levels: 100,
        },
    };
    let btc = linear("BTCUSDT", "BTC");
    let eth = Instrument {
        tick: dec(1, 2),
        step: dec(1, 2),
        min_qty: dec(1, 2),
        max_qty: dec(800_000, 2),
        max_market_qty: dec(200_000, 2),
        min_price: dec(1, 2),
        max_price: dec(19_999_998, 2),
        flat: Flat {
            bid: dec(299_999, 2),
            ask: dec(300_001, 2),
            size: Decimal::ONE,
            levels: 100,
        },
        ..linear("ETHUSDT", "ETH")
    };
    let spot = |linear: &Instrument| Instrument {
        category: "spot".to_owned(),
        kind: Kind::Spot,
        tick: dec(1, 2),
        min_price: dec(1, 2),
        taker_rate: dec(1, 3),
        maker_rate: dec(1, 3),
        leverage: Decimal::ONE,
        flat: Flat {
            bid: linear.mark().saturating_sub(dec(1, 2)),
            ask: linear.mark().saturating_add(dec(1, 2)),
            size: Decimal::ONE,
            levels: 100,
        },
        ..linear.clone()
    };
    let spot_btc = Instrument {
        step: dec(1, 6),
        min_qty: dec(11, 6),
        max_qty: dec(83, 0),
        max_market_qty: dec(415, 1),
        ..spot(&btc)
    };
    let spot_eth = Instrument {
        step: dec(1, 5),
        min_qty: dec(62, 5),
        max_qty: dec(1_229, 0),
        max_market_qty: dec(614, 0),
        ..spot(&eth)
    };
    let inverse = Instrument {
        category: "inverse".to_owned(),
        kind: Kind::Inverse,
        symbol: "BTCUSD".to_owned(),
        quote: "USD".to_owned(),
        step: Decimal::ONE,
        min_qty: Decimal::ONE,
        max_qty: dec(25_000_000, 0),
        max_market_qty: dec(5_000_000, 0),
        min_notional: Decimal::ZERO,
        flat: Flat {
            // One coin at each level, in contracts of one dollar.
            size: dec(60_000, 0),
            ..btc.flat.clone()
        },
        ..btc.clone()
    };
    vec![btc, eth, spot_btc, spot_eth, inverse]
}

/// What each account owns at the start.
pub(super) fn riches() -> BTreeMap<String, String> {
    [("USDT", "1000000"), ("BTC", "100"), ("ETH", "100")]
        .map(|(coin, n)| (coin.to_owned(), n.to_owned()))
        .into()
}
