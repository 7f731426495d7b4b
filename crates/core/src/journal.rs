//! The journal: the only maker of [`Journaled`], over any store.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{
    Amend, AmendRecord, Attempt, AttemptNo, Begin, Begun, Change, ClOrdId, OrderRecord, Store,
    StoreError,
};

/// Something that is durable: only [`Journal`] makes it, after the store said yes.
///
/// ```compile_fail,E0451
/// # use surefill_core::{Attempt, Journaled};
/// fn forge(attempt: Attempt) -> Journaled<Attempt> {
///     Journaled { inner: attempt } // the field is private
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journaled<T> {
    inner: T,
}

impl<T> Deref for Journaled<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

/// What became of an intent on its way into the journal.
#[derive(Debug)]
pub enum Entered {
    /// Durable: the row and the attempt that may now be sent.
    Inserted(OrderRecord, Journaled<Attempt>),
    /// The journal holds the id already.
    Exists(OrderRecord),
    /// Refused by a halt or by doubt.
    Refused(crate::Gate),
}

/// A store, with the rule that a failed commit closes it.
#[derive(Clone, Debug)]
pub struct Journal {
    store: Arc<dyn Store>,
    closed: Arc<AtomicBool>,
}

impl Journal {
    /// Opens a journal over a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            closed: Arc::new(AtomicBool::new(false)),
        }
    }

    /// The store, for reads.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Whether a commit has failed, so that nothing may be sent any more.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The same, for the last check before the first byte of a send.
    pub(crate) fn closed_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.closed)
    }

    /// Takes nothing more, so that nothing more is sent, and closes the store.
    ///
    /// # Errors
    /// The store's own; [`StoreError::Closed`] when it was closed before.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Err(StoreError::Closed);
        }
        self.store.close().await
    }

    /// Journals an intent with its first attempt.
    ///
    /// # Errors
    /// [`StoreError`]; a failed commit closes the journal, and the intent may be on disk all the same.
    pub async fn begin(&self, begin: Begin) -> Result<Entered, StoreError> {
        self.check()?;
        let attempt = begin.attempt.clone();
        match self.store.begin(begin).await {
            Ok(Begun::Inserted(row)) => Ok(Entered::Inserted(row, Journaled { inner: attempt })),
            Ok(Begun::Exists(row)) => Ok(Entered::Exists(row)),
            Ok(Begun::Refused(gate)) => Ok(Entered::Refused(gate)),
            Err(error) => Err(self.note(error)),
        }
    }

    /// Commits a change with the durability that it needs.
    ///
    /// # Errors
    /// [`StoreError`]; a conflict means that someone else was first: read again, decide again.
    pub async fn apply(&self, change: Change) -> Result<OrderRecord, StoreError> {
        self.check()?;
        let durability = change.durability();
        self.store
            .apply(change, durability)
            .await
            .map_err(|error| self.note(error))
    }

    /// Commits a change that carries the next attempt, and hands out the attempt for sending.
    ///
    /// # Errors
    /// As [`Self::apply`]; [`StoreError::Halted`] when a declared halt came first.
    pub async fn apply_next(
        &self,
        change: Change,
        attempt: Attempt,
    ) -> Result<(OrderRecord, Journaled<Attempt>), StoreError> {
        let change = Change {
            next_attempt: Some(attempt.clone()),
            ..change
        };
        let row = self.apply(change).await?;
        Ok((row, Journaled { inner: attempt }))
    }

    /// Commits a change that asks for other terms, and hands out the request for sending.
    ///
    /// # Errors
    /// As [`Self::apply_next`]; [`crate::ChangeError::NoAmend`] when the row does not allow it.
    pub async fn apply_amend(
        &self,
        change: Change,
        asked: AmendRecord,
        request: Amend,
    ) -> Result<(OrderRecord, Journaled<Amend>), StoreError> {
        let change = Change {
            amend: Some(asked),
            ..change
        };
        let row = self.apply(change).await?;
        Ok((row, Journaled { inner: request }))
    }

    /// A journaled attempt, read back with its bytes.
    ///
    /// # Errors
    /// [`StoreError::Read`], or [`StoreError::NoSuchOrder`] when there is no such attempt.
    pub async fn attempt(
        &self,
        id: ClOrdId,
        no: AttemptNo,
    ) -> Result<Journaled<Attempt>, StoreError> {
        let attempt = self.store.attempt(id, no).await?;
        attempt
            .map(|inner| Journaled { inner })
            .ok_or(StoreError::NoSuchOrder { id })
    }

    /// Runs a write that is no change of an order, under the same rule.
    ///
    /// # Errors
    /// The write's own.
    pub async fn write<T>(
        &self,
        write: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        self.check()?;
        write.await.map_err(|error| self.note(error))
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.is_closed() {
            Err(StoreError::Closed)
        } else {
            Ok(())
        }
    }

    fn note(&self, error: StoreError) -> StoreError {
        if error.closes() && !self.closed.swap(true, Ordering::AcqRel) {
            tracing::error!(%error, "the journal is closed: nothing more is placed, cancels still go out");
        }
        error
    }
}
