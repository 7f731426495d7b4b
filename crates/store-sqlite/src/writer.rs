//! The only thread that writes: waiting jobs share one commit and one sync.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use rusqlite::config::DbConfig;
use surefill_core::StoreError;
use tokio::sync::oneshot;

use crate::checkpoint::Checkpoints;
use crate::desk::Desk;
use crate::error::{Cause, Fault, Kind, kind, undecided};
use crate::jobs::Job;
use crate::lock::Lock;
use crate::place::Place;
use crate::reader::Reads;
use crate::tap::Tap;

/// The most jobs that share a commit.
const GROUP: usize = 256;

/// What the writer is told.
pub(crate) enum Order {
    /// Do this.
    Job(Box<dyn Job>),
    /// Make everything durable, give up the lock and end.
    Close(Option<oneshot::Sender<Result<(), StoreError>>>),
}

/// Counts for tests and metrics.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Commits that waited for the disk.
    pub(crate) syncs: AtomicU64,
    /// Frames in the log after the newest commit.
    pub(crate) frames: AtomicU64,
    /// Commits that wrote.
    pub(crate) commits: AtomicU64,
    /// The writer ended in order: what was sent to it since was not begun.
    pub(crate) ended: AtomicBool,
}

/// The writing thread's state.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) desk: Desk,
    pub(crate) place: Place,
    pub(crate) counts: Arc<Counts>,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) reads: Reads,
    pub(crate) threads: Vec<JoinHandle<()>>,
    pub(crate) lock: Lock,
    pub(crate) tap: Option<Box<dyn Tap>>,
    /// `synchronous` is OFF and stays so, for a test.
    pub(crate) unsynced: bool,
    /// Whether `synchronous` is FULL now.
    pub(crate) full: bool,
    /// Whether something was committed that no sync followed.
    pub(crate) lazy: bool,
    /// A commit or a sync failed: nothing more is taken.
    pub(crate) closed: bool,
}

/// Why a group was not committed.
enum Undone {
    /// It was rolled back; nothing of it is on disk.
    Rolled(rusqlite::Error),
    /// Whether it is on disk is not known.
    Unknown(Cause),
}

impl Writer {
    /// Works until it is told to close, or nobody can tell it anything any more.
    pub(crate) fn work(mut self, orders: &Receiver<Order>) {
        let mut group: Vec<Box<dyn Job>> = Vec::with_capacity(GROUP);
        loop {
            let mut end = None;
            match orders.recv() {
                Ok(Order::Job(job)) => group.push(job),
                Ok(Order::Close(reply)) => end = Some(reply),
                Err(_) => end = Some(None),
            }
            while end.is_none() && group.len() < GROUP {
                match orders.try_recv() {
                    Ok(Order::Job(job)) => group.push(job),
                    Ok(Order::Close(reply)) => end = Some(reply),
                    Err(_) => break,
                }
            }
            self.group(&mut group);
            if let Some(reply) = end {
                let counts = Arc::clone(&self.counts);
                let done = self.close();
                counts.ended.store(true, Ordering::Release);
                if let Some(reply) = reply {
                    // Whoever asked may have stopped waiting.
                    drop(reply.send(done));
                }
                return;
            }
        }
    }

    fn group(&mut self, group: &mut Vec<Box<dyn Job>>) {
        if group.is_empty() {
            return;
        }
        // First, because a log that could not be synced here would pass for synced in the commit.
        self.checkpoints.finish(&self.desk.db);
        self.closed |= self.checkpoints.failed();
        if self.closed {
            for job in group.drain(..) {
                job.answer(Some(StoreError::Closed));
            }
            return;
        }
        match self.commit(group) {
            Ok(()) => group.drain(..).for_each(|job| job.answer(None)),
            // One by one each would wait for the same lock.
            Err(Undone::Rolled(error)) if group.len() > 1 && kind(&error) != Kind::Busy => {
                for job in group.drain(..) {
                    let mut alone = vec![job];
                    self.group(&mut alone);
                }
            }
            Err(undone) => {
                let error = self.judge(undone);
                for job in group.drain(..) {
                    job.answer(Some(error()));
                }
            }
        }
    }

    /// Runs the jobs and commits them together.
    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), Undone> {
        let sync = group.iter().any(|job| job.sync());
        self.start(sync).map_err(Undone::Rolled)?;
        for job in group {
            if let Err(error) = job.run(&mut self.desk) {
                return Err(self.roll_back(error));
            }
        }
        self.settle()?;
        self.finish(sync)
    }

    fn settle(&mut self) -> Result<(), Undone> {
        match self.desk.settle(self.lazy) {
            Ok(()) => Ok(()),
            Err(Fault::Broken(error)) => Err(self.roll_back(error)),
            Err(Fault::Refused(error)) => Err(Undone::Unknown(Arc::new(error))),
        }
    }

    fn start(&mut self, sync: bool) -> Result<(), rusqlite::Error> {
        let db = &self.desk.db;
        if sync != self.full && !self.unsynced {
            let level = if sync { "FULL" } else { "NORMAL" };
            db.execute_batch(&format!("PRAGMA synchronous={level};"))?;
            self.full = sync;
        }
        db.prepare_cached("BEGIN IMMEDIATE")?.execute(())?;
        Ok(())
    }

    fn finish(&mut self, sync: bool) -> Result<(), Undone> {
        if let Some(tap) = &self.tap
            && let Err(error) = tap.before(sync)
        {
            return Err(Undone::Unknown(Arc::new(error)));
        }
        let before = self.counts.commits.load(Ordering::Relaxed);
        let done = self
            .desk
            .db
            .prepare_cached("COMMIT")
            .and_then(|mut commit| commit.execute(()));
        if let Err(error) = done {
            // A log that takes no more has no commit in it; any other failure leaves that open.
            return Err(match kind(&error) {
                Kind::Full => self.roll_back(error),
                Kind::Busy | Kind::Damaged | Kind::Other => Undone::Unknown(Arc::new(error)),
            });
        }
        // The log's hook has counted the commit if it wrote anything.
        if self.counts.commits.load(Ordering::Relaxed) == before {
            return Ok(());
        }
        self.lazy = !sync;
        if sync {
            self.counts.syncs.fetch_add(1, Ordering::Relaxed);
        }
        let frames = self.counts.frames.load(Ordering::Relaxed);
        if let Some(tap) = &self.tap
            && let Err(error) = tap.after(sync, frames)
        {
            return Err(Undone::Unknown(Arc::new(error)));
        }
        self.checkpoints.note(frames);
        Ok(())
    }

    fn roll_back(&mut self, error: rusqlite::Error) -> Undone {
        self.desk.forget();
        // Some errors have rolled back by themselves.
        if !self.desk.db.is_autocommit()
            && let Err(worse) = self.desk.db.execute_batch("ROLLBACK")
        {
            return Undone::Unknown(Arc::new(worse));
        }
        Undone::Rolled(error)
    }

    /// What the callers of a group that was not committed are told, each.
    fn judge(&mut self, undone: Undone) -> Box<dyn Fn() -> StoreError> {
        let cause: Cause = match undone {
            Undone::Rolled(error) => match kind(&error) {
                Kind::Full => {
                    tracing::error!("the disk is full: nothing is placed, cancels still go out");
                    return Box::new(|| StoreError::Full);
                }
                Kind::Busy => {
                    let (place, what) = (self.place.clone(), error.to_string());
                    return Box::new(move || place.not_writable(&what));
                }
                Kind::Damaged => {
                    self.fail(&error);
                    let what = error.to_string();
                    return Box::new(move || crate::error::damaged(&what));
                }
                Kind::Other => Arc::new(error),
            },
            Undone::Unknown(error) => error,
        };
        self.fail(&cause);
        Box::new(move || undecided(&cause))
    }

    /// Takes nothing more. What is on disk is read back by the next start, so it is left as it is.
    fn fail(&mut self, error: &dyn std::fmt::Display) {
        tracing::error!(%error, journal = %self.place.file().display(), "the journal is closed after a failed commit");
        self.closed = true;
    }

    fn close(mut self) -> Result<(), StoreError> {
        let mut done = if self.closed {
            Err(StoreError::Closed)
        } else {
            self.last_sync()
        };
        self.reads.stop();
        self.checkpoints.stop();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the journal panicked");
            }
        }
        if self.closed || self.checkpoints.failed() {
            let flag = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            if let Err(error) = self.desk.db.set_db_config(flag, true) {
                tracing::warn!(%error, "the journal's log may be moved into its file");
            }
        }
        let closed = self.desk.db.close();
        if let (Ok(()), Err((_, error))) = (&done, closed) {
            let cause: Cause = Arc::new(error);
            done = Err(undecided(&cause));
        }
        drop(self.lock);
        done
    }

    fn last_sync(&mut self) -> Result<(), StoreError> {
        if !self.lazy {
            return Ok(());
        }
        self.desk.sync();
        let started = self.start(true).map_err(Undone::Rolled);
        let synced = started
            .and_then(|()| self.settle())
            .and_then(|()| self.finish(true));
        synced.map_err(|undone| self.judge(undone)())
    }
}
