//! What the venue's gate takes: times and ids.

use std::time::Duration;

use serde_json::{Value, json};
use surefill_bybit::{id, outcome, sign};
use surefill_core::{Submission, VenueTime};
use surefill_transport::Answer;

use crate::file::Case;
use crate::input::{Got, Unfit, number, text};

/// The gate's code for a timestamp outside of the window.
const OUT_OF_WINDOW: u64 = 10_002;

pub(super) fn clock(case: &Case<'_>) -> Result<Got, Unfit> {
    let input = case.input;
    let server = VenueTime::from_ms(number(input, "server_ms")?);
    let at = VenueTime::from_ms(number(input, "timestamp_ms")?);
    let window = Duration::from_millis(number(input, "recv_window_ms")?);
    let accepts = sign::gateway_accepts(server, at, window);
    let code = if accepts { 0 } else { OUT_OF_WINDOW };
    if !accepts {
        let read = refused(code, "out of the window");
        if !matches!(read, Submission::NotTaken { .. }) {
            return Err(Unfit(format!("{code} is read as {read:?}")));
        }
    }
    Ok(json!({"gateway_accepts": accepts, "retCode": code}).into())
}

pub(super) fn id_rule(case: &Case<'_>) -> Result<Got, Unfit> {
    let id = text(case.input, "orderLinkId")?;
    let category = text(case.input, "category")?;
    let mut got = json!({"locally_valid": id::allowed(id)});
    if let Some(answer) = server(id, category) {
        // Met only by an id that got past us: it never reads as a yes, and its text is kept.
        if let (Some(code), Some(message)) = (answer.code, answer.message) {
            let read = refused(code, message);
            let kept = match &read {
                Submission::Rejected(reject) => *reject.reason.text == *message,
                Submission::Unknown(cause) => cause.0.contains(message),
                Submission::Acked(_)
                | Submission::Received(_)
                | Submission::Duplicate(_)
                | Submission::NotTaken { .. }
                | Submission::NotSent(_) => false,
            };
            if !kept {
                return Err(Unfit(format!("{code} is read as {read:?}")));
            }
        }
        for (name, value) in [
            ("server_retCode", answer.code.map(Value::from)),
            ("server_retMsg", answer.message.map(Value::from)),
            ("server_answer", answer.doubt.map(Value::from)),
        ] {
            if let Some((got, value)) = got.as_object_mut().zip(value) {
                got.insert(name.to_owned(), value);
            }
        }
    }
    Ok(got.into())
}

/// What the venue answers to an id, as far as anybody has seen it.
struct Server {
    code: Option<u64>,
    message: Option<&'static str>,
    doubt: Option<&'static str>,
}

/// # Source
/// <https://bybit-exchange.github.io/docs/v5/order/create-order>; 45 was seen on linear by users of passivbot (issue 436), the
/// option code by ccxt.
fn server(id: &str, category: &str) -> Option<Server> {
    if id.is_empty() {
        return (category == "option").then_some(Server {
            code: Some(3_100_198),
            message: Some("orderLinkId can not be empty."),
            doubt: Some("UNSURE (code seen for the older option API)"),
        });
    }
    if id.chars().count() > 45 {
        return Some(Server {
            code: Some(10_001),
            message: Some("order link id is longer than 45"),
            doubt: None,
        });
    }
    let listed = id.chars().all(|c| id::RULE.alphabet.contains(c));
    (!listed).then_some(Server {
        code: None,
        message: None,
        doubt: Some("UNSURE"),
    })
}

fn refused(code: u64, message: &str) -> Submission {
    let body =
        json!({"retCode": code, "retMsg": message, "result": {}, "retExtInfo": {}, "time": 1});
    let answer = Answer::new(200, [("", "")], body.to_string());
    outcome::submission(&Ok(answer), "k")
}
