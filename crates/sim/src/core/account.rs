//! What an account owns and how it stands.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use super::{
    ids::Ids,
    instrument::Kind,
    order::{OrderNo, Side},
};

/// One account.
#[derive(Debug, Default)]
pub struct Account {
    /// Coin to amount; fees and realized results are booked here.
    pub balances: BTreeMap<String, Decimal>,
    /// Instrument key to position.
    pub positions: BTreeMap<String, Position>,
    /// Orders that work, oldest first.
    pub open: BTreeSet<OrderNo>,
    /// Orders that ended, in the order in which they did.
    pub closed: Vec<OrderNo>,
    pub(super) ids: Ids,
}

impl Account {
    /// Adds to what it owns of a coin, or takes from it.
    pub(super) fn pay(&mut self, coin: &str, amount: Decimal) {
        let balance = self.balances.entry(coin.to_owned()).or_default();
        *balance = balance.saturating_add(amount);
    }
}

/// A one-way position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// Base units, of inverse contracts quote units; negative when short.
    pub qty: Decimal,
    /// Average price of what is open.
    pub avg_px: Decimal,
    /// Result of what was closed, before fees, in the money of the instrument.
    pub realized: Decimal,
    /// Venue time of the last change.
    pub updated_at_ms: u64,
    /// Number of the fill that changed it last; none if it never traded.
    pub last_fill: Option<u64>,
}

impl Position {
    /// How much of `side` would make the position smaller.
    #[must_use]
    pub fn reducible(&self, side: Side) -> Decimal {
        let against = match side {
            Side::Buy => -self.qty,
            Side::Sell => self.qty,
        };
        against.max(Decimal::ZERO)
    }

    /// Books a trade and returns the result that it realizes.
    pub(super) fn book(&mut self, kind: Kind, side: Side, qty: Decimal, price: Decimal) -> Decimal {
        let closing = self.reducible(side).min(qty);
        let opening = qty.saturating_sub(closing);
        let held = self.qty.abs();
        let (now, then) = (kind.value(closing, price), kind.value(closing, self.avg_px));
        let gain = match kind {
            _ if closing.is_zero() => Decimal::ZERO,
            Kind::Linear | Kind::Spot => now.saturating_sub(then),
            // Contracts of quote units are worth less money when the price rises.
            Kind::Inverse => then.saturating_sub(now),
        };
        let realized = match side {
            Side::Sell => gain,
            Side::Buy => -gain,
        };
        if opening > Decimal::ZERO {
            let kept = if closing.is_zero() {
                held
            } else {
                Decimal::ZERO
            };
            let before = if kept.is_zero() {
                Decimal::ZERO
            } else {
                kind.value(kept, self.avg_px)
            };
            let value = before.saturating_add(kind.value(opening, price));
            self.avg_px = kind
                .price(kept.saturating_add(opening), value)
                .unwrap_or(price);
        }
        self.qty = self.qty.saturating_add(side.signed(qty));
        if self.qty.is_zero() {
            self.avg_px = Decimal::ZERO;
        }
        self.realized = self.realized.saturating_add(realized);
        realized
    }
}
