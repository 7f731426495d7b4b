//! A sequence: the real decision over the adapter's real answers, in virtual time, with the real numbers.
//!
//! A step says from when on the venue answers so; before the first step an endpoint does not answer, and what was said before a
//! send is not said after it. A create happens when the decision wants it, and the steps after it follow at their distance.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Map, Value, json};
use surefill_bybit::outcome::{self, Sent};
use surefill_bybit::{IP_BAN, rows, stream};
use surefill_core::{
    AsOf, CancelOutcome, FenceRule, Key, Lookup, Observation, OrdState, Submission, UnknownCause,
    VenueEvent, VenueTime,
};

use crate::driver::{Driver, Next};
use crate::file::{Case, VectorFile};
use crate::input::{Got, Unfit, list, number, text};

use super::answer::{self, transport_error};
use super::{order, shown, words};

/// How long a sequence goes on after its last step: past the cap of doubt.
const REST: Duration = Duration::from_secs(70);

const LISTS: [&str; 3] = ["realtime", "history", "executions"];

/// Everything that a step may say.
const WORDS: [&str; 9] = [
    "at", "create", "cancel", "ws", "restart", "persist", "crash", "note", "why",
];

/// What the venue answers, by the script.
struct Script<'f> {
    file: &'f VectorFile,
    start: VenueTime,
    key: &'f str,
    steps: VecDeque<&'f Value>,
    creates: VecDeque<Sent>,
    cancels: VecDeque<Sent>,
    lists: BTreeMap<&'static str, Sent>,
    /// How much later than in the file the last create was sent.
    late: Duration,
}

/// What happened on the way, beside the order itself.
#[derive(Default)]
struct Log {
    answers: Vec<Submission>,
    sent_at: Vec<VenueTime>,
    banned: bool,
    /// A list or a push showed the order.
    shown: bool,
}

pub(super) fn run(case: &Case<'_>) -> Result<Got, Unfit> {
    let key = text(case.input, "orderLinkId")?;
    let steps = list(case.input, "steps")?;
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return Err(Unfit::new("a sequence without steps"));
    };
    let mut script = Script {
        file: case.file,
        start: order::start(case.file)?,
        key,
        steps: steps.iter().collect(),
        creates: VecDeque::new(),
        cancels: VecDeque::new(),
        lists: BTreeMap::new(),
        late: Duration::ZERO,
    };
    for step in steps {
        known(step)?;
        if let Some(create) = step.get("create") {
            let sent = script.sent(create)?;
            script.creates.push_back(sent);
        }
    }
    let end = script.instant(last)?.after(REST);
    let mut driver = order::driver(case.file, key)?;
    let mut log = Log::default();
    let mut next = if first.get("create").is_some() {
        send(&mut driver, &mut script, &mut log)?
    } else if first.get("ws").is_some() {
        // A live order, followed until the socket is lost.
        let acked = shown::acked(case.file, key);
        let acked = acked.ok_or_else(|| Unfit(format!("no create of {key} is acknowledged")))?;
        driver.sending();
        answered(&mut driver, &acked, 1)?
    } else {
        // Journaled, and then the process died.
        Next::Nothing
    };
    let mut never_placed = false;
    loop {
        never_placed |= driver.order.state == OrdState::Rejected;
        let step_at = script.due()?;
        let own = match next {
            Next::Look(at) | Next::Wake(at) => Some(at),
            Next::Send | Next::Cancel => Some(driver.now),
            Next::Other(step) => return Err(Unfit(format!("not at this venue: {step:?}"))),
            Next::Nothing => None,
        };
        let Some(at) = step_at.into_iter().chain(own).min() else {
            break;
        };
        if at > end.after(script.late) {
            break;
        }
        driver.now = driver.now.max(at);
        if step_at == Some(at)
            && let Some(step) = script.steps.pop_front()
        {
            if let Some(seen) = play(&mut driver, &mut script, step, &mut log)? {
                next = seen;
            }
            continue;
        }
        next = match next {
            Next::Look(_) => {
                let look = script.look(driver.now);
                log.shown |= matches!(look, Lookup::Found(_));
                driver.see(&Observation::Looked(&look))?
            }
            Next::Wake(_) => driver.see(&Observation::Resume)?,
            Next::Send => send(&mut driver, &mut script, &mut log)?,
            Next::Cancel => {
                let sent = script.cancels.pop_front();
                let answer = sent.map_or_else(
                    || CancelOutcome::Unknown(UnknownCause::new("the script says no more")),
                    |sent| outcome::cancel(&sent, key),
                );
                driver.see(&Observation::CancelAnswer(&answer))?
            }
            Next::Other(_) | Next::Nothing => break,
        };
    }
    if never_placed && driver.order.state != OrdState::Rejected {
        return Err(Unfit::new(
            "the order was taken for never placed on the way",
        ));
    }
    leaves(&driver, &log, key)
}

fn known(step: &Value) -> Result<(), Unfit> {
    let names = step.as_object().into_iter().flat_map(Map::keys);
    let all = WORDS.into_iter().chain(LISTS).collect::<Vec<_>>();
    for name in names {
        if !all.contains(&name.as_str()) {
            return Err(Unfit(format!("unknown step {name:?}")));
        }
    }
    Ok(())
}

impl Script<'_> {
    fn instant(&self, step: &Value) -> Result<VenueTime, Unfit> {
        let at = Duration::from_millis(number(step, "at")?);
        Ok(self.start.after(at))
    }

    /// When the next step happens; `None` where it waits for the decision.
    fn due(&self) -> Result<Option<VenueTime>, Unfit> {
        match self.steps.front() {
            Some(step) if step.get("create").is_none() => {
                Ok(Some(self.instant(step)?.after(self.late)))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// What another case answers, or what became of a send without an answer.
    fn sent(&self, of: &Value) -> Result<Sent, Unfit> {
        let name = of.as_str().unwrap_or_default();
        match self.file.find(name) {
            Some(case) => answer::sent(case.input),
            None if name.contains(' ') => Ok(transport_error(name)),
            None => Err(Unfit(format!("there is no case {of}"))),
        }
    }

    /// One full round, as the adapter makes it: a list that does not answer makes it inconclusive.
    fn look(&self, at: VenueTime) -> Lookup {
        let mut orders = Vec::new();
        let mut fills = Vec::new();
        for list in LISTS {
            let Some(sent) = self.lists.get(list) else {
                // A hit needs no more.
                if orders.is_empty() {
                    return Lookup::Inconclusive(UnknownCause::new(list));
                }
                continue;
            };
            if list == "executions" {
                match rows::fills(sent) {
                    Ok(page) => fills = page.rows,
                    Err(error) => return Lookup::Inconclusive(UnknownCause::new(error)),
                }
                continue;
            }
            match rows::orders(sent) {
                Ok(page) => orders.extend(page.rows),
                Err(error) => return Lookup::Inconclusive(UnknownCause::new(error)),
            }
        }
        let at = AsOf::Clock(at);
        outcome::lookup(self.key, &orders, fills, at, at)
    }
}

fn send(driver: &mut Driver, script: &mut Script<'_>, log: &mut Log) -> Result<Next, Unfit> {
    let (sent, step) = match (script.creates.pop_front(), script.steps.pop_front()) {
        (Some(sent), Some(step)) if step.get("create").is_some() => (sent, step),
        (Some(_) | None, step) => {
            let at = step.map_or_else(|| "the end".to_owned(), ToString::to_string);
            return Err(Unfit(format!("it sends where the file does not: at {at}")));
        }
    };
    script.late = driver.now.since(script.instant(step)?);
    script.lists.clear();
    let no = u32::try_from(log.sent_at.len() + 1).map_err(Unfit::new)?;
    if no == 1 {
        driver.sending();
    } else {
        let next = order::attempt(&driver.profile, no, script.key, driver.now);
        driver.sends_again(next)?;
    }
    log.sent_at.push(driver.now);
    log.banned |= matches!(&sent, Ok(answer) if answer.status() == 403);
    let answer = outcome::submission(&sent, script.key);
    log.answers.push(answer.clone());
    answered(driver, &answer, no)
}

fn answered(driver: &mut Driver, answer: &Submission, no: u32) -> Result<Next, Unfit> {
    driver.see(&Observation::Sent {
        no,
        answer,
        first: true,
    })
}

/// A step of the script; what it makes us wait for, where it is more than another answer.
fn play(
    driver: &mut Driver,
    script: &mut Script<'_>,
    step: &Value,
    log: &mut Log,
) -> Result<Option<Next>, Unfit> {
    for list in LISTS {
        if let Some(answer) = step.get(list) {
            let sent = script.sent(answer)?;
            script.lists.insert(list, sent);
        }
    }
    if step.get("restart").is_some() {
        driver.restart();
        return driver.see(&Observation::Resume).map(Some);
    }
    if let Some(cancel) = step.get("cancel") {
        let sent = script.sent(cancel)?;
        script.cancels.push_back(sent);
        driver.ask_cancel()?;
        return driver.see(&Observation::Resume).map(Some);
    }
    let Some(ws) = step.get("ws") else {
        return Ok(None);
    };
    let name = ws.as_str().unwrap_or_default();
    let Some(frame) = script
        .file
        .find(name)
        .and_then(|case| case.input.get("frame"))
    else {
        if name != "disconnect" && !name.starts_with("reconnect") {
            return Err(Unfit(format!("unknown word {ws}")));
        }
        // Disconnected, or connected again: every driver looks.
        return driver.see(&Observation::Resume).map(Some);
    };
    let said = stream::read(&frame.to_string(), shown::category(frame)).map_err(Unfit::new)?;
    let mut next = None;
    for event in stream::events(said).map_err(Unfit::new)? {
        match event {
            VenueEvent::Report(report) => {
                log.shown = true;
                next = Some(driver.report(&report)?);
            }
            VenueEvent::Fill(..) => return Err(Unfit::new("a sequence pushes a fill")),
        }
    }
    Ok(next)
}

fn leaves(driver: &Driver, log: &Log, key: &str) -> Result<Got, Unfit> {
    let order = &driver.order;
    if let Some(Submission::NotTaken {
        retry_after: Some(asked),
        ..
    }) = log.answers.first()
        && let [first, second, ..] = &log.sent_at[..]
        && second.since(*first) < *asked
    {
        return Err(Unfit::new("it sends again sooner than the venue asks"));
    }
    let (halted, in_doubt) = driver.halted();
    let last = if order.state.is_doubt() && in_doubt {
        "HALT_UNKNOWN"
    } else if halted {
        "HALT"
    } else if order.state == OrdState::Acked && !log.shown {
        // Only acknowledged, and not shown by any list or push.
        "ACKED"
    } else {
        words::state(order.state)
    };
    let same_key = order
        .attempts
        .iter()
        .all(|one| one.keys == [Key::from(key)]);
    let mut got = json!({
        "final": last,
        "sends": log.sent_at.len(),
        "same_orderLinkId": same_key,
        "positions_opened": order.order_ids.len(),
    });
    let leaf = |name: &str, value: Value, got: &mut Value| {
        if let Some(got) = got.as_object_mut() {
            got.insert(name.to_owned(), value);
        }
    };
    if let Some(id) = order.order_id() {
        leaf("order_id", json!(id.as_str()), &mut got);
    }
    if log.banned {
        leaf("rest_pause_ms", json!(IP_BAN.as_millis()), &mut got);
    }
    if let ([first, second, ..], FenceRule::Clock { max, .. }) =
        (&log.sent_at[..], driver.profile.fence)
        && *second > first.after(max).after(driver.profile.absence.margin)
    {
        let rule = "timestamp + recv_window + margin";
        leaf("earliest_resend_rule", json!(rule), &mut got);
    }
    Ok(got.into())
}
