//! One state of the model: a moment, the journal, the venue, the processes, and what may still go wrong.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use surefill_core::OrdState;

use super::alike::Lens;
use super::bot::{Bot, Mode};
use super::camp::{CALM, HORIZON, Tick};
use super::journal::{Journal, Row};
use super::promise::Promise;
use super::venue::{FillSet, Life, Venue, fill_bit};

/// How often each kind of thing may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Messages that are lost, held or throttled, connects and reads that fail.
    pub faults: u8,
    /// Crashes, with or without the loss of lazy writes.
    pub crashes: u8,
    /// Requests that are doubled below the client.
    pub doubles: u8,
    /// Refusals at the book.
    pub refusals: u8,
    /// Executions, one unit each, and ends at the venue's will.
    pub trades: u8,
    /// Cancels that are asked.
    pub cancels: u8,
    /// Halts that are declared.
    pub halts: u8,
    /// Reports that a stream pushes, of now or of before.
    pub pushes: u8,
    /// Ticks that pass within a round of lookups.
    pub slow: u8,
    /// Pauses of a process at any step.
    pub pauses: u8,
    /// Takeovers by another process while the first one is paused.
    pub takeovers: u8,
}

/// One state of the model.
#[derive(Clone, Debug)]
pub struct World {
    /// Now.
    pub now: Tick,
    /// The journal.
    pub journal: Journal,
    /// The venue.
    pub venue: Venue,
    /// The processes.
    pub bots: Vec<Bot>,
    /// What may still happen.
    pub left: Budget,
    /// Rejected was told to the strategy.
    pub told: bool,
    /// A cancel was told to be asked.
    pub(crate) cancel_told: bool,
    /// A declared halt was announced.
    pub(crate) halt_told: bool,
    /// Since when the order's fate is not known, whatever the row says: it ends with the venue's word or the row's end.
    pub(crate) doubt_from: Option<Tick>,
    /// A request was doubled below the client.
    pub doubled: bool,
    /// The promise that was just broken, where a step shows it.
    pub(crate) broken: Option<Promise>,
    /// What tells it from others.
    pub(super) lens: Arc<Lens>,
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if !self.lens.plain {
            return self.hash_alike(state);
        }
        (self.now, &self.journal, &self.venue, &self.bots).hash(state);
        (self.left, self.told, self.cancel_told, self.halt_told).hash(state);
        (self.doubled, self.broken, self.doubt_from).hash(state);
    }
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        (self.now, &self.journal, &self.venue, &self.bots)
            == (other.now, &other.journal, &other.venue, &other.bots)
            && (self.left, self.told, self.cancel_told, self.halt_told)
                == (other.left, other.told, other.cancel_told, other.halt_told)
            && (self.doubled, self.broken, self.doubt_from)
                == (other.doubled, other.broken, other.doubt_from)
    }
}

impl World {
    pub(super) fn new(left: Budget, lag: Tick, lens: Arc<Lens>) -> Self {
        let mut first = Bot::down();
        first.mode = Mode::Place;
        Self {
            now: 0,
            journal: Journal::default(),
            venue: Venue {
                lag,
                ..Venue::default()
            },
            bots: if left.takeovers > 0 {
                vec![first, Bot::down()]
            } else {
                vec![first]
            },
            left,
            told: false,
            cancel_told: false,
            halt_told: false,
            doubt_from: None,
            doubled: false,
            broken: None,
            lens,
        }
    }

    /// The order's row, as it is on disk or would be.
    pub fn row(&self) -> Option<&Arc<Row>> {
        self.journal.page.row.as_ref()
    }

    pub(crate) const fn faulty(&self) -> bool {
        self.now <= CALM
    }

    /// Every fill that was executed.
    pub(crate) fn executed(&self) -> FillSet {
        let mut set = 0;
        for (order, index) in self.venue.orders.iter().zip(0_u8..) {
            for (_, fill) in order.fills.iter().zip(0_u8..) {
                set |= fill_bit(index, fill);
            }
        }
        set
    }

    /// Whether an order may still trade: within a lag and a tick of being taken.
    pub(crate) fn trades(&self, order: usize) -> bool {
        let order = &self.venue.orders[order];
        self.left.trades > 0 && order.life == Life::Open && self.now <= order.trades_until()
    }

    /// The process that holds the lease.
    pub(crate) fn leader(&self) -> &Bot {
        &self.bots[usize::from(self.journal.leader)]
    }

    /// Nothing will happen by waiting.
    pub(crate) fn quiet(&self) -> bool {
        if !self.venue.copies.is_empty() || (0..self.venue.orders.len()).any(|o| self.trades(o)) {
            return false;
        }
        // What changed less than a lag ago is still to be told.
        let newest = |order: &super::venue::Order| {
            let fills = order.fills.iter().copied().max().unwrap_or_default();
            order.taken.max(order.ended).max(fills) + order.lag
        };
        if self
            .venue
            .orders
            .iter()
            .any(|order| self.now < newest(order))
        {
            return false;
        }
        let leader = self.journal.leader;
        let mut others = (0_u8..)
            .zip(&self.bots)
            .filter(|(index, _)| *index != leader);
        if !others.all(|(_, bot)| matches!(bot.mode, Mode::Down | Mode::Rest)) {
            return false;
        }
        match (&self.leader().mode, self.row()) {
            (Mode::Rest, _) => true,
            (Mode::Waiting { until, .. }, Some(row)) => {
                let record = &row.record;
                let works = record.state.is_working()
                    && !record.cancel_requested
                    && self.venue.orders.len() == 1
                    && self.venue.orders[0].life == Life::Open
                    && self.now > self.venue.orders[0].trades_until()
                    && record.booked_qty == record.cum_qty
                    && self.journal.page.fills == self.executed();
                works || *until > HORIZON
            }
            _ => false,
        }
    }

    /// Whether the row says what the venue says.
    pub(crate) fn agrees(&self) -> bool {
        let Some(row) = self.row() else {
            return self.venue.orders.is_empty();
        };
        match (row.record.state, self.venue.orders.first().map(|o| o.life)) {
            (OrdState::Filled, Some(life)) => life == Life::Filled,
            (OrdState::Canceled, Some(life)) => life == Life::Canceled,
            (OrdState::Acked | OrdState::Partial, Some(life)) => life == Life::Open,
            (OrdState::Canceled | OrdState::Rejected, None) => true,
            _ => false,
        }
    }
}
