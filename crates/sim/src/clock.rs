//! Venue time: the system clock, shifted and stretched by the control port.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rust_decimal::Decimal;
use tokio::sync::watch;

/// The only clock of a simulated venue, ms since 1970.
#[derive(Debug)]
pub(crate) struct SimClock {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    /// System time at which `venue_ms` held, without the skew.
    system_ms: i128,
    venue_ms: i128,
    rate: Decimal,
    skew_ms: i64,
}

impl State {
    fn at(&self, system_ms: i128) -> i128 {
        let elapsed =
            Decimal::try_from_i128_with_scale(system_ms.saturating_sub(self.system_ms), 0)
                .unwrap_or_default();
        let run = elapsed.saturating_mul(self.rate).trunc();
        self.venue_ms.saturating_add(run.mantissa())
    }
}

impl SimClock {
    /// A clock that shows system time.
    pub(crate) fn new() -> Self {
        let now = system_ms();
        let state = State {
            system_ms: now,
            venue_ms: now,
            rate: Decimal::ONE,
            skew_ms: 0,
        };
        Self {
            state: Mutex::new(state),
            changed: watch::Sender::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Venue time now.
    pub(crate) fn now_ms(&self) -> u64 {
        let state = self.state();
        let now = state
            .at(system_ms())
            .saturating_add(i128::from(state.skew_ms));
        u64::try_from(now).unwrap_or(0)
    }

    /// Offset from the unskewed clock, and rate.
    pub(crate) fn setting(&self) -> (i64, Decimal) {
        let state = self.state();
        (state.skew_ms, state.rate)
    }

    /// Sets the offset; not added to an earlier one.
    pub(crate) fn skew(&self, skew_ms: i64) {
        self.state().skew_ms = skew_ms;
        self.announce();
    }

    /// Jumps ahead.
    pub(crate) fn advance(&self, ms: u64) {
        let mut state = self.state();
        state.venue_ms = state.venue_ms.saturating_add(i128::from(ms));
        drop(state);
        self.announce();
    }

    /// Lets venue time run `rate` times as fast; zero stops it.
    pub(crate) fn set_rate(&self, rate: Decimal) {
        let system_ms = system_ms();
        let mut state = self.state();
        state.venue_ms = state.at(system_ms);
        state.system_ms = system_ms;
        state.rate = rate;
        drop(state);
        self.announce();
    }

    /// Waits until venue time reaches `ms`; a jump past it ends the wait.
    pub(crate) async fn reach(&self, ms: u64) {
        let mut changed = self.changed.subscribe();
        loop {
            let left = ms.saturating_sub(self.now_ms());
            if left == 0 {
                return;
            }
            let (_, rate) = self.setting();
            let real = Decimal::from(left)
                .checked_div(rate)
                .map(|real| real.ceil().mantissa());
            let real = real.and_then(|real| u64::try_from(real).ok());
            let sleep = async {
                match real {
                    Some(real) => tokio::time::sleep(Duration::from_millis(real.max(1))).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = sleep => {}
                alive = changed.changed() => if alive.is_err() { return },
            }
        }
    }

    fn announce(&self) {
        self.changed
            .send_modify(|count| *count = count.wrapping_add(1));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where time enters; all else asks the venue clock"
)]
fn system_ms() -> i128 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    i128::try_from(since.as_millis()).unwrap_or(i128::MAX)
}
