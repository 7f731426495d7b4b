//! The journal's inbox: what other processes ask of the engine that holds the journal.
//!
//! A request is answered after it was done, so that a crash in between does it once more. Halts and cancels are the same when done
//! twice. A resume is not, because it could lift what was declared since: it is done and answered in one commit.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::CancelError;
use super::shared::Shared;
use crate::{
    Alias, Answer, Halt, HaltCause, Lift, OrderRecord, Request, Requested, StoreError, VenueTime,
};

/// How often the inbox is read.
const PERIOD: Duration = Duration::from_millis(200);

/// How far a request has come that the journal still lists.
#[derive(Clone, Debug)]
pub(crate) enum Progress {
    /// Under way.
    Begun,
    /// Done; the answer is in the journal, or could not be written yet.
    Done(Answer),
}

impl Shared {
    /// Does what was asked while no engine ran, or was left by one that died. Nothing is placed meanwhile.
    pub(crate) async fn do_left_requests(self: &Arc<Self>) -> Result<(), StoreError> {
        for requested in self.journal.store().requests().await? {
            let n = requested.n;
            if let Some(answer) = self.perform(requested).await? {
                self.reply(n, answer).await?;
            }
        }
        Ok(())
    }

    /// One look into the inbox.
    async fn do_requests(self: &Arc<Self>) -> Result<(), StoreError> {
        let waiting = self.journal.store().requests().await?;
        {
            let mut progress = self.requests();
            progress.retain(|n, _| waiting.iter().any(|requested| requested.n == *n));
        }
        // A halt that cannot be made durable holds up halts and resumes, which have an order; nothing holds up a cancel.
        let (mut failed, mut held) = (Ok(()), false);
        for requested in waiting {
            let n = requested.n;
            let known = self.requests().get(&n).cloned();
            let cancels = requested.request.cancels();
            let done = match known {
                Some(Progress::Begun) => Ok(()),
                Some(Progress::Done(answer)) => self.reply(n, answer).await,
                None if held && !cancels => Ok(()),
                None => {
                    let begun = self.begin(requested).await;
                    held |= begun.is_err() && !cancels;
                    begun
                }
            };
            failed = failed.and(done);
        }
        failed
    }

    /// Halts and resumes are done in their order; cancels wait for drivers.
    async fn begin(self: &Arc<Self>, requested: Requested) -> Result<(), StoreError> {
        let n = requested.n;
        match requested.request {
            Request::Cancel { .. } | Request::CancelAll { .. } => {
                self.requests().insert(n, Progress::Begun);
                let shared = Arc::clone(self);
                self.spawn(async move {
                    let done = shared.perform(requested).await;
                    let answered = match done {
                        Ok(Some(answer)) => shared.reply(n, answer).await,
                        Ok(None) => Ok(()),
                        Err(error) => {
                            shared.requests().remove(&n);
                            Err(error)
                        }
                    };
                    if let Err(error) = answered {
                        tracing::warn!(n, %error, "a request could not be answered yet");
                    }
                });
                Ok(())
            }
            Request::Halt { .. } | Request::Resume { .. } | Request::Unreadable => {
                match self.perform(requested).await? {
                    Some(answer) => self.reply(n, answer).await,
                    None => Ok(()),
                }
            }
        }
    }

    /// Does what is asked. `None` where there is nothing to answer: it was answered in the same commit, or is left to the next engine.
    /// An error where it is to be tried again.
    async fn perform(self: &Arc<Self>, requested: Requested) -> Result<Option<Answer>, StoreError> {
        let n = requested.n;
        match requested.request {
            Request::Halt {
                scope,
                who,
                reason,
                at,
            } => {
                let since = self.venue_time_or(&scope.venue, at);
                tracing::info!(n, %scope, who, reason, "another process asks for a halt");
                let text = format!("{who}: {reason}");
                self.halt(Halt::new(scope, HaltCause::Asked, since, text))
                    .await?;
                Ok(Some(Answer::Halted))
            }
            Request::Resume {
                scope,
                who,
                reason,
                at,
                seen,
            } => {
                let at = self.venue_time_or(&scope.venue, at);
                tracing::info!(n, %scope, who, reason, "another process lifts halts");
                let lift = Lift::Asked { n, scope, seen };
                self.lift(&lift, &who, &reason, at).await?;
                Ok(None)
            }
            Request::Cancel { id } => canceled(self.cancel(id).await.map(|row| vec![row])),
            Request::CancelAll { scope } => canceled(self.cancel_all(&scope).await),
            Request::Unreadable => Ok(Some(refused(
                &"the program that holds the journal does not know this request: it is older",
            ))),
        }
    }

    /// Makes an answer durable. Until it is, what was done is kept in mind, so that it is not done again.
    async fn reply(&self, n: i64, answer: Answer) -> Result<(), StoreError> {
        self.requests().insert(n, Progress::Done(answer.clone()));
        let store = self.journal.store();
        self.journal.write(store.answer(n, &answer)).await
    }

    fn venue_time_or(&self, venue: &Alias, at: VenueTime) -> VenueTime {
        let clock = self.desks.get(venue).and_then(|desk| desk.clock.read());
        clock.map_or(at, |reading| reading.now)
    }

    fn requests(&self) -> std::sync::MutexGuard<'_, std::collections::HashMap<i64, Progress>> {
        let requests = self.requests.lock();
        requests.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to a cancel. One that could not be asked is tried again, by this engine or the next: it must not be lost.
fn canceled(asked: Result<Vec<OrderRecord>, CancelError>) -> Result<Option<Answer>, StoreError> {
    match asked {
        Ok(rows) => Ok(Some(Answer::CancelAsked {
            orders: rows.iter().map(|row| row.id).collect(),
        })),
        Err(CancelError::Journal(error)) => Err(error),
        Err(CancelError::ShuttingDown) => Ok(None),
        // It went out, and its driver journals it once there is room.
        Err(error @ (CancelError::NoSuchOrder { .. } | CancelError::NotJournaled { .. })) => {
            Ok(Some(refused(&error)))
        }
    }
}

fn refused(why: &impl std::fmt::Display) -> Answer {
    Answer::Refused {
        text: why.to_string().chars().take(1024).collect(),
    }
}

/// Reads the inbox until the engine stops.
pub(crate) async fn keep_doing_requests(shared: Arc<Shared>) {
    while shared.pause(PERIOD).await {
        if let Err(error) = shared.do_requests().await {
            tracing::warn!(%error, "the inbox could not be worked on in full");
        }
    }
}
