//! The store: each call is a job of the writer or a read.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use surefill_core::{
    AccountId, Alias, Answer, Attempt, AttemptNo, Begin, Begun, Change, ClOrdId, Durability, Fill,
    Halt, Key, Lift, NonceScope, OrderFilter, OrderId, OrderRecord, Requested, Store, StoreError,
    Transition, VenueTime,
};
use tokio::sync::oneshot;

use crate::desk::Desk;
use crate::error::Fault;
use crate::inbox;
use crate::jobs::Ask;
use crate::open::{self, Opened};
use crate::read::{self, Lifted};
use crate::schema;
use crate::tap::Options;
use crate::writer::Order;

/// A journal in one SQLite file, held by this process alone. Clones share it.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared(Opened);

impl Drop for Shared {
    fn drop(&mut self) {
        // Ends the threads once what was asked for is done. A store that was closed has ended them.
        drop(self.0.orders.send(Order::Close(None)));
    }
}

impl SqliteStore {
    /// Opens the journal at `path`, or makes it. Blocks for the time of a few reads.
    ///
    /// # Errors
    /// [`StoreError::Held`] by another process, [`StoreError::NotWritable`] where no journal can be, [`StoreError::Newer`],
    /// [`StoreError::Damaged`], [`StoreError::Full`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, Options::default())
    }

    #[doc(hidden)]
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self, StoreError> {
        let shared = Arc::new(Shared(open::open(path.as_ref(), options)?));
        Ok(Self { shared })
    }

    /// How many commits waited for the disk since it was opened. Checkpoints sync besides, and seldom.
    pub fn syncs(&self) -> u64 {
        self.shared.0.counts.syncs.load(Ordering::Relaxed)
    }

    /// How many commits wrote something since it was opened.
    pub fn commits(&self) -> u64 {
        self.shared.0.counts.commits.load(Ordering::Relaxed)
    }

    /// The halts that were lifted, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub async fn lifted(&self) -> Result<Vec<Lifted>, StoreError> {
        self.read(read::lifted).await
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&rusqlite::Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.shared.0.reads.read(read).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        sync: bool,
        work: impl FnMut(&mut Desk) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Order::Job(Box::new(Ask::new(sync, work, reply))))?;
        let answer = answer.await;
        answer.unwrap_or_else(|lost| {
            // A writer that ended in order has answered all that it had begun.
            if self.shared.0.counts.ended.load(Ordering::Acquire) {
                return Err(StoreError::Closed);
            }
            // It is gone otherwise: what it had begun may be on disk.
            Err(StoreError::Commit(lost.into()))
        })
    }

    fn send(&self, order: Order) -> Result<(), StoreError> {
        let sent = self.shared.0.orders.send(order);
        sent.map_err(|_| StoreError::Closed)
    }
}

impl From<SqliteStore> for Arc<dyn Store> {
    fn from(store: SqliteStore) -> Self {
        Arc::new(store)
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError> {
        self.ask(true, move |desk| desk.begin(&begin)).await
    }

    async fn apply(
        &self,
        change: Change,
        durability: Durability,
    ) -> Result<OrderRecord, StoreError> {
        let sync = durability == Durability::Sync;
        self.ask(sync, move |desk| desk.apply(&change)).await
    }

    async fn order(&self, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError> {
        self.read(move |db| read::order(db, id)).await
    }

    async fn attempt(&self, id: ClOrdId, no: AttemptNo) -> Result<Option<Attempt>, StoreError> {
        self.read(move |db| read::attempt(db, id, no)).await
    }

    async fn unfinished(&self) -> Result<Vec<OrderRecord>, StoreError> {
        self.read(read::unfinished).await
    }

    async fn orders(&self, filter: &OrderFilter) -> Result<Vec<OrderRecord>, StoreError> {
        let filter = filter.clone();
        self.read(move |db| read::orders(db, &filter)).await
    }

    async fn by_key(&self, alias: &Alias, key: &Key) -> Result<Option<ClOrdId>, StoreError> {
        let (alias, key) = (alias.clone(), key.clone());
        self.read(move |db| read::by_key(db, &alias, &key)).await
    }

    async fn by_order_id(
        &self,
        alias: &Alias,
        order_id: &OrderId,
    ) -> Result<Option<ClOrdId>, StoreError> {
        let (alias, order_id) = (alias.clone(), order_id.clone());
        self.read(move |db| read::by_order_id(db, &alias, &order_id))
            .await
    }

    async fn fills(&self, id: ClOrdId) -> Result<Vec<Fill>, StoreError> {
        self.read(move |db| read::fills(db, id)).await
    }

    async fn history(&self, id: ClOrdId) -> Result<Vec<Transition>, StoreError> {
        self.read(move |db| read::history(db, id)).await
    }

    async fn reserve(
        &self,
        scope: &NonceScope,
        floor: u64,
        n: u32,
    ) -> Result<Range<u64>, StoreError> {
        let scope = scope.clone();
        self.ask(true, move |desk| desk.reserve(&scope, floor, n))
            .await
    }

    async fn bind(&self, alias: &Alias, account: &AccountId) -> Result<(), StoreError> {
        let (alias, account) = (alias.clone(), account.clone());
        self.ask(true, move |desk| desk.bind(&alias, &account))
            .await
    }

    async fn halt(&self, halt: &Halt) -> Result<(), StoreError> {
        let halt = halt.clone();
        self.ask(true, move |desk| desk.declare(&halt)).await
    }

    async fn lift(
        &self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, StoreError> {
        let (lift, who, reason) = (lift.clone(), who.to_owned(), reason.to_owned());
        self.ask(true, move |desk| desk.lift(&lift, &who, &reason, at))
            .await
    }

    async fn halts(&self) -> Result<Vec<Halt>, StoreError> {
        self.read(read::halts).await
    }

    async fn cursor(&self, alias: &Alias) -> Result<Option<VenueTime>, StoreError> {
        let alias = alias.clone();
        self.read(move |db| read::cursor(db, &alias)).await
    }

    async fn set_cursor(&self, alias: &Alias, at: VenueTime) -> Result<(), StoreError> {
        let alias = alias.clone();
        self.ask(false, move |desk| desk.set_cursor(&alias, at))
            .await
    }

    async fn lease(&self, scope: &str) -> Result<u64, StoreError> {
        let scope = scope.to_owned();
        self.ask(true, move |desk| desk.lease(&scope)).await
    }

    async fn requests(&self) -> Result<Vec<Requested>, StoreError> {
        self.read(inbox::waiting).await
    }

    async fn answer(&self, n: i64, answer: &Answer) -> Result<(), StoreError> {
        let answer = answer.clone();
        self.ask(true, move |desk| desk.answer(n, &answer)).await
    }

    async fn made_at(&self) -> Result<VenueTime, StoreError> {
        self.read(schema::made_at).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Order::Close(Some(reply)))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}
