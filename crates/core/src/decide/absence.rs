//! When "not found" is final.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use super::Case;
use crate::{AsOf, AttemptState, Fence, FenceRule, RevocationState, VenueTime, Watch};

/// A full round of lookups without a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Round {
    /// What was known of the venue's time or height before its first read left.
    pub begun: AsOf,
    /// The same after its last read answered.
    pub ended: AsOf,
}

/// The clean rounds of this process that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Rounds {
    /// The newest clean round, whenever it began.
    pub(crate) last: Option<Round>,
    /// The first that began after every attempt's bound.
    pub(crate) first: Option<Round>,
    /// The second that did, a lag or more after the first ended.
    pub(crate) second: Option<Round>,
    /// Clean rounds, each begun a lag or more after the one before ended, whatever the bounds.
    pub(crate) spaced: u32,
    spaced_last: Option<Round>,
}

/// From when on a round counts for every attempt that may still land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// No attempt can land.
    Free,
    /// The round must begin at or after each of these.
    After(Vec<AsOf>),
    /// An attempt has neither fence nor revocation: no round ever counts.
    Never,
}

impl Rounds {
    /// With one more clean round.
    pub(crate) fn with(self, round: Round, case: &Case<'_>) -> Self {
        let mut rounds = Self {
            last: Some(round),
            ..self
        };
        if self.spaced_last.is_none_or(|last| case.spaced(last, round)) {
            rounds.spaced = self.spaced.saturating_add(1);
            rounds.spaced_last = Some(round);
        }
        // An attempt made since then has a later bound: earlier rounds do not count for it.
        rounds.first = self.first.filter(|first| case.counts(*first));
        rounds.second = self
            .second
            .filter(|second| rounds.first.is_some() && case.counts(*second));
        if case.counts(round) {
            match rounds.first {
                None => rounds.first = Some(round),
                Some(first) if rounds.second.is_none() && case.spaced(first, round) => {
                    rounds.second = Some(round);
                }
                Some(_) => {}
            }
        }
        rounds
    }

    /// See [`super::Pursuit::hash_decisive`].
    pub(super) fn hash_decisive(&self, case: &Case<'_>, state: &mut impl Hasher) {
        // How long ago a round ended matters until another one may follow it.
        let ended = |round: Round| match round.ended {
            AsOf::Clock(ended) => {
                let free = ended.after(case.spacing());
                AsOf::Clock(free.max(case.at.now.now))
            }
            height @ AsOf::Height(_) => height,
        };
        // Of the newest one only whether it reaches a watch's end is ever asked.
        let reaches = |round: Round| match (round.begun, case.order.watch) {
            (AsOf::Clock(begun), Some(Watch::Until(until))) => begun >= until,
            (AsOf::Clock(_) | AsOf::Height(_), _) => false,
        };
        self.last.map(reaches).hash(state);
        for round in [self.first, self.second] {
            // A round that counts does so until a bound is added, which lies after it whenever it began.
            let counts = round.map(|round| case.counts(round));
            counts.hash(state);
            round.map(ended).hash(state);
            if counts == Some(false) {
                round.hash(state);
                for attempt in &case.order.attempts {
                    case.attempt_bound(attempt).hash(state);
                }
            }
        }
        self.spaced.min(2).hash(state);
        self.spaced_last.map(ended).hash(state);
    }
}

impl Case<'_> {
    /// Whether two rounds make absence complete for every attempt.
    pub(crate) fn complete(&self, rounds: Rounds) -> bool {
        let counts = |round: Option<Round>| round.is_some_and(|round| self.counts(round));
        counts(rounds.first) && counts(rounds.second)
    }

    /// Whether a round began after every attempt's bound.
    pub(crate) fn counts(&self, round: Round) -> bool {
        match self.bound() {
            Bound::Free => true,
            Bound::After(bounds) => bounds
                .iter()
                .all(|bound| round.begun.reaches(*bound) == Some(true)),
            Bound::Never => false,
        }
    }

    /// Whether `second` began a lag or more after `first` ended.
    fn spaced(&self, first: Round, second: Round) -> bool {
        let from = match first.ended {
            AsOf::Clock(ended) => AsOf::Clock(ended.after(self.spacing())),
            AsOf::Height(ended) => {
                AsOf::Height(ended.saturating_add(self.profile.absence.lag_blocks))
            }
        };
        second.begun.reaches(from) == Some(true)
    }

    /// The spacing of the profile, never below the lag.
    pub(crate) fn spacing(&self) -> Duration {
        self.profile
            .absence
            .spacing
            .max(self.profile.absence.lag.value())
    }

    /// From when on a round counts.
    pub(crate) fn bound(&self) -> Bound {
        let reachable = self
            .order
            .attempts
            .iter()
            .filter(|attempt| !attempt.out_of_reach());
        let mut bounds = Vec::new();
        for attempt in reachable {
            match self.attempt_bound(attempt) {
                Some(bound) => bounds.push(bound),
                // The venue's word settled it; what is doubled below us is the watch's matter.
                None if attempt.settled() => {}
                None => return Bound::Never,
            }
        }
        if bounds.is_empty() {
            Bound::Free
        } else {
            Bound::After(bounds)
        }
    }

    fn attempt_bound(&self, attempt: &AttemptState) -> Option<AsOf> {
        let absence = &self.profile.absence;
        // The venue said that it took the bytes: that it shows nothing speaks against the assumed lag first, so the watch comes before the
        // verdict too.
        let grace = if attempt.bytes_known {
            self.profile.watch
        } else {
            Duration::ZERO
        };
        let lag = absence.lag.value().saturating_add(grace);
        // A nonce may be used at the gate, and what used it may still be on its way to the book.
        if let RevocationState::Used(at) = attempt.revocation {
            return Some(match at {
                AsOf::Clock(at) => {
                    let arrived = at.after(self.profile.fence.drain_time());
                    AsOf::Clock(arrived.after(lag).after(absence.margin))
                }
                AsOf::Height(at) => {
                    let arrived = at.saturating_add(self.profile.fence.drain_blocks());
                    AsOf::Height(arrived.saturating_add(absence.lag_blocks))
                }
            });
        }
        match (attempt.fence, self.profile.fence) {
            (Fence::Clock(fence), FenceRule::Clock { drain, .. }) => {
                let arrived = fence.after(drain.value());
                Some(AsOf::Clock(arrived.after(lag).after(absence.margin)))
            }
            (Fence::Height(fence), FenceRule::Height { drain }) => {
                let arrived = fence.saturating_add(drain.value());
                Some(AsOf::Height(arrived.saturating_add(absence.lag_blocks)))
            }
            (Fence::None, _) | (Fence::Clock(_) | Fence::Height(_), _) => None,
        }
    }

    /// Whether an attempt within reach has no bound of its own: of a copy doubled below us no round says that it cannot land any more.
    pub(super) fn rests_on_word(&self) -> bool {
        let mut attempts = self.order.attempts.iter();
        attempts.any(|attempt| !attempt.out_of_reach() && self.attempt_bound(attempt).is_none())
    }

    /// Whether the lists still reach back to the first attempt, even had it ended at once.
    pub(crate) fn in_retention(&self) -> bool {
        let absence = &self.profile.absence;
        let kept = absence
            .closed_retention
            .value()
            .min(absence.fills_retention.value());
        self.at.now.latest() < self.order.created_at.after(kept)
    }

    /// Whether a round began a lag, and the margin, after an instant.
    pub(crate) fn begun_a_lag_after(&self, round: Round, instant: VenueTime) -> bool {
        let absence = &self.profile.absence;
        let shown = instant.after(absence.lag.value()).after(absence.margin);
        match round.begun {
            AsOf::Clock(begun) => begun >= shown,
            // Heights do not compare with instants; the clock's reading after the round does.
            AsOf::Height(_) => self.at.now.earliest() >= shown.after(absence.lag.value()),
        }
    }

    /// How long until the next round can count; `None` where the clock does not say.
    pub(crate) fn until_bound(&self) -> Option<Duration> {
        let Bound::After(bounds) = self.bound() else {
            return None;
        };
        let latest = bounds.iter().filter_map(|bound| match bound {
            AsOf::Clock(at) => Some(*at),
            AsOf::Height(_) => None,
        });
        latest.max().map(|at| at.since(self.at.now.earliest()))
    }
}
