//! Recovery: each open order is settled, or its scope is halted, before anything new is placed.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::RecoverError;
use super::desk::Desk;
use super::driver::{Line, Start};
use super::follow::follow;
use super::shared::{DriverHandle, Shared};
use super::sweep::{keep_finding_strays, keep_sweeping};
use crate::{
    Alias, ClOrdId, ExecReport, Halt, HaltCause, Lacking, Lift, OrderRecord, Scope, StoreError,
    VenueError, VenueTime,
};

/// What recovery found at one venue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VenueRecovery {
    /// Unfinished orders that were looked after.
    pub checked: usize,
    /// Of those, the ones that the venue showed.
    pub found: usize,
    /// Of those, the ones that were sent again.
    pub resent: usize,
    /// Of those, the ones that never came to be an order.
    pub given_up: usize,
    /// Of those, the ones whose fate is still not known.
    pub unknown: usize,
    /// Open orders that are not in the journal.
    pub foreign: usize,
}

/// What recovery found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// By venue.
    pub venues: HashMap<Alias, VenueRecovery>,
    /// The halts in force after it.
    pub halts: Vec<Halt>,
}

/// How long before a venue that did not answer is asked again.
const RETRY: Duration = Duration::from_secs(2);

/// How many orders the lists may be asked about in bulk before single rounds are cheaper.
const BULK_FROM: usize = 3;

/// Whether the rows are as the journal holds them, or may have changed since they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// Nobody could change them but a cancel, which says so.
    JustRead,
    /// The venue was waited for, and cancels could be asked.
    Waited,
}

/// A desk that recovers, with the orders that the journal holds of it.
pub(crate) struct Recovery {
    pub(crate) shared: Arc<Shared>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) rows: Vec<OrderRecord>,
    pub(crate) made_at: VenueTime,
}

impl Recovery {
    /// Recovers a venue. One that does not answer is halted, and recovered in the background once it does.
    pub(crate) async fn run(self) -> Result<VenueRecovery, RecoverError> {
        match self.reach().await {
            Ok(bulk) => Ok(self.settle(bulk, Since::JustRead).await),
            Err(RecoverError::Venue {
                error: error @ (VenueError::Unreachable(_) | VenueError::Unreadable(_)),
                ..
            }) => {
                self.halt_unreached(&error).await?;
                let unknown = VenueRecovery {
                    checked: self.rows.len(),
                    unknown: self.rows.len(),
                    ..Default::default()
                };
                let shared = Arc::clone(&self.shared);
                let recovery = Arc::new(self);
                shared.keep("the recovery in the background", move || {
                    Arc::clone(&recovery).in_the_background()
                });
                Ok(unknown)
            }
            Err(error) => Err(error),
        }
    }

    /// Hears the venue's time and account, binds the account, and lists what is open: without that list nobody knows whether the
    /// journal went back in time.
    async fn reach(&self) -> Result<Bulk, RecoverError> {
        let desk = &self.desk;
        let failed = |error| RecoverError::Venue {
            alias: desk.alias.clone(),
            error,
        };
        desk.venue.venue_time().await.map_err(failed)?;
        let account = desk.venue.account().await.map_err(failed)?;
        let journal = &self.shared.journal;
        journal
            .write(journal.store().bind(&desk.alias, &account))
            .await?;
        journal
            .write(journal.store().lease(account.as_str()))
            .await?;
        let open = match desk.venue.open_orders(None).await {
            Ok(open) => open.rows,
            Err(VenueError::Unsupported(_)) => Vec::new(),
            Err(error) => {
                let text = format!("the open orders could not be listed: {error}");
                return Err(failed(VenueError::Unreachable(text.into())));
            }
        };
        desk.set_account(account);
        let mut bulk = Bulk::default();
        for report in open {
            self.sort(report, &mut bulk).await?;
        }
        Ok(bulk)
    }

    async fn halt_unreached(&self, error: &VenueError) -> Result<(), StoreError> {
        let now = self
            .desk
            .clock
            .read()
            .map_or(self.made_at, |reading| reading.now);
        let scope = Scope::venue(self.desk.alias.clone());
        let text = format!(
            "{} did not answer ({error}): recovery goes on until it does",
            self.desk.alias
        );
        self.shared
            .halt(Halt::new(scope, HaltCause::Unreachable, now, text))
            .await
    }

    async fn in_the_background(self: Arc<Self>) {
        let bulk = loop {
            if !self.shared.pause(RETRY).await {
                return;
            }
            match self.reach().await {
                Ok(bulk) => break bulk,
                Err(error) => tracing::warn!(alias = %self.desk.alias, %error, "not reached yet"),
            }
        };
        let report = self.settle(bulk, Since::Waited).await;
        tracing::info!(alias = %self.desk.alias, ?report, "recovered in the background");
        self.lift_unreached().await;
    }

    /// An earlier halt for silence ends with an answer.
    async fn lift_unreached(&self) {
        let at = self
            .desk
            .clock
            .read()
            .map_or(self.made_at, |reading| reading.now);
        let lift = Lift::One(
            Scope::venue(self.desk.alias.clone()),
            HaltCause::Unreachable,
        );
        if let Err(error) = self
            .shared
            .lift(&lift, "surefill", "the venue answers", at)
            .await
        {
            tracing::error!(alias = %self.desk.alias, %error, "a halt could not be lifted");
        }
    }

    /// Starts a driver for each unfinished order and waits until each is settled, or its scope is halted.
    async fn settle(&self, mut bulk: Bulk, since: Since) -> VenueRecovery {
        let keep = |task: fn(Arc<Shared>, Arc<Desk>) -> Service, what| {
            let (shared, desk) = (Arc::clone(&self.shared), Arc::clone(&self.desk));
            self.shared
                .keep(what, move || task(Arc::clone(&shared), Arc::clone(&desk)));
        };
        keep(|shared, desk| keep_time(shared, desk).boxed(), "the clock");
        self.read_on(&mut bulk).await;
        let before: Vec<OrderRecord> = self.rows.clone();
        let mut drivers = Vec::with_capacity(before.len());
        for row in &before {
            // One that a recovery started which then panicked drives on.
            let driven = self.shared.driver(row.id);
            if let Some(handle) = driven.filter(|handle| !handle.inbox.is_closed()) {
                drivers.push(handle);
                continue;
            }
            let line = Line::new(Some(row.clone()), true);
            let handle = line.handle.clone();
            let reports = bulk.reports.remove(&row.id).unwrap_or_default();
            self.shared
                .drivers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(row.id, handle.clone());
            // From here on a cancel comes to the driver; one that was asked before is in the journal.
            let row = match since {
                Since::JustRead if !self.shared.flagged.load(Ordering::Acquire) => row.clone(),
                Since::JustRead | Since::Waited => self.read_again(row).await,
            };
            self.shared
                .drive(&self.desk, row, line, Start::Known(reports));
            drivers.push(handle);
        }
        let deadline = tokio::time::Instant::now()
            + self.desk.profile.cap.saturating_mul(2)
            + Duration::from_secs(5);
        let mut report = VenueRecovery {
            checked: before.len(),
            foreign: bulk.foreign,
            ..Default::default()
        };
        for (row, driver) in before.iter().zip(drivers) {
            let after = tokio::time::timeout_at(deadline, self.settled(row.id, driver)).await;
            match after {
                Ok(Some(after)) => report.count(row, &after),
                Ok(None) | Err(_) => {
                    report.unknown = report.unknown.saturating_add(1);
                    self.halt_unsettled(row).await;
                }
            }
        }
        for (id, reports) in bulk.reports {
            for said in reports {
                if let Err(error) = self.shared.deliver(&self.desk, id, Box::new(said)).await {
                    tracing::error!(%id, %error, "a report about an order that has ended was not taken in");
                }
            }
        }
        // A halt for silence from an earlier start is over: the venue answered.
        self.lift_unreached().await;
        let at = self.desk.clock.read().map(|reading| reading.now);
        let at = at.unwrap_or(self.made_at);
        if let Err(error) = self.shared.lift_settled(&self.desk, at).await {
            tracing::error!(alias = %self.desk.alias, %error, "a halt could not be lifted");
        }
        keep(|shared, desk| follow(shared, desk).boxed(), "the stream");
        keep(
            |shared, desk| keep_sweeping(shared, desk).boxed(),
            "the sweep of fills",
        );
        keep(
            |shared, desk| keep_finding_strays(shared, desk).boxed(),
            "the sweep of open orders",
        );
        report
    }

    /// A row as it is now: it is an older one that its driver would have to find out about by a conflict.
    async fn read_again(&self, row: &OrderRecord) -> OrderRecord {
        match self.shared.journal.store().order(row.id).await {
            Ok(Some(now)) => now,
            Ok(None) => row.clone(),
            Err(error) => {
                tracing::warn!(id = %row.id, %error, "the row could not be read again");
                row.clone()
            }
        }
    }

    /// Waits until an order is settled; `None` once doubt about it has halted its scope.
    async fn settled(&self, id: ClOrdId, driver: DriverHandle) -> Option<OrderRecord> {
        let mut published = driver.published;
        loop {
            let row = published.borrow_and_update().row.clone()?;
            if row.state.is_known() {
                return Some(row);
            }
            if !self.shared.doubts(id).is_empty() {
                return None;
            }
            let changed =
                tokio::time::timeout(Duration::from_millis(50), published.changed()).await;
            if let Ok(Err(_)) = changed {
                return published
                    .borrow()
                    .row
                    .clone()
                    .filter(|row| row.state.is_known());
            }
        }
    }

    async fn halt_unsettled(&self, row: &OrderRecord) {
        if !self.shared.doubts(row.id).is_empty() {
            return;
        }
        let now = self
            .desk
            .clock
            .read()
            .map_or(row.updated_at, |reading| reading.now);
        let cause = HaltCause::Doubt {
            id: row.id,
            lacking: Lacking::Answer,
        };
        if let Err(error) = self
            .shared
            .halt(Halt::new(row.account_scope(), cause, now, ""))
            .await
        {
            tracing::error!(id = %row.id, %error, "a halt could not be made durable");
        }
    }

    /// Reads the venue's other lists once for all orders. What fails here is found by the rounds of each order.
    async fn read_on(&self, bulk: &mut Bulk) {
        if self.rows.len() >= BULK_FROM {
            self.bulk_closed(bulk).await;
        }
        self.bulk_fills(bulk).await;
    }

    async fn bulk_closed(&self, bulk: &mut Bulk) {
        let Some(since) = self.oldest() else { return };
        match self.desk.venue.closed_since(None, since).await {
            Ok(closed) => {
                for report in closed.rows {
                    if let Ok(Some(id)) = self.shared.resolve(&self.desk, &report.handle).await {
                        bulk.add(id, report);
                    }
                }
            }
            Err(error) => {
                tracing::warn!(alias = %self.desk.alias, %error, "the closed orders could not be read at once")
            }
        }
    }

    /// Fills that are not booked, also those of orders that the journal holds as ended.
    async fn bulk_fills(&self, bulk: &mut Bulk) {
        match self.shared.unbooked(&self.desk, self.oldest()).await {
            Ok(unbooked) => unbooked
                .reports
                .into_iter()
                .for_each(|(id, report)| bulk.add(id, report)),
            Err(error) => {
                tracing::warn!(alias = %self.desk.alias, %error, "the fills could not be read at once");
            }
        }
    }

    fn oldest(&self) -> Option<VenueTime> {
        self.rows.iter().map(|row| row.created_at).min()
    }

    /// An open order is one of ours, one with our tag that the journal lacks, or foreign.
    async fn sort(&self, report: ExecReport, bulk: &mut Bulk) -> Result<(), StoreError> {
        match self.shared.resolve(&self.desk, &report.handle).await? {
            Some(id) => bulk.add(id, report),
            None => {
                bulk.foreign = bulk.foreign.saturating_add(1);
                self.foreign(&report).await?;
            }
        }
        Ok(())
    }

    /// An order with our tag that the journal lacks: the journal went back in time, or the order is older than it.
    async fn foreign(&self, report: &ExecReport) -> Result<(), StoreError> {
        let tagged = report
            .handle
            .key
            .as_ref()
            .and_then(|key| self.desk.venue.spelled_id(key));
        let (Some(id), Some(account)) = (tagged, self.desk.account()) else {
            tracing::info!(alias = %self.desk.alias, handle = ?report.handle, "a foreign order is open");
            return Ok(());
        };
        let newer = report.transact_time.is_none_or(|at| at >= self.made_at);
        let cause = if newer {
            HaltCause::JournalWentBack
        } else {
            HaltCause::UnknownTagged
        };
        let now = self
            .desk
            .clock
            .read()
            .map_or(self.made_at, |reading| reading.now);
        let scope = Scope::account(self.desk.alias.clone(), account.clone());
        let text = format!("{cause}: {id}");
        self.shared.halt(Halt::new(scope, cause, now, text)).await
    }
}

/// A task of the engine that goes on until it stops.
type Service = BoxFuture<'static, ()>;

/// What the lists showed at once: per order one report for each venue order id.
#[derive(Default)]
struct Bulk {
    reports: BTreeMap<ClOrdId, Vec<ExecReport>>,
    foreign: usize,
}

impl Bulk {
    /// Open orders come first, then closed ones, then fills: the first report of a venue order id says its status.
    fn add(&mut self, id: ClOrdId, report: ExecReport) {
        let reports = self.reports.entry(id).or_default();
        match reports
            .iter_mut()
            .find(|other| other.handle.order_id == report.handle.order_id)
        {
            Some(known) => {
                for fill in report.fills {
                    if !known.fills.iter().any(|other| other.is(&fill)) {
                        known.fills.push(fill);
                    }
                }
            }
            None => reports.push(report),
        }
    }
}

impl VenueRecovery {
    fn count(&mut self, before: &OrderRecord, after: &OrderRecord) {
        let add = |n: &mut usize| *n = n.saturating_add(1);
        if after.attempts.len() > before.attempts.len() {
            add(&mut self.resent);
        }
        if after.admitted() {
            add(&mut self.found);
        } else if after.state.is_terminal() {
            add(&mut self.given_up);
        }
    }
}

/// Asks for the venue's time now and then, so that the error of the clock stays small.
async fn keep_time(shared: Arc<Shared>, desk: Arc<Desk>) {
    while shared.pause(Duration::from_secs(10)).await {
        if let Err(error) = desk.venue.venue_time().await {
            tracing::debug!(alias = %desk.alias, %error, "the venue's time was not heard");
        }
    }
}
