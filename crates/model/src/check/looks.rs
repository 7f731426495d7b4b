//! What a process asks the venue: rounds of lookups, cancels, revocations.

use super::action::Fate;
use super::bot::{Ask, CancelSaid, Mode, RevokeSaid, Seen, Shown, Status};
use super::camp::Tick;
use super::model::Check;
use super::steps::{bot, ended, open};
use super::venue::Life;
use super::{Lie, World};

impl Check {
    pub(super) fn start_look(&self, w: &mut World, b: u8) {
        let now = w.now;
        let bot = bot(w, b);
        bot.due = None;
        bot.mode = if self.lie == Some(Lie::OneRound) && bot.looked {
            Mode::Decide(Seen::Absent {
                begun: now,
                ended: now,
            })
        } else {
            Mode::Looking {
                begun: now,
                open: None,
            }
        };
    }

    pub(super) fn read(&self, w: &mut World, b: u8, lucky: bool) {
        let now = w.now;
        let Mode::Looking { begun, open } = bot(w, b).mode else {
            return;
        };
        let Some(mask) = open else {
            let mut mask = 0;
            for (order, index) in w.venue.orders.iter().zip(0_u8..) {
                if order.in_open(now).is(lucky) {
                    mask |= 1 << index;
                }
            }
            bot(w, b).mode = Mode::Looking {
                begun,
                open: Some(mask),
            };
            return;
        };
        let mut found = Vec::new();
        for (order, index) in w.venue.orders.iter().zip(0_u8..) {
            let closed = order.in_closed(now, self.kept).is(lucky);
            let mut fills = order.fills_shown(index, now, lucky, self.kept);
            if self.lie == Some(Lie::NoSweep) && order.life != Life::Open {
                fills = 0;
            }
            let executed = u8::try_from(order.fills.len()).unwrap();
            let shown = if closed {
                (ended(order.life), executed)
            } else if mask & (1 << index) != 0 {
                // An open list that still shows an order which was filled since shows less.
                let before = executed - u8::from(order.life == Life::Filled);
                (Status::Open, before)
            } else if fills != 0 {
                (Status::NotShown, u8::try_from(fills.count_ones()).unwrap())
            } else {
                continue;
            };
            found.push(Shown {
                order: index,
                status: shown.0,
                cum: shown.1,
                fills,
            });
        }
        let bot = bot(w, b);
        bot.looked = found.is_empty();
        bot.mode = Mode::Decide(if found.is_empty() {
            let begun = if self.lie == Some(Lie::BegunAtEnd) {
                now
            } else {
                begun
            };
            let ended = if self.lie == Some(Lie::EndedAtBegun) {
                begun
            } else {
                now
            };
            Seen::Absent { begun, ended }
        } else {
            Seen::Found(found)
        });
    }

    pub(super) fn ask(&self, w: &mut World, b: u8, fate: Fate) {
        let Mode::Asking(ask) = bot(w, b).mode else {
            return;
        };
        let arrives = fate != Fate::Lost;
        let answered = matches!(fate, Fate::Answered | Fate::Receipt);
        if !answered {
            w.left.faults -= 1;
        }
        let now = w.now;
        let seen = match ask {
            Ask::Cancel => {
                let open = |order: &super::venue::Order| order.life == Life::Open;
                let open = w.venue.orders.iter().position(open);
                let said = match open {
                    None => CancelSaid::NotOpen,
                    Some(index) => {
                        if arrives {
                            w.venue.end(index, Life::Canceled, now);
                        }
                        let order = u8::try_from(index).unwrap();
                        if fate == Fate::Answered {
                            CancelSaid::Canceled(Shown {
                                fills: 0,
                                ..self.shown(w, order, true)
                            })
                        } else {
                            CancelSaid::Taken
                        }
                    }
                };
                Seen::Cancel(if answered { said } else { CancelSaid::Unknown })
            }
            Ask::Revoke(no) => {
                let wire = w.journal.page.wires.get(usize::from(no) - 1).copied();
                let wire = wire.unwrap_or(no);
                let free = if self.lie == Some(Lie::IdIsProof) {
                    true
                } else {
                    !arrives || w.venue.revoke(wire)
                };
                let said = match (answered, free) {
                    (false, _) => RevokeSaid::Inconclusive,
                    (true, true) => RevokeSaid::Revoked,
                    (true, false) => RevokeSaid::Used,
                };
                if said == RevokeSaid::Used && self.lie == Some(Lie::UsedIsOrder) {
                    Seen::Report(open(0))
                } else {
                    Seen::Revoked { no, said }
                }
            }
        };
        bot(w, b).mode = Mode::Decide(seen);
    }

    /// The order as the venue sees it.
    pub(super) fn shown(&self, w: &World, index: u8, lucky: bool) -> Shown {
        let order = &w.venue.orders[usize::from(index)];
        Shown {
            order: index,
            status: if order.life == Life::Open {
                Status::Open
            } else {
                ended(order.life)
            },
            cum: u8::try_from(order.fills.len()).unwrap(),
            fills: order.fills_shown(index, w.now, lucky, Tick::MAX),
        }
    }
}
