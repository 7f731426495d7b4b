//! The forms of answers.

use serde_json::{Value, json};

use crate::edge::Reply;

/// Why an action came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// The venue says why.
    Refused(String),
    /// The venue failed.
    Broken,
}

impl Stop {
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

/// The answer to an action.
pub(super) fn acted(done: Result<Value, Stop>) -> Reply {
    match done {
        Ok(response) => json_reply(&json!({ "status": "ok", "response": response })),
        Err(Stop::Refused(text)) => json_reply(&json!({ "status": "err", "response": text })),
        Err(Stop::Broken) => null(500),
    }
}

/// A response without data.
pub(super) fn plain() -> Value {
    json!({ "type": "default" })
}

/// A response with one element per item, or one for all of them.
pub(super) fn statuses(kind: &str, statuses: &[Value]) -> Value {
    json!({ "type": kind, "data": { "statuses": statuses } })
}

/// The element of an item that was refused.
pub(super) fn error(text: &str) -> Value {
    json!({ "error": text })
}

/// JSON with status 200.
pub(super) fn json_reply(value: &Value) -> Reply {
    Reply {
        content_type: "application/json",
        ..Reply::json(200, value.to_string())
    }
}

/// The venue's answer to what it will not or cannot do.
pub(super) fn null(status: u16) -> Reply {
    Reply {
        content_type: "application/json",
        ..Reply::json(status, "null".to_owned())
    }
}

/// A line of text.
pub(super) fn text(status: u16, text: &str) -> Reply {
    Reply {
        content_type: "text/plain; charset=utf-8",
        ..Reply::json(status, text.to_owned())
    }
}

/// A body that did not deserialize.
pub(super) fn unreadable(error: &serde_json::Error) -> Reply {
    match error.classify() {
        serde_json::error::Category::Data => text(
            422,
            "Failed to deserialize the JSON body into the target type",
        ),
        serde_json::error::Category::Io
        | serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof => text(400, "Failed to parse the request body as JSON"),
    }
}
