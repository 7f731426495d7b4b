//! A cancel that is asked: durable first, and on its way to the venue also when the journal takes nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Driver, LetGo};
use crate::engine::CancelError;
use crate::engine::shared::AskedCancel;
use crate::{CancelOutcome, Cause, Change, StoreError};

impl Driver {
    /// Makes a cancel durable, then answers. Without the journal it goes out all the same.
    pub(super) async fn ask_cancel(
        &mut self,
        AskedCancel { reply, together }: AskedCancel,
    ) -> Result<(), LetGo> {
        let asked = self.journal_cancel().await?;
        let closes = asked.as_ref().is_err_and(StoreError::closes);
        let answer = match asked {
            Ok(()) => {
                // Only what works goes out with others: any other state has steps of its own before a cancel.
                self.together = together.filter(|_| self.row.state.is_working());
                Ok(self.row.clone())
            }
            Err(error) => {
                self.cancel_owed = !closes;
                self.stop.cancel.store(true, Ordering::Release);
                let outcome = self.desk.venue.cancel(&self.row).await;
                tracing::error!(id = %self.row.id, ?outcome, %error, "a cancel went out without the journal");
                Err(CancelError::NotJournaled {
                    id: self.row.id,
                    error,
                })
            }
        };
        // A caller that is gone asked all the same.
        drop(reply.send(answer));
        if closes {
            Err(self.closed(&StoreError::Closed))
        } else {
            Ok(())
        }
    }

    /// Asks the venue once, or hears what it answers where the cancel goes out with others.
    pub(super) async fn cancel(&mut self) -> Result<CancelOutcome, LetGo> {
        let venue = Arc::clone(&self.desk.venue);
        let row = self.row.clone();
        let together = self.together.take();
        self.listening(async move {
            if let Some(together) = together
                && let Ok(outcome) = together.await
            {
                return outcome;
            }
            venue.cancel(&row).await
        })
        .await
    }

    pub(super) async fn journal_cancel(&mut self) -> Result<Result<(), StoreError>, LetGo> {
        loop {
            if self.row.cancel_requested || self.row.state.is_terminal() {
                return Ok(Ok(()));
            }
            let now = self
                .desk
                .clock
                .read()
                .map_or(self.row.updated_at, |reading| reading.now);
            let mut change = Change::of(&self.row, now, Cause::CancelAsked, "asked");
            change.cancel_requested = true;
            match self.shared.journal.apply(change.clone()).await {
                Ok(row) => {
                    self.committed(row, &change).await;
                    self.publish(false);
                }
                Err(error) if error.is_conflict() => {
                    if !self.read_again().await? {
                        return Ok(Err(error));
                    }
                }
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// Journals a cancel that went out without the journal, so that it is repeated like every other.
    pub(super) async fn pay_cancel(&mut self) -> Result<(), LetGo> {
        match self.journal_cancel().await? {
            Ok(()) => self.cancel_owed = false,
            Err(error) if error.closes() => return Err(self.closed(&error)),
            Err(error) => {
                tracing::debug!(id = %self.row.id, %error, "a cancel is not journaled yet")
            }
        }
        Ok(())
    }
}
