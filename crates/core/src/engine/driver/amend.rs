//! Other terms for an order that works: durable first, then sent once, and the answer decided about.

use std::sync::Arc;

use super::{Driver, LetGo};
use crate::engine::AmendError;
use crate::engine::shared::{AmendAnswer, AskedAmend, Message};
use crate::{
    Amend, AmendNo, AmendOutcome, AmendRecord, AmendState, Cause, Change, ChangeError, Fence,
    FenceRule, HeldBack, Journaled, NotSent, Observation, Step, StoreError, decide,
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
        let (amend, no) = loop {
            // What stood when it was checked stands no more: the caller looks again.
            if self.row.terms() != Some(asked.from) {
                asked.refuse(AmendError::Undecided { id: self.row.id });
                return Ok(());
            }
            let (change, record, amend) = self.amend_of(&asked);
            let no = record.no;
            let journal = &self.shared.journal;
            match journal.apply_amend(change.clone(), record, amend).await {
                Ok((row, amend)) => {
                    self.committed(row, &change).await;
                    self.publish(false);
                    break (amend, no);
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
        self.send_amend(amend, no, asked);
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

    /// Sends it once, in a task: the answer comes back as a message.
    fn send_amend(&self, amend: Journaled<Amend>, no: AmendNo, asked: AskedAmend) {
        let venue = Arc::clone(&self.desk.venue);
        let journal = self.shared.journal.clone();
        let driver = self.shared.driver(self.row.id);
        metrics::counter!("surefill_amends_total").increment(1);
        self.shared.spawn(async move {
            // Another order's commit may have closed the journal since.
            let answer = if journal.is_closed() {
                AmendOutcome::NotSent(NotSent::HeldBack(HeldBack::JournalClosed))
            } else {
                venue.amend(&amend).await
            };
            tracing::debug!(id = %amend.id, no, ?answer, "amend answered");
            let message = AmendAnswer {
                no,
                answer: answer.clone(),
                reply: asked.reply,
            };
            let Some(driver) = driver else {
                return;
            };
            // The order ended meanwhile: there is nothing left to decide.
            if let Err(back) = driver.inbox.send(Message::Amended(Box::new(message)))
                && let Message::Amended(back) = back.0
            {
                drop(back.reply.send(Ok(answer)));
            }
        });
    }

    /// Commits what the answer to an amend changes, then tells who asked. Should the journal not take it, the next look finds out.
    pub(super) async fn take_amended(&mut self, answered: AmendAnswer) -> Result<(), LetGo> {
        let AmendAnswer { no, answer, reply } = answered;
        while let Some(change) = self.amended(no, &answer) {
            match self.shared.journal.apply(change.clone()).await {
                Ok(row) => {
                    self.committed(row, &change).await;
                    self.publish(false);
                    break;
                }
                Err(error) if error.is_conflict() && self.read_again().await? => {}
                Err(error) => {
                    tracing::warn!(id = %self.row.id, no, %error, "the answer to an amend was not journaled");
                    break;
                }
            }
        }
        // A caller that is gone asked all the same.
        drop(reply.send(Ok(answer)));
        Ok(())
    }

    fn amended(&self, no: AmendNo, answer: &AmendOutcome) -> Option<Change> {
        let at = self.shared.situation(&self.desk, &self.row)?;
        let observation = Observation::Amended { no, answer };
        let profile = &self.desk.profile;
        match decide(&self.row, &self.pursuit, profile, &observation, &at) {
            // Any other change is one that the row wants anyway.
            Step::Advance(change) if change.amended.is_some() => Some(*change),
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
