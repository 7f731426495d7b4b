//! Moves the log into the file, on a thread and a connection of its own.
//!
//! A pass never holds up the writer, so under steady load it never quite reaches the log's end. The writer moves the short rest
//! itself, between two groups: then the log starts over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use rusqlite::Connection;

use crate::error::{Kind, kind};

/// The log is moved each time it has grown by so many frames: 4 MiB.
const EVERY: u64 = 2_000;
/// The writer moves at most this many frames itself.
const REST: u64 = 500;
/// The alarm: 64 MiB of log. A frame is a page and its header.
const ALARM: u64 = 64 * 1024 * 1024 / (2_048 + 24);

#[derive(Debug, Default)]
struct Shared {
    /// A pass has left a short rest.
    rest: AtomicBool,
    /// A pass failed: what is in the file is not known.
    failed: AtomicBool,
    stop: AtomicBool,
    /// Frames in the log when the newest pass was asked for.
    asked: AtomicU64,
}

/// The writer's end.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    wake: SyncSender<()>,
    shared: Arc<Shared>,
}

/// The thread's end.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    db: Connection,
    woken: Receiver<()>,
    shared: Arc<Shared>,
}

/// Both ends, over a connection for the thread.
pub(crate) fn pair(db: Connection) -> (Checkpoints, Checkpointer) {
    let (wake, woken) = sync_channel(1);
    let shared = Arc::<Shared>::default();
    let checkpointer = Checkpointer {
        db,
        woken,
        shared: Arc::clone(&shared),
    };
    (Checkpoints { wake, shared }, checkpointer)
}

impl Checkpoints {
    /// Says how long the log is after a commit.
    pub(crate) fn note(&self, frames: u64) {
        let asked = self.shared.asked.load(Ordering::Relaxed);
        if frames < asked {
            // It started over.
            self.shared.asked.store(0, Ordering::Relaxed);
        } else if frames >= asked.saturating_add(EVERY) {
            self.shared.asked.store(frames, Ordering::Relaxed);
            self.wake();
        }
    }

    /// Moves the short rest that a pass has left, so that the log starts over.
    pub(crate) fn finish(&self, db: &Connection) {
        if self.shared.rest.swap(false, Ordering::AcqRel) {
            self.shared.pass(db);
        }
    }

    /// Whether a pass failed.
    pub(crate) fn failed(&self) -> bool {
        self.shared.failed.load(Ordering::Acquire)
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        match self.wake.try_send(()) {
            Ok(()) | Err(TrySendError::Full(()) | TrySendError::Disconnected(())) => {}
        }
    }
}

impl Checkpointer {
    /// Works until it is told to stop.
    pub(crate) fn work(self) {
        while self.woken.recv().is_ok() && !self.shared.stop.load(Ordering::Acquire) {
            let Some((log, moved)) = self.shared.pass(&self.db) else {
                continue;
            };
            if log >= ALARM {
                tracing::warn!(
                    mebibytes = log.saturating_mul(2_072) / (1024 * 1024),
                    "the journal's log keeps growing: does another process read it for long?"
                );
            }
            if log.saturating_sub(moved) <= REST {
                self.shared.rest.store(true, Ordering::Release);
            } else {
                // The writer was faster: once more.
                self.shared.asked.store(moved, Ordering::Relaxed);
            }
        }
    }
}

impl Shared {
    /// One pass: the frames in the log, and those of them that are in the file.
    fn pass(&self, db: &Connection) -> Option<(u64, u64)> {
        if self.failed.load(Ordering::Acquire) {
            return None;
        }
        let moved = db.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |row| {
            Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        });
        match moved {
            Ok((log, moved)) => Some((
                u64::try_from(log).unwrap_or_default(),
                u64::try_from(moved).unwrap_or_default(),
            )),
            Err(error) => {
                // A page that was not written or synced must not be taken for one that was by the next pass.
                if matches!(kind(&error), Kind::Other | Kind::Damaged) {
                    tracing::error!(%error, "the journal's log could not be moved: the journal is closed");
                    self.failed.store(true, Ordering::Release);
                }
                None
            }
        }
    }
}
