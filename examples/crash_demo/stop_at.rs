//! A venue that stops the world at a moment: it wraps the adapter, and changes nothing but when the process dies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use surefill_core::{
    AccountId, Amend, AmendOutcome, Attempt, CancelAllOutcome, CancelOutcome, ClOrdId, Connect,
    ExecReport, Facts, Fill, Go, Handle, Instrument, Journaled, Key, Lookup, NonceScope,
    OrderIntent, OrderRecord, Position, PrepareError, Revocation, Snapshot, Submission, Symbol,
    Ticket, Venue, VenueCtx, VenueError, VenueEvent, VenueProfile, VenueTime,
};

use crate::control::Control;
use crate::death::{once_acted, unread};
use crate::moment::{Moment, wait_to_be_killed};

/// Wraps a venue's configuration.
#[derive(Debug)]
pub(crate) struct StopAt {
    pub(crate) inner: Box<dyn Connect>,
    pub(crate) moment: Option<Moment>,
    pub(crate) control: Control,
}

impl Connect for StopAt {
    fn nonce_scope(&self) -> Option<NonceScope> {
        self.inner.nonce_scope()
    }

    fn profile(&self) -> VenueProfile {
        self.inner.profile()
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        let Self {
            inner,
            moment,
            control,
        } = *self;
        let inner = inner.connect(ctx)?;
        Ok(Arc::new(Stopping {
            inner,
            moment,
            control,
            over: AtomicBool::new(false),
        }))
    }
}

#[derive(Debug)]
struct Stopping {
    inner: Arc<dyn Venue>,
    moment: Option<Moment>,
    control: Control,
    over: AtomicBool,
}

impl Stopping {
    /// Whether the moment is due here; each comes once.
    fn due(&self, moment: Moment) -> bool {
        self.moment == Some(moment) && !self.over.swap(true, Ordering::AcqRel)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Venue for Stopping {
    fn profile(&self) -> &VenueProfile {
        self.inner.profile()
    }

    async fn account(&self) -> Result<AccountId, VenueError> {
        self.inner.account().await
    }

    fn spelled_id(&self, key: &Key) -> Option<ClOrdId> {
        self.inner.spelled_id(key)
    }

    async fn facts(&self, intent: &OrderIntent) -> Result<Facts, VenueError> {
        self.inner.facts(intent).await
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
        if self.due(Moment::Journaled) {
            wait_to_be_killed(Moment::Journaled);
        }
        if self.due(Moment::Acted) {
            return once_acted(&self.control, Moment::Acted, self.inner.submit(attempt, go)).await;
        }
        if self.due(Moment::Unread) {
            return unread(&self.control, self.inner.submit(attempt, go)).await;
        }
        self.inner.submit(attempt, go).await
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        if self.due(Moment::Recovery) {
            wait_to_be_killed(Moment::Recovery);
        }
        self.inner.lookup(order).await
    }

    async fn revoke(&self, attempt: &Journaled<Attempt>) -> Revocation {
        self.inner.revoke(attempt).await
    }

    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome {
        self.inner.cancel(order).await
    }

    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome> {
        self.inner.cancel_batch(orders).await
    }

    async fn cancel_all(&self, symbol: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        self.inner.cancel_all(symbol).await
    }

    async fn amend(&self, request: &Journaled<Amend>, go: &Go) -> AmendOutcome {
        self.inner.amend(request, go).await
    }

    async fn open_orders(
        &self,
        symbol: Option<&Symbol>,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        // The first read of recovery: the lists are half read when the process dies.
        let open = self.inner.open_orders(symbol).await;
        if self.due(Moment::Recovery) {
            wait_to_be_killed(Moment::Recovery);
        }
        open
    }

    async fn closed_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        self.inner.closed_since(symbol, since).await
    }

    async fn fills_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        self.inner.fills_since(symbol, since).await
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        self.inner.positions().await
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        self.inner.follow().await
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        self.inner.instruments().await
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        self.inner.venue_time().await
    }
}
