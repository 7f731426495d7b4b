//! The JSON documents. Their field names are fixed; decimals are texts, times are milliseconds since 1970.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};
use surefill_core::{
    Alias, Amount, Attempt, Cause, ClOrdId, ExecReport, Fence, Fill, Halt, HaltCause, OrdStatus,
    OrderRecord, Qty, RecoveryReport, Settlement, Transition, VenueRecovery,
};

/// An order.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OrderDoc {
    pub(crate) cl_ord_id: Option<String>,
    pub(crate) wire_id: Option<String>,
    pub(crate) venue: String,
    pub(crate) account: Option<String>,
    pub(crate) symbol: Option<String>,
    pub(crate) side: Option<&'static str>,
    pub(crate) order_qty: Option<String>,
    pub(crate) price: Option<String>,
    pub(crate) state: &'static str,
    pub(crate) reason: Option<String>,
    pub(crate) order_id: Option<String>,
    pub(crate) cum_qty: Option<String>,
    pub(crate) leaves_qty: Option<String>,
    pub(crate) avg_px: Option<String>,
    pub(crate) strategy: Option<String>,
    pub(crate) decided_at_ms: Option<u64>,
    pub(crate) nonce: Option<u32>,
    pub(crate) attempts: usize,
    pub(crate) version: u64,
    pub(crate) updated_at_ms: Option<u64>,
    pub(crate) foreign: bool,
    pub(crate) watched: bool,
    pub(crate) fills_owed: bool,
    pub(crate) cancel_requested: bool,
}

impl OrderDoc {
    /// An order of the journal.
    pub(crate) fn of(row: &OrderRecord) -> Self {
        let (Amount::Base(asked) | Amount::Quote(asked)) = row.intent.amount;
        // An amended order has the terms that the venue has shown last.
        let terms = row.terms();
        let qty = terms.map_or(asked, |terms| terms.order_qty);
        let price = terms
            .map(|terms| terms.price)
            .or_else(|| row.intent.ord_type.price());
        let decision = &row.intent.decision;
        let key = row
            .attempts
            .first()
            .and_then(|attempt| attempt.keys.first());
        Self {
            cl_ord_id: Some(row.id.to_string()),
            wire_id: key.map(|key| key.as_str().to_owned()),
            venue: row.alias().to_string(),
            account: Some(row.account.to_string()),
            symbol: Some(row.symbol().to_string()),
            side: Some(row.intent.side.as_str()),
            order_qty: Some(qty.to_string()),
            price: price.map(|price| price.to_string()),
            state: row.state.as_str(),
            reason: row.reason.as_ref().map(ToString::to_string),
            order_id: row.order_id().map(ToString::to_string),
            cum_qty: Some(row.cum_qty.to_string()),
            leaves_qty: leaves(row, qty).map(|qty| qty.to_string()),
            avg_px: row.avg_px.map(|price| price.to_string()),
            strategy: Some(decision.strategy.to_string()),
            decided_at_ms: Some(decision.decided_at.as_ms()),
            nonce: Some(decision.nonce),
            attempts: row.attempts.len(),
            version: row.version,
            updated_at_ms: Some(row.updated_at.as_ms()),
            foreign: false,
            watched: row.watch.is_some(),
            fills_owed: row.fills_owed(),
            cancel_requested: row.cancel_requested,
        }
    }

    /// An order that is open at the venue and not in the journal.
    pub(crate) fn foreign(venue: &Alias, report: &ExecReport) -> Self {
        let text = |value: &dyn ToString| value.to_string();
        Self {
            cl_ord_id: None,
            wire_id: report.handle.key.as_ref().map(|key| text(key)),
            venue: venue.to_string(),
            account: None,
            symbol: report.seen.symbol.as_ref().map(|symbol| text(symbol)),
            side: report.seen.side.map(surefill_core::Side::as_str),
            order_qty: report.seen.order_qty.map(|qty| text(&qty)),
            price: report.seen.price.map(|price| text(&price)),
            state: match report.status {
                OrdStatus::Open => match report.cum_qty {
                    Some(qty) if !qty.is_zero() => "partial",
                    Some(_) | None => "acked",
                },
                OrdStatus::Filled => "filled",
                OrdStatus::Canceled => "canceled",
                OrdStatus::Rejected => "rejected",
                OrdStatus::NotShown => "unknown",
            },
            reason: report.reason.as_ref().map(ToString::to_string),
            order_id: report.handle.order_id.as_ref().map(|id| text(id)),
            cum_qty: report.cum_qty.map(|qty| text(&qty)),
            leaves_qty: report
                .seen
                .order_qty
                .zip(report.cum_qty)
                .and_then(|(qty, cum)| qty.checked_sub(cum))
                .map(|qty| text(&qty)),
            avg_px: report.avg_px.map(|price| text(&price)),
            strategy: None,
            decided_at_ms: None,
            nonce: None,
            attempts: 0,
            version: 0,
            updated_at_ms: report.transact_time.map(surefill_core::VenueTime::as_ms),
            foreign: true,
            watched: false,
            fills_owed: false,
            cancel_requested: false,
        }
    }
}

/// What is still open of an order in base units; of a quote amount nobody knows before the end.
fn leaves(row: &OrderRecord, qty: Qty) -> Option<Qty> {
    if row.state.is_terminal() {
        return Some(Qty::ZERO);
    }
    match row.intent.amount {
        Amount::Base(_) => Some(qty.checked_sub(row.cum_qty).unwrap_or(Qty::ZERO)),
        Amount::Quote(_) => None,
    }
}

/// What `place` says.
#[derive(Debug, Serialize)]
pub(crate) struct PlaceDoc {
    pub(crate) order: OrderDoc,
    pub(crate) outcome: &'static str,
}

/// In one word, what is known of an order.
pub(crate) const fn outcome(row: &OrderRecord) -> &'static str {
    if row.state.is_terminal() {
        "done"
    } else if row.state.is_working() {
        "live"
    } else {
        "unknown"
    }
}

/// What `show` says.
#[derive(Debug, Serialize)]
pub(crate) struct ShowDoc {
    pub(crate) order: OrderDoc,
    pub(crate) attempts: Vec<AttemptDoc>,
    pub(crate) transitions: Vec<TransitionDoc>,
    pub(crate) fills: Vec<FillDoc>,
}

/// An attempt.
#[derive(Debug, Serialize)]
pub(crate) struct AttemptDoc {
    pub(crate) n: u32,
    pub(crate) sent_at_ms: u64,
    pub(crate) fence: FenceDoc,
    pub(crate) bytes_sha256: Option<String>,
    pub(crate) outcome: String,
}

/// Until when the venue takes an attempt: milliseconds, a height, or nothing.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum FenceDoc {
    None,
    Ms(u64),
    Height { height: u64 },
}

impl FenceDoc {
    const fn of(fence: Fence) -> Self {
        match fence {
            Fence::None => Self::None,
            Fence::Clock(at) => Self::Ms(at.as_ms()),
            Fence::Height(height) => Self::Height { height },
        }
    }
}

/// The attempts of an order, with the bytes of those that could be read.
pub(crate) fn attempts(
    row: &OrderRecord,
    stored: &[Attempt],
    history: &[Transition],
) -> Vec<AttemptDoc> {
    // What the venue said to the only attempt of an order stands in the log, unless it changed what is known of the attempt.
    let only = (row.attempts.len() == 1)
        .then(|| history.iter().find(|entry| entry.cause != Cause::Placed))
        .flatten();
    let docs = row.attempts.iter().map(|attempt| AttemptDoc {
        n: attempt.no,
        sent_at_ms: attempt.made_at.as_ms(),
        fence: FenceDoc::of(attempt.fence),
        bytes_sha256: stored
            .iter()
            .find(|stored| stored.no == attempt.no)
            .map(|stored| hex::encode(Sha256::digest(&stored.wire))),
        outcome: match (attempt.outcome.is_empty(), only) {
            (true, Some(entry)) => entry.evidence.to_string(),
            _ => attempt.outcome.to_string(),
        },
    });
    docs.collect()
}

/// An entry of an order's log.
#[derive(Debug, Serialize)]
pub(crate) struct TransitionDoc {
    pub(crate) at_ms: u64,
    pub(crate) from: Option<&'static str>,
    pub(crate) to: &'static str,
    pub(crate) cause: &'static str,
    pub(crate) evidence: String,
}

impl TransitionDoc {
    pub(crate) fn of(entry: &Transition) -> Self {
        Self {
            at_ms: entry.at.as_ms(),
            from: entry.from.map(surefill_core::OrdState::as_str),
            to: entry.to.as_str(),
            cause: entry.cause.as_str(),
            evidence: entry.evidence.to_string(),
        }
    }
}

/// A fill.
#[derive(Debug, Serialize)]
pub(crate) struct FillDoc {
    pub(crate) exec_id: String,
    pub(crate) qty: String,
    pub(crate) price: String,
    pub(crate) fee: String,
    pub(crate) fee_currency: String,
    pub(crate) at_ms: u64,
    pub(crate) late: bool,
    pub(crate) settlement: &'static str,
}

/// The fills of an order; those beyond what it ended with are late.
pub(crate) fn fills(row: &OrderRecord, fills: &[Fill]) -> Vec<FillDoc> {
    let mut booked = Qty::ZERO;
    let docs = fills.iter().map(|fill| {
        booked = booked.checked_add(fill.last_qty).unwrap_or(booked);
        FillDoc {
            exec_id: fill.exec_id.to_string(),
            qty: fill.last_qty.to_string(),
            price: fill.last_px.to_string(),
            fee: fill.fee.to_string(),
            fee_currency: fill.fee_currency.to_string(),
            at_ms: fill.transact_time.as_ms(),
            late: row.state.is_terminal() && booked > row.cum_qty,
            settlement: match fill.settlement {
                Settlement::Provisional => "provisional",
                Settlement::Final => "final",
                Settlement::Busted => "busted",
            },
        }
    });
    docs.collect()
}

/// A halt.
#[derive(Debug, Serialize)]
pub(crate) struct HaltDoc {
    pub(crate) scope: String,
    pub(crate) cause: &'static str,
    pub(crate) needs_person: bool,
    pub(crate) since_ms: u64,
    pub(crate) text: String,
}

impl HaltDoc {
    pub(crate) fn of(halt: &Halt) -> Self {
        Self {
            scope: halt.scope.to_string(),
            cause: cause(&halt.cause),
            needs_person: halt.cause.needs_person(),
            since_ms: halt.since.as_ms(),
            text: halt.text.to_string(),
        }
    }

    pub(crate) fn all(halts: &[Halt]) -> Vec<Self> {
        halts.iter().map(Self::of).collect()
    }
}

/// The cause of a halt in one word, as the journal spells it.
const fn cause(cause: &HaltCause) -> &'static str {
    match cause {
        HaltCause::Doubt { .. } => "doubt",
        HaltCause::SecondOrder { .. } => "second_order",
        HaltCause::Surprise { .. } => "surprise",
        HaltCause::TermsDiffer { .. } => "terms_differ",
        HaltCause::LateFill { .. } => "late_fill",
        HaltCause::Refused { .. } => "refused",
        HaltCause::Unreachable => "unreachable",
        HaltCause::JournalWentBack => "journal_went_back",
        HaltCause::UnknownTagged => "unknown_tagged",
        HaltCause::Asked => "asked",
    }
}

/// What `recover` says.
#[derive(Debug, Serialize)]
pub(crate) struct RecoverDoc {
    pub(crate) venues: BTreeMap<String, RecoveredDoc>,
    pub(crate) halts: Vec<HaltDoc>,
}

/// One venue of it.
#[derive(Debug, Serialize)]
pub(crate) struct RecoveredDoc {
    pub(crate) checked: usize,
    pub(crate) found: usize,
    pub(crate) resent: usize,
    pub(crate) given_up: usize,
    pub(crate) unknown: usize,
    pub(crate) foreign: usize,
}

impl RecoverDoc {
    pub(crate) fn of(report: &RecoveryReport) -> Self {
        let venue = |(alias, of): (&Alias, &VenueRecovery)| {
            let doc = RecoveredDoc {
                checked: of.checked,
                found: of.found,
                resent: of.resent,
                given_up: of.given_up,
                unknown: of.unknown,
                foreign: of.foreign,
            };
            (alias.to_string(), doc)
        };
        Self {
            venues: report.venues.iter().map(venue).collect(),
            halts: HaltDoc::all(&report.halts),
        }
    }
}

/// What `cancel-all` says.
#[derive(Debug, Serialize)]
pub(crate) struct CancelAllDoc {
    pub(crate) orders: Vec<OrderDoc>,
}

/// What `halt` and `resume` say.
#[derive(Debug, Serialize)]
pub(crate) struct HaltedDoc {
    /// Those that a resume lifted.
    pub(crate) lifted: Vec<HaltDoc>,
    /// Those in force now.
    pub(crate) halts: Vec<HaltDoc>,
}

/// The ids of orders, as texts.
pub(crate) fn ids(rows: &[OrderRecord]) -> Vec<ClOrdId> {
    rows.iter().map(|row| row.id).collect()
}
