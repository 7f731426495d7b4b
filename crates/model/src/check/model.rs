//! The model for the checker: what may happen next in a world, and what must hold in every one.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use stateright::{Checker, HasDiscoveries, Model, Property};
use surefill_core::{
    AccountId, Amount, ClOrdId, Decision, FenceRule, Fill, GiveUp, HaltCause, Key, Lacking, Money,
    OrdState, OrderId, OrderIntent, Px, Qty, Resubmit, Settlement, Side, Sourced, VenueProfile,
};

use super::action::{Action, Fate};
use super::bot::{Ask, Mode};
use super::camp::{CAP, FENCE, HORIZON, LAG, QTY, TTL, Tick, at, span, tick_of};
use super::venue::{FillSet, Life, Place, Sight, fill_bit};
use super::{Budget, Camp, FenceKind, Lie, World};

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    /// P1: at most one order ever lives for one intent.
    AtMostOne,
    /// P2: when nothing happens any more, the order is settled as the venue says, or halted with a cause that holds.
    ExactlyOne,
    /// P3: when nothing happens any more, every fill is booked, once.
    NothingLost,
    /// P4: an order past the cap in doubt is halted.
    DoubtStops,
    /// P5: a row that works or filled has an order at the venue.
    VenueWord,
    /// I3: no change of a terminal row's state.
    TerminalIsFinal,
    /// I4: quantities grow.
    QuantitiesGrow,
    /// I7: nothing is sent after a cancel was told to be asked.
    CancelEndsSends,
    /// I12: nothing is sent of an attempt whose revocation is asked.
    RevocationEndsReplay,
    /// I13: the absence of an order that the venue named ends nothing, and no next attempt follows.
    EvidenceIsSticky,
    /// An order that lives under a Rejected or Canceled row is in the recovery index.
    InTheIndex,
    /// Nothing is sent after Rejected was told.
    NothingAfterRejected,
    /// No order is taken after Rejected was told, but for a doubled request or an assumed drain.
    RejectedIsFinal,
    /// No attempt is made durable after a halt was announced.
    HaltHolds,
    /// No change is decided that the row refuses.
    Lawful,
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::AtMostOne,
        Self::ExactlyOne,
        Self::NothingLost,
        Self::DoubtStops,
        Self::VenueWord,
        Self::TerminalIsFinal,
        Self::QuantitiesGrow,
        Self::CancelEndsSends,
        Self::RevocationEndsReplay,
        Self::EvidenceIsSticky,
        Self::InTheIndex,
        Self::NothingAfterRejected,
        Self::RejectedIsFinal,
        Self::HaltHolds,
        Self::Lawful,
    ];

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtMostOne => "P1 at most one order",
            Self::ExactlyOne => "P2 settled, or halted with a cause that holds",
            Self::NothingLost => "P3 every fill booked once",
            Self::DoubtStops => "P4 doubt past the cap is halted",
            Self::VenueWord => "P5 a working row has an order",
            Self::TerminalIsFinal => "I3 terminal is final",
            Self::QuantitiesGrow => "I4 quantities grow",
            Self::CancelEndsSends => "I7 a cancel ends sends",
            Self::RevocationEndsReplay => "I12 a revocation ends replay",
            Self::EvidenceIsSticky => "I13 evidence is sticky",
            Self::InTheIndex => "what lives under an ended row is in the index",
            Self::NothingAfterRejected => "nothing is sent after Rejected was told",
            Self::RejectedIsFinal => "no order is taken after Rejected was told",
            Self::HaltHolds => "no attempt after a halt was announced",
            Self::Lawful => "no change that the row refuses",
        }
    }
}

/// What the check met on its way, for the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Stored bytes were sent again.
    Replayed = 1,
    /// A next attempt was sent.
    Resent = 2,
    /// A revocation was asked.
    Revoked = 4,
    /// A row was watched.
    Watched = 8,
    /// It ended as an order.
    OneOrder = 16,
    /// It ended without an order.
    NoOrder = 32,
    /// It ended under a halt: no fence.
    HaltFence = 64,
    /// It ended under a halt: the drain is only assumed.
    HaltDrain = 128,
    /// It ended under a halt: the lists do not reach back.
    HaltRetention = 256,
    /// It ended under a halt: named, and not shown.
    HaltSight = 512,
    /// It ended under a halt: no answer.
    HaltAnswer = 1024,
    /// It ended under a halt: an order came to light under an ended row.
    HaltSurprise = 2048,
    /// It ended under a halt: two orders.
    HaltSecond = 4096,
}

/// What the check met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u32);

impl Marks {
    #[expect(clippy::as_conversions, reason = "the discriminant is the bit")]
    pub(crate) const fn has(self, mark: Mark) -> bool {
        self.0 & mark as u32 != 0
    }

    /// What either met.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The model of one kind of venue.
#[derive(Debug)]
pub struct Check {
    pub(crate) camp: Camp,
    pub(crate) budget: Budget,
    pub(crate) lie: Option<Lie>,
    /// How long lists keep what ended.
    pub(crate) kept: Tick,
    /// The longest time until a change shows in lists.
    lag: Tick,
    /// How long the intent stays fresh.
    pub(crate) ttl: Tick,
    /// From signing to the fence, of the first attempt, where it has one; of each later one it is the usual.
    pub(crate) first_fence: Option<Tick>,
    /// Whether a next attempt can be built.
    pub(crate) rebuildable: bool,
    pub(crate) intent: OrderIntent,
    pub(crate) id: ClOrdId,
    pub(crate) account: AccountId,
    pub(crate) key: Key,
    pub(crate) profile: VenueProfile,
    pub(crate) fills: Vec<Vec<Fill>>,
    pub(crate) units: Vec<Qty>,
    /// Only this promise is looked at.
    only: Option<Promise>,
    marks: AtomicU32,
    /// Promises that were found broken: the checker keeps the last way that it is shown, and the first one is the shortest.
    shown: Mutex<BTreeSet<Promise>>,
}

/// A broken promise and the shortest way there.
#[derive(Clone, Debug)]
pub struct Found {
    /// The promise.
    pub promise: Promise,
    /// The way, one step a line.
    pub script: Vec<String>,
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Report {
    /// Distinct states explored.
    pub states: usize,
    /// Whether the limit ended it before every world was seen.
    pub cut: bool,
    /// Broken promises.
    pub found: Vec<Found>,
    /// What it met on its way.
    pub marks: Marks,
}

impl Check {
    /// A check of an honest venue of this camp.
    pub fn new(camp: Camp, budget: Budget) -> Self {
        let account = AccountId::new("model", "test", "1");
        let units: Vec<Qty> = (0..=QTY * 2)
            .map(|n| n.to_string().parse().unwrap())
            .collect();
        let price: Px = "100".parse().unwrap();
        let mut intent = OrderIntent::limit(
            Decision::new("model", at(0).as_ms()),
            "v",
            "S",
            Side::Buy,
            Amount::Base(units[usize::from(QTY)]),
            price,
        );
        intent.ttl = span(TTL);
        intent.resubmit = Resubmit::AfterAbsence;
        let fill = |order: u8, n: u8| Fill {
            symbol: "S".into(),
            order_id: OrderId::from(format!("O{order}")),
            exec_id: format!("x{n}").into(),
            last_qty: units[1],
            last_px: price,
            fee: Money::ZERO,
            fee_currency: "U".into(),
            transact_time: at(0),
            settlement: Settlement::Final,
        };
        let fills = (0..4)
            .map(|order| (0..QTY).map(|n| fill(order, n)).collect())
            .collect();
        Self {
            id: ClOrdId::derive(&intent.decision, &account, &intent.symbol, intent.side),
            profile: camp.profile(),
            key: "5f01".into(),
            kept: 200,
            lag: LAG,
            ttl: TTL,
            first_fence: Some(FENCE),
            rebuildable: true,
            lie: None,
            only: None,
            marks: AtomicU32::new(0),
            shown: Mutex::default(),
            camp,
            budget,
            intent,
            account,
            fills,
            units,
        }
    }

    /// Looks at this promise alone.
    #[must_use]
    pub const fn only(mut self, promise: Promise) -> Self {
        self.only = Some(promise);
        self
    }

    /// On what ground the intent may be sent again.
    #[must_use]
    pub const fn resubmit(mut self, resubmit: Resubmit) -> Self {
        self.intent.resubmit = resubmit;
        self
    }

    /// What happens when the intent is stale.
    #[must_use]
    pub const fn give_up(mut self, give_up: GiveUp) -> Self {
        self.intent.give_up = give_up;
        self
    }

    /// How long the venue's lists keep what ended, whatever the profile says.
    #[must_use]
    pub const fn kept(mut self, kept: Tick) -> Self {
        self.kept = kept;
        self
    }

    /// Bytes that a caller signed: another attempt cannot be built.
    #[must_use]
    pub const fn caller_signed(mut self) -> Self {
        self.rebuildable = false;
        self
    }

    /// A venue whose lists lag by so many ticks, and say so; the intent stays fresh for two such lags as well.
    #[must_use]
    pub const fn lagging(mut self, lag: Tick) -> Self {
        self.lag = lag;
        self.ttl = TTL + 2 * (lag - LAG);
        self.intent.ttl = span(self.ttl);
        self.profile.absence.lag = Sourced::Documented(span(lag), "the model");
        self.profile.absence.spacing = span(lag);
        self
    }

    /// A first attempt that holds for so long, or for ever, and later ones as long as usual.
    #[must_use]
    pub fn first_fence(mut self, ticks: Option<Tick>) -> Self {
        self.first_fence = ticks;
        if let (FenceRule::Clock { max, .. }, Some(ticks)) = (&mut self.profile.fence, ticks) {
            *max = span(ticks.max(FENCE));
        }
        self
    }

    /// The same with a part that lies.
    #[must_use]
    pub fn lying(mut self, lie: Lie) -> Self {
        self.lie = Some(lie);
        match lie {
            Lie::NoDrain => {
                self.profile.fence = FenceRule::Clock {
                    max: span(FENCE),
                    drain: Sourced::Documented(span(0), "the lie"),
                };
            }
            Lie::NoWatch => self.profile.watch = span(0),
            _ => {}
        }
        self
    }

    #[expect(clippy::as_conversions, reason = "the discriminant is the bit")]
    pub(crate) fn saw(&self, mark: Mark) {
        self.marks.fetch_or(mark as u32, Ordering::Relaxed);
    }

    pub(crate) fn bit_of(&self, fill: &Fill) -> FillSet {
        for (order, index) in self.fills.iter().zip(0_u8..) {
            for (other, n) in order.iter().zip(0_u8..) {
                if other.is(fill) {
                    return fill_bit(index, n);
                }
            }
        }
        0
    }

    /// Explores every world, or until the first broken promise.
    pub fn run(self, limit: usize) -> Report {
        let checker = self
            .checker()
            .finish_when(HasDiscoveries::Any)
            .target_state_count(limit)
            .spawn_bfs()
            .join();
        let mut found: Vec<Found> = checker
            .discoveries()
            .into_iter()
            .map(|(name, path)| {
                let promise = Promise::ALL.into_iter().find(|p| p.name() == name);
                let steps = path.into_vec();
                Found {
                    promise: promise.unwrap(),
                    script: script(&steps),
                }
            })
            .collect();
        found.sort_by_key(|found| found.promise);
        Report {
            states: checker.unique_state_count(),
            cut: checker.state_count() >= limit,
            found,
            marks: Marks(checker.model().marks.load(Ordering::Relaxed)),
        }
    }

    /// Whether a broken promise is shown for the first time.
    fn shows(&self, promise: Promise) -> bool {
        self.shown.lock().unwrap().insert(promise)
    }

    fn holds(&self, promise: Promise, w: &World) -> bool {
        if self.only.is_some_and(|only| only != promise) {
            return true;
        }
        if w.broken == Some(promise) {
            return false;
        }
        let row = w.row().map(|row| &row.record);
        match promise {
            Promise::AtMostOne => {
                let remembers = self.camp.remembers();
                // What no client can stop is detected and halted: that is part of P2.
                let documented =
                    w.doubled && !self.camp.keeps_id() && !(remembers && self.camp.uses_up);
                w.venue.orders.len() <= 1 || documented && !remembers
            }
            Promise::ExactlyOne => !self.is_over(w) || self.settled(w),
            Promise::NothingLost => {
                // Under a halt from doubt the looks go on, slowly: what lands at the last tick is found after it.
                row.is_none()
                    || !self.is_over(w)
                    || self.doubt(w).is_some()
                    || w.journal.page.fills == w.executed()
            }
            Promise::DoubtStops => {
                let since = row.and_then(|row| row.doubt_since).map(tick_of);
                let runs = matches!(w.leader().mode, Mode::Waiting { .. }) && !w.leader().paused;
                let late = since.is_some_and(|since| w.now > since + CAP + 3);
                !(late && runs) || self.doubt(w).is_some()
            }
            Promise::VenueWord => {
                let claims =
                    row.is_some_and(|row| row.state.is_working() || row.state == OrdState::Filled);
                !claims || !w.venue.orders.is_empty()
            }
            Promise::InTheIndex => {
                let lives = w.venue.orders.iter().any(|order| order.life == Life::Open);
                let ended = row.is_some_and(|row| row.state.is_terminal() && !row.unfinished());
                !(lives && ended) || w.venue.orders.len() > 1
            }
            Promise::TerminalIsFinal
            | Promise::QuantitiesGrow
            | Promise::CancelEndsSends
            | Promise::RevocationEndsReplay
            | Promise::EvidenceIsSticky
            | Promise::NothingAfterRejected
            | Promise::RejectedIsFinal
            | Promise::HaltHolds
            | Promise::Lawful => true,
        }
    }

    fn is_over(&self, w: &World) -> bool {
        let waits = matches!(w.leader().mode, Mode::Rest | Mode::Waiting { .. });
        if w.broken.is_some() || !waits || w.bots.iter().any(|bot| bot.paused) {
            return w.broken.is_some();
        }
        if !w.venue.copies.is_empty() || w.now < HORIZON && !w.quiet() {
            return false;
        }
        let mut actions = Vec::new();
        self.next_actions(w, &mut actions);
        actions.is_empty()
    }

    fn doubt(&self, w: &World) -> Option<Lacking> {
        w.journal.page.halts.iter().find_map(|halt| match halt {
            HaltCause::Doubt { lacking, .. } => Some(*lacking),
            _ => None,
        })
    }

    /// Settled as the venue says, or halted with a cause that holds here.
    fn settled(&self, w: &World) -> bool {
        let orders = w.venue.orders.len();
        let mut halted = false;
        for halt in &w.journal.page.halts {
            let holds = match halt {
                HaltCause::Doubt { lacking, .. } => match lacking {
                    Lacking::Fence => {
                        self.saw(Mark::HaltFence);
                        self.camp.fence == FenceKind::None || self.first_fence.is_none()
                    }
                    Lacking::DocumentedDrain => {
                        self.saw(Mark::HaltDrain);
                        self.camp.fence == FenceKind::Gate && self.intent.give_up == GiveUp::Strict
                    }
                    Lacking::Retention => {
                        self.saw(Mark::HaltRetention);
                        self.kept < HORIZON
                    }
                    Lacking::Sight => {
                        self.saw(Mark::HaltSight);
                        false
                    }
                    Lacking::Answer => {
                        self.saw(Mark::HaltAnswer);
                        false
                    }
                },
                HaltCause::SecondOrder { .. } => {
                    self.saw(Mark::HaltSecond);
                    orders > 1
                }
                HaltCause::Surprise { .. } => {
                    self.saw(Mark::HaltSurprise);
                    w.doubled || self.camp.fence == FenceKind::Gate
                }
                HaltCause::Asked => true,
                _ => false,
            };
            if !holds {
                return false;
            }
            halted = true;
        }
        if halted {
            return true;
        }
        let Some(row) = w.row() else {
            return orders == 0;
        };
        let row = &row.record;
        if orders == 0 {
            self.saw(Mark::NoOrder);
        } else {
            self.saw(Mark::OneOrder);
        }
        let at_rest = row.state.is_working() && !row.cancel_requested
            || row.state.is_terminal() && !row.unfinished();
        orders <= 1 && at_rest && w.agrees()
    }

    fn next_actions(&self, w: &World, actions: &mut Vec<Action>) {
        if w.broken.is_some() {
            return;
        }
        let faulty = w.faulty();
        let faults = w.left.faults > 0 && faulty;
        let mut busy = false;
        let mut urgent = false;
        for (b, bot) in (0_u8..).zip(&w.bots) {
            urgent |= bot.urgent();
            if bot.paused {
                actions.push(Action::GoOn(b));
                continue;
            }
            match &bot.mode {
                Mode::Place | Mode::Decide(_) => actions.push(Action::Step(b)),
                Mode::Prepare { .. } => {
                    busy = true;
                    actions.push(Action::Step(b));
                }
                Mode::Ready { .. } => {
                    actions.push(Action::Step(b));
                    if faults {
                        actions.push(Action::NoConnect(b));
                    }
                    if w.left.doubles > 0 && faulty {
                        actions.push(Action::Doubled(b));
                    }
                }
                Mode::Waiting { until, .. } => {
                    if *until <= w.now {
                        busy = true;
                        actions.push(Action::Step(b));
                    }
                }
                Mode::Looking { open, .. } => {
                    busy |= w.left.slow == 0 || !faulty;
                    actions.push(Action::Read {
                        bot: b,
                        lucky: true,
                    });
                    if self.unsure(w, open.is_some()) {
                        actions.push(Action::Read {
                            bot: b,
                            lucky: false,
                        });
                    }
                    if faults && open.is_none() {
                        actions.push(Action::ReadFails(b));
                    }
                }
                Mode::Sending { .. } => {
                    let held = w.venue.copies.iter().find(|copy| copy.by == Some(b));
                    let free = held.is_none_or(
                        |copy| matches!(copy.place, Place::Queue(since) if since < w.now),
                    );
                    if free || faults {
                        actions.push(Action::TimeOut(b));
                    }
                }
                Mode::Asking(ask) => self.asks(w, b, *ask, faults, actions),
                Mode::Down => {
                    if b == w.journal.leader {
                        busy |= !faulty;
                        actions.push(Action::Recover(b));
                    }
                }
                Mode::Rest => {}
            }
            if bot.mode != Mode::Down {
                let idle = bot.mode == Mode::Rest && w.journal.lazy.is_empty();
                if w.left.crashes > 0 && faulty && !idle && b == w.journal.leader {
                    let lazy = u8::try_from(w.journal.lazy.len()).unwrap();
                    actions.extend((0..=lazy).map(|lose| Action::Crash { bot: b, lose }));
                }
                if w.left.pauses > 0 && faulty && bot.mode != Mode::Rest {
                    actions.push(Action::Pause(b));
                }
            }
        }
        if urgent {
            return;
        }
        for (b, bot) in (0_u8..).zip(&w.bots) {
            self.outside(w, b, bot, actions);
        }
        let paused = w.bots[0].paused || w.bots[0].mode == Mode::Down;
        if w.left.takeovers > 0 && faulty && paused && w.journal.leader == 0 {
            actions.push(Action::Takeover);
        }
        if w.left.halts > 0 && faulty {
            actions.push(Action::AskHalt);
        }
        busy |= w.bots.iter().any(|bot| bot.paused && !faulty);
        busy |= self.venue(w, faults, actions);
        if !busy && w.now < HORIZON && !w.quiet() {
            actions.push(Action::Tick);
        }
    }

    /// What the venue may do; `true` when no tick may pass before it did.
    fn venue(&self, w: &World, faults: bool, actions: &mut Vec<Action>) -> bool {
        let mut busy = w.venue.due(&self.camp, w.now);
        for (index, copy) in (0_u8..).zip(&w.venue.copies) {
            // Equal copies are one.
            if index > 0 && w.venue.copies[usize::from(index) - 1] == *copy {
                continue;
            }
            let awaited = copy.by.is_some();
            match copy.place {
                Place::Wire => {
                    busy |= awaited;
                    actions.push(Action::Gate {
                        copy: index,
                        lost: false,
                    });
                    if faults {
                        if awaited {
                            actions.push(Action::Throttle(index));
                        }
                        actions.push(Action::Lose(index));
                    }
                }
                Place::Queue(_) => {
                    for refuse in [false, true] {
                        if refuse && w.left.refusals == 0 {
                            continue;
                        }
                        actions.push(Action::Book {
                            copy: index,
                            refuse,
                            lost: false,
                        });
                        if faults && awaited {
                            actions.push(Action::Book {
                                copy: index,
                                refuse,
                                lost: true,
                            });
                        }
                    }
                }
            }
        }
        for index in 0..w.venue.orders.len() {
            if w.trades(index) {
                let order = u8::try_from(index).unwrap();
                actions.push(Action::Fill(order));
                actions.push(Action::Expire(order));
            }
        }
        busy
    }

    fn asks(&self, w: &World, b: u8, ask: Ask, faults: bool, actions: &mut Vec<Action>) {
        let mut push = |fate| actions.push(Action::Ask { bot: b, fate });
        push(Fate::Answered);
        let open = w.venue.orders.iter().any(|order| order.life == Life::Open);
        if ask == Ask::Cancel && open {
            push(Fate::Receipt);
        }
        if faults {
            push(Fate::Lost);
            if open || ask != Ask::Cancel {
                push(Fate::AnswerLost);
            }
        }
    }

    /// What comes to a process from outside.
    fn outside(&self, w: &World, b: u8, bot: &super::Bot, actions: &mut Vec<Action>) {
        let open = bot
            .row
            .as_ref()
            .is_some_and(|row| !row.record.state.is_terminal() && !row.record.cancel_requested);
        if bot.listens() && w.left.cancels > 0 && w.faulty() && open {
            actions.push(Action::AskCancel(b));
        }
        if b != w.journal.leader || bot.paused {
            return;
        }
        for (order, index) in w.venue.orders.iter().zip(0_u8..) {
            if bot.listens() && w.left.pushes > 0 && w.faulty() {
                for old in [false, true] {
                    if !old || order.life != Life::Open || !order.fills.is_empty() {
                        actions.push(Action::Push {
                            bot: b,
                            order: index,
                            old,
                        });
                    }
                }
            }
            if bot.mode == Mode::Rest
                && self.lie != Some(Lie::NoSweep)
                && let Some(row) = w.row()
            {
                let name = &self.fills[usize::from(index)][0].order_id;
                let certain = order.fills_shown(index, w.now, false, self.kept);
                let news = !row.record.order_ids.contains(name)
                    && (order.in_open(w.now) == Sight::Yes
                        || order.in_closed(w.now, self.kept) == Sight::Yes)
                    || certain & !w.journal.page.fills != 0;
                if news {
                    actions.push(Action::Hear {
                        bot: b,
                        order: index,
                    });
                }
            }
        }
    }

    /// Whether a list may show more or less than it will.
    fn unsure(&self, w: &World, second: bool) -> bool {
        w.venue.orders.iter().any(|order| {
            if second {
                order.in_closed(w.now, self.kept) == Sight::Maybe || order.fills_unsure(w.now)
            } else {
                order.in_open(w.now) == Sight::Maybe
            }
        })
    }
}

impl Model for Check {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self.budget, self.lag)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        self.next_actions(world, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        Some(self.after(world, action))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        macro_rules! always {
            ($($promise:ident),* $(,)?) => {
                vec![$(Property::always(Promise::$promise.name(), |check: &Self, world: &World| {
                    check.holds(Promise::$promise, world) || !check.shows(Promise::$promise)
                })),*]
            };
        }
        always![
            AtMostOne,
            ExactlyOne,
            NothingLost,
            DoubtStops,
            VenueWord,
            TerminalIsFinal,
            QuantitiesGrow,
            CancelEndsSends,
            RevocationEndsReplay,
            EvidenceIsSticky,
            InTheIndex,
            NothingAfterRejected,
            RejectedIsFinal,
            HaltHolds,
            Lawful,
        ]
    }
}

/// The way to a world, one step a line: when, what, and how things stand after it.
fn script(steps: &[(World, Option<Action>)]) -> Vec<String> {
    let mut lines = Vec::new();
    for pair in steps.windows(2) {
        let [(before, Some(action)), (after, _)] = pair else {
            continue;
        };
        lines.push(format!("t{} {action}{}", before.now, Stands(before, after)));
    }
    lines
}

/// What a step changed, in words.
struct Stands<'a>(&'a World, &'a World);

impl fmt::Display for Stands<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (self.0, self.1);
        let state = |w: &World| w.row().map(|row| row.record.state);
        let attempts = |w: &World| w.row().map_or(0, |row| row.record.attempts.len());
        for (old, new) in before.bots.iter().zip(&after.bots) {
            if old.mode != new.mode {
                write!(f, "; now {:?}", new.mode)?;
            }
        }
        if state(before) != state(after) {
            match state(after) {
                Some(state) => write!(f, "; the row is {state}")?,
                None => write!(f, "; the row is gone")?,
            }
        }
        if attempts(before) != attempts(after) {
            write!(f, ", attempts {}", attempts(after))?;
        }
        if let (Some(old), Some(new)) = (before.row(), after.row()) {
            let (old, new) = (&old.record, &new.record);
            if old.cum_qty != new.cum_qty {
                write!(f, ", executed {}", new.cum_qty)?;
            }
            for (old, new) in old.attempts.iter().zip(&new.attempts) {
                if old.revocation != new.revocation {
                    write!(
                        f,
                        ", revocation of attempt {}: {:?}",
                        new.no, new.revocation
                    )?;
                }
            }
        }
        if before.venue.orders.len() != after.venue.orders.len() {
            write!(f, "; orders at the venue: {}", after.venue.orders.len())?;
        }
        let halts = &after.journal.page.halts;
        if before.journal.page.halts != *halts {
            write!(f, "; halts: {halts:?}")?;
        }
        Ok(())
    }
}
