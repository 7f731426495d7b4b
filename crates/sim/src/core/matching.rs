//! Matching: an incoming order against resting ones and the flat book, by price, then by time.

use rust_decimal::Decimal;

use super::{
    engine::{Core, MOST, sane},
    event::{Happening, Refusal},
    instrument::{Flat, Instrument, Walk},
    order::{Ended, OrdType, Order, OrderNo, SelfTrade, Side, TimeInForce},
};

impl Core {
    /// Matches an order that is in no book, then rests or ends what is left of it.
    pub(super) fn trade_or_rest(&mut self, no: OrderNo) {
        let Some(taker) = self.order(no).cloned() else {
            return;
        };
        let Some(instrument) = self.instruments.get(&taker.instrument).cloned() else {
            return;
        };
        let other = taker.side.opposite();
        let mut walk = Walk::new(&instrument, other);
        let crosses = |price: Decimal| taker.side.accepts(taker.price, price);
        match taker.time_in_force {
            TimeInForce::PostOnly => {
                let resting = self.best(&taker.instrument, other).map(|(price, _)| price);
                if resting
                    .into_iter()
                    .chain(walk.best().map(|(price, _)| price))
                    .any(crosses)
                {
                    return self.close(no, Ended::WouldTake);
                }
            }
            TimeInForce::Fok => {
                if self.available(&taker, &instrument) < taker.leaves_qty() {
                    return self.close(no, Ended::NotEnough);
                }
            }
            TimeInForce::Gtc | TimeInForce::Ioc => {}
        }
        while self.wants_more(no) {
            let resting = self.best(&taker.instrument, other);
            let nobody = walk.best();
            let resting_first = match (resting, nobody) {
                (Some((price, _)), Some((flat, _))) => {
                    price == flat || !taker.side.accepts(price, flat)
                }
                (Some(_), None) => true,
                (None, _) => false,
            };
            match (resting, nobody) {
                (Some((price, maker)), _) if resting_first => {
                    let Some(wanted) = self.still_wanted(no, price) else {
                        break;
                    };
                    if !crosses(price) || !self.meet(no, maker, price, wanted) {
                        break;
                    }
                }
                (_, Some((price, size))) if crosses(price) => {
                    let Some(wanted) = self.still_wanted(no, price) else {
                        break;
                    };
                    let qty = wanted.min(size);
                    walk.take(qty);
                    self.book_fill(no, qty, price, false);
                }
                _ => break,
            }
        }
        let Some(left) = self.order(no) else { return };
        if !left.status.is_open() {
            return;
        }
        let exhausted = left.reduce_only && self.reducible(left).is_zero();
        match (exhausted, taker.time_in_force) {
            (true, _) => self.close(no, Ended::ReduceOnly),
            (false, TimeInForce::Ioc | TimeInForce::Fok) => self.close(no, Ended::NoImmediate),
            (false, TimeInForce::Gtc | TimeInForce::PostOnly) => match taker.ord_type {
                OrdType::Market => self.close(no, Ended::NoImmediate),
                OrdType::Limit => {
                    if let Some(book) = self.books.get_mut(&taker.instrument) {
                        book.insert(taker.side, taker.price, no);
                    }
                }
            },
        }
    }

    /// One meeting of an incoming order with the best resting one; false when the incoming one goes no further.
    fn meet(&mut self, taker: OrderNo, maker: OrderNo, price: Decimal, wanted: Decimal) -> bool {
        let (Some(incoming), Some(resting)) = (self.order(taker), self.order(maker)) else {
            return false;
        };
        if incoming.account == resting.account {
            match incoming.self_trade {
                SelfTrade::None => {}
                SelfTrade::CancelMaker => {
                    self.close(maker, Ended::SelfTrade);
                    return true;
                }
                SelfTrade::CancelTaker => {
                    self.close(taker, Ended::SelfTrade);
                    return false;
                }
                SelfTrade::CancelBoth => {
                    self.close(maker, Ended::SelfTrade);
                    self.close(taker, Ended::SelfTrade);
                    return false;
                }
            }
        }
        let Some(offered) = self.still_wanted(maker, price) else {
            self.close(maker, Ended::ReduceOnly);
            return true;
        };
        let qty = wanted.min(offered);
        self.book_fill(maker, qty, price, true);
        self.book_fill(taker, qty, price, false);
        true
    }

    /// Whether an order may trade at all.
    fn wants_more(&self, no: OrderNo) -> bool {
        self.order(no).is_some_and(|order| {
            order.status.is_open()
                && (order.quote_qty.is_some() || self.still_wanted(no, order.price).is_some())
        })
    }

    /// What an order may trade now at `price`, if anything: reduce-only ones no more than the position, those of an
    /// amount of money as many steps as it pays for.
    fn still_wanted(&self, no: OrderNo, price: Decimal) -> Option<Decimal> {
        let order = self.order(no)?;
        let leaves = match order.leaves_quote() {
            None => order.leaves_qty(),
            Some(left) => {
                let step = self.instruments.get(&order.instrument)?.step;
                let steps = left.checked_div(price)?.checked_div(step)?.floor();
                steps.saturating_mul(step)
            }
        };
        let wanted = if order.reduce_only {
            leaves.min(self.reducible(order))
        } else {
            leaves
        };
        (wanted > Decimal::ZERO).then_some(wanted)
    }

    pub(super) fn reducible(&self, order: &Order) -> Decimal {
        let position = self
            .accounts
            .get(&order.account)
            .and_then(|a| a.positions.get(&order.instrument));
        position.map_or(Decimal::ZERO, |position| position.reducible(order.side))
    }

    /// What an order could trade at once.
    fn available(&self, taker: &Order, instrument: &Instrument) -> Decimal {
        let other = taker.side.opposite();
        let mut sum = Decimal::ZERO;
        for (price, maker) in self
            .books
            .get(&taker.instrument)
            .map(|book| book.ranked(other))
            .unwrap_or_default()
        {
            let Some(resting) = self.order(maker) else {
                continue;
            };
            let own = resting.account == taker.account && taker.self_trade != SelfTrade::None;
            if taker.side.accepts(taker.price, price) && !own {
                sum = sum.saturating_add(self.still_wanted(maker, price).unwrap_or_default());
            }
        }
        let mut walk = Walk::new(instrument, other);
        while let Some((price, size)) = walk
            .best()
            .filter(|(price, _)| taker.side.accepts(taker.price, *price))
        {
            debug_assert!(price > Decimal::ZERO, "a level has a price");
            sum = sum.saturating_add(size);
            walk.take(size);
        }
        sum
    }

    fn best(&self, instrument: &str, side: Side) -> Option<(Decimal, OrderNo)> {
        self.books.get(instrument).and_then(|book| book.best(side))
    }

    pub(super) fn set_market(&mut self, key: String, flat: Flat) -> Result<(), Refusal> {
        let instrument = self
            .instruments
            .get_mut(&key)
            .ok_or(Refusal::UnknownInstrument)?;
        if !sane(flat.bid)
            || !sane(flat.ask)
            || flat.bid >= flat.ask
            || flat.size < Decimal::ZERO
            || flat.size > MOST
        {
            return Err(Refusal::BadNumber);
        }
        instrument.flat = flat.clone();
        let instrument = instrument.clone();
        self.say(Happening::MarketSet {
            instrument: key.clone(),
            flat,
        });
        for side in [Side::Buy, Side::Sell] {
            let mut walk = Walk::new(&instrument, side.opposite());
            let mut next = self
                .books
                .get(&key)
                .map(|book| book.ranked(side))
                .unwrap_or_default()
                .into_iter();
            let mut resting = next.next();
            while let (Some((limit, no)), Some((price, size))) = (resting, walk.best()) {
                if !side.accepts(limit, price) {
                    break;
                }
                let Some(wanted) = self.still_wanted(no, limit) else {
                    resting = next.next();
                    continue;
                };
                let qty = wanted.min(size);
                walk.take(qty);
                self.book_fill(no, qty, limit, true);
            }
        }
        Ok(())
    }
}
