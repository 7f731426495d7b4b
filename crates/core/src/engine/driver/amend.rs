//! Other terms for an order that works: durable first, then sent once, and the answer decided about.

use std::sync::Arc;

use tokio::sync::mpsc::error::SendError;

use super::{Driver, LetGo};
use crate::engine::AmendError;
use crate::engine::shared::{AmendAnswer, AskedAmend, Message};
use crate::{
    Amend, AmendNo, AmendOutcome, AmendRecord, AmendState, Cause, Change, ChangeError, Fence,
    FenceRule, Go, Halt, HaltCause, Journaled, Observation, Step, StoreError, decide,
};

impl Driver {
    /// Makes an amend durable, then lets it be sent beside whatever the driver waits for.
    pub(super) async fn ask_amend(&mut self, asked: AskedAmend) -> Result<(), LetGo> {
        // Another order may have come to be in doubt since, which the commit does not test.
        if !asked.exit
            && let Err(error) = self.shared.check_risk(&self.row)
        {
            asked.refuse(error);
            return Ok(());
        }
        let (amend, no, fence) = loop {
            // What stood when it was checked stands no more: the caller looks again.
            if self.row.terms() != Some(asked.from) {
                asked.refuse(AmendError::Undecided { id: self.row.id });
                return Ok(());
            }
            let (change, record, amend) = self.amend_of(&asked);
            let (no, fence) = (record.no, record.fence);
            let journal = &self.shared.journal;
            match journal.apply_amend(change.clone(), record, amend).await {
                Ok((row, amend)) => {
                    self.committed(row, &change).await;
                    self.publish(false);
                    break (amend, no, fence);
                }
                Err(error) if error.is_conflict() => {
                    if !self.read_again().await? {
                        asked.refuse(AmendError::from_store(self.row.id, error));
                        return Ok(());
                    }
                }
                Err(error) => {
                    let closes = error.closes();
                    asked.refuse(AmendError::from_store(self.row.id, error));
                    return if closes {
                        Err(self.closed(&StoreError::Closed))
                    } else {
                        Ok(())
                    };
                }
            }
        };
        self.send_amend(amend, no, fence, asked);
        Ok(())
    }

    fn amend_of(&self, asked: &AskedAmend) -> (Change, AmendRecord, Amend) {
        let AskedAmend { from, to, at, .. } = *asked;
        let fence = match self.desk.profile.fence {
            FenceRule::Clock { max, .. } => Fence::Clock(at.after(max)),
            FenceRule::None | FenceRule::Height { .. } => Fence::None,
        };
        let no = self
            .row
            .amends
            .last()
            .map_or(1, |last| last.no.saturating_add(1));
        let record = AmendRecord {
            no,
            terms: to,
            asked_at: at,
            fence,
            state: AmendState::Asked,
        };
        let evidence = format_args!(
            "amend {no}: {} at {} instead of {} at {}",
            to.order_qty, to.price, from.order_qty, from.price
        );
        let mut change = Change::of(&self.row, at, Cause::AmendAsked, evidence);
        change.unless_halted = !asked.exit;
        let amend = Amend {
            id: self.row.id,
            symbol: self.row.symbol().clone(),
            order_qty: (to.order_qty != from.order_qty).then_some(to.order_qty),
            price: (to.price != from.price).then_some(to.price),
            at,
        };
        (change, record, amend)
    }

    /// Sends it once, in a task: the answer comes back as a message. Its last check is that of a create, but for the ttl.
    fn send_amend(&self, amend: Journaled<Amend>, no: AmendNo, fence: Fence, asked: AskedAmend) {
        let go = Go::new(
            Arc::clone(&self.desk.clock),
            fence,
            None,
            Arc::clone(&self.stop),
        );
        let desk = Arc::clone(&self.desk);
        let shared = Arc::clone(&self.shared);
        let scope = self.row.account_scope();
        metrics::counter!("surefill_amends_total").increment(1);
        self.shared.spawn(async move {
            let answer = desk.venue.amend(&amend, &go).await;
            tracing::debug!(id = %amend.id, no, ?answer, "amend answered");
            let message = Box::new(AmendAnswer {
                no,
                answer,
                reply: asked.reply,
            });
            // A driver that panicked meanwhile has been replaced.
            let unheard = match shared.driver(amend.id) {
                Some(driver) => match driver.inbox.send(Message::Amended(message)) {
                    Err(SendError(Message::Amended(back))) => Some(back),
                    Ok(()) | Err(SendError(_)) => None,
                },
                None => Some(message),
            };
            // The order ended meanwhile: there is nothing left to decide about it, but the keys may serve others.
            if let Some(AmendAnswer { answer, reply, .. }) = unheard.map(|back| *back) {
                if let AmendOutcome::Rejected(reject) = &answer
                    && reject.halts_account
                {
                    let now = desk.clock.read().map_or(amend.at, |reading| reading.now);
                    let cause = HaltCause::Refused { id: amend.id };
                    let halt = Halt::new(scope, cause, now, &reject.reason);
                    if let Err(error) = shared.halt(halt).await {
                        tracing::error!(id = %amend.id, %error, "a halt could not be made durable");
                    }
                }
                drop(reply.send(Ok(answer)));
            }
        });
    }

    /// Commits what the answer to an amend changes, then tells who asked. Should the journal not take it, the next look finds out;
    /// only a halt is found by no look, so it is owed.
    pub(super) async fn take_amended(&mut self, answered: AmendAnswer) -> Result<(), LetGo> {
        let AmendAnswer { no, answer, reply } = answered;
        while let Some(change) = self.amended(no, &answer) {
            match self.shared.apply(&change).await {
                Ok(row) => {
                    self.committed(row, &change).await;
                    self.publish(false);
                    break;
                }
                Err(error) if error.is_conflict() && self.read_again().await? => {}
                Err(error) => {
                    tracing::warn!(id = %self.row.id, no, %error, "the answer to an amend was not journaled");
                    self.halt_owed = change.halt;
                    break;
                }
            }
        }
        // A caller that is gone asked all the same.
        drop(reply.send(Ok(answer)));
        Ok(())
    }

    /// Makes a halt durable that the journal could not hold before.
    pub(super) async fn pay_halt(&mut self, halt: Halt) -> Result<(), LetGo> {
        match self.shared.halt(halt.clone()).await {
            Ok(()) => Ok(()),
            Err(error) if error.closes() => Err(self.closed(&error)),
            Err(error) => {
                tracing::error!(id = %self.row.id, %error, "a halt is not durable yet");
                self.halt_owed = Some(halt);
                Ok(())
            }
        }
    }

    fn amended(&self, no: AmendNo, answer: &AmendOutcome) -> Option<Change> {
        let at = self.shared.situation(&self.desk, &self.row)?;
        let observation = Observation::Amended { no, answer };
        let profile = &self.desk.profile;
        match decide(&self.row, &self.pursuit, profile, &observation, &at) {
            // Any other change is one that the row wants anyway.
            Step::Advance(change) if change.cause == Cause::AmendAnswer => Some(*change),
            Step::Advance(_)
            | Step::LookAgain { .. }
            | Step::Wait { .. }
            | Step::Replay { .. }
            | Step::NewAttempt
            | Step::Revoke { .. }
            | Step::Cancel
            | Step::Halt { .. }
            | Step::Nothing => None,
        }
    }
}

impl AskedAmend {
    /// Nothing was sent.
    pub(crate) fn refuse(self, error: AmendError) {
        drop(self.reply.send(Err(error)));
    }
}

impl AmendError {
    /// The error of a journal that refused or failed.
    fn from_store(id: crate::ClOrdId, error: StoreError) -> Self {
        if let StoreError::Halted(halt) = error {
            return Self::Halted(halt);
        }
        if matches!(error, StoreError::Change(ChangeError::NoAmend { .. })) {
            return Self::NotWorking { id };
        }
        Self::Journal(error)
    }
}
