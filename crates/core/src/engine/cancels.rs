//! Cancels: durable first, then the venue is asked until it says that the order ended.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use tokio::sync::oneshot;

use super::CancelError;
use super::shared::{Message, Shared};
use crate::{Cause, Change, ClOrdId, OrderRecord, Scope, StoreError, Transition};

impl Shared {
    /// Asks for an order's cancel. Returns when that is durable.
    pub(crate) async fn cancel(&self, id: ClOrdId) -> Result<OrderRecord, CancelError> {
        if let Some(answer) = self.cancel_by_driver(id).await {
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
            // Its venue has not been reached yet, so nobody drives it: the flag waits for whoever will.
            let asked = if row.cancel_requested {
                Ok(row)
            } else {
                self.flag_cancel(&row).await
            };
            match asked {
                // Who took it up meanwhile may not have seen the flag.
                Ok(row) => return self.cancel_by_driver(id).await.unwrap_or(Ok(row)),
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(CancelError::Journal(error)),
            }
        }
    }

    /// Asks the order's driver; `None` where there is none.
    async fn cancel_by_driver(&self, id: ClOrdId) -> Option<Result<OrderRecord, CancelError>> {
        let driver = self.driver(id)?;
        let (send, answer) = oneshot::channel();
        driver.inbox.send(Message::Cancel(send)).ok()?;
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
    pub(crate) async fn cancel_all(&self, scope: &Scope) -> Result<Vec<OrderRecord>, CancelError> {
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
        let mut ids: HashSet<ClOrdId> = driven.collect();
        // Also those that nobody drives yet; a journal that cannot be read keeps no cancel back.
        match self.journal.store().unfinished().await {
            Ok(rows) => ids.extend(rows.iter().filter(|row| open(row)).map(|row| row.id)),
            Err(error) => tracing::error!(%error, "only the orders at hand are canceled"),
        }
        let cancels = ids.into_iter().map(|id| self.cancel(id));
        let mut rows = Vec::new();
        let mut failed = None;
        for answer in futures_util::future::join_all(cancels).await {
            match answer {
                Ok(row) => rows.push(row),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(rows), Err)
    }
}
