//! What the private socket is asked and what it says, frame by frame. Pure.
//!
//! Source: <https://bybit-exchange.github.io/docs/v5/ws/connect>, <https://bybit-exchange.github.io/docs/v5/websocket/private/order>.

use serde_json::json;
use surefill_core::{Handle, Reason, VenueEvent, VenueTime};

use crate::category::Category;
use crate::market::{self, PositionSlot};
use crate::rows::{self, FillRow, OrderRow, Page, ReadFailure, read_rows};
use crate::sign::{Keys, SignError};
use crate::wire::{Ask, Execution, Order, PositionRow, PrivateFrame, Text};

/// The topics that are followed, over all categories: the venue takes no mix of these and those of one category.
const TOPICS: [&str; 3] = ["order", "execution", "position"];

/// A frame of the private socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The answer to the authentication.
    Auth(Result<(), Reason>),
    /// The answer to the subscription.
    Subscribed(Result<(), Reason>),
    /// The answer to a heartbeat.
    Pong,
    /// Orders, as rows of the order lists.
    Orders(Page<OrderRow>),
    /// Fills; funding and the like are left out.
    Fills(Page<FillRow>),
    /// Positions.
    Positions(Page<PositionSlot>),
    /// A topic that nobody asked for.
    Other(Box<str>),
}

/// The request that authenticates the private socket.
///
/// # Errors
/// [`SignError`].
pub fn auth(keys: &Keys, expires: VenueTime, id: Option<&str>) -> Result<String, SignError> {
    let ask = Ask {
        req_id: id,
        trade_id: None,
        op: "auth",
        args: Some(auth_args(keys, expires)?),
    };
    Ok(json!(ask).to_string())
}

pub(crate) fn auth_args(keys: &Keys, expires: VenueTime) -> Result<serde_json::Value, SignError> {
    let signature = keys.sign_socket(expires)?;
    Ok(json!([keys.api_key(), expires.as_ms(), signature]))
}

/// The request for the topics that are followed.
pub fn subscribe(id: &str) -> String {
    let ask = Ask {
        req_id: Some(id),
        trade_id: None,
        op: "subscribe",
        args: Some(TOPICS),
    };
    json!(ask).to_string()
}

/// The heartbeat, due every 20 s.
pub fn ping(id: &str) -> String {
    let ask: Ask<'_, ()> = Ask {
        req_id: Some(id),
        trade_id: None,
        op: "ping",
        args: None,
    };
    json!(ask).to_string()
}

/// Reads a frame. Rows of other categories are left out.
///
/// # Errors
/// [`ReadFailure::Unreadable`].
pub fn read(text: &str, category: Category) -> Result<Said, ReadFailure> {
    let frame: PrivateFrame = serde_json::from_str(text)
        .map_err(|_| ReadFailure::unreadable("a frame that is no JSON of the venue's"))?;
    if rows::some(&frame.topic).is_some() {
        return push(&frame, category);
    }
    let verdict = || match frame.success.as_str() {
        "true" => Ok(Ok(())),
        "false" => Ok(Err(Reason::new("", frame.ret_msg.as_str()))),
        _ => Err(ReadFailure::unreadable(
            "an answer that is neither yes nor no",
        )),
    };
    match frame.op.as_str() {
        "auth" => Ok(Said::Auth(verdict()?)),
        "subscribe" => Ok(Said::Subscribed(verdict()?)),
        "ping" | "pong" => Ok(Said::Pong),
        op => Err(ReadFailure::unreadable(format!("a frame of op {op:?}"))),
    }
}

fn push(frame: &PrivateFrame, category: Category) -> Result<Said, ReadFailure> {
    let topic = frame.topic.as_str();
    let Some(data) = &frame.data else {
        return Err(ReadFailure::unreadable(format!(
            "topic {topic} without data"
        )));
    };
    let (kind, of) = topic.split_once('.').unwrap_or((topic, ""));
    let ours = category.as_str();
    let other = |row: &Text| !matches!(row.as_str(), "") && row.as_str() != ours;
    match kind {
        "order" => {
            let read = |row: &Order, _: &str| match other(&row.category) {
                true => Ok(None),
                false => rows::order(row).map(Some),
            };
            read_rows(data, ours, |row: &Order| &row.order_link_id, read).map(Said::Orders)
        }
        "execution" => {
            // The fast topic is of trades only, and names neither kind nor fee.
            let fast = of.split('.').any(|part| part == "fast");
            let read = |row: &Execution, category: &str| match other(&row.category) {
                true => Ok(None),
                false if fast => rows::fill(row, category, "Trade"),
                false => rows::fill(row, category, row.exec_type.as_str()),
            };
            read_rows(data, ours, |row: &Execution| &row.order_link_id, read).map(Said::Fills)
        }
        "position" => {
            let read = |row: &PositionRow, _: &str| match other(&row.category) {
                true => Ok(None),
                false => market::position(row).map(Some),
            };
            read_rows(data, ours, |row: &PositionRow| &row.symbol, read).map(Said::Positions)
        }
        _ => Ok(Said::Other(topic.into())),
    }
}

/// What a frame tells the engine. A row that may be ours and cannot be read is an error: the stream has to end, so that the orders
/// are looked up.
///
/// # Errors
/// [`ReadFailure`]: the row, or a refusal of the subscription that comes late.
pub fn events(said: Said) -> Result<Vec<VenueEvent>, ReadFailure> {
    match said {
        Said::Orders(page) => {
            let reports = crate::reader::reports(page)?;
            Ok(reports.into_iter().map(VenueEvent::Report).collect())
        }
        Said::Fills(page) => {
            let rows = crate::reader::ours_whole(page)?;
            Ok(rows.into_iter().map(fill).collect())
        }
        Said::Positions(page) => {
            for row in page.unreadable {
                tracing::warn!(symbol = ?row.key, why = %row.why, "a pushed position cannot be read");
            }
            Ok(Vec::new())
        }
        Said::Auth(Err(why)) | Said::Subscribed(Err(why)) => Err(ReadFailure::Refused(why)),
        Said::Auth(Ok(())) | Said::Subscribed(Ok(())) | Said::Pong | Said::Other(_) => {
            Ok(Vec::new())
        }
    }
}

fn fill(row: FillRow) -> VenueEvent {
    let handle = Handle {
        key: row.key,
        order_id: Some(row.fill.order_id.clone()),
    };
    VenueEvent::Fill(handle, row.fill)
}
