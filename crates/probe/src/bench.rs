//! A connected venue, without an engine: what is sent, each attempt journaled first, and what is left to be cleaned.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use surefill_core::{
    AccountId, Alias, Attempt, AttemptState, Begin, BootTime, ClOrdId, Connect, Decision, Entered,
    Entry, Fence, FenceRule, Go, Instrument, Journal, Journaled, MemoryStore, Nonces, NotSent,
    OrderIntent, OrderRecord, PrepareError, Px, Rate, RateClass, Stop, Submission, Symbol, Ticket,
    TimeSource, Venue, VenueClock, VenueCtx, VenueError, VenueProfile, VenueTime,
};

use crate::{Network, Options, ProbeError, SimControl};

/// A connected venue.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) alias: Alias,
    pub(crate) venue: Arc<dyn Venue>,
    pub(crate) profile: VenueProfile,
    pub(crate) instrument: Instrument,
    pub(crate) sim: Option<Arc<dyn SimControl>>,
    clock: Arc<VenueClock>,
    rate: Arc<Rate>,
    nonces: Option<Arc<Nonces>>,
    account: AccountId,
    legs: AtomicU32,
    placed: Mutex<BTreeMap<ClOrdId, OrderRecord>>,
    /// From when on nothing that was sent can become an order any more, venue time in ms.
    quiet_at_ms: AtomicU64,
    /// A fault may still wait at the simulator.
    pub(crate) fault: std::sync::atomic::AtomicBool,
    lag_ms: AtomicU64,
    /// A price at which a buy rests, once it is known.
    pub(crate) rest: std::sync::OnceLock<Px>,
}

/// How often a request is built anew that the venue turned away unread.
const TRIES: u32 = 6;

impl Bench {
    /// Connects, and reads account and instruments. Nothing is placed.
    pub(crate) async fn connect(
        connect: Box<dyn Connect>,
        options: &Options,
    ) -> Result<Self, ProbeError> {
        let profile = connect.profile();
        let clock = Arc::new(VenueClock::new(Arc::new(BootTime)));
        let rate = Arc::new(Rate::new(profile.rates));
        let journal = Journal::new(Arc::new(MemoryStore::new(VenueTime::default())));
        let scope = connect.nonce_scope();
        let nonces = scope.map(|scope| Arc::new(Nonces::new(journal, scope)));
        let venue = connect.connect(VenueCtx {
            alias: options.alias.clone(),
            clock: Arc::clone(&clock),
            nonces: nonces.clone(),
            rate: Arc::clone(&rate),
        })?;
        venue.venue_time().await?;
        let account = venue.account().await?;
        let on_mainnet = account.as_str().split(':').nth(1) == Some("mainnet");
        if on_mainnet || options.network == Network::Mainnet {
            return Err(ProbeError::Mainnet(options.alias.to_string()));
        }
        let instrument = listed(venue.instruments().await?, options.symbol.as_ref())?;
        let lag = profile.absence.lag.value();
        Ok(Self {
            alias: options.alias.clone(),
            venue,
            profile,
            instrument,
            sim: options.sim.clone(),
            clock,
            rate,
            nonces,
            account,
            legs: AtomicU32::new(0),
            placed: Mutex::default(),
            quiet_at_ms: AtomicU64::new(0),
            fault: false.into(),
            lag_ms: AtomicU64::new(whole_ms(lag)),
            rest: std::sync::OnceLock::new(),
        })
    }

    pub(crate) fn now(&self) -> Result<VenueTime, ProbeError> {
        let reading = self.clock.read();
        let reading = reading.ok_or_else(|| {
            ProbeError::Venue(VenueError::Unreachable("its time is not known".into()))
        })?;
        Ok(reading.now)
    }

    /// The local clock, for durations.
    pub(crate) fn elapsed() -> Duration {
        BootTime.elapsed()
    }

    /// How long it is waited for an order that shows up late: the profile's lag, or more where more was measured.
    pub(crate) fn patience(&self) -> Duration {
        let ms = self.lag_ms.load(Ordering::Relaxed);
        Duration::from_millis(ms.clamp(100, 30_000))
    }

    /// A lag was measured.
    pub(crate) fn measured(&self, lag: Duration) {
        let twice = whole_ms(lag).saturating_mul(2);
        self.lag_ms.fetch_max(twice, Ordering::Relaxed);
    }

    /// The longest way from the gate to the book.
    pub(crate) fn drain(&self) -> Duration {
        match self.profile.fence {
            FenceRule::Clock { drain, .. } => drain.value(),
            FenceRule::None | FenceRule::Height { .. } => Duration::ZERO,
        }
    }

    /// The longest time from signing to the fence, where it is an instant.
    fn window(&self) -> Duration {
        match self.profile.fence {
            FenceRule::Clock { max, .. } => max,
            FenceRule::None | FenceRule::Height { .. } => Duration::from_secs(10),
        }
    }

    /// A price at which a buy rests, so that a sell takes: the least of all where none is known.
    pub(crate) fn rest_px(&self) -> Px {
        let least = Px::new(self.instrument.tick).unwrap_or(Px::ZERO);
        self.rest.get().copied().unwrap_or(least)
    }

    pub(crate) const fn symbol(&self) -> &Symbol {
        &self.instrument.symbol
    }

    /// A decision that was never made before.
    pub(crate) fn decision(&self) -> Result<Decision, ProbeError> {
        let leg = self.legs.fetch_add(1, Ordering::Relaxed);
        Ok(Decision::new("probe", self.now()?.as_ms()).leg(leg))
    }

    pub(crate) fn id(&self, intent: &OrderIntent) -> ClOrdId {
        ClOrdId::derive(&intent.decision, &self.account, &intent.symbol, intent.side)
    }

    /// Everything that may be at the venue because of us.
    pub(crate) fn placed(&self) -> Vec<OrderRecord> {
        let placed = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        placed.values().cloned().collect()
    }

    /// The row of an order, with all attempts that were made under its id.
    pub(crate) fn record(&self, id: &ClOrdId) -> Result<OrderRecord, ProbeError> {
        let placed = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        let record = placed.get(id).cloned();
        record.ok_or_else(|| ProbeError::Inconclusive(format!("{id} was never sent")))
    }

    /// From when on nothing that was sent can become an order any more.
    pub(crate) fn quiet_at(&self) -> VenueTime {
        VenueTime::from_ms(self.quiet_at_ms.load(Ordering::Relaxed))
    }

    /// A copy of a request may still act at `at`.
    pub(crate) fn busy_until(&self, at: VenueTime) {
        let quiet = at.after(self.drain()).after(self.patience());
        self.quiet_at_ms.fetch_max(quiet.as_ms(), Ordering::Relaxed);
    }

    /// Builds and signs a request under that id.
    pub(crate) async fn prepare(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
    ) -> Result<Attempt, ProbeError> {
        self.rate.admit(RateClass::Create).await;
        let facts = self.venue.facts(intent).await?;
        let now = self.now()?;
        let nonce = match &self.nonces {
            Some(nonces) => Some(nonces.next(now).await?),
            None => None,
        };
        let attempts = self.record(id).map(|record| record.attempts.len());
        let no = u32::try_from(attempts.unwrap_or(0)).unwrap_or(u32::MAX);
        let ticket = Ticket {
            no: no.saturating_add(1),
            now,
            nonce,
            facts,
        };
        Ok(self.venue.prepare(id, intent, &ticket)?)
    }

    /// Sends an attempt once. It is journaled first, like any other, in a journal of its own: another attempt under the same id, or
    /// the same one again, is what a probe is for, and what a journal of orders would refuse.
    pub(crate) async fn send(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        attempt: &Attempt,
    ) -> Result<Submission, ProbeError> {
        let now = self.now()?;
        let journaled = self.journaled(id, intent, attempt, now).await?;
        self.keep(id, intent, attempt, now);
        self.busy_until(match attempt.fence {
            Fence::Clock(fence) => fence,
            Fence::None | Fence::Height(_) => now.after(self.window()),
        });
        let stop = Arc::new(Stop::default());
        let go = Go::new(Arc::clone(&self.clock), attempt.fence, None, stop);
        let answer = self.venue.submit(&journaled, &go).await;
        tracing::debug!(%id, no = attempt.no, ?answer, "sent");
        Ok(answer)
    }

    async fn journaled(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        attempt: &Attempt,
        now: VenueTime,
    ) -> Result<Journaled<Attempt>, ProbeError> {
        let journal = Journal::new(Arc::new(MemoryStore::new(now)));
        let begin = Begin {
            order: self.row(id, intent, attempt, now),
            attempt: attempt.clone(),
            entry: Entry::Risk { doubt_blocks: true },
        };
        match journal.begin(begin).await? {
            Entered::Inserted(_, journaled) => Ok(journaled),
            Entered::Exists(_) | Entered::Refused(_) => Err(ProbeError::Inconclusive(
                "an empty journal refused an order".to_owned(),
            )),
        }
    }

    fn row(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        attempt: &Attempt,
        now: VenueTime,
    ) -> OrderRecord {
        let state = AttemptState::new(attempt, now);
        OrderRecord::new(*id, self.account.clone(), intent.clone(), state, now)
    }

    fn keep(&self, id: &ClOrdId, intent: &OrderIntent, attempt: &Attempt, now: VenueTime) {
        let mut placed = self.placed.lock().unwrap_or_else(PoisonError::into_inner);
        let row = placed
            .entry(*id)
            .or_insert_with(|| self.row(id, intent, attempt, now));
        if row.attempt(attempt.no).is_none() {
            row.attempts.push(AttemptState::new(attempt, now));
        }
    }

    /// Builds and sends under that id, anew for as long as the venue turns the request away unread.
    pub(crate) async fn submit(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
    ) -> Result<(Attempt, Submission), ProbeError> {
        let mut wait = Duration::from_millis(50);
        let mut tries = 0;
        loop {
            let attempt = self.prepare(id, intent).await?;
            let answer = self.send(id, intent, &attempt).await?;
            tries += 1;
            let asked = match &answer {
                Submission::NotTaken { retry_after, .. } => retry_after.unwrap_or(wait),
                Submission::NotSent(NotSent::HeldBack(_) | NotSent::Connect(_)) => wait,
                Submission::Acked(_)
                | Submission::Received(_)
                | Submission::Rejected(_)
                | Submission::Duplicate(_)
                | Submission::Unknown(_) => return Ok((attempt, answer)),
            };
            if tries == TRIES {
                return Ok((attempt, answer));
            }
            tokio::time::sleep(asked).await;
            wait = wait.saturating_mul(2);
        }
    }
}

fn listed(all: Vec<Instrument>, symbol: Option<&Symbol>) -> Result<Instrument, ProbeError> {
    let wanted = match symbol {
        Some(symbol) => all.into_iter().find(|one| one.symbol == *symbol),
        None => {
            let bitcoin = all
                .iter()
                .position(|one| one.symbol.as_str().starts_with("BTC"));
            all.into_iter().nth(bitcoin.unwrap_or(0))
        }
    };
    let name = || symbol.map_or_else(|| "an instrument".to_owned(), ToString::to_string);
    wanted.ok_or_else(|| ProbeError::NotListed(name()))
}

pub(crate) fn whole_ms(of: Duration) -> u64 {
    u64::try_from(of.as_millis()).unwrap_or(u64::MAX)
}

/// Whether terms can be mended: the nearest value that the venue takes, or its least.
pub(crate) const fn is_terms(error: &PrepareError) -> bool {
    matches!(
        error,
        PrepareError::OffStep { .. }
            | PrepareError::BelowMinimum { .. }
            | PrepareError::AboveMaximum { .. }
    )
}
