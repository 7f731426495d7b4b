//! What the process asks of the venue.

use surefill_core::{
    CancelOutcome, Cause, Change, Copies, Lookup, Mark, NotSent, Observation, OrdState, Revocation,
    Step, Store, StoreError, Submission, UnknownCause,
};

use super::venue::sent;
use super::{CLOCK_ERROR, TIME_OUT, World};
use crate::kit::{FenceKind, at, done, height_at, ms, no_answer};

impl World {
    pub(super) fn look(&mut self) -> Step {
        if self.faults() && self.dice.percent(15) {
            self.pass(ms(100));
            let failed = Lookup::Inconclusive(UnknownCause::new("502"));
            return self.see(&Observation::Looked(&failed));
        }
        let begun = self.reading().saturating_sub(CLOCK_ERROR);
        let begun_height = self.venue.now;
        let mut shown = self.venue.shown();
        let slow = self.faults() && self.dice.percent(10);
        let reading = self.dice.below(if slow { 3_000 } else { 300 });
        self.pass(ms(reading));
        let ended = self.reading() + CLOCK_ERROR;
        let look = if shown.is_empty() {
            match self.camp.fence {
                FenceKind::Height | FenceKind::AssumedHeight => {
                    self.camp.round(begun_height, self.venue.now)
                }
                FenceKind::None | FenceKind::Documented | FenceKind::Assumed => {
                    self.camp.round(begun, ended)
                }
            }
        } else {
            if self.dice.percent(50) {
                shown.reverse();
            }
            Lookup::Found(shown)
        };
        self.see(&Observation::Looked(&look))
    }

    /// Sends the journaled bytes, and waits for the answer.
    pub(super) fn send(&mut self, no: u32) -> Step {
        let first = self.row.attempt(no).unwrap().copies == Copies::Loose
            && !self.log.iter().any(|line| line.contains(&sent(no)));
        self.pursuit.sending();
        if self.faults() && self.dice.percent(5) {
            return self.crash();
        }
        if self.faults() && self.dice.percent(10) {
            let answer = Submission::NotSent(NotSent::Connect("refused".into()));
            return self.see(&Observation::Sent {
                no,
                answer: &answer,
                first,
            });
        }
        self.log.push(format!("{} {}", self.venue.now, sent(no)));
        let held = self.faults() && self.dice.percent(20);
        let delay = self.dice.below(if held { 20_000 } else { 200 });
        let copy = if self.faults() && self.dice.percent(15) {
            None
        } else {
            Some(self.venue.send(no, delay))
        };
        if self.faults() && self.doubles && self.dice.percent(40) {
            let later = self.dice.below(20_000);
            self.venue.send(no, later);
            self.doubled = true;
        }
        if self.faults() && self.dice.percent(8) {
            self.pass(ms(TIME_OUT / 2));
            return self.crash();
        }
        let until = self.venue.now + TIME_OUT;
        self.venue.run(until);
        let lost = self.faults() && self.dice.percent(25);
        let receipt = self.dice.percent(10);
        let answer = copy
            .and_then(|copy| self.venue.answers[copy].clone())
            .filter(|_| !lost)
            .map_or_else(no_answer, |(_, answer)| match answer {
                Submission::Acked(_) if receipt => Submission::Received("bundle-1".into()),
                answer => answer,
            });
        self.see(&Observation::Sent {
            no,
            answer: &answer,
            first,
        })
    }

    pub(super) fn may_send(&self) -> Result<(), String> {
        match self.told {
            Some(told) => Err(format!("sent after {told} was told")),
            None => Ok(()),
        }
    }

    pub(super) fn replay(&mut self, no: u32) -> Result<Step, String> {
        self.may_send()?;
        let mut change = Change::of(&self.row, at(self.reading()), Cause::Replayed, "");
        if self.row.state == OrdState::Pending {
            change = change.to(OrdState::Submitted);
        }
        if self.row.attempt(no).unwrap().copies != Copies::Loose {
            change = change.mark(no, Mark::Loose);
            self.commit(change);
        }
        Ok(self.send(no))
    }

    pub(super) fn new_attempt(&mut self) -> Result<Step, String> {
        self.may_send()?;
        let no = self.row.last_attempt().unwrap().no + 1;
        // The adapter sets the fence from the time that it reads.
        let attempt = self
            .camp
            .attempt(no, self.reading(), height_at(self.venue.now));
        let mut change =
            Change::of(&self.row, at(self.reading()), Cause::Resent, "").to(OrdState::Submitted);
        change.next_attempt = Some(attempt.clone());
        change.unless_halted = true;
        let durability = self.durability(&change);
        match done(self.store.apply(change, durability)) {
            Ok(row) => self.row = row,
            Err(StoreError::Halted(halt)) => {
                self.alarms.push(halt.cause);
                return Ok(self.see(&Observation::Resume));
            }
            Err(error) => panic!("{error}\n{}", self.log.join("\n")),
        }
        // A number that a power cut took back would be given out again, for other bytes.
        if usize::try_from(no).unwrap() <= self.venue.fences.len() {
            return Err("an attempt was lost".to_owned());
        }
        self.venue.fences.push(attempt.fence);
        Ok(self.send(no))
    }

    pub(super) fn revoke(&mut self, no: u32) -> Step {
        self.pass(ms(50));
        if self.faults() && self.dice.percent(20) {
            let lost = Revocation::Inconclusive(UnknownCause::new("lost"));
            return self.see(&Observation::Revoked { no, answer: &lost });
        }
        let mut answer = self.venue.revoke(no);
        if self.faults() && self.dice.percent(20) {
            answer = Revocation::Inconclusive(UnknownCause::new("lost"));
        }
        self.pass(ms(50));
        self.see(&Observation::Revoked {
            no,
            answer: &answer,
        })
    }

    pub(super) fn cancel(&mut self) -> Step {
        self.pass(ms(50));
        let mut answer = if self.faults() && self.dice.percent(20) {
            CancelOutcome::Unknown(UnknownCause::new("lost"))
        } else {
            self.venue.cancel()
        };
        if self.faults() && self.dice.percent(20) {
            answer = CancelOutcome::Unknown(UnknownCause::new("lost"));
        }
        self.pass(ms(50));
        self.see(&Observation::CancelAnswer(&answer))
    }
}
