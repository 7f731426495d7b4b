//! What the venue holds.

use std::collections::HashSet;

use rust_decimal::Decimal;
use surefill_conformance::venue::{Fault, List, Op, SeenFill, SeenOrder, SeenRequest, SeenStatus};
use surefill_core::{
    Currency, DuplicateRule, ExecId, ExecReport, Fill, Handle, Key, Money, OrdStatus, OrderId, Px,
    Qty, SeenTerms, Settlement, Side, Symbol, VenueTime,
};

use super::Traits;

/// A create as it is written on the wire.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Create {
    pub(crate) id: String,
    pub(crate) nonce: u64,
    /// 0 is none.
    pub(crate) fence_ms: u64,
    pub(crate) qty: Decimal,
    pub(crate) price: Decimal,
}

/// What the venue says to a create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Taken(String),
    SameId,
    SameBytes,
    NoMoney,
    TooLate,
}

#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) order_id: String,
    pub(crate) id: String,
    pub(crate) account: String,
    pub(crate) qty: Decimal,
    pub(crate) price: Decimal,
    pub(crate) canceled: bool,
    pub(crate) fills: Vec<Fill>,
    pub(crate) changed: VenueTime,
}

impl Held {
    pub(crate) fn cum(&self) -> Decimal {
        self.fills.iter().map(|fill| fill.last_qty.value()).sum()
    }

    pub(crate) fn status(&self) -> SeenStatus {
        if self.cum() == self.qty {
            SeenStatus::Filled
        } else if self.canceled {
            SeenStatus::Canceled
        } else if self.fills.is_empty() {
            SeenStatus::New
        } else {
            SeenStatus::Partial
        }
    }

    pub(crate) fn open(&self) -> bool {
        matches!(self.status(), SeenStatus::New | SeenStatus::Partial)
    }

    pub(crate) fn handle(&self) -> Handle {
        Handle {
            key: Some(Key::from(self.id.as_str())),
            order_id: Some(OrderId::from(self.order_id.as_str())),
        }
    }

    pub(crate) fn report(&self) -> ExecReport {
        ExecReport {
            handle: self.handle(),
            status: match self.status() {
                SeenStatus::New | SeenStatus::Partial => OrdStatus::Open,
                SeenStatus::Filled => OrdStatus::Filled,
                SeenStatus::Canceled => OrdStatus::Canceled,
            },
            cum_qty: Some(Qty::new(self.cum()).unwrap()),
            avg_px: None,
            reason: None,
            fills: Vec::new(),
            seen: SeenTerms {
                symbol: Some(Symbol::from("COIN")),
                side: Some(Side::Buy),
                order_qty: Some(Qty::new(self.qty).unwrap()),
                price: Some(Px::new(self.price).unwrap()),
            },
            transact_time: Some(self.changed),
        }
    }
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) truth: Traits,
    pub(crate) orders: Vec<Held>,
    pub(crate) requests: Vec<SeenRequest>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) veils: Vec<(String, Vec<List>, VenueTime)>,
    pub(crate) down_until: VenueTime,
    pub(crate) used: HashSet<u64>,
    execs: u32,
}

impl State {
    pub(crate) fn new(truth: Traits) -> Self {
        Self {
            truth,
            orders: Vec::new(),
            requests: Vec::new(),
            faults: Vec::new(),
            veils: Vec::new(),
            down_until: VenueTime::default(),
            used: HashSet::new(),
            execs: 0,
        }
    }

    /// Counts a request, and says what happens to it.
    pub(crate) fn take_fault(&mut self, op: Op) -> Option<Fault> {
        let mut shot = None;
        for fault in &mut self.faults {
            if fault.op.is_some_and(|wanted| wanted != op) {
                continue;
            }
            if fault.nth > 1 {
                fault.nth -= 1;
            } else if shot.is_none() {
                fault.times -= 1;
                shot = Some(*fault);
            }
        }
        self.faults.retain(|fault| fault.times > 0);
        shot
    }

    pub(crate) fn create(&mut self, account: &str, create: &Create, now: VenueTime) -> Said {
        if self.truth.fence && now.as_ms() >= create.fence_ms {
            return Said::TooLate;
        }
        if self.truth.remembers && !self.used.insert(create.nonce) {
            return Said::SameBytes;
        }
        if create.qty > Decimal::from(1_000) {
            return Said::NoMoney;
        }
        let mut same = self
            .orders
            .iter()
            .filter(|held| held.id == create.id && held.account == account);
        match self.truth.duplicate {
            DuplicateRule::RefusedForever | DuplicateRule::RefusedWithin(_) => {
                if same.next().is_some() {
                    return Said::SameId;
                }
            }
            DuplicateRule::RefusedWhileOpen => {
                if same.any(Held::open) {
                    return Said::SameId;
                }
            }
            DuplicateRule::ReturnsExisting => {
                if let Some(held) = same.next() {
                    return Said::Taken(held.order_id.clone());
                }
            }
            DuplicateRule::Accepted => {}
        }
        let order_id = format!("o-{}", self.orders.len() + 1);
        self.orders.push(Held {
            order_id: order_id.clone(),
            id: create.id.clone(),
            account: account.to_owned(),
            qty: create.qty,
            price: create.price,
            canceled: false,
            fills: Vec::new(),
            changed: now,
        });
        if create.price > Decimal::ONE_HUNDRED {
            // Two levels of the book.
            let half = create.qty / Decimal::TWO;
            let last = self.orders.len() - 1;
            self.execute(last, half, now);
            self.execute(last, create.qty - half, now);
        }
        Said::Taken(order_id)
    }

    pub(crate) fn fill(&mut self, id: &str, qty: Decimal, now: VenueTime) {
        let at = self
            .orders
            .iter()
            .rposition(|held| held.id == id && held.open());
        let at = at.unwrap_or_else(|| panic!("no open order {id}"));
        self.execute(at, qty, now);
    }

    fn execute(&mut self, at: usize, qty: Decimal, now: VenueTime) {
        self.execs += 1;
        let held = &mut self.orders[at];
        held.changed = now;
        held.fills.push(Fill {
            symbol: Symbol::from("COIN"),
            order_id: OrderId::from(held.order_id.as_str()),
            exec_id: ExecId::from(format!("e-{}", self.execs)),
            last_qty: Qty::new(qty).unwrap(),
            last_px: Px::new(held.price).unwrap(),
            fee: Money::default(),
            fee_currency: Currency::from("USD"),
            transact_time: now,
            settlement: Settlement::Final,
        });
        assert!(held.cum() <= held.qty, "more than was ordered");
    }

    /// Ends the newest open order with one of these ids.
    pub(crate) fn cancel(&mut self, account: &str, ids: &[String], now: VenueTime) -> Option<Held> {
        let held = self
            .orders
            .iter_mut()
            .rev()
            .find(|held| held.account == account && ids.contains(&held.id) && held.open())?;
        held.canceled = true;
        held.changed = now;
        Some(held.clone())
    }

    /// What a list shows of an account.
    pub(crate) fn shown(&self, account: &str, list: List, now: VenueTime) -> Vec<Held> {
        let hidden = |held: &Held| {
            self.veils
                .iter()
                .any(|(id, from, until)| *id == held.id && from.contains(&list) && now < *until)
        };
        let fits = |held: &&Held| match list {
            List::Open => held.open(),
            List::Closed => !held.open(),
            List::Fills => !held.fills.is_empty(),
        };
        self.orders
            .iter()
            .filter(|held| held.account == account && !hidden(held))
            .filter(fits)
            .cloned()
            .collect()
    }

    pub(crate) fn seen_orders(&self) -> Vec<SeenOrder> {
        let seen = |held: &Held| SeenOrder {
            cl_ord_id: held.id.parse().ok(),
            order_id: OrderId::from(held.order_id.as_str()),
            account: held.account.as_str().into(),
            symbol: Symbol::from("COIN"),
            side: Side::Buy,
            order_qty: held.qty,
            price: Some(held.price),
            cum_qty: held.cum(),
            status: held.status(),
        };
        self.orders.iter().map(seen).collect()
    }

    pub(crate) fn seen_fills(&self) -> Vec<SeenFill> {
        let fills = self.orders.iter().flat_map(|held| &held.fills);
        let seen = |fill: &Fill| SeenFill {
            exec_id: fill.exec_id.as_str().into(),
            order_id: fill.order_id.clone(),
            qty: fill.last_qty.value(),
        };
        fills.map(seen).collect()
    }
}
