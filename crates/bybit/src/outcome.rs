//! What an answer to an act proves. Pure: what the transport says in, outcome out; doubt is the last arm.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use surefill_core::{
    AmendOutcome, AsOf, CancelAllOutcome, CancelOutcome, DuplicateOf, ExecReport, Handle, Key,
    Lookup, NotSent, OrderId, Reason, Reject, Submission, UnknownCause, VenueError, VenueTime,
};
use surefill_transport::{Answer, SendFailure};

use crate::codes::{Class, RATE_LIMIT, class};
use crate::rows::{FillRow, OrderRow};
use crate::wire::{Envelope, IdList, Ids, ItemCodes, Text};

/// What the transport says of one send.
pub type Sent = Result<Answer, SendFailure>;

/// What was heard in answer to one send.
pub(crate) enum Heard<'s> {
    /// No byte left.
    NotSent(&'s NotSent),
    /// The venue's envelope, whatever the HTTP status: a known code wins over it.
    Said(Said),
    /// Nothing that can be read.
    Nothing(UnknownCause),
}

/// An envelope that could be read.
pub(crate) struct Said {
    pub(crate) code: i64,
    pub(crate) reason: Reason,
    /// 200 is the only status with which an answer is taken as a yes.
    pub(crate) status: u16,
    pub(crate) at: Option<VenueTime>,
    result: Option<Box<RawValue>>,
    ext: Option<Box<RawValue>>,
    reset: Option<VenueTime>,
    /// Requests that the venue still takes of this kind in this second.
    left: Option<u64>,
}

/// Reads the envelope of an answer.
pub(crate) fn hear(sent: &Sent) -> Heard<'_> {
    let answer = match sent {
        Ok(answer) => answer,
        Err(SendFailure::NotSent(why)) => return Heard::NotSent(why),
        Err(SendFailure::Unknown(cause)) => return Heard::Nothing(cause.clone()),
    };
    let status = answer.status();
    let Ok(envelope) = serde_json::from_slice::<Envelope>(answer.body()) else {
        let text = format!("HTTP status {status} without an envelope");
        return Heard::Nothing(UnknownCause::new(text));
    };
    let Ok(code) = envelope.ret_code.as_str().parse::<i64>() else {
        let text = format!("HTTP status {status} without a code");
        return Heard::Nothing(UnknownCause::new(text));
    };
    let reset = answer.header("X-Bapi-Limit-Reset-Timestamp");
    let left = answer.header("X-Bapi-Limit-Status");
    Heard::Said(Said {
        code,
        reason: Reason::new(code, envelope.ret_msg.as_str()),
        status,
        at: time(&envelope.time),
        result: envelope.result,
        ext: envelope.ret_ext_info,
        reset: reset.and_then(|ms| ms.parse().ok()).map(VenueTime::from_ms),
        left: left.and_then(|left| left.parse().ok()),
    })
}

/// The venue's time in an answer, where it carries one.
pub fn answered_at(sent: &Sent) -> Option<VenueTime> {
    match hear(sent) {
        Heard::Said(said) => said.at,
        Heard::NotSent(_) | Heard::Nothing(_) => None,
    }
}

/// How long nothing more of this kind is taken, where an answer says that the limit is used up. A reset without that is the time of now.
///
/// # Source
/// <https://bybit-exchange.github.io/docs/v5/rate-limit>: `X-Bapi-Limit-Status`, `X-Bapi-Limit-Reset-Timestamp`.
pub fn used_up(sent: &Sent) -> Option<Duration> {
    match hear(sent) {
        Heard::Said(said) if said.left == Some(0) || said.code == RATE_LIMIT => {
            let wait = said.reset?.since(said.at?);
            (!wait.is_zero()).then_some(wait)
        }
        Heard::Said(_) | Heard::NotSent(_) | Heard::Nothing(_) => None,
    }
}

fn time(text: &Text) -> Option<VenueTime> {
    let ms = text.as_str().parse().ok().filter(|ms| *ms > 0)?;
    Some(VenueTime::from_ms(ms))
}

impl Said {
    /// `result` as `T`.
    pub(crate) fn result<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.result.as_deref()?.get()).ok()
    }

    fn codes(&self) -> Option<ItemCodes> {
        serde_json::from_str(self.ext.as_deref()?.get()).ok()
    }

    fn unknown(&self) -> UnknownCause {
        UnknownCause::new(format!("HTTP status {}, {}", self.status, self.reason))
    }

    /// How long until the rate limit resets, where the answer says so.
    fn until_reset(&self) -> Option<Duration> {
        let wait = self.reset?.since(self.at?);
        (self.code == RATE_LIMIT && !wait.is_zero()).then_some(wait)
    }

    /// One item of a batch, as if it had been answered alone.
    fn item(&self, code: i64, text: &str) -> Self {
        Self {
            code,
            reason: Reason::new(code, text),
            status: self.status,
            at: self.at,
            result: None,
            ext: None,
            reset: self.reset,
            left: self.left,
        }
    }
}

/// The answer to a create of the order known as `key`.
pub fn submission(sent: &Sent, key: &str) -> Submission {
    match hear(sent) {
        Heard::NotSent(why) => Submission::NotSent(why.clone()),
        Heard::Nothing(cause) => Submission::Unknown(cause),
        Heard::Said(said) => submitted(&said, said.result().as_ref(), key),
    }
}

fn submitted(said: &Said, ids: Option<&Ids>, key: &str) -> Submission {
    match class(said.code) {
        Class::Ok => acked(said, ids, key),
        Class::Reject { halts } => Submission::Rejected(Reject {
            reason: said.reason.clone(),
            halts_account: halts,
            leaves_bytes: false,
        }),
        Class::Duplicate => Submission::Duplicate(DuplicateOf::Id),
        Class::NotTaken { wait } => Submission::NotTaken {
            cause: said.reason.clone(),
            retry_after: wait.or_else(|| said.until_reset()),
        },
        Class::NotOpen | Class::Processing | Class::Unknown => Submission::Unknown(said.unknown()),
    }
}

/// An acknowledgment names the order and repeats our id.
fn acked(said: &Said, ids: Option<&Ids>, key: &str) -> Submission {
    let unknown = |text: &str| Submission::Unknown(UnknownCause::new(text));
    let Some(ids) = ids.filter(|_| said.status == 200) else {
        return unknown("a yes without ids, or with an HTTP status other than 200");
    };
    if ids.order_id.as_str().is_empty() {
        return unknown("a yes without an order id");
    }
    if ids.order_link_id.as_str() != key {
        return unknown("a yes with another client order id than was sent");
    }
    Submission::Acked(ExecReport::ack(
        Key::from(key),
        OrderId::from(ids.order_id.as_str()),
    ))
}

/// The answer to a batch of creates, item by item; lists that do not fit prove nothing about any of them.
pub fn submissions(sent: &Sent, keys: &[&str]) -> Vec<Submission> {
    batch(sent, keys, submission, submitted, |cause| {
        Submission::Unknown(cause)
    })
}

/// The answer to a cancel of the order known as `key`, by either of its ids.
pub fn cancel(sent: &Sent, key: &str) -> CancelOutcome {
    match hear(sent) {
        Heard::NotSent(why) => CancelOutcome::Unknown(UnknownCause::new(why)),
        Heard::Nothing(cause) => CancelOutcome::Unknown(cause),
        Heard::Said(said) => canceled(&said, said.result().as_ref(), key),
    }
}

fn canceled(said: &Said, ids: Option<&Ids>, key: &str) -> CancelOutcome {
    let echoes = |ids: &Ids| ids.order_link_id.as_str() == key || ids.order_id.as_str() == key;
    match class(said.code) {
        Class::Ok if said.status == 200 && ids.is_some_and(echoes) => CancelOutcome::Taken,
        Class::NotOpen => CancelOutcome::NotOpen,
        Class::Processing => CancelOutcome::NotYet,
        Class::Ok
        | Class::Reject { .. }
        | Class::Duplicate
        | Class::NotTaken { .. }
        | Class::Unknown => CancelOutcome::Unknown(said.unknown()),
    }
}

/// The answer to a batch of cancels, item by item.
pub fn cancels(sent: &Sent, keys: &[&str]) -> Vec<CancelOutcome> {
    batch(sent, keys, cancel, canceled, |cause| {
        CancelOutcome::Unknown(cause)
    })
}

fn batch<T>(
    sent: &Sent,
    keys: &[&str],
    whole: fn(&Sent, &str) -> T,
    one: fn(&Said, Option<&Ids>, &str) -> T,
    unknown: fn(UnknownCause) -> T,
) -> Vec<T> {
    let said = match hear(sent) {
        Heard::Said(said) if said.code == 0 && said.status == 200 => said,
        Heard::Said(_) | Heard::NotSent(_) | Heard::Nothing(_) => {
            return keys.iter().map(|key| whole(sent, key)).collect();
        }
    };
    let lists = said.result::<IdList>().zip(said.codes());
    let Some((ids, codes)) =
        lists.filter(|(ids, codes)| ids.list.len() == keys.len() && codes.list.len() == keys.len())
    else {
        let cause = || UnknownCause::new("the lists of the answer do not fit the request");
        return keys.iter().map(|_| unknown(cause())).collect();
    };
    let items = keys.iter().zip(ids.list.iter().zip(&codes.list));
    items
        .map(|(key, (ids, item))| match item.code.as_str().parse() {
            Ok(code) => one(&said.item(code, item.msg.as_str()), Some(ids), key),
            Err(_) => unknown(UnknownCause::new("an item without a code")),
        })
        .collect()
}

/// The answer to a cancel of everything.
///
/// # Errors
/// A definite refusal.
pub fn cancel_all(sent: &Sent) -> Result<CancelAllOutcome, VenueError> {
    let said = match hear(sent) {
        Heard::Said(said) => said,
        Heard::NotSent(why) => {
            let cause = UnknownCause::new(why);
            return Ok(CancelAllOutcome::Unknown(cause));
        }
        Heard::Nothing(cause) => return Ok(CancelAllOutcome::Unknown(cause)),
    };
    match class(said.code) {
        Class::Ok => Ok(all_canceled(&said)),
        Class::Reject { halts: true } => Err(VenueError::Keys(said.reason)),
        Class::Reject { halts: false } => Err(VenueError::Refused(said.reason)),
        Class::Duplicate
        | Class::NotTaken { .. }
        | Class::NotOpen
        | Class::Processing
        | Class::Unknown => Ok(CancelAllOutcome::Unknown(said.unknown())),
    }
}

fn all_canceled(said: &Said) -> CancelAllOutcome {
    let taken = said
        .result::<IdList>()
        .filter(|list| said.status == 200 && list.success.as_str() != "0");
    let Some(list) = taken else {
        return CancelAllOutcome::Unknown(said.unknown());
    };
    let some = |text: &Text| Some(text.as_str().to_owned()).filter(|text| !text.is_empty());
    let handle = |ids: &Ids| Handle {
        key: some(&ids.order_link_id).map(Key::from),
        order_id: some(&ids.order_id).map(OrderId::from),
    };
    CancelAllOutcome::Taken(list.list.iter().map(handle).collect())
}

/// The answer to an amend of the order known as `key`.
pub fn amend(sent: &Sent, key: &str) -> AmendOutcome {
    let said = match hear(sent) {
        Heard::NotSent(why) => return AmendOutcome::NotSent(why.clone()),
        Heard::Nothing(cause) => return AmendOutcome::Unknown(cause),
        Heard::Said(said) => said,
    };
    let echoes = |ids: Ids| ids.order_link_id.as_str() == key;
    match class(said.code) {
        Class::Ok if said.status == 200 && said.result().is_some_and(echoes) => AmendOutcome::Taken,
        Class::NotOpen => AmendOutcome::NotOpen,
        Class::Reject { halts } => AmendOutcome::Rejected(Reject {
            reason: said.reason,
            halts_account: halts,
            leaves_bytes: false,
        }),
        // Documented as refused before acting: the order is as it was, and nothing repeats an amend by itself.
        Class::NotTaken { .. } => AmendOutcome::Rejected(Reject {
            reason: said.reason,
            halts_account: false,
            leaves_bytes: false,
        }),
        Class::Ok | Class::Duplicate | Class::Processing | Class::Unknown => {
            AmendOutcome::Unknown(said.unknown())
        }
    }
}

/// What one round of lookups for the order known as `key` proves: `orders` are the rows of the open, then of the closed orders.
pub fn lookup(
    key: &str,
    orders: &[OrderRow],
    fills: Vec<FillRow>,
    begun: AsOf,
    ended: AsOf,
) -> Lookup {
    let mut reports: Vec<ExecReport> = Vec::new();
    let mut second_attempts = false;
    for row in orders {
        if row.key.as_ref().map(Key::as_str) != Some(key) {
            return inconclusive("a row of another order");
        }
        if row.is_refused_duplicate() {
            second_attempts = true;
            continue;
        }
        let Some(report) = row.report() else {
            return inconclusive(&format!("order status {}", row.status.as_str()));
        };
        merge(&mut reports, report);
    }
    for FillRow { key: of, fill } in fills {
        let known = orders.iter().any(|row| row.order_id == fill.order_id);
        if of.as_ref().map_or(!known, |of| of.as_str() != key) {
            return inconclusive("a fill of another order");
        }
        let by_fills =
            |report: &&mut ExecReport| report.handle.order_id.as_ref() == Some(&fill.order_id);
        match reports.iter_mut().find(by_fills) {
            Some(report) => report.fills.push(fill),
            None => reports.push(crate::rows::not_shown(key, fill)),
        }
    }
    for report in &mut reports {
        crate::rows::add_up(report);
    }
    match (reports.is_empty(), second_attempts) {
        (false, _) => Lookup::Found(reports),
        // The venue says that the first one exists, and shows it nowhere.
        (true, true) => inconclusive("only an attempt that was refused as a duplicate"),
        (true, false) => Lookup::Absent { begun, ended },
    }
}

fn inconclusive(why: &str) -> Lookup {
    Lookup::Inconclusive(UnknownCause::new(why))
}

/// One report per order id: an older row never overrules a newer one, and what is executed never shrinks.
fn merge(reports: &mut Vec<ExecReport>, report: ExecReport) {
    let same = |have: &&mut ExecReport| have.handle.order_id == report.handle.order_id;
    let Some(have) = reports.iter_mut().find(same) else {
        reports.push(report);
        return;
    };
    let cum_qty = have.cum_qty.max(report.cum_qty);
    if report.transact_time >= have.transact_time {
        *have = report;
    }
    have.cum_qty = cum_qty;
}
