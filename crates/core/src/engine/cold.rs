//! An engine that has not looked at its journal.

use std::collections::HashMap;
use std::sync::Arc;

use super::desk::Desk;
use super::recovery::{Recovery, RecoveryReport};
use super::requests::keep_doing_requests;
use super::shared::Shared;
use super::{Alerts, Engine, Limits, LogAlerts, RecoverError};
use crate::{
    Alias, BootTime, Connect, Journal, Nonces, OrderRecord, Rate, Store, TimeSource, VenueClock,
    VenueCtx,
};

/// An engine that has not looked at its journal. It can only recover.
///
/// ```compile_fail,E0599
/// # use surefill_core::{Cold, OrderIntent};
/// async fn too_early(cold: Cold, intent: OrderIntent) {
///     cold.place(intent).await; // no such method before `recover`
/// }
/// ```
#[derive(Debug)]
pub struct Cold {
    journal: Journal,
    venues: Vec<(Alias, Box<dyn Connect>, Limits)>,
    alerts: Arc<dyn Alerts>,
    time: Arc<dyn TimeSource>,
    doubt_blocks: bool,
    others_left: bool,
}

impl Cold {
    /// An engine over a journal, without a venue yet.
    pub fn new(store: impl Store) -> Self {
        Self::over(Arc::new(store))
    }

    /// The same over a store that is shared.
    pub fn over(store: Arc<dyn Store>) -> Self {
        Self {
            journal: Journal::new(store),
            venues: Vec::new(),
            alerts: Arc::new(LogAlerts),
            time: Arc::new(BootTime),
            doubt_blocks: true,
            others_left: false,
        }
    }

    /// Adds a venue under a name.
    #[must_use]
    pub fn venue(self, alias: impl Into<Alias>, connect: impl Connect) -> Self {
        self.limited_venue(alias, connect, Limits::default())
    }

    /// Adds a venue with limits.
    #[must_use]
    pub fn limited_venue(
        mut self,
        alias: impl Into<Alias>,
        connect: impl Connect,
        limits: Limits,
    ) -> Self {
        self.venues.push((alias.into(), Box::new(connect), limits));
        self
    }

    /// Sets who is told of alerts; log lines unless set.
    #[must_use]
    pub fn alerts(mut self, alerts: impl Alerts) -> Self {
        self.alerts = Arc::new(alerts);
        self
    }

    /// Sets the monotonic clock; the system's unless set.
    #[must_use]
    pub fn time(mut self, time: Arc<dyn TimeSource>) -> Self {
        self.time = time;
        self
    }

    /// An order in doubt refuses new entries in its symbol only once it has halted its scope, instead of at once.
    #[must_use]
    pub const fn doubt_blocks_at_the_cap(mut self) -> Self {
        self.doubt_blocks = false;
        self
    }

    /// Leaves unfinished orders of venues that are not given as they are, instead of refusing to start: for a command that is about
    /// one venue.
    #[must_use]
    pub const fn leaving_other_venues(mut self) -> Self {
        self.others_left = true;
        self
    }

    /// Looks at the journal and at every venue; each open order is settled, or its scope is halted. The only way to an [`Engine`].
    ///
    /// Venues recover in parallel. One that does not answer is halted and recovered in the background; it does not hold up the others.
    ///
    /// # Errors
    /// [`RecoverError`]: a venue that cannot be used as configured, another account's keys, an unusable journal.
    pub async fn recover(self) -> Result<(Engine, RecoveryReport), RecoverError> {
        let journal = self.journal;
        let made_at = journal.store().made_at().await?;
        let halts = journal.store().halts().await?;
        let mut desks = HashMap::new();
        for (alias, connect, limits) in self.venues {
            let desk = Arc::new(open_desk(
                &journal,
                &self.time,
                alias.clone(),
                connect,
                limits,
            )?);
            if desks.insert(alias.clone(), desk).is_some() {
                return Err(RecoverError::TwoVenues { alias });
            }
        }
        let shared = Arc::new(Shared::new(
            journal,
            desks,
            halts,
            self.alerts,
            self.doubt_blocks,
        ));
        let engine = Engine::new(Arc::clone(&shared));
        // Before the rows are read: a halt or a cancel that waits is in force before anything is sent.
        shared.do_left_requests().await?;
        let mut by_venue: HashMap<Alias, Vec<OrderRecord>> = HashMap::new();
        for row in shared.journal.store().unfinished().await? {
            by_venue.entry(row.alias().clone()).or_default().push(row);
        }
        if !self.others_left
            && let Some((alias, rows)) = by_venue
                .iter()
                .find(|(alias, _)| !shared.desks.contains_key(*alias))
        {
            return Err(RecoverError::VenueMissing {
                alias: alias.clone(),
                open: rows.len(),
            });
        }
        let reading = Arc::clone(&shared);
        shared.keep("the inbox", move || {
            keep_doing_requests(Arc::clone(&reading))
        });
        let mut running = Vec::new();
        for (alias, desk) in &shared.desks {
            let rows = by_venue.remove(alias).unwrap_or_default();
            let recovery = Recovery {
                shared: Arc::clone(&shared),
                desk: Arc::clone(desk),
                rows,
                made_at,
            };
            running.push((alias.clone(), tokio::spawn(recovery.run())));
        }
        let mut report = RecoveryReport::default();
        for (alias, task) in running {
            let lost = |error: tokio::task::JoinError| RecoverError::Venue {
                alias: alias.clone(),
                error: crate::VenueError::Unreachable(error.to_string().into()),
            };
            report
                .venues
                .insert(alias.clone(), task.await.map_err(lost)??);
        }
        report.halts = shared.halts();
        Ok((engine, report))
    }
}

fn open_desk(
    journal: &Journal,
    time: &Arc<dyn TimeSource>,
    alias: Alias,
    connect: Box<dyn Connect>,
    limits: Limits,
) -> Result<Desk, RecoverError> {
    let clock = Arc::new(VenueClock::new(Arc::clone(time)));
    let rate = Arc::new(Rate::new(connect.profile().rates));
    let nonces = connect
        .nonce_scope()
        .map(|scope| Arc::new(Nonces::new(journal.clone(), scope)));
    let ctx = VenueCtx {
        alias: alias.clone(),
        clock: Arc::clone(&clock),
        nonces: nonces.clone(),
        rate: Arc::clone(&rate),
    };
    let failed = |error| RecoverError::Venue {
        alias: alias.clone(),
        error,
    };
    let venue = connect.connect(ctx).map_err(failed)?;
    Ok(Desk::new(alias, venue, clock, rate, nonces, limits))
}
