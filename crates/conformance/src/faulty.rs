//! A store that fails a chosen commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use surefill_core::{Store, StoreError};

use crate::hooked::{Hook, Hooked, StoreCall};

/// Whether the commit that fails is on disk all the same. The caller cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// It is.
    Landed,
    /// It is not.
    Lost,
}

/// Fails the commit of a chosen number, counted from 1, and is closed from then on; reads go on.
pub type Faulty = Hooked<FailsOnce>;

/// The hook of [`Faulty`].
#[derive(Debug)]
pub struct FailsOnce {
    fails: u64,
    landing: Landing,
    commits: AtomicU64,
    closed: AtomicBool,
}

impl Faulty {
    /// Fails commit number `fails` of `inner`; 0 fails none.
    pub fn new(inner: Arc<dyn Store>, fails: u64, landing: Landing) -> Self {
        let hook = FailsOnce {
            fails,
            landing,
            commits: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        };
        Self::over(inner, hook)
    }

    /// How many commits were asked for so far.
    pub fn commits(&self) -> u64 {
        self.hook().commits.load(Ordering::Acquire)
    }
}

impl Hook for FailsOnce {
    async fn around<T: Send>(
        &self,
        call: StoreCall<'_>,
        inner: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        if !call.is_write() {
            return inner.await;
        }
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        let no = self
            .commits
            .fetch_add(1, Ordering::AcqRel)
            .saturating_add(1);
        if no != self.fails {
            return inner.await;
        }
        self.closed.store(true, Ordering::Release);
        if self.landing == Landing::Landed {
            // What became of it is what the caller must not learn.
            drop(inner.await);
        }
        Err(StoreError::Commit("the commit was made to fail".into()))
    }
}
