//! A journal in a folder of its own, and images of what a crash or a power cut leaves of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use surefill_conformance::store::{Lifted, StoreFixture};
use surefill_core::Store;
use surefill_store_sqlite::SqliteStore;
use surefill_store_sqlite::tap::{Options, Tap};
use tempfile::TempDir;

/// The commits since the log was last known to be empty: whether each was synced, and the frames in the log after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commits(Arc<Mutex<Vec<(bool, u64)>>>);

impl Commits {
    pub(crate) fn all(&self) -> Vec<(bool, u64)> {
        self.0.lock().unwrap().clone()
    }

    /// The frames that a power cut leaves when it takes `lose` lazy commits, but none that a sync followed.
    pub(crate) fn left(&self, lose: usize) -> u64 {
        let all = self.all();
        let synced = all
            .iter()
            .rposition(|(sync, _)| *sync)
            .map_or(0, |at| at + 1);
        let keep = all.len().saturating_sub(lose).max(synced);
        keep.checked_sub(1).map_or(0, |at| all[at].1)
    }
}

impl Tap for Commits {
    fn before(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn after(&self, sync: bool, frames: u64) -> io::Result<()> {
        self.0.lock().unwrap().push((sync, frames));
        Ok(())
    }
}

pub(crate) struct SqliteFixture {
    pub(crate) dir: TempDir,
    pub(crate) commits: Commits,
    pub(crate) store: SqliteStore,
}

pub(crate) fn file(dir: &TempDir) -> PathBuf {
    dir.path().join("orders.db")
}

pub(crate) fn wal(db: &Path) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Opens a journal whose commits are noted.
pub(crate) fn open(path: &Path) -> (SqliteStore, Commits) {
    let commits = Commits::default();
    let options = Options {
        tap: Some(Box::new(commits.clone())),
        ..Options::default()
    };
    (SqliteStore::open_with(path, options).unwrap(), commits)
}

/// The length of a log of so many frames: its header, then a header and a page each.
pub(crate) const fn log_bytes(frames: u64) -> u64 {
    if frames == 0 {
        0
    } else {
        32 + frames * (24 + 2_048)
    }
}

/// Copies the file and as much of its log as `keep` says, as a dead machine leaves them. No write may be under way.
pub(crate) fn image(from: &TempDir, keep: Option<u64>) -> TempDir {
    let to = TempDir::new().unwrap();
    let (source, target) = (file(from), file(&to));
    fs::copy(&source, &target).unwrap();
    if wal(&source).exists() {
        fs::copy(wal(&source), wal(&target)).unwrap();
        if let Some(frames) = keep {
            let log = fs::OpenOptions::new()
                .write(true)
                .open(wal(&target))
                .unwrap();
            let there = log.metadata().unwrap().len();
            log.set_len(log_bytes(frames).min(there)).unwrap();
        }
    }
    to
}

impl SqliteFixture {
    fn over(dir: TempDir) -> Self {
        let (store, commits) = open(&file(&dir));
        Self {
            dir,
            commits,
            store,
        }
    }
}

#[async_trait]
impl StoreFixture for SqliteFixture {
    async fn fresh() -> Self {
        Self::over(TempDir::new().unwrap())
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone().into()
    }

    async fn lifted(&self) -> Vec<Lifted> {
        let lifted = self.store.lifted().await.unwrap();
        let parts = lifted.into_iter().map(|l| (l.halt, l.who, l.reason, l.at));
        parts.collect()
    }

    async fn reopen(self) -> Self {
        self.store.close().await.unwrap();
        Self::over(self.dir)
    }

    async fn crash(self) -> Self {
        let next = Self::over(image(&self.dir, None));
        // The log is the same, and nobody has synced it since.
        next.commits.0.lock().unwrap().extend(self.commits.all());
        next
    }

    async fn power_cut(self, lose: usize) -> Self {
        let left = self.commits.left(lose);
        let next = Self::over(image(&self.dir, Some(left)));
        if left > 0 {
            next.commits.0.lock().unwrap().push((true, left));
        }
        next
    }
}
