//! One venue inside the engine: its adapter, clock, buckets, account and limits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::Limits;
use crate::{
    AccountId, Alias, Nonces, OrderIntent, OrderRecord, Rate, RateClass, Reading, StoreError,
    Ticket, Venue, VenueClock, VenueError, VenueProfile,
};

/// One venue inside the engine.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) alias: Alias,
    pub(crate) venue: Arc<dyn Venue>,
    pub(crate) profile: VenueProfile,
    pub(crate) clock: Arc<VenueClock>,
    pub(crate) rate: Arc<Rate>,
    pub(crate) nonces: Option<Arc<Nonces>>,
    pub(crate) limits: Limits,
    /// Read from the venue once it answers, and bound in the journal.
    account: OnceLock<AccountId>,
    /// Orders that a driver looks after.
    driven: AtomicUsize,
}

/// Counts an order among those that a driver looks after, however the driver ends.
pub(crate) struct Driven(Arc<Desk>);

impl Driven {
    pub(crate) fn at(desk: &Arc<Desk>) -> Self {
        desk.driven.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(desk))
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.driven.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a ticket could not be had.
#[derive(Debug)]
pub(crate) enum TicketError {
    Venue(VenueError),
    Journal(StoreError),
}

impl Desk {
    pub(crate) fn new(
        alias: Alias,
        venue: Arc<dyn Venue>,
        clock: Arc<VenueClock>,
        rate: Arc<Rate>,
        nonces: Option<Arc<Nonces>>,
        limits: Limits,
    ) -> Self {
        let profile = venue.profile().clone();
        let (account, driven) = (OnceLock::new(), AtomicUsize::new(0));
        Self {
            alias,
            venue,
            profile,
            clock,
            rate,
            nonces,
            limits,
            account,
            driven,
        }
    }

    /// The account, once the venue has named it.
    pub(crate) fn account(&self) -> Option<&AccountId> {
        self.account.get()
    }

    /// Sets the account; the first call counts.
    pub(crate) fn set_account(&self, account: AccountId) {
        if self.account.set(account).is_err() {
            tracing::debug!(alias = %self.alias, "the account was read before");
        }
    }

    /// The venue's time, asked for where it has not been heard yet.
    pub(crate) async fn now(&self) -> Result<Reading, VenueError> {
        if let Some(reading) = self.clock.read() {
            return Ok(reading);
        }
        self.venue.venue_time().await?;
        let unheard = || VenueError::Unreadable("the venue's time was not heard".into());
        self.clock.read().ok_or_else(unheard)
    }

    /// Waits for a create's turn, then fetches what a request needs; the clock is read last, so that no wait burns the fence.
    pub(crate) async fn ticket(
        &self,
        intent: &OrderIntent,
        no: u32,
    ) -> Result<Ticket, TicketError> {
        self.rate.admit(RateClass::Create).await;
        let facts = self.venue.facts(intent).await.map_err(TicketError::Venue)?;
        let mut now = self.now().await.map_err(TicketError::Venue)?;
        let nonce = match &self.nonces {
            Some(nonces) => {
                let nonce = nonces.next(now.now).await.map_err(TicketError::Journal)?;
                now = self.now().await.map_err(TicketError::Venue)?;
                Some(nonce)
            }
            None => None,
        };
        Ok(Ticket {
            no,
            now: now.now,
            nonce,
            facts,
        })
    }

    /// Reduce-only, at a venue that enforces it: passes halts and doubt.
    pub(crate) fn is_exit(&self, intent: &OrderIntent) -> bool {
        intent.reduce_only && self.profile.reduce_only
    }

    /// How long to wait before the next look at an order, so that polling many stays within the buckets.
    pub(crate) fn pace(&self, order: &OrderRecord, after: Duration) -> Duration {
        let crowd = self.driven.load(Ordering::Relaxed) / 8;
        if order.state.is_working() && !order.cancel_requested {
            return after
                .saturating_mul(u32::try_from(crowd).unwrap_or(u32::MAX).saturating_add(1));
        }
        after
    }
}
