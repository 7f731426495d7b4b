//! The venue of the model: a gate with a fence, a queue, a book, lists that lag, requests on their way.

use surefill_core::DuplicateRule;

use super::camp::{DRAIN, HORIZON, Tick, WATCH, WINDOW};
use super::{Camp, FenceKind};

/// Fills of orders, one bit each: order × 4 + fill.
pub type FillSet = u16;

/// The bit of a fill.
pub(crate) const fn fill_bit(order: u8, fill: u8) -> FillSet {
    1 << (order * 4 + fill)
}

/// How an order stands in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    /// It works.
    Open,
    /// It ended by execution.
    Filled,
    /// It ended otherwise.
    Canceled,
}

/// An order in the book.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// How it stands.
    pub life: Life,
    /// When it was taken.
    pub taken: Tick,
    /// When it ended.
    pub ended: Tick,
    /// The longest time until a change of it shows in lists.
    pub(crate) lag: Tick,
    /// When each unit was filled.
    pub fills: Vec<Tick>,
}

/// Where a copy of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Before the gate.
    Wire,
    /// Between gate and book, since this tick.
    Queue(Tick),
}

/// A copy of an attempt's request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Copy {
    /// The attempt.
    pub no: u8,
    /// Where it is.
    pub place: Place,
    /// The process that awaits its answer.
    pub by: Option<u8>,
    /// Doubled below the client, where no fence stops it: it arrives within a watch from then.
    pub doubled: Option<Tick>,
}

/// The venue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Venue {
    /// Requests on their way, in order.
    pub copies: Vec<Copy>,
    /// Orders taken, oldest first.
    pub orders: Vec<Order>,
    /// Attempts whose bytes it knows, one bit each.
    pub(crate) remembered: u8,
    /// Attempts that are revoked, one bit each.
    pub(crate) revoked: u8,
    /// The fence of each attempt as its bytes say, by number.
    pub(crate) fences: Vec<Option<Tick>>,
    /// The longest time until a change shows in its lists.
    pub(crate) lag: Tick,
}

/// What the gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtGate {
    Passed,
    TooLate,
    BytesKnown,
}

/// What the book says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtBook {
    Taken(u8),
    Existing(u8),
    IdKnown,
    Refused,
    TooLate,
}

const fn bit(no: u8) -> u8 {
    1 << no
}

impl Venue {
    pub(crate) fn add(&mut self, copy: Copy) {
        self.copies.push(copy);
        self.copies.sort_unstable();
    }

    fn past_fence(&self, no: u8, now: Tick) -> bool {
        let fence = self.fences.get(usize::from(no) - 1).copied().flatten();
        fence.is_some_and(|fence| now > fence)
    }

    /// A copy reaches the gate, and leaves it where it is turned away.
    pub(crate) fn gate(&mut self, camp: &Camp, index: usize, now: Tick) -> AtGate {
        let mut copy = self.copies.remove(index);
        let checks = matches!(camp.fence, FenceKind::Gate | FenceKind::GateAndDrain);
        if checks && self.past_fence(copy.no, now) {
            return AtGate::TooLate;
        }
        if (self.revoked | self.remembered) & bit(copy.no) != 0 {
            return AtGate::BytesKnown;
        }
        if camp.remembers() {
            self.remembered |= bit(copy.no);
        }
        copy.place = Place::Queue(now);
        self.add(copy);
        AtGate::Passed
    }

    /// Whether a copy in the queue must reach the book before the next tick.
    pub(crate) fn due(&self, camp: &Camp, now: Tick) -> bool {
        self.copies.iter().any(|copy| match copy.place {
            Place::Queue(since) => {
                let longest = match camp.fence {
                    FenceKind::None | FenceKind::Engine => 0,
                    FenceKind::GateAndDrain => DRAIN,
                    // The drain is only assumed: it may take as long as the watch still sees it.
                    FenceKind::Gate => DRAIN + WATCH + 1,
                };
                now >= since + longest
            }
            // What no fence stops comes early enough that its discovery is still seen.
            Place::Wire => {
                let fenced = self.fences.get(usize::from(copy.no) - 1).copied().flatten();
                let last = fenced.is_none() && now + 6 >= HORIZON;
                last || copy
                    .doubled
                    .is_some_and(|since| now + self.lag >= since + WATCH)
            }
        })
    }

    /// A copy reaches the book.
    pub(crate) fn book(&mut self, camp: &Camp, index: usize, now: Tick, refuse: bool) -> AtBook {
        let copy = self.copies.remove(index);
        if camp.fence == FenceKind::Engine && self.past_fence(copy.no, now) {
            return AtBook::TooLate;
        }
        let known = match camp.duplicate {
            DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => {
                !self.orders.is_empty()
            }
            DuplicateRule::RefusedWithin(_) => {
                let newest = self.orders.last();
                newest.is_some_and(|order| now < order.taken + WINDOW)
            }
            DuplicateRule::RefusedWhileOpen => {
                self.orders.iter().any(|order| order.life == Life::Open)
            }
            DuplicateRule::Accepted => false,
        };
        if known && camp.duplicate == DuplicateRule::ReturnsExisting {
            return AtBook::Existing(0);
        }
        if known {
            return AtBook::IdKnown;
        }
        if refuse {
            if !camp.uses_up && !camp.revocable {
                self.remembered &= !bit(copy.no);
            }
            return AtBook::Refused;
        }
        self.orders.push(Order {
            life: Life::Open,
            taken: now,
            ended: 0,
            lag: self.lag,
            fills: Vec::new(),
        });
        AtBook::Taken(u8::try_from(self.orders.len()).unwrap() - 1)
    }

    pub(crate) fn end(&mut self, order: usize, life: Life, now: Tick) {
        let order = &mut self.orders[order];
        (order.life, order.ended) = (life, now);
    }

    /// Makes an attempt unlandable; `false` when its nonce is used.
    pub(crate) fn revoke(&mut self, no: u8) -> bool {
        let free = (self.revoked | self.remembered) & bit(no) == 0;
        self.revoked |= bit(no);
        free
    }
}

/// Whether a list shows something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Yes,
    No,
    /// It changed less than a lag ago.
    Maybe,
}

impl Sight {
    pub(crate) const fn is(self, lucky: bool) -> bool {
        match self {
            Self::Yes => true,
            Self::No => false,
            Self::Maybe => lucky,
        }
    }
}

impl Order {
    /// The last tick at which it may still trade.
    pub(crate) const fn trades_until(&self) -> Tick {
        self.taken + self.lag + 1
    }

    /// Whether the list of open orders shows it.
    pub(crate) fn in_open(&self, now: Tick) -> Sight {
        match self.life {
            Life::Open if now >= self.taken + self.lag => Sight::Yes,
            Life::Open => Sight::Maybe,
            Life::Filled | Life::Canceled if now < self.ended + self.lag => Sight::Maybe,
            Life::Filled | Life::Canceled => Sight::No,
        }
    }

    /// Whether the list of closed orders shows it.
    pub(crate) fn in_closed(&self, now: Tick, kept: Tick) -> Sight {
        match self.life {
            Life::Open => Sight::No,
            Life::Filled | Life::Canceled if now >= self.ended.saturating_add(kept) => Sight::No,
            Life::Filled | Life::Canceled if now >= self.ended + self.lag => Sight::Yes,
            Life::Filled | Life::Canceled => Sight::Maybe,
        }
    }

    /// The fills that the list of fills shows: those a lag old, and, with luck, the newer ones.
    pub(crate) fn fills_shown(&self, index: u8, now: Tick, lucky: bool, kept: Tick) -> FillSet {
        let mut set = 0;
        for (fill, at) in (0_u8..).zip(&self.fills) {
            let old = now >= *at + self.lag;
            let gone = now >= at.saturating_add(kept);
            if (old || lucky) && !gone {
                set |= fill_bit(index, fill);
            }
        }
        set
    }

    /// Whether the list of fills may show more or less.
    pub(crate) fn fills_unsure(&self, now: Tick) -> bool {
        self.fills.iter().any(|at| now < *at + self.lag)
    }
}
