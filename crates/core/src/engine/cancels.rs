//! Cancels: durable first, then the venue is asked until it says that the order ended.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::oneshot;

use super::CancelError;
use super::shared::{AskedCancel, Message, Shared};
use super::together::{GATHER, Together};
use crate::{CancelOutcome, Cause, Change, ClOrdId, OrderRecord, Scope, StoreError, Transition};

impl Shared {
    /// Asks for an order's cancel. Returns when that is durable.
    pub(crate) async fn cancel(&self, id: ClOrdId) -> Result<OrderRecord, CancelError> {
        self.cancel_with(id, None).await
    }

    async fn cancel_with(
        &self,
        id: ClOrdId,
        together: Option<oneshot::Receiver<CancelOutcome>>,
    ) -> Result<OrderRecord, CancelError> {
        if let Some(answer) = self.cancel_by_driver(id, together).await {
            return answer;
        }
        loop {
            let row = self.journal.store().order(id).await;
            let row = row.map_err(CancelError::Journal)?;
            let row = row.ok_or(CancelError::NoSuchOrder { id })?;
            if row.state.is_terminal() {
                return Ok(row);
            }
            if self.is_stopping() {
                return Err(CancelError::ShuttingDown);
            }
            // It may have been placed since nobody drove it: a flag in the row alone comes too late for its first send.
            if let Some(answer) = self.cancel_by_driver(id, None).await {
                return answer;
            }
            // Its venue has not been reached yet, so nobody drives it: the flag waits for whoever will.
            let asked = if row.cancel_requested {
                Ok(row)
            } else {
                self.flag_cancel(&row).await
            };
            match asked {
                // Who took it up meanwhile may not have seen the flag.
                Ok(row) => {
                    let answer = self.cancel_by_driver(id, None).await;
                    return answer.unwrap_or(Ok(row));
                }
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(CancelError::Journal(error)),
            }
        }
    }

    /// Asks the order's driver; `None` where there is none.
    async fn cancel_by_driver(
        &self,
        id: ClOrdId,
        together: Option<oneshot::Receiver<CancelOutcome>>,
    ) -> Option<Result<OrderRecord, CancelError>> {
        let driver = self.driver(id)?;
        let (reply, answer) = oneshot::channel();
        let asked = AskedCancel { reply, together };
        driver.inbox.send(Message::Cancel(asked)).ok()?;
        answer.await.ok()
    }

    /// Makes a cancel durable for an order that nobody drives.
    async fn flag_cancel(&self, row: &OrderRecord) -> Result<OrderRecord, StoreError> {
        let clock = self.desks.get(row.alias()).map(|desk| &desk.clock);
        let now = clock
            .and_then(|clock| clock.read())
            .map_or(row.updated_at, |reading| reading.now);
        let mut change = Change::of(row, now, Cause::CancelAsked, "asked");
        change.cancel_requested = true;
        // Before the commit: a recovery that does not see it inserts its driver first, and is told by it.
        self.flagged.store(true, Ordering::Release);
        let after = self.journal.apply(change.clone()).await?;
        self.tell_transition(row, &after, Transition::of(row, &after, &change));
        Ok(after)
    }

    /// Asks for the cancel of each of our orders in a scope that has not ended.
    pub(crate) async fn cancel_all(
        self: &Arc<Self>,
        scope: &Scope,
    ) -> Result<Vec<OrderRecord>, CancelError> {
        let drivers: Vec<_> = {
            let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
            drivers
                .iter()
                .map(|(id, driver)| (*id, driver.clone()))
                .collect()
        };
        let open = |row: &OrderRecord| {
            !row.state.is_terminal() && scope.covers(row.alias(), &row.account, row.symbol())
        };
        let driven = drivers.into_iter().filter_map(|(id, driver)| {
            let published = driver.published.borrow();
            published.row.as_ref().is_some_and(open).then_some(id)
        });
        let mut ids: BTreeSet<ClOrdId> = driven.collect();
        // Also those that nobody drives yet; a journal that cannot be read keeps no cancel back.
        match self.journal.store().unfinished().await {
            Ok(rows) => ids.extend(rows.iter().filter(|row| open(row)).map(|row| row.id)),
            Err(error) => tracing::error!(%error, "only the orders at hand are canceled"),
        }
        let mut together = Together::new(Arc::clone(self));
        let mut asked: FuturesUnordered<_> = ids
            .into_iter()
            .map(|id| async move {
                let (send, answer) = oneshot::channel();
                (self.cancel_with(id, Some(answer)).await, send)
            })
            .collect();
        let mut rows = Vec::new();
        let mut failed = None;
        loop {
            // One that is slow to be durable does not hold up the others.
            match tokio::time::timeout(GATHER, asked.next()).await {
                Err(_) => together.send_all(),
                Ok(None) => break,
                Ok(Some((Ok(row), answer))) => {
                    together.add(row.clone(), answer);
                    rows.push(row);
                }
                Ok(Some((Err(error), _))) => failed = Some(worse(failed, error)),
            }
        }
        together.send_all();
        failed.map_or(Ok(rows), Err)
    }
}

/// The error that says more is left to do: whoever hears that a cancel is not asked asks again.
fn worse(first: Option<CancelError>, second: CancelError) -> CancelError {
    const fn left(error: &CancelError) -> u8 {
        match error {
            CancelError::Journal(_) => 3,
            CancelError::ShuttingDown => 2,
            CancelError::NotJournaled { .. } => 1,
            CancelError::NoSuchOrder { .. } => 0,
        }
    }
    match first {
        Some(first) if left(&first) >= left(&second) => first,
        Some(_) | None => second,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_that_is_not_asked_is_told_before_one_that_went_out() {
        let id: ClOrdId = "5f01ffffffffffffffffffffffffffff".parse().unwrap();
        let went_out = || CancelError::NotJournaled {
            id,
            error: StoreError::Full,
        };
        let not_asked = || CancelError::Journal(StoreError::Full);
        for (first, second) in [(went_out(), not_asked()), (not_asked(), went_out())] {
            let told = worse(Some(worse(None, first)), second);
            assert!(matches!(told, CancelError::Journal(_)), "{told}");
        }
    }
}
