//! How a process starts, dies, is replaced, and how time passes for it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use surefill_core::{Alerts, Cold, Engine, OrderRecord, RecoverError, Store, StoreError};

use super::event::Event;
use super::host::{Process, VirtualTime};
use super::lie::Lie;
use super::run::Run;
use super::store::LifeStore;
use super::venue::SimConnect;
use super::world::{World, now};

#[derive(Debug)]
struct Silent;

impl Alerts for Silent {
    fn alert(&self, _: &surefill_core::Alert) {}
}

impl Run {
    /// A process starts on what the last one left; `second` while another one holds the journal.
    pub(super) fn start(&self, second: bool) {
        let (store, life, lie) = {
            let mut world = self.world.lock();
            let life = world.begin_life(!second);
            (world.store.clone(), life, world.lie)
        };
        let process = Process {
            world: self.world.clone(),
            life,
        };
        let connect = SimConnect {
            process: process.clone(),
            camp: self.script.camp,
            profile: self.script.camp.profile(lie),
        };
        let time = Arc::new(VirtualTime(self.started));
        let cold = Cold::new(LifeStore::new(store, process, second))
            .venue("v", connect)
            .alerts(Silent)
            .time(time);
        let (world, slot) = (self.world.clone(), Arc::clone(&self.engine));
        tokio::spawn(async move {
            let recovered = cold.recover().await;
            let engine = world.lock().recovered(life, second, recovered);
            if let Some(engine) = engine {
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine);
            }
        });
    }

    /// Time passes; a process that died on the way is started again, and one that is to be replaced is replaced.
    pub(super) async fn pass(&mut self, ms: u64) {
        let mut left = ms;
        while left > 0 {
            let part = left.min(25);
            tokio::time::sleep(Duration::from_millis(part)).await;
            left -= part;
            let (died, succeeded) = {
                let mut world = self.world.lock();
                world.check();
                (world.died, world.succeeded)
            };
            self.check_halts();
            if died {
                self.restart();
            } else if succeeded {
                self.succeed();
            }
        }
    }

    /// What is in force is durable.
    fn check_halts(&self) {
        let Some(engine) = self.engine() else { return };
        let halts = engine.halts();
        let mut world = self.world.lock();
        let lost = halts.iter().find(|halt| !world.shadow.was_halted(halt));
        if let Some(halt) = lost {
            let text = format!("§8: a halt is in force and not durable: {}", halt.text);
            world.breaks(text);
        }
    }

    /// Another process takes the place of one that stands still.
    fn succeed(&mut self) {
        let engine = self.engine.lock();
        let engine = engine.unwrap_or_else(PoisonError::into_inner).take();
        self.past.extend(engine);
        {
            let mut world = self.world.lock();
            world.note("another process takes its place");
            world.saw(Event::TakenOver);
            world.close_nonces();
        }
        self.start(false);
    }

    fn restart(&self) {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.world.lock().power(self.lose);
        self.start(false);
    }
}

impl World {
    /// The journal as the next process finds it.
    fn power(&mut self, lose: usize) {
        let stake = self.store.lazy_commits();
        if self.lie.is_none() && stake != self.shadow.at_stake() {
            let shadow = self.shadow.at_stake();
            self.breaks(format!("§9: {stake} commits at stake, and {shadow} known"));
        }
        let lost = lose.min(stake);
        if !self.quiet {
            self.saw(if lose == 0 {
                Event::Crash
            } else {
                Event::PowerCut
            });
        }
        if lost > 0 {
            self.saw(Event::LazyWritesLost);
        }
        self.store = if self.lies(Lie::LostInCrash) {
            self.store.power_cut(usize::MAX)
        } else if lose == 0 {
            self.store.crash()
        } else {
            self.store.power_cut(lose)
        };
        if lose > 0 {
            self.shadow.lost(lose);
        }
        self.watched.evidence.clear();
        self.close_nonces();
        self.note(format_args!(
            "the process dies and starts again, {lost} lazy writes lost"
        ));
    }

    /// What became of a start.
    fn recovered<T>(
        &mut self,
        life: u64,
        second: bool,
        recovered: Result<(Engine, T), RecoverError>,
    ) -> Option<Engine> {
        let error = match recovered {
            Ok(_) if second => {
                self.breaks("I6: a second process recovers".into());
                return None;
            }
            Ok((engine, _)) if life == self.holder && self.alive.contains(&life) => {
                self.recovered.insert(life);
                // One whose journal is closed meanwhile can write no halt, and places nothing.
                if !self.closed.contains(&life) {
                    let broken = self.unsettled();
                    self.breaks_if(broken);
                }
                return Some(engine);
            }
            // It was replaced meanwhile.
            Ok(_) => return None,
            Err(error) => error,
        };
        match &error {
            RecoverError::Journal(StoreError::Held { .. }) if second => {
                self.saw(Event::SecondProcessRefused);
            }
            RecoverError::Journal(_) if life != self.holder => {}
            // Whoever looks after processes starts it again.
            RecoverError::Journal(
                StoreError::Full | StoreError::Closed | StoreError::Commit(_),
            ) => {
                self.note(format_args!("recovery failed: {error}"));
                self.kill();
            }
            _ => self.breaks(format!("I9: recovery failed: {error}")),
        }
        None
    }

    /// I9: after recovery each open order is settled, or its scope is halted.
    fn unsettled(&self) -> Option<String> {
        let rows = now(self.store.unfinished()).unwrap_or_default();
        let halts = now(self.store.halts()).unwrap_or_default();
        let covered = |row: &OrderRecord| {
            let mut halts = halts.iter();
            halts.any(|halt| halt.scope.covers(row.alias(), &row.account, row.symbol()))
        };
        let row = rows.iter().find(|row| {
            let settled = row.state.is_working() || row.state.is_terminal();
            // One that worked is settled; what it has come to since is doubt as of any other.
            !settled && !self.worked.contains(&row.id) && !covered(row)
        })?;
        Some(format!(
            "I9: {} is {} after recovery, and nothing is halted",
            row.id, row.state
        ))
    }
}
