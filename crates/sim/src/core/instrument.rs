//! What can be traded, and the flat book that is always there.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::order::Side;

/// How amounts turn into money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Contracts of base units, settled in quote money.
    #[default]
    Linear,
    /// Contracts of quote units, settled in base money.
    Inverse,
    /// The coins themselves change hands.
    Spot,
}

impl Kind {
    /// What `qty` is worth at `price`, in the money of the instrument.
    #[must_use]
    pub fn value(self, qty: Decimal, price: Decimal) -> Decimal {
        match self {
            Self::Linear | Self::Spot => qty.saturating_mul(price),
            Self::Inverse => qty
                .checked_div(price)
                .map_or(Decimal::MAX, |value| value.round_dp(16)),
        }
    }

    /// The average price at which `qty` came to `value`; none if nothing did.
    #[must_use]
    pub fn price(self, qty: Decimal, value: Decimal) -> Option<Decimal> {
        match self {
            Self::Linear | Self::Spot => value.checked_div(qty),
            Self::Inverse => qty.checked_div(value),
        }
    }
}

/// A tradable thing and its rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instrument {
    /// The venue's word for the kind (`linear`).
    pub category: String,
    /// How amounts turn into money.
    #[serde(default)]
    pub kind: Kind,
    /// The venue's name.
    pub symbol: String,
    /// What is bought.
    pub base: String,
    /// What it is paid with, and settled in.
    pub quote: String,
    /// Price step.
    #[serde(with = "rust_decimal::serde::str")]
    pub tick: Decimal,
    /// Amount step.
    #[serde(with = "rust_decimal::serde::str")]
    pub step: Decimal,
    /// Least amount.
    #[serde(with = "rust_decimal::serde::str")]
    pub min_qty: Decimal,
    /// Most of a limit order.
    #[serde(with = "rust_decimal::serde::str")]
    pub max_qty: Decimal,
    /// Most of a market order.
    #[serde(with = "rust_decimal::serde::str")]
    pub max_market_qty: Decimal,
    /// Least amount times price.
    #[serde(with = "rust_decimal::serde::str")]
    pub min_notional: Decimal,
    /// Lowest price.
    #[serde(with = "rust_decimal::serde::str")]
    pub min_price: Decimal,
    /// Highest price.
    #[serde(with = "rust_decimal::serde::str")]
    pub max_price: Decimal,
    /// Fee of a taker, of the traded value.
    #[serde(with = "rust_decimal::serde::str")]
    pub taker_rate: Decimal,
    /// Fee of a maker, of the traded value.
    #[serde(with = "rust_decimal::serde::str")]
    pub maker_rate: Decimal,
    /// Value that one unit of margin carries.
    #[serde(with = "rust_decimal::serde::str")]
    pub leverage: Decimal,
    /// Most open orders of one account.
    pub max_open_orders: u32,
    /// The book that is always there.
    pub flat: Flat,
}

impl Instrument {
    /// What the core knows the instrument by: `category/symbol`.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}/{}", self.category, self.symbol)
    }

    /// The coin in which values are counted, and contracts settled.
    #[must_use]
    pub fn money(&self) -> &str {
        match self.kind {
            Kind::Linear | Kind::Spot => &self.quote,
            Kind::Inverse => &self.base,
        }
    }

    /// The coin in which an order of this side pays its fees: on spot, the one that it receives.
    #[must_use]
    pub fn fee_coin(&self, side: Side) -> &str {
        match (self.kind, side) {
            (Kind::Spot, Side::Buy) => &self.base,
            (Kind::Linear | Kind::Inverse | Kind::Spot, Side::Buy | Side::Sell) => self.money(),
        }
    }

    /// The middle of the flat book, the only mark price there is.
    #[must_use]
    pub fn mark(&self) -> Decimal {
        self.flat
            .bid
            .saturating_add(self.flat.ask)
            .checked_div(Decimal::TWO)
            .unwrap_or(self.flat.bid)
    }
}

/// Liquidity of nobody: levels one tick apart on both sides, full again before each command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flat {
    /// Best bid.
    #[serde(with = "rust_decimal::serde::str")]
    pub bid: Decimal,
    /// Best ask.
    #[serde(with = "rust_decimal::serde::str")]
    pub ask: Decimal,
    /// Base units at each level; zero is an empty book.
    #[serde(with = "rust_decimal::serde::str")]
    pub size: Decimal,
    /// Levels on each side.
    pub levels: u32,
}

/// A walk down one side of a flat book, from the best level.
#[derive(Debug)]
pub(super) struct Walk {
    side: Side,
    price: Decimal,
    tick: Decimal,
    size: Decimal,
    left: Decimal,
    levels: u32,
}

impl Walk {
    /// Starts at the best level of `side` of the instrument's flat book.
    pub(super) fn new(instrument: &Instrument, side: Side) -> Self {
        let flat = &instrument.flat;
        Self {
            side,
            price: match side {
                Side::Buy => flat.bid,
                Side::Sell => flat.ask,
            },
            tick: instrument.tick,
            size: flat.size,
            left: flat.size,
            levels: if flat.size.is_zero() { 0 } else { flat.levels },
        }
    }

    /// Price and amount of the level that the walk stands at.
    pub(super) fn best(&self) -> Option<(Decimal, Decimal)> {
        (self.levels > 0 && self.price > Decimal::ZERO).then_some((self.price, self.left))
    }

    /// Takes `qty` of the level; steps to the next when nothing is left.
    pub(super) fn take(&mut self, qty: Decimal) {
        self.left = self.left.saturating_sub(qty);
        if self.left <= Decimal::ZERO {
            self.levels = self.levels.saturating_sub(1);
            self.left = self.size;
            self.price = match self.side {
                Side::Buy => self.price.saturating_sub(self.tick),
                Side::Sell => self.price.saturating_add(self.tick),
            };
        }
    }
}
