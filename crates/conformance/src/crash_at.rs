//! A store and a venue that stop the world around a chosen call, as the death of the process does.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use surefill_core::{
    AccountId, Amend, AmendOutcome, Attempt, CancelAllOutcome, CancelOutcome, ClOrdId, Connect,
    ExecReport, Facts, Fill, Go, Handle, Instrument, Journaled, Key, Lookup, NonceScope,
    OrderIntent, OrderRecord, Position, PrepareError, Revocation, Snapshot, StoreError, Submission,
    Symbol, Ticket, Venue, VenueCtx, VenueError, VenueEvent, VenueProfile, VenueTime,
};
use tokio::sync::watch;

use crate::hooked::{Hook, StoreCall};

/// The calls around which a process can die: every write to the journal, and every send. A read of the journal changes nothing that
/// the next process could see, so that a death there is a death before the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// [`surefill_core::Store::lease`].
    Lease,
    /// [`surefill_core::Store::bind`].
    Bind,
    /// [`surefill_core::Store::begin`].
    Begin,
    /// [`surefill_core::Store::apply`].
    Apply,
    /// [`surefill_core::Store::reserve`].
    Reserve,
    /// [`surefill_core::Store::halt`].
    Halt,
    /// [`surefill_core::Store::lift`].
    Lift,
    /// [`surefill_core::Store::set_cursor`].
    SetCursor,
    /// [`Venue::venue_time`].
    VenueTime,
    /// [`Venue::account`].
    Account,
    /// [`Venue::facts`].
    Facts,
    /// [`Venue::submit`].
    Submit,
    /// [`Venue::lookup`].
    Lookup,
    /// [`Venue::revoke`].
    Revoke,
    /// [`Venue::cancel`].
    Cancel,
    /// [`Venue::open_orders`].
    OpenOrders,
    /// [`Venue::closed_since`].
    ClosedSince,
    /// [`Venue::fills_since`].
    FillsSince,
    /// [`Venue::follow`].
    Follow,
}

impl Call {
    /// Every call.
    pub const ALL: [Self; 19] = [
        Self::Lease,
        Self::Bind,
        Self::Begin,
        Self::Apply,
        Self::Reserve,
        Self::Halt,
        Self::Lift,
        Self::SetCursor,
        Self::VenueTime,
        Self::Account,
        Self::Facts,
        Self::Submit,
        Self::Lookup,
        Self::Revoke,
        Self::Cancel,
        Self::OpenOrders,
        Self::ClosedSince,
        Self::FillsSince,
        Self::Follow,
    ];
}

/// Before the call has done anything, or after it has and before anyone is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// Nothing of it has happened.
    Before,
    /// All of it has happened.
    After,
}

/// Where the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashPoint {
    /// Around which call.
    pub call: Call,
    /// On which side of it.
    pub edge: Edge,
    /// The how-many-th of its kind, from 1.
    pub nth: u32,
}

/// What store and venue of one process share: they stop together, and nothing goes on after that.
#[derive(Clone, Debug)]
pub struct World(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    point: Option<CrashPoint>,
    made: Mutex<Vec<Call>>,
    met: AtomicU32,
    stopped: watch::Sender<bool>,
}

impl World {
    /// A world that ends at this point.
    pub fn until(point: CrashPoint) -> Self {
        Self::with(Some(point))
    }

    /// A world that goes on, until it is stopped.
    pub fn endless() -> Self {
        Self::with(None)
    }

    fn with(point: Option<CrashPoint>) -> Self {
        Self(Arc::new(Inner {
            point,
            made: Mutex::default(),
            met: AtomicU32::new(0),
            stopped: watch::Sender::new(false),
        }))
    }

    /// Stops it now: no call begins or returns any more.
    pub fn stop(&self) {
        self.0.stopped.send_replace(true);
    }

    /// Waits until it has stopped.
    pub async fn stopped(&self) {
        let mut stopped = self.0.stopped.subscribe();
        // The sender lives as long as this world.
        drop(stopped.wait_for(|stopped| *stopped).await);
    }

    /// How many calls of a kind have begun.
    pub fn count(&self, call: Call) -> usize {
        let made = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().filter(|made| **made == call).count()
    }

    async fn meet<T>(&self, call: Call, work: impl Future<Output = T> + Send) -> T {
        let meets = self.0.point.is_some_and(|point| point.call == call);
        let nth = if meets {
            self.0.met.fetch_add(1, Ordering::AcqRel).saturating_add(1)
        } else {
            0
        };
        let due = |edge| {
            self.0
                .point
                .is_some_and(|point| meets && point.nth == nth && point.edge == edge)
        };
        if due(Edge::Before) {
            self.stop();
        }
        self.alive().await;
        self.0
            .made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(call);
        let done = self.unless_stopped(work).await;
        if due(Edge::After) {
            self.stop();
        }
        self.alive().await;
        done
    }

    /// Returns only while the world goes on.
    async fn alive(&self) {
        if *self.0.stopped.borrow() {
            std::future::pending::<()>().await;
        }
    }

    async fn unless_stopped<T>(&self, work: impl Future<Output = T> + Send) -> T {
        tokio::select! {
            biased;
            () = self.stopped() => std::future::pending().await,
            done = work => done,
        }
    }
}

/// A venue in a [`World`] that stops; a store in it is a [`Hooked`] one.
///
/// [`Hooked`]: crate::Hooked
#[derive(Debug)]
pub struct CrashAt<T> {
    inner: T,
    world: World,
}

impl<T> CrashAt<T> {
    /// Puts it into a world.
    pub const fn new(inner: T, world: World) -> Self {
        Self { inner, world }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Connect for CrashAt<Box<dyn Connect>> {
    fn nonce_scope(&self) -> Option<NonceScope> {
        self.inner.nonce_scope()
    }

    fn profile(&self) -> VenueProfile {
        self.inner.profile()
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        let inner = self.inner.connect(ctx)?;
        Ok(Arc::new(CrashAt::new(inner, self.world)))
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Venue for CrashAt<Arc<dyn Venue>> {
    fn profile(&self) -> &VenueProfile {
        self.inner.profile()
    }

    async fn account(&self) -> Result<AccountId, VenueError> {
        self.world.meet(Call::Account, self.inner.account()).await
    }

    fn spelled_id(&self, key: &Key) -> Option<ClOrdId> {
        self.inner.spelled_id(key)
    }

    async fn facts(&self, intent: &OrderIntent) -> Result<Facts, VenueError> {
        self.world.meet(Call::Facts, self.inner.facts(intent)).await
    }

    fn prepare(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        ticket: &Ticket,
    ) -> Result<Attempt, PrepareError> {
        self.inner.prepare(id, intent, ticket)
    }

    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission {
        self.world
            .meet(Call::Submit, self.inner.submit(attempt, go))
            .await
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        self.world
            .meet(Call::Lookup, self.inner.lookup(order))
            .await
    }

    async fn revoke(&self, attempt: &Journaled<Attempt>) -> Revocation {
        self.world
            .meet(Call::Revoke, self.inner.revoke(attempt))
            .await
    }

    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome {
        self.world
            .meet(Call::Cancel, self.inner.cancel(order))
            .await
    }

    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome> {
        self.world
            .meet(Call::Cancel, self.inner.cancel_batch(orders))
            .await
    }

    async fn cancel_all(&self, symbol: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        self.world
            .meet(Call::Cancel, self.inner.cancel_all(symbol))
            .await
    }

    async fn amend(&self, request: &Journaled<Amend>, go: &Go) -> AmendOutcome {
        self.world
            .meet(Call::Submit, self.inner.amend(request, go))
            .await
    }

    async fn open_orders(
        &self,
        symbol: Option<&Symbol>,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        self.world
            .meet(Call::OpenOrders, self.inner.open_orders(symbol))
            .await
    }

    async fn closed_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        self.world
            .meet(Call::ClosedSince, self.inner.closed_since(symbol, since))
            .await
    }

    async fn fills_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        self.world
            .meet(Call::FillsSince, self.inner.fills_since(symbol, since))
            .await
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        self.world.unless_stopped(self.inner.positions()).await
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        self.world.meet(Call::Follow, self.inner.follow()).await
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        self.world.unless_stopped(self.inner.instruments()).await
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        self.world
            .meet(Call::VenueTime, self.inner.venue_time())
            .await
    }
}

impl Hook for World {
    async fn around<T: Send>(
        &self,
        call: StoreCall<'_>,
        inner: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let call = match call {
            StoreCall::Begin => Call::Begin,
            // An answer is a write like any other; the suite asks nothing by the inbox.
            StoreCall::Apply(_) | StoreCall::Answer => Call::Apply,
            StoreCall::Reserve => Call::Reserve,
            StoreCall::Bind => Call::Bind,
            StoreCall::Halt => Call::Halt,
            StoreCall::Lift => Call::Lift,
            StoreCall::SetCursor => Call::SetCursor,
            StoreCall::Lease => Call::Lease,
            StoreCall::Order | StoreCall::Attempt | StoreCall::Read | StoreCall::Close => {
                return self.unless_stopped(inner).await;
            }
        };
        self.meet(call, inner).await
    }
}
