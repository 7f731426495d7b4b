//! The venue of a schedule: lists, gates and books, each at its own time.

use std::collections::BTreeSet;

use surefill_core::{
    CancelOutcome, DuplicateOf, DuplicateRule, ExecReport, Fence, Fill, OrdStatus, Reason,
    Revocation, Submission,
};

use super::lie::Lie;
use super::{CALM, Dice};
use crate::kit::{Camp, DRAIN, LAG, at, fill, filled_by, height_at, refusal, report};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Open,
    Filled,
    Canceled,
}

/// An order in the book.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub(super) name: String,
    pub(super) life: Life,
    /// From then on it shows in lists.
    pub(super) shows: u64,
    /// While it moves from one list to the other it is in neither.
    pub(super) gap: (u64, u64),
    /// With the instants from which they show.
    pub(super) fills: Vec<(u64, Fill)>,
}

impl Live {
    pub(super) fn report(&self, seen_at: u64) -> ExecReport {
        let status = match self.life {
            Life::Open => OrdStatus::Open,
            Life::Filled => OrdStatus::Filled,
            Life::Canceled => OrdStatus::Canceled,
        };
        let shown = self.fills.iter().filter(|(shows, _)| *shows <= seen_at);
        let shown: Vec<Fill> = shown.map(|(_, fill)| fill.clone()).collect();
        let cum = self.fills.len().to_string();
        filled_by(report(status, &self.name, Some(&cum)), &shown)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A copy of an attempt reaches the gate.
    Gate { no: u32, copy: usize },
    /// It reaches the book.
    Book { no: u32, copy: usize },
    /// Something happens to an order.
    Trade { order: usize },
}

/// The venue: a gate with a fence, a way to a book, lists that lag.
#[derive(Debug)]
pub(super) struct Venue {
    pub(super) camp: Camp,
    pub(super) dice: Dice,
    pub(super) now: u64,
    pub(super) events: Vec<(u64, Event)>,
    pub(super) fences: Vec<Fence>,
    /// Attempts whose bytes are remembered, or used up.
    pub(super) remembered: BTreeSet<u32>,
    pub(super) revoked: BTreeSet<u32>,
    /// When an order with our id was last taken.
    pub(super) taken_at: Option<u64>,
    pub(super) orders: Vec<Live>,
    pub(super) lie: Option<Lie>,
    /// What was answered to each copy, and when.
    pub(super) answers: Vec<Option<(u64, Submission)>>,
}

impl Venue {
    /// A copy sets out and arrives after `delay`.
    pub(super) fn send(&mut self, no: u32, delay: u64) -> usize {
        let copy = self.answers.len();
        self.answers.push(None);
        self.events
            .push((self.now + delay, Event::Gate { no, copy }));
        copy
    }

    pub(super) fn run(&mut self, until: u64) {
        loop {
            let next = self
                .events
                .iter()
                .enumerate()
                .filter(|(_, (time, _))| *time <= until)
                .min_by_key(|(_, (time, _))| *time)
                .map(|(index, _)| index);
            let Some(index) = next else { break };
            let (time, event) = self.events.remove(index);
            self.now = self.now.max(time);
            match event {
                Event::Gate { no, copy } => self.gate(no, copy),
                Event::Book { no, copy } => self.book(no, copy),
                Event::Trade { order } => self.trade(order),
            }
        }
        self.now = self.now.max(until);
    }

    pub(super) fn answer(&mut self, copy: usize, answer: Submission) {
        self.answers[copy] = Some((self.now, answer));
    }

    pub(super) fn gate(&mut self, no: u32, copy: usize) {
        let passed = match self.fences[usize::try_from(no).unwrap() - 1] {
            Fence::None => false,
            Fence::Clock(fence) => at(self.now) > fence,
            Fence::Height(fence) => height_at(self.now) > fence,
        };
        if passed && self.lie != Some(Lie::Fence) {
            return self.answer(copy, not_taken("outside of the window"));
        }
        if self.revoked.contains(&no) || self.remembered.contains(&no) {
            return self.answer(copy, Submission::Duplicate(DuplicateOf::Bytes));
        }
        if self.now < CALM && self.dice.percent(10) {
            return self.answer(copy, not_taken("too many requests"));
        }
        if (self.camp.replayable || self.camp.revocable) && self.lie != Some(Lie::Memory) {
            self.remembered.insert(no);
        }
        let longest = if self.lie == Some(Lie::Drain) {
            5 * DRAIN
        } else {
            DRAIN
        };
        let drain = self.dice.below(longest);
        self.events
            .push((self.now + drain, Event::Book { no, copy }));
    }

    pub(super) fn book(&mut self, no: u32, copy: usize) {
        let known = match self.camp.duplicate {
            DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => {
                self.taken_at.is_some()
            }
            DuplicateRule::RefusedWithin(window) => self
                .taken_at
                .is_some_and(|taken| at(self.now) < at(taken).after(window)),
            DuplicateRule::RefusedWhileOpen => {
                self.orders.iter().any(|order| order.life == Life::Open)
            }
            DuplicateRule::Accepted => false,
        };
        if known && self.camp.duplicate == DuplicateRule::ReturnsExisting {
            let existing = self.orders[0].report(self.now);
            return self.answer(copy, Submission::Acked(existing));
        }
        if known {
            return self.answer(copy, Submission::Duplicate(DuplicateOf::Id));
        }
        if self.dice.percent(15) {
            if self.camp.uses_up {
                self.remembered.insert(no);
            } else if !self.camp.revocable {
                self.remembered.remove(&no);
            }
            return self.answer(copy, refusal());
        }
        let order = self.orders.len();
        self.taken_at = Some(self.now);
        let longest = if self.lie == Some(Lie::Lag) {
            10 * LAG
        } else {
            LAG
        };
        let shows = self.now + self.dice.below(longest);
        self.orders.push(Live {
            name: format!("O{order}"),
            life: Life::Open,
            shows,
            gap: (0, 0),
            fills: Vec::new(),
        });
        if self.dice.percent(80) {
            self.trade(order);
        } else {
            self.events
                .push((self.now + 10_000, Event::Trade { order }));
        }
        let mut acked = self.orders[order].report(self.now);
        if self.dice.percent(30) {
            acked = report(
                OrdStatus::Open,
                &acked.handle.order_id.unwrap().to_string(),
                None,
            );
        }
        self.answer(copy, Submission::Acked(acked));
    }

    pub(super) fn trade(&mut self, index: usize) {
        let now = self.now;
        let shows = now + self.dice.below(LAG);
        let gap = (now, now + self.dice.below(LAG));
        let kind = self.dice.below(10);
        let order = &mut self.orders[index];
        if order.life != Life::Open {
            return;
        }
        match kind {
            0..=4 if order.fills.len() < 3 => {
                let n = order.fills.len();
                let name = order.name.clone();
                order
                    .fills
                    .push((shows, fill(&name, &format!("x{n}"), "1")));
                if order.fills.len() == 3 {
                    (order.life, order.gap) = (Life::Filled, gap);
                }
            }
            5 => (order.life, order.gap) = (Life::Canceled, gap),
            _ => {}
        }
        let wait = 1 + self.dice.below(8_000);
        if now > CALM + 60_000 {
            let order = &mut self.orders[index];
            if order.life == Life::Open {
                (order.life, order.gap) = (Life::Canceled, gap);
            }
        }
        self.events
            .push((now + wait, Event::Trade { order: index }));
    }

    /// What the lists show in a round that begins now.
    pub(super) fn shown(&self) -> Vec<ExecReport> {
        let visible = self.orders.iter().filter(|order| {
            let between = order.gap.0 <= self.now && self.now < order.gap.1;
            order.shows <= self.now && !between
        });
        visible.map(|order| order.report(self.now)).collect()
    }

    pub(super) fn cancel(&mut self) -> CancelOutcome {
        let now = self.now;
        let gap = (now, now + self.dice.below(LAG));
        let open = self
            .orders
            .iter_mut()
            .find(|order| order.life == Life::Open);
        let Some(order) = open else {
            return CancelOutcome::NotOpen;
        };
        (order.life, order.gap) = (Life::Canceled, gap);
        let ended = order.report(now);
        match self.dice.below(3) {
            0 => CancelOutcome::Taken,
            _ => CancelOutcome::Canceled(ended),
        }
    }

    pub(super) fn revoke(&mut self, no: u32) -> Revocation {
        if !self.camp.revocable {
            return Revocation::Unsupported;
        }
        if self.remembered.contains(&no) || self.revoked.contains(&no) {
            return Revocation::Used;
        }
        if self.lie != Some(Lie::Revocation) {
            self.revoked.insert(no);
        }
        Revocation::Revoked
    }
}

pub(super) fn not_taken(text: &str) -> Submission {
    Submission::NotTaken {
        cause: Reason::new("", text),
        retry_after: None,
    }
}

pub(super) fn sent(no: u32) -> String {
    format!("sends attempt {no} of the journal")
}

pub(super) fn fill_name(fill: &Fill) -> String {
    format!("{}/{}", fill.order_id, fill.exec_id)
}
