//! What must hold in every world.

use surefill_core::{GiveUp, HaltCause, Lacking, OrdState};

use super::bot::Mode;
use super::camp::{CAP, HORIZON};
use super::marks::Mark;
use super::venue::Life;
use super::{Check, FenceKind, World};

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    /// P1: at most one order ever lives for one intent.
    AtMostOne,
    /// P2: when nothing happens any more, the order is settled as the venue says, or halted with a cause that holds.
    ExactlyOne,
    /// P3: when nothing happens any more, every fill is booked, once.
    NothingLost,
    /// P4: an order past the cap in doubt is halted, in its whole account, until the venue's word.
    DoubtStops,
    /// P4: a send whose answer is not awaited any more leaves a row that refuses new entries in its symbol.
    DoubtIsSaid,
    /// P5: a row that works or filled has an order at the venue.
    VenueWord,
    /// I3: no change of a terminal row's state.
    TerminalIsFinal,
    /// I4: quantities grow.
    QuantitiesGrow,
    /// I7: nothing is sent after a cancel was told to be asked.
    CancelEndsSends,
    /// I12: nothing is sent of an attempt whose revocation is asked.
    RevocationEndsReplay,
    /// I13: the absence of an order that the venue named ends nothing, and no next attempt follows.
    EvidenceIsSticky,
    /// An order that lives under a Rejected or Canceled row is in the recovery index.
    InTheIndex,
    /// Nothing is sent after Rejected was told.
    NothingAfterRejected,
    /// No order is taken after Rejected was told, but for a doubled request or an assumed drain.
    RejectedIsFinal,
    /// No attempt is made durable after a halt was announced.
    HaltHolds,
    /// No change is decided that the row refuses.
    Lawful,
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::AtMostOne,
        Self::ExactlyOne,
        Self::NothingLost,
        Self::DoubtStops,
        Self::DoubtIsSaid,
        Self::VenueWord,
        Self::TerminalIsFinal,
        Self::QuantitiesGrow,
        Self::CancelEndsSends,
        Self::RevocationEndsReplay,
        Self::EvidenceIsSticky,
        Self::InTheIndex,
        Self::NothingAfterRejected,
        Self::RejectedIsFinal,
        Self::HaltHolds,
        Self::Lawful,
    ];

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtMostOne => "P1 at most one order",
            Self::ExactlyOne => "P2 settled, or halted with a cause that holds",
            Self::NothingLost => "P3 every fill booked once",
            Self::DoubtStops => "P4 doubt past the cap is halted",
            Self::DoubtIsSaid => "P4 doubt refuses entries in its symbol",
            Self::VenueWord => "P5 a working row has an order",
            Self::TerminalIsFinal => "I3 terminal is final",
            Self::QuantitiesGrow => "I4 quantities grow",
            Self::CancelEndsSends => "I7 a cancel ends sends",
            Self::RevocationEndsReplay => "I12 a revocation ends replay",
            Self::EvidenceIsSticky => "I13 evidence is sticky",
            Self::InTheIndex => "what lives under an ended row is in the index",
            Self::NothingAfterRejected => "nothing is sent after Rejected was told",
            Self::RejectedIsFinal => "no order is taken after Rejected was told",
            Self::HaltHolds => "no attempt after a halt was announced",
            Self::Lawful => "no change that the row refuses",
        }
    }
}

impl Check {
    pub(super) fn holds(&self, promise: Promise, w: &World) -> bool {
        if self.only.is_some_and(|only| only != promise) {
            return true;
        }
        if w.broken == Some(promise) {
            return false;
        }
        let row = w.row().map(|row| &row.record);
        match promise {
            Promise::AtMostOne => {
                let remembers = self.camp.remembers();
                // What no client can stop is detected and halted: that is part of P2.
                let documented =
                    w.doubled && !self.camp.keeps_id() && !(remembers && self.camp.uses_up);
                w.venue.orders.len() <= 1 || documented && !remembers
            }
            Promise::ExactlyOne => !self.is_over(w) || self.settled(w),
            Promise::NothingLost => {
                // Under a halt from doubt the looks go on, slowly: what lands at the last tick is found after it.
                row.is_none()
                    || !self.is_over(w)
                    || self.doubt(w).is_some()
                    || w.journal.page.fills == w.executed()
            }
            Promise::DoubtStops => {
                let runs = matches!(w.leader().mode, Mode::Waiting { .. }) && !w.leader().paused;
                let late = w.doubt_from.is_some_and(|since| w.now > since + CAP + 3);
                !(late && runs) || self.doubt(w).is_some()
            }
            Promise::DoubtIsSaid => {
                // The store refuses an entry in the symbol for a row in doubt, and for that alone.
                let waits = matches!(w.leader().mode, Mode::Waiting { .. } | Mode::Rest);
                let unanswered = row.is_some_and(|row| row.state == OrdState::Submitted);
                !(waits && unanswered && !w.leader().paused)
            }
            Promise::VenueWord => {
                let claims =
                    row.is_some_and(|row| row.state.is_working() || row.state == OrdState::Filled);
                !claims || !w.venue.orders.is_empty()
            }
            Promise::InTheIndex => {
                let lives = w.venue.orders.iter().any(|order| order.life == Life::Open);
                let ended = row.is_some_and(|row| row.state.is_terminal() && !row.unfinished());
                !(lives && ended) || w.venue.orders.len() > 1
            }
            Promise::TerminalIsFinal
            | Promise::QuantitiesGrow
            | Promise::CancelEndsSends
            | Promise::RevocationEndsReplay
            | Promise::EvidenceIsSticky
            | Promise::NothingAfterRejected
            | Promise::RejectedIsFinal
            | Promise::HaltHolds
            | Promise::Lawful => true,
        }
    }

    /// Whether every promise holds in a world in which something may still happen.
    pub(super) fn goes_on(&self, w: &World) -> bool {
        let mut promises = Promise::ALL.into_iter();
        // What holds at the end is not asked before it.
        promises.all(|promise| match promise {
            Promise::ExactlyOne | Promise::NothingLost => true,
            other => self.holds(other, w),
        })
    }

    fn is_over(&self, w: &World) -> bool {
        let waits = matches!(w.leader().mode, Mode::Rest | Mode::Waiting { .. });
        if w.broken.is_some() || !waits || w.bots.iter().any(|bot| bot.paused) {
            return w.broken.is_some();
        }
        if !w.venue.copies.is_empty() || w.now < HORIZON && !w.quiet() {
            return false;
        }
        let mut actions = Vec::new();
        self.next_actions(w, &mut actions);
        actions.is_empty()
    }

    pub(super) fn doubt(&self, w: &World) -> Option<Lacking> {
        w.journal.page.halts.iter().find_map(|halt| match halt {
            HaltCause::Doubt { lacking, .. } => Some(*lacking),
            _ => None,
        })
    }

    /// Settled as the venue says, or halted with a cause that holds here.
    fn settled(&self, w: &World) -> bool {
        let orders = w.venue.orders.len();
        let lives = w.venue.orders.iter().any(|order| order.life == Life::Open);
        let at_rest = w.row().is_some_and(|row| {
            let row = &row.record;
            row.state.is_terminal() && !row.unfinished() || row.cancel_requested
        });
        // Of two orders none outlives the row, or the cancel that was asked.
        if lives && orders > 1 && at_rest {
            return false;
        }
        let mut halted = false;
        for halt in &w.journal.page.halts {
            let holds = match halt {
                HaltCause::Doubt { lacking, .. } => match lacking {
                    Lacking::Fence => {
                        self.saw(Mark::HaltFence);
                        self.camp.fence == FenceKind::None || self.first_fence.is_none()
                    }
                    Lacking::DocumentedDrain => {
                        self.saw(Mark::HaltDrain);
                        self.camp.fence == FenceKind::Gate && self.intent.give_up == GiveUp::Strict
                    }
                    Lacking::Retention => {
                        self.saw(Mark::HaltRetention);
                        self.kept < HORIZON
                    }
                    Lacking::Sight => {
                        self.saw(Mark::HaltSight);
                        false
                    }
                    Lacking::Answer => {
                        self.saw(Mark::HaltAnswer);
                        false
                    }
                },
                HaltCause::SecondOrder { .. } => {
                    self.saw(Mark::HaltSecond);
                    orders > 1
                }
                HaltCause::Surprise { .. } => {
                    self.saw(Mark::HaltSurprise);
                    w.doubled || self.camp.fence == FenceKind::Gate
                }
                HaltCause::Asked => true,
                _ => false,
            };
            if !holds {
                return false;
            }
            halted = true;
        }
        if halted {
            return true;
        }
        let Some(row) = w.row() else {
            return orders == 0;
        };
        let row = &row.record;
        if orders == 0 {
            self.saw(Mark::NoOrder);
        } else {
            self.saw(Mark::OneOrder);
        }
        let at_rest = row.state.is_working() && !row.cancel_requested
            || row.state.is_terminal() && !row.unfinished();
        orders <= 1 && at_rest && w.agrees()
    }
}
