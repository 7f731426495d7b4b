//! The sequences of the shared file: the real decision over the adapter's real answers, in virtual time, with the real numbers.
//!
//! A step says from when on the venue answers so; before the first step an endpoint does not answer, and what was said before a
//! send is not said after it. A create happens when the decision wants it, and the steps after it follow at their distance.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use surefill_bybit::outcome::{self, Sent};
use surefill_bybit::{Bybit, Category, rows, sign, stream};
use surefill_core::{
    AsOf, Attempt, AttemptState, CancelOutcome, Cause, Change, Connect, ExecReport, Fence, Fill,
    HaltCause, Key, Lookup, Observation, OrdState, OrderRecord, Pursuit, Reading, Situation, Step,
    Submission, UnknownCause, VenueEvent, VenueProfile, VenueTime, decide,
};

use crate::server::{NOW, keys};
use crate::vectors::{Leaves, cases, file, ms, sent, text, transport_error};
use crate::world::{account, cl_ord_id, intent};

const WINDOW: Duration = Duration::from_secs(5);

/// One order and what drives it: no clock, no venue, no store.
pub(crate) struct Driver {
    pub(crate) order: OrderRecord,
    pursuit: Pursuit,
    profile: VenueProfile,
    now: VenueTime,
    fills: Vec<Fill>,
    alarms: Vec<HaltCause>,
    sent_at: Vec<VenueTime>,
}

/// What the driver waits for.
enum Next {
    Look(VenueTime),
    Wake(VenueTime),
    Send,
    Cancel,
    Nothing,
}

impl Driver {
    pub(crate) fn new(key: &str, at: VenueTime) -> Self {
        let attempt = attempt(1, key, at);
        let state = AttemptState::new(&attempt, at);
        Self {
            order: OrderRecord::new(cl_ord_id(), account(), intent(), state, at),
            pursuit: Pursuit::default(),
            profile: Bybit::mainnet(keys()).profile(),
            now: at,
            fills: Vec::new(),
            alarms: Vec::new(),
            sent_at: Vec::new(),
        }
    }

    fn situation(&self) -> Situation {
        Situation {
            now: Reading {
                now: self.now,
                error: Duration::ZERO,
            },
            height: None,
            lease: true,
            entries_halted: false,
            alarms: self.alarms.clone(),
        }
    }

    fn apply(&mut self, change: &Change) {
        let booked: HashSet<_> = self.fills.iter().map(|fill| fill.exec_id.clone()).collect();
        let fresh: Vec<Fill> = change
            .fills
            .iter()
            .filter(|fill| !booked.contains(&fill.exec_id))
            .cloned()
            .collect();
        self.order = self.order.apply(change, &fresh).expect("a legal change");
        self.fills.extend(fresh);
        self.alarms
            .extend(change.halt.iter().map(|halt| halt.cause.clone()));
    }

    /// Takes in what was seen, and decides until something has to be waited for.
    fn see(&mut self, seen: &Observation<'_>) -> Next {
        let mut seen = *seen;
        for _ in 0..100 {
            let at = self.situation();
            let step = decide(&self.order, &self.pursuit, &self.profile, &seen, &at);
            let (order, profile) = (&self.order, &self.profile);
            self.pursuit.note(order, profile, &seen, &step, &at);
            seen = Observation::Resume;
            match step {
                Step::Advance(change) => self.apply(&change),
                Step::Halt { cause, .. } => self.alarms.push(cause),
                Step::LookAgain { after } => return Next::Look(self.now.after(after)),
                Step::Wait { after } => return Next::Wake(self.now.after(after)),
                Step::NewAttempt => return Next::Send,
                Step::Cancel => return Next::Cancel,
                Step::Nothing => return Next::Nothing,
                Step::Replay { .. } | Step::Revoke { .. } => panic!("not at this venue: {step:?}"),
            }
        }
        panic!("it does not settle: {:?}", self.order);
    }

    pub(crate) fn report(&mut self, report: &ExecReport) {
        self.see(&Observation::Report(report));
    }

    /// The order as it was left by reports, no send of ours on its way.
    pub(crate) fn settled_by(key: &str, report: &ExecReport) -> Self {
        let mut driver = Self::new(key, VenueTime::from_ms(NOW));
        driver.pursuit.sending();
        driver.report(report);
        driver
    }

    pub(crate) fn booked(&mut self, fill: &Fill) {
        self.pursuit.booked([fill]);
        self.fills.push(fill.clone());
    }

    pub(crate) fn fills(&self) -> &[Fill] {
        &self.fills
    }

    fn sends(&mut self, no: u32, key: &str) {
        self.pursuit.sending();
        if no > 1 {
            let mut change = Change::of(&self.order, self.now, Cause::Resent, "again");
            change.next_attempt = Some(attempt(no, key, self.now));
            self.apply(&change.to(OrdState::Submitted));
        }
        self.sent_at.push(self.now);
    }
}

fn attempt(no: u32, key: &str, at: VenueTime) -> Attempt {
    Attempt {
        no,
        format: "bybit.create.1".into(),
        wire: Vec::new(),
        keys: vec![Key::from(key)],
        fence: Fence::Clock(sign::fence(at, WINDOW)),
        replayable: false,
        revocable: false,
        rebuildable: true,
    }
}

fn instant(step: &Value) -> VenueTime {
    VenueTime::from_ms(NOW + ms(&step["at"]))
}

/// What the venue answers, by the script.
struct Script<'v> {
    cases: &'v [Value],
    key: &'v str,
    steps: VecDeque<&'v Value>,
    creates: VecDeque<Sent>,
    cancels: VecDeque<Sent>,
    lists: BTreeMap<&'static str, Sent>,
    /// How much later than in the file the last create was sent.
    late: Duration,
}

const LISTS: [&str; 3] = ["realtime", "history", "executions"];

impl<'v> Script<'v> {
    /// When the next step happens; `None` where it waits for the decision.
    fn due(&self) -> Option<VenueTime> {
        let step = self
            .steps
            .front()
            .filter(|step| step.get("create").is_none())?;
        Some(instant(step).after(self.late))
    }

    fn sent(&self, of: &Value) -> Sent {
        let name = text(of);
        let case = self.cases.iter().find(|case| text(&case["id"]) == name);
        case.map_or_else(|| transport_error(name), |case| sent(&case["input"]))
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
                fills = rows::fills(sent).expect("executions").rows;
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

#[test]
fn every_sequence_ends_as_the_file_says() {
    let file = file();
    let mut count = 0;
    for case in cases(&file)
        .iter()
        .filter(|case| case["kind"] == "sequence")
    {
        let mut leaves = Leaves::of(case, file["not_checked"].as_array().expect("names"));
        run(cases(&file), &case["input"], &mut leaves);
        leaves.done();
        count += 1;
    }
    assert_eq!(count, 13);
}

fn run(cases: &[Value], input: &Value, leaves: &mut Leaves) {
    let key = text(&input["orderLinkId"]);
    let steps = input["steps"].as_array().expect("steps");
    let start = VenueTime::from_ms(NOW);
    let mut script = Script {
        cases,
        key,
        steps: steps.iter().collect(),
        creates: VecDeque::new(),
        cancels: VecDeque::new(),
        lists: BTreeMap::new(),
        late: Duration::ZERO,
    };
    for step in steps {
        if let Some(create) = step.get("create") {
            let sent = script.sent(create);
            script.creates.push_back(sent);
        }
    }
    let last = instant(&steps[steps.len() - 1]).after(Duration::from_secs(70));
    let mut driver = Driver::new(key, start);
    let mut answers = Vec::new();
    let mut next = if !script.creates.is_empty() {
        send(&mut driver, &mut script, &mut answers)
    } else if steps[0].get("ws").is_some() {
        // A live order, followed until the socket is lost.
        let order_id = script.sent(&json!("http-create-01"));
        let acked = outcome::submission(&order_id, key);
        driver.pursuit.sending();
        let seen = Observation::Sent {
            no: 1,
            answer: &acked,
            first: true,
        };
        driver.see(&seen)
    } else {
        // Journaled, and then the process died.
        Next::Nothing
    };
    let mut never_placed = false;
    loop {
        never_placed |= driver.order.state == OrdState::Rejected;
        let step_at = script.due();
        let own = match next {
            Next::Look(at) | Next::Wake(at) => Some(at),
            Next::Send | Next::Cancel => Some(driver.now),
            Next::Nothing => None,
        };
        let Some(at) = step_at.into_iter().chain(own).min() else {
            break;
        };
        if at > last.after(script.late) {
            break;
        }
        driver.now = driver.now.max(at);
        if step_at == Some(at) {
            let step = script.steps.pop_front().expect("a step");
            if let Some(seen) = play(&mut driver, &mut script, step) {
                next = seen;
            }
            continue;
        }
        next = match next {
            Next::Look(_) => {
                let look = script.look(driver.now);
                driver.see(&Observation::Looked(&look))
            }
            Next::Wake(_) => driver.see(&Observation::Resume),
            Next::Send => send(&mut driver, &mut script, &mut answers),
            Next::Cancel => {
                let sent = script.cancels.pop_front();
                let answer = sent.map_or_else(
                    || CancelOutcome::Unknown(UnknownCause::new("the script says no more")),
                    |sent| outcome::cancel(&sent, key),
                );
                driver.see(&Observation::CancelAnswer(&answer))
            }
            Next::Nothing => unreachable!("it has no instant"),
        };
    }
    expect(&driver, &answers, key, never_placed, leaves);
}

fn send(driver: &mut Driver, script: &mut Script<'_>, answers: &mut Vec<Submission>) -> Next {
    let no = u32::try_from(driver.sent_at.len()).expect("few") + 1;
    let sent = script
        .creates
        .pop_front()
        .expect("no more sends than the file has");
    let step = script.steps.pop_front().expect("a step");
    assert!(
        step.get("create").is_some(),
        "the file has no send here: {step}"
    );
    script.late = driver.now.since(instant(step));
    script.lists.clear();
    driver.sends(no, script.key);
    let answer = outcome::submission(&sent, script.key);
    answers.push(answer.clone());
    driver.see(&Observation::Sent {
        no,
        answer: &answer,
        first: true,
    })
}

/// A step of the script; what it makes us wait for, where it is more than another answer.
fn play(driver: &mut Driver, script: &mut Script<'_>, step: &Value) -> Option<Next> {
    for list in LISTS {
        if let Some(answer) = step.get(list) {
            let sent = script.sent(answer);
            script.lists.insert(list, sent);
        }
    }
    if step.get("restart").is_some() {
        driver.pursuit = Pursuit::default();
        return Some(driver.see(&Observation::Resume));
    }
    if let Some(cancel) = step.get("cancel") {
        let sent = script.sent(cancel);
        script.cancels.push_back(sent);
        let mut change = Change::of(&driver.order, driver.now, Cause::CancelAsked, "asked");
        change.cancel_requested = true;
        driver.apply(&change);
        return Some(driver.see(&Observation::Resume));
    }
    let name = text(step.get("ws")?);
    let Some(case) = script.cases.iter().find(|case| text(&case["id"]) == name) else {
        // Disconnected, or connected again: every driver looks.
        return Some(driver.see(&Observation::Resume));
    };
    let said = stream::read(&case["input"]["frame"].to_string(), Category::Linear).expect("read");
    let mut next = None;
    for event in stream::events(said).expect("events") {
        match event {
            VenueEvent::Report(report) => next = Some(driver.see(&Observation::Report(&report))),
            VenueEvent::Fill(..) => panic!("no sequence pushes a fill"),
        }
    }
    next
}

fn expect(
    driver: &Driver,
    answers: &[Submission],
    key: &str,
    never_placed: bool,
    leaves: &mut Leaves,
) {
    let order = &driver.order;
    leaves.check_if("sends", || json!(driver.sent_at.len()));
    leaves.check_if("same_orderLinkId", || {
        json!(order.attempts.iter().all(|a| a.keys == [Key::from(key)]))
    });
    leaves.check_if("order_id", || {
        json!(order.order_id().expect("an id").as_str())
    });
    leaves.check_if("positions_opened", || json!(order.order_ids.len()));
    if leaves.has("earliest_resend_rule") {
        assert_eq!(
            leaves.take("earliest_resend_rule"),
            "timestamp + recv_window + margin"
        );
        let margin = driver.profile.absence.margin;
        let earliest = driver.sent_at[0].after(WINDOW).after(margin);
        assert!(driver.sent_at[1] > earliest);
    }
    leaves.check_if("rest_pause_ms", || {
        json!(surefill_bybit::IP_BAN.as_millis())
    });
    if let Some(Submission::NotTaken { retry_after, .. }) = answers.first() {
        let wait = driver.sent_at[1].since(driver.sent_at[0]);
        assert!(wait >= retry_after.expect("a wait"), "{wait:?}");
    }
    let halted = driver
        .alarms
        .iter()
        .any(|alarm| matches!(alarm, HaltCause::Doubt { .. }));
    assert!(!never_placed || order.state == OrdState::Rejected);
    let last = leaves.take("final");
    let holds = match text(&last) {
        "OPEN" | "ACKED" => order.state == OrdState::Acked && !halted,
        "FILLED" => {
            order.state == OrdState::Filled
                && !halted
                && order.cum_qty == "0.030".parse().expect("qty")
        }
        "HALT_UNKNOWN" => order.state.is_doubt() && halted,
        other => panic!("unknown word {other}"),
    };
    let marks: Vec<&str> = order.attempts.iter().map(|a| &*a.outcome).collect();
    assert!(
        holds,
        "{}: {last}: {:?} {:?} {marks:?}",
        leaves.case, order.state, driver.alarms
    );
}
