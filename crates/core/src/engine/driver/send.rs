//! What leaves for the venue: first sends, replays, new attempts, revocations. Each is durable before its first byte.

use std::sync::Arc;
use std::time::Duration;

use super::{Committed, Driver, LetGo, Seen};
use crate::engine::desk::TicketError;
use crate::{
    Attempt, AttemptNo, Cause, Change, Copies, Go, Journaled, Mark, OrdState, StoreError,
    Submission,
};

impl Driver {
    /// Sends a journaled attempt once.
    pub(super) async fn send(&mut self, attempt: Journaled<Attempt>, first: bool) -> Seen {
        let stale_at = (!self.row.land).then(|| self.row.intent.stale_at());
        let go = Go::new(
            Arc::clone(&self.desk.clock),
            attempt.fence,
            stale_at,
            Arc::clone(&self.stop),
        );
        self.pursuit.sending();
        let no = attempt.no;
        let venue = Arc::clone(&self.desk.venue);
        metrics::counter!("surefill_sends_total").increment(1);
        let answer = self
            .listening(async move { venue.submit(&attempt, &go).await })
            .await;
        let answer = match answer {
            Ok(answer) => answer,
            // The send was under way: that it is not awaited any more says nothing about its bytes.
            Err(LetGo::Stopping | LetGo::JournalClosed) => {
                Submission::Unknown(crate::UnknownCause::new("its answer was not awaited"))
            }
        };
        tracing::debug!(id = %self.row.id, no, ?answer, "answered");
        Seen::Sent { no, answer, first }
    }

    /// Sends stored bytes again.
    pub(super) async fn replay(&mut self, no: AttemptNo) -> Result<Seen, LetGo> {
        let copies = self.row.attempt(no).map(|attempt| attempt.copies);
        let attempt = match self.shared.journal.attempt(self.row.id, no).await {
            Ok(attempt) => attempt,
            Err(error) => return self.unread(&error),
        };
        // The read may have taken its time, and no commit tests the halts of a copy that is known to be out.
        let at = self.shared.situation(&self.desk, &self.row);
        if at.is_none_or(|at| at.entries_halted) {
            return Ok(Seen::Resume);
        }
        // That a copy leaves again is durable first, unless the row says so already.
        if self.row.state == OrdState::Pending || copies != Some(Copies::Loose) {
            let now = self
                .desk
                .clock
                .read()
                .map_or(self.row.updated_at, |reading| reading.now);
            let change = Change::of(
                &self.row,
                now,
                Cause::Replayed,
                format_args!("attempt {no} again"),
            );
            let mut change = change.mark(no, Mark::Loose);
            if self.row.state == OrdState::Pending {
                change = change.to(OrdState::Submitted);
            }
            change.unless_halted = !self.desk.is_exit(&self.row.intent);
            let version = self.row.version;
            let committed = self.commit(change, false).await?;
            if committed != Committed::Yes || self.row.version != version.saturating_add(1) {
                return Ok(Seen::Resume);
            }
        }
        let first = copies == Some(Copies::None);
        Ok(self.send(attempt, first).await)
    }

    /// Builds, journals and sends the next attempt.
    pub(super) async fn new_attempt(&mut self) -> Result<Seen, LetGo> {
        let no = self
            .row
            .last_attempt()
            .map_or(0, |attempt| attempt.no)
            .saturating_add(1);
        let desk = Arc::clone(&self.desk);
        let intent = self.row.intent.clone();
        let ticket = self
            .listening(async move { desk.ticket(&intent, no).await })
            .await?;
        let ticket = match ticket {
            Ok(ticket) => ticket,
            Err(TicketError::Venue(error)) => return Ok(self.hold_back(&error)),
            Err(TicketError::Journal(error)) if error.closes() => return Err(self.closed(&error)),
            Err(TicketError::Journal(error)) => return Ok(self.hold_back(&error)),
        };
        let attempt = match self
            .desk
            .venue
            .prepare(&self.row.id, &self.row.intent, &ticket)
        {
            Ok(attempt) => attempt,
            Err(error) => return Ok(self.hold_back(&error)),
        };
        // What was heard meanwhile may forbid it: the commit tests that again.
        let change = Change::of(
            &self.row,
            ticket.now,
            Cause::Resent,
            format_args!("attempt {no}"),
        );
        let mut change = change.to(OrdState::Submitted);
        change.unless_halted = !self.desk.is_exit(&self.row.intent);
        match self
            .shared
            .journal
            .apply_next(change.clone(), attempt)
            .await
        {
            Ok((row, attempt)) => {
                self.committed(row, &change).await;
                self.publish(false);
                metrics::counter!("surefill_resends_total").increment(1);
                Ok(self.send(attempt, true).await)
            }
            Err(error) if error.closes() => Err(self.closed(&error)),
            Err(error) => {
                tracing::debug!(id = %self.row.id, %error, "the next attempt was not journaled");
                // A row that cannot be read either conflicts again.
                self.read_again().await?;
                Ok(self.hold_back(&error))
            }
        }
    }

    /// Nothing is sent again for a moment.
    pub(super) fn hold_back(&mut self, error: &dyn std::error::Error) -> Seen {
        tracing::warn!(id = %self.row.id, %error, "the next attempt could not be made");
        if let Some(reading) = self.desk.clock.read() {
            self.pursuit
                .hold_until(reading.now.after(Duration::from_millis(500)));
        }
        Seen::Resume
    }

    /// Stored bytes that could not be read: later, unless the journal is closed.
    pub(super) fn unread(&mut self, error: &StoreError) -> Result<Seen, LetGo> {
        if error.closes() {
            return Err(self.closed(error));
        }
        Ok(self.hold_back(error))
    }

    pub(super) async fn revoke(&mut self, no: AttemptNo) -> Result<Seen, LetGo> {
        // That it was asked was durable once: since then another order's commit may have closed the journal.
        if self.shared.journal.is_closed() {
            return Err(self.closed(&StoreError::Closed));
        }
        let attempt = match self.shared.journal.attempt(self.row.id, no).await {
            Ok(attempt) => attempt,
            Err(error) => return self.unread(&error),
        };
        let venue = Arc::clone(&self.desk.venue);
        let answer = self
            .listening(async move { venue.revoke(&attempt).await })
            .await?;
        Ok(Seen::Revoked { no, answer })
    }
}
