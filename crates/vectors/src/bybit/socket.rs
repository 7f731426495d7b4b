//! Frames of the two sockets: what is sent, and what is answered.

use std::time::Duration;

use serde_json::{Map, Value, json};
use surefill_bybit::trade::{self, TradeSaid};
use surefill_bybit::{outcome, stream};
use surefill_core::VenueTime;

use crate::file::Case;
use crate::input::{Got, Unfit, list, member, number, text};

use super::{http, push, words};

/// The ids that the file gives to frames whose input names none.
const IDS: (&str, &str) = ("sub-1", "p1");

pub(super) fn request(case: &Case<'_>) -> Result<Got, Unfit> {
    let input = case.input;
    // Without an order it is one of the two frames that need no input; it is not said which.
    let frames = match input.get("order") {
        Some(order) => {
            let at = VenueTime::from_ms(number(input, "timestamp_ms")?);
            let window = Duration::from_millis(number(input, "recv_window_ms")?);
            let (id, body) = (text(input, "reqId")?, order.to_string());
            let frame = trade::request(id, trade::Op::Create, at, window, &body);
            vec![frame.ok_or_else(|| Unfit::new("the order is no JSON"))?]
        }
        None => vec![stream::subscribe(IDS.0), stream::ping(IDS.1)],
    };
    let frames = frames.iter().map(|frame| {
        let frame: Value = serde_json::from_str(frame).map_err(Unfit::new)?;
        Ok(json!({"frame": frame}))
    });
    Ok(Got {
        one_of: frames.collect::<Result<_, Unfit>>()?,
        exact: &["frame"],
    })
}

pub(super) fn said(case: &Case<'_>) -> Result<Got, Unfit> {
    match text(case.input, "socket")? {
        "private" => push::private(case).map(Got::from),
        "trade" => answered(case),
        other => Err(Unfit(format!("socket {other:?}"))),
    }
}

fn answered(case: &Case<'_>) -> Result<Got, Unfit> {
    let frame = member(case.input, "frame")?;
    let (id, answer) = match trade::read(&frame.to_string()).map_err(Unfit::new)? {
        TradeSaid::Auth(Ok(())) => return Ok(json!({"class": "AUTH_OK"}).into()),
        TradeSaid::Auth(Err(_)) => return Ok(json!({"class": "AUTH_FAIL"}).into()),
        TradeSaid::Pong => return Ok(json!({"class": "PONG"}).into()),
        TradeSaid::Unnamed { op, .. } => {
            let what = if op.is_empty() { "request" } else { &*op };
            let all = format!("every in-flight {what} of this connection");
            return Ok(json!({"class": words::UNKNOWN, "applies_to": all}).into());
        }
        TradeSaid::Answer { id, answer, .. } => (id, answer),
    };
    let sent = Ok(answer);
    let mut got = match text(frame, "op")? {
        "order.create" => http::create(&sent, &key(case, frame, &id))?.into(),
        "order.cancel" => {
            let outcome = outcome::cancel(&sent, &key(case, frame, &id));
            json!({"class": words::cancel(&outcome)}).into()
        }
        "order.create-batch" => {
            let keys = keys(frame)?;
            let outcomes = outcome::submissions(&sent, &keys);
            http::batch(outcomes.iter().map(words::create).collect())
        }
        "order.cancel-batch" => {
            let keys = keys(frame)?;
            let outcomes = outcome::cancels(&sent, &keys);
            http::batch(outcomes.iter().map(words::cancel).collect())
        }
        other => return Err(Unfit(format!("unknown op {other:?}"))),
    };
    for one in got.one_of.iter_mut().filter_map(Value::as_object_mut) {
        name(one, &id);
    }
    Ok(got)
}

fn name(got: &mut Map<String, Value>, id: &str) {
    got.insert("reqId".to_owned(), json!(id));
}

/// The id of the order that the answered request was for: the request is a case of its own, or else the answer's echo has to do.
fn key(case: &Case<'_>, frame: &Value, request: &str) -> String {
    let sent = case.file.cases().find(|other| {
        let id = other.input.get("reqId").and_then(Value::as_str);
        other.kind == "ws_request" && id == Some(request)
    });
    let sent = sent.and_then(|sent| sent.input.pointer("/order/orderLinkId"));
    let key = sent.or_else(|| frame.pointer("/data/orderLinkId"));
    key.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn keys(frame: &Value) -> Result<Vec<&str>, Unfit> {
    let items = list(member(frame, "data")?, "list")?.iter();
    items
        .map(|item| text(item, "orderLinkId").or_else(|_| text(item, "orderId")))
        .collect()
}
