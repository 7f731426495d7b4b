//! How the world moves: a process takes the steps that `decide` names, as the engine's driver does, and the venue answers.

use std::sync::Arc;

use surefill_core::AsOf;
use surefill_core::{
    Attempt, AttemptState, CancelOutcome, Cause, Change, Copies, DuplicateOf, ExecReport, Fence,
    Fill, HaltCause, Handle, Lookup, Mark, NotSent, Observation, OrdState, OrderRecord, Pursuit,
    Reading, Reason, Reject, Revocation, RevocationState, SeenTerms, Situation, Step, Submission,
    UnknownCause, decide,
};

use super::action::{Action, Fate};
use super::bot::{Answer, Ask, CancelSaid, HeldBackBy, Mode, RevokeSaid, Seen, Shown, Status};
use super::camp::{FENCE, QTY, Tick, at, span, ticks};
use super::journal::{Refusal, Row};
use super::model::{Check, Mark as Saw, Promise};
use super::venue::{AtBook, AtGate, Copy, FillSet, Life, Place, fill_bit};
use super::{FenceKind, Lie, World};

impl Check {
    /// The world after an action.
    pub(crate) fn after(&self, world: &World, action: Action) -> World {
        let mut w = world.clone();
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

    fn attempt(&self, no: u8, made: Tick) -> Attempt {
        let camp = &self.camp;
        let denied = self.lie == Some(Lie::MemoryDenied);
        let revocable = camp.revocable || self.lie == Some(Lie::IdIsProof);
        Attempt {
            no: u32::from(no),
            format: "model".into(),
            wire: Vec::new(),
            keys: vec![self.key.clone()],
            fence: self
                .until_fence(no)
                .map_or(Fence::None, |fence| Fence::Clock(at(made + fence))),
            replayable: camp.replayable && !denied,
            revocable: revocable && !denied,
            rebuildable: self.rebuildable,
        }
    }

    /// From signing to the fence, where there is one.
    fn until_fence(&self, no: u8) -> Option<Tick> {
        let fence = if no == 1 {
            self.first_fence
        } else {
            Some(FENCE)
        };
        fence.filter(|_| self.camp.fence != FenceKind::None)
    }

    /// Another request is signed; its bytes say until when they hold.
    fn sign(&self, w: &mut World, no: u8, made: Tick) {
        let longer = if self.lie == Some(Lie::FenceEarly) {
            4
        } else {
            0
        };
        let fence = self.until_fence(no).map(|fence| made + fence + longer);
        w.venue.fences.push(fence);
    }

    /// The one durable commit before the first send.
    fn begin(&self, w: &mut World, b: u8) {
        let declared = w.journal.page.halts.iter().any(HaltCause::needs_person);
        if w.row().is_some() {
            // Another process was first: the strategy is handed its order.
            self.recover(w, b);
            return;
        }
        let fenced = w.journal.leader != b && self.lie != Some(Lie::NoCas);
        if declared || fenced || w.now >= self.ttl {
            bot(w, b).mode = Mode::Rest;
            return;
        }
        let made = w.now;
        self.sign(w, 1, made);
        let first = AttemptState::new(&self.attempt(1, made), at(made));
        let record = OrderRecord::new(
            self.id,
            self.account.clone(),
            self.intent.clone(),
            first,
            at(made),
        );
        let row = Row::new(record);
        let mut page = w.journal.page.clone();
        page.row = Some(Arc::clone(&row));
        page.wires = vec![u8::try_from(w.venue.fences.len()).unwrap()];
        w.journal.commit(page, self.lie == Some(Lie::AttemptLazy));
        if w.halt_told {
            w.broken = Some(Promise::HaltHolds);
        }
        let bot = bot(w, b);
        bot.row = Some(row);
        bot.mode = Mode::Ready { no: 1, first: true };
    }

    pub(crate) fn situation(&self, w: &World) -> Situation {
        let halts = &w.journal.page.halts;
        let own = halts
            .iter()
            .filter(|halt| halt.order() == Some(self.id))
            .cloned();
        Situation {
            now: Reading {
                now: at(w.now),
                error: std::time::Duration::ZERO,
            },
            height: None,
            lease: true,
            entries_halted: halts.iter().any(HaltCause::needs_person),
            alarms: own.collect(),
        }
    }

    fn decide(&self, w: &mut World, b: u8, seen: &Seen) {
        let Some(row) = bot(w, b).row.clone() else {
            bot(w, b).mode = Mode::Rest;
            return;
        };
        let situation = self.situation(w);
        let mut pursuit = Pursuit::clone(&bot(w, b).pursuit);
        let step = self.observe(seen, |observation| {
            let step = decide(
                &row.record,
                &pursuit,
                &self.profile,
                observation,
                &situation,
            );
            pursuit.note(&row.record, &self.profile, observation, &step, &situation);
            step
        });
        bot(w, b).pursuit = Arc::new(pursuit);
        let now = w.now;
        match step {
            Step::Advance(change) => match self.commit(w, b, *change) {
                Ok(()) => bot(w, b).mode = Mode::Decide(Seen::Resume),
                Err(Refusal::Conflict) => {
                    bot(w, b).row = w.row().cloned();
                    bot(w, b).mode = Mode::Decide(seen.clone());
                }
                Err(Refusal::Fenced) => bot(w, b).mode = Mode::Rest,
                Err(Refusal::Halted | Refusal::Rule) => {
                    w.broken = Some(Promise::Lawful);
                    bot(w, b).mode = Mode::Rest;
                }
            },
            Step::LookAgain { after } => {
                let within = now.saturating_add(ticks(after));
                let bot = bot(w, b);
                let due = bot.due.map_or(within, |due| due.min(within));
                bot.due = Some(due);
                if due <= now {
                    self.start_look(w, b);
                } else {
                    bot.mode = Mode::Waiting {
                        until: due,
                        look: true,
                    };
                }
            }
            Step::Wait { after } => {
                bot(w, b).mode = Mode::Waiting {
                    until: now.saturating_add(ticks(after)),
                    look: false,
                };
            }
            Step::Replay { no } => self.replay(w, b, &row.record, no),
            Step::NewAttempt => bot(w, b).mode = Mode::Prepare { made: now },
            Step::Revoke { no } => {
                self.saw(Saw::Revoked);
                bot(w, b).mode = Mode::Asking(Ask::Revoke(u8::try_from(no).unwrap()));
            }
            Step::Cancel => bot(w, b).mode = Mode::Asking(Ask::Cancel),
            Step::Halt { .. } if self.lie == Some(Lie::DoubtUnsaid) => {
                bot(w, b).mode = Mode::Waiting {
                    until: now + 1,
                    look: true,
                };
            }
            Step::Halt { cause, .. } => {
                let mut page = w.journal.page.clone();
                if !page.halts.contains(&cause) {
                    page.halts.push(cause);
                }
                w.journal.commit(page, false);
                bot(w, b).mode = Mode::Decide(Seen::Resume);
            }
            Step::Nothing if row.record.unfinished() => {
                bot(w, b).mode = Mode::Waiting {
                    until: Tick::MAX,
                    look: false,
                };
            }
            Step::Nothing => {
                let bot = bot(w, b);
                (bot.mode, bot.due) = (Mode::Rest, None);
                bot.pursuit = Arc::default();
            }
        }
    }

    /// Commits a change; what it broke shows in the world.
    fn commit(&self, w: &mut World, b: u8, change: Change) -> Result<(), Refusal> {
        let before = w.row().cloned();
        let known = bot(w, b).row.clone();
        let (cause, next) = (change.cause, change.next_attempt.is_some());
        let row = w.journal.apply(
            b,
            known,
            change,
            |change, set| self.fresh(change, set),
            self.lie,
        )?;
        if let Some(before) = before {
            let (old, new) = (&before.record, &row.record);
            if old.state.is_terminal() && new.state != old.state {
                w.broken = Some(Promise::TerminalIsFinal);
            }
            if new.cum_qty < old.cum_qty || new.booked_qty < old.booked_qty {
                w.broken = Some(Promise::QuantitiesGrow);
            }
            let by_absence = matches!(cause, Cause::Absent | Cause::Stale);
            let known = old.attempts.iter().any(|attempt| attempt.bytes_known);
            if old.admitted() && (by_absence || next) || known && next {
                w.broken = Some(Promise::EvidenceIsSticky);
            }
            if new.state == OrdState::Rejected && old.state != OrdState::Rejected {
                w.told = true;
            }
            if old.state.is_doubt() && !new.state.is_doubt() {
                lift_doubts(w);
            }
            if new.watch.is_some() {
                self.saw(Saw::Watched);
            }
        }
        bot(w, b).row = w.row().cloned();
        Ok(())
    }

    fn fresh(&self, change: &Change, set: FillSet) -> (Vec<Fill>, FillSet) {
        let mut after = set;
        let mut fresh = Vec::new();
        for fill in &change.fills {
            let bit = self.bit_of(fill);
            if after & bit == 0 {
                after |= bit;
                fresh.push(fill.clone());
            }
        }
        (fresh, after)
    }

    fn replay(&self, w: &mut World, b: u8, row: &OrderRecord, no: u32) {
        let copies = row.attempt(no).map(|attempt| attempt.copies);
        if row.state == OrdState::Pending || copies != Some(Copies::Loose) {
            let change = Change::of(row, at(w.now), Cause::Replayed, "again");
            let mut change = change.mark(no, Mark::Loose);
            if row.state == OrdState::Pending {
                change = change.to(OrdState::Submitted);
            }
            change.unless_halted = true;
            if let Err(refusal) = self.commit(w, b, change) {
                self.hold_back(w, b, refusal);
                return;
            }
            if w.halt_told {
                w.broken = Some(Promise::HaltHolds);
            }
        }
        self.saw(Saw::Replayed);
        let first = copies == Some(Copies::None) || self.lie == Some(Lie::AlwaysFirst);
        let no = u8::try_from(no).unwrap();
        bot(w, b).mode = Mode::Ready { no, first };
    }

    fn next_attempt(&self, w: &mut World, b: u8, made: Tick) {
        let Some(row) = bot(w, b).row.clone() else {
            return;
        };
        let no = u8::try_from(row.record.attempts.len()).unwrap() + 1;
        let change = Change::of(&row.record, at(made), Cause::Resent, "next");
        let mut change = change.to(OrdState::Submitted);
        change.next_attempt = Some(self.attempt(no, made));
        change.unless_halted = true;
        if let Err(refusal) = self.commit(w, b, change) {
            self.hold_back(w, b, refusal);
            return;
        }
        if w.halt_told {
            w.broken = Some(Promise::HaltHolds);
        }
        self.saw(Saw::Resent);
        self.sign(w, no, made);
        let wire = u8::try_from(w.venue.fences.len()).unwrap();
        // A lying store may have taken back the attempt that stood here.
        w.journal.page.wires.truncate(usize::from(no) - 1);
        w.journal.page.wires.push(wire);
        bot(w, b).mode = Mode::Ready { no, first: true };
    }

    /// The next attempt was not journaled: read again, and wait a moment.
    fn hold_back(&self, w: &mut World, b: u8, refusal: Refusal) {
        if refusal == Refusal::Fenced {
            bot(w, b).mode = Mode::Rest;
            return;
        }
        let (now, row) = (w.now, w.row().cloned());
        let bot = bot(w, b);
        bot.row = row;
        Arc::make_mut(&mut bot.pursuit).hold_until(at(now).after(span(1) / 2));
        bot.mode = Mode::Decide(Seen::Resume);
    }

    /// The last check, and the first byte.
    fn send(&self, w: &mut World, b: u8, no_connect: bool, doubled: bool) {
        let now = w.now;
        let leader = w.journal.leader;
        let bot = bot(w, b);
        let Mode::Ready { no, first } = bot.mode else {
            return;
        };
        Arc::make_mut(&mut bot.pursuit).sending();
        let row = bot.row.clone().unwrap();
        let record = &row.record;
        let fence = record.attempt(u32::from(no)).map(|attempt| attempt.fence);
        let unasked = matches!(self.lie, Some(Lie::NoCas | Lie::LeaseKept));
        let held = if leader != b && !unasked {
            Some(HeldBackBy::LeaseLost)
        } else if record.cancel_requested && !record.land {
            Some(HeldBackBy::CancelAsked)
        } else if !record.land && now >= self.ttl {
            Some(HeldBackBy::Stale)
        } else if matches!(fence, Some(Fence::Clock(fence)) if at(now) >= fence) {
            Some(HeldBackBy::Fence)
        } else {
            None
        };
        let answer = match held {
            Some(held) => Some(Answer::HeldBack(held)),
            None => no_connect.then_some(Answer::NoConnect),
        };
        if let Some(answer) = answer {
            bot.mode = Mode::Decide(Seen::Sent { no, answer, first });
            return;
        }
        bot.mode = Mode::Sending { no, first };
        if w.told {
            w.broken = Some(Promise::NothingAfterRejected);
        }
        if let Some(row) = w.row().cloned() {
            let record = &row.record;
            let attempt = record.attempt(u32::from(no));
            let revoking =
                attempt.is_some_and(|attempt| attempt.revocation != RevocationState::None);
            // That lie marks what nobody asked for.
            if revoking && self.lie != Some(Lie::UsedForAll) {
                w.broken = Some(Promise::RevocationEndsReplay);
            }
            if record.admitted() {
                w.broken = Some(Promise::EvidenceIsSticky);
            }
            if w.cancel_told && !record.land {
                w.broken = Some(Promise::CancelEndsSends);
            }
        }
        let wires = &w.journal.page.wires;
        let wire = wires.get(usize::from(no) - 1).copied();
        let wire = wire.unwrap_or(u8::try_from(w.venue.fences.len()).unwrap());
        let copy = Copy {
            no: wire,
            place: Place::Wire,
            by: Some(b),
            doubled: None,
        };
        w.venue.add(copy);
        if doubled {
            w.venue.add(Copy {
                by: None,
                doubled: (self.camp.fence == FenceKind::None).then_some(now),
                ..copy
            });
        }
    }

    fn gate(&self, w: &mut World, index: u8, lost: bool) {
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

    fn book(&self, w: &mut World, index: u8, refuse: bool, lost: bool) {
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

    fn start_look(&self, w: &mut World, b: u8) {
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

    fn read(&self, w: &mut World, b: u8, lucky: bool) {
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

    fn ask(&self, w: &mut World, b: u8, fate: Fate) {
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
    fn shown(&self, w: &World, index: u8, lucky: bool) -> Shown {
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

    /// A report comes in: decided about at once where the process waits, committed beside what it awaits elsewhere.
    fn hear(&self, w: &mut World, b: u8, shown: Shown) {
        match bot(w, b).mode {
            Mode::Rest => {
                // A driver is started for it.
                self.remember(w, b);
                bot(w, b).mode = Mode::Decide(Seen::Found(vec![shown]));
            }
            Mode::Waiting { .. } => bot(w, b).mode = Mode::Decide(Seen::Report(shown)),
            _ => {
                let mode = bot(w, b).mode.clone();
                let Some(row) = bot(w, b).row.clone() else {
                    return;
                };
                let situation = self.situation(w);
                let mut pursuit = Pursuit::clone(&bot(w, b).pursuit);
                let change = self.observe(&Seen::Report(shown), |observation| {
                    let step = decide(
                        &row.record,
                        &pursuit,
                        &self.profile,
                        observation,
                        &situation,
                    );
                    match &step {
                        Step::Advance(change) => {
                            let change = Change::clone(change);
                            pursuit.note(
                                &row.record,
                                &self.profile,
                                observation,
                                &step,
                                &situation,
                            );
                            Some(change)
                        }
                        _ => None,
                    }
                });
                if let Some(change) = change {
                    bot(w, b).pursuit = Arc::new(pursuit);
                    match self.commit(w, b, change) {
                        Ok(()) | Err(Refusal::Conflict) => {
                            bot(w, b).row = w.row().cloned();
                            bot(w, b).mode = mode;
                        }
                        Err(Refusal::Fenced) => bot(w, b).mode = Mode::Rest,
                        Err(Refusal::Halted | Refusal::Rule) => {
                            w.broken = Some(Promise::Lawful);
                        }
                    }
                }
            }
        }
    }

    fn ask_cancel(&self, w: &mut World, b: u8) {
        w.left.cancels -= 1;
        let Some(row) = bot(w, b).row.clone() else {
            return;
        };
        let mut change = Change::of(&row.record, at(w.now), Cause::CancelAsked, "asked");
        change.cancel_requested = true;
        if self.commit(w, b, change).is_ok() {
            w.cancel_told = true;
            if let Mode::Waiting { .. } = bot(w, b).mode {
                bot(w, b).mode = Mode::Decide(Seen::Resume);
            }
        }
    }

    /// What a process starts with: the fills that the journal holds.
    fn remember(&self, w: &mut World, b: u8) {
        let fills = w.journal.page.fills;
        let mut pursuit = Pursuit::default();
        for (order, index) in self.fills.iter().zip(0_u8..) {
            let booked = order
                .iter()
                .zip(0_u8..)
                .filter(|(_, fill)| fills & fill_bit(index, *fill) != 0);
            pursuit.booked(booked.map(|(fill, _)| fill));
        }
        let row = w.row().cloned();
        let bot = bot(w, b);
        bot.pursuit = Arc::new(pursuit);
        bot.row = row;
        bot.due = None;
    }

    fn recover(&self, w: &mut World, b: u8) {
        self.remember(w, b);
        let Some(row) = bot(w, b).row.clone() else {
            bot(w, b).mode = Mode::Place;
            return;
        };
        if row.record.state.is_working() || row.record.state.is_terminal() {
            lift_doubts(w);
        }
        let kept = self.lie == Some(Lie::ClaimKept) && row.record.state == OrdState::Reconciling;
        let mut open = Vec::new();
        for (order, index) in w.venue.orders.iter().zip(0_u8..) {
            if order.in_open(w.now).is(false) {
                open.push(Shown {
                    fills: 0,
                    ..self.shown(w, index, false)
                });
            }
        }
        bot(w, b).mode = if kept {
            Mode::Waiting {
                until: Tick::MAX,
                look: false,
            }
        } else if !row.record.unfinished() && open.is_empty() {
            Mode::Rest
        } else if open.is_empty() {
            Mode::Decide(Seen::Resume)
        } else {
            Mode::Decide(Seen::Found(open))
        };
    }

    fn report(&self, shown: &Shown) -> ExecReport {
        let mut fills = Vec::new();
        for (index, fill) in (0_u8..).zip(&self.fills[usize::from(shown.order)]) {
            if shown.fills & fill_bit(shown.order, index) != 0 {
                fills.push(fill.clone());
            }
        }
        ExecReport {
            handle: Handle {
                key: Some(self.key.clone()),
                order_id: Some(self.fills[usize::from(shown.order)][0].order_id.clone()),
            },
            status: shown.status.word(),
            cum_qty: Some(self.units[usize::from(shown.cum)]),
            avg_px: None,
            reason: None,
            fills,
            seen: SeenTerms::default(),
            transact_time: None,
        }
    }

    fn observe<R>(&self, seen: &Seen, with: impl FnOnce(&Observation<'_>) -> R) -> R {
        match seen {
            Seen::Resume => with(&Observation::Resume),
            Seen::Sent { no, answer, first } => {
                let answer = match answer {
                    Answer::Acked(shown) => Submission::Acked(self.report(shown)),
                    Answer::Rejected => Submission::Rejected(Reject {
                        reason: Reason::new("1", "refused"),
                        halts_account: false,
                        leaves_bytes: false,
                    }),
                    Answer::DuplicateId => Submission::Duplicate(DuplicateOf::Id),
                    Answer::DuplicateBytes => Submission::Duplicate(DuplicateOf::Bytes),
                    Answer::NotTaken => Submission::NotTaken {
                        cause: Reason::new("2", "not taken"),
                        retry_after: None,
                    },
                    Answer::NoConnect => Submission::NotSent(NotSent::Connect("refused".into())),
                    Answer::HeldBack(why) => Submission::NotSent(NotSent::HeldBack(why.word())),
                    Answer::Unknown => Submission::Unknown(UnknownCause::new("timed out")),
                };
                with(&Observation::Sent {
                    no: u32::from(*no),
                    answer: &answer,
                    first: *first,
                })
            }
            Seen::Found(shown) => {
                let reports = shown.iter().map(|shown| self.report(shown)).collect();
                with(&Observation::Looked(&Lookup::Found(reports)))
            }
            Seen::Absent { begun, ended } => with(&Observation::Looked(&Lookup::Absent {
                begun: AsOf::Clock(at(*begun)),
                ended: AsOf::Clock(at(*ended)),
            })),
            Seen::Failed => with(&Observation::Looked(&Lookup::Inconclusive(
                UnknownCause::new("502"),
            ))),
            Seen::Report(shown) => with(&Observation::Report(&self.report(shown))),
            Seen::Cancel(said) => with(&Observation::CancelAnswer(&match said {
                CancelSaid::Canceled(shown) => CancelOutcome::Canceled(self.report(shown)),
                CancelSaid::Taken => CancelOutcome::Taken,
                CancelSaid::NotOpen => CancelOutcome::NotOpen,
                CancelSaid::Unknown => CancelOutcome::Unknown(UnknownCause::new("502")),
            })),
            Seen::Revoked { no, said } => with(&Observation::Revoked {
                no: u32::from(*no),
                answer: &match said {
                    RevokeSaid::Revoked => Revocation::Revoked,
                    RevokeSaid::Used => Revocation::Used,
                    RevokeSaid::Inconclusive => Revocation::Inconclusive(UnknownCause::new("502")),
                },
            }),
        }
    }
}

fn bot(w: &mut World, b: u8) -> &mut super::Bot {
    &mut w.bots[usize::from(b)]
}

/// An answer reaches the process that awaits it.
fn deliver(w: &mut World, by: Option<u8>, answer: Answer, lost: bool) {
    let Some(b) = by else { return };
    let bot = bot(w, b);
    if let Mode::Sending { no, first } = bot.mode {
        let answer = if lost { Answer::Unknown } else { answer };
        bot.mode = Mode::Decide(Seen::Sent { no, answer, first });
    }
}

/// Doubt that ended lifts its halts.
fn lift_doubts(w: &mut World) {
    let doubt = |halt: &HaltCause| matches!(halt, HaltCause::Doubt { .. });
    if w.journal.page.halts.iter().any(doubt) {
        let mut page = w.journal.page.clone();
        page.halts.retain(|halt| !doubt(halt));
        w.journal.commit(page, false);
    }
}

/// What an acknowledgment shows.
const fn open(order: u8) -> Shown {
    Shown {
        order,
        status: Status::Open,
        cum: 0,
        fills: 0,
    }
}

const fn ended(life: Life) -> Status {
    match life {
        Life::Filled => Status::Filled,
        Life::Open | Life::Canceled => Status::Canceled,
    }
}
