//! An adapter that claims or shows something else than the one inside of it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use surefill_core::*;

/// What is not as the adapter says.
#[derive(Clone, Debug)]
pub(crate) struct Lie {
    /// Lookups and lists show nothing for so long after a send.
    pub(crate) blind: Duration,
    /// Fences are claimed to be so much earlier.
    pub(crate) early: Duration,
    /// Bytes are claimed to be remembered.
    pub(crate) replayable: bool,
    /// The network in the account's name.
    pub(crate) network: Option<&'static str>,
    /// What is claimed about ids.
    pub(crate) duplicate: Option<DuplicateRule>,
    /// The adapter has no market orders.
    pub(crate) no_market: bool,
}

impl Lie {
    pub(crate) const NONE: Self = Self {
        blind: Duration::ZERO,
        early: Duration::ZERO,
        replayable: false,
        network: None,
        duplicate: None,
        no_market: false,
    };
}

#[derive(Debug)]
pub(crate) struct Liar<C> {
    pub(crate) inner: C,
    pub(crate) lie: Lie,
}

impl<C: Connect> Connect for Liar<C> {
    fn nonce_scope(&self) -> Option<NonceScope> {
        self.inner.nonce_scope()
    }

    fn profile(&self) -> VenueProfile {
        let mut profile = self.inner.profile();
        profile.duplicate = self.lie.duplicate.unwrap_or(profile.duplicate);
        profile
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        let profile = self.profile();
        Ok(Arc::new(Lying {
            inner: Box::new(self.inner).connect(ctx)?,
            lie: self.lie,
            profile,
            sent: std::sync::Mutex::new(None),
        }))
    }
}

#[derive(Debug)]
struct Lying {
    inner: Arc<dyn Venue>,
    lie: Lie,
    profile: VenueProfile,
    sent: std::sync::Mutex<Option<Duration>>,
}

impl Lying {
    fn sees(&self) -> bool {
        let sent = *self.sent.lock().expect("not poisoned");
        sent.is_none_or(|sent| BootTime.elapsed() >= sent + self.lie.blind)
    }

    fn shown<T>(&self, list: Snapshot<T>) -> Snapshot<T> {
        let rows = if self.sees() { list.rows } else { Vec::new() };
        Snapshot { rows, ..list }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Venue for Lying {
    fn profile(&self) -> &VenueProfile {
        &self.profile
    }

    async fn account(&self) -> Result<AccountId, VenueError> {
        let account = self.inner.account().await?;
        Ok(match self.lie.network {
            Some(network) => AccountId::new("bybit", network, "1"),
            None => account,
        })
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
        if self.lie.no_market && intent.ord_type == OrdType::Market {
            let what = "a market order".into();
            return Err(PrepareError::Unsupported { what });
        }
        let mut attempt = self.inner.prepare(id, intent, ticket)?;
        attempt.replayable |= self.lie.replayable;
        if let Fence::Clock(fence) = attempt.fence {
            attempt.fence = Fence::Clock(fence.before(self.lie.early));
        }
        Ok(attempt)
    }

    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission {
        let answer = self.inner.submit(attempt, go).await;
        *self.sent.lock().expect("not poisoned") = Some(BootTime.elapsed());
        answer
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        let found = self.inner.lookup(order).await;
        if self.sees() {
            return found;
        }
        let at = AsOf::Clock(VenueTime::from_ms(1));
        Lookup::Absent {
            begun: at,
            ended: at,
        }
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
        Ok(self.shown(self.inner.open_orders(symbol).await?))
    }

    async fn closed_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        Ok(self.shown(self.inner.closed_since(symbol, since).await?))
    }

    async fn fills_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        Ok(self.shown(self.inner.fills_since(symbol, since).await?))
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        self.inner.positions().await
    }

    async fn follow(
        &self,
    ) -> Result<futures_core::stream::BoxStream<'static, VenueEvent>, VenueError> {
        self.inner.follow().await
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        self.inner.instruments().await
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        self.inner.venue_time().await
    }
}
