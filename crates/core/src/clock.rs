//! The venue's clock, seen from here: a monotonic clock, an offset, and how wrong it may be.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::{AsOf, VenueTime};

/// A clock that only goes forward and counts the time that the machine sleeps.
pub trait TimeSource: Debug + Send + Sync + 'static {
    /// Time since some fixed moment.
    fn elapsed(&self) -> Duration;
}

/// The system's clock since boot, sleep included.
#[derive(Clone, Copy, Debug, Default)]
pub struct BootTime;

impl TimeSource for BootTime {
    fn elapsed(&self) -> Duration {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let secs = u64::try_from(now.tv_sec).unwrap_or(0);
        let nanos = u32::try_from(now.tv_nsec).unwrap_or(0);
        Duration::new(secs, nanos)
    }
}

/// A clock that moves only when it is told to, for tests and simulations.
#[derive(Debug, Default)]
pub struct ManualTime {
    nanos: AtomicU64,
}

impl ManualTime {
    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let nanos = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::AcqRel);
    }
}

impl TimeSource for ManualTime {
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Acquire))
    }
}

/// A moment on the local clock, taken before a request leaves.
#[derive(Clone, Copy, Debug)]
pub struct LocalMark(Duration);

#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Venue time minus local time, nanoseconds.
    offset: i128,
    /// Half of the round trip, and the grain of the venue's answer.
    error: Duration,
    /// When it was taken, local.
    taken: Duration,
}

/// Venue time: a monotonic clock plus an offset measured from the venue's answers, with its error.
#[derive(Debug)]
pub struct VenueClock {
    source: Arc<dyn TimeSource>,
    sample: RwLock<Option<Sample>>,
}

/// A reading of the venue's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The best estimate.
    pub now: VenueTime,
    /// How far the truth may be from it, to either side.
    pub error: Duration,
}

impl Reading {
    /// No earlier than this on the venue's clock... at least: what has passed there for certain.
    pub fn earliest(self) -> VenueTime {
        self.now.before(self.error)
    }

    /// No later than this on the venue's clock.
    pub fn latest(self) -> VenueTime {
        self.now.after(self.error)
    }
}

/// The grain of a venue time given in milliseconds.
const GRAIN: Duration = Duration::from_millis(1);

/// How far two quartz clocks may drift apart: 200 parts in a million.
const DRIFT_DIVISOR: u32 = 5_000;

impl VenueClock {
    /// A clock that has not heard from the venue yet.
    pub fn new(source: Arc<dyn TimeSource>) -> Self {
        Self {
            source,
            sample: RwLock::new(None),
        }
    }

    /// Take this before a request leaves whose answer tells the venue's time.
    pub fn mark(&self) -> LocalMark {
        LocalMark(self.source.elapsed())
    }

    /// Takes in the venue's time from an answer to the request that left at `mark`.
    ///
    /// The sample with the smaller error is kept; an old one ages by the drift of clocks.
    pub fn observe(&self, mark: LocalMark, venue: VenueTime) {
        let received = self.source.elapsed();
        let trip = received.saturating_sub(mark.0);
        let middle = mark.0.saturating_add(trip / 2);
        let venue_nanos = i128::from(venue.as_ms()).saturating_mul(1_000_000);
        let middle_nanos = i128::try_from(middle.as_nanos()).unwrap_or(i128::MAX);
        let new = Sample {
            offset: venue_nanos.saturating_sub(middle_nanos),
            error: trip / 2 + GRAIN,
            taken: received,
        };
        let mut kept = self.sample.write().unwrap_or_else(PoisonError::into_inner);
        let better =
            kept.is_none_or(|old| new.error <= old.aged(received) || old.disagrees(&new, received));
        if better {
            *kept = Some(new);
        }
    }

    /// The venue's time; `None` until it has been heard from.
    pub fn read(&self) -> Option<Reading> {
        let local = self.source.elapsed();
        let sample = (*self.sample.read().unwrap_or_else(PoisonError::into_inner))?;
        let local_nanos = i128::try_from(local.as_nanos()).unwrap_or(i128::MAX);
        let ms = local_nanos.saturating_add(sample.offset).max(0) / 1_000_000;
        let now = VenueTime::from_ms(u64::try_from(ms).unwrap_or(u64::MAX));
        Some(Reading {
            now,
            error: sample.aged(local),
        })
    }

    /// What to call the begin of a round of lookups: an instant that has passed at the venue for certain.
    pub fn begun(&self) -> Option<AsOf> {
        self.read().map(|reading| AsOf::Clock(reading.earliest()))
    }

    /// What to call the end of a round of lookups: an instant that has not passed at the venue before the last answer came.
    pub fn ended(&self) -> Option<AsOf> {
        self.read().map(|reading| AsOf::Clock(reading.latest()))
    }
}

impl Sample {
    fn aged(&self, local: Duration) -> Duration {
        self.error
            .saturating_add(local.saturating_sub(self.taken) / DRIFT_DIVISOR)
    }

    /// Whether the two cannot both be right: the venue's clock was set, so the newer one counts.
    fn disagrees(&self, new: &Self, local: Duration) -> bool {
        let apart = self.offset.abs_diff(new.offset);
        apart > self.aged(local).saturating_add(new.error).as_nanos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> (Arc<ManualTime>, VenueClock) {
        let time = Arc::new(ManualTime::default());
        let source: Arc<dyn TimeSource> = Arc::<ManualTime>::clone(&time);
        (time, VenueClock::new(source))
    }

    #[test]
    fn the_error_is_half_the_trip_and_a_quicker_answer_wins() {
        let (time, clock) = clock();
        assert_eq!(clock.read(), None);
        let mark = clock.mark();
        time.advance(Duration::from_millis(100));
        clock.observe(mark, VenueTime::from_ms(1_000_050));
        let reading = clock.read().expect("heard");
        assert_eq!(reading.now, VenueTime::from_ms(1_000_100));
        assert_eq!(reading.error, Duration::from_millis(51));
        let mark = clock.mark();
        time.advance(Duration::from_millis(4));
        clock.observe(mark, VenueTime::from_ms(1_000_102));
        assert_eq!(clock.read().expect("heard").error, Duration::from_millis(3));
        let mark = clock.mark();
        time.advance(Duration::from_millis(50));
        clock.observe(mark, VenueTime::from_ms(1_000_129));
        assert!(
            clock.read().expect("heard").error < Duration::from_millis(4),
            "a slower answer changes nothing"
        );
    }

    #[test]
    fn a_venue_clock_that_was_set_is_followed() {
        let (time, clock) = clock();
        clock.observe(clock.mark(), VenueTime::from_ms(1_000));
        let mark = clock.mark();
        time.advance(Duration::from_millis(20));
        clock.observe(mark, VenueTime::from_ms(500_010));
        assert_eq!(
            clock.read().expect("heard").now,
            VenueTime::from_ms(500_020)
        );
    }

    #[test]
    fn the_begin_of_a_round_is_never_in_the_future() {
        let (time, clock) = clock();
        let mark = clock.mark();
        time.advance(Duration::from_millis(10));
        clock.observe(mark, VenueTime::from_ms(1_000));
        let (begun, ended) = (clock.begun().expect("heard"), clock.ended().expect("heard"));
        assert_eq!(ended.reaches(begun), Some(true));
        assert_eq!(
            begun.reaches(AsOf::Clock(VenueTime::from_ms(1_005))),
            Some(false)
        );
    }
}
