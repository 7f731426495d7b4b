//! A venue in memory of any camp, with its adapter: what the kit is tried on before it judges a real one.

mod adapter;
mod edge;
mod state;

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use surefill_conformance::venue::{
    Fate, Fault, List, Login, Referee, SeenFill, SeenOrder, SeenRequest, VenueFixture,
};
use surefill_core::{
    AbsenceRule, Alias, AmendRule, Amount, CancelRule, ClOrdId, Connect, Decision, DuplicateRule,
    FenceRule, IdRule, NonceScope, OrderIntent, Qty, Rates, Side, Sourced, VenueName, VenueProfile,
    VenueTime,
};

pub(crate) use adapter::Configured;
pub(crate) use edge::Edge;

/// How long a request is taken, where there is a fence.
pub(crate) const WINDOW: Duration = Duration::from_millis(300);

/// Orders on one page of the list of open ones.
pub(crate) const PAGE: usize = 10;

/// What a venue has of the properties that decide about doubt.
#[derive(Clone, Debug)]
pub(crate) struct Traits {
    pub(crate) duplicate: DuplicateRule,
    pub(crate) fence: bool,
    /// It remembers the bytes of a request, and there is a request that uses them up.
    pub(crate) remembers: bool,
    pub(crate) cancel: CancelRule,
    /// Its ids can be read back.
    pub(crate) tagged: bool,
}

impl Traits {
    pub(crate) fn profile(&self) -> VenueProfile {
        let ms = Duration::from_millis;
        let fast = NonZeroU32::new(10_000).unwrap();
        VenueProfile {
            name: VenueName::from("fake"),
            id_rule: IdRule {
                alphabet: "0123456789abcdef",
                max_len: 32,
            },
            duplicate: self.duplicate,
            refusal_uses_up_bytes: self.remembers,
            fence: if self.fence {
                FenceRule::Clock {
                    max: WINDOW,
                    drain: Sourced::Assumed(ms(20)),
                }
            } else {
                FenceRule::None
            },
            absence: AbsenceRule {
                lag: Sourced::Assumed(ms(60)),
                lag_blocks: 0,
                spacing: ms(60),
                margin: ms(60),
                closed_retention: Sourced::Assumed(Duration::from_secs(86_400)),
                fills_retention: Sourced::Assumed(Duration::from_secs(86_400)),
            },
            watch: ms(300),
            cap: ms(1_500),
            rates: Rates {
                create: fast,
                cancel: fast,
                lookup: fast,
            },
            poll: ms(50),
            nonce_scope: self.remembers.then(|| NonceScope("fake/1001".into())),
            reduce_only: true,
            successors: false,
            amend: AmendRule::None,
            cancel: self.cancel,
            cancel_batch: 1,
        }
    }
}

/// A kind of venue: what it is, and what its adapter claims it is.
pub(crate) trait Camp: Send + Sync + 'static {
    fn truth() -> Traits;

    fn claims() -> Traits {
        Self::truth()
    }

    /// Puts the adapter into other hands.
    fn adapter(honest: Configured) -> Box<dyn Connect> {
        Box::new(honest)
    }
}

pub(crate) struct Fake<C> {
    edge: Arc<Edge>,
    camp: PhantomData<C>,
}

impl<C: Camp> Fake<C> {
    fn configured(&self, account: &'static str) -> Box<dyn Connect> {
        C::adapter(Configured {
            edge: Some(Arc::clone(&self.edge)),
            account,
            claims: C::claims(),
        })
    }
}

#[async_trait]
impl<C: Camp> Referee for Fake<C> {
    async fn now(&self) -> VenueTime {
        self.edge.now()
    }

    async fn orders(&self) -> Vec<SeenOrder> {
        self.edge.state(|state| state.seen_orders())
    }

    async fn fills(&self) -> Vec<SeenFill> {
        self.edge.state(|state| state.seen_fills())
    }

    async fn requests(&self) -> Vec<SeenRequest> {
        self.edge.state(|state| state.requests.clone())
    }

    async fn fault(&self, fault: Fault) {
        self.edge.state(|state| state.faults.push(fault));
    }

    async fn faults_left(&self) -> usize {
        self.edge.state(|state| state.faults.len())
    }

    async fn clear_faults(&self) {
        self.edge.state(|state| state.faults.clear());
    }

    async fn hide(&self, id: ClOrdId, from: &[List], time: Duration) {
        let until = self.edge.now().after(time);
        let (id, from) = (id.to_string(), from.to_vec());
        self.edge.state(|state| {
            if time.is_zero() {
                state.veils.retain(|(of, ..)| *of != id);
            } else {
                state.veils.push((id, from, until));
            }
        });
    }

    async fn fill(&self, id: ClOrdId, qty: Qty) {
        let now = self.edge.now();
        self.edge
            .state(|state| state.fill(&id.to_string(), qty.value(), now));
    }

    async fn skew(&self, ms: i64) {
        self.edge.skew(ms);
    }

    async fn restart(&self, down: Duration) {
        let until = self.edge.now().after(down);
        self.edge.state(|state| state.down_until = until);
    }
}

#[async_trait]
impl<C: Camp> VenueFixture for Fake<C> {
    async fn start() -> Self {
        Self {
            edge: Arc::new(Edge::new(C::truth())),
            camp: PhantomData,
        }
    }

    fn connect(&self, login: Login) -> Box<dyn Connect> {
        self.configured(match login {
            Login::Main => "1001",
            Login::Other => "1002",
        })
    }

    fn nowhere(&self) -> Box<dyn Connect> {
        C::adapter(Configured {
            edge: None,
            account: "1001",
            claims: C::claims(),
        })
    }

    fn is_account(&self, login: Login, account: &str) -> bool {
        account
            == match login {
                Login::Main => "1001",
                Login::Other => "1002",
            }
    }

    fn intent(&self, decision: Decision, alias: &Alias, fate: Fate) -> OrderIntent {
        let (qty, price) = match fate {
            Fate::Rests => ("1", "90"),
            Fate::Fills => ("2", "110"),
            Fate::Refused => ("5000", "90"),
        };
        let amount = Amount::Base(qty.parse().unwrap());
        let price = price.parse().unwrap();
        OrderIntent::limit(decision, alias.clone(), "COIN", Side::Buy, amount, price)
    }

    fn part(&self) -> Qty {
        "0.3".parse().unwrap()
    }

    fn window(&self) -> Option<Duration> {
        C::claims().fence.then_some(WINDOW)
    }

    fn more_than_a_page(&self) -> usize {
        PAGE + 3
    }

    fn throttle_is_documented(&self) -> bool {
        true
    }
}
