//! Which nonces the venue takes, and which one a request other than an order carries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use surefill_core::{Nonces, VenueTime};

/// How far ahead of its time the venue takes a nonce: a day, and a third party saw two minutes less.
///
/// # Source
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/nonces-and-api-wallets>.
const AHEAD: Duration = Duration::from_secs(23 * 60 * 60);

/// How far behind: two days.
const BEHIND: Duration = Duration::from_secs(47 * 60 * 60);

/// A nonce that the venue would refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NonceError {
    /// A clock that was far ahead once has moved the journal's mark, and the venue refuses everything until its time has caught up.
    #[error(
        "the next nonce, {nonce}, lies too far ahead of {now}: a clock was wrong when the journal's mark was made, and the venue \
         refuses it for another {} s",
        .wait.as_secs()
    )]
    Ahead {
        /// The nonce.
        nonce: u64,
        /// The venue's time.
        now: VenueTime,
        /// How long until the venue takes it.
        wait: Duration,
    },
    /// It lies below everything that the venue still takes.
    #[error("the nonce {nonce} lies too far behind {now}")]
    Behind {
        /// The nonce.
        nonce: u64,
        /// The venue's time.
        now: VenueTime,
    },
}

/// Tests a nonce before anything is signed with it.
pub(crate) fn check(nonce: u64, now: VenueTime) -> Result<(), NonceError> {
    let most = now.after(AHEAD).as_ms();
    if nonce > most {
        let wait = Duration::from_millis(nonce.saturating_sub(most));
        return Err(NonceError::Ahead { nonce, now, wait });
    }
    if nonce < now.before(BEHIND).as_ms() {
        return Err(NonceError::Behind { nonce, now });
    }
    Ok(())
}

/// The nonces of requests other than orders: of the same mark, unless that is out of the venue's reach.
#[derive(Debug)]
pub(crate) struct ActNonces {
    nonces: Arc<Nonces>,
    /// The last one below the mark.
    low: AtomicU64,
}

impl ActNonces {
    pub(crate) const fn new(nonces: Arc<Nonces>) -> Self {
        let low = AtomicU64::new(0);
        Self { nonces, low }
    }

    /// For a request that may wait until the mark is within reach, and must not go out without the journal: a setting.
    pub(crate) async fn checked(&self, now: VenueTime) -> Result<u64, String> {
        let nonce = self.nonces.next(now).await;
        let nonce = nonce.map_err(|error| error.to_string())?;
        check(nonce, now).map_err(|error| error.to_string())?;
        Ok(nonce)
    }

    /// For a request that must go out when it possibly can: a cancel.
    ///
    /// Where the mark is out of reach it is the highest nonce that is within it, so that it is above those that the venue keeps. It lies
    /// below the mark, so no order to come has it. An order that was signed while the clock was wrong may: then the venue refuses the
    /// cancel, which is asked again with another, or the order can never land, which is what a cancel wants.
    pub(crate) async fn urgent(&self, now: VenueTime) -> u64 {
        let nonce = self.nonces.next_even_unjournaled(now).await;
        let most = now.after(AHEAD).as_ms();
        if nonce <= most {
            return nonce;
        }
        let next = |last: u64| most.max(last.saturating_add(1));
        let last = self
            .low
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |last| Some(next(last)));
        let low = next(last.unwrap_or_else(|last| last));
        tracing::warn!(
            mark = nonce,
            nonce = low,
            "the journal's mark is out of the venue's reach"
        );
        low.min(nonce)
    }
}

#[cfg(test)]
mod tests {
    use surefill_core::{Journal, MemoryStore, NonceScope, Store};

    use super::*;

    const NOW: u64 = 1_800_000_000_000;
    const DAY: u64 = 24 * 60 * 60 * 1_000;

    fn at(ms: u64) -> VenueTime {
        VenueTime::from_ms(ms)
    }

    async fn acts(mark: u64) -> ActNonces {
        let (store, scope) = (Arc::new(MemoryStore::new(at(1))), NonceScope("s".into()));
        store.reserve(&scope, mark, 1).await.expect("reserved");
        ActNonces::new(Arc::new(Nonces::new(Journal::new(store), scope)))
    }

    #[test]
    fn what_the_venue_refuses_is_refused_here() {
        for (nonce, taken) in [
            (NOW, true),
            (NOW + 1_000, true),
            (NOW + DAY - 3_600_000, true),
            (NOW + DAY - 3_599_999, false),
            (NOW + 2 * DAY, false),
            (NOW - DAY, true),
            (NOW - 2 * DAY, false),
            (0, false),
            (u64::MAX, false),
        ] {
            assert_eq!(check(nonce, at(NOW)).is_ok(), taken, "{nonce}");
        }
        let shown = check(NOW + 2 * DAY, at(NOW))
            .expect_err("ahead")
            .to_string();
        assert!(shown.contains("another 90000 s"), "{shown}");
    }

    #[tokio::test]
    async fn a_cancel_is_within_reach_wherever_the_mark_is() {
        for mark in [0, NOW, NOW + DAY / 2, NOW + 2 * DAY, NOW + 400 * DAY] {
            let acts = acts(mark).await;
            let mut last = 0;
            for step in 0..50 {
                let now = at(NOW + step / 10);
                let nonce = acts.urgent(now).await;
                assert_eq!(check(nonce, now.after(Duration::from_millis(100))), Ok(()));
                assert!(nonce > last, "{nonce} after {last}");
                last = nonce;
            }
        }
    }

    /// What a cancel takes below the mark no order is given later, and a setting waits.
    #[tokio::test]
    async fn below_the_mark_there_are_cancels_only() {
        let mark = NOW + 2 * DAY;
        let acts = acts(mark).await;
        let cancel = acts.urgent(at(NOW)).await;
        let shown = acts.checked(at(NOW)).await.expect_err("out of reach");
        assert!(shown.contains("too far ahead"), "{shown}");
        let caught_up = at(NOW + 3 * DAY / 2);
        let setting = acts.checked(caught_up).await.expect("within reach");
        assert!(cancel < mark && setting >= mark, "{cancel} {setting}");
        assert!(acts.urgent(caught_up).await > setting);
    }
}
