//! The actions that are signed, field by field in the order that is hashed. No logic.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>, and the official SDK where the
//! order of fields is not said. What is absent is left out: no null is ever hashed.

use serde::Serialize;

/// What is signed and posted as `action`.
pub trait Action: Serialize {}

/// Orders, as one action with one nonce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Order {
    r#type: &'static str,
    /// The orders.
    pub orders: Vec<OrderItem>,
    grouping: &'static str,
}

impl Order {
    /// Orders that stand each for itself.
    pub const fn new(orders: Vec<OrderItem>) -> Self {
        Self {
            r#type: "order",
            orders,
            grouping: "na",
        }
    }
}

/// One order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OrderItem {
    /// Asset.
    pub a: u32,
    /// Buys.
    pub b: bool,
    /// Limit price, decimal text.
    pub p: String,
    /// Size in base units, decimal text.
    pub s: String,
    /// Reduce-only.
    pub r: bool,
    /// Type.
    pub t: Limit,
    /// Client order id: `0x` and 32 hex digits. A misspelled key is ignored by the venue without an error, and the id is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<String>,
}

/// The only order type that is sent: a limit order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    limit: LimitTif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct LimitTif {
    tif: Tif,
}

impl Limit {
    /// A limit order with this time in force.
    pub const fn new(tif: Tif) -> Self {
        Self {
            limit: LimitTif { tif },
        }
    }
}

/// Time in force in the venue's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Tif {
    /// Until canceled.
    Gtc,
    /// Immediate or cancel.
    Ioc,
    /// Add liquidity only.
    Alo,
}

/// Cancels by the venue's order ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cancel {
    r#type: &'static str,
    /// The orders.
    pub cancels: Vec<CancelItem>,
}

/// One order by asset and venue order id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CancelItem {
    /// Asset.
    pub a: u32,
    /// Venue order id.
    pub o: u64,
}

impl Cancel {
    /// Cancels these orders.
    pub const fn new(cancels: Vec<CancelItem>) -> Self {
        Self {
            r#type: "cancel",
            cancels,
        }
    }
}

/// Cancels by client order ids. Its keys are long, unlike those of [`Cancel`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CancelByCloid {
    r#type: &'static str,
    /// The orders.
    pub cancels: Vec<CloidItem>,
}

/// One order by asset and client order id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CloidItem {
    /// Asset.
    pub asset: u32,
    /// Client order id.
    pub cloid: String,
}

impl CancelByCloid {
    /// Cancels these orders.
    pub const fn new(cancels: Vec<CloidItem>) -> Self {
        Self {
            r#type: "cancelByCloid",
            cancels,
        }
    }
}

/// Uses its nonce up, and nothing else: the revocation of whatever else was signed with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Noop {
    r#type: &'static str,
}

impl Noop {
    /// The action.
    pub const NEW: Self = Self { r#type: "noop" };
}

/// The dead man's switch: cancels every open order of the account at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ScheduleCancel {
    r#type: &'static str,
    /// When, milliseconds; without it the switch is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
}

impl ScheduleCancel {
    /// Cancels everything at `time`, or never.
    pub const fn new(time: Option<u64>) -> Self {
        Self {
            r#type: "scheduleCancel",
            time,
        }
    }
}

/// Sets the leverage of an asset to a value, so it is safe to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateLeverage {
    r#type: &'static str,
    /// Asset.
    pub asset: u32,
    /// Cross margin, else isolated.
    pub is_cross: bool,
    /// The leverage.
    pub leverage: u32,
}

impl UpdateLeverage {
    /// Sets the leverage of `asset`.
    pub const fn new(asset: u32, is_cross: bool, leverage: u32) -> Self {
        Self {
            r#type: "updateLeverage",
            asset,
            is_cross,
            leverage,
        }
    }
}

impl Action for Order {}
impl Action for Cancel {}
impl Action for CancelByCloid {}
impl Action for Noop {}
impl Action for ScheduleCancel {}
impl Action for UpdateLeverage {}
