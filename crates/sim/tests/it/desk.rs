//! A core with two accounts and one instrument, for tests without sockets.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use surefill_sim::core::{
    Command, Core, DuplicateRule, Event, Flat, Happening, Instrument, Kind, NewOrder, OrdType,
    OrderNo, Refusal, SelfTrade, Side, TimeInForce, What,
};

pub(crate) const KEY: &str = "linear/BTCUSDT";

pub(crate) fn instrument(size: i64) -> Instrument {
    Instrument {
        category: "linear".to_owned(),
        kind: Kind::Linear,
        symbol: "BTCUSDT".to_owned(),
        base: "BTC".to_owned(),
        quote: "USDT".to_owned(),
        tick: Decimal::new(1, 0),
        step: Decimal::new(1, 0),
        min_qty: Decimal::ONE,
        max_qty: Decimal::new(1_000_000, 0),
        max_market_qty: Decimal::new(1_000_000, 0),
        min_notional: Decimal::ONE,
        min_price: Decimal::ONE,
        max_price: Decimal::new(1_000_000, 0),
        taker_rate: Decimal::new(55, 5),
        maker_rate: Decimal::new(2, 4),
        leverage: Decimal::TEN,
        max_open_orders: 100_000,
        flat: Flat {
            bid: Decimal::new(99, 0),
            ask: Decimal::new(101, 0),
            size: Decimal::new(size, 0),
            levels: 100,
        },
    }
}

#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) core: Core,
    pub(crate) at_ms: u64,
}

impl Desk {
    /// A flat book of `size` at each level, 99 to 101.
    pub(crate) fn new(rule: DuplicateRule, size: i64) -> Self {
        let mut desk = Self {
            core: Core::new(rule, 10_000),
            at_ms: 1,
        };
        desk.apply(What::List(Box::new(instrument(size))));
        for account in ["a", "b"] {
            let balances = BTreeMap::from([("USDT".to_owned(), "1000000000".to_owned())]);
            desk.apply(What::OpenAccount {
                account: account.to_owned(),
                balances,
            });
        }
        desk
    }

    pub(crate) fn apply(&mut self, what: What) -> Vec<Event> {
        self.at_ms += 1;
        self.core.apply(Command {
            at_ms: self.at_ms,
            what,
        })
    }

    /// The order's number, or why there is none.
    pub(crate) fn place(&mut self, new: NewOrder) -> Result<OrderNo, Refusal> {
        let events = self.apply(What::Place(Box::new(new)));
        match &events[0].what {
            Happening::Accepted(order) => Ok(order.no),
            Happening::Existing { order } => Ok(*order),
            Happening::Refused { refusal } => Err(*refusal),
            other => panic!("{other:?}"),
        }
    }
}

/// A limit order of account `a`.
pub(crate) fn limit(side: Side, qty: i64, price: i64) -> NewOrder {
    NewOrder {
        account: "a".to_owned(),
        instrument: KEY.to_owned(),
        wire_id: None,
        side,
        ord_type: OrdType::Limit,
        time_in_force: TimeInForce::Gtc,
        price: Decimal::new(price, 0),
        order_qty: Decimal::new(qty, 0),
        quote_qty: None,
        reduce_only: false,
        self_trade: SelfTrade::None,
    }
}

/// A resting buy with a client id.
pub(crate) fn named(id: &str) -> NewOrder {
    NewOrder {
        wire_id: Some(id.to_owned()),
        ..limit(Side::Buy, 1, 50)
    }
}
