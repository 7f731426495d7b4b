//! What an adapter's author brings: a simulated venue, its adapter, orders of three fates, and a referee.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use surefill_core::{Alias, ClOrdId, Connect, Decision, OrderIntent, Qty, VenueTime};

use super::words::{Fate, Fault, List, Login, SeenFill, SeenOrder, SeenRequest};

/// What the venue really holds and saw, and what goes wrong there next. The adapter has no part in it.
///
/// A simulator with the control port of `surefill-sim` has all of it: implement [`super::ControlPort`] instead.
#[async_trait]
pub trait Referee: Send + Sync {
    /// The venue's time.
    async fn now(&self) -> VenueTime;

    /// Every order that lives or lived, of every account, in the order in which they were taken.
    async fn orders(&self) -> Vec<SeenOrder>;

    /// Every fill, in order.
    async fn fills(&self) -> Vec<SeenFill>;

    /// Every request that came, in order.
    async fn requests(&self) -> Vec<SeenRequest>;

    /// Schedules a fault.
    async fn fault(&self, fault: Fault);

    /// How many scheduled faults have not fired as often as they shall.
    async fn faults_left(&self) -> usize;

    /// Takes back every fault.
    async fn clear_faults(&self);

    /// Keeps an order, which need not exist yet, out of these lists for a while. For no time at all it is shown again everywhere.
    async fn hide(&self, id: ClOrdId, from: &[List], time: Duration);

    /// Executes a part of an open order.
    async fn fill(&self, id: ClOrdId, qty: Qty);

    /// Moves the venue's clock by so much against ours.
    async fn skew(&self, ms: i64);

    /// Ends every connection, and refuses new ones for a while.
    async fn restart(&self, down: Duration);
}

/// A simulated venue with the adapter that is to be judged.
///
/// The adapter's profile must hurry: a fence, a drain and a lag of some hundred milliseconds, a margin that is not zero, and a cap
/// above all of them. The simulated venue keeps to what the profile says; where it cannot, a case fails that should.
#[async_trait]
pub trait VenueFixture: Referee + 'static {
    /// A fresh venue with a flat book, where both accounts are rich.
    async fn start() -> Self
    where
        Self: Sized;

    /// The adapter as a bot would configure it.
    fn connect(&self, login: Login) -> Box<dyn Connect>;

    /// The adapter as it would be configured, at an address where nobody listens.
    fn nowhere(&self) -> Box<dyn Connect>;

    /// Whether the referee's name of an account means this one.
    fn is_account(&self, login: Login, account: &str) -> bool;

    /// An order of this fate. The same decision has the same terms each time.
    fn intent(&self, decision: Decision, alias: &Alias, fate: Fate) -> OrderIntent;

    /// A part of the order that rests, less than half of it, which may be executed alone.
    fn part(&self) -> Qty;

    /// How long after it was built the venue takes the request of an order that rests, at the most; `None` where nothing bounds it.
    fn window(&self) -> Option<Duration>;

    /// So many orders do not fit on one page of the list of open orders.
    fn more_than_a_page(&self) -> usize;

    /// Whether the venue documents that who is throttled was not acted for. If not, that answer is doubt.
    fn throttle_is_documented(&self) -> bool;
}

/// Starts a fresh venue.
pub type Start = fn() -> BoxFuture<'static, Box<dyn VenueFixture>>;

/// [`Start`] of a fixture.
pub fn start<F: VenueFixture>() -> BoxFuture<'static, Box<dyn VenueFixture>> {
    Box::pin(async {
        let fixture: Box<dyn VenueFixture> = Box::new(F::start().await);
        fixture
    })
}
