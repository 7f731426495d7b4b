//! Where a case is played: a fresh venue, a journal in memory, and bots that come and go.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use surefill_core::{
    AccountId, Alias, Attempt, ClOrdId, Cold, Decision, DuplicateRule, Fence, FenceRule,
    MemoryStore, OrderIntent, OrderRecord, RecoverError, Resubmit, VenueProfile, VenueTime,
};

use super::bot::Bot;
use super::desk::Desk;
use super::fixture::{Start, VenueFixture};
use super::words::{Act, Fate, Fault, Login, Op, SeenOrder, SeenRequest};
use crate::crash_at::World;

/// No condition is waited for longer than this.
pub(super) const BOUND: Duration = Duration::from_secs(30);

/// The venue's name in every case.
pub(super) const ALIAS: &str = "venue";

/// Plays a case at a fresh venue. A case of which the venue saw nothing proves nothing, and fails; asking for the time, the account or
/// what is traded is nothing.
pub(super) async fn on(start: Start, case: impl AsyncFnOnce(&Stage)) {
    let stage = Stage::new(start().await).await;
    case(&stage).await;
    let requests = stage.requests().await;
    assert!(
        requests.iter().any(|request| request.op != Op::Other),
        "the venue was asked for nothing that could go wrong: this proves nothing"
    );
}

/// Plays a case for each of these, each at a fresh venue, some of them at once.
#[allow(
    clippy::future_not_send,
    reason = "one task plays the cases; none of them is handed to another"
)]
pub(super) async fn each<T: Clone>(
    start: Start,
    of: impl IntoIterator<Item = T>,
    case: impl AsyncFn(&Stage, T),
) {
    /// So many at once: more would only wait for each other.
    const AT_ONCE: usize = 8;
    let all: Vec<T> = of.into_iter().collect();
    for some in all.chunks(AT_ONCE) {
        let plays = some
            .iter()
            .map(|one| on(start, async |stage| case(stage, one.clone()).await));
        join_all(plays).await;
    }
}

/// What becomes of a second order under the id of a first one, by the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Second {
    /// It is refused.
    Refused,
    /// The first one is handed out.
    Existing,
    /// It is an order of its own: the property is missing, and the case flips.
    Placed,
}

/// A venue and what happens there.
pub(super) struct Stage {
    pub(super) sim: Box<dyn VenueFixture>,
    pub(super) account: AccountId,
    pub(super) profile: VenueProfile,
    /// An attempt for an order that rests. It is never sent; it says what such attempts have.
    pub(super) sample: Attempt,
    store: Mutex<MemoryStore>,
    decided: AtomicU32,
    /// Requests before the case began.
    before: usize,
}

impl Stage {
    async fn new(sim: Box<dyn VenueFixture>) -> Self {
        let now = sim.now().await;
        let store = MemoryStore::new(now);
        let desk = Desk::open(sim.connect(Login::Main), &store).await;
        let intent = sim.intent(
            Decision::new("sample", now.as_ms()),
            &ALIAS.into(),
            Fate::Rests,
        );
        let sample = desk.prepare(&intent, 1).await.2;
        let account = desk.account.clone();
        let profile = desk.venue.profile().clone();
        let before = sim.requests().await.len();
        Self {
            sim,
            account,
            profile,
            sample,
            store: Mutex::new(store),
            decided: AtomicU32::new(0),
            before,
        }
    }

    /// A new decision of now.
    pub(super) async fn intent(&self, fate: Fate) -> OrderIntent {
        let n = self.decided.fetch_add(1, Ordering::AcqRel);
        let now = self.sim.now().await;
        let decision = Decision::new(format!("case-{n}"), now.as_ms());
        self.sim.intent(decision, &ALIAS.into(), fate)
    }

    /// The id that the main account's intent has.
    pub(super) fn id(&self, intent: &OrderIntent) -> ClOrdId {
        ClOrdId::derive(&intent.decision, &self.account, &intent.symbol, intent.side)
    }

    /// The adapter alone, connected.
    pub(super) async fn desk(&self) -> Desk {
        self.desk_of(Login::Main).await
    }

    pub(super) async fn desk_of(&self, login: Login) -> Desk {
        Desk::open(self.sim.connect(login), &self.store()).await
    }

    /// The journal as it is now.
    pub(super) fn store(&self) -> MemoryStore {
        self.store.lock().unwrap().clone()
    }

    /// What the next process finds, `lose` lazy commits the poorer.
    pub(super) fn power_cut(&self, lose: usize) {
        let mut store = self.store.lock().unwrap();
        *store = store.power_cut(lose);
    }

    /// What the next process finds when one is gone.
    pub(super) fn handed_on(&self) {
        let mut store = self.store.lock().unwrap();
        *store = store.crash();
    }

    /// An empty journal, made then, in the place of the old one.
    pub(super) fn older_journal(&self, made_at: VenueTime) {
        *self.store.lock().unwrap() = MemoryStore::new(made_at);
    }

    /// An engine over the journal, not recovered, in a world of its own.
    pub(super) fn cold(&self, login: Login, world: &World) -> Cold {
        super::bot::cold(self.sim.connect(login), self.store(), world)
    }

    /// A bot that has recovered.
    pub(super) async fn bot(&self) -> Bot {
        self.bot_of(Login::Main).await.expect("recovered")
    }

    pub(super) async fn bot_of(&self, login: Login) -> Result<Bot, RecoverError> {
        let world = World::endless();
        Bot::start(self.cold(login, &world), world).await
    }

    /// The bot dies: nothing is finished, nothing is said.
    pub(super) fn crash(&self, bot: Bot) {
        bot.die();
        self.handed_on();
    }

    /// Requests since the case began.
    pub(super) async fn requests(&self) -> Vec<SeenRequest> {
        let mut all = self.sim.requests().await;
        all.drain(..self.before.min(all.len()));
        all
    }

    pub(super) async fn count(&self, op: Op) -> usize {
        let requests = self.requests().await;
        requests.iter().filter(|request| request.op == op).count()
    }

    pub(super) async fn creates(&self) -> usize {
        self.count(Op::Create).await
    }

    /// Orders of the main account.
    pub(super) async fn orders(&self) -> Vec<SeenOrder> {
        let mut orders = self.sim.orders().await;
        orders.retain(|order| self.sim.is_account(Login::Main, &order.account));
        orders
    }

    /// The only order there is.
    pub(super) async fn only_order(&self) -> SeenOrder {
        let orders = self.orders().await;
        assert_eq!(orders.len(), 1, "not exactly one order: {orders:?}");
        orders.into_iter().next().unwrap()
    }

    pub(super) async fn no_order(&self) {
        let orders = self.orders().await;
        assert!(orders.is_empty(), "an order: {orders:?}");
    }

    /// Waits until so many orders live or lived.
    pub(super) async fn placed(&self, times: usize) {
        until(&format!("{times} orders"), async || {
            (self.orders().await.len() >= times).then_some(())
        })
        .await;
    }

    /// Waits until so many requests of a kind have come since the case began.
    pub(super) async fn asked(&self, op: Op, times: usize) {
        until(&format!("{times} of {op:?}"), async || {
            (self.count(op).await >= times).then_some(())
        })
        .await;
    }

    /// Waits for an instant of the venue's clock.
    pub(super) async fn reach(&self, at: VenueTime) {
        until("the venue's clock", async || {
            (self.sim.now().await >= at).then_some(())
        })
        .await;
    }

    /// Waits for so long on the venue's clock.
    pub(super) async fn pass(&self, time: Duration) {
        let now = self.sim.now().await;
        self.reach(now.after(time)).await;
    }

    /// Every read about orders fails from now on.
    pub(super) async fn blind(&self) {
        for op in [Op::Lookup, Op::OpenOrders, Op::Fills] {
            self.sim
                .fault(Fault::on(op, Act::Status(502)).for_good())
                .await;
        }
    }

    /// Every push is lost from now on, and its connection with it.
    pub(super) async fn deaf(&self) {
        self.sim
            .fault(Fault::on(Op::Stream, Act::StreamDrop).for_good())
            .await;
    }

    /// Waits until every attempt of the order is past its fence. Before that, absence is never final: an adapter whose rounds are dear
    /// need not make a whole one, and then has no word of it.
    pub(super) async fn fenced(&self, order: &OrderRecord) {
        for attempt in &order.attempts {
            if let Fence::Clock(fence) = attempt.fence {
                self.reach(fence.after(self.drain() + self.profile.absence.margin))
                    .await;
            }
        }
    }

    /// The longest time in which an accepted or changed order shows.
    pub(super) fn lag(&self) -> Duration {
        self.profile.absence.lag.value()
    }

    /// The longest time from the gate to the book.
    pub(super) fn drain(&self) -> Duration {
        match self.profile.fence {
            FenceRule::Clock { drain, .. } => drain.value(),
            FenceRule::None | FenceRule::Height { .. } => self.lag(),
        }
    }

    /// From when on a request that was built now is in the book or never will be; where nothing bounds it, when it ought to be.
    pub(super) fn over(&self) -> Duration {
        self.sim
            .window()
            .unwrap_or_else(|| self.lag())
            .saturating_add(self.drain())
            .saturating_add(self.profile.absence.margin)
    }

    /// How long doubt lasts when the venue answers.
    pub(super) fn doubt(&self) -> Duration {
        self.over()
            .saturating_add(self.lag().saturating_mul(2))
            .saturating_add(self.profile.absence.spacing)
    }

    /// What becomes of a second order under one id.
    pub(super) const fn second(&self, first_is_open: bool) -> Second {
        match self.profile.duplicate {
            DuplicateRule::RefusedForever | DuplicateRule::RefusedWithin(_) => Second::Refused,
            DuplicateRule::RefusedWhileOpen if first_is_open => Second::Refused,
            DuplicateRule::ReturnsExisting => Second::Existing,
            DuplicateRule::RefusedWhileOpen | DuplicateRule::Accepted => Second::Placed,
        }
    }

    /// What becomes of a second copy of the same bytes.
    pub(super) const fn copy(&self, first_is_open: bool) -> Second {
        if self.sample.replayable {
            Second::Refused
        } else {
            self.second(first_is_open)
        }
    }

    /// What a request that never arrived ends as, when the intent is to be sent again on proof alone.
    pub(super) fn ending(&self) -> Ending {
        let unique = match self.profile.duplicate {
            DuplicateRule::RefusedForever
            | DuplicateRule::RefusedWithin(_)
            | DuplicateRule::ReturnsExisting => true,
            DuplicateRule::RefusedWhileOpen | DuplicateRule::Accepted => false,
        };
        if unique || self.sample.replayable || self.sample.revocable {
            Ending::OneOrder
        } else if self.sim.window().is_some() {
            Ending::Rejected
        } else {
            Ending::Halted
        }
    }

    /// An order that rests, which goes stale soon where it cannot be sent again: else its case would wait for that.
    pub(super) async fn doubtful_intent(&self) -> OrderIntent {
        let mut intent = self.intent(Fate::Rests).await;
        intent.resubmit = Resubmit::AfterProof;
        if self.ending() != Ending::OneOrder {
            intent.ttl = self.over();
        }
        intent
    }

    /// The alias of the venue.
    pub(super) fn alias(&self) -> Alias {
        ALIAS.into()
    }
}

/// How an intent ends whose only request never arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It is sent again: one order.
    OneOrder,
    /// The fence proves that it never was, and nothing lets it be sent again: Rejected.
    Rejected,
    /// Nothing bounds when it may land: its account halts.
    Halted,
}

/// Waits for a condition, with a bound against hanging.
pub(super) async fn until<T>(what: &str, mut met: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = tokio::time::Instant::now() + BOUND;
    loop {
        if let Some(met) = met().await {
            return met;
        }
        assert!(tokio::time::Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
