//! An order as the core holds it, and the words that describe one.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{event::Refusal, instrument::Kind};

/// Number of an order in its core, from 1. Two orders with one client id have two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OrderNo(pub u64);

/// Which way an order trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Bids.
    Buy,
    /// Offers.
    Sell,
}

impl Side {
    /// The side that this one trades with.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }

    /// `qty` with the sign of a position that this side opens.
    #[must_use]
    pub fn signed(self, qty: Decimal) -> Decimal {
        match self {
            Self::Buy => qty,
            Self::Sell => -qty,
        }
    }

    /// Whether an order of this side with limit `limit` trades at `price`.
    #[must_use]
    pub fn accepts(self, limit: Decimal, price: Decimal) -> bool {
        match self {
            Self::Buy => price <= limit,
            Self::Sell => price >= limit,
        }
    }

    /// The word of the control port.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
        }
    }
}

/// How the price of an order is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrdType {
    /// At the price or better.
    Limit,
    /// At once, down to the protection price that the venue has put in `price`.
    Market,
}

/// How long an order stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeInForce {
    /// Until canceled.
    Gtc,
    /// What trades at once, the rest is canceled.
    Ioc,
    /// All at once, or nothing.
    Fok,
    /// Only as a maker: canceled when it would trade at once.
    PostOnly,
}

/// What happens when an order meets one of its own account. The incoming order's choice counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelfTrade {
    /// They trade.
    #[default]
    None,
    /// The resting order is canceled.
    CancelMaker,
    /// The rest of the incoming order is canceled.
    CancelTaker,
    /// Both are canceled.
    CancelBoth,
}

/// Where an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrdStatus {
    /// In the book, nothing traded.
    New,
    /// In the book, some traded.
    PartiallyFilled,
    /// Ended by execution.
    Filled,
    /// Ended otherwise; some may have traded.
    Canceled,
    /// Never worked: kept as a record only.
    Rejected,
}

impl OrdStatus {
    /// Whether the order still works.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::New | Self::PartiallyFilled)
    }

    /// The word of the control port.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::PartiallyFilled => "partially_filled",
            Self::Filled => "filled",
            Self::Canceled => "canceled",
            Self::Rejected => "rejected",
        }
    }
}

/// Why an order ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Everything traded.
    Filled,
    /// Its owner canceled it.
    ByRequest,
    /// Post-only, and would have traded at once.
    WouldTake,
    /// IOC or market: this rest found nothing to trade with.
    NoImmediate,
    /// FOK: not enough to trade with.
    NotEnough,
    /// Reduce-only, and there is nothing left to reduce.
    ReduceOnly,
    /// Met an order of its own account.
    SelfTrade,
    /// The venue canceled it at the time that its owner had set for all orders.
    Scheduled,
    /// Refused, and kept as a record.
    Refused(Refusal),
}

/// One order, as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Its number.
    pub no: OrderNo,
    /// Whose it is.
    pub account: String,
    /// Key of the instrument.
    pub instrument: String,
    /// The client id as it was sent, if one was.
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
    /// What was asked: base units, of inverse contracts quote units. Zero when `quote_qty` says how much.
    #[serde(with = "rust_decimal::serde::str")]
    pub order_qty: Decimal,
    /// The money to spend or to earn, if that was asked.
    #[serde(
        default,
        with = "rust_decimal::serde::str_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub quote_qty: Option<Decimal>,
    /// What has traded, in the units of the amount.
    #[serde(with = "rust_decimal::serde::str")]
    pub cum_qty: Decimal,
    /// What that was worth, in the money of the instrument.
    #[serde(with = "rust_decimal::serde::str")]
    pub cum_value: Decimal,
    /// Fees so far, in the coin of the order's fees.
    #[serde(with = "rust_decimal::serde::str")]
    pub cum_fee: Decimal,
    /// May only make a position smaller.
    pub reduce_only: bool,
    /// What to do on meeting its own account.
    pub self_trade: SelfTrade,
    /// Where it stands.
    pub status: OrdStatus,
    /// Why it ended, if it did.
    pub ended: Option<Ended>,
    /// Venue time of acceptance.
    pub accepted_at_ms: u64,
    /// Venue time of the last change.
    pub updated_at_ms: u64,
    /// Number of the last event that changed it.
    pub updated_seq: u64,
}

impl Order {
    /// What may still trade; zero once it ended.
    #[must_use]
    pub fn leaves_qty(&self) -> Decimal {
        if self.status.is_open() {
            self.order_qty
                .saturating_sub(self.cum_qty)
                .max(Decimal::ZERO)
        } else {
            Decimal::ZERO
        }
    }

    /// Average price of what has traded; none before the first fill.
    #[must_use]
    pub fn avg_px(&self, kind: Kind) -> Option<Decimal> {
        if self.cum_qty.is_zero() {
            None
        } else {
            kind.price(self.cum_qty, self.cum_value)
        }
    }

    /// The money that is still to be spent or earned, if the order is of that sort.
    #[must_use]
    pub fn leaves_quote(&self) -> Option<Decimal> {
        let left = self.quote_qty?.saturating_sub(self.cum_value);
        Some(if self.status.is_open() {
            left.max(Decimal::ZERO)
        } else {
            Decimal::ZERO
        })
    }
}
