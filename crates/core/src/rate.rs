//! How often a venue may be asked: one bucket per class, so that cancels and lookups never wait for creates.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::time::Instant;

/// Requests per second and class that a venue takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Creates.
    pub create: NonZeroU32,
    /// Cancels and amends.
    pub cancel: NonZeroU32,
    /// Lookups and lists.
    pub lookup: NonZeroU32,
}

/// What a request is, for the bucket that it takes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateClass {
    /// A create, admitted by the engine before the request is built: a queue after that would burn the fence.
    Create,
    /// A cancel, an amend or a revocation.
    Cancel,
    /// A lookup or a list.
    Lookup,
}

/// The buckets of one venue.
pub struct Rate {
    clock: DefaultClock,
    /// Until when the venue said that it takes nothing of a class.
    held: Mutex<[Option<Instant>; 3]>,
    create: DefaultDirectRateLimiter,
    cancel: DefaultDirectRateLimiter,
    lookup: DefaultDirectRateLimiter,
}

impl Rate {
    /// Full buckets.
    pub fn new(rates: Rates) -> Self {
        let bucket = |per_second| RateLimiter::direct(Quota::per_second(per_second));
        Self {
            clock: DefaultClock::default(),
            held: Mutex::default(),
            create: bucket(rates.create),
            cancel: bucket(rates.cancel),
            lookup: bucket(rates.lookup),
        }
    }

    /// Waits until a request of this class may leave.
    pub async fn admit(&self, class: RateClass) {
        let bucket = match class {
            RateClass::Create => &self.create,
            RateClass::Cancel => &self.cancel,
            RateClass::Lookup => &self.lookup,
        };
        while let Err(not_until) = bucket.check() {
            tokio::time::sleep(not_until.wait_time_from(self.clock.now())).await;
        }
        // Who waited for the bucket may have been overtaken by the venue's word.
        while let Some(until) = self.held(class) {
            tokio::time::sleep_until(until).await;
        }
    }

    /// The venue says that it takes no more of this class for so long. Never for longer than [`Self::LONGEST_HOLD`], so that no answer
    /// keeps cancels in.
    pub fn hold(&self, class: RateClass, wait: Duration) {
        let until = Instant::now() + wait.min(Self::LONGEST_HOLD);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let [create, cancel, lookup] = &mut *held;
        let slot = match class {
            RateClass::Create => create,
            RateClass::Cancel => cancel,
            RateClass::Lookup => lookup,
        };
        *slot = Some(slot.map_or(until, |held| held.max(until)));
    }

    /// The longest that an answer of the venue holds a class back.
    pub const LONGEST_HOLD: Duration = Duration::from_secs(2);

    fn held(&self, class: RateClass) -> Option<Instant> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let [create, cancel, lookup] = *held;
        let until = match class {
            RateClass::Create => create,
            RateClass::Cancel => cancel,
            RateClass::Lookup => lookup,
        };
        until.filter(|until| *until > Instant::now())
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rate").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_the_venue_holds_back_waits_and_other_classes_do_not() {
        let many = NonZeroU32::new(1_000).expect("above zero");
        let rate = Rate::new(Rates {
            create: many,
            cancel: many,
            lookup: many,
        });
        let begun = Instant::now();
        rate.hold(RateClass::Lookup, Duration::from_millis(700));
        rate.hold(RateClass::Lookup, Duration::from_millis(300));
        rate.hold(RateClass::Cancel, Duration::from_secs(86_400));
        rate.admit(RateClass::Create).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
        rate.admit(RateClass::Lookup).await;
        assert!(begun.elapsed() >= Duration::from_millis(700));
        rate.admit(RateClass::Cancel).await;
        assert!(begun.elapsed() >= Rate::LONGEST_HOLD);
        assert!(begun.elapsed() < Duration::from_secs(3));
    }
}
