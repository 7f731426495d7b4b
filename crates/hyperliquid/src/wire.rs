//! What the venue answers, field names as it spells them. No logic.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint>. Numbers come as text.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The answer of `/exchange`.
#[derive(Debug, Deserialize)]
pub(crate) struct Outer {
    /// `ok` or `err`.
    pub(crate) status: String,
    /// An object, or the text of a refusal.
    pub(crate) response: Box<RawValue>,
}

/// `response` of a yes.
#[derive(Debug, Deserialize)]
pub(crate) struct Response {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) data: Option<Statuses>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Statuses {
    pub(crate) statuses: Vec<Box<RawValue>>,
}

/// An element of `statuses`; words such as `"success"` are read apart.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Status {
    Resting(Resting),
    Filled(Filled),
    Error(String),
}

#[derive(Debug, Deserialize)]
pub(crate) struct Resting {
    pub(crate) oid: u64,
    #[serde(default)]
    pub(crate) cloid: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filled {
    /// May be below the size sent, for an order that does not rest.
    pub(crate) total_sz: String,
    pub(crate) avg_px: String,
    pub(crate) oid: u64,
    #[serde(default)]
    pub(crate) cloid: Option<String>,
}

/// An order in `openOrders`, `historicalOrders`, `orderStatus` and on the stream.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderRow {
    pub(crate) coin: String,
    /// `B` buys, `A` sells.
    pub(crate) side: String,
    pub(crate) limit_px: String,
    /// What is left, or was left at the end.
    pub(crate) sz: String,
    pub(crate) oid: u64,
    /// When it was placed, milliseconds.
    pub(crate) timestamp: u64,
    pub(crate) orig_sz: String,
    #[serde(default)]
    pub(crate) cloid: Option<String>,
}

/// A row of `historicalOrders` and of `orderUpdates`: one per change of status.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusRow {
    pub(crate) order: OrderRow,
    pub(crate) status: String,
    pub(crate) status_timestamp: u64,
}

/// The answer of `orderStatus`.
#[derive(Debug, Deserialize)]
pub(crate) struct OrderStatus {
    /// `order` or `unknownOid`.
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) order: Option<StatusRow>,
}

/// A fill.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FillRow {
    pub(crate) coin: String,
    pub(crate) px: String,
    pub(crate) sz: String,
    /// Milliseconds.
    pub(crate) time: u64,
    pub(crate) oid: u64,
    /// Below zero is a rebate.
    pub(crate) fee: String,
    pub(crate) fee_token: String,
    /// A hash of both order ids; 0 for dust.
    pub(crate) tid: u64,
    /// There when the order had one, though the documentation's sample lacks it.
    #[serde(default)]
    pub(crate) cloid: Option<String>,
}

/// `meta`.
#[derive(Debug, Deserialize)]
pub(crate) struct Meta {
    pub(crate) universe: Vec<PerpRow>,
}

/// A perpetual. Delisted ones stay, so that the positions of the others do not move.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PerpRow {
    pub(crate) name: String,
    pub(crate) sz_decimals: u32,
    #[serde(default)]
    pub(crate) is_delisted: bool,
}

/// `spotMeta`.
#[derive(Debug, Deserialize)]
pub(crate) struct SpotMeta {
    pub(crate) universe: Vec<PairRow>,
    pub(crate) tokens: Vec<TokenRow>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PairRow {
    pub(crate) name: String,
    /// Base and quote, by the tokens' index.
    pub(crate) tokens: Vec<u32>,
    pub(crate) index: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenRow {
    pub(crate) sz_decimals: u32,
    pub(crate) index: u32,
}

/// A builder's dex; the first of the list is null and stands for the main one.
#[derive(Debug, Deserialize)]
pub(crate) struct DexRow {
    pub(crate) name: String,
}

/// `exchangeStatus`.
#[derive(Debug, Deserialize)]
pub(crate) struct ExchangeStatus {
    /// Milliseconds.
    pub(crate) time: u64,
}

/// `userRole`.
#[derive(Debug, Deserialize)]
pub(crate) struct UserRole {
    /// `user`, `agent`, `vault`, `subAccount`, `missing`.
    pub(crate) role: String,
    #[serde(default)]
    pub(crate) data: Option<RoleData>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RoleData {
    /// Of an agent: whose it is.
    #[serde(default)]
    pub(crate) user: Option<String>,
    /// Of a sub-account: whose it is.
    #[serde(default)]
    pub(crate) master: Option<String>,
}

/// `clearinghouseState`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Clearinghouse {
    pub(crate) asset_positions: Vec<AssetPosition>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AssetPosition {
    pub(crate) position: PositionRow,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PositionRow {
    pub(crate) coin: String,
    /// Below zero is short.
    pub(crate) szi: String,
}

/// `spotClearinghouseState`.
#[derive(Debug, Deserialize)]
pub(crate) struct SpotState {
    pub(crate) balances: Vec<BalanceRow>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct BalanceRow {
    pub(crate) coin: String,
    pub(crate) total: String,
}

/// A frame of the socket.
#[derive(Debug, Deserialize)]
pub(crate) struct Frame {
    pub(crate) channel: String,
    #[serde(default)]
    pub(crate) data: Option<Box<RawValue>>,
}

/// `data` of `subscriptionResponse`.
#[derive(Debug, Deserialize)]
pub(crate) struct Subscribed {
    pub(crate) method: String,
    pub(crate) subscription: Subscription,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Subscription {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

/// `data` of `userFills`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserFills<'d> {
    #[serde(default)]
    pub(crate) is_snapshot: bool,
    pub(crate) user: String,
    #[serde(borrow)]
    pub(crate) fills: Vec<&'d RawValue>,
}
