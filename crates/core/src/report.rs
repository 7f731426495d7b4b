//! What a venue says about an order.

use serde::{Deserialize, Serialize};

use crate::{Amount, Fill, Key, OrderId, OrderIntent, Px, Qty, Reason, Side, Symbol, VenueTime};

/// The status of an order at the venue (FIX 39), as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrdStatus {
    /// It works.
    Open,
    /// It ended by execution.
    Filled,
    /// It ended otherwise: canceled, expired, killed, done for day.
    Canceled,
    /// It was refused after an acknowledgment.
    Rejected,
    /// Only fills speak of it; whether it works is not said.
    NotShown,
}

impl OrdStatus {
    /// Whether the order ended, by the venue's word.
    pub const fn is_ended(self) -> bool {
        match self {
            Self::Filled | Self::Canceled | Self::Rejected => true,
            Self::Open | Self::NotShown => false,
        }
    }
}

/// What a report is known by; the engine resolves it to one of our orders.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Handle {
    /// The key, where the report carries one.
    pub key: Option<Key>,
    /// The venue's order id, where the report carries one.
    pub order_id: Option<OrderId>,
}

/// The terms that a report shows and that can be compared with those sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenTerms {
    /// The instrument.
    pub symbol: Option<Symbol>,
    /// The side.
    pub side: Option<Side>,
    /// The quantity ordered, base units.
    pub order_qty: Option<Qty>,
    /// The limit price.
    pub price: Option<Px>,
}

impl SeenTerms {
    /// The first term that differs from the intent, in words; `None` when all that can be compared agree.
    pub fn disagreement(&self, intent: &OrderIntent) -> Option<String> {
        if let Some(symbol) = &self.symbol
            && *symbol != intent.symbol
        {
            return Some(format!("symbol {symbol} is not {}", intent.symbol));
        }
        if let Some(side) = self.side
            && side != intent.side
        {
            return Some(format!(
                "side {} is not {}",
                side.as_str(),
                intent.side.as_str()
            ));
        }
        if let (Some(seen), Amount::Base(sent)) = (self.order_qty, intent.amount)
            && seen != sent
        {
            return Some(format!("quantity {seen} is not {sent}"));
        }
        if let (Some(seen), Some(sent)) = (self.price, intent.ord_type.price())
            && seen != sent
        {
            return Some(format!("price {seen} is not {sent}"));
        }
        None
    }
}

/// What a venue says about one order, from an answer, a lookup, a list or a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecReport {
    /// What it is known by.
    pub handle: Handle,
    /// The order's status.
    pub status: OrdStatus,
    /// Executed so far (FIX 14), gross; `None` where the report does not say.
    pub cum_qty: Option<Qty>,
    /// Average price (FIX 6), where the report says.
    pub avg_px: Option<Px>,
    /// The venue's reason, where the order ended other than by execution.
    pub reason: Option<Reason>,
    /// The fills that came with it.
    pub fills: Vec<Fill>,
    /// The terms that can be compared.
    pub seen: SeenTerms,
    /// When the venue last changed the order, where the report says.
    pub transact_time: Option<VenueTime>,
}

impl ExecReport {
    /// An acknowledgment that names the order and says nothing else.
    pub fn ack(key: Key, order_id: OrderId) -> Self {
        Self {
            handle: Handle {
                key: Some(key),
                order_id: Some(order_id),
            },
            status: OrdStatus::Open,
            cum_qty: None,
            avg_px: None,
            reason: None,
            fills: Vec::new(),
            seen: SeenTerms::default(),
            transact_time: None,
        }
    }
}
