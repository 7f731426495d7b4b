//! How the suite gets at a store and does it harm.

use std::sync::Arc;

use async_trait::async_trait;
use surefill_core::{Halt, MemoryStore, Store, VenueTime};

/// A halt that was lifted: the halt, who lifted it, why, and when.
pub type Lifted = (Halt, Box<str>, Box<str>, VenueTime);

/// A store on a place of its own, and what can happen to it. Each step hands out the journal as the next process finds it.
#[async_trait]
pub trait StoreFixture: Sized + Send + Sync + 'static {
    /// An empty journal.
    async fn fresh() -> Self;

    /// The store that is open now.
    fn store(&self) -> Arc<dyn Store>;

    /// The log of lifted halts, oldest first.
    async fn lifted(&self) -> Vec<Lifted>;

    /// Closes it cleanly and opens it again.
    async fn reopen(self) -> Self;

    /// The process ends without a word. Called when no call is under way. What was lazy stays at stake.
    async fn crash(self) -> Self;

    /// The power ends. Takes the newest `lose` lazy commits with it, but none that a sync followed.
    async fn power_cut(self, lose: usize) -> Self;
}

/// [`MemoryStore`] under the suite.
#[derive(Debug)]
pub struct MemoryFixture(MemoryStore);

#[async_trait]
impl StoreFixture for MemoryFixture {
    async fn fresh() -> Self {
        Self(MemoryStore::new(VenueTime::from_ms(1_700_000_000_000)))
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    async fn lifted(&self) -> Vec<Lifted> {
        self.0.lifted()
    }

    async fn reopen(self) -> Self {
        // The next process finds the same journal; the handle that was closed stays closed.
        let closed = self.0.close().await;
        assert!(closed.is_ok(), "{closed:?}");
        Self(self.0.crash())
    }

    async fn crash(self) -> Self {
        Self(self.0.crash())
    }

    async fn power_cut(self, lose: usize) -> Self {
        Self(self.0.power_cut(lose))
    }
}
