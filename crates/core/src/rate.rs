//! How often a venue may be asked: one bucket per class, so that cancels and lookups never wait for creates.

use std::fmt;
use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

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
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rate").finish_non_exhaustive()
    }
}
