//! The venue's truth: a gate, a way, a book.

use surefill_core::{
    AmendOutcome, DuplicateOf, Fence, Fill, Key, OrdStatus, OrderId, Reason, Reject, Settlement,
    Submission, VenueTime,
};

use super::camp::{DRAIN, DRAIN_MORE, FenceKind, Ids, LAG};
use super::event::Event;
use super::lie::Lie;
use super::world::{Act, AmendMessage, Answer, Create, Message, World, quantity, turned};

/// Terms of an order, when they changed, and from when on lists show them.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldTerms {
    pub(super) qty: u32,
    pub(super) px: u32,
    pub(super) changed: u64,
    pub(super) shown: u64,
}

/// An order at the venue.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) key: Key,
    symbol: String,
    /// Which send made it.
    pub(super) send: u64,
    pub(super) order_id: OrderId,
    pub(super) status: OrdStatus,
    /// What it says of its terms, oldest first.
    pub(super) terms: Vec<HeldTerms>,
    /// The terms in force.
    pub(super) real: (u32, u32),
    pub(super) cum: u32,
    /// Fills, and from when on lists show them.
    pub(super) fills: Vec<(Fill, u64)>,
    pub(super) shown_open: u64,
    pub(super) hidden_open: u64,
    pub(super) shown_closed: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gate {
    passed: bool,
    revoked: bool,
}

fn refusal(text: &str, halts_account: bool) -> Reject {
    Reject {
        reason: Reason::new("7", text),
        halts_account,
        leaves_bytes: false,
    }
}

impl World {
    pub(super) fn arrive(&mut self, at: u64, message: Message) {
        match message {
            Message::Gate(create) => self.gate(at, create),
            Message::Book(create) => {
                let answer = self.book(at, &create);
                self.answer(create.send, Answer::Created(answer));
            }
            Message::AmendGate(amend) => self.amend_gate(at, amend),
            Message::AmendBook(amend) => {
                let answer = self.amend_book(at, &amend);
                self.answer(amend.send, Answer::Amended(answer));
            }
            Message::Cancel { send, keys } => {
                // Of two orders under one id a request ends one.
                let open = self.open_under(&keys).first().copied();
                if let Some(index) = open {
                    self.end(index, at, OrdStatus::Canceled);
                }
                let report = open.map(|index| self.truth(index));
                self.answer(send, Answer::Canceled(report));
            }
            Message::Revoke { send, key, no } => {
                let gate = self.gates.entry((key, no)).or_default();
                let free = !gate.passed && !gate.revoked;
                gate.revoked = true;
                self.answer(send, Answer::Revoked(free));
            }
        }
    }

    fn answer(&mut self, send: u64, answer: Answer) {
        self.note(format_args!("venue: send {send} {answer:?}"));
        // Of two copies the first is answered.
        self.answers.entry(send).or_insert(answer);
    }

    fn gate(&mut self, at: u64, create: Create) {
        if let Fence::Clock(fence) = create.fence
            && at >= fence.as_ms()
        {
            let turned = turned("expired");
            return self.answer(create.send, Answer::Created(turned));
        }
        if create.act == Act::RefusesKeys {
            let refused = Submission::Rejected(refusal("the key is disabled", true));
            return self.answer(create.send, Answer::Created(refused));
        }
        let remembered = self.camp.remembered && !self.lies(Lie::BytesForgotten);
        let revocable = self.camp.revocable;
        let gate = self
            .gates
            .entry((create.wire.key(), create.wire.no))
            .or_default();
        if (remembered && gate.passed) || (revocable && gate.revoked) {
            let known = Submission::Duplicate(DuplicateOf::Bytes);
            return self.answer(create.send, Answer::Created(known));
        }
        gate.passed = true;
        let drain = self.drain(create.send);
        self.post(at + drain, Message::Book(create));
    }

    /// The way from the gate to the book.
    fn drain(&self, send: u64) -> u64 {
        let drawn = self.draw(1, send, 1_000);
        match self.camp.fence {
            FenceKind::None | FenceKind::Book => 0,
            _ if self.lies(Lie::LongerDrain) => drawn * 6,
            FenceKind::Documented => drawn * DRAIN / 1_000,
            FenceKind::Assumed => drawn * (DRAIN + DRAIN_MORE) / 1_000,
        }
    }

    fn book(&mut self, at: u64, create: &Create) -> Submission {
        if create.act == Act::Refuses {
            return Submission::Rejected(refusal("not enough of it", false));
        }
        let key = create.wire.key();
        let known = self.orders.iter().position(|held| held.key == key);
        let open = !self.open_under(std::slice::from_ref(&key)).is_empty();
        match (self.camp.ids, known) {
            (Ids::Forever | Ids::Within, Some(_)) => {
                return Submission::Duplicate(DuplicateOf::Id);
            }
            (Ids::WhileOpen, Some(_)) if open => {
                return Submission::Duplicate(DuplicateOf::Id);
            }
            (Ids::Existing, Some(index)) => return Submission::Acked(self.truth(index)),
            _ => {}
        }
        let index = self.orders.len();
        let which = u64::try_from(index).unwrap_or(0);
        let shown = at + self.draw(2, which, LAG);
        let (qty, px) = (create.wire.qty, create.wire.px);
        self.orders.push(Held {
            key,
            symbol: create.wire.symbol.clone(),
            send: create.send,
            order_id: format!("o{index}").into(),
            status: OrdStatus::Open,
            terms: vec![HeldTerms {
                qty,
                px,
                changed: at,
                shown,
            }],
            real: (qty, px),
            cum: 0,
            fills: Vec::new(),
            shown_open: shown,
            hidden_open: u64::MAX,
            shown_closed: u64::MAX,
        });
        self.note(format_args!(
            "venue: order o{index} of send {}",
            create.send
        ));
        if create.act == Act::Fills {
            self.fill(index, qty, at);
        } else {
            self.tell(index);
        }
        Submission::Acked(self.truth(index))
    }

    fn amend_gate(&mut self, at: u64, amend: AmendMessage) {
        if let Fence::Clock(fence) = amend.fence
            && at >= fence.as_ms()
        {
            let expired = AmendOutcome::Rejected(refusal("expired", false));
            return self.answer(amend.send, Answer::Amended(expired));
        }
        let drain = self.drain(amend.send);
        self.post(at + drain, Message::AmendBook(amend));
    }

    fn amend_book(&mut self, at: u64, amend: &AmendMessage) -> AmendOutcome {
        let open = self.open_under(std::slice::from_ref(&amend.key));
        let Some(index) = open.first().copied() else {
            return AmendOutcome::NotOpen;
        };
        let shown = at + self.draw(8, amend.send, LAG);
        let lies = self.lies(Lie::AmendNotMade);
        let held = &mut self.orders[index];
        let (qty, px) = held.real;
        let (qty, px) = (amend.qty.unwrap_or(qty), amend.px.unwrap_or(px));
        if amend.refused || qty <= held.cum {
            return AmendOutcome::Rejected(refusal("no such terms", false));
        }
        if !lies {
            held.real = (qty, px);
        }
        held.terms.push(HeldTerms {
            qty,
            px,
            changed: at,
            shown,
        });
        let id = held.order_id.clone();
        self.note(format_args!("venue: {id} has {qty} at {px}"));
        self.tell(index);
        AmendOutcome::Taken
    }

    /// The open orders under these keys.
    pub(super) fn open_under(&self, keys: &[Key]) -> Vec<usize> {
        let held = self.orders.iter().enumerate();
        held.filter(|(_, held)| keys.contains(&held.key) && held.status == OrdStatus::Open)
            .map(|(index, _)| index)
            .collect()
    }

    /// Executes so much of an open order, or what is left of it.
    pub(super) fn fill(&mut self, index: usize, qty: u32, at: u64) {
        let count = self.next_send();
        let shown = at + self.draw(3, count, LAG);
        let held = &mut self.orders[index];
        let (ordered, px) = held.real;
        let qty = qty.min(ordered - held.cum);
        let fill = Fill {
            symbol: held.symbol.as_str().into(),
            order_id: held.order_id.clone(),
            exec_id: format!("x{count}").into(),
            last_qty: quantity(qty),
            last_px: px.to_string().parse().expect("a price"),
            fee: surefill_core::Money::ZERO,
            fee_currency: "USD".into(),
            transact_time: VenueTime::from_ms(at),
            settlement: Settlement::Final,
        };
        held.cum += qty;
        held.fills.push((fill, shown));
        let (id, full) = (held.order_id.clone(), held.cum == ordered);
        self.note(format_args!("venue: {id} fills {qty}"));
        if full {
            self.end(index, at, OrdStatus::Filled);
        } else {
            self.saw(Event::PartlyExecuted);
            self.tell(index);
        }
    }

    pub(super) fn end(&mut self, index: usize, at: u64, status: OrdStatus) {
        let which = u64::try_from(index).unwrap_or(0);
        let (hidden, shown) = (self.draw(4, which, LAG), self.draw(5, which, LAG));
        let held = &mut self.orders[index];
        held.status = status;
        held.hidden_open = at + hidden;
        held.shown_closed = at + shown;
        let id = held.order_id.clone();
        self.note(format_args!("venue: {id} ends, {status:?}"));
        self.tell(index);
    }
}
