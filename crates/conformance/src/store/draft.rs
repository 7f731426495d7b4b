//! Orders, attempts, fills and changes for tests, each different by a number.

use surefill_core::{
    AccountId, Alias, Amount, Attempt, AttemptNo, AttemptState, Begin, Cause, Change, ClOrdId,
    Currency, Decision, Entry, Fence, Fill, Key, Money, OrdState, OrderId, OrderIntent,
    OrderRecord, Px, Qty, Reason, Settlement, Side, Symbol, VenueTime,
};

/// The instant at which the drafts' time begins.
pub const T0: VenueTime = VenueTime::from_ms(1_796_040_000_000);

/// An order about to be journaled: number `n` of a strategy on one account.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Makes it another order.
    pub n: u32,
    /// The venue's name in the configuration.
    pub venue: Alias,
    /// The account.
    pub account: AccountId,
    /// The instrument.
    pub symbol: Symbol,
    /// The strategy.
    pub strategy: Box<str>,
    /// What it is in the eyes of halts and doubt.
    pub entry: Entry,
}

impl Draft {
    /// Order number `n`: new risk in `BTCUSDT`, which doubt refuses.
    pub fn new(n: u32) -> Self {
        Self {
            n,
            venue: "v".into(),
            account: AccountId::new("sim", "simulator", "1"),
            symbol: "BTCUSDT".into(),
            strategy: "suite".into(),
            entry: Entry::Risk { doubt_blocks: true },
        }
    }

    /// At another venue.
    #[must_use]
    pub fn venue(mut self, venue: &str) -> Self {
        self.venue = venue.into();
        self
    }

    /// In another symbol.
    #[must_use]
    pub fn symbol(mut self, symbol: &str) -> Self {
        self.symbol = symbol.into();
        self
    }

    /// By another strategy.
    #[must_use]
    pub fn strategy(mut self, strategy: &str) -> Self {
        self.strategy = strategy.into();
        self
    }

    /// As another kind of entry.
    #[must_use]
    pub fn entry(mut self, entry: Entry) -> Self {
        self.entry = entry;
        self
    }

    /// When it is journaled.
    pub fn at(&self) -> VenueTime {
        later(T0, self.n)
    }

    /// Its id.
    pub fn id(&self) -> ClOrdId {
        let decision = Decision::new(&*self.strategy, T0.as_ms()).leg(self.n);
        ClOrdId::derive(&decision, &self.account, &self.symbol, Side::Buy)
    }

    /// Its attempt number `no`: known by its id and by a key of its own, with bytes that hold every value.
    pub fn attempt(&self, no: AttemptNo) -> Attempt {
        let id = self.id();
        let mut wire = format!("{{\"id\":\"{id}\",\"no\":{no}}}").into_bytes();
        wire.extend(0..=u8::MAX);
        Attempt {
            no,
            format: "suite.create.1".into(),
            wire,
            keys: vec![
                Key::from(id.to_string()),
                Key::from(format!("{id}-hash-{no}")),
            ],
            fence: Fence::Clock(later(self.at(), 5_000)),
            replayable: no.is_multiple_of(2),
            revocable: !no.is_multiple_of(2),
            rebuildable: true,
        }
    }

    /// The order with its first attempt, on its way into the journal.
    pub fn begin(&self) -> Begin {
        let decision = Decision::new(&*self.strategy, T0.as_ms()).leg(self.n);
        let amount = Amount::Base(decimal("1"));
        let price: Px = decimal("60000.50");
        let intent = OrderIntent::limit(
            decision,
            self.venue.clone(),
            self.symbol.clone(),
            Side::Buy,
            amount,
            price,
        );
        let attempt = self.attempt(1);
        let first = AttemptState::new(&attempt, self.at());
        Begin {
            order: OrderRecord::new(self.id(), self.account.clone(), intent, first, self.at()),
            attempt,
            entry: self.entry.clone(),
        }
    }

    /// The venue's own id of the order.
    pub fn order_id(&self) -> OrderId {
        OrderId::from(format!("{}-{}", self.symbol, self.n))
    }
}

fn decimal<T: std::str::FromStr>(text: &str) -> T {
    match text.parse() {
        Ok(value) => value,
        Err(_) => unreachable!("{text:?} is a decimal"),
    }
}

fn later(at: VenueTime, ms: u32) -> VenueTime {
    at.after(std::time::Duration::from_millis(ms.into()))
}

/// A moment after the row's last change.
fn next(row: &OrderRecord) -> VenueTime {
    later(row.updated_at, 1)
}

/// The venue named the order.
pub fn ack(row: &OrderRecord, order_id: &OrderId) -> Change {
    let mut change = Change::of(row, next(row), Cause::Answer, "created").to(OrdState::Acked);
    change.order_id = Some(order_id.clone());
    change
}

/// No answer came.
pub fn doubt(row: &OrderRecord) -> Change {
    Change::of(row, next(row), Cause::Answer, "no answer").to(OrdState::Unknown)
}

/// A lookup found the order working.
pub fn found(row: &OrderRecord, order_id: &OrderId) -> Change {
    let mut change = Change::of(row, next(row), Cause::Found, "open").to(OrdState::Acked);
    change.order_id = Some(order_id.clone());
    change
}

/// The venue refused it.
pub fn rejected(row: &OrderRecord) -> Change {
    Change::of(row, next(row), Cause::Answer, "no margin")
        .to(OrdState::Rejected)
        .reason(Some(Reason::new("110007", "no margin")))
}

/// It ended by execution of one unit, with the fills given.
pub fn filled(row: &OrderRecord, fills: Vec<Fill>) -> Change {
    let mut change = Change::of(row, next(row), Cause::Report, "filled").to(OrdState::Filled);
    change.cum_qty = Some(decimal("1"));
    change.fills = fills;
    change
}

/// The next attempt of an order that is reconciling.
pub fn next_attempt(row: &OrderRecord, attempt: &Attempt) -> Change {
    let mut change = Change::of(row, next(row), Cause::Resent, "absent").to(OrdState::Submitted);
    change.next_attempt = Some(attempt.clone());
    change
}

/// An execution of `qty` units.
pub fn fill(symbol: &Symbol, order_id: &OrderId, exec_id: &str, qty: &str) -> Fill {
    Fill {
        symbol: symbol.clone(),
        order_id: order_id.clone(),
        exec_id: exec_id.into(),
        last_qty: decimal::<Qty>(qty),
        last_px: decimal::<Px>("60000.50"),
        fee: decimal::<Money>("-0.0100"),
        fee_currency: Currency::from("USDT"),
        transact_time: later(T0, 77),
        settlement: Settlement::Final,
    }
}
