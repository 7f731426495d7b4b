//! A store in memory that can lose what a power cut may lose: a suffix of its lazy commits.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::{
    AccountId, Alias, Answer, Attempt, AttemptNo, Begin, Begun, Change, ClOrdId, Durability, Entry,
    ExecId, Fill, Gate, Halt, Key, Lift, NonceScope, OrderFilter, OrderId, OrderRecord, Request,
    Requested, Store, StoreError, Symbol, Transition, VenueTime,
};

type FillKey = (AccountId, Symbol, OrderId, ExecId);

#[derive(Clone, Debug)]
struct Row {
    order: OrderRecord,
    attempts: Vec<Attempt>,
    transitions: Vec<Transition>,
    fills: Vec<Fill>,
}

/// What one commit did, backwards.
#[derive(Debug)]
enum Undo {
    Row(ClOrdId, Option<Box<Row>>),
    Key((Alias, Key)),
    OrderId((Alias, OrderId)),
    Fill(FillKey),
    Halts(Vec<Halt>),
    Cursor(Alias, Option<VenueTime>),
}

#[derive(Debug, Default)]
struct Tables {
    rows: BTreeMap<ClOrdId, Row>,
    order: Vec<ClOrdId>,
    keys: HashMap<(Alias, Key), ClOrdId>,
    order_ids: HashMap<(Alias, OrderId), ClOrdId>,
    fills: HashSet<FillKey>,
    halts: Vec<Halt>,
    lifted: Vec<(Halt, Box<str>, Box<str>, VenueTime)>,
    nonces: HashMap<NonceScope, u64>,
    bindings: HashMap<Alias, AccountId>,
    cursors: HashMap<Alias, VenueTime>,
    leases: HashMap<Box<str>, u64>,
    /// A request's number is its place, from 1.
    inbox: Vec<(Request, Option<Answer>)>,
    made_at: VenueTime,
    /// Lazy commits since the last sync, oldest first.
    lazy: Vec<Vec<Undo>>,
    syncs: u64,
}

/// Orders in memory, for tests, simulations and bots that may forget.
///
/// Clones share one journal. After [`Self::crash`] or [`Self::power_cut`] every older handle is closed, as a dead process is.
#[derive(Clone)]
pub struct MemoryStore {
    tables: Arc<Mutex<Option<Tables>>>,
    closed: Arc<AtomicBool>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(VenueTime::default())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl MemoryStore {
    /// An empty journal, made at that instant.
    pub fn new(made_at: VenueTime) -> Self {
        Self::over(Tables {
            made_at,
            ..Tables::default()
        })
    }

    /// The journal as the next process finds it: nothing committed is lost, and what was lazy still may be, in a power cut.
    #[must_use]
    pub fn crash(&self) -> Self {
        Self::over(self.take())
    }

    /// The journal as the next process finds it after the newest `lose` lazy commits went with the power.
    ///
    /// Never more than those since the last sync, and always a suffix.
    #[must_use]
    pub fn power_cut(&self, lose: usize) -> Self {
        let mut tables = self.take();
        let keep = tables.lazy.len().saturating_sub(lose);
        for undos in tables.lazy.split_off(keep).into_iter().rev() {
            undos.into_iter().rev().for_each(|undo| tables.undo(undo));
        }
        tables.lazy.clear();
        Self::over(tables)
    }

    fn take(&self) -> Tables {
        self.lock().take().unwrap_or_default()
    }

    fn over(tables: Tables) -> Self {
        Self {
            tables: Arc::new(Mutex::new(Some(tables))),
            closed: Arc::new(AtomicBool::new(false)),
        }
    }

    /// How many commits a power cut could lose now.
    pub fn lazy_commits(&self) -> usize {
        self.with(|tables| tables.lazy.len()).unwrap_or(0)
    }

    /// How many commits waited for the disk so far.
    pub fn syncs(&self) -> u64 {
        self.with(|tables| tables.syncs).unwrap_or(0)
    }

    /// The halts that were lifted, with who, why and when.
    pub fn lifted(&self) -> Vec<(Halt, Box<str>, Box<str>, VenueTime)> {
        self.with(|tables| tables.lifted.clone())
            .unwrap_or_default()
    }

    /// Puts a request into the inbox, as another process would; returns its number.
    ///
    /// # Errors
    /// [`StoreError::Closed`].
    pub fn post(&self, request: &Request) -> Result<i64, StoreError> {
        self.commit(Durability::Sync, |tables, _| {
            let request = request.posted(&tables.halts, &tables.requests());
            tables.inbox.push((request, None));
            Ok(number(tables.inbox.len()))
        })
    }

    /// What the engine answered; `None` while it has not.
    pub fn answered(&self, n: i64) -> Option<Answer> {
        let answer = self.with(|tables| {
            let at = tables.inbox.iter().zip(1..);
            at.filter(|(_, no)| *no == n)
                .find_map(|((_, answer), _)| answer.clone())
        });
        answer.ok().flatten()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Tables>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.closed.load(Ordering::Acquire) {
            Err(StoreError::Closed)
        } else {
            Ok(())
        }
    }

    fn with<T>(&self, read: impl FnOnce(&Tables) -> T) -> Result<T, StoreError> {
        self.check()?;
        self.lock().as_ref().map(read).ok_or(StoreError::Closed)
    }

    /// Runs one commit. What it did is undone by a power cut unless it, or a later one, is `Sync`.
    fn commit<T>(
        &self,
        durability: Durability,
        write: impl FnOnce(&mut Tables, &mut Vec<Undo>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.check()?;
        let mut guard = self.lock();
        let tables = guard.as_mut().ok_or(StoreError::Closed)?;
        let mut undos = Vec::new();
        let done = write(tables, &mut undos)?;
        match durability {
            Durability::Lazy => tables.lazy.push(undos),
            Durability::Sync => {
                tables.lazy.clear();
                tables.syncs = tables.syncs.saturating_add(1);
            }
        }
        Ok(done)
    }
}

impl Tables {
    fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Row(id, None) => {
                self.rows.remove(&id);
                self.order.retain(|other| *other != id);
            }
            Undo::Row(id, Some(row)) => {
                self.rows.insert(id, *row);
            }
            Undo::Key(key) => {
                self.keys.remove(&key);
            }
            Undo::OrderId(key) => {
                self.order_ids.remove(&key);
            }
            Undo::Fill(key) => {
                self.fills.remove(&key);
            }
            Undo::Halts(halts) => self.halts = halts,
            Undo::Cursor(alias, Some(at)) => {
                self.cursors.insert(alias, at);
            }
            Undo::Cursor(alias, None) => {
                self.cursors.remove(&alias);
            }
        }
    }

    fn gate(&self, order: &OrderRecord, entry: &Entry) -> Option<Gate> {
        let doubt_blocks = match entry {
            Entry::Risk { doubt_blocks } => *doubt_blocks,
            Entry::Exit | Entry::DespiteHalt { .. } => return None,
        };
        if let Some(halt) = self.covering(order, |_| true) {
            return Some(Gate::Halted(halt.clone()));
        }
        let doubt = self.rows.values().map(|row| &row.order).find(|other| {
            other.in_doubt()
                && other.account == order.account
                && other.alias() == order.alias()
                && other.symbol() == order.symbol()
        });
        doubt
            .filter(|_| doubt_blocks)
            .map(|other| Gate::Doubt(other.id))
    }

    fn covering(&self, order: &OrderRecord, takes: impl Fn(&Halt) -> bool) -> Option<&Halt> {
        self.halts.iter().find(|halt| {
            takes(halt)
                && halt
                    .scope
                    .covers(order.alias(), &order.account, order.symbol())
        })
    }

    fn add_halt(&mut self, halt: &Halt, undos: &mut Vec<Undo>) {
        let known = self
            .halts
            .iter()
            .any(|other| other.scope == halt.scope && other.cause == halt.cause);
        if !known {
            undos.push(Undo::Halts(self.halts.clone()));
            self.halts.push(halt.clone());
        }
    }

    fn index(&mut self, order: &OrderRecord, undos: &mut Vec<Undo>) {
        for key in order.attempts.iter().flat_map(|attempt| &attempt.keys) {
            let at = (order.alias().clone(), key.clone());
            if self.keys.insert(at.clone(), order.id).is_none() {
                undos.push(Undo::Key(at));
            }
        }
        for order_id in &order.order_ids {
            let at = (order.alias().clone(), order_id.clone());
            if self.order_ids.insert(at.clone(), order.id).is_none() {
                undos.push(Undo::OrderId(at));
            }
        }
    }

    fn requests(&self) -> Vec<Requested> {
        let waiting = self.inbox.iter().zip(1..);
        waiting
            .filter(|((_, answer), _)| answer.is_none())
            .map(|((request, _), n)| Requested {
                n,
                request: request.clone(),
            })
            .collect()
    }

    /// Whether the request has no answer yet.
    fn waits(&self, n: i64) -> bool {
        let mut inbox = self.inbox.iter().zip(1..);
        inbox.any(|((_, answer), no)| no == n && answer.is_none())
    }

    fn answer(&mut self, n: i64, answer: &Answer) {
        let inbox = self.inbox.iter_mut().zip(1..);
        for ((_, kept), _) in inbox.filter(|(_, no)| *no == n) {
            kept.get_or_insert_with(|| answer.clone());
        }
    }

    fn row(&self, id: ClOrdId) -> Option<&Row> {
        self.rows.get(&id)
    }
}

fn number(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

fn fill_key(account: &AccountId, fill: &Fill) -> FillKey {
    (
        account.clone(),
        fill.symbol.clone(),
        fill.order_id.clone(),
        fill.exec_id.clone(),
    )
}

#[async_trait]
impl Store for MemoryStore {
    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError> {
        let Begin {
            order,
            attempt,
            entry,
        } = begin;
        // A refusal or a known id writes nothing, so it syncs nothing either.
        let found = self.with(|tables| {
            let known = tables
                .row(order.id)
                .map(|row| Begun::Exists(row.order.clone()));
            known.or_else(|| tables.gate(&order, &entry).map(Begun::Refused))
        })?;
        if let Some(begun) = found {
            return Ok(begun);
        }
        self.commit(Durability::Sync, |tables, undos| {
            if let Some(row) = tables.row(order.id) {
                return Ok(Begun::Exists(row.order.clone()));
            }
            if let Some(gate) = tables.gate(&order, &entry) {
                return Ok(Begun::Refused(gate));
            }
            let transitions = vec![Transition::first(&order, &entry)];
            let row = Row {
                order: order.clone(),
                attempts: vec![attempt],
                transitions,
                fills: Vec::new(),
            };
            tables.rows.insert(order.id, row);
            tables.order.push(order.id);
            tables.index(&order, undos);
            Ok(Begun::Inserted(order))
        })
    }

    async fn apply(
        &self,
        change: Change,
        durability: Durability,
    ) -> Result<OrderRecord, StoreError> {
        self.commit(durability, |tables, undos| {
            let before = tables
                .row(change.id)
                .ok_or(StoreError::NoSuchOrder { id: change.id })?
                .clone();
            if change.unless_halted
                && let Some(halt) = tables.covering(&before.order, |halt| halt.cause.needs_person())
            {
                return Err(StoreError::Halted(halt.clone()));
            }
            let mut fresh: Vec<Fill> = Vec::new();
            for fill in &change.fills {
                let key = fill_key(&before.order.account, fill);
                let twice = fresh
                    .iter()
                    .any(|other| fill_key(&before.order.account, other) == key);
                if !twice && !tables.fills.contains(&key) {
                    fresh.push(fill.clone());
                }
            }
            let after = before.order.apply(&change, &fresh)?;
            let mut row = before.clone();
            row.transitions
                .push(Transition::of(&before.order, &after, &change));
            row.attempts.extend(change.next_attempt.clone());
            for fill in fresh {
                let key = fill_key(&after.account, &fill);
                tables.fills.insert(key.clone());
                undos.push(Undo::Fill(key));
                row.fills.push(fill);
            }
            row.order = after.clone();
            tables.rows.insert(change.id, row);
            undos.push(Undo::Row(change.id, Some(Box::new(before))));
            tables.index(&after, undos);
            if let Some(halt) = &change.halt {
                tables.add_halt(halt, undos);
            }
            Ok(after)
        })
    }

    async fn order(&self, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError> {
        self.with(|tables| tables.row(id).map(|row| row.order.clone()))
    }

    async fn attempt(&self, id: ClOrdId, no: AttemptNo) -> Result<Option<Attempt>, StoreError> {
        self.with(|tables| {
            tables
                .row(id)?
                .attempts
                .iter()
                .find(|attempt| attempt.no == no)
                .cloned()
        })
    }

    async fn unfinished(&self) -> Result<Vec<OrderRecord>, StoreError> {
        self.with(|tables| {
            let rows = tables.order.iter().filter_map(|id| tables.row(*id));
            rows.map(|row| row.order.clone())
                .filter(OrderRecord::unfinished)
                .collect()
        })
    }

    async fn orders(&self, filter: &OrderFilter) -> Result<Vec<OrderRecord>, StoreError> {
        self.with(|tables| {
            let rows = tables.order.iter().filter_map(|id| tables.row(*id));
            rows.map(|row| &row.order)
                .filter(|order| filter.takes(order))
                .cloned()
                .collect()
        })
    }

    async fn by_key(&self, alias: &Alias, key: &Key) -> Result<Option<ClOrdId>, StoreError> {
        self.with(|tables| tables.keys.get(&(alias.clone(), key.clone())).copied())
    }

    async fn by_order_id(
        &self,
        alias: &Alias,
        order_id: &OrderId,
    ) -> Result<Option<ClOrdId>, StoreError> {
        self.with(|tables| {
            tables
                .order_ids
                .get(&(alias.clone(), order_id.clone()))
                .copied()
        })
    }

    async fn fills(&self, id: ClOrdId) -> Result<Vec<Fill>, StoreError> {
        self.with(|tables| {
            tables
                .row(id)
                .map(|row| row.fills.clone())
                .unwrap_or_default()
        })
    }

    async fn history(&self, id: ClOrdId) -> Result<Vec<Transition>, StoreError> {
        self.with(|tables| {
            tables
                .row(id)
                .map(|row| row.transitions.clone())
                .unwrap_or_default()
        })
    }

    async fn reserve(
        &self,
        scope: &NonceScope,
        floor: u64,
        n: u32,
    ) -> Result<Range<u64>, StoreError> {
        self.commit(Durability::Sync, |tables, _| {
            let next = tables.nonces.entry(scope.clone()).or_default();
            let from = floor.max(*next);
            let to = from.saturating_add(u64::from(n));
            *next = to;
            Ok(from..to)
        })
    }

    async fn bind(&self, alias: &Alias, account: &AccountId) -> Result<(), StoreError> {
        self.commit(Durability::Sync, |tables, _| {
            let bound = tables
                .bindings
                .entry(alias.clone())
                .or_insert_with(|| account.clone());
            if bound == account {
                return Ok(());
            }
            Err(StoreError::OtherAccount {
                alias: alias.clone(),
                bound: bound.clone(),
                found: account.clone(),
            })
        })
    }

    async fn halt(&self, halt: &Halt) -> Result<(), StoreError> {
        self.commit(Durability::Sync, |tables, undos| {
            tables.add_halt(halt, undos);
            Ok(())
        })
    }

    async fn lift(
        &self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, StoreError> {
        self.commit(Durability::Sync, |tables, _| {
            if let Lift::Asked { n, .. } = lift
                && !tables.waits(*n)
            {
                return Ok(Vec::new());
            }
            let lifts = |halt: &Halt| lift.takes(halt);
            let (lifted, kept) = tables.halts.drain(..).partition::<Vec<_>, _>(lifts);
            tables.halts = kept;
            if let Lift::Asked { n, .. } = lift {
                let lifted = lifted.clone();
                tables.answer(*n, &Answer::Resumed { lifted });
            }
            tables.lifted.extend(
                lifted
                    .iter()
                    .map(|halt| (halt.clone(), who.into(), reason.into(), at)),
            );
            Ok(lifted)
        })
    }

    async fn halts(&self) -> Result<Vec<Halt>, StoreError> {
        self.with(|tables| tables.halts.clone())
    }

    async fn cursor(&self, alias: &Alias) -> Result<Option<VenueTime>, StoreError> {
        self.with(|tables| tables.cursors.get(alias).copied())
    }

    async fn set_cursor(&self, alias: &Alias, at: VenueTime) -> Result<(), StoreError> {
        self.commit(Durability::Lazy, |tables, undos| {
            let before = tables.cursors.get(alias).copied();
            if before.is_none_or(|before| at > before) {
                tables.cursors.insert(alias.clone(), at);
                undos.push(Undo::Cursor(alias.clone(), before));
            }
            Ok(())
        })
    }

    async fn lease(&self, scope: &str) -> Result<u64, StoreError> {
        self.commit(Durability::Sync, |tables, _| {
            let epoch = tables.leases.entry(scope.into()).or_default();
            *epoch = epoch.saturating_add(1);
            Ok(*epoch)
        })
    }

    async fn requests(&self) -> Result<Vec<Requested>, StoreError> {
        self.with(Tables::requests)
    }

    async fn answer(&self, n: i64, answer: &Answer) -> Result<(), StoreError> {
        self.commit(Durability::Sync, |tables, _| {
            tables.answer(n, answer);
            Ok(())
        })
    }

    async fn made_at(&self) -> Result<VenueTime, StoreError> {
        self.with(|tables| tables.made_at)
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.commit(Durability::Sync, |_, _| Ok(()))?;
        self.closed.store(true, Ordering::Release);
        Ok(())
    }
}
