//! An adapter that claims or shows something else than the one inside of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use surefill_core::*;

/// What is not as the adapter says.
#[derive(Clone, Debug)]
pub(crate) struct Lie {
    /// After each send lookups and lists show nothing, until one has shown nothing that began so long after the first.
    pub(crate) blind: Duration,
    /// The first lookup of each of the first [`STALLED`] orders takes so long and cannot be read.
    pub(crate) stalled: Duration,
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
        stalled: Duration::ZERO,
        early: Duration::ZERO,
        replayable: false,
        network: None,
        duplicate: None,
        no_market: false,
    };
}

/// More than a probe needs to find a price at which an order rests, and fewer than it measures the lag with besides.
const STALLED: usize = 3;

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
            sight: Mutex::new(Sight::Clear),
            looked: Mutex::default(),
        }))
    }
}

#[derive(Debug)]
struct Lying {
    inner: Arc<dyn Venue>,
    lie: Lie,
    profile: VenueProfile,
    sight: Mutex<Sight>,
    looked: Mutex<BTreeSet<ClOrdId>>,
}

/// What lookups and lists show. It is counted from the first of them and not from the send, and ends only once one has shown nothing past
/// its time: so whoever looks measures at least that time, however late it comes to run.
#[derive(Clone, Copy, Debug)]
enum Sight {
    Clear,
    /// Sent, and nobody has looked.
    Sent,
    /// Blind since then.
    Since(Duration),
}

impl Lying {
    fn stalls(&self, order: &OrderRecord) -> bool {
        let mut looked = self.looked.lock().expect("not poisoned");
        !self.lie.stalled.is_zero() && looked.len() < STALLED && looked.insert(order.id)
    }

    /// Whether what begins now shows anything.
    fn sees(&self) -> bool {
        let mut sight = self.sight.lock().expect("not poisoned");
        let now = BootTime.elapsed();
        let (sees, next) = match *sight {
            _ if self.lie.blind.is_zero() => (true, Sight::Clear),
            Sight::Clear => (true, Sight::Clear),
            Sight::Sent => (false, Sight::Since(now)),
            Sight::Since(first) if now < first + self.lie.blind => (false, Sight::Since(first)),
            Sight::Since(_) => (false, Sight::Clear),
        };
        *sight = next;
        sees
    }

    fn shown<T>(sees: bool, list: Snapshot<T>) -> Snapshot<T> {
        let rows = if sees { list.rows } else { Vec::new() };
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
        *self.sight.lock().expect("not poisoned") = Sight::Sent;
        answer
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        if self.stalls(order) {
            tokio::time::sleep(self.lie.stalled).await;
            return Lookup::Inconclusive(UnknownCause::new("it took too long"));
        }
        if self.sees() {
            return self.inner.lookup(order).await;
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
        let sees = self.sees();
        Ok(Self::shown(sees, self.inner.open_orders(symbol).await?))
    }

    async fn closed_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        let sees = self.sees();
        Ok(Self::shown(
            sees,
            self.inner.closed_since(symbol, since).await?,
        ))
    }

    async fn fills_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        let sees = self.sees();
        Ok(Self::shown(
            sees,
            self.inner.fills_since(symbol, since).await?,
        ))
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
