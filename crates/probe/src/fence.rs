//! A request that comes after its fence, and how long an order takes to show.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use surefill_core::{Fence, Lookup, Submission};

use crate::bench::{Bench, whole_ms};
use crate::seen::Seen;
use crate::size::Terms;
use crate::{FenceSeen, ProbeError};

/// How far past its fence a request is held, beside the error of the clock.
const PAST: Duration = Duration::from_millis(150);

/// How often a request is held for less than its fence until it becomes an order.
const TRIES: u32 = 4;

/// How long after its time a lookup is asked again that cannot be read.
const LONGER: Duration = Duration::from_secs(10);

/// How long an order takes to show, from the answer to its create.
pub(crate) struct Lag {
    /// The begin of the last lookup that did not show it: it took longer than that, however late the next one came.
    pub(crate) not_yet: Duration,
    /// The begin of the first lookup that showed it.
    pub(crate) shown: Option<Duration>,
}

/// What became of a held request.
enum Held {
    NoFence,
    NoInstant,
    /// It became an order, at an instant before or after the fence.
    Landed {
        in_time: bool,
    },
    Nothing,
}

impl Bench {
    /// A request past its fence, after one that is held for less time and becomes an order.
    pub(crate) async fn fence(&self, terms: Terms) -> Result<FenceSeen, ProbeError> {
        if self.sim.is_none() {
            return Ok(match self.profile.fence {
                surefill_core::FenceRule::None => FenceSeen::None,
                surefill_core::FenceRule::Clock { .. }
                | surefill_core::FenceRule::Height { .. } => FenceSeen::NotTested,
            });
        }
        for _ in 0..TRIES {
            match self.held(terms, |left| left / 4).await? {
                Held::NoFence => return Ok(FenceSeen::None),
                Held::NoInstant => return Ok(FenceSeen::NotTested),
                Held::Landed { .. } => {
                    let past = |left: Duration| left.saturating_add(PAST);
                    return Ok(match self.held(terms, past).await? {
                        Held::Landed { in_time: false } => FenceSeen::NotEnforced,
                        Held::Nothing => FenceSeen::Enforced,
                        // It was not held at all.
                        Held::Landed { in_time: true } | Held::NoFence | Held::NoInstant => {
                            FenceSeen::NotTested
                        }
                    });
                }
                Held::Nothing => {}
            }
        }
        Ok(FenceSeen::NotTested)
    }

    /// Holds the next create for a time made of what is left until its fence.
    async fn held(
        &self,
        terms: Terms,
        time: impl Fn(Duration) -> Duration,
    ) -> Result<Held, ProbeError> {
        let Some(sim) = &self.sim else {
            return Ok(Held::NoInstant);
        };
        let intent = self.resting(terms)?;
        let id = self.id(&intent);
        let attempt = self.prepare(&id, &intent).await?;
        let fence = match attempt.fence {
            Fence::Clock(fence) => fence,
            Fence::None => return Ok(Held::NoFence),
            Fence::Height(_) => return Ok(Held::NoInstant),
        };
        let held = time(fence.since(self.now()?));
        let fault = json!({"op": "create", "do": "hold", "ms": whole_ms(held)});
        self.fault.store(true, Ordering::Relaxed);
        let posted = sim.call("POST", "/faults", &fault).await;
        posted.map_err(ProbeError::Control)?;
        self.busy_until(self.now()?.after(held).after(PAST));
        let answer = self.send(&id, &intent, &attempt).await?;
        if !matches!(answer, Submission::NotSent(_)) {
            self.fault.store(false, Ordering::Relaxed);
        }
        let patience = self.until_quiet()?;
        let seen = self.watch(&id, patience, |seen| !seen.0.is_empty()).await?;
        if seen.0.is_empty() {
            return Ok(Held::Nothing);
        }
        let in_time = self.now()? < fence;
        self.end(&id).await?;
        Ok(Held::Landed { in_time })
    }

    /// How long an order takes to show. Where a lookup failed or came late, so that this leaves open whether the profile is right, it is
    /// measured anew.
    pub(crate) async fn visibility(&self, terms: Terms) -> Result<Lag, ProbeError> {
        let most = self.profile.absence.lag.value();
        let mut lag = self.lag(terms).await?;
        for _ in 1..TRIES {
            match lag.shown {
                Some(shown) if lag.not_yet <= most && most < shown => {}
                Some(_) | None => break,
            }
            let next = self.lag(terms).await?;
            let not_yet = lag.not_yet.max(next.not_yet);
            // What took longer once is not taken back by what was faster.
            let shown = lag.shown.zip(next.shown).map(|(one, two)| one.min(two));
            let shown = shown.map(|shown| shown.max(not_yet));
            lag = Lag { not_yet, shown };
        }
        self.measured(lag.shown.unwrap_or_else(|| self.longest()));
        Ok(lag)
    }

    fn longest(&self) -> Duration {
        let longest = self.patience().saturating_mul(4);
        longest.max(Duration::from_secs(2))
    }

    /// One measurement, with an order of its own.
    async fn lag(&self, terms: Terms) -> Result<Lag, ProbeError> {
        let mut resting = self.rest(terms).await?;
        for _ in 1..TRIES {
            if matches!(resting.answer, Submission::Acked(_)) {
                break;
            }
            // It may be there all the same, and be found in the end.
            resting = self.rest(terms).await?;
        }
        if !matches!(resting.answer, Submission::Acked(_)) {
            let why = format!(
                "a buy that should rest was answered with {:?}",
                resting.answer
            );
            return Err(ProbeError::Inconclusive(why));
        }
        let answered = Self::elapsed();
        let order = self.record(&resting.id)?;
        let longest = self.longest();
        let mut delay = Duration::from_millis(5);
        let mut lag = Lag {
            not_yet: Duration::ZERO,
            shown: None,
        };
        loop {
            // The last lookup begins when the time is up, however late this comes to run.
            let begun = Self::elapsed().saturating_sub(answered);
            match self.venue.lookup(&order).await {
                Lookup::Found(_) => {
                    lag.shown = Some(begun);
                    break;
                }
                Lookup::Absent { .. } => {
                    lag.not_yet = begun;
                    if begun > longest {
                        break;
                    }
                }
                // It says nothing, and is asked again for a while longer.
                Lookup::Inconclusive(cause) => {
                    if begun > longest.saturating_add(LONGER) {
                        return Err(ProbeError::Inconclusive(cause.to_string()));
                    }
                }
            }
            tokio::time::sleep(delay).await;
            delay = delay.saturating_mul(3) / 2;
        }
        self.end(&resting.id).await?;
        let gone = |seen: &Seen| !seen.any_open();
        self.watch(&resting.id, self.patience(), gone).await?;
        Ok(lag)
    }
}
