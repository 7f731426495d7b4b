//! What can be asked of the core. Time is part of each command, so that a replay needs no clock.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{
    event::{Note, Refusal},
    ids::DuplicateRule,
    instrument::{Flat, Instrument},
    order::{Ended, OrdType, OrderNo, SelfTrade, Side, TimeInForce},
};

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Venue time, ms since 1970.
    pub at_ms: u64,
    /// What is asked.
    pub what: What,
}

/// The kinds of commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A new account with what it owns, by coin.
    OpenAccount {
        /// Its name at the venue.
        account: String,
        /// Coin to amount, as decimal strings.
        balances: BTreeMap<String, String>,
    },
    /// A new instrument.
    List(Box<Instrument>),
    /// A new order.
    Place(Box<NewOrder>),
    /// The end of an order.
    Cancel {
        /// Which.
        order: OrderNo,
    },
    /// The end of an order for a reason of the venue's.
    End {
        /// Which.
        order: OrderNo,
        /// Why.
        ended: Ended,
    },
    /// A record of an order that the venue refused. It takes a number, and no client id.
    Record {
        /// Its terms.
        order: Box<NewOrder>,
        /// Why it was refused.
        refusal: Refusal,
    },
    /// Something for the venue to remember.
    Note(Note),
    /// Other terms for an open order, which keeps its ids.
    Amend {
        /// Which.
        order: OrderNo,
        /// New total amount.
        #[serde(with = "rust_decimal::serde::str_option")]
        order_qty: Option<Decimal>,
        /// New price.
        #[serde(with = "rust_decimal::serde::str_option")]
        price: Option<Decimal>,
    },
    /// A fill of a resting order by nobody, as its maker.
    Fill {
        /// Which.
        order: OrderNo,
        /// How much.
        #[serde(with = "rust_decimal::serde::str")]
        qty: Decimal,
        /// At what price; the order's own if none.
        #[serde(with = "rust_decimal::serde::str_option")]
        price: Option<Decimal>,
    },
    /// Another flat book. Resting orders that it crosses fill as makers, up to what it holds.
    SetMarket {
        /// Key of the instrument.
        instrument: String,
        /// The book.
        flat: Flat,
    },
    /// Another duplicate rule, from now on.
    SetRules {
        /// The rule.
        duplicate: DuplicateRule,
        /// How many ids per account `refused_day` remembers.
        window: u32,
    },
    /// The end of the trading day: `refused_day` forgets its ids.
    CloseDay,
}

/// The terms of a new order. The venue's own checks (ticks, steps, names) come before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewOrder {
    /// Whose.
    pub account: String,
    /// Key of the instrument.
    pub instrument: String,
    /// The client id as sent.
    pub wire_id: Option<String>,
    /// Buy or sell.
    pub side: Side,
    /// Limit or market.
    pub ord_type: OrdType,
    /// How long it stays.
    pub time_in_force: TimeInForce,
    /// Limit, or protection price of a market order.
    #[serde(with = "rust_decimal::serde::str")]
    pub price: Decimal,
    /// Amount: base units, of inverse contracts quote units. Zero when `quote_qty` says how much.
    #[serde(with = "rust_decimal::serde::str")]
    pub order_qty: Decimal,
    /// Amount of money to spend or to earn, instead of an amount of base units.
    #[serde(
        default,
        with = "rust_decimal::serde::str_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub quote_qty: Option<Decimal>,
    /// May only make a position smaller.
    pub reduce_only: bool,
    /// What to do on meeting its own account.
    pub self_trade: SelfTrade,
}
