//! The model of one kind of venue for the checker.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use stateright::{Checker, HasDiscoveries, Model, Property};
use surefill_core::{
    AccountId, Amount, ClOrdId, Decision, FenceRule, Fill, GiveUp, Key, Money, OrderId,
    OrderIntent, Px, Qty, Resubmit, Settlement, Side, Sourced, VenueProfile,
};

use super::action::Action;
use super::alike::Lens;
use super::camp::{FENCE, LAG, QTY, TTL, Tick, at, span};
use super::marks::{Mark, Marks};
use super::venue::{FillSet, fill_bit};
use super::{Budget, Camp, Lie, Promise, World};

/// The model of one kind of venue.
#[derive(Debug)]
pub struct Check {
    pub(crate) camp: Camp,
    pub(crate) budget: Budget,
    pub(crate) lie: Option<Lie>,
    /// How long lists keep what ended.
    pub(crate) kept: Tick,
    /// The longest time until a change shows in lists.
    pub(super) lag: Tick,
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
    pub(super) only: Option<Promise>,
    /// Every world is told from every other one.
    pub(super) plain: bool,
    pub(super) marks: AtomicU32,
    /// Promises that were found broken: the checker keeps the last way that it is shown, and the first one is the shortest.
    pub(super) shown: Mutex<BTreeSet<Promise>>,
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
            plain: false,
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

    /// Without the reductions: every step is a world of its own, and worlds that are alike are explored each.
    #[must_use]
    pub const fn plain(mut self) -> Self {
        self.plain = true;
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

    /// How long the venue's lists keep what ended, as the profile says.
    #[must_use]
    pub const fn kept(mut self, kept: Tick) -> Self {
        self.kept = kept;
        self.profile.absence.closed_retention = Sourced::Documented(span(kept), "the model");
        self.profile.absence.fills_retention = Sourced::Documented(span(kept), "the model");
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
            Lie::LongRetention => {
                let ever = Sourced::Documented(span(200), "the lie");
                self.profile.absence.closed_retention = ever;
                self.profile.absence.fills_retention = ever;
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
                    script: checker.model().script(&steps),
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
}

impl Model for Check {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let lens = Lens {
            plain: self.plain,
            profile: self.profile.clone(),
            kept: self.kept,
        };
        vec![World::new(self.budget, self.lag, Arc::new(lens))]
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
            DoubtIsSaid,
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
