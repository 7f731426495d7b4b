//! The engine: recovers, places, cancels, follows, halts.

mod alert;
mod amend;
mod cancels;
mod cold;
mod desk;
mod driver;
mod error;
mod event;
mod follow;
mod limits;
mod order;
mod place;
mod recovery;
mod requests;
mod shared;
mod sweep;
mod together;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

pub use alert::{Alert, Alerts, LogAlerts};
pub use cold::Cold;
pub use error::{AmendError, CancelError, LimitError, PlaceError, RecoverError};
pub use event::{Event, Events};
pub use limits::Limits;
pub use order::{Order, Placement};
pub use recovery::{RecoveryReport, VenueRecovery};

use crate::{
    Alias, AmendOutcome, ClOrdId, Decision, Fill, Halt, HaltCause, Lift, OrderFilter, OrderIntent,
    OrderRecord, Px, Qty, Scope, StoreError, Strategy, Transition, UnknownCause, VenueTime,
};
use shared::{Phase, Shared};

/// An engine whose journal has been looked at: it may place.
///
/// Clones share one engine. When the last one is dropped its tasks let go of their orders; [`Engine::shutdown`] does so in order.
#[derive(Clone, Debug)]
pub struct Engine {
    shared: Arc<Shared>,
    _last: Arc<LastOne>,
}

/// Lets the engine's tasks end when no handle is left.
#[derive(Debug)]
struct LastOne(Arc<Shared>);

impl Drop for LastOne {
    fn drop(&mut self) {
        self.0.phase.send_replace(Phase::Stopping);
    }
}

impl Engine {
    fn new(shared: Arc<Shared>) -> Self {
        let last = Arc::new(LastOne(Arc::clone(&shared)));
        Self {
            shared,
            _last: last,
        }
    }

    /// Places an intent, exactly once. Returns when the first send is answered, or proven to be unanswered.
    ///
    /// A decision that the journal holds returns its order, also when its symbol is halted now.
    ///
    /// # Errors
    /// [`PlaceError`]: nothing was sent, except for [`PlaceError::Undecided`], where the same decision must be asked again.
    ///
    /// # Cancel safety
    /// Dropping the future cancels nothing: the order goes on. Place the same decision again to get hold of it.
    pub async fn place(&self, intent: OrderIntent) -> Result<Placement, PlaceError> {
        self.place_in_a_task(intent, None).await
    }

    /// Places an intent in spite of halts and doubt, on somebody's responsibility, for an exit where the venue has no reduce-only.
    ///
    /// # Errors
    /// As [`Self::place`].
    ///
    /// # Cancel safety
    /// As [`Self::place`].
    pub async fn place_despite_halt(
        &self,
        intent: OrderIntent,
        who: &str,
    ) -> Result<Placement, PlaceError> {
        tracing::warn!(who, strategy = %intent.decision.strategy, symbol = %intent.symbol, "placed in spite of halts");
        self.place_in_a_task(intent, Some(who.into())).await
    }

    async fn place_in_a_task(
        &self,
        intent: OrderIntent,
        despite: place::Despite,
    ) -> Result<Placement, PlaceError> {
        let (send, placed) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        self.shared.spawn(async move {
            // A caller that is gone can ask again with the same decision.
            drop(send.send(shared.place(intent, despite).await));
        });
        // The task was cut off, at the deadline of a shutdown or by a panic: the order may be on its way.
        let cut_off = |_| StoreError::Commit("the engine let go before it was answered".into());
        placed
            .await
            .unwrap_or_else(|gone| Err(PlaceError::Undecided(cut_off(gone))))
    }

    /// Asks for an order's cancel. Returns when that is durable; the venue is asked until it says that the order ended.
    ///
    /// # Errors
    /// [`CancelError::NotJournaled`] says that the cancel went out although the journal could not hold it.
    ///
    /// # Cancel safety
    /// Dropping the future after its first poll leaves it undecided whether the cancel is asked.
    pub async fn cancel(&self, id: ClOrdId) -> Result<OrderRecord, CancelError> {
        self.shared.cancel(id).await
    }

    /// Asks for the cancel of each of our orders in a scope that has not ended. Foreign orders are not touched.
    ///
    /// Each is durable first. Where the venue has a request for it, what works is canceled several at a time; what is left then each
    /// order's driver asks for again.
    ///
    /// # Errors
    /// The worst [`CancelError`], after every order was asked for: one that says that a cancel is not asked, before one that says that
    /// it went out without the journal.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing back: each order is asked for.
    pub async fn cancel_all(&self, scope: &Scope) -> Result<Vec<OrderRecord>, CancelError> {
        // In a task, because drivers wait for the request that cancels their orders together: a caller that looks elsewhere for a
        // while must not keep it in.
        let (send, canceled) = oneshot::channel();
        let (shared, scope) = (Arc::clone(&self.shared), scope.clone());
        self.shared.spawn(async move {
            // A caller that is gone asked all the same.
            drop(send.send(shared.cancel_all(&scope).await));
        });
        canceled.await.unwrap_or(Err(CancelError::ShuttingDown))
    }

    /// Asks for another total quantity, another price, or both, of an order that works, where the venue keeps its ids. Durable first, sent
    /// once, and returns when that is answered.
    ///
    /// [`AmendOutcome::Taken`] is a receipt, and a lost answer is doubt about the terms, not about the order: in both cases the venue is
    /// looked up, and [`OrderRecord::terms`] follows only what it shows. Until then another amend is refused. Where requests have no fence
    /// that may last as long as the order works: then it is canceled, or left as it is.
    ///
    /// # Errors
    /// [`AmendError`]: nothing was sent. Halts and doubt refuse it as they refuse an entry, but for less of the same at the same price.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing back: the amend goes on.
    pub async fn amend(
        &self,
        id: ClOrdId,
        order_qty: Option<Qty>,
        price: Option<Px>,
    ) -> Result<AmendOutcome, AmendError> {
        let (send, amended) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        self.shared.spawn(async move {
            // A caller that is gone sees the terms in the order's row.
            drop(send.send(shared.amend(id, order_qty, price).await));
        });
        // The task was cut off, at the deadline of a shutdown or by a panic: it may have been sent.
        let cut_off = |_| UnknownCause::new("the engine let go before it was answered");
        amended
            .await
            .unwrap_or_else(|gone| Ok(AmendOutcome::Unknown(cut_off(gone))))
    }

    /// An order by its id.
    ///
    /// # Errors
    /// The journal's.
    pub async fn order(&self, id: ClOrdId) -> Result<Option<Order>, StoreError> {
        let row = self.shared.journal.store().order(id).await?;
        Ok(row.map(|row| Order::new(row, self.shared.driver(id).map(|driver| driver.published))))
    }

    /// The orders that the filter takes, oldest first.
    ///
    /// # Errors
    /// The journal's.
    pub async fn orders(&self, filter: &OrderFilter) -> Result<Vec<OrderRecord>, StoreError> {
        self.shared.journal.store().orders(filter).await
    }

    /// What a strategy has decided before, so that a restarted one finds it instead of deciding again. Oldest first.
    ///
    /// # Errors
    /// The journal's.
    pub async fn decisions(
        &self,
        strategy: impl Into<Strategy>,
    ) -> Result<Vec<(Decision, OrderRecord)>, StoreError> {
        let filter = OrderFilter {
            strategy: Some(strategy.into()),
            ..OrderFilter::default()
        };
        let rows = self.shared.journal.store().orders(&filter).await?;
        Ok(rows
            .into_iter()
            .map(|row| (row.intent.decision.clone(), row))
            .collect())
    }

    /// The fills of an order, oldest first.
    ///
    /// # Errors
    /// The journal's.
    pub async fn fills(&self, id: ClOrdId) -> Result<Vec<Fill>, StoreError> {
        self.shared.journal.store().fills(id).await
    }

    /// The log of an order, oldest first.
    ///
    /// # Errors
    /// The journal's.
    pub async fn history(&self, id: ClOrdId) -> Result<Vec<Transition>, StoreError> {
        self.shared.journal.store().history(id).await
    }

    /// What happens from now on. A watcher that is too slow is told how much it missed.
    pub fn watch(&self) -> Events {
        Events(self.shared.events.subscribe())
    }

    /// The halts in force.
    pub fn halts(&self) -> Vec<Halt> {
        self.shared.halts()
    }

    /// Halts new risk in a scope. Durable before it is announced.
    ///
    /// # Errors
    /// The journal's.
    pub async fn halt(&self, scope: Scope, reason: &str) -> Result<(), StoreError> {
        let now = self.venue_now(&scope.venue);
        self.shared
            .halt(Halt::new(scope, HaltCause::Asked, now, reason))
            .await
    }

    /// Lifts every halt of exactly this scope: somebody looked. Returns those lifted.
    ///
    /// # Errors
    /// The journal's.
    pub async fn resume(
        &self,
        scope: Scope,
        who: &str,
        reason: &str,
    ) -> Result<Vec<Halt>, StoreError> {
        let now = self.venue_now(&scope.venue);
        self.shared.lift(&Lift::All(scope), who, reason, now).await
    }

    /// The venue's time as the engine knows it, for strategies that stamp decisions; `None` until it has been heard.
    pub fn venue_time(&self, venue: &Alias) -> Option<VenueTime> {
        self.shared
            .desks
            .get(venue)
            .and_then(|desk| desk.clock.read())
            .map(|reading| reading.now)
    }

    fn venue_now(&self, venue: &Alias) -> VenueTime {
        self.venue_time(venue).unwrap_or_default()
    }

    /// Takes nothing new, waits for the answers to what is in flight, and closes the journal.
    ///
    /// What is not answered by the deadline is journaled as it was sent: the next start finds out.
    ///
    /// # Errors
    /// The journal's, when it cannot be closed.
    pub async fn shutdown(self, deadline: Duration) -> Result<(), StoreError> {
        self.shared.phase.send_replace(Phase::Stopping);
        let drained = async {
            // A task may start another one before it ends.
            loop {
                let mut tasks = self.shared.take_tasks();
                if tasks.is_empty() {
                    return;
                }
                while let Some(ended) = tasks.join_next().await {
                    if let Err(error) = ended {
                        tracing::error!(%error, "a task of the engine ended badly");
                    }
                }
            }
        };
        // Those that are not awaited any more are aborted.
        if tokio::time::timeout(deadline, drained).await.is_err() {
            tracing::warn!(
                "not everything in flight was answered by the deadline; the next start finds out"
            );
            drop(self.shared.take_tasks());
        }
        self.shared.journal.close().await
    }
}
