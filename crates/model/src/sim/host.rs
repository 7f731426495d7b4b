//! What the process runs on: a world that is shared, and a clock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use surefill_core::TimeSource;
use tokio::time::Instant;

use super::world::World;

/// The world, shared by everything that touches it.
#[derive(Clone, Debug)]
pub(super) struct Shared(pub(super) Arc<Mutex<World>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Virtual time as the engine's monotonic clock.
#[derive(Debug)]
pub(super) struct VirtualTime(pub(super) Instant);

impl TimeSource for VirtualTime {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
