//! A schedule: a camp and a list of steps, made from a seed, printed and read as one line of JSON a step.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use surefill_core::{Amount, Decision, GiveUp, OrderIntent, Resubmit, Side};

use super::camp::{Camp, TTL};
use super::world::quantity;

/// What happens to one request, or one answer. Times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum At {
    /// The request is lost.
    Lost,
    /// The request is acted upon, and its answer is lost.
    AnswerLost,
    /// A create arrives so much later; nobody waits so long.
    Late(u64),
    /// A second copy arrives so much later.
    Doubled(u64),
    /// Refused for good.
    Refused,
    /// Refused for good, and a copy that was doubled on the way arrives so much later, when nothing speaks against it.
    RefusedDoubled(u64),
    /// Turned away before it was acted upon.
    Turned,
    /// No connection.
    NoConnection,
    /// It fills as it arrives.
    FillsAtOnce,
    /// The keys are refused: nothing else will be taken either.
    KeysRefused,
}

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// The strategy decides on order `n` and places it, or places the same decision again.
    Place {
        /// Which.
        n: u32,
        /// On the ground of what it may be sent again: never, after proof, after absence.
        resubmit: u8,
        /// Whether it only makes a position smaller.
        exit: bool,
        /// Accept, strict, land.
        give_up: u8,
    },
    /// The strategy decides on order `n` and places it in spite of every halt.
    Despite(u32),
    /// The strategy places the decision of its order `n` with another price.
    Conflict(u32),
    /// The strategy asks for other terms of its order `n`.
    Amend {
        /// Which.
        n: u32,
        /// The total quantity.
        qty: u32,
        /// The price.
        px: u32,
    },
    /// The strategy cancels its order `n`.
    Cancel(u32),
    /// It cancels everything.
    CancelAll,
    /// What happens to the next create.
    OnCreate(At),
    /// What happens to the next look at an order: it fails.
    LookFails,
    /// The next list fails.
    ListFails,
    /// What happens to the next cancel.
    OnCancel(At),
    /// What happens to the next amend.
    OnAmend(At),
    /// What happens to the next revocation.
    OnRevoke(At),
    /// The venue executes so much of the newest open order of `n`.
    Fill {
        /// Which.
        n: u32,
        /// How much.
        qty: u32,
    },
    /// The venue ends an order by itself.
    Expire(u32),
    /// Time passes.
    Advance(u64),
    /// The machine sleeps: time passes and no task runs.
    Sleep(u64),
    /// The strategy's own clock is wrong by so much from now on.
    ClockStep(i64),
    /// The venue answers nothing for so long.
    Down(u64),
    /// The next so many events of the stream are lost.
    Mute(u32),
    /// The next event of the stream comes twice.
    Twice,
    /// The next event of the stream comes after the one that follows it.
    Swap,
    /// The stream ends.
    Disconnect,
    /// The venue's time is told so much too early from now on.
    TimeBehind(u64),
    /// The disk is full for so long.
    FullDisk(u64),
    /// A commit fails after so many more writes.
    CommitFails {
        /// How many.
        after: u32,
        /// Whether it is on disk all the same.
        kept: bool,
    },
    /// The process stands still for so long after so many more writes and sends.
    Pause {
        /// How many.
        after: u32,
        /// How long.
        ms: u64,
    },
    /// The process stands still for so long after so many more writes and sends, and another one takes its place at once.
    TakeOver {
        /// How many.
        after: u32,
        /// How long.
        ms: u64,
    },
    /// Another process starts on the same journal.
    Second,
    /// The process dies after so many more writes and sends, and with it go so many of the newest lazy writes.
    Crash {
        /// How many.
        after: u32,
        /// How many.
        lose: u32,
    },
    /// A person halts the account.
    Halt,
    /// A person lifts its halts.
    Resume,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// What the venue's own choices are drawn from.
    pub seed: u64,
    /// The venue.
    pub camp: Camp,
    /// What happens.
    pub steps: Vec<Step>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    seed: u64,
    camp: Camp,
}

/// A text that is no script.
#[derive(Debug)]
pub struct Unread(String);

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no script: {}", self.0)
    }
}

impl std::error::Error for Unread {}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = Head {
            seed: self.seed,
            camp: self.camp,
        };
        writeln!(
            f,
            "{}",
            serde_json::to_string(&head).map_err(|_| fmt::Error)?
        )?;
        for step in &self.steps {
            writeln!(
                f,
                "{}",
                serde_json::to_string(step).map_err(|_| fmt::Error)?
            )?;
        }
        Ok(())
    }
}

impl FromStr for Script {
    type Err = Unread;

    fn from_str(text: &str) -> Result<Self, Unread> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let unread = |error: serde_json::Error| Unread(error.to_string());
        let head = lines.next().ok_or_else(|| Unread("it is empty".into()))?;
        let Head { seed, camp } = serde_json::from_str(head).map_err(unread)?;
        let steps = lines.map(serde_json::from_str).collect::<Result<_, _>>();
        Ok(Self {
            seed,
            camp,
            steps: steps.map_err(unread)?,
        })
    }
}

impl Step {
    /// What the strategy decides on with it.
    pub(super) fn intent(self, n: u32, stamp: u64) -> OrderIntent {
        let (resubmit, exit, give_up) = match self {
            Self::Place {
                resubmit,
                exit,
                give_up,
                ..
            } => (resubmit, exit, give_up),
            _ => (1, false, 0),
        };
        OrderIntent {
            ttl: Duration::from_millis(TTL),
            resubmit: match resubmit {
                0 => Resubmit::Never,
                1 => Resubmit::AfterProof,
                _ => Resubmit::AfterAbsence,
            },
            give_up: match give_up {
                0 => GiveUp::Accept,
                1 => GiveUp::Strict,
                _ => GiveUp::Land,
            },
            reduce_only: exit,
            ..OrderIntent::limit(
                Decision::new("sim", stamp).leg(n),
                "v",
                if n == 0 { "S" } else { "T" },
                Side::Buy,
                Amount::Base(quantity(3)),
                "100".parse().expect("a price"),
            )
        }
    }
}
