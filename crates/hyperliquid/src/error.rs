//! What a read can come to, and what can go wrong before trading.

use surefill_core::{NotSent, Reason, UnknownCause, VenueError};

pub use surefill_evm::{AddressError, KeyError};

/// A read that gave no information.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadFailure {
    /// No answer.
    #[error("no answer: {0}")]
    Unreachable(UnknownCause),
    /// The venue refused.
    #[error("refused: {0}")]
    Refused(Reason),
    /// Keys or addresses that cannot be used for this account.
    #[error("{0}")]
    Keys(Reason),
    /// An answer that cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(Box<str>),
}

impl ReadFailure {
    pub(crate) fn unreadable(what: impl Into<Box<str>>) -> Self {
        Self::Unreadable(what.into())
    }

    pub(crate) fn not_sent(why: &NotSent) -> Self {
        Self::Unreachable(UnknownCause::new(why))
    }
}

impl From<ReadFailure> for VenueError {
    fn from(failure: ReadFailure) -> Self {
        match failure {
            ReadFailure::Unreachable(cause) => Self::Unreachable(cause.0),
            ReadFailure::Refused(reason) => Self::Refused(reason),
            ReadFailure::Keys(reason) => Self::Keys(reason),
            ReadFailure::Unreadable(what) => Self::Unreadable(what),
        }
    }
}
