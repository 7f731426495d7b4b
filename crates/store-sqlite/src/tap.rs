//! Where tests get in between a commit and its answer. Not part of what this crate promises.

use std::fmt::Debug;
use std::io;

/// Called by the writer around each commit that writes.
pub trait Tap: Debug + Send + Sync + 'static {
    /// Before the commit. An error stands for a commit that failed before it wrote.
    ///
    /// # Errors
    /// What the commit is to fail with.
    fn before(&self, sync: bool) -> io::Result<()>;

    /// After the commit, before anyone is told: `frames` are in the log by now. An error stands for a sync that failed.
    ///
    /// # Errors
    /// What the commit is to fail with.
    fn after(&self, sync: bool, frames: u64) -> io::Result<()>;
}

/// How a test opens a store.
#[derive(Debug, Default)]
pub struct Options {
    /// Called around each commit.
    pub tap: Option<Box<dyn Tap>>,
    /// The most pages that the file may have, so that it is full.
    pub max_pages: Option<u32>,
    /// Commits wait for no disk at all: the twin of a test that watches them wait.
    pub unsynced: bool,
}
