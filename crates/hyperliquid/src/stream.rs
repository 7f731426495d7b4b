//! What the socket is asked and what it says, frame by frame. Pure.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/subscriptions>.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use surefill_core::{Handle, Reason, VenueEvent, VenueTime};
use surefill_evm::Address;

use crate::error::ReadFailure;
use crate::rows::{self, FillRow, OrderRow};
use crate::wire::{Frame, Subscribed, UserFills};

/// What is subscribed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Each change of an order's status. It names no user and begins without a snapshot.
    OrderUpdates,
    /// Fills; the first frame is a snapshot of those before.
    UserFills,
}

impl Topic {
    /// Those that are followed.
    pub const ALL: [Self; 2] = [Self::OrderUpdates, Self::UserFills];

    const fn as_str(self) -> &'static str {
        match self {
            Self::OrderUpdates => "orderUpdates",
            Self::UserFills => "userFills",
        }
    }
}

/// A frame of the socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The answer to a subscription.
    Subscribed(Topic),
    /// The answer to a heartbeat, a greeting, or a channel that nobody asked for.
    Nothing,
    /// The venue refuses.
    Refused(Reason),
    /// Orders whose status changed.
    Orders(Vec<OrderRow>),
    /// Fills, and whether they are of before the subscription.
    Fills {
        /// They are from before.
        snapshot: bool,
        /// The fills.
        rows: Vec<FillRow>,
    },
}

/// The request for a topic.
pub fn subscribe(topic: Topic, user: Address) -> String {
    let subscription = json!({"type": topic.as_str(), "user": user.to_string()});
    json!({"method": "subscribe", "subscription": subscription}).to_string()
}

/// The heartbeat: the venue closes a connection on which it has sent nothing for a minute.
pub fn ping() -> String {
    json!({"method": "ping"}).to_string()
}

/// Reads a frame about `user`.
///
/// # Errors
/// [`ReadFailure::Unreadable`].
pub fn read(text: &str, user: Address) -> Result<Said, ReadFailure> {
    if text == "Websocket connection established." {
        return Ok(Said::Nothing);
    }
    let frame: Frame = serde_json::from_str(text)
        .map_err(|_| ReadFailure::unreadable("a frame that is no JSON of the venue's"))?;
    let data = frame.data.as_deref();
    match frame.channel.as_str() {
        "subscriptionResponse" => {
            let answer: Subscribed = parse(data)?;
            let topic = Topic::ALL
                .into_iter()
                .find(|topic| topic.as_str() == answer.subscription.kind);
            match topic {
                Some(topic) if answer.method == "subscribe" => Ok(Said::Subscribed(topic)),
                Some(_) | None => Ok(Said::Nothing),
            }
        }
        "error" => Ok(Said::Refused(Reason::new("", &parse::<String>(data)?))),
        "orderUpdates" => {
            let raws: Vec<&RawValue> = parse(data)?;
            rows::status_rows(&raws).booked().map(Said::Orders)
        }
        "userFills" => {
            let fills: UserFills<'_> = parse(data)?;
            // Fills of another account would be booked as foreign, and ours would be missed.
            if fills.user.parse() != Ok(user) {
                return Err(ReadFailure::unreadable("fills of another account"));
            }
            Ok(Said::Fills {
                snapshot: fills.is_snapshot,
                rows: rows::fill_rows(&fills.fills).booked()?,
            })
        }
        _ => Ok(Said::Nothing),
    }
}

fn parse<'d, T: Deserialize<'d>>(data: Option<&'d RawValue>) -> Result<T, ReadFailure> {
    let parsed = data.and_then(|data| serde_json::from_str(data.get()).ok());
    parsed.ok_or_else(|| ReadFailure::unreadable("a frame whose data has another shape"))
}

/// What a frame tells the engine. Of a snapshot, what happened at or after `since`: the rest is read over HTTP.
///
/// # Errors
/// [`ReadFailure`]: a row that may be ours and cannot be read, or a refusal. The stream has to end, so that the orders are looked up.
pub fn events(said: Said, since: VenueTime) -> Result<Vec<VenueEvent>, ReadFailure> {
    match said {
        Said::Orders(rows) => {
            // One frame may tell of several changes of one order, in order: each is told.
            let mut events = Vec::with_capacity(rows.len());
            for row in &rows {
                events.extend(rows::told(row)?.map(VenueEvent::Report));
            }
            Ok(events)
        }
        Said::Fills { snapshot, rows } => {
            let fresh = |row: &FillRow| !snapshot || row.fill.transact_time >= since;
            Ok(rows.into_iter().filter(fresh).map(fill).collect())
        }
        Said::Refused(why) => Err(ReadFailure::Refused(why)),
        Said::Subscribed(_) | Said::Nothing => Ok(Vec::new()),
    }
}

fn fill(row: FillRow) -> VenueEvent {
    let handle = Handle {
        key: row.key,
        order_id: Some(row.fill.order_id.clone()),
    };
    VenueEvent::Fill(handle, row.fill)
}
