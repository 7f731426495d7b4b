//! Answers over REST to what changes something; reads are in `lists`.

use serde_json::{Value, json};
use surefill_bybit::outcome::{self, Sent};
use surefill_core::{CancelAllOutcome, CancelOutcome, Handle, OrdStatus, Submission, VenueError};

use crate::file::Case;
use crate::input::{Got, Unfit, list, member, text};

use super::answer::sent;
use super::{lists, words};

pub(super) fn answered(case: &Case<'_>) -> Result<Got, Unfit> {
    let request = member(case.input, "request")?;
    let sent = sent(case.input)?;
    match text(request, "path")? {
        "/v5/order/create" => create(&sent, text(request, "orderLinkId")?).map(Got::from),
        "/v5/order/cancel" => {
            let outcome = outcome::cancel(&sent, id(request)?);
            let ended = matches!(outcome, CancelOutcome::Canceled(_));
            Ok(json!({"class": words::cancel(&outcome), "order_is_final": ended}).into())
        }
        "/v5/order/amend" => {
            let outcome = outcome::amend(&sent, id(request)?);
            Ok(json!({"class": words::amend(&outcome)}).into())
        }
        "/v5/order/cancel-all" => Ok(cancel_all(&sent).into()),
        "/v5/order/create-batch" => {
            let outcomes = outcome::submissions(&sent, &items(request)?);
            Ok(batch(outcomes.iter().map(words::create).collect()))
        }
        "/v5/order/cancel-batch" => {
            let outcomes = outcome::cancels(&sent, &items(request)?);
            Ok(batch(outcomes.iter().map(words::cancel).collect()))
        }
        path => lists::read(case, path, request, &sent).map(Got::from),
    }
}

/// The answer to a create, over REST or the trade socket.
pub(super) fn create(sent: &Sent, key: &str) -> Result<Value, Unfit> {
    let outcome = outcome::submission(sent, key);
    let class = words::create(&outcome);
    Ok(match &outcome {
        Submission::Acked(report) => json!({
            "class": class,
            "venue_order_id": report.handle.order_id.as_ref().map(ToString::to_string),
            "order_is_final": report.status != OrdStatus::Open,
        }),
        Submission::Rejected(reject) => json!({"class": class, "halt": reject.halts_account}),
        Submission::NotTaken {
            retry_after: Some(wait),
            ..
        } => {
            let answered = outcome::answered_at(sent);
            let answered = answered.ok_or_else(|| Unfit::new("the answer carries no time"))?;
            json!({"class": class, "wait_until_ms": answered.after(*wait).as_ms()})
        }
        Submission::NotTaken { .. }
        | Submission::NotSent(_)
        | Submission::Duplicate(_)
        | Submission::Received(_)
        | Submission::Unknown(_) => json!({"class": class}),
    })
}

fn cancel_all(sent: &Sent) -> Value {
    let id = |handle: &Handle| {
        let key = handle.key.as_ref().map(ToString::to_string);
        handle.order_id.as_ref().map(ToString::to_string).or(key)
    };
    match outcome::cancel_all(sent) {
        Ok(CancelAllOutcome::Taken(handles)) => {
            let ids: Vec<String> = handles.iter().filter_map(id).collect();
            json!({"class": "ACK", "accepted_ids": ids})
        }
        Ok(CancelAllOutcome::Unknown(_)) => json!({"class": words::UNKNOWN}),
        Err(error) => {
            let halt = matches!(error, VenueError::Keys(_));
            json!({"class": "REJECT", "halt": halt})
        }
    }
}

/// The id by which a request names its order.
fn id(request: &Value) -> Result<&str, Unfit> {
    text(request, "orderLinkId").or_else(|_| text(request, "orderId"))
}

fn items(request: &Value) -> Result<Vec<&str>, Unfit> {
    let each = list(request, "items")?.iter().map(Value::as_str);
    let all: Option<Vec<&str>> = each.collect();
    all.ok_or_else(|| Unfit::new("`items` is not a list of texts"))
}

/// What is known of each item; where it is the same for all, the file may say so once.
pub(super) fn batch(classes: Vec<&'static str>) -> Got {
    let mut one_of = vec![json!({"class": "BATCH", "items": classes})];
    if let Some(class) = classes.first()
        && classes.iter().all(|one| one == class)
    {
        one_of.push(json!({"class": class, "applies_to": "all items"}));
    }
    Got { one_of, exact: &[] }
}
