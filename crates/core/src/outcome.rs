//! What an answer of a venue means.
//!
//! Each is exhaustive on purpose: a new meaning must break every place that decides.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{AsOf, ExecReport, Key};

/// A venue's code and text, as they came, bounded in length.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The venue's code; empty where it gives none.
    pub code: Box<str>,
    /// The venue's text (FIX 58).
    pub text: Box<str>,
}

impl Reason {
    /// The longest text that is kept, characters.
    pub const MAX_TEXT: usize = 256;

    /// Keeps the code and as much of the text as fits.
    pub fn new(code: impl fmt::Display, text: &str) -> Self {
        Self {
            code: code.to_string().into(),
            text: text.chars().take(Self::MAX_TEXT).collect(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code.is_empty(), self.text.is_empty()) {
            (true, _) => f.write_str(&self.text),
            (false, true) => f.write_str(&self.code),
            (false, false) => write!(f, "{}: {}", self.code, self.text),
        }
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reason({self})")
    }
}

/// A definite refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// The venue's code and text.
    pub reason: Reason,
    /// The refusal concerns keys or account: nothing else will be taken either, so the account halts.
    pub halts_account: bool,
    /// It came, or may have come, before the bytes were used up, at a venue where a refusal uses them up: a copy of them could still
    /// land, so the row is watched.
    #[serde(default)]
    pub leaves_bytes: bool,
}

/// What a duplicate answer says is known already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DuplicateOf {
    /// The client order id.
    Id,
    /// The signed bytes.
    Bytes,
}

/// Why no byte of a request left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The connection could not be made.
    Connect(Box<str>),
    /// The last check before the first byte said no.
    HeldBack(HeldBack),
}

/// Why the last check before the first byte said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldBack {
    /// The fence has passed, or is nearer than the error of the clock.
    Fence,
    /// The intent is stale.
    Stale,
    /// A cancel was asked.
    CancelAsked,
    /// Another process drives the order.
    LeaseLost,
    /// The journal is closed.
    JournalClosed,
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(why) => write!(f, "not sent: {why}"),
            Self::HeldBack(why) => write!(f, "held back before the first byte: {why}"),
        }
    }
}

impl fmt::Display for HeldBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fence => "the fence is too near",
            Self::Stale => "the intent is stale",
            Self::CancelAsked => "a cancel was asked",
            Self::LeaseLost => "the lease is lost",
            Self::JournalClosed => "the journal is closed",
        })
    }
}

/// Why an answer proves nothing, for people and logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCause(pub Box<str>);

impl UnknownCause {
    /// A cause in a few words, bounded in length.
    pub fn new(text: impl fmt::Display) -> Self {
        Self(text.to_string().chars().take(Reason::MAX_TEXT).collect())
    }
}

impl fmt::Display for UnknownCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What one send of an attempt proved.
#[must_use = "an ignored submission can become a duplicate order"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    /// The venue named the order.
    Acked(ExecReport),
    /// Taken, but names nothing that a lookup must find.
    Received(Key),
    /// Refused, by a code on the adapter's list of definite refusals.
    Rejected(Reject),
    /// Known already: look it up.
    Duplicate(DuplicateOf),
    /// Documented as refused before acting: may be sent again.
    NotTaken {
        /// The venue's code and text.
        cause: Reason,
        /// How long the venue asks to wait.
        retry_after: Option<Duration>,
    },
    /// No byte left.
    NotSent(NotSent),
    /// Everything else.
    Unknown(UnknownCause),
}

/// What one full round of lookups proved.
#[must_use = "a lookup is how doubt ends"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The order exists: one report per distinct venue order id.
    Found(Vec<ExecReport>),
    /// Every list answered and none showed it. Not final by itself.
    Absent {
        /// What was known of the venue's time or height before the first read left.
        begun: AsOf,
        /// The same after the last read answered.
        ended: AsOf,
    },
    /// A read failed, or a row could not be read: no information.
    Inconclusive(UnknownCause),
}

/// What a revocation proved.
#[must_use = "a revocation decides whether an attempt may still land"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// The attempt cannot land any more.
    Revoked,
    /// The nonce is used, perhaps by our own earlier revocation.
    Used,
    /// No information.
    Inconclusive(UnknownCause),
    /// There is no such request for this attempt.
    Unsupported,
}

/// What a cancel proved. Only the first is terminal.
#[must_use = "an order may live on"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The venue says that the order ended.
    Canceled(ExecReport),
    /// The request was taken; the order may still fill.
    Taken,
    /// Nothing open was met: filled, canceled, never there, or not visible yet.
    NotOpen,
    /// The order is there and cannot be canceled yet.
    NotYet,
    /// No information.
    Unknown(UnknownCause),
}

/// What a cancel of everything proved.
#[must_use = "orders may live on"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelAllOutcome {
    /// Taken for these orders, as far as the venue named them.
    Taken(Vec<crate::Handle>),
    /// No information.
    Unknown(UnknownCause),
}

/// What an amend proved.
#[must_use = "the order's terms may have changed"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AmendOutcome {
    /// The request was taken.
    Taken,
    /// Refused; the order is as it was.
    Rejected(Reject),
    /// Nothing open was met.
    NotOpen,
    /// No byte left.
    NotSent(NotSent),
    /// The venue or the adapter has no such request.
    Unsupported,
    /// No information.
    Unknown(UnknownCause),
}
