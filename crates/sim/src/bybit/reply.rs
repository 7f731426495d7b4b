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
            Refusal::UnknownAccount | Refusal::Exists => Self::new(10_016, "Server error."),
        }
    }
}

/// A success.
pub(super) fn ok(now_ms: u64, result: &Value) -> Reply {
    envelope(200, now_ms, &Code::new(0, "OK"), result)
}

/// A refusal or failure, with this HTTP status.
pub(super) fn failed(status: u16, now_ms: u64, code: &Code) -> Reply {
    envelope(status, now_ms, code, &json!({}))
}

/// In the venue's order of fields: an answer that is cut short begins with its `retCode`.
fn envelope(status: u16, now_ms: u64, code: &Code, result: &Value) -> Reply {
    let Code(code, text) = code;
    let text = Value::from(text.as_str());
    let body = format!(
        "{{\"retCode\":{code},\"retMsg\":{text},\"result\":{result},\"retExtInfo\":{{}},\"time\":{now_ms}}}"
    );
    Reply::json(status, body)
}
