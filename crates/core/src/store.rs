//! What a journal's store must do, whatever it is made of.

use std::fmt::Debug;
use std::ops::Range;
use std::path::PathBuf;

use async_trait::async_trait;

use crate::{
    AccountId, Alias, Answer, Attempt, AttemptNo, Change, ChangeError, ClOrdId, Durability, Fill,
    Halt, HaltCause, Key, NonceScope, OrdState, OrderId, OrderRecord, Requested, Scope, SeenHalts,
    Strategy, Symbol, Transition, VenueTime,
};

/// What a new order is in the eyes of halts and doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// New risk: a halt that covers it refuses it, and so does doubt in its symbol where `doubt_blocks`.
    Risk {
        /// Whether an order in doubt in the same account and symbol refuses it at once, or only the halt at the cap.
        doubt_blocks: bool,
    },
    /// Reduce-only, at a venue that enforces it: passes.
    Exit,
    /// A person or program takes the responsibility; journaled.
    DespiteHalt {
        /// Who.
        who: Box<str>,
    },
}

/// An intent on its way into the journal, with its first attempt.
#[derive(Clone, Debug)]
pub struct Begin {
    /// The row, Submitted.
    pub order: OrderRecord,
    /// Its first attempt.
    pub attempt: Attempt,
    /// What it is in the eyes of halts and doubt; tested inside the commit.
    pub entry: Entry,
}

/// Why the journal refused an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// A halt covers it.
    Halted(Halt),
    /// Another order in its symbol is in doubt.
    Doubt(ClOrdId),
}

/// What became of a [`Begin`].
#[derive(Clone, Debug)]
pub enum Begun {
    /// It is durable.
    Inserted(OrderRecord),
    /// The journal holds the id already; nothing was written.
    Exists(OrderRecord),
    /// Refused; nothing was written.
    Refused(Gate),
}

/// Which orders to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Only this venue.
    pub venue: Option<Alias>,
    /// Only this symbol.
    pub symbol: Option<Symbol>,
    /// Only this strategy.
    pub strategy: Option<Strategy>,
    /// Only this state.
    pub state: Option<OrdState>,
    /// Only those that are not terminal.
    pub open: bool,
    /// Only those journaled at or after this instant.
    pub since: Option<VenueTime>,
}

impl OrderFilter {
    /// Whether the order is listed.
    pub fn takes(&self, order: &OrderRecord) -> bool {
        self.venue
            .as_ref()
            .is_none_or(|venue| *venue == order.intent.venue)
            && self
                .symbol
                .as_ref()
                .is_none_or(|symbol| *symbol == order.intent.symbol)
            && self
                .strategy
                .as_ref()
                .is_none_or(|strategy| *strategy == order.intent.decision.strategy)
            && self.state.is_none_or(|state| state == order.state)
            && !(self.open && order.state.is_terminal())
            && self.since.is_none_or(|since| order.created_at >= since)
    }
}

/// What went wrong in a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The change breaks a rule of the row, or someone else was first; nothing was written.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A declared halt covers the order; nothing was written.
    #[error("halted: {}", .0.text)]
    Halted(Halt),
    /// The journal holds no such order.
    #[error("the journal holds no order {id}")]
    NoSuchOrder {
        /// The order.
        id: ClOrdId,
    },
    /// The alias belongs to another account.
    #[error(
        "{alias} is bound to account {bound}, and the keys in use are those of {found}: use the keys of {bound}, or another name and journal"
    )]
    OtherAccount {
        /// The venue's name.
        alias: Alias,
        /// The account that the journal holds.
        bound: AccountId,
        /// The account that the keys belong to.
        found: AccountId,
    },
    /// Another process holds the journal.
    #[error("the journal {} is held by process {pid}", path.display())]
    Held {
        /// The journal.
        path: PathBuf,
        /// The process, as it wrote it.
        pid: String,
    },
    /// The journal was made by a later version.
    #[error(
        "the journal has schema {found} and this program knows up to {known}: use the newer program"
    )]
    Newer {
        /// The journal's schema.
        found: u32,
        /// The newest schema that is known.
        known: u32,
    },
    /// The journal cannot be read.
    #[error(
        "the journal is damaged ({what}): keep the file, restore a copy or start a new journal, and compare open orders by hand"
    )]
    Damaged {
        /// What was found.
        what: String,
    },
    /// The journal cannot be written where it is.
    #[error("the journal {} cannot be written: {what}", path.display())]
    NotWritable {
        /// The journal.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// There is no room; nothing was written.
    #[error("the disk is full: nothing is placed, cancels still go out")]
    Full,
    /// An earlier failure closed the journal.
    #[error("the journal is closed after a failed commit: restart to read it back")]
    Closed,
    /// The commit failed. Whether it is on disk is not known.
    #[error("the commit failed and may still be on disk")]
    Commit(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A read failed.
    #[error("the journal could not be read")]
    Read(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Whether someone else changed the row first.
    pub const fn is_conflict(&self) -> bool {
        matches!(self, Self::Change(ChangeError::Conflict { .. }))
    }

    /// Whether a rule or a halt refuses the change, so that the same change again would be refused, too.
    pub const fn refuses(&self) -> bool {
        match self {
            Self::Change(_) | Self::Halted(_) | Self::NoSuchOrder { .. } => true,
            Self::OtherAccount { .. }
            | Self::Held { .. }
            | Self::Newer { .. }
            | Self::Damaged { .. }
            | Self::NotWritable { .. }
            | Self::Full
            | Self::Closed
            | Self::Commit(_)
            | Self::Read(_) => false,
        }
    }

    /// Whether nothing more may be sent: what the journal holds is not known, or it takes nothing.
    pub const fn closes(&self) -> bool {
        match self {
            Self::Commit(_) | Self::Closed | Self::Damaged { .. } => true,
            Self::Change(_)
            | Self::Halted(_)
            | Self::NoSuchOrder { .. }
            | Self::OtherAccount { .. }
            | Self::Held { .. }
            | Self::Newer { .. }
            | Self::NotWritable { .. }
            | Self::Full
            | Self::Read(_) => false,
        }
    }
}

/// Which halts to lift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lift {
    /// Every halt of exactly this scope, whatever the cause: a person looked.
    All(Scope),
    /// The halt of exactly this scope and cause: the truth arrived.
    One(Scope, HaltCause),
    /// The halts of exactly this scope that another process saw when it asked for it: what was declared since then stands. The same
    /// commit answers the request, and where it is answered already nothing is lifted.
    Asked {
        /// The request's number.
        n: i64,
        /// The scope.
        scope: Scope,
        /// The halts that it saw.
        seen: SeenHalts,
    },
}

impl Lift {
    /// Whether it lifts the halt.
    pub fn takes(&self, halt: &Halt) -> bool {
        match self {
            Self::All(scope) => halt.scope == *scope,
            Self::Asked { scope, seen, .. } => halt.scope == *scope && seen.has(halt),
            Self::One(scope, cause) => halt.scope == *scope && halt.cause == *cause,
        }
    }
}

/// Keeps orders, attempts, transitions, fills, halts, nonce marks and cursors.
///
/// A call that changes something returns after its commit: `Sync` with everything before it durable, `Lazy` with the right to
/// lose a suffix in a power cut. Dropping a call's future after its first poll leaves it undecided whether it was done.
#[async_trait]
pub trait Store: Debug + Send + Sync + 'static {
    /// Journals an intent with its first attempt, once per id. Always `Sync`.
    ///
    /// Existence is tested before halts: a decision that the journal holds is found also when its symbol is halted now.
    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError>;

    /// A compare-and-set with its log row, its new fills, its next attempt and its halt, in one commit. Returns the new row.
    async fn apply(
        &self,
        change: Change,
        durability: Durability,
    ) -> Result<OrderRecord, StoreError>;

    /// The row of an order.
    async fn order(&self, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError>;

    /// An attempt with its bytes.
    async fn attempt(&self, id: ClOrdId, no: AttemptNo) -> Result<Option<Attempt>, StoreError>;

    /// Every row that a restart must find: open, with fills owed, or watched. Costs nothing for history.
    async fn unfinished(&self) -> Result<Vec<OrderRecord>, StoreError>;

    /// The rows that the filter takes, oldest first.
    async fn orders(&self, filter: &OrderFilter) -> Result<Vec<OrderRecord>, StoreError>;

    /// The order that the venue knows by this key.
    async fn by_key(&self, alias: &Alias, key: &Key) -> Result<Option<ClOrdId>, StoreError>;

    /// The order that has this venue order id.
    async fn by_order_id(
        &self,
        alias: &Alias,
        order_id: &OrderId,
    ) -> Result<Option<ClOrdId>, StoreError>;

    /// The fills of an order, oldest first.
    async fn fills(&self, id: ClOrdId) -> Result<Vec<Fill>, StoreError>;

    /// The log of an order, oldest first.
    async fn history(&self, id: ClOrdId) -> Result<Vec<Transition>, StoreError>;

    /// Reserves `n` numbers, none below `floor` and none ever given out for this scope. Always `Sync`.
    async fn reserve(
        &self,
        scope: &NonceScope,
        floor: u64,
        n: u32,
    ) -> Result<Range<u64>, StoreError>;

    /// Binds an alias to an account for ever; the same account again is fine. `Sync` when new.
    ///
    /// # Errors
    /// [`StoreError::OtherAccount`].
    async fn bind(&self, alias: &Alias, account: &AccountId) -> Result<(), StoreError>;

    /// Makes a halt durable; the same scope and cause again changes nothing. Always `Sync`.
    async fn halt(&self, halt: &Halt) -> Result<(), StoreError>;

    /// Lifts halts and keeps who and why in the log; returns those lifted. Always `Sync`.
    async fn lift(
        &self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, StoreError>;

    /// The halts in force.
    async fn halts(&self) -> Result<Vec<Halt>, StoreError>;

    /// Up to where the fills of a venue are booked.
    async fn cursor(&self, alias: &Alias) -> Result<Option<VenueTime>, StoreError>;

    /// Moves that mark; never back. `Lazy`.
    async fn set_cursor(&self, alias: &Alias, at: VenueTime) -> Result<(), StoreError>;

    /// Takes the lease of a scope; returns its fencing epoch. A store that one process holds alone counts openings.
    async fn lease(&self, scope: &str) -> Result<u64, StoreError>;

    /// Requests of other processes that have no answer yet, oldest first.
    async fn requests(&self) -> Result<Vec<Requested>, StoreError>;

    /// Answers a request: it waits no more. The first answer stands. Always `Sync`.
    async fn answer(&self, n: i64, answer: &Answer) -> Result<(), StoreError>;

    /// When the journal was made, wall-clock milliseconds.
    async fn made_at(&self) -> Result<VenueTime, StoreError>;

    /// Waits for what is under way, makes everything durable and takes nothing more.
    async fn close(&self) -> Result<(), StoreError>;
}
