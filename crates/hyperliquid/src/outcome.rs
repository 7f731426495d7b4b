//! What an answer to an act proves. Pure: what the transport says in, outcome out; doubt is the last arm.

use serde_json::value::RawValue;
use surefill_core::{
    CancelOutcome, DuplicateOf, ExecReport, Key, NotSent, OrdStatus, OrderId, Px, Qty, Reason,
    Reject, Revocation, Submission, UnknownCause,
};
use surefill_transport::{Answer, SendFailure};

use crate::codes::{self, Class};
use crate::error::ReadFailure;
use crate::wire::{Filled, Outer, Response, Status, Statuses};

/// What the transport says of one send.
pub type Sent = Result<Answer, SendFailure>;

/// What of an order that was sent is needed to read its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The client order id.
    pub key: Key,
    /// The size.
    pub size: Qty,
    /// Whether what does not fill at once rests.
    pub rests: bool,
}

/// What was heard in answer to one send.
enum Heard<'s> {
    /// No byte left.
    NotSent(&'s NotSent),
    /// Admitted: look at each item.
    Yes(Response),
    /// The action as a whole was refused.
    No(String),
    /// The server could not read the request: nothing was admitted, and the same bytes never will be.
    Unreadable(Reason),
    /// Nothing that can be read.
    Nothing(UnknownCause),
}

fn hear(sent: &Sent) -> Heard<'_> {
    let answer = match sent {
        Ok(answer) => answer,
        Err(SendFailure::NotSent(why)) => return Heard::NotSent(why),
        Err(SendFailure::Unknown(cause)) => return Heard::Nothing(cause.clone()),
    };
    let status = answer.status();
    if codes::is_unreadable_request(status, answer.body()) {
        let text = String::from_utf8_lossy(answer.body());
        return Heard::Unreadable(Reason::new(format_args!("HTTP {status}"), &text));
    }
    let nothing = |what: &str| Heard::Nothing(UnknownCause::new(format!("HTTP {status}, {what}")));
    if status != 200 {
        return nothing("which says nothing about the order");
    }
    let Ok(outer) = serde_json::from_slice::<Outer>(answer.body()) else {
        return nothing("with a body that cannot be read");
    };
    let response = outer.response.get();
    match outer.status.as_str() {
        "ok" => match serde_json::from_str(response) {
            Ok(response) => Heard::Yes(response),
            Err(_) => nothing("a yes that cannot be read"),
        },
        "err" => match serde_json::from_str(response) {
            Ok(text) => Heard::No(text),
            Err(_) => nothing("a no that cannot be read"),
        },
        _ => nothing("neither yes nor no"),
    }
}

fn reason(text: &str) -> Reason {
    Reason::new("", text)
}

/// One item of the answer to an action with several.
enum Item<'a> {
    Element(&'a RawValue),
    /// The one error of an answer stands for each item.
    Same(&'a str),
    No(&'a str),
    Unreadable(&'a Reason),
    Nothing(UnknownCause),
}

/// The items of an answer, one for each that was asked; a list of another length proves nothing, except one error for all.
fn each<T>(sent: &Sent, kind: &str, n: usize, read: impl Fn(usize, Item<'_>) -> T) -> Vec<T> {
    let all = |item: &dyn Fn() -> Item<'static>| (0..n).map(|at| read(at, item())).collect();
    match hear(sent) {
        Heard::NotSent(why) => all(&|| Item::Nothing(UnknownCause::new(why))),
        Heard::Nothing(cause) => all(&|| Item::Nothing(cause.clone())),
        Heard::No(text) => (0..n).map(|at| read(at, Item::No(&text))).collect(),
        Heard::Unreadable(why) => (0..n).map(|at| read(at, Item::Unreadable(&why))).collect(),
        Heard::Yes(Response {
            kind: found,
            data: Some(Statuses { statuses }),
        }) if found == kind => {
            if statuses.len() == n {
                let items = statuses.iter().enumerate();
                return items
                    .map(|(at, item)| read(at, Item::Element(item)))
                    .collect();
            }
            let only = statuses.first().filter(|_| statuses.len() == 1);
            match only.and_then(|only| serde_json::from_str(only.get()).ok()) {
                Some(Status::Error(text)) => (0..n).map(|at| read(at, Item::Same(&text))).collect(),
                Some(Status::Resting(_) | Status::Filled(_)) | None => {
                    let text = format!("{} statuses for {n} items", statuses.len());
                    all(&|| Item::Nothing(UnknownCause::new(&text)))
                }
            }
        }
        Heard::Yes(Response { kind, .. }) => {
            let text = format!("a yes of type {kind:?} without statuses");
            all(&|| Item::Nothing(UnknownCause::new(&text)))
        }
    }
}

/// The answer to an order.
pub fn submission(sent: &Sent, asked: &Asked) -> Submission {
    if let Err(SendFailure::NotSent(why)) = sent {
        return Submission::NotSent(why.clone());
    }
    let all = submissions(sent, std::slice::from_ref(asked));
    all.into_iter()
        .next()
        .unwrap_or_else(|| Submission::Unknown(UnknownCause::new("no answer")))
}

/// The answer to a batch of orders, order by order.
pub fn submissions(sent: &Sent, asked: &[Asked]) -> Vec<Submission> {
    if let Err(SendFailure::NotSent(why)) = sent {
        return asked
            .iter()
            .map(|_| Submission::NotSent(why.clone()))
            .collect();
    }
    each(sent, "order", asked.len(), |at, item| {
        let Some(asked) = asked.get(at) else {
            return Submission::Unknown(UnknownCause::new("an item that nobody asked for"));
        };
        match item {
            Item::Element(element) => placed(element, asked),
            // What a yes holds was admitted, so its nonce is used up.
            Item::Same(text) => refused(text, false),
            Item::No(text) => refused(text, !codes::uses_nonce_up(text)),
            // Another server of the venue's may read what this one could not.
            Item::Unreadable(why) => Submission::Rejected(Reject {
                reason: why.clone(),
                halts_account: false,
                leaves_bytes: true,
            }),
            Item::Nothing(cause) => Submission::Unknown(cause),
        }
    })
}

fn placed(element: &RawValue, asked: &Asked) -> Submission {
    let unknown = |what: &str| Submission::Unknown(UnknownCause::new(what));
    let Ok(status) = serde_json::from_str::<Status>(element.get()) else {
        return unknown(&format!("status {}", element.get()));
    };
    let echoes = |cloid: &Option<String>| {
        let cloid = cloid.as_deref();
        cloid.is_none_or(|cloid| cloid.eq_ignore_ascii_case(asked.key.as_str()))
    };
    match status {
        Status::Error(text) => refused(&text, false),
        Status::Resting(resting) if echoes(&resting.cloid) => Submission::Acked(ExecReport::ack(
            asked.key.clone(),
            OrderId::from(resting.oid.to_string()),
        )),
        Status::Filled(filled) if echoes(&filled.cloid) => executed(&filled, asked)
            .map_or_else(|| unknown("a fill that cannot be read"), Submission::Acked),
        Status::Resting(_) | Status::Filled(_) => unknown("an answer about another order"),
    }
}

/// `filled` does not mean full: an order that does not rest ends with what it got.
fn executed(filled: &Filled, asked: &Asked) -> Option<ExecReport> {
    let total: Qty = filled.total_sz.parse().ok()?;
    let avg_px: Px = filled.avg_px.parse().ok()?;
    let ended = !asked.rests || total >= asked.size;
    let mut report = ExecReport::ack(asked.key.clone(), OrderId::from(filled.oid.to_string()));
    report.status = if ended {
        OrdStatus::Filled
    } else {
        OrdStatus::Open
    };
    report.cum_qty = Some(total);
    report.avg_px = Some(avg_px);
    (!total.is_zero()).then_some(report)
}

fn refused(text: &str, leaves_bytes: bool) -> Submission {
    match codes::class(text) {
        Class::Refused => Submission::Rejected(Reject {
            reason: reason(text),
            halts_account: false,
            leaves_bytes,
        }),
        // These come before the nonce is looked at.
        Class::Keys => Submission::Rejected(Reject {
            reason: reason(text),
            halts_account: true,
            leaves_bytes: true,
        }),
        // Of this or of another action, of this or of an earlier copy: never read as refused, nor as placed.
        Class::Used => Submission::Duplicate(DuplicateOf::Bytes),
        Class::NotOpen | Class::Unknown => Submission::Unknown(UnknownCause::new(text)),
    }
}

/// The answer to cancels, order by order.
pub fn cancels(sent: &Sent, n: usize) -> Vec<CancelOutcome> {
    each(sent, "cancel", n, |_, item| match item {
        Item::Element(element) if element.get() == "\"success\"" => CancelOutcome::Taken,
        Item::Element(element) => match serde_json::from_str(element.get()) {
            Ok(Status::Error(text)) => not_canceled(&text),
            Ok(Status::Resting(_) | Status::Filled(_)) | Err(_) => {
                CancelOutcome::Unknown(UnknownCause::new(element.get()))
            }
        },
        Item::Same(text) | Item::No(text) => not_canceled(text),
        Item::Unreadable(why) => CancelOutcome::Unknown(UnknownCause::new(why)),
        Item::Nothing(cause) => CancelOutcome::Unknown(cause),
    })
}

fn not_canceled(text: &str) -> CancelOutcome {
    match codes::class(text) {
        Class::NotOpen => CancelOutcome::NotOpen,
        Class::Refused | Class::Keys | Class::Used | Class::Unknown => {
            CancelOutcome::Unknown(UnknownCause::new(text))
        }
    }
}

/// The outcome of canceling one order under all its ids: what is not known wins, then what was taken.
pub fn canceled(outcomes: Vec<CancelOutcome>) -> CancelOutcome {
    let mut outcomes = outcomes.into_iter();
    let nothing = || CancelOutcome::Unknown(UnknownCause::new("no answer"));
    let mut whole = outcomes.next().unwrap_or_else(nothing);
    for outcome in outcomes {
        whole = match (whole, outcome) {
            (CancelOutcome::Unknown(cause), _) | (_, CancelOutcome::Unknown(cause)) => {
                CancelOutcome::Unknown(cause)
            }
            (CancelOutcome::Taken, _) | (_, CancelOutcome::Taken) => CancelOutcome::Taken,
            (_, outcome) => outcome,
        };
    }
    whole
}

/// Whether an answer says that the venue's clock is not what the request was made by.
pub fn clock_differs(sent: &Sent) -> bool {
    match hear(sent) {
        Heard::No(text) => codes::clock_differs(&text),
        Heard::Yes(_) | Heard::NotSent(_) | Heard::Unreadable(_) | Heard::Nothing(_) => false,
    }
}

/// The answer to a noop that was signed with an order's nonce.
pub fn revocation(sent: &Sent) -> Revocation {
    match hear(sent) {
        Heard::Yes(Response { kind, .. }) if kind == "default" => Revocation::Revoked,
        Heard::Yes(Response { kind, .. }) => {
            Revocation::Inconclusive(UnknownCause::new(format!("a yes of type {kind:?}")))
        }
        // Too low is no word about whether it was ever used; that it cannot be used any more is what counts here.
        Heard::No(text) if codes::class(&text) == Class::Used => Revocation::Used,
        Heard::No(text) => Revocation::Inconclusive(UnknownCause::new(text)),
        Heard::NotSent(why) => Revocation::Inconclusive(UnknownCause::new(why)),
        Heard::Unreadable(why) => Revocation::Inconclusive(UnknownCause::new(why)),
        Heard::Nothing(cause) => Revocation::Inconclusive(cause),
    }
}

/// The answer to an action without items, such as a setting.
///
/// # Errors
/// [`ReadFailure::Refused`] with the venue's words; [`ReadFailure::Unreachable`] where it may have been taken or not.
pub fn done(sent: &Sent) -> Result<(), ReadFailure> {
    match hear(sent) {
        Heard::Yes(Response { kind, .. }) if kind == "default" => Ok(()),
        Heard::Yes(Response { kind, .. }) => {
            let cause = UnknownCause::new(format!("a yes of type {kind:?}"));
            Err(ReadFailure::Unreachable(cause))
        }
        Heard::No(text) => Err(ReadFailure::Refused(reason(&text))),
        Heard::Unreadable(why) => Err(ReadFailure::Refused(why)),
        Heard::NotSent(why) => Err(ReadFailure::not_sent(why)),
        Heard::Nothing(cause) => Err(ReadFailure::Unreachable(cause)),
    }
}
