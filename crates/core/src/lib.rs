//! The contract of surefill: a bot's orders are placed exactly once, whatever crashes.
//!
//! - Words: [`Decision`], [`OrderIntent`], [`ClOrdId`], [`Attempt`], [`OrderRecord`], [`VenueProfile`].
//! - The decision: [`decide`], pure; everything that the engine does about an order comes out of it.
//! - The journal: [`Journal`] over a [`Store`], the only maker of [`Journaled`].
//! - The venue: [`Venue`], implemented by one crate per venue.
//! - The engine: [`Cold`], whose only way to an [`Engine`] is through recovery.
//!
//! This crate knows no HTTP, no SQL and no venue.

mod amend;
mod amount;
mod attempt;
mod change;
mod cl_ord_id;
mod clock;
mod decide;
mod engine;
mod fill;
mod halt;
mod inbox;
mod intent;
mod journal;
mod lifecycle;
mod memory;
mod name;
mod nonces;
mod order;
mod outcome;
mod profile;
mod rate;
mod report;
mod store;
mod time;
mod venue;

pub use amend::{AmendNo, AmendRecord, AmendState, Terms};
pub use amount::{AmountError, Money, Px, Qty};
pub use attempt::{Attempt, AttemptNo, AttemptState, Copies, Fence, RevocationState};
pub use change::{Cause, Change, ChangeError, Durability, Mark, Transition};
pub use cl_ord_id::{ClOrdId, ClOrdIdError};
pub use clock::{BootTime, LocalMark, ManualTime, Reading, TimeSource, VenueClock};
pub use decide::{Observation, Pursuit, Round, Situation, Step, decide};
pub use engine::{
    Alert, Alerts, AmendError, CancelError, Cold, Engine, Event, Events, LimitError, Limits,
    LogAlerts, Order, PlaceError, Placement, RecoverError, RecoveryReport, VenueRecovery,
};
pub use fill::{Fill, Settlement};
pub use halt::{Halt, HaltCause, Lacking, Scope, ScopeError};
pub use inbox::{Answer, Request, Requested, SeenHalts};
pub use intent::{
    Amount, Decision, GiveUp, OrdType, OrderIntent, Params, Resubmit, Side, TermsDigest,
    TimeInForce, VenueParams,
};
pub use journal::{Entered, Journal, Journaled};
pub use lifecycle::{IllegalTransition, OrdState, OrdStateError};
pub use memory::MemoryStore;
pub use name::{
    AccountId, Alias, Currency, ExecId, Key, NonceScope, OrderId, Strategy, Symbol, VenueName,
};
pub use nonces::Nonces;
pub use order::{OrderRecord, Version, Watch};
pub use outcome::{
    AmendOutcome, CancelAllOutcome, CancelOutcome, DuplicateOf, HeldBack, Lookup, NotSent, Reason,
    Reject, Revocation, Submission, UnknownCause,
};
pub use profile::{
    AbsenceRule, AmendRule, CancelRule, DuplicateRule, FenceRule, IdRule, Sourced, VenueProfile,
};
pub use rate::{Rate, RateClass, Rates};
pub use report::{ExecReport, Handle, OrdStatus, SeenTerms};
pub use store::{Begin, Begun, Entry, Gate, Lift, OrderFilter, Store, StoreError};
pub use time::{AsOf, VenueTime};
pub use venue::{
    Amend, Connect, Facts, Go, Instrument, Position, PrepareError, Snapshot, Stop, Ticket, Venue,
    VenueCtx, VenueError, VenueEvent,
};
