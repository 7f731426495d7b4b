//! From an intent to a driver: everything that is tested before the one durable commit.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::desk::{Desk, TicketError};
use super::driver::{Line, Start};
use super::shared::{DriverHandle, Shared, row_when};
use super::{Order, PlaceError, Placement};
use crate::{
    AccountId, Amount, AttemptState, Begin, ClOrdId, Entered, Entry, Gate, OrdType, OrderFilter,
    OrderIntent, OrderRecord, Reading, StoreError, Strategy, Transition, VenueProfile, VenueTime,
};

/// How far ahead of the venue's time a decision may lie.
const MAX_AHEAD: Duration = Duration::from_secs(60);

/// Who takes the responsibility for an exit under a halt.
pub(crate) type Despite = Option<Box<str>>;

impl Shared {
    /// Places an intent, once. Runs in a task of the engine: dropping the caller's future cancels nothing.
    pub(crate) async fn place(
        self: Arc<Self>,
        intent: OrderIntent,
        despite: Despite,
    ) -> Result<Placement, PlaceError> {
        let no_venue = || PlaceError::NoVenue {
            alias: intent.venue.clone(),
        };
        let desk = Arc::clone(self.desks.get(&intent.venue).ok_or_else(no_venue)?);
        check_terms(&intent)?;
        let Some(account) = desk.account().cloned() else {
            return match self.known(&intent).await.map_err(PlaceError::Undecided)? {
                Some(row) => {
                    let driver = self.driver(row.id);
                    found(row, driver, &intent)
                }
                None => Err(self.unreached(&desk)),
            };
        };
        let id = ClOrdId::derive(&intent.decision, &account, &intent.symbol, intent.side);
        loop {
            if let Some(driver) = self.driver(id) {
                match existing(driver, &intent).await {
                    Some(placed) => return placed,
                    // It was not journaled after all: whoever held the id is gone.
                    None => continue,
                }
            }
            // An order that cannot be read may have been sent before.
            if let Some(row) = self
                .journal
                .store()
                .order(id)
                .await
                .map_err(PlaceError::Undecided)?
            {
                return found(row, None, &intent);
            }
            if self.is_stopping() {
                return Err(PlaceError::ShuttingDown);
            }
            // From here on the id is taken in this process, so that two tasks with one decision meet.
            let line = Line::new(None, false);
            let Some(taken) = Taken::take(&self, id, &line.handle) else {
                continue;
            };
            match self
                .enter(&desk, &account, taken, &intent, &despite, line)
                .await?
            {
                Some(handle) => return answered(handle, id).await,
                None => continue,
            }
        }
    }

    /// The order of a decision that the journal holds, while the account that makes its id has not been read: an alias has one account.
    async fn known(&self, intent: &OrderIntent) -> Result<Option<OrderRecord>, StoreError> {
        let filter = OrderFilter {
            venue: Some(intent.venue.clone()),
            symbol: Some(intent.symbol.clone()),
            strategy: Some(intent.decision.strategy.clone()),
            ..OrderFilter::default()
        };
        let rows = self.journal.store().orders(&filter).await?;
        let same = |row: &OrderRecord| {
            row.intent.decision == intent.decision && row.intent.side == intent.side
        };
        Ok(rows.into_iter().find(same))
    }

    /// Why an entry at a venue that has not answered yet is refused.
    fn unreached(&self, desk: &Desk) -> PlaceError {
        let halts = self.halts();
        let halt = halts
            .into_iter()
            .find(|halt| halt.scope.venue == desk.alias && halt.scope.account.is_none());
        let error = crate::VenueError::Unreachable("it has not answered yet".into());
        halt.map_or_else(
            || PlaceError::Venue {
                alias: desk.alias.clone(),
                error,
            },
            PlaceError::Halted,
        )
    }

    /// Tests, builds, journals, and starts the driver. `None` when the journal turned out to hold the id.
    async fn enter(
        self: &Arc<Self>,
        desk: &Arc<Desk>,
        account: &AccountId,
        taken: Taken<'_>,
        intent: &OrderIntent,
        despite: &Despite,
        line: Line,
    ) -> Result<Option<DriverHandle>, PlaceError> {
        let id = taken.id;
        let venue_error = |error| PlaceError::Venue {
            alias: desk.alias.clone(),
            error,
        };
        if self.journal.is_closed() {
            let error = crate::StoreError::Closed;
            return Err(if self.undecided(id) {
                PlaceError::Undecided(error)
            } else {
                PlaceError::Journal(error)
            });
        }
        check_ttl(intent, &desk.profile)?;
        check_age(intent, desk.now().await.map_err(venue_error)?)?;
        let entry = match despite {
            Some(who) => Entry::DespiteHalt { who: who.clone() },
            None if desk.is_exit(intent) => Entry::Exit,
            None => Entry::Risk {
                doubt_blocks: self.doubt_blocks,
            },
        };
        if let Entry::Risk { .. } = entry {
            self.check_halts(desk, account, intent)?;
        }
        self.admit(desk, intent, &line)?;
        let ticket = desk.ticket(intent, 1).await.map_err(|error| match error {
            TicketError::Venue(error) => venue_error(error),
            TicketError::Journal(error) => PlaceError::from_store(error),
        })?;
        let attempt = desk
            .venue
            .prepare(&id, intent, &ticket)
            .map_err(PlaceError::Prepare)?;
        let first = AttemptState::new(&attempt, ticket.now);
        let order = OrderRecord::new(id, account.clone(), intent.clone(), first, ticket.now);
        let logged = Transition::first(&order, &entry);
        match self
            .journal
            .begin(Begin {
                order,
                attempt,
                entry,
            })
            .await
            .map_err(|error| self.not_entered(id, error))?
        {
            Entered::Inserted(row, attempt) => {
                metrics::counter!("surefill_orders_total").increment(1);
                self.tell(super::Event::Transition {
                    order: Box::new(row.clone()),
                    transition: Box::new(logged),
                });
                let handle = line.handle.clone();
                taken.keep();
                self.drive(desk, row, line, Start::Placed(attempt));
                Ok(Some(handle))
            }
            Entered::Exists(_) => Ok(None),
            Entered::Refused(gate) => Err(PlaceError::from_gate(gate)),
        }
    }

    /// The error of an entry; one that may be on disk all the same is remembered.
    fn not_entered(&self, id: ClOrdId, error: crate::StoreError) -> PlaceError {
        let error = PlaceError::from_store(error);
        if let PlaceError::Undecided(_) = error {
            let mut undecided = self
                .undecided
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            undecided.insert(id);
        }
        error
    }

    fn undecided(&self, id: ClOrdId) -> bool {
        let undecided = self.undecided.lock();
        undecided
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&id)
    }

    /// The halts as this process knows them: spares the venue and the journal a question. They are tested again inside the commit.
    fn check_halts(
        &self,
        desk: &Desk,
        account: &AccountId,
        intent: &OrderIntent,
    ) -> Result<(), PlaceError> {
        let halts = self.halts();
        let covering = halts
            .into_iter()
            .find(|halt| halt.scope.covers(&desk.alias, account, &intent.symbol));
        covering.map_or(Ok(()), |halt| {
            Err(PlaceError::from_gate(Gate::Halted(halt)))
        })
    }
}

/// An id that is taken in this process while its intent is on its way into the journal; free again however that ends.
struct Taken<'a> {
    shared: &'a Shared,
    id: ClOrdId,
    kept: bool,
}

impl<'a> Taken<'a> {
    fn take(shared: &'a Shared, id: ClOrdId, handle: &DriverHandle) -> Option<Self> {
        let mut drivers = shared
            .drivers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if drivers.contains_key(&id) {
            return None;
        }
        drivers.insert(id, handle.clone());
        Some(Self {
            shared,
            id,
            kept: false,
        })
    }

    /// The order is journaled: from here on its driver holds the id.
    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.shared.release(self.id);
        }
    }
}

/// What is no order anywhere.
fn check_terms(intent: &OrderIntent) -> Result<(), PlaceError> {
    let invalid = |what: String| Err(PlaceError::Invalid { what: what.into() });
    let strategy = intent.decision.strategy.as_str();
    if strategy.is_empty() {
        return invalid("the strategy has no name".to_owned());
    }
    if strategy.len() > Strategy::MAX_BYTES {
        let (len, max) = (strategy.len(), Strategy::MAX_BYTES);
        return invalid(format!(
            "the strategy's name has {len} bytes, and {max} are allowed"
        ));
    }
    if intent.symbol.as_str().is_empty() {
        return invalid("the symbol has no name".to_owned());
    }
    let (Amount::Base(qty) | Amount::Quote(qty)) = intent.amount;
    if qty.is_zero() {
        return invalid("the amount is zero".to_owned());
    }
    match intent.ord_type {
        OrdType::Limit { price } if price.is_zero() => invalid("the price is zero".to_owned()),
        OrdType::Limit { .. } | OrdType::Market => Ok(()),
    }
}

/// An intent that outlives the venue's lists could end in doubt that no lookup resolves.
fn check_ttl(intent: &OrderIntent, profile: &VenueProfile) -> Result<(), PlaceError> {
    let absence = &profile.absence;
    let kept = absence
        .closed_retention
        .value()
        .min(absence.fills_retention.value());
    if intent.ttl <= kept {
        return Ok(());
    }
    let (ttl, kept) = (intent.ttl.as_secs(), kept.as_secs());
    Err(PlaceError::Invalid {
        what: format!("a ttl of {ttl} s outlives the venue's lists, which reach back {kept} s")
            .into(),
    })
}

/// A signal from the future has a wrong clock behind it; a stale one is not traded.
fn check_age(intent: &OrderIntent, reading: Reading) -> Result<(), PlaceError> {
    let decided_at: VenueTime = intent.decision.decided_at;
    let ahead = decided_at.since(reading.latest());
    if ahead > MAX_AHEAD {
        return Err(PlaceError::TooFarAhead {
            decided_at,
            now: reading.now,
            ahead_ms: ahead.as_millis(),
            max_ms: MAX_AHEAD.as_millis(),
        });
    }
    if reading.now >= intent.stale_at() {
        return Err(PlaceError::Stale {
            decided_at,
            now: reading.now,
            ttl_ms: intent.ttl.as_millis(),
        });
    }
    Ok(())
}

/// The decision is placed already: the same order is handed out, whoever asks.
fn found(
    row: OrderRecord,
    driver: Option<DriverHandle>,
    intent: &OrderIntent,
) -> Result<Placement, PlaceError> {
    if row.digest != intent.digest() {
        return Err(PlaceError::IntentConflict {
            id: row.id,
            differs: intent.differs_from(&row.intent).into(),
        });
    }
    Ok(Placement::of(Order::new(
        row,
        driver.map(|driver| driver.published),
    )))
}

/// Waits for the first answer of an order that another task placed; `None` when it was not placed.
async fn existing(
    driver: DriverHandle,
    intent: &OrderIntent,
) -> Option<Result<Placement, PlaceError>> {
    let mut published = driver.published.clone();
    let row = row_when(&mut published, |published| published.answered).await;
    match row {
        Some(row) => Some(found(row, Some(driver), intent)),
        None => {
            // Its sender is dropped and its entry goes next.
            tokio::task::yield_now().await;
            None
        }
    }
}

/// Waits until the first send is answered and the row says what the answer proves.
async fn answered(driver: DriverHandle, id: ClOrdId) -> Result<Placement, PlaceError> {
    let mut published = driver.published.clone();
    let row = row_when(&mut published, |published| published.answered).await;
    let lost = || PlaceError::Undecided(crate::StoreError::NoSuchOrder { id });
    let row = row.ok_or_else(lost)?;
    Ok(Placement::of(Order::new(row, Some(driver.published))))
}
