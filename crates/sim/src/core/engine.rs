//! The core itself: one command at a time, price-time priority, checked numbers.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::{
    account::Account,
    book::Book,
    command::{Command, NewOrder, What},
    event::{Event, Fill, Happening, Note, Refusal},
    ids::DuplicateRule,
    instrument::{Instrument, Kind},
    order::{Ended, OrdStatus, Order, OrderNo, Side},
};

/// Amounts and prices above this are refused, so that products of two stay exact enough to add up.
pub(super) const MOST: Decimal = Decimal::from_parts(0xA4C6_8000, 0x0003_8D7E, 0, false, 0); // 10^15

/// Accounts, instruments, orders and fills of one simulated venue.
#[derive(Debug)]
pub struct Core {
    pub(super) instruments: BTreeMap<String, Instrument>,
    pub(super) books: BTreeMap<String, Book>,
    pub(super) accounts: BTreeMap<String, Account>,
    pub(super) orders: Vec<Order>,
    pub(super) fills: Vec<Fill>,
    /// Positions in `fills`, by order.
    pub(super) fills_of: BTreeMap<OrderNo, Vec<usize>>,
    notes: Vec<Note>,
    pub(super) duplicate: DuplicateRule,
    pub(super) window: u32,
    pub(super) commands: u64,
    pub(super) seq: u64,
    pub(super) now_ms: u64,
    pub(super) events: Vec<Event>,
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
            notes: Vec::new(),
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
            What::Cancel { order } => self.end(order, Ended::ByRequest),
            What::End { order, ended } => self.end(order, ended),
            What::Record { order, refusal } => self.record(*order, refusal),
            What::Note(note) => {
                self.notes.push(note.clone());
                self.say(Happening::Noted(note));
                Ok(())
            }
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

    /// All notes of the venue, oldest first.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
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

    /// All orders of an account that came with this client id, oldest first.
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

    pub(super) fn say(&mut self, what: Happening) {
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
        if !sane(new.quote_qty.unwrap_or(new.order_qty)) || !sane(new.price) {
            return Err(Refusal::BadNumber);
        }
        if let Some(id) = &new.wire_id {
            let earlier = account.ids.orders(id);
            let is_open =
                |no: &&OrderNo| self.order(**no).is_some_and(|order| order.status.is_open());
            // A record of a refused order takes no id.
            let took = |no: &&OrderNo| {
                self.order(**no)
                    .is_some_and(|order| order.status != OrdStatus::Rejected)
            };
            let mut earlier = earlier.iter().filter(took);
            let taken = match self.duplicate {
                DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => earlier.next(),
                DuplicateRule::RefusedDay => earlier.next_back().filter(|_| account.ids.in_day(id)),
                DuplicateRule::WhileOpen => earlier.find(is_open),
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
            let (coin, needed) = needs(
                instrument,
                new.side,
                (new.order_qty, new.quote_qty),
                new.price,
            );
            let owned = account.balances.get(coin).copied().unwrap_or_default();
            if self.in_use(account, coin).saturating_add(needed) > owned {
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

    /// How much of a coin positions and working orders hold back.
    #[must_use]
    pub fn in_use(&self, account: &Account, coin: &str) -> Decimal {
        let held = account.positions.iter().filter_map(|(key, position)| {
            let instrument = self.instruments.get(key)?;
            let held = !position.qty.is_zero() && instrument.money() == coin;
            held.then(|| {
                let value = instrument.kind.value(position.qty.abs(), position.avg_px);
                margin(instrument, value)
            })
        });
        let working = account
            .open
            .iter()
            .filter_map(|no| self.order(*no))
            .filter(|order| !order.reduce_only);
        let asked = working.filter_map(|order| {
            let instrument = self.instruments.get(&order.instrument)?;
            let left = (order.leaves_qty(), order.leaves_quote());
            let (other, needed) = needs(instrument, order.side, left, order.price);
            (other == coin).then_some(needed)
        });
        held.chain(asked)
            .fold(Decimal::ZERO, Decimal::saturating_add)
    }

    fn order_of(&self, new: NewOrder) -> Order {
        let count = u64::try_from(self.orders.len()).unwrap_or(u64::MAX);
        let no = OrderNo(count.saturating_add(1));
        Order {
            no,
            account: new.account,
            instrument: new.instrument,
            wire_id: new.wire_id,
            side: new.side,
            ord_type: new.ord_type,
            time_in_force: new.time_in_force,
            price: new.price,
            order_qty: new.order_qty,
            quote_qty: new.quote_qty,
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
        }
    }

    fn accept(&mut self, new: NewOrder) -> OrderNo {
        let order = self.order_of(new);
        let no = order.no;
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

    /// Keeps a refused order as a record.
    fn record(&mut self, new: NewOrder, refusal: Refusal) -> Result<(), Refusal> {
        let mut order = self.order_of(new);
        order.status = OrdStatus::Rejected;
        order.ended = Some(Ended::Refused(refusal));
        let owner = self
            .accounts
            .get_mut(&order.account)
            .ok_or(Refusal::UnknownAccount)?;
        owner.closed.push(order.no);
        if let Some(id) = &order.wire_id {
            owner.ids.record(id, order.no);
        }
        self.orders.push(order.clone());
        self.say(Happening::Recorded(Box::new(order)));
        Ok(())
    }

    fn end(&mut self, no: OrderNo, ended: Ended) -> Result<(), Refusal> {
        let order = self.order(no).ok_or(Refusal::UnknownOrder)?;
        if !order.status.is_open() {
            return Err(Refusal::NotOpen);
        }
        self.close(no, ended);
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
}

/// Where an order with this number is kept.
pub(super) fn slot(no: OrderNo) -> Option<usize> {
    usize::try_from(no.0.checked_sub(1)?).ok()
}

/// The coin that an order holds back, and how much of it. The amount is of base units or of money.
fn needs(
    instrument: &Instrument,
    side: Side,
    (qty, quote): (Decimal, Option<Decimal>),
    price: Decimal,
) -> (&str, Decimal) {
    let value = quote.unwrap_or_else(|| instrument.kind.value(qty, price));
    match (instrument.kind, side) {
        (Kind::Spot, Side::Sell) => {
            let base = quote.map_or(qty, |quote| quote.checked_div(price).unwrap_or(quote));
            (&instrument.base, base)
        }
        (Kind::Spot, Side::Buy) => (&instrument.quote, value),
        (Kind::Linear | Kind::Inverse, Side::Buy | Side::Sell) => {
            (instrument.money(), margin(instrument, value))
        }
    }
}

fn margin(instrument: &Instrument, value: Decimal) -> Decimal {
    value.checked_div(instrument.leverage).unwrap_or(value)
}

/// Whether an amount or a price can be worked with.
pub(super) fn sane(number: Decimal) -> bool {
    number > Decimal::ZERO && number <= MOST
}
