//! Executions: what was bought or sold, once each.

use serde::{Deserialize, Serialize};

use crate::{Currency, ExecId, Money, OrderId, Px, Qty, Symbol, VenueTime};

/// Whether a fill can still be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// It may still be busted.
    Provisional,
    /// It stands.
    Final,
    /// It was undone; the row that says so names the fill.
    Busted,
}

/// One execution of one order. Unique by (account, symbol, order id, exec id).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// The instrument.
    pub symbol: Symbol,
    /// The venue's id of the order.
    pub order_id: OrderId,
    /// The venue's id of the execution (FIX 17).
    pub exec_id: ExecId,
    /// Quantity of this execution (FIX 32), gross.
    pub last_qty: Qty,
    /// Price of this execution (FIX 31).
    pub last_px: Px,
    /// Fee paid; below zero a rebate.
    pub fee: Money,
    /// The currency of the fee.
    pub fee_currency: Currency,
    /// When it happened (FIX 60), venue time.
    pub transact_time: VenueTime,
    /// Whether it can still be undone.
    pub settlement: Settlement,
}

impl Fill {
    /// Whether this is the same execution of the same order; both of one account.
    pub fn is(&self, other: &Self) -> bool {
        self.exec_id == other.exec_id
            && self.order_id == other.order_id
            && self.symbol == other.symbol
    }
}
