//! What a process makes durable and sends: the first attempt, stored bytes, the next attempt.

use std::sync::Arc;

use surefill_core::{
    Attempt, AttemptState, Cause, Change, Copies, Fence, HaltCause, Mark, OrdState, OrderRecord,
    RevocationState,
};

use super::bot::{Answer, HeldBackBy, Mode, Seen};
use super::camp::{FENCE, Tick, at, span};
use super::journal::{Refusal, Row};
use super::marks::Mark as Saw;
use super::model::Check;
use super::promise::Promise;
use super::steps::bot;
use super::venue::{Copy, Place};
use super::{FenceKind, Lie, World};

impl Check {
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
    pub(super) fn begin(&self, w: &mut World, b: u8) {
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

    pub(super) fn replay(&self, w: &mut World, b: u8, row: &OrderRecord, no: u32) {
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

    pub(super) fn next_attempt(&self, w: &mut World, b: u8, made: Tick) {
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
    pub(super) fn send(&self, w: &mut World, b: u8, no_connect: bool, doubled: bool) {
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
}
