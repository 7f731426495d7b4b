//! What one simulated venue stands on, and what the edge asks of it.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use hyper::Method;
use serde_json::Value;

use super::{
    exchange::{Reply, Request},
    fault::{Faults, Op},
    fields::{Fields, Wrong},
    hidden::Hidden,
    pushes::{Push, Pushes},
    requests::Requests,
    socket::{Heard, Silence},
    stale::Stale,
};
use crate::{
    clock::SimClock,
    core::{Core, Event, Fill, OrderNo, What},
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
    pub(crate) stale: Stale,
    pub(crate) pushes: Pushes,
    world: Mutex<World>,
}

impl Stage {
    pub(crate) fn new(world: World) -> Self {
        Self {
            clock: SimClock::new(),
            faults: Faults::default(),
            requests: Requests::default(),
            hidden: Hidden::default(),
            stale: Stale::default(),
            pushes: Pushes::default(),
            world: Mutex::new(world),
        }
    }

    /// The core, for reading at one moment.
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One venue: its gate, its engine, its spellings. All of it is synchronous; waiting is the edge's.
pub(crate) trait Venue: fmt::Debug + Send + Sync + 'static {
    /// A request that the gate let through.
    type Passed: Send + 'static;

    /// One WebSocket: who it is and what it listens to.
    type Session: Send + 'static;

    /// The parts it stands on.
    fn stage(&self) -> &Stage;

    /// A new socket, if this path is one.
    fn open(&self, path: &str, query: &str) -> Option<Self::Session>;

    /// What a new socket is told first.
    fn greeting(&self, session: &Self::Session) -> Option<String>;

    /// How long a socket may be silent, and on which side.
    fn idle(&self, session: &Self::Session) -> Silence;

    /// One frame of a client.
    fn hear(&self, session: &mut Self::Session, text: &str) -> Heard;

    /// The frame that answers a frame which the engine was called for.
    fn answer(&self, tag: &Value, reply: &Reply) -> String;

    /// What these events are to the streams. `core` is as it stands after them.
    fn pushes(&self, core: &Core, events: &[Event]) -> Vec<Push>;

    /// A push as this socket gets it, if it listens to it.
    fn push(&self, session: &Self::Session, push: &Push) -> Option<String>;

    /// Gives the core a command, at venue time, and tells the streams what came of it.
    fn apply(&self, what: What) -> Result<Vec<Event>, JournalError> {
        let stage = self.stage();
        let mut world = stage.world();
        let now_ms = stage.clock.now_ms();
        let events = world.apply(now_ms, what)?;
        for push in self.pushes(world.core(), &events) {
            stage.pushes.say(push);
        }
        Ok(events)
    }

    /// What a request wants. The body may be cut short where only its beginning is known.
    fn op(&self, method: &Method, path: &str, query: &str, body: &[u8]) -> Op;

    /// An answer to everything, while the venue bars this address.
    fn barred(&self) -> Option<Reply>;

    /// The answer to a request over the rate limit.
    fn throttled(&self, request: &Request) -> Reply;

    /// An answer with one of the venue's own codes, without a reason.
    fn coded(&self, code: u32) -> Reply;

    /// Authentication, clock, rate, parameters. What it refuses never reaches the engine.
    fn gate(&self, request: &Request) -> Result<Self::Passed, Reply>;

    /// How long a request takes from the gate to the engine.
    fn drain_ms(&self) -> u64;

    /// How long the answer to a request then takes back.
    fn ack_ms(&self, request: &Request) -> u64;

    /// What the venue then does.
    fn engine(&self, passed: Self::Passed) -> Reply;

    /// Forgets what a restart wipes.
    fn restarted(&self);

    /// `POST /_sim/venue`.
    fn set(&self, fields: Fields) -> Result<(), Wrong>;

    /// The account's 32 hex digits of an id as it was sent, if it is one of ours.
    fn cl_ord_id(&self, wire_id: &str) -> Option<String>;

    /// The venue's name of an order of the instrument with this key.
    fn order_id(&self, instrument: &str, no: OrderNo) -> String;

    /// The venue's name of a fill.
    fn exec_id(&self, fill: &Fill) -> String;

    /// Whether an id of the control port, in either spelling, means this order.
    fn means(&self, id: &str, wire_id: &str) -> bool {
        id == wire_id
            || self
                .cl_ord_id(wire_id)
                .is_some_and(|ours| ours.eq_ignore_ascii_case(id))
    }
}
