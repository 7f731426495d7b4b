//! Shapes of the venue's JSON, with its own names. No logic.
//!
//! Source: <https://bybit-exchange.github.io/docs/v5/intro> and the pages named below.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// A value that comes as text, as a number, as a truth value, as null or not at all. A number keeps its digits: it never becomes a
/// float.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(Option<String>);

impl Text {
    /// The text; empty where there is none, which the venue means by an empty string, too.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(d)?;
        let raw = raw.get();
        Ok(Self(match raw.bytes().next() {
            Some(b'"') => Some(serde_json::from_str(raw).map_err(serde::de::Error::custom)?),
            Some(b'n' | b'{' | b'[') | None => None,
            Some(_) => Some(raw.to_owned()),
        }))
    }
}

/// What every answer is wrapped in.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope {
    pub(crate) ret_code: Text,
    #[serde(default)]
    pub(crate) ret_msg: Text,
    /// `{}` on errors, `null` on older endpoints.
    #[serde(default)]
    pub(crate) result: Option<Box<RawValue>>,
    #[serde(default)]
    pub(crate) ret_ext_info: Option<Box<RawValue>>,
    /// Milliseconds.
    #[serde(default)]
    pub(crate) time: Text,
}

/// `result` of create, amend, cancel, and an item of cancel-all and of the batches.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Ids {
    pub(crate) order_id: Text,
    pub(crate) order_link_id: Text,
}

/// `result` of cancel-all, and of the batches.
#[derive(Debug, Deserialize)]
pub(crate) struct IdList {
    pub(crate) list: Vec<Ids>,
    #[serde(default)]
    pub(crate) success: Text,
}

/// `retExtInfo` of the batches.
#[derive(Debug, Deserialize)]
pub(crate) struct ItemCodes {
    pub(crate) list: Vec<ItemCode>,
}

/// What became of one item of a batch.
#[derive(Debug, Deserialize)]
pub(crate) struct ItemCode {
    pub(crate) code: Text,
    #[serde(default)]
    pub(crate) msg: Text,
}

/// A list in `result`. Rows are read one by one, so that one that cannot be read does not hide the others.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List {
    /// Missing from some lists.
    #[serde(default)]
    pub(crate) category: Text,
    pub(crate) list: Vec<Box<RawValue>>,
    #[serde(default)]
    pub(crate) next_page_cursor: Text,
}

/// A row of `/v5/order/realtime` and `/v5/order/history`, and of the topic `order`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Order {
    /// In pushes only.
    pub(crate) category: Text,
    pub(crate) order_id: Text,
    pub(crate) order_link_id: Text,
    pub(crate) symbol: Text,
    pub(crate) price: Text,
    pub(crate) qty: Text,
    pub(crate) side: Text,
    pub(crate) order_status: Text,
    pub(crate) order_type: Text,
    /// Spot market orders: what `qty` counts.
    pub(crate) market_unit: Text,
    pub(crate) cancel_type: Text,
    pub(crate) reject_reason: Text,
    /// `""` over REST, `"0"` in pushes, null in some fixtures while nothing is filled.
    pub(crate) avg_price: Text,
    pub(crate) cum_exec_qty: Text,
    pub(crate) updated_time: Text,
}

/// A row of `/v5/execution/list`, and of the topic `execution`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Execution {
    /// In pushes only.
    pub(crate) category: Text,
    pub(crate) symbol: Text,
    pub(crate) order_id: Text,
    pub(crate) order_link_id: Text,
    pub(crate) exec_id: Text,
    pub(crate) exec_type: Text,
    pub(crate) exec_qty: Text,
    pub(crate) exec_price: Text,
    /// Positive is paid, negative a rebate.
    pub(crate) exec_fee: Text,
    pub(crate) fee_currency: Text,
    pub(crate) exec_time: Text,
}

/// A row of `/v5/market/instruments-info`, linear or spot.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Listing {
    pub(crate) symbol: Text,
    pub(crate) settle_coin: Text,
    pub(crate) price_filter: PriceFilter,
    pub(crate) lot_size_filter: LotSizeFilter,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PriceFilter {
    pub(crate) min_price: Text,
    pub(crate) max_price: Text,
    pub(crate) tick_size: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LotSizeFilter {
    pub(crate) qty_step: Text,
    pub(crate) min_order_qty: Text,
    pub(crate) min_notional_value: Text,
    pub(crate) max_order_qty: Text,
    pub(crate) max_mkt_order_qty: Text,
    /// Spot's step.
    pub(crate) base_precision: Text,
    /// Spot's step of amounts in quote money.
    pub(crate) quote_precision: Text,
    /// Spot's floor.
    pub(crate) min_order_amt: Text,
    pub(crate) max_limit_order_qty: Text,
    pub(crate) max_market_order_qty: Text,
}

/// A row of `/v5/position/list`, and of the topic `position`. `size` has no sign.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PositionRow {
    /// In pushes only.
    pub(crate) category: Text,
    pub(crate) symbol: Text,
    pub(crate) side: Text,
    pub(crate) size: Text,
    pub(crate) position_idx: Text,
}

/// A row of `/v5/account/wallet-balance`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Balance {
    pub(crate) total_available_balance: Text,
    pub(crate) coin: Vec<Coin>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Coin {
    pub(crate) coin: Text,
    pub(crate) wallet_balance: Text,
}

/// `result` of `/v5/account/info`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct AccountInfo {
    /// 5 and 6 are UTA 2.0.
    pub(crate) unified_margin_status: Text,
}

/// `result` of `/v5/user/query-api`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKey {
    #[serde(rename = "userID")]
    pub(crate) user_id: Text,
    /// 1 for a key that cannot trade.
    #[serde(default)]
    pub(crate) read_only: Text,
}

/// `result` of `/v5/market/time`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerTime {
    pub(crate) time_nano: Text,
}

/// Body of `/v5/order/create`, fields in the order of vector `sign-09`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Create<'a> {
    pub(crate) category: &'a str,
    pub(crate) symbol: &'a str,
    pub(crate) side: &'a str,
    pub(crate) order_type: &'a str,
    pub(crate) qty: &'a str,
    /// Spot market orders only: what `qty` counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) market_unit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) price: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time_in_force: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) reduce_only: bool,
    /// Not on spot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position_idx: Option<u8>,
    pub(crate) order_link_id: &'a str,
}

/// Body of `/v5/order/cancel` and `/v5/order/amend`: exactly one id, because the order id wins where both are given.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ByLink<'a> {
    pub(crate) category: &'a str,
    pub(crate) symbol: &'a str,
    pub(crate) order_link_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) qty: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) price: Option<String>,
}

/// Body of `/v5/order/cancel-all`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelAll<'a> {
    pub(crate) category: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) symbol: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settle_coin: Option<&'a str>,
}

/// Body of `/v5/order/cancel-batch`.
#[derive(Debug, Serialize)]
pub(crate) struct CancelBatch<'a> {
    pub(crate) category: &'a str,
    pub(crate) request: Vec<CancelItem<'a>>,
}

/// One of them: exactly one id.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelItem<'a> {
    pub(crate) symbol: &'a str,
    pub(crate) order_link_id: &'a str,
}

/// A request on either socket, fields in the order of vector `wsauth-01`. The private socket spells its number `req_id`, the trade
/// socket `reqId`.
#[derive(Debug, Serialize)]
pub(crate) struct Ask<'a, A> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) req_id: Option<&'a str>,
    #[serde(rename = "reqId", skip_serializing_if = "Option::is_none")]
    pub(crate) trade_id: Option<&'a str>,
    pub(crate) op: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<A>,
}

/// A frame of the private socket: an answer, or a push of a topic.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PrivateFrame {
    pub(crate) op: Text,
    /// A truth value.
    pub(crate) success: Text,
    pub(crate) ret_msg: Text,
    pub(crate) topic: Text,
    pub(crate) data: Option<Vec<Box<RawValue>>>,
}

/// A request on the trade socket. The body is that of REST, in its very bytes.
#[derive(Debug, Serialize)]
pub(crate) struct TradeAsk<'a> {
    #[serde(rename = "reqId")]
    pub(crate) id: &'a str,
    pub(crate) header: TradeHeader,
    pub(crate) op: &'a str,
    pub(crate) args: [&'a RawValue; 1],
}

/// What is in the headers over REST; not signed, the connection is.
#[derive(Debug, Serialize)]
pub(crate) struct TradeHeader {
    #[serde(rename = "X-BAPI-TIMESTAMP")]
    pub(crate) timestamp: String,
    #[serde(rename = "X-BAPI-RECV-WINDOW")]
    pub(crate) receive_window: String,
}

/// An answer on the trade socket. Some failures carry neither number nor code.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TradeFrame {
    pub(crate) req_id: Text,
    pub(crate) op: Text,
    pub(crate) ret_code: Text,
    pub(crate) ret_msg: Text,
    #[serde(rename = "ret_msg")]
    pub(crate) bare_msg: Text,
    pub(crate) data: Option<Box<RawValue>>,
    pub(crate) ret_ext_info: Option<Box<RawValue>>,
    pub(crate) header: HashMap<String, Text>,
}
