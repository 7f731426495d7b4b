//! The way to the venue, on which requests and answers are lost, late and doubled.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use surefill_conformance::venue::{Act, Op, SeenRequest};
use surefill_core::{BootTime, TimeSource, VenueTime};

use super::Traits;
use super::state::State;

const BASE_MS: u64 = 1_796_040_000_000;

/// How long a client waits for an answer that never comes.
const PATIENCE: Duration = Duration::from_millis(250);

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The connection could not be made.
    Connect,
    /// The venue says that this was too often, and that it did nothing.
    Throttled,
    /// Anything else.
    Lost(String),
}

#[derive(Debug)]
pub(crate) struct Edge {
    state: Mutex<State>,
    started: Duration,
    skew_ms: AtomicI64,
}

impl Edge {
    pub(crate) fn new(truth: Traits) -> Self {
        Self {
            state: Mutex::new(State::new(truth)),
            started: BootTime.elapsed(),
            skew_ms: AtomicI64::new(0),
        }
    }

    pub(crate) fn now(&self) -> VenueTime {
        let elapsed = BootTime.elapsed().saturating_sub(self.started);
        let elapsed = u64::try_from(elapsed.as_millis()).unwrap();
        let ms = (BASE_MS + elapsed).saturating_add_signed(self.skew_ms.load(Ordering::Acquire));
        VenueTime::from_ms(ms)
    }

    pub(crate) fn skew(&self, ms: i64) {
        self.skew_ms.store(ms, Ordering::Release);
    }

    pub(crate) fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap())
    }

    fn came(&self, op: Op, body: Option<&str>) -> usize {
        let at = self.now();
        self.state(|state| {
            state.requests.push(SeenRequest {
                op,
                at,
                acted: false,
                body: body.map(Into::into),
            });
            state.requests.len() - 1
        })
    }

    /// Sends one request: `act` is what the venue does with it, whenever it arrives.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        op: Op,
        body: Option<&str>,
        act: impl Fn(&mut State, VenueTime) -> T + Send + Sync + 'static,
    ) -> Result<T, Trouble> {
        let now = self.now();
        if self.state(|state| now < state.down_until) {
            return Err(Trouble::Connect);
        }
        let seq = self.came(op, body);
        let acts = {
            let edge = Arc::clone(self);
            Arc::new(move |seq: usize| {
                let now = edge.now();
                edge.state(|state| {
                    state.requests[seq].acted = true;
                    act(state, now)
                })
            })
        };
        let lost = |why: &str| Err(Trouble::Lost(why.to_owned()));
        let fault = self.state(|state| state.take_fault(op));
        let Some(fault) = fault else {
            return Ok(acts(seq));
        };
        match fault.act {
            Act::Refuse => Err(Trouble::Connect),
            Act::Throttle => Err(Trouble::Throttled),
            Act::ResetBefore | Act::Status(_) => lost("it did not arrive"),
            Act::ResetAfter(delay) => {
                later(delay, move || drop(acts(seq)));
                lost("reset")
            }
            Act::Hold(delay) => {
                tokio::time::sleep(delay).await;
                Ok(acts(seq))
            }
            Act::DropAnswer => {
                drop(acts(seq));
                tokio::time::sleep(PATIENCE).await;
                lost("no answer")
            }
            Act::ActThenStatus(_) | Act::Truncate | Act::Garbage => {
                drop(acts(seq));
                lost("unreadable")
            }
            Act::Duplicate(delay) => {
                let first = acts(seq);
                let again = self.came(op, body);
                later(delay, move || drop(acts(again)));
                Ok(first)
            }
            Act::StreamDrop | Act::StreamDuplicate | Act::StreamReorder | Act::StreamGap => {
                Ok(acts(seq))
            }
        }
    }
}

/// The venue acts whoever is gone meanwhile.
fn later(delay: Duration, act: impl FnOnce() + Send + 'static) {
    if delay.is_zero() {
        act();
    } else {
        std::thread::spawn(move || {
            std::thread::sleep(delay);
            act();
        });
    }
}
