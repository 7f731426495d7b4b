//! Resting orders of one instrument, by price, then by time.

use std::collections::{BTreeMap, VecDeque};

use rust_decimal::Decimal;

use super::order::{OrderNo, Side};

/// Both sides of one book.
#[derive(Debug, Default)]
pub(super) struct Book {
    bids: BTreeMap<Decimal, VecDeque<OrderNo>>,
    asks: BTreeMap<Decimal, VecDeque<OrderNo>>,
}

impl Book {
    fn side(&self, side: Side) -> &BTreeMap<Decimal, VecDeque<OrderNo>> {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    fn side_mut(&mut self, side: Side) -> &mut BTreeMap<Decimal, VecDeque<OrderNo>> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    /// Puts an order behind all others of its price.
    pub(super) fn insert(&mut self, side: Side, price: Decimal, order: OrderNo) {
        self.side_mut(side)
            .entry(price)
            .or_default()
            .push_back(order);
    }

    /// Takes an order out, wherever it stands.
    pub(super) fn remove(&mut self, side: Side, price: Decimal, order: OrderNo) {
        let levels = self.side_mut(side);
        if let Some(queue) = levels.get_mut(&price) {
            queue.retain(|other| *other != order);
            if queue.is_empty() {
                levels.remove(&price);
            }
        }
    }

    /// The order that trades first on `side`.
    pub(super) fn best(&self, side: Side) -> Option<(Decimal, OrderNo)> {
        let levels = self.side(side);
        let level = match side {
            Side::Buy => levels.last_key_value(),
            Side::Sell => levels.first_key_value(),
        };
        level.and_then(|(price, queue)| queue.front().map(|order| (*price, *order)))
    }

    /// All orders of `side` with their prices, best first.
    pub(super) fn ranked(&self, side: Side) -> Vec<(Decimal, OrderNo)> {
        let levels = self.side(side);
        let flat = |(price, queue): (&Decimal, &VecDeque<OrderNo>)| {
            queue
                .iter()
                .map(|order| (*price, *order))
                .collect::<Vec<_>>()
        };
        match side {
            Side::Buy => levels.iter().rev().flat_map(flat).collect(),
            Side::Sell => levels.iter().flat_map(flat).collect(),
        }
    }
}
