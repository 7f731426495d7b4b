//! The envelope of every answer, and the codes and texts that the notes name.

use serde_json::{Value, json};

use crate::{core::Refusal, edge::Reply};

/// A `retCode` with its `retMsg`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code(pub(super) u32, pub(super) String);

impl Code {
    pub(super) fn new(code: u32, text: &str) -> Self {
        Self(code, text.to_owned())
    }

    /// 10001, with what is wrong.
    pub(super) fn param(text: &str) -> Self {
        Self(10_001, format!("params error: {text}"))
    }

    pub(super) fn rate() -> Self {
        Self::new(10_006, "Too many visits. Exceeded the API Rate Limit.")
    }

    /// A code by itself, with the text of the notes where they have one.
    pub(super) fn named(code: u32) -> Self {
        let text = match code {
            10_000 => "Server Timeout",
            10_014 => "Invalid duplicate request.",
            10_016 => "Request timeout, please try again later",
            10_019 => "ws trade service is restarting, please reconnect",
            10_403 => "exceed IP rate limit",
            10_429 => "System level frequency protection",
            429 => "The trading service is under high load, please retry",
            170_007 => "Timeout waiting for response from backend server.",
            170_146 => "Order creation timeout.",
            _ => "simulated",
        };
        Self::new(code, text)
    }

    /// What the engine's refusal of an order is called here.
    pub(super) fn refusal(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Duplicate => Self::new(110_072, "OrderLinkedID is duplicate"),
            Refusal::Funds => Self::new(110_007, "CheckMarginRatio fail! InsufficientAB"),
            Refusal::NothingToReduce => Self::new(110_017, "orderQty will be truncated to zero"),
            Refusal::TooManyOrders => {
                Self::new(110_020, "Not allowed to have more than 500 active orders.")
            }
            Refusal::UnknownInstrument => Self::param("symbol invalid"),
            Refusal::BadNumber | Refusal::BeyondOrder => Self::param("Qty invalid"),
            Refusal::UnknownOrder | Refusal::NotOpen => {
                Self::new(110_001, "order not exists or too late to cancel")
            }
            Refusal::BelowMinimum => Self::new(110_094, "Order does not meet minimum order value"),
            Refusal::UnknownAccount | Refusal::Exists => Self::new(10_016, "Server error."),
        }
    }
}

impl Code {
    /// The same refusals on spot, which has codes of its own.
    pub(super) fn spot(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Duplicate => Self::new(170_141, "Duplicate clientOrderId"),
            Refusal::Funds => Self::new(170_131, "Balance insufficient"),
            Refusal::TooManyOrders => Self::new(170_810, "Cannot exceed maximum of 500 orders."),
            Refusal::UnknownInstrument => Self::new(170_121, "Invalid symbol."),
            Refusal::UnknownOrder | Refusal::NotOpen => Self::new(170_213, "Order does not exist."),
            Refusal::BelowMinimum => Self::new(170_140, "Order value exceeded lower limit"),
            Refusal::NothingToReduce
            | Refusal::BadNumber
            | Refusal::BeyondOrder
            | Refusal::UnknownAccount
            | Refusal::Exists => Self::refusal(refusal),
        }
    }
}

/// What an endpoint did: `result` and `retExtInfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) result: Value,
    pub(super) ext: Value,
}

impl From<Value> for Done {
    fn from(result: Value) -> Self {
        Self {
            result,
            ext: json!({}),
        }
    }
}

/// A success.
pub(super) fn ok(now_ms: u64, done: &Done) -> Reply {
    envelope(200, now_ms, &Code::new(0, "OK"), done)
}

/// A refusal or failure, with this HTTP status.
pub(super) fn failed(status: u16, now_ms: u64, code: &Code) -> Reply {
    envelope(status, now_ms, code, &Done::from(json!({})))
}

/// In the venue's order of fields: an answer that is cut short begins with its `retCode`.
fn envelope(status: u16, now_ms: u64, code: &Code, done: &Done) -> Reply {
    let Code(code, text) = code;
    let text = Value::from(text.as_str());
    let Done { result, ext } = done;
    let body = format!(
        "{{\"retCode\":{code},\"retMsg\":{text},\"result\":{result},\"retExtInfo\":{ext},\"time\":{now_ms}}}"
    );
    Reply::json(status, body)
}
