//! The promises, and the story for a failing seed.

use surefill_core::{DuplicateRule, GiveUp, HaltCause, Lacking, Observation, OrdState, Store};

use super::venue::{Life, fill_name};
use super::{END, World};
use crate::kit::{FenceKind, LAG, T0, at, done};

impl World {
    /// The promises, at the end.
    pub(super) fn judge(&mut self) -> Result<(), String> {
        // Whatever lives is shown once more, as a bulk read of orders and fills does.
        let now = self.venue.now;
        for index in 0..self.venue.orders.len() {
            let report = self.venue.orders[index].report(now + LAG);
            self.see(&Observation::Report(&report));
            self.see(&Observation::Report(&report));
        }
        let orders = self.venue.orders.len();
        if orders > 1 {
            let remembers = self.camp.replayable || self.camp.revocable;
            let keeps_id = match self.camp.duplicate {
                DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => true,
                DuplicateRule::RefusedWithin(window) => at(T0).after(window) > at(END),
                DuplicateRule::RefusedWhileOpen | DuplicateRule::Accepted => false,
            };
            let documented = self.doubled && !remembers && !keeps_id;
            // A refusal that does not use up remembered bytes lets another copy of them through.
            let forgotten = self.doubled && !self.camp.uses_up && !keeps_id;
            let halted = self.alarms.iter().any(HaltCause::needs_person);
            if !((documented || forgotten) && halted) {
                return Err(format!("P1: {orders} orders"));
            }
        }
        let booked = done(self.store.fills(self.id)).unwrap();
        let mut names: Vec<_> = booked.iter().map(fill_name).collect();
        names.sort();
        let executed = self.venue.orders.iter().flat_map(|order| &order.fills);
        let mut truth: Vec<_> = executed.map(|(_, fill)| fill_name(fill)).collect();
        truth.sort();
        if names != truth {
            return Err(format!("P3: booked {names:?}, executed {truth:?}"));
        }
        if self.row.state == OrdState::Rejected && orders > 0 && !self.doubled {
            return Err("an order under a rejected row".to_owned());
        }
        for cause in &self.alarms {
            let lacks = match cause {
                HaltCause::Doubt { lacking, .. } => match lacking {
                    Lacking::Fence => self.camp.fence == FenceKind::None,
                    Lacking::DocumentedDrain => self.row.intent.give_up == GiveUp::Strict,
                    Lacking::Answer | Lacking::Sight | Lacking::Retention => false,
                },
                HaltCause::SecondOrder { .. } => orders > 1,
                HaltCause::Surprise { .. } | HaltCause::LateFill { .. } => self.doubled,
                _ => false,
            };
            if !lacks {
                return Err(format!("P2: halted without a reason: {cause:?}"));
            }
        }
        if !self.alarms.is_empty() {
            return Ok(());
        }
        if self.row.unfinished() {
            return Err(format!(
                "P2: {} and watch {:?} at the end, and no halt",
                self.row.state, self.row.watch
            ));
        }
        let agrees = match (self.row.state, self.venue.orders.first()) {
            (OrdState::Filled, Some(order)) => order.life == Life::Filled,
            (OrdState::Canceled, Some(order)) => order.life == Life::Canceled,
            (OrdState::Canceled | OrdState::Rejected, None) => true,
            _ => false,
        };
        if agrees {
            Ok(())
        } else {
            Err(format!("P5: {} is not the venue's word", self.row.state))
        }
    }

    /// The story, for a failing seed.
    pub(crate) fn story(&self) -> String {
        format!(
            "{:?} {:?} {:?}\n{}\n{:#?}\nalarms {:?}",
            self.camp,
            self.row.intent.resubmit,
            self.row.intent.give_up,
            self.log.join("\n"),
            self.venue.orders,
            self.alarms
        )
    }

    pub(crate) fn outcome(&self) -> (OrdState, bool, usize) {
        (
            self.row.state,
            !self.alarms.is_empty(),
            self.venue.orders.len(),
        )
    }
}
