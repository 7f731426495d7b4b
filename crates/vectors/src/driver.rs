//! One order and the real decision about it: no clock, no venue, no store. What a venue says is handed in.

use std::collections::HashSet;
use std::time::Duration;

use surefill_core::{
    AccountId, Attempt, AttemptState, Cause, Change, ClOrdId, ExecReport, Fill, HaltCause,
    Observation, OrdState, OrderIntent, OrderRecord, Pursuit, Reading, Situation, Step,
    VenueProfile, VenueTime, decide,
};

use crate::input::Unfit;

/// An order, what this process remembers of it, and the time.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) order: OrderRecord,
    pub(crate) profile: VenueProfile,
    pub(crate) now: VenueTime,
    pursuit: Pursuit,
    fills: Vec<Fill>,
    alarms: Vec<HaltCause>,
}

/// What the order waits for.
#[derive(Debug)]
pub(crate) enum Next {
    /// To be looked up then.
    Look(VenueTime),
    /// To be decided about again then.
    Wake(VenueTime),
    /// The next attempt.
    Send,
    /// A cancel.
    Cancel,
    /// What only some venues have: the same bytes again, or a revocation.
    Other(Step),
    /// What the venue says.
    Nothing,
}

/// Far more steps than any order takes without waiting.
const STEPS: usize = 100;

impl Driver {
    /// An order that was journaled at `at`, and whose attempt was not sent by this process.
    pub(crate) fn new(
        intent: OrderIntent,
        account: AccountId,
        profile: VenueProfile,
        first: &Attempt,
        at: VenueTime,
    ) -> Self {
        let id = ClOrdId::derive(&intent.decision, &account, &intent.symbol, intent.side);
        let state = AttemptState::new(first, at);
        Self {
            order: OrderRecord::new(id, account, intent, state, at),
            profile,
            now: at,
            pursuit: Pursuit::default(),
            fills: Vec::new(),
            alarms: Vec::new(),
        }
    }

    /// This process is about to send.
    pub(crate) fn sending(&mut self) {
        self.pursuit.sending();
    }

    /// The process died, and another goes on from the row.
    pub(crate) fn restart(&mut self) {
        self.pursuit = Pursuit::default();
    }

    /// A fill that was booked before.
    pub(crate) fn booked(&mut self, fill: Fill) {
        self.pursuit.booked([&fill]);
        self.fills.push(fill);
    }

    pub(crate) fn fills(&self) -> &[Fill] {
        &self.fills
    }

    /// Whether a halt was raised, and whether doubt was a cause.
    pub(crate) fn halted(&self) -> (bool, bool) {
        let doubt = |cause: &HaltCause| matches!(cause, HaltCause::Doubt { .. });
        (!self.alarms.is_empty(), self.alarms.iter().any(doubt))
    }

    /// The next attempt is durable, and about to be sent.
    pub(crate) fn sends_again(&mut self, attempt: Attempt) -> Result<(), Unfit> {
        self.sending();
        let mut change = Change::of(&self.order, self.now, Cause::Resent, "again");
        change.next_attempt = Some(attempt);
        self.apply(&change.to(OrdState::Submitted))
    }

    /// A cancel was asked for.
    pub(crate) fn ask_cancel(&mut self) -> Result<(), Unfit> {
        let mut change = Change::of(&self.order, self.now, Cause::CancelAsked, "asked");
        change.cancel_requested = true;
        self.apply(&change)
    }

    pub(crate) fn report(&mut self, report: &ExecReport) -> Result<Next, Unfit> {
        self.see(&Observation::Report(report))
    }

    /// Takes in what was seen, and decides until something has to be waited for.
    pub(crate) fn see(&mut self, seen: &Observation<'_>) -> Result<Next, Unfit> {
        let mut seen = *seen;
        for _ in 0..STEPS {
            let at = self.situation();
            let step = decide(&self.order, &self.pursuit, &self.profile, &seen, &at);
            let (order, profile) = (&self.order, &self.profile);
            self.pursuit.note(order, profile, &seen, &step, &at);
            seen = Observation::Resume;
            match step {
                Step::Advance(change) => self.apply(&change)?,
                Step::Halt { cause, .. } => self.alarms.push(cause),
                Step::LookAgain { after } => return Ok(Next::Look(self.now.after(after))),
                Step::Wait { after } => return Ok(Next::Wake(self.now.after(after))),
                Step::NewAttempt => return Ok(Next::Send),
                Step::Cancel => return Ok(Next::Cancel),
                Step::Nothing => return Ok(Next::Nothing),
                Step::Replay { .. } | Step::Revoke { .. } => return Ok(Next::Other(step)),
            }
        }
        Err(Unfit(format!("it does not settle: {:?}", self.order.state)))
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

    fn apply(&mut self, change: &Change) -> Result<(), Unfit> {
        let booked: HashSet<_> = self.fills.iter().map(|fill| fill.exec_id.clone()).collect();
        let fresh = |fill: &&Fill| !booked.contains(&fill.exec_id);
        let fresh: Vec<Fill> = change.fills.iter().filter(fresh).cloned().collect();
        self.order = self.order.apply(change, &fresh).map_err(Unfit::new)?;
        self.fills.extend(fresh);
        let halts = change.halt.iter().map(|halt| halt.cause.clone());
        self.alarms.extend(halts);
        Ok(())
    }
}
