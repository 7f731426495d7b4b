//! How the world moves: each action, and what the venue answers.

use surefill_core::{AttemptState, HaltCause, RevocationState, Watch};

use super::action::Action;
use super::bot::{Answer, Mode, Seen, Shown, Status};
use super::camp::QTY;
use super::model::Check;
use super::promise::Promise;
use super::venue::{AtBook, AtGate, Life, Place};
use super::{FenceKind, Lie, World};

impl Check {
    /// The world after an action, and after what must follow it.
    pub(crate) fn after(&self, world: &World, action: Action) -> World {
        let mut w = self.act(world.clone(), action);
        while let Some(action) = self.forced(&w) {
            w = self.act(w, action);
        }
        w
    }

    /// A process without the lease, whose work nobody sees, is at rest.
    ///
    /// Its row stays as it is, because it learns of another one only after a commit of its own, which the journal refuses. Where neither a cancel nor a
    /// revocation is asked in that row, `decide` names none of the two before a commit; the last check holds its sends back; and what it
    /// reads changes nothing. What it sent before is on its way without it. One that has no row yet reads the one there is then, and is left alone.
    fn rest_fenced(&self, w: &mut World) {
        let lies = [Lie::NoCas, Lie::VersionUnread, Lie::LeaseKept];
        if self.plain || self.lie.is_some_and(|lie| lies.contains(&lie)) {
            return;
        }
        for b in 0..u8::try_from(w.bots.len()).unwrap() {
            let bot = &w.bots[usize::from(b)];
            if b == w.journal.leader || matches!(bot.mode, Mode::Down | Mode::Asking(_)) {
                continue;
            }
            let Some(row) = &bot.row else { continue };
            let record = &row.record;
            let revokes = |attempt: &AttemptState| attempt.revocation == RevocationState::Asked;
            let asks = record.cancel_requested
                || record.watch == Some(Watch::Surfaced)
                || record.attempts.iter().any(revokes);
            if asks {
                continue;
            }
            for copy in &mut w.venue.copies {
                copy.by = copy.by.filter(|by| *by != b);
            }
            w.venue.copies.sort_unstable();
            w.bots[usize::from(b)] = super::Bot {
                mode: Mode::Rest,
                ..super::Bot::down()
            };
        }
    }

    /// The only thing that may happen in a world, where it is no tick and no promise is broken: such worlds are walked through, and not kept.
    ///
    /// Nothing is lost by it: every world on the way is looked at, and no other way leads out of it. A tick ends the walk, so that ways that meet
    /// again are walked once.
    pub(super) fn forced(&self, w: &World) -> Option<Action> {
        if self.plain || w.broken.is_some() {
            return None;
        }
        let mut actions = Vec::new();
        self.next_actions(w, &mut actions);
        match actions[..] {
            [action] if action != Action::Tick && self.goes_on(w) => Some(action),
            _ => None,
        }
    }

    /// The world after an action.
    pub(super) fn act(&self, mut w: World, action: Action) -> World {
        match action {
            Action::Tick => {
                let looking = |bot: &super::Bot| matches!(bot.mode, Mode::Looking { .. });
                if w.bots.iter().any(|bot| !bot.paused && looking(bot)) {
                    w.left.slow -= 1;
                }
                w.now += 1;
            }
            Action::Step(b) => self.step(&mut w, b),
            Action::NoConnect(b) => {
                w.left.faults -= 1;
                self.send(&mut w, b, true, false);
            }
            Action::Doubled(b) => {
                w.left.doubles -= 1;
                w.doubled = true;
                self.send(&mut w, b, false, true);
            }
            Action::Gate { copy, lost } => self.gate(&mut w, copy, lost),
            Action::Throttle(copy) => {
                w.left.faults -= 1;
                let copy = w.venue.copies.remove(usize::from(copy));
                deliver(&mut w, copy.by, Answer::NotTaken, false);
            }
            Action::Lose(copy) => {
                w.left.faults -= 1;
                let copy = w.venue.copies.remove(usize::from(copy));
                deliver(&mut w, copy.by, Answer::Unknown, false);
            }
            Action::Book { copy, refuse, lost } => self.book(&mut w, copy, refuse, lost),
            Action::TimeOut(b) => {
                let held = w.venue.copies.iter().position(|copy| copy.by == Some(b));
                if let Some(index) = held {
                    let mut copy = w.venue.copies.remove(index);
                    let queued = matches!(copy.place, Place::Queue(since) if since < w.now);
                    if !queued {
                        w.left.faults -= 1;
                    }
                    copy.by = None;
                    w.venue.add(copy);
                }
                deliver(&mut w, Some(b), Answer::Unknown, false);
            }
            Action::Read { bot, lucky } => self.read(&mut w, bot, lucky),
            Action::ReadFails(b) => {
                w.left.faults -= 1;
                bot(&mut w, b).mode = Mode::Decide(Seen::Failed);
            }
            Action::Ask { bot, fate } => self.ask(&mut w, bot, fate),
            Action::Fill(order) => {
                w.left.trades -= 1;
                let now = w.now;
                let index = usize::from(order);
                w.venue.orders[index].fills.push(now);
                if w.venue.orders[index].fills.len() == usize::from(QTY) {
                    w.venue.end(index, Life::Filled, now);
                }
            }
            Action::Expire(order) => {
                w.left.trades -= 1;
                let now = w.now;
                w.venue.end(usize::from(order), Life::Canceled, now);
            }
            Action::Push { bot, order, old } => {
                w.left.pushes -= 1;
                let shown = if old {
                    open(order)
                } else {
                    self.shown(&w, order, true)
                };
                self.hear(&mut w, bot, shown);
            }
            Action::Hear { bot, order } => {
                let shown = self.shown(&w, order, false);
                self.hear(&mut w, bot, shown);
            }
            Action::AskCancel(b) => self.ask_cancel(&mut w, b),
            Action::AskHalt => {
                w.left.halts -= 1;
                let mut page = w.journal.page.clone();
                page.halts.push(HaltCause::Asked);
                w.journal.commit(page, self.lie == Some(Lie::HaltLazy));
                w.halt_told = true;
            }
            Action::Crash { bot: b, lose } => {
                w.left.crashes -= 1;
                w.journal.crash(usize::from(lose), self.lie);
                for index in 0..w.venue.copies.len() {
                    if w.venue.copies[index].by == Some(b) {
                        w.venue.copies[index].by = None;
                    }
                }
                w.venue.copies.sort_unstable();
                *bot(&mut w, b) = super::Bot::down();
            }
            Action::Recover(b) => self.recover(&mut w, b),
            Action::Pause(b) => {
                w.left.pauses -= 1;
                bot(&mut w, b).paused = true;
            }
            Action::GoOn(b) => bot(&mut w, b).paused = false,
            Action::Takeover => {
                w.left.takeovers -= 1;
                w.journal.leader = 1;
                self.recover(&mut w, 1);
            }
        }
        self.rest_fenced(&mut w);
        w
    }

    /// A process takes its next step.
    fn step(&self, w: &mut World, b: u8) {
        match bot(w, b).mode.clone() {
            Mode::Place => self.begin(w, b),
            Mode::Decide(seen) => self.decide(w, b, &seen),
            Mode::Prepare { made } => self.next_attempt(w, b, made),
            Mode::Ready { .. } => self.send(w, b, false, false),
            Mode::Waiting { look: true, .. } => self.start_look(w, b),
            Mode::Waiting { look: false, .. } => {
                bot(w, b).mode = Mode::Decide(Seen::Resume);
            }
            Mode::Down
            | Mode::Rest
            | Mode::Sending { .. }
            | Mode::Looking { .. }
            | Mode::Asking(_) => {}
        }
    }

    pub(super) fn gate(&self, w: &mut World, index: u8, lost: bool) {
        let by = w.venue.copies[usize::from(index)].by;
        if lost {
            w.left.faults -= 1;
        }
        match w.venue.gate(&self.camp, usize::from(index), w.now) {
            AtGate::Passed => {}
            AtGate::TooLate => deliver(w, by, Answer::NotTaken, lost),
            AtGate::BytesKnown => deliver(w, by, Answer::DuplicateBytes, lost),
        }
    }

    pub(super) fn book(&self, w: &mut World, index: u8, refuse: bool, lost: bool) {
        let by = w.venue.copies[usize::from(index)].by;
        if lost {
            w.left.faults -= 1;
        }
        let told = w.told;
        let answer = match w.venue.book(&self.camp, usize::from(index), w.now, refuse) {
            AtBook::Taken(order) => {
                // What a doubled request or an assumed drain may do is watched for, and not promised.
                if told && !w.doubled && self.camp.fence != FenceKind::Gate {
                    w.broken = Some(Promise::RejectedIsFinal);
                }
                Answer::Acked(open(order))
            }
            AtBook::Existing(order) => Answer::Acked(self.shown(w, order, true)),
            AtBook::IdKnown => Answer::DuplicateId,
            AtBook::Refused => {
                w.left.refusals -= 1;
                Answer::Rejected
            }
            AtBook::TooLate => Answer::NotTaken,
        };
        deliver(w, by, answer, lost);
    }
}

pub(super) fn bot(w: &mut World, b: u8) -> &mut super::Bot {
    &mut w.bots[usize::from(b)]
}

/// An answer reaches the process that awaits it.
pub(super) fn deliver(w: &mut World, by: Option<u8>, answer: Answer, lost: bool) {
    let Some(b) = by else { return };
    let bot = bot(w, b);
    if let Mode::Sending { no, first } = bot.mode {
        let answer = if lost { Answer::Unknown } else { answer };
        bot.mode = Mode::Decide(Seen::Sent { no, answer, first });
    }
}

/// Doubt that ended lifts its halts.
pub(super) fn lift_doubts(w: &mut World) {
    let doubt = |halt: &HaltCause| matches!(halt, HaltCause::Doubt { .. });
    if w.journal.page.halts.iter().any(doubt) {
        let mut page = w.journal.page.clone();
        page.halts.retain(|halt| !doubt(halt));
        w.journal.commit(page, false);
    }
}

/// What an acknowledgment shows.
pub(super) const fn open(order: u8) -> Shown {
    Shown {
        order,
        status: Status::Open,
        cum: 0,
        fills: 0,
    }
}

pub(super) const fn ended(life: Life) -> Status {
    match life {
        Life::Filled => Status::Filled,
        Life::Open | Life::Canceled => Status::Canceled,
    }
}
