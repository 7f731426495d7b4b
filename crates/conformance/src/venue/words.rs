//! The words between a case and the venue that it is played at: whose keys, which order, what goes wrong, what the referee saw.

use std::fmt;
use std::time::Duration;

use rust_decimal::Decimal;
use surefill_core::{ClOrdId, OrderId, Side, Symbol, VenueTime};

/// Whose keys are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// The account that a case trades with.
    Main,
    /// Another account at the same venue, also with money.
    Other,
}

/// What the venue does with an order by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is taken, and far from the market.
    Rests,
    /// It is taken and executes whole at once, in one fill or more.
    Fills,
    /// It is well-formed and the venue refuses it, by a code that is definite: no money for it.
    Refused,
}

/// What a request wants, as far as faults tell requests apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A new order.
    Create,
    /// The end of one order, or of many; a revocation where that is a request of its own.
    Cancel,
    /// Other terms for an order.
    Amend,
    /// A read about one order, and a list of closed orders.
    Lookup,
    /// A list of open orders.
    OpenOrders,
    /// A list of fills.
    Fills,
    /// A list of positions.
    Positions,
    /// A push of a stream.
    Stream,
    /// Everything else. No fault names it; [`Fault::any`] meets it.
    Other,
}

impl Op {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Create,
        Self::Cancel,
        Self::Amend,
        Self::Lookup,
        Self::OpenOrders,
        Self::Fills,
        Self::Positions,
        Self::Stream,
        Self::Other,
    ];

    /// The word of the control port.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Cancel => "cancel",
            Self::Amend => "amend",
            Self::Lookup => "lookup",
            Self::OpenOrders => "open_orders",
            Self::Fills => "fills",
            Self::Positions => "positions",
            Self::Stream => "stream",
            Self::Other => "other",
        }
    }
}

/// What goes wrong with a request or a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The connection is refused.
    Refuse,
    /// The connection is reset; the venue does not act.
    ResetBefore,
    /// The connection is reset, and the venue acts: after the time given, when nobody waits any more.
    ResetAfter(Duration),
    /// The venue acts after this time, and answers.
    Hold(Duration),
    /// The venue acts and never answers: the client gives up by itself.
    DropAnswer,
    /// Does not act; a page with this HTTP status.
    Status(u16),
    /// Acts; a page with this HTTP status.
    ActThenStatus(u16),
    /// Acts; the answer ends in the middle.
    Truncate,
    /// Acts; the answer is no document.
    Garbage,
    /// Does not act; what the venue says to who asks too often.
    Throttle,
    /// The request arrives once more, this much later.
    Duplicate(Duration),
    /// The stream ends.
    StreamDrop,
    /// A push comes twice.
    StreamDuplicate,
    /// A push comes after the next one.
    StreamReorder,
    /// A push is lost.
    StreamGap,
}

impl Act {
    /// The word of the control port.
    pub fn word(self) -> String {
        match self {
            Self::Refuse => "refuse".to_owned(),
            Self::ResetBefore => "reset_before".to_owned(),
            Self::ResetAfter(_) => "reset_after".to_owned(),
            Self::Hold(_) => "hold".to_owned(),
            Self::DropAnswer => "drop_answer".to_owned(),
            Self::Status(code) => format!("status:{code}"),
            Self::ActThenStatus(code) => format!("act_then_status:{code}"),
            Self::Truncate => "truncate".to_owned(),
            Self::Garbage => "garbage".to_owned(),
            Self::Throttle => "throttle".to_owned(),
            Self::Duplicate(_) => "duplicate".to_owned(),
            Self::StreamDrop => "stream_drop".to_owned(),
            Self::StreamDuplicate => "stream_duplicate".to_owned(),
            Self::StreamReorder => "stream_reorder".to_owned(),
            Self::StreamGap => "stream_gap".to_owned(),
        }
    }

    /// How much later it acts.
    pub const fn delay(self) -> Duration {
        match self {
            Self::ResetAfter(delay) | Self::Hold(delay) | Self::Duplicate(delay) => delay,
            Self::Refuse
            | Self::ResetBefore
            | Self::DropAnswer
            | Self::Status(_)
            | Self::ActThenStatus(_)
            | Self::Truncate
            | Self::Garbage
            | Self::Throttle
            | Self::StreamDrop
            | Self::StreamDuplicate
            | Self::StreamReorder
            | Self::StreamGap => Duration::ZERO,
        }
    }

    /// Whether the venue acts upon the request.
    pub const fn acts(self) -> bool {
        match self {
            Self::Refuse | Self::ResetBefore | Self::Status(_) | Self::Throttle => false,
            Self::ResetAfter(_)
            | Self::Hold(_)
            | Self::DropAnswer
            | Self::ActThenStatus(_)
            | Self::Truncate
            | Self::Garbage
            | Self::Duplicate(_)
            | Self::StreamDrop
            | Self::StreamDuplicate
            | Self::StreamReorder
            | Self::StreamGap => true,
        }
    }
}

/// One fault: whom it meets, from which request on, how often in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Whom it meets; `None` is every request.
    pub op: Option<Op>,
    /// What it does.
    pub act: Act,
    /// How many requests until it fires; 1 is the next one.
    pub nth: u32,
    /// How often it fires, in a row.
    pub times: u32,
}

impl Fault {
    /// Meets the next request of this kind.
    pub const fn on(op: Op, act: Act) -> Self {
        Self {
            op: Some(op),
            act,
            nth: 1,
            times: 1,
        }
    }

    /// Meets the next request of any kind.
    pub const fn any(act: Act) -> Self {
        Self {
            op: None,
            act,
            nth: 1,
            times: 1,
        }
    }

    /// Meets the request of this number, from 1.
    #[must_use]
    pub const fn nth(mut self, nth: u32) -> Self {
        self.nth = nth;
        self
    }

    /// Meets every request until it is cleared.
    #[must_use]
    pub const fn for_good(mut self) -> Self {
        self.times = u32::MAX;
        self
    }

    /// Meets so many requests in a row.
    #[must_use]
    pub const fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }
}

/// A kind of list that can be made not to show an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Open orders, also asked for by id.
    Open,
    /// Closed orders.
    Closed,
    /// Fills.
    Fills,
}

impl List {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Open, Self::Closed, Self::Fills];

    /// The word of the control port.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Fills => "fills",
        }
    }
}

/// How an order really stands at the venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenStatus {
    /// It works and nothing of it has executed.
    New,
    /// It works and a part has executed.
    Partial,
    /// It ended by execution.
    Filled,
    /// It ended otherwise.
    Canceled,
}

/// An order that the venue really holds or held. Two orders with one id are two of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenOrder {
    /// The intent's id, where the venue's spelling of it can be read back.
    pub cl_ord_id: Option<ClOrdId>,
    /// The venue's id, as the adapter spells it.
    pub order_id: OrderId,
    /// The account, as the referee calls it.
    pub account: Box<str>,
    /// The instrument.
    pub symbol: Symbol,
    /// The side.
    pub side: Side,
    /// The quantity ordered, base units.
    pub order_qty: Decimal,
    /// The limit price.
    pub price: Option<Decimal>,
    /// Executed so far.
    pub cum_qty: Decimal,
    /// How it stands.
    pub status: SeenStatus,
}

/// A fill that the venue really made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFill {
    /// The venue's id of the execution.
    pub exec_id: Box<str>,
    /// The order, as in [`SeenOrder`].
    pub order_id: OrderId,
    /// How much.
    pub qty: Decimal,
}

/// A request that reached the venue's edge, also one that was refused there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRequest {
    /// What it wanted.
    pub op: Op,
    /// When it came, venue time.
    pub at: VenueTime,
    /// Whether the venue acted upon it.
    pub acted: bool,
    /// The SHA-256 of its body, hex, where there was one.
    pub body: Option<Box<str>>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {}",
            self.act.word(),
            self.op.map_or("any", Op::word)
        )
    }
}
