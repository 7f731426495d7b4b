//! What a venue must answer, and nothing more: no retry, no storage, no policy in an adapter.

use std::any::Any;
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use rust_decimal::Decimal;

use crate::{
    AccountId, Alias, AmendOutcome, AsOf, Attempt, AttemptNo, CancelAllOutcome, CancelOutcome,
    ClOrdId, ExecReport, Fence, Fill, Handle, HeldBack, Journaled, Key, Lookup, NonceScope, Nonces,
    OrderIntent, OrderRecord, Qty, Rate, Reason, Revocation, Submission, Symbol, VenueClock,
    VenueProfile, VenueTime,
};

/// A configured venue that has not been connected. It becomes a [`Venue`] only inside the engine.
pub trait Connect: Debug + Send + 'static {
    /// What a lease must cover before it is connected.
    fn nonce_scope(&self) -> Option<NonceScope>;

    /// What the venue is like, before anything is asked of it.
    fn profile(&self) -> VenueProfile;

    /// Connects it.
    ///
    /// # Errors
    /// What keeps the adapter from being built: a key that cannot be read, an address that is none.
    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError>;
}

impl Connect for Box<dyn Connect> {
    fn nonce_scope(&self) -> Option<NonceScope> {
        (**self).nonce_scope()
    }

    fn profile(&self) -> VenueProfile {
        (**self).profile()
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        (*self).connect(ctx)
    }
}

/// What an adapter is handed: cancels, revocations and signed reads need these too.
#[derive(Clone, Debug)]
pub struct VenueCtx {
    /// The venue's name in the configuration.
    pub alias: Alias,
    /// The venue's clock; the adapter feeds it from answers.
    pub clock: Arc<VenueClock>,
    /// Nonces, where the venue has a scope for them.
    pub nonces: Option<Arc<Nonces>>,
    /// The buckets that each request takes from.
    pub rate: Arc<Rate>,
}

/// What must be fetched before a request can be built, in the adapter's own type.
#[derive(Clone)]
pub struct Facts(Arc<dyn Any + Send + Sync>);

impl Facts {
    /// Wraps the adapter's facts.
    pub fn new<T: Any + Send + Sync>(facts: T) -> Self {
        Self(Arc::new(facts))
    }

    /// The facts, if they are of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Facts")
    }
}

/// What `prepare` may use beside the intent: it reads no clock and fetches nothing.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// The number of the attempt.
    pub no: AttemptNo,
    /// The venue's time.
    pub now: VenueTime,
    /// A nonce, where the venue has a scope for them.
    pub nonce: Option<u64>,
    /// What was fetched.
    pub facts: Facts,
}

/// The last check before the first byte: lease, fence, ttl, cancel flag, journal.
///
/// A courtesy: a process can be paused after it. It takes the error of the clock, not the waiting margin.
#[derive(Clone, Debug)]
pub struct Go {
    clock: Arc<VenueClock>,
    fence: Fence,
    stale_at: Option<VenueTime>,
    stop: Arc<Stop>,
}

/// Flags that hold back a send that has not begun.
#[derive(Debug, Default)]
pub struct Stop {
    /// A cancel was asked.
    pub cancel: AtomicBool,
    /// Another process drives the order.
    pub lease_lost: AtomicBool,
    /// The journal is closed, for every order at once.
    pub journal_closed: Arc<AtomicBool>,
}

impl Go {
    /// A check for one send. `stale_at` is `None` where the bytes must land whatever their age.
    pub const fn new(
        clock: Arc<VenueClock>,
        fence: Fence,
        stale_at: Option<VenueTime>,
        stop: Arc<Stop>,
    ) -> Self {
        Self {
            clock,
            fence,
            stale_at,
            stop,
        }
    }

    /// Call this as late as the transport allows; on an error nothing may be sent, and [`crate::NotSent::HeldBack`] is the answer.
    ///
    /// # Errors
    /// Why the send is held back.
    pub fn check(&self) -> Result<(), HeldBack> {
        if self.stop.journal_closed.load(Ordering::Acquire) {
            return Err(HeldBack::JournalClosed);
        }
        if self.stop.lease_lost.load(Ordering::Acquire) {
            return Err(HeldBack::LeaseLost);
        }
        if self.stop.cancel.load(Ordering::Acquire) {
            return Err(HeldBack::CancelAsked);
        }
        let latest = self.clock.read().map(crate::Reading::latest);
        if let Some(stale_at) = self.stale_at
            && latest.is_none_or(|now| now >= stale_at)
        {
            return Err(HeldBack::Stale);
        }
        match self.fence {
            // Heights are checked by the adapter, which knows the height; the venue's gate decides in any case.
            Fence::None | Fence::Height(_) => Ok(()),
            Fence::Clock(fence) if latest.is_some_and(|now| now < fence) => Ok(()),
            Fence::Clock(_) => Err(HeldBack::Fence),
        }
    }
}

/// Why a request could not be built. Nothing was journaled and nothing sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The venue does not know the symbol.
    #[error("{symbol} is not traded here")]
    UnknownSymbol {
        /// The symbol.
        symbol: Symbol,
    },
    /// A value that is no multiple of its step. Never rounded silently.
    #[error("{what} {value} is no multiple of {step}: the nearest are {below} and {above}")]
    OffStep {
        /// Which value: `price` or `quantity`.
        what: &'static str,
        /// What was given.
        value: Decimal,
        /// The step.
        step: Decimal,
        /// The nearest valid value below.
        below: Decimal,
        /// The nearest valid value above.
        above: Decimal,
    },
    /// A value that is too small.
    #[error("{what} {value} is below the minimum of {min}")]
    BelowMinimum {
        /// Which value.
        what: &'static str,
        /// What was given.
        value: Decimal,
        /// The least.
        min: Decimal,
    },
    /// A value that is too large.
    #[error("{what} {value} is above the maximum of {max}")]
    AboveMaximum {
        /// Which value.
        what: &'static str,
        /// What was given.
        value: Decimal,
        /// The most.
        max: Decimal,
    },
    /// Something that the venue or the adapter does not have.
    #[error("{what} is not supported here")]
    Unsupported {
        /// What.
        what: Box<str>,
    },
    /// Parameters that are not this venue's, or facts that are not this adapter's.
    #[error("the request cannot be built: {what}")]
    Invalid {
        /// Why.
        what: Box<str>,
    },
}

/// A read that gave no information, or a venue that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VenueError {
    /// The venue could not be reached or did not answer.
    #[error("{0}")]
    Unreachable(Box<str>),
    /// The venue refused the request.
    #[error("the venue refused: {0}")]
    Refused(Reason),
    /// Keys or account are refused: nothing else will be taken either.
    #[error("the venue refused the keys: {0}")]
    Keys(Reason),
    /// The answer could not be read.
    #[error("the venue's answer cannot be read: {0}")]
    Unreadable(Box<str>),
    /// The configuration is not usable.
    #[error("{0}")]
    Config(Box<str>),
    /// The venue or the adapter has no such request.
    #[error("{0} is not supported here")]
    Unsupported(&'static str),
}

/// A list, with what was known of the venue's time around its reads. It can find; it never proves absence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Before the first read left.
    pub begun: AsOf,
    /// After the last read answered.
    pub ended: AsOf,
}

/// A position as the venue holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The instrument.
    pub symbol: Symbol,
    /// Base units or contracts; below zero is short.
    pub signed_qty: Decimal,
}

/// What can be traded and in which steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instrument {
    /// The instrument.
    pub symbol: Symbol,
    /// The step of prices.
    pub tick: Decimal,
    /// The step of quantities.
    pub qty_step: Decimal,
    /// The least quantity.
    pub min_qty: Qty,
    /// The least price times quantity; zero where there is none.
    pub min_notional: Decimal,
    /// The largest quantity of a limit order.
    pub max_limit_qty: Qty,
    /// The largest quantity of a market order.
    pub max_market_qty: Qty,
}

/// Something that a stream said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VenueEvent {
    /// About an order.
    Report(ExecReport),
    /// About a fill, known by a handle.
    Fill(Handle, Fill),
}

/// A request to change an order that keeps its ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amend {
    /// The order.
    pub id: ClOrdId,
    /// Its symbol.
    pub symbol: Symbol,
    /// The new total quantity.
    pub order_qty: Option<Qty>,
    /// The new price.
    pub price: Option<crate::Px>,
    /// The venue's time when it was asked: it may not be stamped later, so that its fence holds.
    pub at: VenueTime,
}

/// The questions that only a venue can answer.
///
/// A method that sends returns what the answer proves; it never sends twice, waits for nothing but the answer, and keeps nothing.
#[async_trait]
pub trait Venue: Debug + Send + Sync + 'static {
    /// What the venue is like.
    fn profile(&self) -> &VenueProfile;

    /// The account that the keys belong to, read from the venue.
    async fn account(&self) -> Result<AccountId, VenueError>;

    /// The id that a key spells, where the venue's spelling can be read back and carries our tag.
    fn spelled_id(&self, key: &Key) -> Option<ClOrdId>;

    /// Fetches, or takes from the adapter's cache, what must be known before a request can be built.
    async fn facts(&self, intent: &OrderIntent) -> Result<Facts, VenueError>;

    /// Checks the intent, builds and signs the request. Pure: clock, nonce and facts come in the ticket.
    ///
    /// # Errors
    /// [`PrepareError`], naming the nearest valid values.
    fn prepare(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        ticket: &Ticket,
    ) -> Result<Attempt, PrepareError>;

    /// Sends one request for one journaled attempt. Never retries. Calls `go` as late as the transport allows.
    ///
    /// # Cancel safety
    /// Dropping the future after its first poll leaves the order in the same doubt as [`Submission::Unknown`].
    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission;

    /// One full round over every attempt: open orders, then closed orders, then fills. Any failed read makes it inconclusive.
    async fn lookup(&self, order: &OrderRecord) -> Lookup;

    /// Makes an attempt unlandable.
    ///
    /// # Cancel safety
    /// Dropping the future after its first poll leaves it undecided.
    async fn revoke(&self, attempt: &Journaled<Attempt>) -> Revocation;

    /// Cancels an order once.
    ///
    /// # Cancel safety
    /// Dropping the future after its first poll leaves it undecided.
    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome;

    /// Cancels several orders in one request: one outcome per order, in the same order. No more are handed over than
    /// [`VenueProfile::cancel_batch`].
    ///
    /// # Cancel safety
    /// As [`Self::cancel`], for each order.
    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome>;

    /// Cancels every open order, of one symbol or of all.
    async fn cancel_all(&self, symbol: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError>;

    /// Changes an order that keeps its ids, once. Calls `go` as late as the transport allows.
    ///
    /// # Cancel safety
    /// Dropping the future after its first poll leaves the terms in the same doubt as [`AmendOutcome::Unknown`].
    async fn amend(&self, request: &Journaled<Amend>, go: &Go) -> AmendOutcome;

    /// The open orders.
    async fn open_orders(
        &self,
        symbol: Option<&Symbol>,
    ) -> Result<Snapshot<ExecReport>, VenueError>;

    /// The orders that closed at or after `since`.
    async fn closed_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError>;

    /// The fills at or after `since`.
    async fn fills_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError>;

    /// The positions that are not flat.
    async fn positions(&self) -> Result<Snapshot<Position>, VenueError>;

    /// Resolves when subscribed, and ends on disconnect.
    ///
    /// # Errors
    /// [`VenueError::Unsupported`] where there is no stream: the engine polls instead.
    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError>;

    /// What can be traded.
    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError>;

    /// Asks for the venue's time and feeds the clock.
    async fn venue_time(&self) -> Result<VenueTime, VenueError>;
}
