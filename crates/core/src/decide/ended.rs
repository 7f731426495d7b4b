//! The row has ended: fetch the fills that are owed, and look on for an order that must not exist.

use std::time::Duration;

use super::absence::{Bound, Rounds};
use super::{Case, Round, Step};
use crate::{AsOf, Cause, VenueTime, Watch};

impl Case<'_> {
    /// Goes on from a terminal row; `seen` is the clean round that was just made.
    pub(super) fn ended(self, rounds: Rounds, seen: Option<Round>) -> Step {
        match self.order.watch {
            Some(Watch::Surfaced) if self.pursuit.cancel_due(&self) => Step::Cancel,
            Some(Watch::Surfaced) => Step::LookAgain {
                after: self.backoff().min(self.profile.absence.lag.value()),
            },
            Some(Watch::UntilAbsent) => self.until_absent(rounds),
            Some(Watch::Until(until)) => self.until(until, rounds, seen),
            None if self.order.fills_owed() => Step::LookAgain {
                after: self.backoff(),
            },
            None => Step::Nothing,
        }
    }

    fn until_absent(self, rounds: Rounds) -> Step {
        // Rounds bound only what has a bound: for the others the watch's length must do.
        let unbounded = self.rests_on_word();
        let wait = match self.bound() {
            Bound::Free if !unbounded => return self.end_watch("no attempt can land"),
            Bound::Free | Bound::Never => false,
            Bound::After(_) => !self.complete(rounds),
        };
        if wait {
            return Step::LookAgain {
                after: self.watch_pace(),
            };
        }
        if unbounded || self.profile.fence.drain_assumed() {
            let until = self.at.now.latest().after(self.profile.watch);
            let text = if unbounded {
                "absent; watched on, for an attempt that nothing bounds"
            } else {
                "absent; watched on, for a number that is assumed"
            };
            let change = self.change(Cause::NotShown, text);
            return Step::advance(change.watched(Watch::Until(until)));
        }
        self.end_watch("absence is complete")
    }

    fn until(self, until: VenueTime, rounds: Rounds, seen: Option<Round>) -> Step {
        let clean = rounds.last.is_some_and(|last| match last.begun {
            AsOf::Clock(begun) => begun >= until,
            // Heights do not compare with instants; the clock's reading right after the round does.
            AsOf::Height(_) => {
                let lag = self.profile.absence.lag.value();
                seen == Some(last) && self.at.now.earliest() >= until.after(lag)
            }
        });
        if clean {
            return self.end_watch("nothing showed up");
        }
        let left = until
            .since(self.at.now.earliest())
            .saturating_add(Duration::from_millis(1));
        Step::LookAgain {
            after: left.min(self.watch_pace()),
        }
    }

    fn end_watch(self, evidence: &str) -> Step {
        let mut change = self.change(Cause::WatchEnded, evidence);
        change.watch = Some(None);
        Step::advance(change)
    }

    /// A watch looks once a lag, and five times slower after ten looks.
    fn watch_pace(&self) -> Duration {
        let lag = self
            .profile
            .absence
            .lag
            .value()
            .max(Duration::from_millis(5));
        if self.pursuit.looks < 10 {
            lag
        } else {
            lag.saturating_mul(5)
        }
    }
}
