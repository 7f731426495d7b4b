//! An adapter in the hands of a liar, so that the referee has something to find.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use surefill_core::*;
use surefill_hyperliquid::Hyperliquid;

/// What the adapter says that is not so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// A lost answer is a connect that failed.
    LostIsNotSent,
    /// A lost answer is a refusal, and nobody can list what is open.
    LostIsRejected,
    /// A fill has another id each time that it is told.
    FillsAreNew,
    /// There are no fills.
    NoFills,
    /// A cancel that met nothing open has ended the order.
    NotOpenIsCanceled,
}

/// The adapter with its lie.
#[derive(Debug)]
pub(crate) struct Liar<T> {
    inner: T,
    lie: Lie,
    told: Arc<AtomicU64>,
}

impl Liar<Hyperliquid> {
    pub(crate) fn new(inner: Hyperliquid, lie: Lie) -> Self {
        Self {
            inner,
            lie,
            told: Arc::default(),
        }
    }
}

impl Connect for Liar<Hyperliquid> {
    fn nonce_scope(&self) -> Option<NonceScope> {
        self.inner.nonce_scope()
    }

    fn profile(&self) -> VenueProfile {
        self.inner.profile()
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        let Self { inner, lie, told } = *self;
        let inner = Box::new(inner).connect(ctx)?;
        Ok(Arc::new(Liar { inner, lie, told }))
    }
}

fn told(lie: Lie, count: &AtomicU64, fills: &mut Vec<Fill>) {
    match lie {
        Lie::FillsAreNew => {
            for fill in fills {
                let n = count.fetch_add(1, Ordering::Relaxed);
                fill.exec_id = format!("lie-{n}").into();
            }
        }
        Lie::NoFills => fills.clear(),
        Lie::LostIsNotSent | Lie::LostIsRejected | Lie::NotOpenIsCanceled => {}
    }
}

impl<T> Liar<T> {
    fn fills(&self, rows: Vec<(Handle, Fill)>) -> Vec<(Handle, Fill)> {
        let each = rows.into_iter().flat_map(|(handle, fill)| {
            let mut fills = vec![fill];
            told(self.lie, &self.told, &mut fills);
            fills.into_iter().map(move |fill| (handle.clone(), fill))
        });
        each.collect()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Venue for Liar<Arc<dyn Venue>> {
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
        let answer = self.inner.submit(attempt, go).await;
        match (self.lie, &answer) {
            (Lie::LostIsNotSent, Submission::Unknown(_)) => {
                Submission::NotSent(NotSent::Connect("said the liar".into()))
            }
            (Lie::LostIsRejected, Submission::Unknown(_)) => Submission::Rejected(Reject {
                reason: Reason::new("", "said the liar"),
                halts_account: false,
                leaves_bytes: false,
            }),
            _ => answer,
        }
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        let found = self.inner.lookup(order).await;
        let Lookup::Found(mut reports) = found else {
            return found;
        };
        for report in &mut reports {
            told(self.lie, &self.told, &mut report.fills);
        }
        Lookup::Found(reports)
    }

    async fn revoke(&self, attempt: &Journaled<Attempt>) -> Revocation {
        self.inner.revoke(attempt).await
    }

    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome {
        let outcome = self.inner.cancel(order).await;
        match (self.lie, &outcome) {
            (Lie::NotOpenIsCanceled, CancelOutcome::NotOpen) => {
                let key = order.attempts[0].keys[0].clone();
                CancelOutcome::Canceled(ExecReport {
                    status: OrdStatus::Canceled,
                    ..ExecReport::ack(key, order.order_ids[0].clone())
                })
            }
            _ => outcome,
        }
    }

    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome> {
        let mut outcomes = Vec::new();
        for order in orders {
            outcomes.push(self.cancel(order).await);
        }
        outcomes
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
        if self.lie == Lie::LostIsRejected {
            return Err(VenueError::Unsupported("open orders"));
        }
        self.inner.open_orders(symbol).await
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
        let mut list = self.inner.fills_since(symbol, since).await?;
        list.rows = self.fills(list.rows);
        Ok(list)
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        self.inner.positions().await
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        let (lie, count) = (self.lie, Arc::clone(&self.told));
        let events = self.inner.follow().await?;
        let lying = events.flat_map(move |event| {
            let told = match event {
                VenueEvent::Fill(handle, fill) => {
                    let mut fills = vec![fill];
                    told(lie, &count, &mut fills);
                    let each = fills.into_iter();
                    each.map(|fill| VenueEvent::Fill(handle.clone(), fill))
                        .collect()
                }
                other => vec![other],
            };
            futures_util::stream::iter(told)
        });
        Ok(lying.boxed())
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        self.inner.instruments().await
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        self.inner.venue_time().await
    }
}
