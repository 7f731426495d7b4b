//! What the core says in answer. Events are derived: the same commands give the same events.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{
    ids::DuplicateRule,
    instrument::Flat,
    order::{Ended, Order, OrderNo, Side},
};

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// Time of the command that it follows from.
    pub at_ms: u64,
    /// What happened.
    pub what: Happening,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// An account exists now.
    AccountOpened {
        /// Which.
        account: String,
    },
    /// An instrument can be traded now.
    Listed {
        /// Its key.
        instrument: String,
    },
    /// The command changed nothing.
    Refused {
        /// Why.
        refusal: Refusal,
    },
    /// The id is taken and the rule says to return that order.
    Existing {
        /// The order that has the id.
        order: OrderNo,
    },
    /// A new order exists, as it was before it traded.
    Accepted(Box<Order>),
    /// An order traded.
    Filled(Box<Fill>),
    /// An order has other terms.
    Amended {
        /// Which.
        order: OrderNo,
        /// Its amount now.
        #[serde(with = "rust_decimal::serde::str")]
        order_qty: Decimal,
        /// Its price now.
        #[serde(with = "rust_decimal::serde::str")]
        price: Decimal,
    },
    /// An order ended.
    Closed {
        /// Which.
        order: OrderNo,
        /// Why.
        ended: Ended,
    },
    /// The flat book is another.
    MarketSet {
        /// Key of the instrument.
        instrument: String,
        /// The book.
        flat: Flat,
    },
    /// The duplicate rule is another.
    RulesSet {
        /// The rule.
        duplicate: DuplicateRule,
        /// How many ids per account `refused_day` remembers.
        window: u32,
    },
    /// The day's ids are forgotten.
    DayClosed,
    /// A refused order is kept as a record.
    Recorded(Box<Order>),
    /// A note of the venue is kept.
    Noted(Note),
}

/// Something that the venue in front of the core has to remember, in words of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What it is about.
    pub topic: String,
    /// What it says.
    pub text: String,
}

/// Why a command changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No such account.
    UnknownAccount,
    /// No such instrument.
    UnknownInstrument,
    /// No such order.
    UnknownOrder,
    /// The order has ended.
    NotOpen,
    /// The account or the instrument exists already.
    Exists,
    /// An amount or price that is not above zero or too large.
    BadNumber,
    /// The id is taken.
    Duplicate,
    /// Reduce-only without a position to reduce.
    NothingToReduce,
    /// Not enough margin.
    Funds,
    /// Too many open orders.
    TooManyOrders,
    /// More than what the order has left, or less than what it has filled.
    BeyondOrder,
    /// Worth less than the venue trades.
    BelowMinimum,
}

/// One side of one trade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// Its number, from 1.
    pub no: u64,
    /// The order that traded.
    pub order: OrderNo,
    /// Whose.
    pub account: String,
    /// Key of the instrument.
    pub instrument: String,
    /// Side of the order.
    pub side: Side,
    /// How much, in the units of the order's amount.
    #[serde(with = "rust_decimal::serde::str")]
    pub qty: Decimal,
    /// At what price.
    #[serde(with = "rust_decimal::serde::str")]
    pub price: Decimal,
    /// What was paid for it, in the coin of the order's fees.
    #[serde(with = "rust_decimal::serde::str")]
    pub fee: Decimal,
    /// Rate of the fee.
    #[serde(with = "rust_decimal::serde::str")]
    pub fee_rate: Decimal,
    /// What the order had left after it.
    #[serde(with = "rust_decimal::serde::str")]
    pub leaves_qty: Decimal,
    /// Whether the order was resting.
    pub maker: bool,
    /// Number of the command: the same for all fills of one sweep.
    pub sweep: u64,
    /// Venue time.
    pub at_ms: u64,
    /// The position before it, on spot what was owned of the base coin. Derived, so in no event log.
    #[serde(skip)]
    pub held_before: Decimal,
    /// The result that it realized, before fees. Derived, so in no event log.
    #[serde(skip)]
    pub realized: Decimal,
}
