//! Following a venue's stream: what it says goes to the orders' drivers, and takes the same path as every other report.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;

use super::desk::Desk;
use super::driver::{Line, Start};
use super::shared::{Message, Phase, Shared};
use super::sweep::fill_report;
use crate::{ClOrdId, ExecReport, Handle, StoreError, VenueError, VenueEvent};

/// How long before a stream that ended is opened again.
const REOPEN: Duration = Duration::from_secs(1);

/// Follows a venue until the engine stops. Where there is no stream, the drivers' looks stand in.
pub(crate) async fn follow(shared: Arc<Shared>, desk: Arc<Desk>) {
    let mut phase = shared.phase.subscribe();
    loop {
        let mut events = match desk.venue.follow().await {
            Ok(events) => events,
            Err(VenueError::Unsupported(_)) => return,
            Err(error) => {
                tracing::warn!(alias = %desk.alias, %error, "the stream could not be opened");
                if shared.pause(REOPEN).await {
                    continue;
                }
                return;
            }
        };
        // Nothing tells what was said before the subscription: every driver looks.
        shared.look(&desk.alias);
        loop {
            let event = tokio::select! {
                biased;
                _ = phase.wait_for(|phase| *phase != Phase::Running) => return,
                event = events.next() => event,
            };
            let Some(event) = event else { break };
            if let Err(error) = shared.heard(&desk, event).await {
                tracing::error!(alias = %desk.alias, %error, "the journal could not say whose a report is");
            }
        }
        if !shared.pause(REOPEN).await {
            return;
        }
    }
}

impl Shared {
    /// Which of our orders a report speaks of.
    pub(crate) async fn resolve(
        &self,
        desk: &Desk,
        handle: &Handle,
    ) -> Result<Option<ClOrdId>, StoreError> {
        let store = self.journal.store();
        if let Some(key) = &handle.key
            && let Some(id) = store.by_key(&desk.alias, key).await?
        {
            return Ok(Some(id));
        }
        match &handle.order_id {
            Some(order_id) => store.by_order_id(&desk.alias, order_id).await,
            None => Ok(None),
        }
    }

    async fn heard(
        self: &Arc<Self>,
        desk: &Arc<Desk>,
        event: VenueEvent,
    ) -> Result<(), StoreError> {
        let report = match event {
            VenueEvent::Report(report) => report,
            VenueEvent::Fill(handle, fill) => fill_report(handle, fill),
        };
        match self.resolve(desk, &report.handle).await? {
            Some(id) => self.deliver(desk, id, Box::new(report)).await,
            None => {
                // A foreign order, or a fill for an order id that no row has yet: the next look finds it by key.
                tracing::debug!(alias = %desk.alias, handle = ?report.handle, "nobody's report");
                Ok(())
            }
        }
    }

    /// Hands a report to the order's driver; an order that has ended gets one for it.
    pub(crate) async fn deliver(
        self: &Arc<Self>,
        desk: &Arc<Desk>,
        id: ClOrdId,
        report: Box<ExecReport>,
    ) -> Result<(), StoreError> {
        let mut message = Message::Report(report);
        if let Some(driver) = self.driver(id) {
            match driver.inbox.send(message) {
                Ok(()) => return Ok(()),
                Err(back) => message = back.0,
            }
        }
        let Some(row) = self.journal.store().order(id).await? else {
            return Ok(());
        };
        let line = Line::new(Some(row.clone()), true);
        let handle = line.handle.clone();
        {
            let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
            // Another report may have been first.
            if let Some(driver) = drivers.get(&id)
                && !driver.inbox.is_closed()
            {
                drop(driver.inbox.send(message));
                return Ok(());
            }
            drivers.insert(id, handle);
        }
        let report = match message {
            Message::Report(report) => Some(report),
            Message::Cancel(_)
            | Message::Amend(_)
            | Message::Amended(_)
            | Message::Wake
            | Message::Look => None,
        };
        let reports = report.into_iter().map(|report| *report).collect();
        self.drive(desk, row, line, Start::Known(reports));
        Ok(())
    }

    /// Lets every driver of a venue look soon.
    pub(crate) fn look(&self, alias: &crate::Alias) {
        let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        for driver in drivers.values() {
            let here = driver
                .published
                .borrow()
                .row
                .as_ref()
                .is_some_and(|row| row.alias() == alias);
            if here {
                // A driver that is gone needs no telling.
                drop(driver.inbox.send(Message::Look));
            }
        }
    }
}
