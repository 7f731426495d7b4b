//! A store around another one that fails a chosen commit.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use surefill_core::{
    AccountId, Alias, Answer, Attempt, AttemptNo, Begin, Begun, Change, ClOrdId, Durability, Fill,
    Halt, Key, Lift, NonceScope, OrderFilter, OrderId, OrderRecord, Requested, Store, StoreError,
    Transition, VenueTime,
};

/// Whether the commit that fails is on disk all the same. The caller cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// It is.
    Landed,
    /// It is not.
    Lost,
}

/// Fails the commit of a chosen number, counted from 1, and is closed from then on; reads go on.
#[derive(Debug)]
pub struct Faulty {
    inner: Arc<dyn Store>,
    fails: u64,
    landing: Landing,
    commits: AtomicU64,
    closed: AtomicBool,
}

impl Faulty {
    /// Fails commit number `fails` of `inner`; 0 fails none.
    pub const fn new(inner: Arc<dyn Store>, fails: u64, landing: Landing) -> Self {
        Self {
            inner,
            fails,
            landing,
            commits: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// How many commits were asked for so far.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    async fn commit<T>(
        &self,
        write: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        let no = self
            .commits
            .fetch_add(1, Ordering::AcqRel)
            .saturating_add(1);
        if no != self.fails {
            return write.await;
        }
        self.closed.store(true, Ordering::Release);
        if self.landing == Landing::Landed {
            // What became of it is what the caller must not learn.
            drop(write.await);
        }
        Err(StoreError::Commit("the commit was made to fail".into()))
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Store for Faulty {
    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError> {
        self.commit(self.inner.begin(begin)).await
    }

    async fn apply(
        &self,
        change: Change,
        durability: Durability,
    ) -> Result<OrderRecord, StoreError> {
        self.commit(self.inner.apply(change, durability)).await
    }

    async fn order(&self, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError> {
        self.inner.order(id).await
    }

    async fn attempt(&self, id: ClOrdId, no: AttemptNo) -> Result<Option<Attempt>, StoreError> {
        self.inner.attempt(id, no).await
    }

    async fn unfinished(&self) -> Result<Vec<OrderRecord>, StoreError> {
        self.inner.unfinished().await
    }

    async fn orders(&self, filter: &OrderFilter) -> Result<Vec<OrderRecord>, StoreError> {
        self.inner.orders(filter).await
    }

    async fn by_key(&self, alias: &Alias, key: &Key) -> Result<Option<ClOrdId>, StoreError> {
        self.inner.by_key(alias, key).await
    }

    async fn by_order_id(
        &self,
        alias: &Alias,
        order_id: &OrderId,
    ) -> Result<Option<ClOrdId>, StoreError> {
        self.inner.by_order_id(alias, order_id).await
    }

    async fn fills(&self, id: ClOrdId) -> Result<Vec<Fill>, StoreError> {
        self.inner.fills(id).await
    }

    async fn history(&self, id: ClOrdId) -> Result<Vec<Transition>, StoreError> {
        self.inner.history(id).await
    }

    async fn reserve(
        &self,
        scope: &NonceScope,
        floor: u64,
        n: u32,
    ) -> Result<Range<u64>, StoreError> {
        self.commit(self.inner.reserve(scope, floor, n)).await
    }

    async fn bind(&self, alias: &Alias, account: &AccountId) -> Result<(), StoreError> {
        self.commit(self.inner.bind(alias, account)).await
    }

    async fn halt(&self, halt: &Halt) -> Result<(), StoreError> {
        self.commit(self.inner.halt(halt)).await
    }

    async fn lift(
        &self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, StoreError> {
        self.commit(self.inner.lift(lift, who, reason, at)).await
    }

    async fn halts(&self) -> Result<Vec<Halt>, StoreError> {
        self.inner.halts().await
    }

    async fn cursor(&self, alias: &Alias) -> Result<Option<VenueTime>, StoreError> {
        self.inner.cursor(alias).await
    }

    async fn set_cursor(&self, alias: &Alias, at: VenueTime) -> Result<(), StoreError> {
        self.commit(self.inner.set_cursor(alias, at)).await
    }

    async fn lease(&self, scope: &str) -> Result<u64, StoreError> {
        self.commit(self.inner.lease(scope)).await
    }

    async fn requests(&self) -> Result<Vec<Requested>, StoreError> {
        self.inner.requests().await
    }

    async fn answer(&self, n: i64, answer: &Answer) -> Result<(), StoreError> {
        self.commit(self.inner.answer(n, answer)).await
    }

    async fn made_at(&self) -> Result<VenueTime, StoreError> {
        self.inner.made_at().await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.inner.close().await
    }
}
