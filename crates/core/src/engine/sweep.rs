//! What nobody looks for any more: fills since a durable cursor, also of orders that the journal holds as ended, and open orders that a row of
//! ours does not know.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::desk::Desk;
use super::shared::Shared;
use crate::{
    AsOf, ClOrdId, ExecReport, Fill, Handle, OrdStatus, SeenTerms, StoreError, VenueError,
    VenueTime,
};

/// Fills that the venue shows and the journal does not hold.
#[derive(Debug)]
pub(crate) struct Unbooked {
    /// One report per order and venue order id, with its fills.
    pub(crate) reports: Vec<(ClOrdId, ExecReport)>,
    /// Up to where the cursor may move once these are booked.
    pub(crate) read_to: VenueTime,
}

/// What kept the fills from being read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SweepError {
    #[error(transparent)]
    Venue(#[from] VenueError),
    #[error(transparent)]
    Journal(#[from] StoreError),
    #[error("the fills were read by block height, which no cursor keeps")]
    Height,
}

/// A report that says nothing but that something filled.
pub(crate) fn fill_report(handle: Handle, fill: Fill) -> ExecReport {
    ExecReport {
        handle: Handle {
            order_id: Some(fill.order_id.clone()),
            ..handle
        },
        status: OrdStatus::NotShown,
        cum_qty: None,
        avg_px: None,
        reason: None,
        transact_time: Some(fill.transact_time),
        fills: vec![fill],
        seen: SeenTerms::default(),
    }
}

impl Shared {
    /// Reads the fills since the cursor, or since `oldest` where that is earlier, with overlap; those of ours that are not booked.
    pub(crate) async fn unbooked(
        &self,
        desk: &Desk,
        oldest: Option<VenueTime>,
    ) -> Result<Unbooked, SweepError> {
        let store = self.journal.store();
        let cursor = store.cursor(&desk.alias).await?;
        let Some(since) = oldest.into_iter().chain(cursor).min() else {
            // Nothing was ever placed from here: what filled before is nobody's.
            let now = desk.now().await?.earliest();
            return Ok(Unbooked {
                reports: Vec::new(),
                read_to: now,
            });
        };
        let absence = &desk.profile.absence;
        let overlap = absence.lag.value().saturating_add(absence.margin);
        let snapshot = desk.venue.fills_since(None, since.before(overlap)).await?;
        let AsOf::Clock(read_to) = snapshot.begun else {
            return Err(SweepError::Height);
        };
        let mut booked: HashMap<ClOrdId, Vec<Fill>> = HashMap::new();
        let mut reports: Vec<(ClOrdId, ExecReport)> = Vec::new();
        for (handle, fill) in snapshot.rows {
            let Some(id) = self.resolve(desk, &handle).await? else {
                continue;
            };
            if let std::collections::hash_map::Entry::Vacant(unread) = booked.entry(id) {
                unread.insert(store.fills(id).await?);
            }
            let held = booked
                .get(&id)
                .is_some_and(|fills| fills.iter().any(|other| other.is(&fill)));
            let same = reports.iter_mut().find(|(other, report)| {
                *other == id && report.handle.order_id.as_ref() == Some(&fill.order_id)
            });
            match same {
                _ if held => {}
                Some((_, report)) => report.fills.push(fill),
                None => reports.push((id, fill_report(handle, fill))),
            }
        }
        Ok(Unbooked { reports, read_to })
    }

    /// One sweep: what is not booked goes to the drivers; when all is, the cursor moves.
    async fn sweep(self: &Arc<Self>, desk: &Arc<Desk>) -> Result<(), SweepError> {
        let unbooked = self.unbooked(desk, None).await?;
        if unbooked.reports.is_empty() {
            let store = self.journal.store();
            self.journal
                .write(store.set_cursor(&desk.alias, unbooked.read_to))
                .await?;
        }
        for (id, report) in unbooked.reports {
            self.deliver(desk, id, Box::new(report)).await?;
        }
        Ok(())
    }

    /// Looks through what is open for orders that must not be, and hands each to the driver of its row, which may not look any more.
    async fn strays(self: &Arc<Self>, desk: &Arc<Desk>) -> Result<(), SweepError> {
        let open = match desk.venue.open_orders(None).await {
            Ok(open) => open.rows,
            Err(VenueError::Unsupported(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let mut failed = Ok(());
        for report in open {
            let found = self.strayed_from(desk, &report.handle).await;
            let handed = match found {
                Ok(Some(id)) => self.deliver(desk, id, Box::new(report)).await,
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            failed = failed.and(handed);
        }
        Ok(failed?)
    }

    /// The order under whose id this one lives, where its row has ended or knows another one. One that lives and knows none yet has
    /// a driver that finds it.
    async fn strayed_from(
        &self,
        desk: &Desk,
        handle: &Handle,
    ) -> Result<Option<ClOrdId>, StoreError> {
        let (Some(key), Some(order_id)) = (&handle.key, &handle.order_id) else {
            return Ok(None);
        };
        let store = self.journal.store();
        if store.by_order_id(&desk.alias, order_id).await?.is_some() {
            return Ok(None);
        }
        let Some(id) = store.by_key(&desk.alias, key).await? else {
            return Ok(None);
        };
        let row = store.order(id).await?;
        let strange = row.filter(|row| row.state.is_terminal() || !row.order_ids.is_empty());
        Ok(strange.map(|row| row.id))
    }
}

/// How long between two sweeps.
fn period(desk: &Desk) -> Duration {
    let lag = desk.profile.absence.lag.value();
    lag.saturating_mul(20).max(Duration::from_millis(200))
}

/// Looks through what is open now and then until the engine stops. Recovery did at the start.
pub(crate) async fn keep_finding_strays(shared: Arc<Shared>, desk: Arc<Desk>) {
    while shared.pause(period(&desk)).await {
        if let Err(error) = shared.strays(&desk).await {
            tracing::warn!(alias = %desk.alias, %error, "the open orders could not be swept in full");
        }
    }
}

/// Sweeps the fills now and then until the engine stops.
pub(crate) async fn keep_sweeping(shared: Arc<Shared>, desk: Arc<Desk>) {
    loop {
        if let Err(error) = shared.sweep(&desk).await {
            tracing::warn!(alias = %desk.alias, %error, "the fills could not be swept");
        }
        let at = desk.clock.read().map(|reading| reading.now);
        if let Err(error) = shared.lift_settled(&desk, at.unwrap_or_default()).await {
            tracing::error!(alias = %desk.alias, %error, "a halt could not be lifted");
        }
        if !shared.pause(period(&desk)).await {
            return;
        }
    }
}
