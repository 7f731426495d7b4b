//! A venue in memory that does as it is told, and remembers what it did.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use surefill_core::*;
use tokio::sync::Notify;

/// What the venue does with one create.
#[derive(Clone, Debug)]
pub(crate) enum Do {
    /// Takes it and says so.
    Ack,
    /// Takes it; the answer is lost.
    AnswerLost,
    /// It never arrives.
    RequestLost,
    /// The connect fails.
    NotSent,
    /// Turned away before it was acted upon.
    NotTaken,
    /// Refused for good.
    Reject,
    /// Refused for good, and a copy doubled on the way is taken all the same.
    RejectAndTake,
    /// Takes it, then waits before it answers.
    Hold(Arc<Notify>),
}

#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) order_id: OrderId,
    pub(crate) key: Key,
    pub(crate) status: OrdStatus,
    pub(crate) qty: Qty,
    pub(crate) fills: Vec<Fill>,
    shown_from: tokio::time::Instant,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) script: Mutex<VecDeque<Do>>,
    pub(crate) held: Mutex<Vec<Held>>,
    pub(crate) submits: AtomicU32,
    pub(crate) cancels: AtomicU32,
    pub(crate) lookups: AtomicU32,
    pub(crate) lookups_fail: AtomicBool,
    pub(crate) down: AtomicBool,
    /// A cancel is taken and changes nothing.
    pub(crate) cancels_lost: AtomicBool,
    /// Cancels go one by one, as those of one signer do.
    pub(crate) cancel_line: tokio::sync::Mutex<()>,
    /// The next cancel waits for this at the head of the line.
    pub(crate) cancel_wait: Mutex<Option<Arc<Notify>>>,
    /// No stream can be opened, for now.
    pub(crate) streams_fail: AtomicBool,
    /// The open orders cannot be listed, for now.
    pub(crate) lists_fail: AtomicBool,
    /// So many of the next lookups panic, as an adapter with a fault does.
    pub(crate) lookups_panic: AtomicU32,
    /// So many of the next lists of fills panic.
    pub(crate) fills_panic: AtomicU32,
    /// So many of the next requests panic while they are built.
    pub(crate) prepares_panic: AtomicU32,
    /// How many orders each request named that cancels several.
    pub(crate) batches: Mutex<Vec<usize>>,
    /// A request that cancels several panics.
    pub(crate) batches_panic: AtomicBool,
    /// A request that cancels several is answered for the first only.
    pub(crate) batches_short: AtomicBool,
    /// What an order is built from waits for this.
    pub(crate) facts_wait: Mutex<Option<Arc<Notify>>>,
    /// Waits in [`Self::facts_wait`].
    pub(crate) facts_asked: AtomicU32,
    /// The venue is said to remember the bytes.
    pub(crate) replayable: AtomicBool,
    /// Attempts can be revoked, and are as soon as it is asked.
    pub(crate) revocable: AtomicBool,
    /// No create arrives; that takes its time.
    pub(crate) creates_lost: AtomicBool,
    /// What the next amends are answered; without, there are none.
    pub(crate) amends: Mutex<VecDeque<AmendOutcome>>,
    /// The next amend waits for this before its last check, as one does whose turn or connection is not there yet.
    pub(crate) amend_wait: Mutex<Option<Arc<Notify>>>,
    pub(crate) amends_asked: AtomicU32,
    /// Amends whose first byte left.
    pub(crate) amends_sent: AtomicU32,
    pub(crate) window: Duration,
    pub(crate) profile: VenueProfile,
    pub(crate) account: String,
    /// Read at each submit: the row must be durable by then.
    pub(crate) journal: Mutex<Option<MemoryStore>>,
    pub(crate) unjournaled_sends: AtomicU32,
    pub(crate) stream: Mutex<Option<tokio::sync::mpsc::UnboundedReceiver<VenueEvent>>>,
    started: tokio::time::Instant,
}

#[derive(Clone, Debug)]
pub(crate) struct FakeVenue(pub(crate) Arc<State>);

const BASE_MS: u64 = 1_796_040_000_000;

pub(crate) fn profile() -> VenueProfile {
    VenueProfile {
        name: VenueName::from("fake"),
        id_rule: IdRule {
            alphabet: "0123456789abcdef",
            max_len: 32,
        },
        duplicate: DuplicateRule::RefusedForever,
        refusal_uses_up_bytes: false,
        fence: FenceRule::Clock {
            max: Duration::from_millis(300),
            drain: Sourced::Assumed(Duration::from_millis(10)),
        },
        absence: AbsenceRule {
            lag: Sourced::Assumed(Duration::from_millis(20)),
            lag_blocks: 1,
            spacing: Duration::from_millis(20),
            margin: Duration::from_millis(20),
            closed_retention: Sourced::Assumed(Duration::from_secs(86_400)),
            fills_retention: Sourced::Assumed(Duration::from_secs(86_400)),
        },
        watch: Duration::from_millis(300),
        cap: Duration::from_secs(2),
        rates: Rates {
            create: NonZeroU32::new(10_000).unwrap(),
            cancel: NonZeroU32::new(10_000).unwrap(),
            lookup: NonZeroU32::new(10_000).unwrap(),
        },
        poll: Duration::from_millis(20),
        nonce_scope: None,
        reduce_only: true,
        successors: false,
        amend: AmendRule::None,
        cancel: CancelRule::Receipt,
        cancel_batch: 3,
    }
}

impl FakeVenue {
    pub(crate) fn new(script: impl IntoIterator<Item = Do>) -> Self {
        Self::with(script, profile(), Duration::from_millis(300))
    }

    pub(crate) fn with(
        script: impl IntoIterator<Item = Do>,
        profile: VenueProfile,
        window: Duration,
    ) -> Self {
        Self(Arc::new(State {
            script: Mutex::new(script.into_iter().collect()),
            held: Mutex::default(),
            submits: AtomicU32::new(0),
            cancels: AtomicU32::new(0),
            lookups: AtomicU32::new(0),
            lookups_fail: AtomicBool::new(false),
            down: AtomicBool::new(false),
            cancels_lost: AtomicBool::new(false),
            cancel_line: tokio::sync::Mutex::default(),
            cancel_wait: Mutex::default(),
            streams_fail: AtomicBool::new(false),
            lists_fail: AtomicBool::new(false),
            lookups_panic: AtomicU32::new(0),
            fills_panic: AtomicU32::new(0),
            prepares_panic: AtomicU32::new(0),
            batches: Mutex::default(),
            batches_panic: AtomicBool::new(false),
            batches_short: AtomicBool::new(false),
            facts_wait: Mutex::default(),
            facts_asked: AtomicU32::new(0),
            replayable: AtomicBool::new(false),
            revocable: AtomicBool::new(false),
            creates_lost: AtomicBool::new(false),
            amends: Mutex::default(),
            amend_wait: Mutex::default(),
            amends_asked: AtomicU32::new(0),
            amends_sent: AtomicU32::new(0),
            window,
            profile,
            account: "1001".to_owned(),
            journal: Mutex::new(None),
            unjournaled_sends: AtomicU32::new(0),
            stream: Mutex::new(None),
            started: tokio::time::Instant::now(),
        }))
    }

    pub(crate) fn now_ms(&self) -> u64 {
        BASE_MS + u64::try_from(self.0.started.elapsed().as_millis()).unwrap()
    }

    pub(crate) fn held(&self) -> Vec<Held> {
        self.0.held.lock().unwrap().clone()
    }

    pub(crate) fn submits(&self) -> u32 {
        self.0.submits.load(Ordering::Acquire)
    }

    pub(crate) fn account_id(&self) -> AccountId {
        AccountId::new("fake", "test", &self.0.account)
    }

    /// Fills the newest order.
    pub(crate) fn fill(&self, qty: &str, exec_id: &str) {
        let mut held = self.0.held.lock().unwrap();
        let order = held.last_mut().expect("an order");
        let fill = Fill {
            symbol: Symbol::from("BTCUSDT"),
            order_id: order.order_id.clone(),
            exec_id: ExecId::from(exec_id),
            last_qty: qty.parse().unwrap(),
            last_px: "60000".parse().unwrap(),
            fee: "0.1".parse().unwrap(),
            fee_currency: Currency::from("USDT"),
            transact_time: VenueTime::from_ms(self.now_ms()),
            settlement: Settlement::Final,
        };
        order.fills.push(fill);
        if order.cum() >= order.qty {
            order.status = OrdStatus::Filled;
        }
    }

    /// A copy of the newest order's request lands, doubled on the way.
    pub(crate) fn double(&self) {
        let mut held = self.0.held.lock().unwrap();
        let copy = Held {
            order_id: OrderId::from(format!("o-{}", held.len() + 1)),
            status: OrdStatus::Open,
            fills: Vec::new(),
            ..held.last().expect("an order").clone()
        };
        held.push(copy);
    }

    fn take(&self, attempt: &Attempt) -> Option<OrderId> {
        let mut held = self.0.held.lock().unwrap();
        let key = attempt.keys[0].clone();
        if self.0.profile.duplicate == DuplicateRule::RefusedForever
            && held.iter().any(|order| order.key == key)
        {
            return None;
        }
        let order_id = OrderId::from(format!("o-{}", held.len() + 1));
        let qty = String::from_utf8(attempt.wire.clone())
            .unwrap()
            .parse()
            .unwrap();
        let shown_from = tokio::time::Instant::now() + self.0.profile.absence.lag.value() / 2;
        let status = OrdStatus::Open;
        held.push(Held {
            order_id: order_id.clone(),
            key,
            status,
            qty,
            fills: Vec::new(),
            shown_from,
        });
        Some(order_id)
    }

    fn check_journal(&self, attempt: &Attempt) {
        let journal = self.0.journal.lock().unwrap().clone();
        if let Some(store) = journal {
            // A power cut at this very moment must keep the attempt.
            if store.lazy_commits() > 0 {
                self.0.unjournaled_sends.fetch_add(1, Ordering::AcqRel);
            }
            let id: ClOrdId = attempt.keys[0].as_str().parse().unwrap();
            let stored = futures_util::FutureExt::now_or_never(store.attempt(id, attempt.no));
            if !matches!(stored, Some(Ok(Some(stored))) if stored == *attempt) {
                self.0.unjournaled_sends.fetch_add(1, Ordering::AcqRel);
            }
        }
    }
}

impl Held {
    pub(crate) fn cum(&self) -> Qty {
        self.fills.iter().fold(Qty::ZERO, |sum, fill| {
            sum.checked_add(fill.last_qty).unwrap()
        })
    }

    pub(crate) fn report(&self) -> ExecReport {
        ExecReport {
            handle: Handle {
                key: Some(self.key.clone()),
                order_id: Some(self.order_id.clone()),
            },
            status: self.status,
            cum_qty: Some(self.cum()),
            avg_px: None,
            reason: None,
            fills: self.fills.clone(),
            seen: SeenTerms {
                order_qty: Some(self.qty),
                ..SeenTerms::default()
            },
            transact_time: None,
        }
    }
}

/// Hands the venue to the engine and feeds its clock.
#[derive(Debug)]
struct Connected {
    venue: FakeVenue,
    ctx: VenueCtx,
}

impl Connect for FakeVenue {
    fn nonce_scope(&self) -> Option<NonceScope> {
        None
    }

    fn profile(&self) -> VenueProfile {
        self.0.profile.clone()
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        Ok(Arc::new(Connected { venue: *self, ctx }))
    }
}

impl Connected {
    fn up(&self) -> Result<(), VenueError> {
        if self.venue.0.down.load(Ordering::Acquire) {
            return Err(VenueError::Unreachable("connection refused".into()));
        }
        Ok(())
    }

    fn snapshot<T>(&self, rows: Vec<T>) -> Snapshot<T> {
        let at = self.ctx.clock.begun().unwrap();
        Snapshot {
            rows,
            begun: at,
            ended: at,
        }
    }
}

#[async_trait]
impl Venue for Connected {
    fn profile(&self) -> &VenueProfile {
        &self.venue.0.profile
    }

    async fn account(&self) -> Result<AccountId, VenueError> {
        self.up()?;
        Ok(self.venue.account_id())
    }

    fn spelled_id(&self, key: &Key) -> Option<ClOrdId> {
        key.as_str().parse().ok()
    }

    async fn facts(&self, _: &OrderIntent) -> Result<Facts, VenueError> {
        self.up()?;
        let wait = self.venue.0.facts_wait.lock().unwrap().take();
        if let Some(wait) = wait {
            self.venue.0.facts_asked.fetch_add(1, Ordering::AcqRel);
            wait.notified().await;
        }
        Ok(Facts::new(()))
    }

    fn prepare(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        ticket: &Ticket,
    ) -> Result<Attempt, PrepareError> {
        panic_if(&self.venue.0.prepares_panic);
        let Amount::Base(qty) = intent.amount else {
            panic!("base only")
        };
        Ok(Attempt {
            no: ticket.no,
            format: "fake.1".into(),
            wire: qty.to_string().into_bytes(),
            keys: vec![Key::from(id.to_string())],
            fence: match self.venue.0.profile.fence {
                FenceRule::Clock { .. } => Fence::Clock(ticket.now.after(self.venue.0.window)),
                FenceRule::None | FenceRule::Height { .. } => Fence::None,
            },
            replayable: self.venue.0.replayable.load(Ordering::Acquire),
            revocable: self.venue.0.revocable.load(Ordering::Acquire),
            rebuildable: true,
        })
    }

    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission {
        let venue = &self.venue;
        if let Err(why) = go.check() {
            return Submission::NotSent(NotSent::HeldBack(why));
        }
        venue.check_journal(attempt);
        venue.0.submits.fetch_add(1, Ordering::AcqRel);
        if venue.0.creates_lost.load(Ordering::Acquire) {
            tokio::time::sleep(Duration::from_millis(10)).await;
            return Submission::Unknown(UnknownCause::new("request lost"));
        }
        let next = venue
            .0
            .script
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or(Do::Ack);
        let reason = Reason::new("7", "scripted");
        let ack = |taken: Option<OrderId>| match taken {
            Some(order_id) => Submission::Acked(ExecReport::ack(attempt.keys[0].clone(), order_id)),
            None => Submission::Duplicate(DuplicateOf::Id),
        };
        match next {
            Do::Ack => ack(venue.take(attempt)),
            Do::AnswerLost => {
                venue.take(attempt);
                Submission::Unknown(UnknownCause::new("answer lost"))
            }
            Do::RequestLost => Submission::Unknown(UnknownCause::new("request lost")),
            Do::NotSent => Submission::NotSent(NotSent::Connect("refused".into())),
            Do::NotTaken => Submission::NotTaken {
                cause: reason,
                retry_after: Some(Duration::from_millis(20)),
            },
            Do::Reject => Submission::Rejected(Reject {
                reason,
                halts_account: false,
                leaves_bytes: false,
            }),
            Do::RejectAndTake => {
                venue.take(attempt);
                Submission::Rejected(Reject {
                    reason,
                    halts_account: false,
                    leaves_bytes: false,
                })
            }
            Do::Hold(release) => {
                let taken = venue.take(attempt);
                release.notified().await;
                ack(taken)
            }
        }
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        let venue = &self.venue.0;
        venue.lookups.fetch_add(1, Ordering::AcqRel);
        panic_if(&venue.lookups_panic);
        if venue.lookups_fail.load(Ordering::Acquire) {
            return Lookup::Inconclusive(UnknownCause::new("scripted"));
        }
        let begun = self.ctx.clock.begun().unwrap();
        let now = tokio::time::Instant::now();
        let held = self.venue.held();
        let keys: Vec<&Key> = order
            .attempts
            .iter()
            .flat_map(|attempt| &attempt.keys)
            .collect();
        let hits = held
            .iter()
            .filter(|held| keys.contains(&&held.key) && held.shown_from <= now);
        let reports: Vec<ExecReport> = hits.map(Held::report).collect();
        if reports.is_empty() {
            return Lookup::Absent {
                begun,
                ended: self.ctx.clock.ended().unwrap(),
            };
        }
        Lookup::Found(reports)
    }

    async fn revoke(&self, attempt: &Journaled<Attempt>) -> Revocation {
        if attempt.revocable {
            Revocation::Revoked
        } else {
            Revocation::Unsupported
        }
    }

    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome {
        let venue = &self.venue.0;
        venue.cancels.fetch_add(1, Ordering::AcqRel);
        let _head = venue.cancel_line.lock().await;
        let wait = venue.cancel_wait.lock().unwrap().take();
        if let Some(wait) = wait {
            wait.notified().await;
        }
        if venue.cancels_lost.load(Ordering::Acquire) {
            return CancelOutcome::Unknown(UnknownCause::new("scripted"));
        }
        let mut held = venue.held.lock().unwrap();
        let keys: Vec<&Key> = order
            .attempts
            .iter()
            .flat_map(|attempt| &attempt.keys)
            .collect();
        let open = held
            .iter_mut()
            .find(|held| keys.contains(&&held.key) && held.status == OrdStatus::Open);
        match open {
            Some(held) => {
                held.status = OrdStatus::Canceled;
                CancelOutcome::Taken
            }
            None => CancelOutcome::NotOpen,
        }
    }

    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome> {
        let venue = &self.venue.0;
        venue.batches.lock().unwrap().push(orders.len());
        if venue.batches_panic.load(Ordering::Acquire) {
            panic!("scripted");
        }
        let each = orders.iter().map(|order| self.cancel(order));
        let mut outcomes = futures_util::future::join_all(each).await;
        if venue.batches_short.load(Ordering::Acquire) {
            outcomes.truncate(1);
        }
        outcomes
    }

    async fn cancel_all(&self, _: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        Err(VenueError::Unsupported("cancel-all"))
    }

    async fn amend(&self, _: &Journaled<Amend>, go: &Go) -> AmendOutcome {
        let venue = &self.venue.0;
        venue.amends_asked.fetch_add(1, Ordering::AcqRel);
        let wait = venue.amend_wait.lock().unwrap().take();
        if let Some(wait) = wait {
            wait.notified().await;
        }
        if let Err(why) = go.check() {
            return AmendOutcome::NotSent(NotSent::HeldBack(why));
        }
        venue.amends_sent.fetch_add(1, Ordering::AcqRel);
        let next = venue.amends.lock().unwrap().pop_front();
        next.unwrap_or(AmendOutcome::Unsupported)
    }

    async fn open_orders(&self, _: Option<&Symbol>) -> Result<Snapshot<ExecReport>, VenueError> {
        self.up()?;
        if self.venue.0.lists_fail.load(Ordering::Acquire) {
            return Err(VenueError::Unreachable("timed out".into()));
        }
        let open = self
            .venue
            .held()
            .into_iter()
            .filter(|held| held.status == OrdStatus::Open);
        Ok(self.snapshot(open.map(|held| held.report()).collect()))
    }

    async fn closed_since(
        &self,
        _: Option<&Symbol>,
        _: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        self.up()?;
        let closed = self
            .venue
            .held()
            .into_iter()
            .filter(|held| held.status != OrdStatus::Open);
        Ok(self.snapshot(closed.map(|held| held.report()).collect()))
    }

    async fn fills_since(
        &self,
        _: Option<&Symbol>,
        _: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        panic_if(&self.venue.0.fills_panic);
        self.up()?;
        let held = self.venue.held();
        let fills = held.iter().flat_map(|held| {
            let handle = held.report().handle;
            held.fills
                .iter()
                .map(move |fill| (handle.clone(), fill.clone()))
        });
        Ok(self.snapshot(fills.collect()))
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        Ok(self.snapshot(Vec::new()))
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        if self.venue.0.streams_fail.load(Ordering::Acquire) {
            return Err(VenueError::Unreachable("no stream for now".into()));
        }
        let events = self.venue.0.stream.lock().unwrap().take();
        let events = events.ok_or(VenueError::Unsupported("a stream"))?;
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
        self.up()?;
        let mark = self.ctx.clock.mark();
        let now = VenueTime::from_ms(self.venue.now_ms());
        self.ctx.clock.observe(mark, now);
        Ok(now)
    }
}

/// Panics as often as the counter says.
fn panic_if(left: &AtomicU32) {
    let counted = left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| {
        left.checked_sub(1)
    });
    assert!(counted.is_err(), "scripted");
}

/// Orders by key, for tests that count.
pub(crate) fn by_key(venue: &FakeVenue) -> HashMap<Key, usize> {
    let mut counts = HashMap::new();
    for held in venue.held() {
        *counts.entry(held.key).or_insert(0) += 1;
    }
    counts
}
