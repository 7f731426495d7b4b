//! What a process runs on: a world that is shared, a clock, and the right to go on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use surefill_core::TimeSource;
use tokio::time::Instant;

use super::world::{Turn, World};

/// The world, shared by everything that touches it.
#[derive(Clone, Debug)]
pub(super) struct Shared(pub(super) Arc<Mutex<World>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One life of one process: its store and its adapter go on only while it does.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) world: Shared,
    pub(super) life: u64,
}

impl Process {
    /// One more moment at which something may befall it.
    pub(super) async fn tick(&self) {
        self.world.lock().tick(self.life);
        self.alive().await;
    }

    /// Goes on at once, or once it stands still no more; a process that died does nothing any more.
    pub(super) async fn alive(&self) {
        loop {
            let turn = self.world.lock().turn(self.life);
            match turn {
                Turn::Goes => return,
                Turn::Stands(ms) => tokio::time::sleep(Duration::from_millis(ms.max(1))).await,
                Turn::Gone => std::future::pending::<()>().await,
            }
        }
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
