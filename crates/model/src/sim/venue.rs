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
    Snapshot, Submission, Symbol, Ticket, UnknownCause, Venue, VenueCtx, VenueError, VenueEvent,
    VenueProfile, VenueTime,
};

use super::camp::{FENCE, FenceKind};
use super::host::Shared;
use super::script::At;
use super::world::{Answer, Create, Message, turned};

/// How long an answer is awaited.
const PATIENCE: Duration = Duration::from_millis(250);

pub(super) fn account() -> AccountId {
    AccountId::new("sim", "test", "1")
}

/// A configured venue.
#[derive(Debug)]
pub(super) struct SimConnect {
    pub(super) world: Shared,
    pub(super) life: u64,
    pub(super) profile: VenueProfile,
}

#[derive(Debug)]
struct SimVenue {
    world: Shared,
    life: u64,
    profile: VenueProfile,
    ctx: VenueCtx,
}

impl Connect for SimConnect {
    fn nonce_scope(&self) -> Option<NonceScope> {
        None
    }

    fn profile(&self) -> VenueProfile {
        self.profile.clone()
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        let Self {
            world,
            life,
            profile,
        } = *self;
        Ok(Arc::new(SimVenue {
            world,
            life,
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
        self.alive().await;
        let way = {
            let mut world = self.world.lock();
            let count = world.next_send();
            1 + world.draw(6, count, 4)
        };
        tokio::time::sleep(ms(way)).await;
        self.alive().await;
        self.world.lock().settle();
    }

    async fn alive(&self) {
        let lives = self.world.lock().lives(self.life);
        if !lives {
            std::future::pending::<()>().await;
        }
    }

    async fn tick(&self) {
        let goes_on = self.world.lock().tick(self.life);
        if !goes_on {
            std::future::pending::<()>().await;
        }
    }

    fn up(&self) -> Result<(), VenueError> {
        let world = self.world.lock();
        if world.now() < world.down_until {
            return Err(VenueError::Unreachable("down".into()));
        }
        Ok(())
    }

    fn is_down(&self) -> bool {
        self.up().is_err()
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
                self.alive().await;
            }
        };
        let answer = tokio::time::timeout(PATIENCE, wait).await.ok();
        self.travel().await;
        answer
    }

    async fn list<T>(
        &self,
        read: impl Fn(&super::world::World) -> Vec<T> + Send,
    ) -> Result<Snapshot<T>, VenueError> {
        let begun = self.ctx.clock.begun();
        self.travel().await;
        self.up()?;
        let rows = {
            let mut world = self.world.lock();
            if world.lists_fail > 0 {
                world.lists_fail -= 1;
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
        self.alive().await;
        Ok(Facts::new(()))
    }

    fn prepare(
        &self,
        id: &ClOrdId,
        _: &OrderIntent,
        ticket: &Ticket,
    ) -> Result<Attempt, PrepareError> {
        let camp = self.world.lock().camp;
        Ok(Attempt {
            no: ticket.no,
            format: "sim.create.1".into(),
            wire: ticket.no.to_be_bytes().to_vec(),
            keys: vec![Key::from(id.to_string())],
            fence: match camp.fence {
                FenceKind::None => Fence::None,
                FenceKind::Book | FenceKind::Documented | FenceKind::Assumed => {
                    Fence::Clock(ticket.now.after(ms(FENCE)))
                }
            },
            replayable: camp.remembered,
            revocable: camp.revocable,
            rebuildable: true,
        })
    }

    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission {
        self.alive().await;
        if let Err(why) = go.check() {
            return Submission::NotSent(NotSent::HeldBack(why));
        }
        self.tick().await;
        if self.is_down() {
            return Submission::NotSent(NotSent::Connect("down".into()));
        }
        let (send, act) = {
            let mut world = self.world.lock();
            let act = world.on_create.pop_front();
            if act == Some(At::NoConnection) {
                return Submission::NotSent(NotSent::Connect("scripted".into()));
            }
            world.check_send(attempt);
            let send = world.next_send();
            let (key, no) = (&attempt.keys[0], attempt.no);
            world.note(format_args!(
                "send {send}: {} attempt {no}, {act:?}",
                key.as_str()
            ));
            let at = world.now() + 1 + world.draw(7, send, 4);
            let create = |refused| {
                Message::Gate(Create {
                    send,
                    key: key.clone(),
                    no,
                    fence: attempt.fence,
                    refused,
                    fills: act == Some(At::FillsAtOnce),
                })
            };
            match act {
                Some(At::Lost | At::Turned | At::NoConnection) => {}
                Some(At::Late(late)) => world.post(at + late, create(false)),
                Some(At::Doubled(later)) => {
                    world.post(at, create(false));
                    world.post(at + later, create(false));
                }
                Some(At::Refused) => world.post(at, create(true)),
                Some(At::RefusedDoubled(later)) => {
                    world.post(at, create(true));
                    world.post(at + later, create(false));
                }
                Some(At::AnswerLost | At::FillsAtOnce) | None => world.post(at, create(false)),
            }
            (send, act)
        };
        self.tick().await;
        match act {
            Some(At::Lost | At::AnswerLost | At::Late(_)) => {
                tokio::time::sleep(PATIENCE).await;
                self.alive().await;
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
            if world.looks_fail > 0 || world.now() < world.down_until {
                world.looks_fail = world.looks_fail.saturating_sub(1);
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
        self.tick().await;
        let (send, act) = {
            let mut world = self.world.lock();
            let act = world.on_revoke.pop_front();
            let send = world.next_send();
            if act != Some(At::Lost) && world.now() >= world.down_until {
                let at = world.now() + 2;
                let (key, no) = (attempt.keys[0].clone(), attempt.no);
                world.post(at, Message::Revoke { send, key, no });
            }
            (send, act)
        };
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
        self.tick().await;
        let (send, act) = {
            let mut world = self.world.lock();
            let act = world.on_cancel.pop_front();
            let send = world.next_send();
            if act != Some(At::Lost) && world.now() >= world.down_until {
                let at = world.now() + 2;
                let keys = Self::keys(order);
                world.post(at, Message::Cancel { send, keys });
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

    async fn amend(&self, _: &Journaled<Amend>, _: &Go) -> AmendOutcome {
        AmendOutcome::Unsupported
    }

    async fn open_orders(&self, _: Option<&Symbol>) -> Result<Snapshot<ExecReport>, VenueError> {
        self.list(super::world::World::list_open).await
    }

    async fn closed_since(
        &self,
        _: Option<&Symbol>,
        _: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        self.list(super::world::World::list_closed).await
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
        world.stream = Some(send);
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
        let now = VenueTime::from_ms(self.world.lock().now());
        self.travel().await;
        self.ctx.clock.observe(mark, now);
        Ok(now)
    }
}
