//! The trade socket: what it is asked and what it answers. Pure.
//!
//! An answer becomes what the same answer over REST would be, so that one function says what it proves.
//!
//! Source: <https://bybit-exchange.github.io/docs/v5/websocket/trade/guideline>.

use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use surefill_core::{Reason, VenueTime};
use surefill_transport::Answer;

use crate::codes::REPEATED_AUTH;
use crate::rows::{ReadFailure, some};
use crate::sign::{Keys, SignError};
use crate::stream::auth_args;
use crate::wire::{Ask, TradeAsk, TradeFrame, TradeHeader};

/// What the trade socket is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A create.
    Create,
    /// A cancel.
    Cancel,
}

impl Op {
    /// The venue's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "order.create",
            Self::Cancel => "order.cancel",
        }
    }
}

/// A frame of the trade socket.
#[derive(Clone, Debug)]
pub enum TradeSaid {
    /// The answer to the authentication. A repeated one is harmless.
    Auth(Result<(), Reason>),
    /// The answer to a heartbeat.
    Pong,
    /// The answer to one request.
    Answer {
        /// The number of the request.
        id: Box<str>,
        /// What it answers, as REST would.
        answer: Answer,
        /// The service restarts: this request was not taken, those in flight go on, a new one needs a new connection.
        restarting: bool,
    },
    /// A failure that names no request: every one of this kind that is in flight on this connection is in doubt.
    Unnamed {
        /// The kind, in the venue's word; empty where it names none, and then all are.
        op: Box<str>,
        /// The venue's text.
        text: Box<str>,
    },
}

/// The request that authenticates the trade socket.
///
/// # Errors
/// [`SignError`].
pub fn auth(keys: &Keys, expires: VenueTime, id: &str) -> Result<String, SignError> {
    let ask = Ask {
        req_id: None,
        trade_id: Some(id),
        op: "auth",
        args: Some(auth_args(keys, expires)?),
    };
    Ok(json!(ask).to_string())
}

/// A request with a body in the very bytes that REST would be sent. `None` for a body that is no JSON.
pub fn request(
    id: &str,
    op: Op,
    timestamp: VenueTime,
    receive_window: Duration,
    body: &str,
) -> Option<String> {
    let body: &RawValue = serde_json::from_str(body).ok()?;
    let ask = TradeAsk {
        id,
        header: TradeHeader {
            timestamp: timestamp.to_string(),
            receive_window: receive_window.as_millis().to_string(),
        },
        op: op.as_str(),
        args: [body],
    };
    serde_json::to_string(&ask).ok()
}

/// The envelope of REST.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    ret_code: &'a str,
    ret_msg: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ret_ext_info: Option<&'a RawValue>,
    time: &'a str,
}

/// Reads a frame.
///
/// # Errors
/// [`ReadFailure::Unreadable`]: whatever is in flight is in doubt.
pub fn read(text: &str) -> Result<TradeSaid, ReadFailure> {
    let frame: TradeFrame = serde_json::from_str(text)
        .map_err(|_| ReadFailure::unreadable("a frame that is no JSON of the venue's"))?;
    let code: Option<i64> = frame.ret_code.as_str().parse().ok();
    let message = some(&frame.ret_msg).unwrap_or(frame.bare_msg.as_str());
    match frame.op.as_str() {
        "pong" | "ping" => return Ok(TradeSaid::Pong),
        "auth" => {
            return Ok(TradeSaid::Auth(match code {
                Some(0 | REPEATED_AUTH) => Ok(()),
                Some(code) => Err(Reason::new(code, message)),
                None => Err(Reason::new("", message)),
            }));
        }
        _ => {}
    }
    let (Some(id), Some(code)) = (some(&frame.req_id), code) else {
        return Ok(TradeSaid::Unnamed {
            op: frame.op.as_str().into(),
            text: Reason::new("", message).text,
        });
    };
    let header = |name: &str| {
        let mut headers = frame.header.iter();
        headers.find(|(have, _)| have.eq_ignore_ascii_case(name))
    };
    let envelope = Envelope {
        ret_code: frame.ret_code.as_str(),
        ret_msg: message,
        result: frame.data.as_deref(),
        ret_ext_info: frame.ret_ext_info.as_deref(),
        time: header("Timenow").map_or("", |(_, value)| value.as_str()),
    };
    let body = serde_json::to_vec(&envelope)
        .map_err(|_| ReadFailure::unreadable("an answer of another shape"))?;
    let headers = frame.header.iter();
    Ok(TradeSaid::Answer {
        id: id.into(),
        answer: Answer::new(
            200,
            headers.map(|(name, value)| (name, value.as_str())),
            body,
        ),
        restarting: code == crate::codes::RESTARTING,
    })
}
