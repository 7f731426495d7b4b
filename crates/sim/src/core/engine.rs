//! The core itself: one command at a time, price-time priority, checked numbers.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::{
    account::Account,
    book::Book,
    command::{Command, NewOrder, What},
    event::{Event, Fill, Happening, Refusal},
    ids::DuplicateRule,
    instrument::{Flat, Instrument, Walk},
    order::{Ended, OrdStatus, OrdType, Order, OrderNo, SelfTrade, Side, TimeInForce},
};

/// Amounts and prices above this are refused, so that products of two stay exact enough to add up.
const MOST: Decimal = Decimal::from_parts(0xA4C6_8000, 0x0003_8D7E, 0, false, 0); // 10^15

/// Accounts, instruments, orders and fills of one simulated venue.
#[derive(Debug)]
pub struct Core {
    instruments: BTreeMap<String, Instrument>,
    books: BTreeMap<String, Book>,
    accounts: BTreeMap<String, Account>,
    orders: Vec<Order>,
    fills: Vec<Fill>,
    /// Positions in `fills`, by order.
    fills_of: BTreeMap<OrderNo, Vec<usize>>,
    duplicate: DuplicateRule,
    window: u32,
    commands: u64,
    seq: u64,
    now_ms: u64,
    events: Vec<Event>,
}

impl Core {
    /// An empty venue with this duplicate rule.
    #[must_use]
    pub const fn new(duplicate: DuplicateRule, window: u32) -> Self {
        Self {
            instruments: BTreeMap::new(),
            books: BTreeMap::new(),
            accounts: BTreeMap::new(),
            orders: Vec::new(),
            fills: Vec::new(),
            fills_of: BTreeMap::new(),
            duplicate,
            window,
            commands: 0,
            seq: 0,
            now_ms: 0,
            events: Vec::new(),
        }
    }

    /// Does what the command asks, or refuses it, and says what happened.
    pub fn apply(&mut self, command: Command) -> Vec<Event> {
        self.commands = self.commands.saturating_add(1);
        self.now_ms = command.at_ms;
        let done = match command.what {
            What::OpenAccount { account, balances } => self.open_account(account, &balances),
            What::List(instrument) => self.list(*instrument),
            What::Place(new) => self.place(*new),
            What::Cancel { order } => self.cancel(order),
            What::Amend {
                order,
                order_qty,
                price,
            } => self.amend(order, order_qty, price),
            What::Fill { order, qty, price } => self.fill_resting(order, qty, price),
            What::SetMarket { instrument, flat } => self.set_market(instrument, flat),
            What::SetRules { duplicate, window } => {
                self.duplicate = duplicate;
                self.window = window;
                for account in self.accounts.values_mut() {
                    account.ids.shrink(window);
                }
                self.say(Happening::RulesSet { duplicate, window });
                Ok(())
            }
            What::CloseDay => {
                for account in self.accounts.values_mut() {
                    account.ids.close_day();
                }
                self.say(Happening::DayClosed);
                Ok(())
            }
        };
        if let Err(refusal) = done {
            self.say(Happening::Refused { refusal });
        }
        std::mem::take(&mut self.events)
    }

    /// The rule for ids that were seen before, and the window of `refused_day`.
    #[must_use]
    pub const fn rules(&self) -> (DuplicateRule, u32) {
        (self.duplicate, self.window)
    }

    /// The order with this number.
    #[must_use]
    pub fn order(&self, no: OrderNo) -> Option<&Order> {
        self.orders.get(slot(no)?)
    }

    /// All orders, oldest first.
    #[must_use]
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// All fills, oldest first.
    #[must_use]
    pub fn fills(&self) -> &[Fill] {
        &self.fills
    }

    /// The fills of one order, oldest first.
    pub fn fills_of(&self, no: OrderNo) -> impl DoubleEndedIterator<Item = &Fill> {
        let places = self.fills_of.get(&no).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|place| self.fills.get(*place))
    }

    /// All accounts by name.
    #[must_use]
    pub const fn accounts(&self) -> &BTreeMap<String, Account> {
        &self.accounts
    }

    /// All instruments by key.
    #[must_use]
    pub const fn instruments(&self) -> &BTreeMap<String, Instrument> {
        &self.instruments
    }

    /// All orders of an account that took this client id, oldest first.
    #[must_use]
    pub fn by_wire_id(&self, account: &str, wire_id: &str) -> &[OrderNo] {
        self.accounts
            .get(account)
            .map_or(&[], |account| account.ids.orders(wire_id))
    }

    /// Number of the last event.
    #[must_use]
    pub const fn seq(&self) -> u64 {
        self.seq
    }

    fn say(&mut self, what: Happening) {
        self.seq = self.seq.saturating_add(1);
        self.events.push(Event {
            seq: self.seq,
            at_ms: self.now_ms,
            what,
        });
    }

    fn open_account(
        &mut self,
        name: String,
        balances: &BTreeMap<String, String>,
    ) -> Result<(), Refusal> {
        if self.accounts.contains_key(&name) {
            return Err(Refusal::Exists);
        }
        let mut account = Account::default();
        for (coin, amount) in balances {
            let amount = amount.parse::<Decimal>().map_err(|_| Refusal::BadNumber)?;
            account.balances.insert(coin.clone(), amount);
        }
        self.accounts.insert(name.clone(), account);
        self.say(Happening::AccountOpened { account: name });
        Ok(())
    }

    fn list(&mut self, instrument: Instrument) -> Result<(), Refusal> {
        let key = instrument.key();
        if self.instruments.contains_key(&key) {
            return Err(Refusal::Exists);
        }
        self.instruments.insert(key.clone(), instrument);
        self.books.insert(key.clone(), Book::default());
        self.say(Happening::Listed { instrument: key });
        Ok(())
    }

    fn place(&mut self, new: NewOrder) -> Result<(), Refusal> {
        let account = self
            .accounts
            .get(&new.account)
            .ok_or(Refusal::UnknownAccount)?;
        let instrument = self
            .instruments
            .get(&new.instrument)
            .ok_or(Refusal::UnknownInstrument)?;
        if !sane(new.order_qty) || !sane(new.price) {
            return Err(Refusal::BadNumber);
        }
        if let Some(id) = &new.wire_id {
            let earlier = account.ids.orders(id);
            let open = |no: &&OrderNo| self.order(**no).is_some_and(|order| order.status.is_open());
            let taken = match self.duplicate {
                DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => earlier.first(),
                DuplicateRule::RefusedDay => earlier.last().filter(|_| account.ids.in_day(id)),
                DuplicateRule::WhileOpen => earlier.iter().find(open),
                DuplicateRule::Accepted => None,
            };
            match (taken, self.duplicate) {
                (Some(no), DuplicateRule::ReturnsExisting) => {
                    let order = *no;
                    self.say(Happening::Existing { order });
                    return Ok(());
                }
                (Some(_), _) => return Err(Refusal::Duplicate),
                (None, _) => {}
            }
        }
        if new.reduce_only {
            let position = account
                .positions
                .get(&new.instrument)
                .copied()
                .unwrap_or_default();
            if position.reducible(new.side).is_zero() {
                return Err(Refusal::NothingToReduce);
            }
        } else {
            let notional = new.order_qty.saturating_mul(new.price);
            let needed = notional
                .checked_div(instrument.leverage)
                .unwrap_or(notional);
            if self.margin_in_use(account).saturating_add(needed)
                > account
                    .balances
                    .get(&instrument.quote)
                    .copied()
                    .unwrap_or_default()
            {
                return Err(Refusal::Funds);
            }
        }
        let open_here = account
            .open
            .iter()
            .filter_map(|no| self.order(*no))
            .filter(|o| o.instrument == new.instrument);
        if u32::try_from(open_here.count())
            .map_or(true, |count| count >= instrument.max_open_orders)
        {
            return Err(Refusal::TooManyOrders);
        }
        let no = self.accept(new);
        self.trade_or_rest(no);
        Ok(())
    }

    fn margin_in_use(&self, account: &Account) -> Decimal {
        let share = |key: &str, value: Decimal| {
            let leverage = self
                .instruments
                .get(key)
                .map_or(Decimal::ONE, |instrument| instrument.leverage);
            value.checked_div(leverage).unwrap_or(value)
        };
        let held = account
            .positions
            .iter()
            .map(|(key, p)| share(key, p.qty.abs().saturating_mul(p.avg_px)));
        let working = account
            .open
            .iter()
            .filter_map(|no| self.order(*no))
            .filter(|order| !order.reduce_only);
        let asked = working.map(|order| {
            share(
                &order.instrument,
                order.leaves_qty().saturating_mul(order.price),
            )
        });
        held.chain(asked)
            .fold(Decimal::ZERO, Decimal::saturating_add)
    }

    fn accept(&mut self, new: NewOrder) -> OrderNo {
        let count = u64::try_from(self.orders.len()).unwrap_or(u64::MAX);
        let no = OrderNo(count.saturating_add(1));
        let order = Order {
            no,
            account: new.account,
            instrument: new.instrument,
            wire_id: new.wire_id,
            side: new.side,
            ord_type: new.ord_type,
            time_in_force: new.time_in_force,
            price: new.price,
            order_qty: new.order_qty,
            cum_qty: Decimal::ZERO,
            cum_value: Decimal::ZERO,
            cum_fee: Decimal::ZERO,
            reduce_only: new.reduce_only,
            self_trade: new.self_trade,
            status: OrdStatus::New,
            ended: None,
            accepted_at_ms: self.now_ms,
            updated_at_ms: self.now_ms,
            updated_seq: self.seq.saturating_add(1),
        };
        if let Some(account) = self.accounts.get_mut(&order.account) {
            account.open.insert(no);
            if let Some(id) = &order.wire_id {
                account.ids.take(id, no, self.window);
            }
        }
        self.orders.push(order.clone());
        self.say(Happening::Accepted(Box::new(order)));
        no
    }

    /// Matches an order that is in no book, then rests or ends what is left of it.
    fn trade_or_rest(&mut self, no: OrderNo) {
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
        while let Some(wanted) = self.still_wanted(no) {
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
                    if !crosses(price) || !self.meet(no, maker, price, wanted) {
                        break;
                    }
                }
                (_, Some((price, size))) if crosses(price) => {
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
        let Some(offered) = self.still_wanted(maker) else {
            self.close(maker, Ended::ReduceOnly);
            return true;
        };
        let qty = wanted.min(offered);
        self.book_fill(maker, qty, price, true);
        self.book_fill(taker, qty, price, false);
        true
    }

    /// What an order may trade now, if anything: reduce-only ones no more than the position.
    fn still_wanted(&self, no: OrderNo) -> Option<Decimal> {
        let order = self.order(no)?;
        let leaves = order.leaves_qty();
        let wanted = if order.reduce_only {
            leaves.min(self.reducible(order))
        } else {
            leaves
        };
        (wanted > Decimal::ZERO).then_some(wanted)
    }

    fn reducible(&self, order: &Order) -> Decimal {
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
                sum = sum.saturating_add(self.still_wanted(maker).unwrap_or_default());
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

    fn cancel(&mut self, no: OrderNo) -> Result<(), Refusal> {
        let order = self.order(no).ok_or(Refusal::UnknownOrder)?;
        if !order.status.is_open() {
            return Err(Refusal::NotOpen);
        }
        self.close(no, Ended::ByRequest);
        Ok(())
    }

    fn amend(
        &mut self,
        no: OrderNo,
        qty: Option<Decimal>,
        price: Option<Decimal>,
    ) -> Result<(), Refusal> {
        let old = self.order(no).cloned().ok_or(Refusal::UnknownOrder)?;
        if !old.status.is_open() {
            return Err(Refusal::NotOpen);
        }
        let (order_qty, new_price) = (qty.unwrap_or(old.order_qty), price.unwrap_or(old.price));
        if !sane(order_qty) || !sane(new_price) {
            return Err(Refusal::BadNumber);
        }
        if order_qty <= old.cum_qty {
            return Err(Refusal::BeyondOrder);
        }
        let keeps_place = new_price == old.price && order_qty <= old.order_qty;
        let seq = self.seq.saturating_add(1);
        let now_ms = self.now_ms;
        if let Some(order) = slot(no).and_then(|slot| self.orders.get_mut(slot)) {
            order.order_qty = order_qty;
            order.price = new_price;
            order.updated_at_ms = now_ms;
            order.updated_seq = seq;
        }
        self.say(Happening::Amended {
            order: no,
            order_qty,
            price: new_price,
        });
        if !keeps_place {
            if let Some(book) = self.books.get_mut(&old.instrument) {
                book.remove(old.side, old.price, no);
            }
            self.trade_or_rest(no);
        }
        Ok(())
    }

    fn fill_resting(
        &mut self,
        no: OrderNo,
        qty: Decimal,
        price: Option<Decimal>,
    ) -> Result<(), Refusal> {
        let order = self.order(no).ok_or(Refusal::UnknownOrder)?;
        if !order.status.is_open() {
            return Err(Refusal::NotOpen);
        }
        let price = price.unwrap_or(order.price);
        if !sane(qty) || !sane(price) {
            return Err(Refusal::BadNumber);
        }
        if qty > order.leaves_qty() {
            return Err(Refusal::BeyondOrder);
        }
        self.book_fill(no, qty, price, true);
        Ok(())
    }

    fn set_market(&mut self, key: String, flat: Flat) -> Result<(), Refusal> {
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
                let Some(wanted) = self.still_wanted(no) else {
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

    /// Books one side of a trade: order, account, position, fee; ends the order when it is full.
    fn book_fill(&mut self, no: OrderNo, qty: Decimal, price: Decimal, maker: bool) {
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
        let value = qty.saturating_mul(price);
        let fee = value.saturating_mul(fee_rate);
        order.cum_qty = order.cum_qty.saturating_add(qty);
        order.cum_value = order.cum_value.saturating_add(value);
        order.cum_fee = order.cum_fee.saturating_add(fee);
        order.status = OrdStatus::PartiallyFilled;
        order.updated_at_ms = at_ms;
        order.updated_seq = seq;
        let leaves_qty = order.order_qty.saturating_sub(order.cum_qty);
        let (account, key, side) = (order.account.clone(), order.instrument.clone(), order.side);
        if let Some(owner) = self.accounts.get_mut(&account) {
            let position = owner.positions.entry(key.clone()).or_default();
            let realized = position.book(side, qty, price);
            position.updated_at_ms = at_ms;
            position.last_fill = Some(fill_no);
            let balance = owner.balances.entry(instrument.quote.clone()).or_default();
            *balance = balance.saturating_add(realized).saturating_sub(fee);
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
        };
        self.fills_of.entry(no).or_default().push(self.fills.len());
        self.fills.push(fill.clone());
        self.say(Happening::Filled(Box::new(fill)));
        if leaves_qty.is_zero() {
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

    fn close(&mut self, no: OrderNo, ended: Ended) {
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

fn slot(no: OrderNo) -> Option<usize> {
    usize::try_from(no.0.checked_sub(1)?).ok()
}

fn sane(number: Decimal) -> bool {
    number > Decimal::ZERO && number <= MOST
}
