//! What the log of a journal must show: nothing was sent under a halt, and nothing that was not journaled.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use surefill_core::{Cause, Halt, OrderRecord, Store, Transition, VenueTime};
use surefill_store_sqlite::{Lifted, SqliteStore};

use crate::simulated::Simulated;
use crate::stage::Stage;

/// A halt that was decided while an entry was on its way into the journal may be older than it.
const RACE: Duration = Duration::from_millis(100);

/// Over the whole of the log: nothing was placed under a halt of its scope, and nothing sent again under one that needs a person.
pub(crate) fn no_send_under_a_halt(
    rows: &[OrderRecord],
    logs: &BTreeMap<String, Vec<Transition>>,
    lifted: &[Lifted],
    stand: &[Halt],
) {
    let ended = lifted.iter().map(|lifted| (&lifted.halt, Some(lifted.at)));
    let halts: Vec<(&Halt, Option<VenueTime>)> =
        ended.chain(stand.iter().map(|halt| (halt, None))).collect();
    for row in rows {
        for step in &logs[&row.intent.decision.strategy.to_string()] {
            let covers = |(halt, until): &&(&Halt, Option<VenueTime>)| {
                let scope = &halt.scope;
                scope.covers(row.alias(), &row.account, row.symbol())
                    && step.at > halt.since.after(RACE)
                    && until.is_none_or(|until| step.at < until)
            };
            let under = match step.cause {
                Cause::Placed | Cause::AmendAsked => halts.iter().find(covers),
                Cause::Resent | Cause::Replayed => {
                    let declared = halts.iter().filter(|(halt, _)| halt.cause.needs_person());
                    declared.clone().find(covers)
                }
                _ => None,
            };
            let passes = step.cause == Cause::AmendAsked && keeps_its_price(&step.evidence);
            assert!(under.is_none() || passes, "sent under {under:?}: {step:?}");
        }
    }
}

/// Whether an amend, as the log words it, asks for another quantity only: less of it passes halts.
fn keeps_its_price(evidence: &str) -> bool {
    let price = |terms: &str| terms.rsplit(" at ").next().map(str::to_owned);
    let both = evidence.split_once(" instead of ");
    both.is_some_and(|(to, from)| price(to) == price(from))
}

/// The bytes of every create that the venue was asked for are those of an attempt in the journal.
pub(crate) async fn each_create_was_journaled<V: Simulated>(
    stage: &Stage<V>,
    store: &SqliteStore,
    rows: &[OrderRecord],
) {
    let mut journaled = BTreeSet::new();
    for row in rows {
        for attempt in &row.attempts {
            let stored = store.attempt(row.id, attempt.no).await.expect("read");
            let wire = stored.expect("an attempt").wire;
            let wire = String::from_utf8(wire).expect("text");
            // Two lines say who signs for whom, or where it goes.
            let body = wire.splitn(3, '\n').nth(2).expect("a body");
            journaled.insert(sha256(body.as_bytes()));
        }
    }
    for request in stage.requests("create").await {
        // A connection that is refused brings no bytes, and a frame of the trade socket holds more than the body.
        if let (Some("POST"), Some(sent)) =
            (request["method"].as_str(), request["body_sha256"].as_str())
        {
            assert!(journaled.contains(sent), "not journaled: {request}");
        }
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
