//! The words of Bybit's file for what the adapter says.

use surefill_bybit::rows::Status;
use surefill_core::{AmendOutcome, CancelOutcome, OrdState, Submission};

pub(super) const UNKNOWN: &str = "UNKNOWN";
pub(super) const LOOKUP_ERROR: &str = "LOOKUP_ERROR";

pub(super) const fn create(outcome: &Submission) -> &'static str {
    match outcome {
        Submission::Acked(_) => "ACK",
        Submission::Rejected(_) => "REJECT",
        Submission::Duplicate(_) => "DUPLICATE",
        Submission::NotTaken { .. } | Submission::NotSent(_) => "RETRY_SAFE",
        Submission::Unknown(_) | Submission::Received(_) => UNKNOWN,
    }
}

pub(super) const fn cancel(outcome: &CancelOutcome) -> &'static str {
    match outcome {
        CancelOutcome::Taken | CancelOutcome::Canceled(_) => "ACK",
        CancelOutcome::NotOpen => "NOT_OPEN",
        CancelOutcome::NotYet => "RETRY_SAFE",
        CancelOutcome::Unknown(_) => UNKNOWN,
    }
}

pub(super) const fn amend(outcome: &AmendOutcome) -> &'static str {
    match outcome {
        AmendOutcome::Taken => "ACK",
        AmendOutcome::NotOpen => "NOT_OPEN",
        AmendOutcome::Rejected(_) => "REJECT",
        AmendOutcome::NotSent(_) => "RETRY_SAFE",
        AmendOutcome::Unknown(_) | AmendOutcome::Unsupported => UNKNOWN,
    }
}

/// The state that a row shows.
pub(super) const fn status(status: &Status) -> &'static str {
    match status {
        Status::New => "OPEN",
        Status::PartiallyFilled => "PARTIAL",
        Status::Untriggered => "UNTRIGGERED",
        Status::Triggered => "TRIGGERED",
        Status::Filled => "FILLED",
        Status::Cancelled | Status::PartiallyFilledCanceled | Status::Deactivated => "CANCELLED",
        Status::Rejected => "REJECTED",
        Status::Other(_) => "UNRECOGNISED",
    }
}

/// The state that our row is in.
pub(super) const fn state(state: OrdState) -> &'static str {
    match state {
        OrdState::Acked => "OPEN",
        OrdState::Partial => "PARTIAL",
        OrdState::Filled => "FILLED",
        OrdState::Canceled => "CANCELLED",
        OrdState::Rejected => "REJECTED",
        OrdState::Pending | OrdState::Submitted | OrdState::Unknown | OrdState::Reconciling => {
            UNKNOWN
        }
    }
}
