//! What went wrong, in words, and the exit code that says it to a script.

use surefill_core::{CancelError, HaltCause, PlaceError, RecoverError, StoreError, VenueError};
use surefill_probe::ProbeError;

use crate::config::ConfigError;

/// The exit codes. Scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Acked, filled, canceled as asked, all checks passed.
    Done,
    /// A check failed.
    CheckFailed,
    /// Usage or configuration.
    Usage,
    /// The order is rejected, or can never become one.
    Rejected,
    /// The order's fate is not known.
    NotKnown,
    /// Refused by a halt or a limit.
    Refused,
    /// Held by another: journal lock, lease, port.
    Held,
    /// Venue or database not reachable.
    Unreachable,
    /// The journal is damaged, newer, or not writable.
    Journal,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::CheckFailed => 1,
            Self::Usage => 2,
            Self::Rejected => 3,
            Self::NotKnown => 4,
            Self::Refused => 5,
            Self::Held => 6,
            Self::Unreachable => 7,
            Self::Journal => 8,
        }
    }
}

/// A command that did not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, text: impl Into<String>) -> Self {
        Self {
            exit,
            text: text.into(),
        }
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(Exit::Usage, text)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match &error {
            StoreError::Held { .. } => Exit::Held,
            StoreError::OtherAccount { .. } | StoreError::NoSuchOrder { .. } => Exit::Usage,
            StoreError::Halted(_) => Exit::Refused,
            // Whether it is on disk is not known.
            StoreError::Commit(_) => Exit::NotKnown,
            StoreError::Change(_)
            | StoreError::Newer { .. }
            | StoreError::Damaged { .. }
            | StoreError::NotWritable { .. }
            | StoreError::Full
            | StoreError::Closed
            | StoreError::Read(_)
            | _ => Exit::Journal,
        };
        Self::new(exit, chain(&error))
    }
}

/// The exit code of a venue that could not be asked.
const fn venue_exit(error: &VenueError) -> Exit {
    match error {
        VenueError::Keys(_) | VenueError::Config(_) | VenueError::Unsupported(_) => Exit::Usage,
        VenueError::Unreachable(_) | VenueError::Refused(_) | VenueError::Unreadable(_) | _ => {
            Exit::Unreachable
        }
    }
}

impl From<VenueError> for Failure {
    fn from(error: VenueError) -> Self {
        Self::new(venue_exit(&error), chain(&error))
    }
}

impl From<RecoverError> for Failure {
    fn from(error: RecoverError) -> Self {
        let exit = match error {
            RecoverError::Journal(error) => return error.into(),
            RecoverError::Venue { ref error, .. } => venue_exit(error),
            RecoverError::TwoVenues { .. }
            | RecoverError::OtherAccount { .. }
            | RecoverError::VenueMissing { .. }
            | _ => Exit::Usage,
        };
        Self::new(exit, chain(&error))
    }
}

impl From<CancelError> for Failure {
    fn from(error: CancelError) -> Self {
        match error {
            CancelError::NoSuchOrder { .. } => Self::usage(error.to_string()),
            CancelError::NotJournaled { .. } => Self::new(Exit::Journal, error.to_string()),
            CancelError::Journal(error) => error.into(),
            CancelError::ShuttingDown | _ => Self::new(Exit::NotKnown, chain(&error)),
        }
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        let exit = match &error {
            PlaceError::Halted(halt) if halt.cause == HaltCause::Unreachable => Exit::Unreachable,
            PlaceError::Halted(_) | PlaceError::Doubt { .. } | PlaceError::Limit(_) => {
                Exit::Refused
            }
            // The decision is over: no order, and asking again gives none.
            PlaceError::Stale { .. } => Exit::Rejected,
            PlaceError::NoVenue { .. }
            | PlaceError::Invalid { .. }
            | PlaceError::TooFarAhead { .. }
            | PlaceError::IntentConflict { .. }
            | PlaceError::Prepare(_) => Exit::Usage,
            PlaceError::Venue { error, .. } => venue_exit(error),
            PlaceError::Journal(_) => Exit::Journal,
            PlaceError::Undecided(_) | PlaceError::ShuttingDown | _ => Exit::NotKnown,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<ProbeError> for Failure {
    fn from(error: ProbeError) -> Self {
        let exit = match &error {
            ProbeError::Venue(error) => venue_exit(error),
            ProbeError::Control(_) => Exit::Unreachable,
            // Something is left that a person has to look at.
            ProbeError::NotCleaned { .. } => Exit::CheckFailed,
            ProbeError::Inconclusive(_) | ProbeError::Stopped => Exit::NotKnown,
            ProbeError::Journal(_) => Exit::Journal,
            ProbeError::Mainnet(_)
            | ProbeError::NotConfirmed(_)
            | ProbeError::NoSimulator
            | ProbeError::NotListed(_)
            | ProbeError::Prepare(_)
            | ProbeError::NoRest(_)
            | _ => Exit::Usage,
        };
        Self::new(exit, chain(&error))
    }
}

/// An error with its causes. Ours do not repeat the cause in their own text unless they say all of it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        next = cause.source();
    }
    text
}
