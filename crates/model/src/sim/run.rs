//! One schedule, from its first step until everything is settled or halted.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use surefill_core::{
    Alerts, ClOrdId, Cold, Decision, Engine, GiveUp, HaltCause, OrdState, OrdStatus, OrderFilter,
    OrderIntent, OrderRecord, Placement, Resubmit, Scope, Side, Store,
};
use tokio::time::Instant;

use super::camp::{Lie, TTL};
use super::host::{Shared, VirtualTime};
use super::script::{ORDERS, Script, Step};
use super::store::LifeStore;
use super::venue::{SimConnect, account};
use super::world::{Held, World, now, quantity};

/// What a schedule came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The first promise that broke.
    pub broken: Option<String>,
    /// Everything that happened, in order.
    pub log: Vec<String>,
    /// Orders that came to be at the venue.
    pub orders: u64,
    /// Whether an order's doubt or surprise halts something at the end.
    pub halted: bool,
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
            lose: 0,
            clock_step: 0,
            intents: vec![None; usize::try_from(ORDERS).unwrap_or(0)],
            rejected: Arc::default(),
        };
        run.go().await;
        let mut world = world.lock();
        let halts = now(world.store.halts()).unwrap_or_default();
        Outcome {
            broken: world.broken.clone(),
            log: std::mem::take(&mut world.log),
            orders: u64::try_from(world.orders.len()).unwrap_or(0),
            halted: halts.iter().any(|halt| halt.cause.order().is_some()),
        }
    })
}

#[derive(Debug)]
struct Silent;

impl Alerts for Silent {
    fn alert(&self, _: &surefill_core::Alert) {}
}

struct Run {
    world: Shared,
    script: Script,
    started: Instant,
    engine: Arc<Mutex<Option<Engine>>>,
    /// How many lazy writes go with the next death.
    lose: usize,
    clock_step: i64,
    intents: Vec<Option<OrderIntent>>,
    /// Orders whose rejection was told to the strategy.
    rejected: Arc<Mutex<Vec<ClOrdId>>>,
}

impl Run {
    async fn go(&mut self) {
        self.start();
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
            world.on_create.clear();
            world.on_cancel.clear();
            world.on_revoke.clear();
            world.looks_fail = 0;
            world.lists_fail = 0;
            world.down_until = 0;
            world.mute = 0;
            world.armed = None;
        }
        self.pass(400).await;
        self.lose = 0;
        self.world.lock().died = true;
        for _ in 0..200 {
            self.pass(100).await;
            if self.world.lock().broken.is_some() {
                return;
            }
            if self.is_up() && self.world.lock().next_at().is_none() && self.verdict().is_none() {
                return;
            }
        }
        let verdict = self
            .verdict()
            .unwrap_or_else(|| "recovery never ended".into());
        self.world.lock().breaks(verdict);
    }

    fn is_up(&self) -> bool {
        let engine = self.engine.lock();
        engine.unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// A process starts on what the last one left.
    fn start(&self) {
        let (store, life, profile) = {
            let mut world = self.world.lock();
            world.life += 1;
            world.died = false;
            world.armed = None;
            world.stream = None;
            world.unkept.clear();
            (
                world.store.clone(),
                world.life,
                self.script.camp.profile(world.lie),
            )
        };
        let connect = SimConnect {
            world: self.world.clone(),
            life,
            profile,
        };
        let time = Arc::new(VirtualTime(self.started));
        let cold = Cold::new(LifeStore::new(store, self.world.clone(), life))
            .venue("v", connect)
            .alerts(Silent)
            .time(time);
        let (world, slot) = (self.world.clone(), Arc::clone(&self.engine));
        tokio::spawn(async move {
            let recovered = cold.recover().await;
            if !world.lock().lives(life) {
                return;
            }
            match recovered {
                Ok((engine, _)) => {
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine);
                }
                Err(error) => world.lock().breaks(format!("recovery failed: {error}")),
            }
        });
    }

    /// Time passes; a process that died on the way is started again.
    async fn pass(&self, ms: u64) {
        let mut left = ms;
        while left > 0 {
            let part = left.min(25);
            tokio::time::sleep(Duration::from_millis(part)).await;
            left -= part;
            let died = {
                let mut world = self.world.lock();
                world.check();
                world.died
            };
            if died {
                self.restart();
            }
        }
    }

    fn restart(&self) {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = None;
        {
            let mut world = self.world.lock();
            world.store = if self.lose == 0 {
                world.store.crash()
            } else {
                world.store.power_cut(self.lose)
            };
            let lost = self.lose;
            world.note(format_args!(
                "the process dies and starts again, {lost} lazy writes lost at most"
            ));
            let told = self
                .rejected
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            for id in told {
                let row = now(world.store.order(id)).ok().flatten();
                if row.is_none_or(|row| row.state != OrdState::Rejected) {
                    world.breaks(format!("{id} was told to be rejected, and its row is not"));
                }
            }
        }
        self.start();
    }

    fn engine(&self) -> Option<Engine> {
        self.engine
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Place {
                n,
                resubmit,
                exit,
                give_up,
            } => self.place(n, resubmit, exit, give_up),
            Step::Cancel(n) => {
                if let (Some(engine), Some(id)) = (self.engine(), self.id(n)) {
                    tokio::spawn(async move { engine.cancel(id).await.map(drop) });
                }
            }
            Step::CancelAll => {
                if let Some(engine) = self.engine() {
                    tokio::spawn(
                        async move { engine.cancel_all(&Scope::venue("v")).await.map(drop) },
                    );
                }
            }
            Step::OnCreate(at) => self.world.lock().on_create.push_back(at),
            Step::OnCancel(at) => self.world.lock().on_cancel.push_back(at),
            Step::OnRevoke(at) => self.world.lock().on_revoke.push_back(at),
            Step::LookFails => self.world.lock().looks_fail += 1,
            Step::ListFails => self.world.lock().lists_fail += 1,
            Step::Fill { n, qty } => {
                let mut world = self.world.lock();
                let at = world.now();
                if let Some(index) = self.open(&world, n) {
                    world.fill(index, qty, at);
                }
            }
            Step::Expire(n) => {
                let mut world = self.world.lock();
                let at = world.now();
                if let Some(index) = self.open(&world, n) {
                    world.end(index, at, OrdStatus::Canceled);
                }
            }
            Step::Advance(ms) => self.pass(ms).await,
            Step::Sleep(ms) => tokio::time::advance(Duration::from_millis(ms)).await,
            Step::ClockStep(ms) => self.clock_step += ms,
            Step::Down(ms) => {
                let mut world = self.world.lock();
                world.down_until = world.now() + ms;
                world.stream = None;
            }
            Step::Mute(n) => self.world.lock().mute += n,
            Step::Twice => self.world.lock().twice = true,
            Step::Disconnect => self.world.lock().stream = None,
            Step::Crash { after, lose } => {
                self.lose = usize::try_from(lose).unwrap_or(0);
                let mut world = self.world.lock();
                match after {
                    0 => world.died = true,
                    after => world.armed = Some(after - 1),
                }
            }
            Step::Halt => {
                if let Some(engine) = self.engine() {
                    let scope = Scope::account("v", account());
                    tokio::spawn(async move { engine.halt(scope, "a person").await });
                }
            }
            Step::Resume => self.resume(),
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

    fn place(&mut self, n: u32, resubmit: u8, exit: bool, give_up: u8) {
        let Some(engine) = self.engine() else { return };
        let Some(slot) = usize::try_from(n)
            .ok()
            .and_then(|n| self.intents.get_mut(n))
        else {
            return;
        };
        let stamp = engine.venue_time(&"v".into()).unwrap_or_default().as_ms();
        let fresh = || OrderIntent {
            ttl: Duration::from_millis(TTL),
            resubmit: match resubmit {
                0 => Resubmit::Never,
                1 => Resubmit::AfterProof,
                _ => Resubmit::AfterAbsence,
            },
            give_up: match give_up {
                0 => GiveUp::Accept,
                1 => GiveUp::Strict,
                _ => GiveUp::Land,
            },
            reduce_only: exit,
            ..OrderIntent::limit(
                Decision::new("sim", stamp.saturating_add_signed(self.clock_step)).leg(n),
                "v",
                if n == 0 { "S" } else { "T" },
                Side::Buy,
                surefill_core::Amount::Base(quantity(3)),
                "100".parse().expect("a price"),
            )
        };
        let intent = slot.get_or_insert_with(fresh).clone();
        let (world, rejected) = (self.world.clone(), Arc::clone(&self.rejected));
        tokio::spawn(async move {
            let placed = engine.place(intent).await;
            match placed {
                Ok(placement) => {
                    let row = placement.order().record();
                    world
                        .lock()
                        .note(format_args!("told: {} {}", row.id, row.state));
                    if matches!(placement, Placement::Done(_)) && row.state == OrdState::Rejected {
                        let mut rejected = rejected.lock().unwrap_or_else(PoisonError::into_inner);
                        rejected.push(row.id);
                    }
                }
                Err(error) => world.lock().note(format_args!("told: {error}")),
            }
        });
    }

    fn id(&self, n: u32) -> Option<ClOrdId> {
        let intent = self.intents.get(usize::try_from(n).ok()?)?.as_ref()?;
        let (decision, symbol) = (&intent.decision, &intent.symbol);
        Some(ClOrdId::derive(decision, &account(), symbol, intent.side))
    }

    fn open(&self, world: &World, n: u32) -> Option<usize> {
        let key = self.id(n)?.to_string().into();
        world.open_under(&[key]).last().copied()
    }

    /// What is not as it should be when nothing happens any more.
    fn verdict(&self) -> Option<String> {
        let world = self.world.lock();
        let rows = now(world.store.orders(&OrderFilter::default())).ok()?;
        let halts = now(world.store.halts()).ok()?;
        let mut told: Vec<HaltCause> = halts.into_iter().map(|halt| halt.cause).collect();
        let in_force = told.len();
        told.extend(
            world
                .store
                .lifted()
                .into_iter()
                .map(|(halt, ..)| halt.cause),
        );
        for row in &rows {
            let key = row.id.to_string();
            let held: Vec<&Held> = world
                .orders
                .iter()
                .filter(|held| held.key.as_str() == key)
                .collect();
            let broken = settled(row, &held, &told, in_force)
                .or_else(|| booked(&now(world.store.fills(row.id)).ok()?, row, &held));
            if broken.is_some() {
                return broken;
            }
        }
        let ours = |held: &&Held| {
            rows.iter()
                .any(|row| row.id.to_string() == held.key.as_str())
        };
        let strange = world.orders.iter().find(|held| !ours(held));
        strange.map(|held| {
            format!(
                "{} lives for {} and the journal holds no row",
                held.order_id,
                held.key.as_str()
            )
        })
    }
}

/// P2: settled as the venue says, or halted for a cause that speaks of the order.
fn settled(
    row: &OrderRecord,
    held: &[&Held],
    told: &[HaltCause],
    in_force: usize,
) -> Option<String> {
    let speaks = |cause: &HaltCause| cause.order() == Some(row.id);
    let alarmed = told
        .iter()
        .any(|cause| speaks(cause) && cause.needs_person());
    // A second that ended unseen and unexecuted, by our own cancel, cost nothing.
    let counts = |held: &&&Held| {
        !row.order_ids.contains(&held.order_id) && (held.cum > 0 || held.status == OrdStatus::Open)
    };
    let second =
        held.len() > 1 && (row.order_ids.len() > 1 || held.iter().any(|held| counts(&held)));
    if second && !alarmed {
        return Some(format!(
            "I11: {} orders for {} and nobody was told",
            held.len(),
            row.id
        ));
    }
    // One row cannot say what became of two: that both are known and somebody was told is what can be had.
    if held.len() > 1 {
        return None;
    }
    let open = held
        .iter()
        .filter(|held| held.status == OrdStatus::Open)
        .count();
    if row.state.is_working() {
        if open == 0 {
            return Some(format!("{} is {} and does not live", row.id, row.state));
        }
    } else if !row.state.is_terminal() || row.unfinished() {
        // In doubt for good: a halt in force says so.
        if !told.iter().take(in_force).any(speaks) {
            return Some(format!(
                "P2: {} is {} and nothing is halted for it",
                row.id, row.state
            ));
        }
        return None;
    } else if open > 0 {
        return Some(format!("{} is {} and lives", row.id, row.state));
    }
    if let [only] = held
        && !alarmed
        && row.cum_qty != quantity(only.cum)
    {
        return Some(format!(
            "{} executed {} and the row says {}",
            row.id, only.cum, row.cum_qty
        ));
    }
    None
}

/// P3: the venue's fills are the journal's.
fn booked(fills: &[surefill_core::Fill], row: &OrderRecord, held: &[&Held]) -> Option<String> {
    let at_venue = held.iter().flat_map(|held| &held.fills);
    let missing = at_venue
        .clone()
        .find(|(fill, _)| !fills.iter().any(|other| other.is(fill)));
    if let Some((fill, _)) = missing {
        return Some(format!(
            "P3: fill {} of {} is not booked",
            fill.exec_id.as_str(),
            row.id
        ));
    }
    (at_venue.count() != fills.len())
        .then(|| format!("P3: a fill of {} is booked twice or made up", row.id))
}
