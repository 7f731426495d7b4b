//! The memory store as one life of the process sees it: before and after each write it may die.

use std::ops::Range;

use async_trait::async_trait;
use surefill_core::{
    AccountId, Alias, Answer, Attempt, AttemptNo, Begin, Begun, Change, ClOrdId, Durability, Fill,
    Halt, Key, Lift, MemoryStore, NonceScope, OrderFilter, OrderId, OrderRecord, Requested, Store,
    StoreError, Transition, VenueTime,
};

use super::camp::Lie;
use super::host::Shared;
use super::world::now;

/// One life's handle.
#[derive(Debug)]
pub(super) struct LifeStore {
    inner: MemoryStore,
    world: Shared,
    life: u64,
}

impl LifeStore {
    pub(super) const fn new(inner: MemoryStore, world: Shared, life: u64) -> Self {
        Self { inner, world, life }
    }

    /// One more moment at which it may die; a process that died does nothing any more.
    async fn tick(&self) {
        let goes_on = self.world.lock().tick(self.life);
        if !goes_on {
            std::future::pending::<()>().await;
        }
    }

    async fn alive(&self) {
        let lives = self.world.lock().lives(self.life);
        if !lives {
            std::future::pending::<()>().await;
        }
    }

    async fn write<T>(&self, call: impl Future<Output = T> + Send) -> T {
        self.tick().await;
        let done = call.await;
        self.tick().await;
        done
    }

    async fn read<T>(&self, call: impl Future<Output = T> + Send) -> T {
        self.alive().await;
        call.await
    }

    /// A lying store writes an intent with the next touch of its order.
    fn keep(&self, id: ClOrdId) {
        let unkept = {
            let mut world = self.world.lock();
            let at = world.unkept.iter().position(|begin| begin.order.id == id);
            at.map(|at| world.unkept.remove(at))
        };
        if let Some(begin) = unkept {
            now(self.inner.begin(begin)).expect("memory");
        }
    }
}

#[async_trait]
impl Store for LifeStore {
    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError> {
        let lies = self.world.lock().lie == Some(Lie::BeginNotKept);
        if lies && now(self.inner.order(begin.order.id))?.is_none() {
            self.tick().await;
            let order = begin.order.clone();
            self.world.lock().unkept.push(begin);
            return Ok(Begun::Inserted(order));
        }
        self.write(self.inner.begin(begin)).await
    }

    async fn apply(
        &self,
        change: Change,
        durability: Durability,
    ) -> Result<OrderRecord, StoreError> {
        self.keep(change.id);
        let (id, cause) = (change.id, change.cause);
        let row = self.write(self.inner.apply(change, durability)).await;
        if let Ok(row) = &row {
            let (state, cum) = (row.state, row.cum_qty);
            self.world
                .lock()
                .note(format_args!("{id} {state} {cum}: {}", cause.as_str()));
        }
        row
    }

    async fn order(&self, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError> {
        self.read(self.inner.order(id)).await
    }

    async fn attempt(&self, id: ClOrdId, no: AttemptNo) -> Result<Option<Attempt>, StoreError> {
        self.keep(id);
        self.read(self.inner.attempt(id, no)).await
    }

    async fn unfinished(&self) -> Result<Vec<OrderRecord>, StoreError> {
        self.read(self.inner.unfinished()).await
    }

    async fn orders(&self, filter: &OrderFilter) -> Result<Vec<OrderRecord>, StoreError> {
        self.read(self.inner.orders(filter)).await
    }

    async fn by_key(&self, alias: &Alias, key: &Key) -> Result<Option<ClOrdId>, StoreError> {
        self.read(self.inner.by_key(alias, key)).await
    }

    async fn by_order_id(
        &self,
        alias: &Alias,
        order_id: &OrderId,
    ) -> Result<Option<ClOrdId>, StoreError> {
        self.read(self.inner.by_order_id(alias, order_id)).await
    }

    async fn fills(&self, id: ClOrdId) -> Result<Vec<Fill>, StoreError> {
        self.read(self.inner.fills(id)).await
    }

    async fn history(&self, id: ClOrdId) -> Result<Vec<Transition>, StoreError> {
        self.read(self.inner.history(id)).await
    }

    async fn reserve(
        &self,
        scope: &NonceScope,
        floor: u64,
        n: u32,
    ) -> Result<Range<u64>, StoreError> {
        self.write(self.inner.reserve(scope, floor, n)).await
    }

    async fn bind(&self, alias: &Alias, account: &AccountId) -> Result<(), StoreError> {
        self.write(self.inner.bind(alias, account)).await
    }

    async fn halt(&self, halt: &Halt) -> Result<(), StoreError> {
        let done = self.write(self.inner.halt(halt)).await;
        self.world.lock().note(format_args!("halt: {}", halt.text));
        done
    }

    async fn lift(
        &self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, StoreError> {
        self.write(self.inner.lift(lift, who, reason, at)).await
    }

    async fn halts(&self) -> Result<Vec<Halt>, StoreError> {
        self.read(self.inner.halts()).await
    }

    async fn cursor(&self, alias: &Alias) -> Result<Option<VenueTime>, StoreError> {
        self.read(self.inner.cursor(alias)).await
    }

    async fn set_cursor(&self, alias: &Alias, at: VenueTime) -> Result<(), StoreError> {
        self.read(self.inner.set_cursor(alias, at)).await
    }

    async fn lease(&self, scope: &str) -> Result<u64, StoreError> {
        self.write(self.inner.lease(scope)).await
    }

    async fn requests(&self) -> Result<Vec<Requested>, StoreError> {
        self.read(self.inner.requests()).await
    }

    async fn answer(&self, n: i64, answer: &Answer) -> Result<(), StoreError> {
        self.write(self.inner.answer(n, answer)).await
    }

    async fn made_at(&self) -> Result<VenueTime, StoreError> {
        self.read(self.inner.made_at()).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.read(self.inner.close()).await
    }
}
