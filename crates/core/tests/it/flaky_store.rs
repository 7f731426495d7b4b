//! A store in memory whose calls fail as they are told to.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use surefill_core::*;
use tokio::sync::Notify;

use crate::engine::within;
use crate::fake_venue::FakeVenue;

type Fails = Box<dyn Fn(&Change) -> Option<StoreError> + Send>;

/// What is to fail.
#[derive(Default)]
pub(crate) struct Script {
    /// Each is asked of every change until it has failed one.
    pub(crate) applies: Mutex<VecDeque<Fails>>,
    /// So many of the next reads of a row fail.
    pub(crate) order_reads: AtomicU32,
    /// So many of the next reads of stored bytes fail.
    pub(crate) attempt_reads: AtomicU32,
    /// The next entry fails in its commit.
    pub(crate) begin: AtomicBool,
    /// No halt can be lifted.
    pub(crate) lifts: AtomicBool,
    /// No halt can be made durable.
    pub(crate) halts_fail: AtomicBool,
    /// A halt is durable, and its answer waits for this.
    pub(crate) halt_answer: Mutex<Option<Arc<Notify>>>,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

#[derive(Clone, Debug)]
pub(crate) struct FlakyStore {
    pub(crate) inner: MemoryStore,
    pub(crate) script: Arc<Script>,
}

impl FlakyStore {
    pub(crate) fn over(inner: &MemoryStore) -> Self {
        Self {
            inner: inner.clone(),
            script: Arc::default(),
        }
    }

    /// The next change that the test takes fails with what it returns.
    pub(crate) fn fail_apply(
        &self,
        fails: impl Fn(&Change) -> Option<StoreError> + Send + 'static,
    ) {
        let mut applies = self.script.applies.lock().unwrap();
        applies.push_back(Box::new(fails));
    }
}

/// Starts an engine over it; each send is checked against what it holds.
pub(crate) async fn start_over(store: &FlakyStore, venue: &FakeVenue) -> Engine {
    *venue.0.journal.lock().unwrap() = Some(store.inner.clone());
    let cold = Cold::new(store.clone()).venue("v", venue.clone());
    within(cold.recover()).await.expect("recovered").0
}

fn unread() -> StoreError {
    StoreError::Read("scripted".into())
}

fn fails(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| {
        left.checked_sub(1)
    })
    .is_ok()
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Store for FlakyStore {
    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError> {
        if self.script.begin.swap(false, Ordering::AcqRel) {
            return Err(StoreError::Commit("scripted".into()));
        }
        self.inner.begin(begin).await
    }

    async fn apply(
        &self,
        change: Change,
        durability: Durability,
    ) -> Result<OrderRecord, StoreError> {
        {
            let mut applies = self.script.applies.lock().unwrap();
            if let Some(error) = applies.front().and_then(|fails| fails(&change)) {
                applies.pop_front();
                return Err(error);
            }
        }
        self.inner.apply(change, durability).await
    }

    async fn order(&self, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError> {
        if fails(&self.script.order_reads) {
            return Err(unread());
        }
        self.inner.order(id).await
    }

    async fn attempt(&self, id: ClOrdId, no: AttemptNo) -> Result<Option<Attempt>, StoreError> {
        if fails(&self.script.attempt_reads) {
            return Err(unread());
        }
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
        self.inner.reserve(scope, floor, n).await
    }

    async fn bind(&self, alias: &Alias, account: &AccountId) -> Result<(), StoreError> {
        self.inner.bind(alias, account).await
    }

    async fn halt(&self, halt: &Halt) -> Result<(), StoreError> {
        if self.script.halts_fail.load(Ordering::Acquire) {
            return Err(StoreError::Full);
        }
        self.inner.halt(halt).await?;
        let answer = self.script.halt_answer.lock().unwrap().take();
        if let Some(answer) = answer {
            answer.notified().await;
        }
        Ok(())
    }

    async fn lift(
        &self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, StoreError> {
        if self.script.lifts.load(Ordering::Acquire) {
            return Err(StoreError::Full);
        }
        self.inner.lift(lift, who, reason, at).await
    }

    async fn halts(&self) -> Result<Vec<Halt>, StoreError> {
        self.inner.halts().await
    }

    async fn cursor(&self, alias: &Alias) -> Result<Option<VenueTime>, StoreError> {
        self.inner.cursor(alias).await
    }

    async fn set_cursor(&self, alias: &Alias, at: VenueTime) -> Result<(), StoreError> {
        self.inner.set_cursor(alias, at).await
    }

    async fn lease(&self, scope: &str) -> Result<u64, StoreError> {
        self.inner.lease(scope).await
    }

    async fn requests(&self) -> Result<Vec<Requested>, StoreError> {
        self.inner.requests().await
    }

    async fn answer(&self, n: i64, answer: &Answer) -> Result<(), StoreError> {
        self.inner.answer(n, answer).await
    }

    async fn made_at(&self) -> Result<VenueTime, StoreError> {
        self.inner.made_at().await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.inner.close().await
    }
}
