//! Instants on the venue's clock.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// An instant on the venue's clock, milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct VenueTime(u64);

impl VenueTime {
    /// The instant `ms` milliseconds after the epoch.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// The instant `by` later, whole milliseconds, saturating.
    #[must_use]
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(millis_up(by)))
    }

    /// The instant `by` earlier, whole milliseconds, saturating at the epoch.
    #[must_use]
    pub fn before(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(millis_up(by)))
    }

    /// How much later this instant is than `earlier`; zero when it is not later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Debug for VenueTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

impl fmt::Display for VenueTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Whole milliseconds, rounded up: a wait is never shortened by rounding.
fn millis_up(by: Duration) -> u64 {
    let ms = u64::try_from(by.as_nanos().div_ceil(1_000_000));
    ms.unwrap_or(u64::MAX)
}

/// Where a round of lookups stood: on the clock, or at a block height. The two are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsOf {
    /// An instant on the venue's clock.
    Clock(VenueTime),
    /// A block height.
    Height(u64),
}

impl AsOf {
    /// Whether this is later than or at `other`; `None` when the two are of different kinds.
    pub fn reaches(self, other: Self) -> Option<bool> {
        match (self, other) {
            (Self::Clock(a), Self::Clock(b)) => Some(a >= b),
            (Self::Height(a), Self::Height(b)) => Some(a >= b),
            (Self::Clock(_), Self::Height(_)) | (Self::Height(_), Self::Clock(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_never_shortened_by_rounding() {
        let t = VenueTime::from_ms(10);
        assert_eq!(t.after(Duration::from_micros(1)), VenueTime::from_ms(11));
        assert_eq!(t.after(Duration::MAX), VenueTime::from_ms(u64::MAX));
        assert_eq!(t.before(Duration::from_secs(1)), VenueTime::from_ms(0));
    }

    #[test]
    fn clock_and_height_do_not_compare() {
        let clock = AsOf::Clock(VenueTime::from_ms(5));
        assert_eq!(clock.reaches(AsOf::Height(1)), None);
        assert_eq!(AsOf::Height(2).reaches(AsOf::Height(2)), Some(true));
        assert_eq!(
            clock.reaches(AsOf::Clock(VenueTime::from_ms(6))),
            Some(false)
        );
    }
}
