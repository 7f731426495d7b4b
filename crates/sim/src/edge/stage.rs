//! What one simulated venue stands on, and what the edge asks of it.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use hyper::Method;

use super::{
    exchange::{Reply, Request},
    fault::{Faults, Op},
    fields::{Fields, Wrong},
    hidden::Hidden,
    requests::Requests,
};
use crate::{
    clock::SimClock,
    core::{Event, OrderNo, What},
    journal::JournalError,
    world::World,
};

/// The parts that are the same for every venue.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) clock: SimClock,
    pub(crate) faults: Faults,
    pub(crate) requests: Requests,
    pub(crate) hidden: Hidden,
    world: Mutex<World>,
}

impl Stage {
    pub(crate) fn new(world: World) -> Self {
        Self {
            clock: SimClock::new(),
            faults: Faults::default(),
            requests: Requests::default(),
            hidden: Hidden::default(),
            world: Mutex::new(world),
        }
    }

    /// The core, for reading at one moment.
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the core a command, at venue time.
    pub(crate) fn apply(&self, what: What) -> Result<Vec<Event>, JournalError> {
        let mut world = self.world();
        let now_ms = self.clock.now_ms();
        world.apply(now_ms, what)
    }
}

/// One venue: its gate, its engine, its spellings. All of it is synchronous; waiting is the edge's.
pub(crate) trait Venue: fmt::Debug + Send + Sync + 'static {
    /// A request that the gate let through.
    type Passed: Send + 'static;

    /// The parts it stands on.
    fn stage(&self) -> &Stage;

    /// What a request wants.
    fn op(&self, method: &Method, path: &str, query: &str) -> Op;

    /// An answer to everything, while the venue bars this address.
    fn barred(&self) -> Option<Reply>;

    /// The answer to a request over the rate limit.
    fn throttled(&self, request: &Request) -> Reply;

    /// Authentication, clock, rate, parameters. What it refuses never reaches the engine.
    fn gate(&self, request: &Request) -> Result<Self::Passed, Reply>;

    /// How long a request takes from the gate to the engine.
    fn drain_ms(&self) -> u64;

    /// What the venue then does.
    fn engine(&self, passed: Self::Passed) -> Reply;

    /// Forgets what a restart wipes.
    fn restarted(&self);

    /// `POST /_sim/venue`.
    fn set(&self, fields: Fields) -> Result<(), Wrong>;

    /// The account's 32 hex digits of an id as it was sent, if it is one of ours.
    fn cl_ord_id(&self, wire_id: &str) -> Option<String>;

    /// The venue's name of an order.
    fn order_id(&self, no: OrderNo) -> String;

    /// The venue's name of a fill.
    fn exec_id(&self, no: u64) -> String;

    /// Whether an id of the control port, in either spelling, means this order.
    fn means(&self, id: &str, wire_id: &str) -> bool {
        id == wire_id
            || self
                .cl_ord_id(wire_id)
                .is_some_and(|ours| ours.eq_ignore_ascii_case(id))
    }
}
