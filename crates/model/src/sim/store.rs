//! The memory store as one life of a process sees it: before and after each write something may befall it, and a disk may be full.

use std::ops::Range;

use async_trait::async_trait;
use surefill_core::{
    AccountId, Alias, Answer, Attempt, AttemptNo, Begin, Begun, Change, ClOrdId, Durability, Entry,
    Fill, Halt, Key, Lift, Mark, MemoryStore, NonceScope, OrderFilter, OrderId, OrderRecord,
    Requested, Store, StoreError, Transition, VenueTime,
};

use super::event::Event;
use super::host::Process;
use super::lie::Lie;
use super::world::{World, now};

/// One life's handle.
#[derive(Debug)]
pub(super) struct LifeStore {
    inner: MemoryStore,
    process: Process,
    /// Another process holds the journal.
    refused: bool,
}

/// What becomes of a write.
enum Fate {
    Done,
    Refused(StoreError),
    Fails { kept: bool },
}

fn failed() -> StoreError {
    StoreError::Commit("scripted".into())
}

impl LifeStore {
    pub(super) const fn new(inner: MemoryStore, process: Process, refused: bool) -> Self {
        Self {
            inner,
            process,
            refused,
        }
    }

    fn lies(&self, lie: Lie) -> bool {
        self.process.world.lock().lies(lie)
    }

    fn fate(&self) -> Fate {
        let life = self.process.life;
        let mut world = self.process.world.lock();
        if world.closed.contains(&life) && !world.lies(Lie::FailureCalledFull) {
            return Fate::Refused(StoreError::Closed);
        }
        if life != world.holder {
            if world.lies(Lie::LockIgnored) {
                world.breaks("I6: two processes write one journal".into());
                return Fate::Done;
            }
            world.saw(Event::WriteFenced);
            return Fate::Refused(StoreError::Closed);
        }
        if world.is_full() {
            world.saw(Event::FullDisk);
            return Fate::Refused(StoreError::Full);
        }
        match world.faults.commit {
            None => Fate::Done,
            Some((0, kept)) => {
                world.faults.commit = None;
                world.closed.insert(life);
                world.note("a commit fails");
                world.saw(if kept {
                    Event::CommitFailedAndKept
                } else {
                    Event::CommitFailed
                });
                Fate::Fails { kept }
            }
            Some((left, kept)) => {
                world.faults.commit = Some((left - 1, kept));
                Fate::Done
            }
        }
    }

    /// One write, and what the watch notes of it in the moment in which it is done.
    async fn write<T: Send>(
        &self,
        call: impl Future<Output = Result<T, StoreError>> + Send,
        note: impl FnOnce(&mut World, &T) + Send,
    ) -> Result<T, StoreError> {
        self.held()?;
        self.process.tick().await;
        match self.fate() {
            Fate::Done => {}
            Fate::Refused(error) => return Err(error),
            Fate::Fails { kept } => {
                if kept && let Ok(done) = now(call) {
                    note(&mut self.process.world.lock(), &done);
                }
                self.process.tick().await;
                let called_full = self.lies(Lie::FailureCalledFull);
                return Err(if called_full {
                    StoreError::Full
                } else {
                    failed()
                });
            }
        }
        let done = now(call);
        if let Ok(done) = &done {
            note(&mut self.process.world.lock(), done);
        }
        self.process.tick().await;
        done
    }

    async fn read<T: Send>(
        &self,
        call: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        self.held()?;
        self.process.alive().await;
        call.await
    }

    fn held(&self) -> Result<(), StoreError> {
        if self.refused && !self.lies(Lie::LockIgnored) {
            return Err(StoreError::Held {
                path: "memory".into(),
                pid: "another".into(),
            });
        }
        Ok(())
    }

    /// A lying store writes an intent with the next touch of its order.
    fn keep(&self, id: ClOrdId) {
        let mut world = self.process.world.lock();
        let at = world.unkept.iter().position(|begin| begin.order.id == id);
        if let Some(at) = at {
            let begin = world.unkept.remove(at);
            now(self.inner.begin(begin.clone())).expect("memory");
            world.shadow.begun(&begin);
        }
    }

    async fn begin_later(&self, begin: Begin) -> Result<Begun, StoreError> {
        self.process.tick().await;
        let order = begin.order.clone();
        self.process.world.lock().unkept.push(begin);
        Ok(Begun::Inserted(order))
    }
}

#[async_trait]
impl Store for LifeStore {
    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError> {
        let mut given = begin.clone();
        if self.lies(Lie::BeginNotKept) && now(self.inner.order(begin.order.id))?.is_none() {
            return self.begin_later(begin).await;
        }
        if self.lies(Lie::GateIgnored) {
            given.entry = Entry::Exit;
        }
        if self.lies(Lie::DecisionMoved) {
            let decided_at = &mut given.order.intent.decision.decided_at;
            *decided_at = VenueTime::from_ms(decided_at.as_ms() + 1);
        }
        let (life, kept) = (self.process.life, given.clone());
        let begun = self.write(self.inner.begin(given), |world, begun| match begun {
            Begun::Inserted(row) => {
                world.shadow.begun(&kept);
                world.entered(life, row, &begin.entry);
            }
            Begun::Refused(_) => world.saw(Event::EntryRefused),
            Begun::Exists(_) => {}
        });
        begun.await
    }

    async fn apply(
        &self,
        change: Change,
        durability: Durability,
    ) -> Result<OrderRecord, StoreError> {
        self.keep(change.id);
        let (asked, mut given, mut durability) = (change.clone(), change, durability);
        if self.lies(Lie::SyncNotKept) {
            durability = Durability::Lazy;
        }
        if self.lies(Lie::GateIgnored) {
            given.unless_halted = false;
        }
        if self.lies(Lie::CancelForgotten) {
            given.cancel_requested = false;
        }
        if self.lies(Lie::EvidenceForgotten) {
            let evidence = |mark: &Mark| matches!(mark, Mark::Admitted | Mark::BytesKnown);
            given.marks.retain(|(_, mark)| !evidence(mark));
        }
        let before = now(self.inner.order(given.id))?;
        let several = before.as_ref().is_some_and(|row| row.order_ids.len() > 1)
            || given.order_id.is_some() && before.as_ref().is_some_and(OrderRecord::admitted);
        if self.lies(Lie::SecondUnwatched) && several {
            given.watch = None;
        }
        let unkept = self.lies(Lie::ChangeNotKept) && durability == Durability::Lazy;
        let kept = given.clone();
        let call = async {
            match &before {
                Some(row) if unkept => Ok(row.apply(&given, &given.fills)?),
                _ => self.inner.apply(given, durability).await,
            }
        };
        let row = self.write(call, |world, row| {
            let broken = world.shadow.applied(&kept, durability, row);
            world.breaks_if(broken);
            world.changed(before.as_ref(), &asked, row);
        });
        let mut row = row.await?;
        // What a lying store says, so that the engine believes it.
        row.cancel_requested |= asked.cancel_requested;
        Ok(row)
    }

    async fn order(&self, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError> {
        let mut row = self.read(self.inner.order(id)).await?;
        if self.lies(Lie::TermsForgotten)
            && let Some(row) = &mut row
            && let Some(digest) = self.process.world.lock().asked_digest
        {
            row.digest = digest;
        }
        Ok(row)
    }

    async fn attempt(&self, id: ClOrdId, no: AttemptNo) -> Result<Option<Attempt>, StoreError> {
        self.keep(id);
        self.read(self.inner.attempt(id, no)).await
    }

    async fn unfinished(&self) -> Result<Vec<OrderRecord>, StoreError> {
        let mut rows = self.read(self.inner.unfinished()).await?;
        if self.lies(Lie::UnfinishedHidden) {
            rows.retain(|row| row.state.is_working());
        }
        Ok(rows)
    }

    async fn orders(&self, filter: &OrderFilter) -> Result<Vec<OrderRecord>, StoreError> {
        self.read(self.inner.orders(filter)).await
    }

    async fn by_key(&self, alias: &Alias, key: &Key) -> Result<Option<ClOrdId>, StoreError> {
        self.read(self.inner.by_key(alias, key)).await
    }

    async fn by_order_id(
        &self,
        alias: &Alias,
        order_id: &OrderId,
    ) -> Result<Option<ClOrdId>, StoreError> {
        self.read(self.inner.by_order_id(alias, order_id)).await
    }

    async fn fills(&self, id: ClOrdId) -> Result<Vec<Fill>, StoreError> {
        self.read(self.inner.fills(id)).await
    }

    async fn history(&self, id: ClOrdId) -> Result<Vec<Transition>, StoreError> {
        self.read(self.inner.history(id)).await
    }

    async fn reserve(
        &self,
        scope: &NonceScope,
        floor: u64,
        n: u32,
    ) -> Result<Range<u64>, StoreError> {
        let forgets = self.lies(Lie::NoncesForgotten);
        let call = async {
            if forgets {
                return Ok(floor..floor.saturating_add(u64::from(n)));
            }
            self.inner.reserve(scope, floor, n).await
        };
        let reserved = self.write(call, |world, _| {
            if !forgets {
                world.shadow.sync();
            }
            world.saw(Event::NonceReserved);
        });
        reserved.await
    }

    async fn bind(&self, alias: &Alias, account: &AccountId) -> Result<(), StoreError> {
        self.write(self.inner.bind(alias, account), |world, ()| {
            world.shadow.sync();
        })
        .await
    }

    async fn halt(&self, halt: &Halt) -> Result<(), StoreError> {
        let unkept = self.lies(Lie::HaltNotKept);
        let call = async {
            if unkept {
                return Ok(());
            }
            self.inner.halt(halt).await
        };
        self.write(call, |world, ()| {
            if !unkept {
                world.shadow.halted(halt);
            }
            world.declared(halt);
        })
        .await
    }

    async fn lift(
        &self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, StoreError> {
        self.write(self.inner.lift(lift, who, reason, at), |world, lifted| {
            world.shadow.sync();
            if !lifted.is_empty() {
                world.saw(Event::HaltLifted);
            }
        })
        .await
    }

    async fn halts(&self) -> Result<Vec<Halt>, StoreError> {
        if self.lies(Lie::GateIgnored) {
            return self.read(async { Ok(Vec::new()) }).await;
        }
        self.read(self.inner.halts()).await
    }

    async fn cursor(&self, alias: &Alias) -> Result<Option<VenueTime>, StoreError> {
        self.read(self.inner.cursor(alias)).await
    }

    async fn set_cursor(&self, alias: &Alias, at: VenueTime) -> Result<(), StoreError> {
        self.write(self.inner.set_cursor(alias, at), |world, ()| {
            world.shadow.lazy();
        })
        .await
    }

    async fn lease(&self, scope: &str) -> Result<u64, StoreError> {
        self.write(self.inner.lease(scope), |world, _| world.shadow.sync())
            .await
    }

    async fn requests(&self) -> Result<Vec<Requested>, StoreError> {
        self.read(self.inner.requests()).await
    }

    async fn answer(&self, n: i64, answer: &Answer) -> Result<(), StoreError> {
        self.write(self.inner.answer(n, answer), |world, ()| {
            world.shadow.sync();
        })
        .await
    }

    async fn made_at(&self) -> Result<VenueTime, StoreError> {
        self.read(self.inner.made_at()).await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.write(self.inner.close(), |world, ()| world.shadow.sync())
            .await
    }
}
