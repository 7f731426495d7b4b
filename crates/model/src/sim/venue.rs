//! The adapter of the simulated venue: the way there and back, and what may happen on it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use surefill_core::{
    AccountId, Amend, AmendOutcome, AsOf, Attempt, CancelAllOutcome, CancelOutcome, ClOrdId,
    Connect, ExecReport, Facts, Fence, Fill, Go, Handle, Instrument, Journaled, Key, Lookup,
    NonceScope, NotSent, OrdStatus, OrderIntent, OrderRecord, Position, PrepareError, Revocation,
    Snapshot, StoreError, Submission, Symbol, Ticket, UnknownCause, Venue, VenueCtx, VenueError,
    VenueEvent, VenueProfile, VenueTime,
};

use super::camp::{Camp, FENCE, FenceKind};
use super::event::Event;
use super::host::{Process, Shared};
use super::lie::Lie;
use super::script::At;
use super::wire::{Wire, whole, whole_px};
use super::world::{Act, AmendMessage, Answer, Create, Message, World, turned};

/// How long an answer is awaited.
const PATIENCE: Duration = Duration::from_millis(250);

pub(super) fn account() -> AccountId {
    AccountId::new("sim", "test", "1")
}

/// A configured venue.
#[derive(Debug)]
pub(super) struct SimConnect {
    pub(super) process: Process,
    pub(super) camp: Camp,
    pub(super) profile: VenueProfile,
}

#[derive(Debug)]
struct SimVenue {
    world: Shared,
    process: Process,
    profile: VenueProfile,
    ctx: VenueCtx,
}

impl Connect for SimConnect {
    fn nonce_scope(&self) -> Option<NonceScope> {
        self.camp.nonce_scope()
    }

    fn profile(&self) -> VenueProfile {
        self.profile.clone()
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        let Self {
            process, profile, ..
        } = *self;
        Ok(Arc::new(SimVenue {
            world: process.world.clone(),
            process,
            profile,
            ctx,
        }))
    }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

impl SimVenue {
    /// One way; a process that died goes none.
    async fn travel(&self) {
        self.process.alive().await;
        let way = {
            let mut world = self.world.lock();
            let count = world.next_send();
            1 + world.draw(6, count, 4)
        };
        tokio::time::sleep(ms(way)).await;
        self.process.alive().await;
        self.world.lock().settle();
    }

    fn up(&self) -> Result<(), VenueError> {
        if self.is_down() {
            return Err(VenueError::Unreachable("down".into()));
        }
        Ok(())
    }

    fn is_down(&self) -> bool {
        self.world.lock().is_down()
    }

    /// The nonce of a signed request that is no create, which goes out also when the journal takes nothing.
    async fn sign(&self, what: String) {
        let Some(reading) = self.ctx.clock.read() else {
            return;
        };
        let nonce = self.ctx.nonces.as_ref();
        let Some(nonces) = nonce else { return };
        let nonce = nonces.next_even_unjournaled(reading.now).await;
        let (life, mut world) = (self.process.life, self.world.lock());
        let journaled = !world.is_full() && !world.closed.contains(&life) && life == world.holder;
        world.check_nonce(life, nonce, what.into_bytes(), journaled);
    }

    /// The nonce of a signed request that takes risk: where the journal takes nothing, it does not go out.
    async fn sign_journaled(&self, what: String) -> Result<(), StoreError> {
        if let Some(nonces) = &self.ctx.nonces
            && let Some(reading) = self.ctx.clock.read()
        {
            let nonce = nonces.next(reading.now).await?;
            let mut world = self.world.lock();
            world.check_nonce(self.process.life, nonce, what.into_bytes(), true);
        }
        Ok(())
    }

    /// Waits for the answer to a send; `None` when patience ends first.
    async fn answer(&self, send: u64) -> Option<Answer> {
        let wait = async {
            loop {
                let next = {
                    let mut world = self.world.lock();
                    world.settle();
                    if let Some(answer) = world.answers.get(&send) {
                        return answer.clone();
                    }
                    let now = world.now();
                    world
                        .next_at()
                        .map_or(50, |at| at.saturating_sub(now).max(1))
                };
                tokio::time::sleep(ms(next.min(50))).await;
                self.process.alive().await;
            }
        };
        let answer = tokio::time::timeout(PATIENCE, wait).await.ok();
        self.travel().await;
        answer
    }

    async fn list<T>(
        &self,
        read: impl Fn(&World) -> Vec<T> + Send,
    ) -> Result<Snapshot<T>, VenueError> {
        let begun = self.ctx.clock.begun();
        self.travel().await;
        self.up()?;
        let rows = {
            let mut world = self.world.lock();
            if world.faults.lists > 0 {
                world.faults.lists -= 1;
                return Err(VenueError::Unreachable("scripted".into()));
            }
            read(&world)
        };
        self.travel().await;
        let unheard = || VenueError::Unreachable("the time was not heard".into());
        let begun = begun.ok_or_else(unheard)?;
        let ended = self.ctx.clock.ended().ok_or_else(unheard)?;
        Ok(Snapshot { rows, begun, ended })
    }

    fn keys(order: &OrderRecord) -> Vec<Key> {
        let attempts = order.attempts.iter();
        attempts.flat_map(|attempt| attempt.keys.clone()).collect()
    }

    fn fence(&self, camp: Camp, from: VenueTime) -> Fence {
        match camp.fence {
            FenceKind::None => Fence::None,
            FenceKind::Book | FenceKind::Documented | FenceKind::Assumed => {
                Fence::Clock(from.after(ms(FENCE)))
            }
        }
    }

    /// The bytes of a create leave.
    fn leave(&self, attempt: &Attempt, act: Option<At>) -> u64 {
        let mut world = self.world.lock();
        let send = world.next_send();
        let wire = Wire::read(&attempt.wire);
        let (key, no) = (&wire.key, attempt.no);
        world.note(format_args!("send {send}: {key} attempt {no}, {act:?}"));
        let at = world.now() + 1 + world.draw(7, send, 4);
        let create = |act| {
            Message::Gate(Create {
                send,
                wire: wire.clone(),
                fence: attempt.fence,
                act,
            })
        };
        match act {
            Some(At::Lost | At::Turned | At::NoConnection) => {}
            Some(At::Late(late)) => world.post(at + late, create(Act::Takes)),
            Some(At::Doubled(later)) => {
                world.post(at, create(Act::Takes));
                world.post(at + later, create(Act::Takes));
            }
            Some(At::Refused) => world.post(at, create(Act::Refuses)),
            Some(At::RefusedDoubled(later)) => {
                world.post(at, create(Act::Refuses));
                world.post(at + later, create(Act::Takes));
            }
            Some(At::KeysRefused) => world.post(at, create(Act::RefusesKeys)),
            Some(At::FillsAtOnce) => world.post(at, create(Act::Fills)),
            Some(At::AnswerLost) | None => world.post(at, create(Act::Takes)),
        }
        send
    }

    /// The bytes of an amend leave.
    fn post_amend(&self, send: u64, amend: &Amend, act: Option<At>) {
        let mut world = self.world.lock();
        world.note(format_args!("send {send}: amend of {}, {act:?}", amend.id));
        let at = world.now() + 1 + world.draw(7, send, 4);
        let message = |refused| {
            Message::AmendGate(AmendMessage {
                send,
                key: amend.id.to_string().into(),
                fence: self.fence(world.camp, amend.at),
                qty: amend.order_qty.map(whole),
                px: amend.price.map(whole_px),
                refused,
            })
        };
        let (takes, refuses) = (message(false), message(true));
        match act {
            Some(At::Lost | At::NoConnection) => {}
            Some(At::Late(late)) => world.post(at + late, takes),
            Some(At::Doubled(later)) => {
                world.post(at, takes.clone());
                world.post(at + later, takes);
            }
            Some(At::Refused) => world.post(at, refuses),
            _ => world.post(at, takes),
        }
    }

    fn revoke_now(&self, attempt: &Attempt) -> (u64, Option<At>) {
        let mut world = self.world.lock();
        let (key, no) = (attempt.keys[0].clone(), attempt.no);
        if let Ok(id) = key.as_str().parse() {
            world.check_revoke(self.process.life, id, no);
        }
        let act = world.faults.revoke.pop_front();
        let send = world.next_send();
        if act != Some(At::Lost) && !world.is_down() {
            let at = world.now() + 2;
            world.post(at, Message::Revoke { send, key, no });
        }
        (send, act)
    }
}

/// One report per venue order id: open, then closed, then what only fills tell.
fn merge(found: &mut Vec<ExecReport>, more: Vec<ExecReport>, keys: &[Key]) {
    let ours = |report: &ExecReport| {
        report
            .handle
            .key
            .as_ref()
            .is_some_and(|key| keys.contains(key))
    };
    for report in more.into_iter().filter(ours) {
        let same = found
            .iter_mut()
            .find(|other| other.handle.order_id == report.handle.order_id);
        match same {
            None => found.push(report),
            Some(known) => {
                for fill in report.fills {
                    if !known.fills.iter().any(|other| other.is(&fill)) {
                        known.fills.push(fill);
                    }
                }
                if known.status == OrdStatus::Open && report.status != OrdStatus::NotShown {
                    known.status = report.status;
                    known.cum_qty = report.cum_qty;
                }
            }
        }
    }
}

#[async_trait]
impl Venue for SimVenue {
    fn profile(&self) -> &VenueProfile {
        &self.profile
    }

    async fn account(&self) -> Result<AccountId, VenueError> {
        self.travel().await;
        self.up()?;
        Ok(account())
    }

    fn spelled_id(&self, key: &Key) -> Option<ClOrdId> {
        key.as_str().parse().ok()
    }

    async fn facts(&self, _: &OrderIntent) -> Result<Facts, VenueError> {
        self.process.alive().await;
        Ok(Facts::new(()))
    }

    fn prepare(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        ticket: &Ticket,
    ) -> Result<Attempt, PrepareError> {
        let camp = self.world.lock().camp;
        Ok(Attempt {
            no: ticket.no,
            format: "sim.create.1".into(),
            wire: Wire::of(id, intent, ticket.no, ticket.nonce).to_bytes(),
            keys: vec![Key::from(id.to_string())],
            fence: self.fence(camp, ticket.now),
            replayable: camp.remembered,
            revocable: camp.revocable,
            rebuildable: true,
        })
    }

    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission {
        self.process.alive().await;
        if let Err(why) = go.check() {
            return Submission::NotSent(NotSent::HeldBack(why));
        }
        if self.is_down() {
            return Submission::NotSent(NotSent::Connect("down".into()));
        }
        let act = {
            let mut world = self.world.lock();
            let act = world.faults.create.pop_front();
            if act == Some(At::NoConnection) {
                return Submission::NotSent(NotSent::Connect("scripted".into()));
            }
            world.check_send(self.process.life, attempt);
            act
        };
        // Between the last check and the first byte.
        let before = self.world.lock().now();
        self.process.tick().await;
        if self.world.lock().now() > before {
            self.world.lock().saw(Event::PausedInSend);
        }
        let send = self.leave(attempt, act);
        if self.world.lock().lies(Lie::RevokedEarly) {
            self.revoke_now(attempt);
        }
        self.process.tick().await;
        match act {
            Some(At::Lost | At::AnswerLost | At::Late(_)) => {
                tokio::time::sleep(PATIENCE).await;
                self.process.alive().await;
                Submission::Unknown(UnknownCause::new("timed out"))
            }
            Some(At::Turned) => {
                self.travel().await;
                turned("too many requests")
            }
            _ => match self.answer(send).await {
                Some(Answer::Created(answer)) => answer,
                _ => Submission::Unknown(UnknownCause::new("timed out")),
            },
        }
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        let keys = Self::keys(order);
        let Some(begun) = self.ctx.clock.begun() else {
            return Lookup::Inconclusive(UnknownCause::new("the time was not heard"));
        };
        let mut found = Vec::new();
        for list in 0..3 {
            self.travel().await;
            let mut world = self.world.lock();
            if world.faults.looks > 0 || world.is_down() {
                world.faults.looks = world.faults.looks.saturating_sub(1);
                return Lookup::Inconclusive(UnknownCause::new("scripted"));
            }
            let rows = match list {
                0 => world.list_open(),
                1 => world.list_closed(),
                _ => world.list_fills(),
            };
            merge(&mut found, rows, &keys);
        }
        self.travel().await;
        if !found.is_empty() {
            return Lookup::Found(found);
        }
        match self.ctx.clock.ended() {
            Some(ended) => Lookup::Absent { begun, ended },
            None => Lookup::Inconclusive(UnknownCause::new("the time was not heard")),
        }
    }

    async fn revoke(&self, attempt: &Journaled<Attempt>) -> Revocation {
        self.process.tick().await;
        let (send, act) = self.revoke_now(attempt);
        let answer = self.answer(send).await;
        match answer {
            Some(Answer::Revoked(free)) if act.is_none() => {
                if free {
                    Revocation::Revoked
                } else {
                    Revocation::Used
                }
            }
            _ => Revocation::Inconclusive(UnknownCause::new("timed out")),
        }
    }

    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome {
        self.process.tick().await;
        self.sign(format!("cancel {} {}", order.id, order.version))
            .await;
        let (send, act) = {
            let mut world = self.world.lock();
            let act = world.faults.cancel.pop_front();
            let send = world.next_send();
            let keys = Self::keys(order);
            if !world.lies(Lie::CancelNotSent) {
                *world.watched.cancels.entry(order.id).or_default() += 1;
                if act != Some(At::Lost) && !world.is_down() {
                    let at = world.now() + 2;
                    world.post(at, Message::Cancel { send, keys });
                }
            }
            (send, act)
        };
        let answer = self.answer(send).await;
        let cancel_final = self.world.lock().camp.cancel_final;
        match answer {
            Some(Answer::Canceled(report)) if act.is_none() => match report {
                Some(report) if cancel_final => CancelOutcome::Canceled(report),
                Some(_) => CancelOutcome::Taken,
                None => CancelOutcome::NotOpen,
            },
            _ => CancelOutcome::Unknown(UnknownCause::new("timed out")),
        }
    }

    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome> {
        let mut outcomes = Vec::new();
        for order in orders {
            outcomes.push(self.cancel(order).await);
        }
        outcomes
    }

    async fn cancel_all(&self, _: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        Err(VenueError::Unsupported("cancel-all"))
    }

    async fn amend(&self, amend: &Journaled<Amend>, go: &Go) -> AmendOutcome {
        self.process.alive().await;
        let what = format!("amend {} {}", amend.id, amend.at.as_ms());
        if let Err(error) = self.sign_journaled(what).await {
            return AmendOutcome::NotSent(NotSent::Connect(error.to_string().into()));
        }
        if let Err(why) = go.check() {
            return AmendOutcome::NotSent(NotSent::HeldBack(why));
        }
        let (send, act) = {
            let mut world = self.world.lock();
            let act = world.faults.amend.pop_front();
            if act == Some(At::NoConnection) || world.is_down() {
                return AmendOutcome::NotSent(NotSent::Connect("scripted".into()));
            }
            world.check_amend(self.process.life, amend);
            (world.next_send(), act)
        };
        self.process.tick().await;
        self.post_amend(send, amend, act);
        self.process.tick().await;
        match act {
            Some(At::Lost | At::AnswerLost | At::Late(_)) => {
                tokio::time::sleep(PATIENCE).await;
                self.process.alive().await;
                AmendOutcome::Unknown(UnknownCause::new("timed out"))
            }
            _ => match self.answer(send).await {
                Some(Answer::Amended(answer)) => answer,
                _ => AmendOutcome::Unknown(UnknownCause::new("timed out")),
            },
        }
    }

    async fn open_orders(&self, _: Option<&Symbol>) -> Result<Snapshot<ExecReport>, VenueError> {
        self.list(World::list_open).await
    }

    async fn closed_since(
        &self,
        _: Option<&Symbol>,
        _: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        self.list(World::list_closed).await
    }

    async fn fills_since(
        &self,
        _: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        self.list(|world| {
            let reports = world.list_fills().into_iter();
            let each = reports.flat_map(|report| {
                let handle = report.handle;
                report
                    .fills
                    .into_iter()
                    .map(move |fill| (handle.clone(), fill))
            });
            each.filter(|(_, fill)| fill.transact_time >= since)
                .collect()
        })
        .await
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        let at = AsOf::Clock(VenueTime::from_ms(self.world.lock().now()));
        Ok(Snapshot {
            rows: Vec::new(),
            begun: at,
            ended: at,
        })
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        self.travel().await;
        self.up()?;
        let mut world = self.world.lock();
        if !world.camp.stream {
            return Err(VenueError::Unsupported("a stream"));
        }
        let (send, events) = tokio::sync::mpsc::unbounded_channel();
        world.streams.insert(self.process.life, send);
        let next = |mut events: tokio::sync::mpsc::UnboundedReceiver<VenueEvent>| async move {
            let event = events.recv().await?;
            Some((event, events))
        };
        Ok(futures_util::stream::unfold(events, next).boxed())
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        Ok(Vec::new())
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        let mark = self.ctx.clock.mark();
        self.travel().await;
        self.up()?;
        let now = {
            let world = self.world.lock();
            VenueTime::from_ms(world.now() - world.time_behind)
        };
        self.travel().await;
        self.ctx.clock.observe(mark, now);
        Ok(now)
    }
}
