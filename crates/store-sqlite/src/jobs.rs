//! Jobs of the writer: each is run in a group, perhaps again on its own, and answered after its commit.

use surefill_core::StoreError;
use tokio::sync::oneshot;

use crate::desk::Desk;
use crate::error::Fault;

/// One job. It may be run more than once, each time after a rollback.
pub(crate) trait Job: Send {
    /// Whether its commit must wait for the disk.
    fn sync(&self) -> bool;

    /// Does the work. A refusal is kept for the answer; an error spoils the group.
    fn run(&mut self, desk: &mut Desk) -> Result<(), rusqlite::Error>;

    /// Tells the caller; `failed` is why there was no commit.
    fn answer(self: Box<Self>, failed: Option<StoreError>);
}

/// A job, its outcome and who waits for it.
pub(crate) struct Ask<T, F> {
    sync: bool,
    work: F,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Ask<T, F>
where
    T: Send,
    F: FnMut(&mut Desk) -> Result<T, Fault> + Send,
{
    pub(crate) const fn new(
        sync: bool,
        work: F,
        reply: oneshot::Sender<Result<T, StoreError>>,
    ) -> Self {
        Self {
            sync,
            work,
            outcome: None,
            reply,
        }
    }
}

impl<T, F> Job for Ask<T, F>
where
    T: Send,
    F: FnMut(&mut Desk) -> Result<T, Fault> + Send,
{
    fn sync(&self) -> bool {
        self.sync
    }

    fn run(&mut self, desk: &mut Desk) -> Result<(), rusqlite::Error> {
        self.outcome = Some(match (self.work)(desk) {
            Ok(done) => Ok(done),
            Err(Fault::Refused(error)) => Err(error),
            Err(Fault::Broken(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, failed: Option<StoreError>) {
        let outcome = match failed {
            Some(error) => Err(error),
            None => self.outcome.unwrap_or(Err(StoreError::Closed)),
        };
        // Whoever asked may have stopped waiting; the work is done all the same.
        drop(self.reply.send(outcome));
    }
}
