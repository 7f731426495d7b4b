//! Booking: what a fill and an end do to the order, the account and the position.

use rust_decimal::Decimal;

use super::{
    engine::{Core, slot},
    event::{Fill, Happening},
    instrument::Kind,
    order::{Ended, OrdStatus, OrderNo, Side},
};

impl Core {
    /// Books one side of a trade: order, account, position, fee; ends the order when it is full.
    pub(super) fn book_fill(&mut self, no: OrderNo, qty: Decimal, price: Decimal, maker: bool) {
        let seq = self.seq.saturating_add(1);
        let (sweep, at_ms) = (self.commands, self.now_ms);
        let fill_no = u64::try_from(self.fills.len())
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let Some(order) = slot(no).and_then(|slot| self.orders.get_mut(slot)) else {
            return;
        };
        let Some(instrument) = self.instruments.get(&order.instrument) else {
            return;
        };
        let fee_rate = if maker {
            instrument.maker_rate
        } else {
            instrument.taker_rate
        };
        let (kind, side) = (instrument.kind, order.side);
        let value = kind.value(qty, price);
        let fee = match (kind, side) {
            (Kind::Spot, Side::Buy) => qty.saturating_mul(fee_rate),
            (Kind::Linear | Kind::Inverse | Kind::Spot, Side::Buy | Side::Sell) => {
                value.saturating_mul(fee_rate)
            }
        };
        order.cum_qty = order.cum_qty.saturating_add(qty);
        order.cum_value = order.cum_value.saturating_add(value);
        order.cum_fee = order.cum_fee.saturating_add(fee);
        order.status = OrdStatus::PartiallyFilled;
        order.updated_at_ms = at_ms;
        order.updated_seq = seq;
        let leaves_qty = order
            .order_qty
            .saturating_sub(order.cum_qty)
            .max(Decimal::ZERO);
        let full = order
            .leaves_quote()
            .map_or(leaves_qty.is_zero(), |left| left.is_zero());
        let (account, key) = (order.account.clone(), order.instrument.clone());
        let (mut held_before, mut result) = (Decimal::ZERO, Decimal::ZERO);
        if let Some(owner) = self.accounts.get_mut(&account)
            && kind == Kind::Spot
        {
            held_before = owner
                .balances
                .get(&instrument.base)
                .copied()
                .unwrap_or_default();
            owner.pay(&instrument.base, side.signed(qty));
            owner.pay(&instrument.quote, -side.signed(value));
            owner.pay(instrument.fee_coin(side), -fee);
        } else if let Some(owner) = self.accounts.get_mut(&account) {
            let position = owner.positions.entry(key.clone()).or_default();
            held_before = position.qty;
            let realized = position.book(kind, side, qty, price);
            result = realized;
            position.updated_at_ms = at_ms;
            position.last_fill = Some(fill_no);
            owner.pay(instrument.money(), realized.saturating_sub(fee));
        }
        let fill = Fill {
            no: fill_no,
            order: no,
            account: account.clone(),
            instrument: key.clone(),
            side,
            qty,
            price,
            fee,
            fee_rate,
            leaves_qty,
            maker,
            sweep,
            at_ms,
            held_before,
            realized: result,
        };
        self.fills_of.entry(no).or_default().push(self.fills.len());
        self.fills.push(fill.clone());
        self.say(Happening::Filled(Box::new(fill)));
        if full {
            self.close(no, Ended::Filled);
        }
        // An incoming order is looked after by `trade_or_rest`, which also says why it ends.
        self.end_useless_reducers(&account, &key, (!maker).then_some(no));
    }

    /// Ends resting reduce-only orders that have nothing to reduce any more.
    fn end_useless_reducers(&mut self, account: &str, instrument: &str, but: Option<OrderNo>) {
        let Some(owner) = self.accounts.get(account) else {
            return;
        };
        let reducers = owner
            .open
            .iter()
            .filter_map(|no| self.order(*no))
            .filter(|order| {
                order.reduce_only
                    && Some(order.no) != but
                    && order.instrument == instrument
                    && self.reducible(order).is_zero()
            });
        for no in reducers.map(|order| order.no).collect::<Vec<_>>() {
            self.close(no, Ended::ReduceOnly);
        }
    }

    pub(super) fn close(&mut self, no: OrderNo, ended: Ended) {
        let seq = self.seq.saturating_add(1);
        let at_ms = self.now_ms;
        let Some(order) = slot(no).and_then(|slot| self.orders.get_mut(slot)) else {
            return;
        };
        if !order.status.is_open() {
            return;
        }
        order.status = if ended == Ended::Filled {
            OrdStatus::Filled
        } else {
            OrdStatus::Canceled
        };
        order.ended = Some(ended);
        order.updated_at_ms = at_ms;
        order.updated_seq = seq;
        if let Some(book) = self.books.get_mut(&order.instrument) {
            book.remove(order.side, order.price, no);
        }
        if let Some(account) = self.accounts.get_mut(&order.account) {
            account.open.remove(&no);
            account.closed.push(no);
        }
        self.say(Happening::Closed { order: no, ended });
    }
}
