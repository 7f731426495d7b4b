//! The weight that an IP address may use in a minute.

use std::fmt;
use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

/// Half of what the venue takes in a minute: a full bucket and its refill together are the whole.
///
/// # Source
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>: 1200 a minute.
pub(crate) const PER_MINUTE: u32 = 600;

/// What reads may use. Orders, cancels and revocations never wait here.
pub(crate) struct Budget {
    clock: DefaultClock,
    bucket: DefaultDirectRateLimiter,
    per_minute: NonZeroU32,
}

impl Budget {
    /// A full bucket.
    pub(crate) fn new(per_minute: u32) -> Self {
        let per_minute = NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN);
        Self {
            per_minute,
            clock: DefaultClock::default(),
            bucket: RateLimiter::direct(Quota::per_minute(per_minute)),
        }
    }

    /// Waits until a read of this weight may leave.
    pub(crate) async fn admit(&self, weight: u32) {
        let weight = NonZeroU32::new(weight)
            .unwrap_or(NonZeroU32::MIN)
            .min(self.per_minute);
        // The bucket holds as much as any weight asks for, so the outer result is always a yes.
        while let Ok(Err(not_until)) = self.bucket.check_n(weight) {
            tokio::time::sleep(not_until.wait_time_from(self.clock.now())).await;
        }
    }

    /// Books what an answer cost beyond its read: a list weighs by its rows.
    pub(crate) fn book(&self, weight: u32) {
        for _ in 0..weight {
            // An empty bucket is late enough.
            if self.bucket.check().is_err() {
                return;
            }
        }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").finish_non_exhaustive()
    }
}
