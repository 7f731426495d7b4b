//! What may happen next in a world.

use super::action::{Action, Fate};
use super::bot::{Ask, Mode};
use super::camp::HORIZON;
use super::venue::{Life, Place, Sight};
use super::{Check, Lie, World};

impl Check {
    pub(super) fn next_actions(&self, w: &World, actions: &mut Vec<Action>) {
        if w.broken.is_some() {
            return;
        }
        let faulty = w.faulty();
        let faults = w.left.faults > 0 && faulty;
        let mut busy = false;
        let urgent = w.bots.iter().any(super::Bot::urgent);
        for (b, bot) in (0_u8..).zip(&w.bots) {
            // A process that takes its next step at once does so before another one goes on, or reads.
            let waits = urgent && !bot.urgent() && !self.plain;
            if bot.paused {
                if !waits {
                    actions.push(Action::GoOn(b));
                }
                continue;
            }
            if waits {
                self.ends(w, b, bot, actions);
                continue;
            }
            match &bot.mode {
                Mode::Place | Mode::Decide(_) => actions.push(Action::Step(b)),
                Mode::Prepare { .. } => {
                    busy = true;
                    actions.push(Action::Step(b));
                }
                Mode::Ready { .. } => {
                    actions.push(Action::Step(b));
                    if faults {
                        actions.push(Action::NoConnect(b));
                    }
                    if w.left.doubles > 0 && faulty {
                        actions.push(Action::Doubled(b));
                    }
                }
                Mode::Waiting { until, .. } => {
                    if *until <= w.now {
                        busy = true;
                        actions.push(Action::Step(b));
                    }
                }
                Mode::Looking { open, .. } => {
                    busy |= w.left.slow == 0 || !faulty;
                    actions.push(Action::Read {
                        bot: b,
                        lucky: true,
                    });
                    if self.unsure(w, open.is_some()) {
                        actions.push(Action::Read {
                            bot: b,
                            lucky: false,
                        });
                    }
                    if faults && open.is_none() {
                        actions.push(Action::ReadFails(b));
                    }
                }
                Mode::Sending { .. } => {
                    let held = w.venue.copies.iter().find(|copy| copy.by == Some(b));
                    let free = held.is_none_or(
                        |copy| matches!(copy.place, Place::Queue(since) if since < w.now),
                    );
                    if free || faults {
                        actions.push(Action::TimeOut(b));
                    }
                }
                Mode::Asking(ask) => self.asks(w, b, *ask, faults, actions),
                Mode::Down => {
                    if b == w.journal.leader {
                        busy |= !faulty;
                        actions.push(Action::Recover(b));
                    }
                }
                Mode::Rest => {}
            }
            self.ends(w, b, bot, actions);
        }
        if urgent {
            return;
        }
        for (b, bot) in (0_u8..).zip(&w.bots) {
            self.outside(w, b, bot, actions);
        }
        let paused = w.bots[0].paused || w.bots[0].mode == Mode::Down;
        if w.left.takeovers > 0 && faulty && paused && w.journal.leader == 0 {
            actions.push(Action::Takeover);
        }
        if w.left.halts > 0 && faulty {
            actions.push(Action::AskHalt);
        }
        busy |= w.bots.iter().any(|bot| bot.paused && !faulty);
        busy |= self.venue(w, faults, actions);
        if !busy && w.now < HORIZON && !w.quiet() {
            actions.push(Action::Tick);
        }
    }

    /// A process may die, or stand still.
    fn ends(&self, w: &World, b: u8, bot: &super::Bot, actions: &mut Vec<Action>) {
        if bot.mode == Mode::Down || !w.faulty() {
            return;
        }
        let idle = bot.mode == Mode::Rest && w.journal.lazy.is_empty();
        if w.left.crashes > 0 && !idle && b == w.journal.leader {
            let lazy = u8::try_from(w.journal.lazy.len()).unwrap();
            actions.extend((0..=lazy).map(|lose| Action::Crash { bot: b, lose }));
        }
        if w.left.pauses > 0 && bot.mode != Mode::Rest {
            actions.push(Action::Pause(b));
        }
    }

    /// What the venue may do; `true` when no tick may pass before it did.
    fn venue(&self, w: &World, faults: bool, actions: &mut Vec<Action>) -> bool {
        let mut busy = w.venue.due(&self.camp, w.now);
        for (index, copy) in (0_u8..).zip(&w.venue.copies) {
            // Equal copies are one.
            if index > 0 && w.venue.copies[usize::from(index) - 1] == *copy {
                continue;
            }
            // A process may stand still right after its last check, and the first byte leaves when it goes on: whatever the check asked for is old then.
            let awaited = copy.by.is_some_and(|b| !w.bots[usize::from(b)].paused);
            match copy.place {
                Place::Wire => {
                    busy |= awaited;
                    actions.push(Action::Gate {
                        copy: index,
                        lost: false,
                    });
                    if faults {
                        if awaited {
                            actions.push(Action::Throttle(index));
                        }
                        actions.push(Action::Lose(index));
                    }
                }
                Place::Queue(_) => {
                    for refuse in [false, true] {
                        if refuse && w.left.refusals == 0 {
                            continue;
                        }
                        actions.push(Action::Book {
                            copy: index,
                            refuse,
                            lost: false,
                        });
                        if faults && awaited {
                            actions.push(Action::Book {
                                copy: index,
                                refuse,
                                lost: true,
                            });
                        }
                    }
                }
            }
        }
        for index in 0..w.venue.orders.len() {
            if w.trades(index) {
                let order = u8::try_from(index).unwrap();
                actions.push(Action::Fill(order));
                actions.push(Action::Expire(order));
            }
        }
        busy
    }

    fn asks(&self, w: &World, b: u8, ask: Ask, faults: bool, actions: &mut Vec<Action>) {
        let mut push = |fate| actions.push(Action::Ask { bot: b, fate });
        push(Fate::Answered);
        let open = w.venue.orders.iter().any(|order| order.life == Life::Open);
        if ask == Ask::Cancel && open {
            push(Fate::Receipt);
        }
        if faults {
            push(Fate::Lost);
            if open || ask != Ask::Cancel {
                push(Fate::AnswerLost);
            }
        }
    }

    /// What comes to a process from outside.
    fn outside(&self, w: &World, b: u8, bot: &super::Bot, actions: &mut Vec<Action>) {
        let open = bot
            .row
            .as_ref()
            .is_some_and(|row| !row.record.state.is_terminal() && !row.record.cancel_requested);
        if bot.listens() && w.left.cancels > 0 && w.faulty() && open {
            actions.push(Action::AskCancel(b));
        }
        if b != w.journal.leader || bot.paused {
            return;
        }
        for (order, index) in w.venue.orders.iter().zip(0_u8..) {
            if bot.listens() && w.left.pushes > 0 && w.faulty() {
                for old in [false, true] {
                    if !old || order.life != Life::Open || !order.fills.is_empty() {
                        actions.push(Action::Push {
                            bot: b,
                            order: index,
                            old,
                        });
                    }
                }
            }
            if bot.mode == Mode::Rest
                && self.lie != Some(Lie::NoSweep)
                && let Some(row) = w.row()
            {
                let name = &self.fills[usize::from(index)][0].order_id;
                let certain = order.fills_shown(index, w.now, false, self.kept);
                let news = !row.record.order_ids.contains(name)
                    && (order.in_open(w.now) == Sight::Yes
                        || order.in_closed(w.now, self.kept) == Sight::Yes)
                    || certain & !w.journal.page.fills != 0;
                if news {
                    actions.push(Action::Hear {
                        bot: b,
                        order: index,
                    });
                }
            }
        }
    }

    /// Whether a list may show more or less than it will.
    fn unsure(&self, w: &World, second: bool) -> bool {
        w.venue.orders.iter().any(|order| {
            if second {
                order.in_closed(w.now, self.kept) == Sight::Maybe || order.fills_unsure(w.now)
            } else {
                order.in_open(w.now) == Sight::Maybe
            }
        })
    }
}
