//! A case's response, as the transport would hand it over.

use serde_json::Value;
use surefill_bybit::outcome::Sent;
use surefill_core::{NotSent, UnknownCause};
use surefill_transport::{Answer, SendFailure};

use crate::input::{Unfit, member, number, text};

/// The response of an `http` case.
pub(super) fn sent(input: &Value) -> Result<Sent, Unfit> {
    let response = member(input, "response")?;
    if response.get("transport_error").is_some() {
        return Ok(transport_error(text(response, "transport_error")?));
    }
    let status = u16::try_from(number(response, "status")?);
    let status = status.map_err(|_| Unfit::new("`status` is no HTTP status"))?;
    let body = match response.get("body_text") {
        Some(_) => text(response, "body_text")?.to_owned(),
        None => member(response, "body")?.to_string(),
    };
    let headers = response.get("headers").and_then(Value::as_object);
    let headers = headers.into_iter().flatten();
    let headers = headers.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    Ok(Ok(Answer::new(status, headers, body)))
}

/// What became of a send without an answer. Only a refused connection sent nothing.
pub(super) fn transport_error(words: &str) -> Sent {
    Err(match words {
        "connect refused" => SendFailure::NotSent(NotSent::Connect(words.into())),
        other => SendFailure::Unknown(UnknownCause::new(other)),
    })
}
