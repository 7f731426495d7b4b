//! What SQLite's errors mean for a journal.

use std::sync::Arc;

use rusqlite::ErrorCode;
use surefill_core::StoreError;

/// Why a job did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Fault {
    /// By a rule, found before the job wrote anything: the group goes on.
    Refused(StoreError),
    /// By the database: the group is rolled back.
    Broken(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

/// What kind of trouble an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No room. What was not committed is rolled back, and a later commit may succeed.
    Full,
    /// Another process holds the write lock for too long.
    Busy,
    /// The file does not hold what it should.
    Damaged,
    /// Anything else: what the disk holds is not known.
    Other,
}

pub(crate) fn kind(error: &rusqlite::Error) -> Kind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Kind::Full,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Kind::Busy,
        // A constraint holds by construction, a table exists since the journal was made.
        Some(
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::Unknown,
        )
        | None => Kind::Damaged,
        Some(_) => Kind::Other,
    }
}

/// The error of a read.
pub(crate) fn reading(error: rusqlite::Error) -> StoreError {
    match kind(&error) {
        Kind::Damaged => damaged(error),
        Kind::Full | Kind::Busy | Kind::Other => StoreError::Read(Box::new(error)),
    }
}

/// Something in the journal that cannot be read.
pub(crate) fn damaged(what: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged {
        what: what.to_string(),
    }
}

/// Why a commit failed, for each of its callers.
pub(crate) type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// The error of a commit of which nobody knows whether it is on disk.
pub(crate) fn undecided(cause: &Cause) -> StoreError {
    StoreError::Commit(Box::new(Arc::clone(cause)))
}
