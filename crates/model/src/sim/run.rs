//! One schedule, from its first step until everything is settled or halted.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use surefill_core::{
    CancelError, ClOrdId, Engine, Halt, HaltCause, OrdState, OrdStatus, OrderFilter, OrderIntent,
    OrderRecord, PlaceError, Placement, Scope, Store,
};
use tokio::time::Instant;

use super::draw::ORDERS;
use super::event::Event;
use super::host::Shared;
use super::lie::Lie;
use super::script::{Script, Step};
use super::venue::account;
use super::world::{Blow, Faults, World, now, quantity};

/// What a schedule came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The first promise that broke, by its name first.
    pub broken: Option<String>,
    /// Everything that happened, in order.
    pub log: Vec<String>,
    /// A hash of that.
    pub trace: u64,
    /// What happened, of all that can.
    pub events: BTreeSet<Event>,
    /// Orders that came to be at the venue.
    pub orders: u64,
    /// Each order of the journal at the end, and what the venue holds for it.
    pub last: Vec<Last>,
    /// The halts in force at the end.
    pub halts: Vec<Halt>,
    /// Every cause that was ever halted for.
    pub told: Vec<HaltCause>,
}

impl Outcome {
    /// Whether an order's doubt or surprise halts something at the end.
    pub fn halted(&self) -> bool {
        self.halts.iter().any(|halt| halt.cause.order().is_some())
    }
}

/// An order at the end.
#[derive(Clone, Debug)]
pub struct Last {
    /// Its row.
    pub row: OrderRecord,
    /// Its orders at the venue: id, status, executed.
    pub at_venue: Vec<(String, OrdStatus, u32)>,
}

/// Runs a schedule.
pub fn run(script: &Script, lie: Option<Lie>) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let world = World::new(script.camp, lie, script.seed);
        let world = Shared(Arc::new(Mutex::new(world)));
        let mut run = Run {
            world: world.clone(),
            script: script.clone(),
            started: Instant::now(),
            engine: Arc::default(),
            past: Vec::new(),
            lose: 0,
            clock_step: 0,
            intents: vec![None; usize::try_from(ORDERS).unwrap_or(0)],
        };
        run.go().await;
        let mut world = world.lock();
        world.outcome()
    })
}

impl World {
    fn outcome(&mut self) -> Outcome {
        let rows = now(self.store.orders(&OrderFilter::default())).unwrap_or_default();
        let last = rows.into_iter().map(|row| {
            let held = self.held_for(&row);
            let at_venue = held
                .iter()
                .map(|held| (held.order_id.as_str().to_owned(), held.status, held.cum));
            Last {
                at_venue: at_venue.collect(),
                row,
            }
        });
        let mut hasher = DefaultHasher::new();
        self.log.hash(&mut hasher);
        Outcome {
            broken: self.broken.clone(),
            trace: hasher.finish(),
            events: self.events.clone(),
            orders: u64::try_from(self.orders.len()).unwrap_or(0),
            last: last.collect(),
            halts: now(self.store.halts()).unwrap_or_default(),
            told: self.told(),
            log: std::mem::take(&mut self.log),
        }
    }
}

pub(super) struct Run {
    pub(super) world: Shared,
    pub(super) script: Script,
    pub(super) started: Instant,
    pub(super) engine: Arc<Mutex<Option<Engine>>>,
    /// Engines of processes that another one has replaced and that still run.
    pub(super) past: Vec<Engine>,
    /// How many lazy writes go with the next death.
    pub(super) lose: usize,
    clock_step: i64,
    intents: Vec<Option<OrderIntent>>,
}

impl Run {
    async fn go(&mut self) {
        self.start(false);
        self.pass(60).await;
        for step in self.script.steps.clone() {
            if self.world.lock().broken.is_some() {
                return;
            }
            self.world.lock().note(format_args!("{step:?}"));
            self.take(step).await;
            self.pass(1).await;
        }
        self.end().await;
    }

    /// Faults stop; the process starts once more, and everything is given time.
    async fn end(&mut self) {
        {
            let mut world = self.world.lock();
            world.note("quiet");
            world.quiet = true;
            world.faults = Faults::default();
            world.end_the_past();
        }
        self.past.clear();
        self.pass(400).await;
        self.lose = 0;
        self.world.lock().kill();
        for _ in 0..200 {
            self.pass(100).await;
            let up = self.engine().is_some();
            let world = self.world.lock();
            if world.broken.is_some() {
                return;
            }
            if up && world.next_at().is_none() && world.verdict().is_none() {
                return;
            }
        }
        let mut world = self.world.lock();
        let verdict = world
            .verdict()
            .unwrap_or_else(|| "I9: recovery never ended".into());
        world.breaks(verdict);
    }

    pub(super) fn engine(&self) -> Option<Engine> {
        self.engine
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn take(&mut self, step: Step) {
        let mut world = self.world.lock();
        match step {
            Step::OnCreate(at) => world.faults.create.push_back(at),
            Step::OnCancel(at) => world.faults.cancel.push_back(at),
            Step::OnAmend(at) => world.faults.amend.push_back(at),
            Step::OnRevoke(at) => world.faults.revoke.push_back(at),
            Step::LookFails => world.faults.looks += 1,
            Step::ListFails => world.faults.lists += 1,
            Step::Down(ms) => {
                world.faults.down_until = world.now() + ms;
                world.streams.clear();
            }
            Step::Mute(n) => world.faults.mute += n,
            Step::Twice => world.faults.twice = true,
            Step::Swap => world.faults.swap = true,
            Step::Disconnect => {
                world.streams.clear();
                world.saw(Event::StreamEnded);
            }
            Step::TimeBehind(ms) => {
                world.time_behind = ms;
                world.saw(Event::TimeBehind);
            }
            Step::FullDisk(ms) => world.faults.full_until = world.now() + ms,
            Step::CommitFails { after, kept } => world.faults.commit = Some((after, kept)),
            Step::Pause { after, ms } => world.faults.armed = Some((after, Blow::Stands(ms))),
            Step::TakeOver { after, ms } => world.faults.armed = Some((after, Blow::TakenOver(ms))),
            Step::Crash { after, lose } => {
                self.lose = usize::try_from(lose).unwrap_or(0);
                match after {
                    0 => world.kill(),
                    after => world.faults.armed = Some((after - 1, Blow::Dies)),
                }
            }
            Step::Fill { n, qty } => {
                let at = world.now();
                if let Some(index) = self.open(&world, n) {
                    world.fill(index, qty, at);
                }
            }
            Step::Expire(n) => {
                let at = world.now();
                if let Some(index) = self.open(&world, n) {
                    world.end(index, at, OrdStatus::Canceled);
                }
            }
            Step::ClockStep(ms) => self.clock_step += ms,
            _ => {
                drop(world);
                self.act(step).await;
            }
        }
    }

    /// What the process, its strategy and its people do.
    async fn act(&mut self, step: Step) {
        match step {
            Step::Advance(ms) => self.pass(ms).await,
            Step::Sleep(ms) => tokio::time::advance(Duration::from_millis(ms)).await,
            Step::Second => self.start(true),
            Step::Place { .. } | Step::Despite(_) => self.place(step),
            Step::Conflict(n) => self.conflict(n),
            Step::Amend { n, qty, px } => self.amend(n, qty, px),
            Step::Cancel(n) => self.cancel(n),
            Step::CancelAll => self.cancel_all(),
            Step::Halt => {
                if let Some(engine) = self.engine() {
                    let scope = Scope::account("v", account());
                    tokio::spawn(async move { engine.halt(scope, "a person").await });
                }
            }
            Step::Resume => self.resume(),
            _ => {}
        }
    }

    /// Everything of this account goes on, whatever the cause.
    fn resume(&self) {
        let Some(engine) = self.engine() else { return };
        tokio::spawn(async move {
            for halt in engine.halts() {
                if halt.cause != HaltCause::Unreachable {
                    drop(engine.resume(halt.scope, "a person", "looked").await);
                }
            }
        });
    }

    fn place(&mut self, step: Step) {
        let Some(engine) = self.engine() else { return };
        let stamp = engine.venue_time(&"v".into()).unwrap_or_default().as_ms();
        let stamp = stamp.saturating_add_signed(self.clock_step);
        let (n, despite) = match step {
            Step::Place { n, .. } | Step::Despite(n) => (n, matches!(step, Step::Despite(_))),
            _ => return,
        };
        let Some(slot) = usize::try_from(n)
            .ok()
            .and_then(|n| self.intents.get_mut(n))
        else {
            return;
        };
        let intent = slot.get_or_insert_with(|| step.intent(n, stamp)).clone();
        let world = self.world.clone();
        let id = id_of(&intent);
        world.lock().asked_digest = Some(intent.digest());
        tokio::spawn(async move {
            let placed = if despite {
                engine.place_despite_halt(intent, "a person").await
            } else {
                engine.place(intent).await
            };
            let mut world = world.lock();
            match placed {
                Ok(placement) => {
                    let row = placement.order().record();
                    world.note(format_args!("told: {} {}", row.id, row.state));
                    if row.id != id {
                        world.breaks(format!("§4: {id} was placed, and {} is told", row.id));
                    }
                    if matches!(placement, Placement::Done(_)) && row.state == OrdState::Rejected {
                        world.watched.rejected.insert(row.id);
                    }
                }
                Err(error) => world.note(format_args!("told: {error}")),
            }
        });
    }

    /// The decision of an order that the journal holds, with another price.
    fn conflict(&self, n: u32) {
        let Some(engine) = self.engine() else { return };
        let index = usize::try_from(n).unwrap_or(usize::MAX);
        let Some(Some(intent)) = self.intents.get(index) else {
            return;
        };
        let id = id_of(intent);
        let mut other = intent.clone();
        other.ord_type = surefill_core::OrdType::Limit {
            price: "99".parse().expect("a price"),
        };
        let world = self.world.clone();
        if world.lock().row(id).is_none() {
            return;
        }
        world.lock().asked_digest = Some(other.digest());
        tokio::spawn(async move {
            let placed = engine.place(other).await;
            let mut world = world.lock();
            match placed {
                Err(PlaceError::IntentConflict { .. }) => world.saw(Event::ConflictRefused),
                Err(error) => world.note(format_args!("told: {error}")),
                Ok(_) => world.breaks(format!("§4: {id} stands for a decision with other terms")),
            }
        });
    }

    fn amend(&self, n: u32, qty: u32, px: u32) {
        let (Some(engine), Some(id)) = (self.engine(), self.id(n)) else {
            return;
        };
        let (qty, px) = (quantity(qty), px.to_string().parse().expect("a price"));
        let world = self.world.clone();
        tokio::spawn(async move {
            let amended = engine.amend(id, Some(qty), Some(px)).await;
            let mut world = world.lock();
            match amended {
                Ok(outcome) => world.note(format_args!("told: {outcome:?}")),
                Err(error) => {
                    use surefill_core::AmendError as E;
                    if matches!(error, E::Halted(_) | E::Doubt { .. }) {
                        world.saw(Event::AmendHalted);
                    }
                    world.note(format_args!("told: {error}"));
                }
            }
        });
    }

    fn cancel(&self, n: u32) {
        let (Some(engine), Some(id)) = (self.engine(), self.id(n)) else {
            return;
        };
        let world = self.world.clone();
        let count = move |world: &World| world.watched.cancels.get(&id).copied();
        let before = count(&world.lock());
        tokio::spawn(async move {
            let canceled = engine.cancel(id).await;
            let mut world = world.lock();
            match canceled {
                Ok(row) if row.cancel_requested => {
                    world.watched.canceled.insert(id);
                }
                Ok(_) => {}
                Err(CancelError::NotJournaled { .. }) => {
                    world.saw(Event::CancelNotJournaled);
                    if count(&world) == before {
                        world.breaks(format!(
                            "§9: the journal takes nothing, and the cancel of {id} did not go out"
                        ));
                    }
                }
                Err(error) => world.note(format_args!("told: {error}")),
            }
        });
    }

    fn cancel_all(&self) {
        let Some(engine) = self.engine() else { return };
        let world = self.world.clone();
        tokio::spawn(async move {
            let canceled = engine.cancel_all(&Scope::venue("v")).await;
            let asked = canceled.unwrap_or_default().into_iter();
            let asked = asked.filter(|row| row.cancel_requested).map(|row| row.id);
            world.lock().watched.canceled.extend(asked);
        });
    }

    fn id(&self, n: u32) -> Option<ClOrdId> {
        let intent = self.intents.get(usize::try_from(n).ok()?)?.as_ref()?;
        Some(id_of(intent))
    }

    fn open(&self, world: &World, n: u32) -> Option<usize> {
        let key = self.id(n)?.to_string().into();
        world.open_under(&[key]).last().copied()
    }
}

fn id_of(intent: &OrderIntent) -> ClOrdId {
    let (decision, symbol) = (&intent.decision, &intent.symbol);
    ClOrdId::derive(decision, &account(), symbol, intent.side)
}
