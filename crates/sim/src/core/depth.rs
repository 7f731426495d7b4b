//! The book as the public sees it: resting orders and the flat book by price.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::{engine::Core, instrument::Walk, order::Side};

/// All that stands at one price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// The price.
    pub price: Decimal,
    /// How much stands there.
    pub qty: Decimal,
    /// How many orders that is; the flat book counts as one.
    pub orders: u32,
}

impl Core {
    /// The best `most` levels of one side of an instrument's book, best first.
    #[must_use]
    pub fn depth(&self, key: &str, side: Side, most: usize) -> Vec<Level> {
        let Some(instrument) = self.instruments.get(key) else {
            return Vec::new();
        };
        let mut levels: BTreeMap<Decimal, (Decimal, u32)> = BTreeMap::new();
        let mut add = |price: Decimal, qty: Decimal| {
            let level = levels.entry(price).or_default();
            *level = (level.0.saturating_add(qty), level.1.saturating_add(1));
        };
        let ranked = self.books.get(key).map(|book| book.ranked(side));
        for (price, no) in ranked.unwrap_or_default() {
            if let Some(order) = self.order(no) {
                add(price, order.leaves_qty());
            }
        }
        let mut walk = Walk::new(instrument, side);
        for _ in 0..most {
            let Some((price, size)) = walk.best() else {
                break;
            };
            add(price, size);
            walk.take(size);
        }
        let level = |(price, (qty, orders)): (&Decimal, &(Decimal, u32))| Level {
            price: *price,
            qty: *qty,
            orders: *orders,
        };
        match side {
            Side::Buy => levels.iter().rev().take(most).map(level).collect(),
            Side::Sell => levels.iter().take(most).map(level).collect(),
        }
    }
}
