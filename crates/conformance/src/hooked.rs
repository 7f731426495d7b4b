//! A store around another one, whose calls pass by a hook: it may fail them, hold them up, or let them be lost.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use surefill_core::{
    AccountId, Alias, Answer, Attempt, AttemptNo, Begin, Begun, Change, ClOrdId, Durability, Fill,
    Halt, Key, Lift, NonceScope, OrderFilter, OrderId, OrderRecord, Requested, Store, StoreError,
    Transition, VenueTime,
};

/// A call of a store, as far as a hook is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreCall<'a> {
    /// [`Store::begin`].
    Begin,
    /// [`Store::apply`], with the change.
    Apply(&'a Change),
    /// [`Store::reserve`].
    Reserve,
    /// [`Store::bind`].
    Bind,
    /// [`Store::halt`].
    Halt,
    /// [`Store::lift`].
    Lift,
    /// [`Store::set_cursor`].
    SetCursor,
    /// [`Store::lease`].
    Lease,
    /// [`Store::answer`].
    Answer,
    /// [`Store::order`].
    Order,
    /// [`Store::attempt`].
    Attempt,
    /// Any other read.
    Read,
    /// [`Store::close`].
    Close,
}

impl StoreCall<'_> {
    /// Whether it commits something.
    pub const fn is_write(self) -> bool {
        match self {
            Self::Begin
            | Self::Apply(_)
            | Self::Reserve
            | Self::Bind
            | Self::Halt
            | Self::Lift
            | Self::SetCursor
            | Self::Lease
            | Self::Answer => true,
            Self::Order | Self::Attempt | Self::Read | Self::Close => false,
        }
    }
}

/// Stands between an engine and its store.
pub trait Hook: Debug + Send + Sync + 'static {
    /// Makes the call, which does nothing before it is awaited, or answers in its stead.
    fn around<T: Send>(
        &self,
        call: StoreCall<'_>,
        inner: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;
}

/// A store whose calls pass by a hook.
#[derive(Debug)]
pub struct Hooked<H> {
    inner: Arc<dyn Store>,
    hook: Arc<H>,
}

impl<H> Hooked<H> {
    /// Puts the hook before a store.
    pub fn over(inner: Arc<dyn Store>, hook: H) -> Self {
        let hook = Arc::new(hook);
        Self { inner, hook }
    }

    /// The hook.
    pub fn hook(&self) -> &H {
        &self.hook
    }
}

impl<H> Clone for Hooked<H> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            hook: Arc::clone(&self.hook),
        }
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<H: Hook> Store for Hooked<H> {
    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError> {
        self.hook
            .around(StoreCall::Begin, self.inner.begin(begin))
            .await
    }

    async fn apply(
        &self,
        change: Change,
        durability: Durability,
    ) -> Result<OrderRecord, StoreError> {
        let told = change.clone();
        self.hook
            .around(
                StoreCall::Apply(&told),
                self.inner.apply(change, durability),
            )
            .await
    }

    async fn order(&self, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError> {
        self.hook
            .around(StoreCall::Order, self.inner.order(id))
            .await
    }

    async fn attempt(&self, id: ClOrdId, no: AttemptNo) -> Result<Option<Attempt>, StoreError> {
        self.hook
            .around(StoreCall::Attempt, self.inner.attempt(id, no))
            .await
    }

    async fn unfinished(&self) -> Result<Vec<OrderRecord>, StoreError> {
        self.hook
            .around(StoreCall::Read, self.inner.unfinished())
            .await
    }

    async fn orders(&self, filter: &OrderFilter) -> Result<Vec<OrderRecord>, StoreError> {
        self.hook
            .around(StoreCall::Read, self.inner.orders(filter))
            .await
    }

    async fn by_key(&self, alias: &Alias, key: &Key) -> Result<Option<ClOrdId>, StoreError> {
        self.hook
            .around(StoreCall::Read, self.inner.by_key(alias, key))
            .await
    }

    async fn by_order_id(
        &self,
        alias: &Alias,
        order_id: &OrderId,
    ) -> Result<Option<ClOrdId>, StoreError> {
        self.hook
            .around(StoreCall::Read, self.inner.by_order_id(alias, order_id))
            .await
    }

    async fn fills(&self, id: ClOrdId) -> Result<Vec<Fill>, StoreError> {
        self.hook
            .around(StoreCall::Read, self.inner.fills(id))
            .await
    }

    async fn history(&self, id: ClOrdId) -> Result<Vec<Transition>, StoreError> {
        self.hook
            .around(StoreCall::Read, self.inner.history(id))
            .await
    }

    async fn reserve(
        &self,
        scope: &NonceScope,
        floor: u64,
        n: u32,
    ) -> Result<Range<u64>, StoreError> {
        self.hook
            .around(StoreCall::Reserve, self.inner.reserve(scope, floor, n))
            .await
    }

    async fn bind(&self, alias: &Alias, account: &AccountId) -> Result<(), StoreError> {
        self.hook
            .around(StoreCall::Bind, self.inner.bind(alias, account))
            .await
    }

    async fn halt(&self, halt: &Halt) -> Result<(), StoreError> {
        self.hook
            .around(StoreCall::Halt, self.inner.halt(halt))
            .await
    }

    async fn lift(
        &self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, StoreError> {
        self.hook
            .around(StoreCall::Lift, self.inner.lift(lift, who, reason, at))
            .await
    }

    async fn halts(&self) -> Result<Vec<Halt>, StoreError> {
        self.hook.around(StoreCall::Read, self.inner.halts()).await
    }

    async fn cursor(&self, alias: &Alias) -> Result<Option<VenueTime>, StoreError> {
        self.hook
            .around(StoreCall::Read, self.inner.cursor(alias))
            .await
    }

    async fn set_cursor(&self, alias: &Alias, at: VenueTime) -> Result<(), StoreError> {
        self.hook
            .around(StoreCall::SetCursor, self.inner.set_cursor(alias, at))
            .await
    }

    async fn lease(&self, scope: &str) -> Result<u64, StoreError> {
        self.hook
            .around(StoreCall::Lease, self.inner.lease(scope))
            .await
    }

    async fn requests(&self) -> Result<Vec<Requested>, StoreError> {
        self.hook
            .around(StoreCall::Read, self.inner.requests())
            .await
    }

    async fn answer(&self, n: i64, answer: &Answer) -> Result<(), StoreError> {
        self.hook
            .around(StoreCall::Answer, self.inner.answer(n, answer))
            .await
    }

    async fn made_at(&self) -> Result<VenueTime, StoreError> {
        self.hook
            .around(StoreCall::Read, self.inner.made_at())
            .await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.hook.around(StoreCall::Close, self.inner.close()).await
    }
}
