//! A journal that takes nothing any more: cancels go out all the same.

use std::time::Duration;

use tokio::time::Instant;

use super::{Driver, LetGo};
use crate::engine::shared::{Message, Phase};
use crate::engine::{Alert, AmendError};
use crate::{CancelOutcome, Change, OrderRecord, StoreError, Watch};

impl Driver {
    /// A change that the closed journal does not hold: it is told to no caller, cancels go by it, and people hear of its halt.
    pub(super) fn keep_in_mind(&mut self, change: &Change) {
        self.unkept = self.row.apply(change, &change.fills).ok();
        if let Some(halt) = &change.halt {
            self.shared.alert(&Alert::Halted(halt.clone()));
        }
    }

    /// Whether the order, or another one of its intent, is to be canceled.
    pub(super) fn unwanted(&self) -> bool {
        let row = self.as_seen();
        let asked = (row.cancel_requested || self.cancel_owed) && !row.state.is_terminal();
        asked || row.watch == Some(Watch::Surfaced)
    }

    /// The row with what the closed journal does not hold.
    pub(super) fn as_seen(&self) -> &OrderRecord {
        self.unkept.as_ref().unwrap_or(&self.row)
    }

    /// The wait between cancels that nobody can write down.
    pub(super) fn between_cancels(&self) -> Duration {
        self.jittered(self.desk.profile.absence.lag.value().saturating_mul(5))
    }

    /// The journal is closed: nothing is sent but cancels. One that is asked is repeated until the venue says that the order ended,
    /// which nobody can write down any more.
    pub(super) async fn cancels_only(&mut self) {
        let every = self.between_cancels();
        let mut asked = self.unwanted();
        let mut next = Instant::now();
        loop {
            let heard = tokio::select! {
                biased;
                _ = self.phase.wait_for(|phase| *phase != Phase::Running) => return,
                message = self.inbox.recv() => Some(message),
                () = tokio::time::sleep_until(next), if asked => None,
            };
            let message = match heard {
                Some(Some(message)) => message,
                Some(None) => return,
                None => {
                    let outcome = self.desk.venue.cancel(self.as_seen()).await;
                    tracing::info!(id = %self.row.id, ?outcome, "a cancel went out while the journal is closed");
                    asked = !matches!(outcome, CancelOutcome::Canceled(_));
                    next = Instant::now() + every;
                    continue;
                }
            };
            match message {
                Message::Report(_) | Message::Wake | Message::Look => {}
                Message::Amend(asked) => {
                    asked.refuse(AmendError::Journal(StoreError::Closed));
                }
                Message::Amended(answered) => {
                    drop(answered.reply.send(Ok(answered.answer)));
                }
                Message::Cancel(cancel) => {
                    if let Err(LetGo::Stopping) = self.ask_cancel(cancel).await {
                        return;
                    }
                    self.together = None;
                    asked = self.unwanted() || !self.as_seen().state.is_terminal();
                    // One that is durable has not gone out now, any other one has.
                    let wait = if self.row.cancel_requested {
                        Duration::ZERO
                    } else {
                        every
                    };
                    next = Instant::now() + wait;
                }
            }
        }
    }
}
