//! A process takes the steps that `decide` names, as the engine's driver does: commits, waits, halts.

use std::sync::Arc;

use surefill_core::{
    Cause, Change, Fill, HaltCause, OrdState, Pursuit, Reading, Situation, Step, decide,
};

use super::bot::{Ask, Mode, Seen, Shown};
use super::camp::{Tick, at, ticks};
use super::journal::Refusal;
use super::marks::Mark as Saw;
use super::model::Check;
use super::promise::Promise;
use super::steps::{bot, lift_doubts};
use super::venue::{FillSet, fill_bit};
use super::{Lie, World};

impl Check {
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

    pub(super) fn decide(&self, w: &mut World, b: u8, seen: &Seen) {
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
            // Each write of a process that lost the lease is refused, a halt's too.
            Step::Halt { .. } if w.journal.leader != b && self.lie.is_none() => {
                bot(w, b).mode = Mode::Rest;
            }
            Step::Halt { scope, cause } => {
                // Past the cap no entry passes anywhere in the account.
                let (venue, other) = (&self.intent.venue, "another symbol".into());
                if !scope.covers(venue, &self.account, &other) {
                    w.broken = Some(Promise::DoubtStops);
                }
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
    pub(super) fn commit(&self, w: &mut World, b: u8, change: Change) -> Result<(), Refusal> {
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
            // A further attempt is no verdict.
            if !old.state.is_known() && new.state.is_known() {
                lift_doubts(w);
            }
            if new.state.is_doubt() {
                w.doubt_from = w.doubt_from.or(Some(w.now));
            } else if new.state.is_working() || new.state.is_terminal() {
                w.doubt_from = None;
            }
            if new.watch.is_some() {
                self.saw(Saw::Watched);
            }
        }
        bot(w, b).row = w.row().cloned();
        Ok(())
    }

    pub(super) fn fresh(&self, change: &Change, set: FillSet) -> (Vec<Fill>, FillSet) {
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

    /// A report comes in: decided about at once where the process waits, committed beside what it awaits elsewhere.
    pub(super) fn hear(&self, w: &mut World, b: u8, shown: Shown) {
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

    pub(super) fn ask_cancel(&self, w: &mut World, b: u8) {
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

    pub(super) fn recover(&self, w: &mut World, b: u8) {
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
}
