//! Faults of the network and of gateways, scheduled by the kind and the count of requests.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::fields::{Fields, Wrong};

/// What a request wants, as far as faults tell requests apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Create,
    Cancel,
    Amend,
    Lookup,
    OpenOrders,
    Fills,
    Positions,
    Stream,
    /// None of these: only faults for `any` meet it.
    Other,
}

impl Op {
    const NAMED: [Self; 8] = [
        Self::Create,
        Self::Cancel,
        Self::Amend,
        Self::Lookup,
        Self::OpenOrders,
        Self::Fills,
        Self::Positions,
        Self::Stream,
    ];

    /// The word of the control port.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Cancel => "cancel",
            Self::Amend => "amend",
            Self::Lookup => "lookup",
            Self::OpenOrders => "open_orders",
            Self::Fills => "fills",
            Self::Positions => "positions",
            Self::Stream => "stream",
            Self::Other => "other",
        }
    }
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Do {
    Refuse,
    ResetBefore,
    ResetAfter,
    Hold,
    DropAnswer,
    Status(u16),
    ActThenStatus(u16),
    /// Does not act; the venue's own answer with this code.
    Code(u32),
    /// Acts; the venue's own answer with this code.
    ActThenCode(u32),
    Truncate,
    Garbage,
    Throttle,
    Duplicate,
    StreamDrop,
    StreamDuplicate,
    StreamReorder,
    StreamGap,
    StreamMute,
}

impl Do {
    const PLAIN: [(&'static str, Self); 14] = [
        ("refuse", Self::Refuse),
        ("reset_before", Self::ResetBefore),
        ("reset_after", Self::ResetAfter),
        ("hold", Self::Hold),
        ("drop_answer", Self::DropAnswer),
        ("truncate", Self::Truncate),
        ("garbage", Self::Garbage),
        ("throttle", Self::Throttle),
        ("duplicate", Self::Duplicate),
        ("stream_drop", Self::StreamDrop),
        ("stream_duplicate", Self::StreamDuplicate),
        ("stream_reorder", Self::StreamReorder),
        ("stream_gap", Self::StreamGap),
        ("stream_mute", Self::StreamMute),
    ];

    fn read(text: &str) -> Option<Self> {
        if let Some((_, plain)) = Self::PLAIN.iter().find(|(word, _)| *word == text) {
            return Some(*plain);
        }
        let (word, code) = text.split_once(':')?;
        let code = code.parse::<u32>().ok()?;
        let status = u16::try_from(code)
            .ok()
            .filter(|code| (200..600).contains(code));
        match word {
            "status" => status.map(Self::Status),
            "act_then_status" => status.map(Self::ActThenStatus),
            "code" => Some(Self::Code(code)),
            "act_then_code" => Some(Self::ActThenCode(code)),
            _ => None,
        }
    }

    const fn of_stream(self) -> bool {
        matches!(
            self,
            Self::StreamDrop
                | Self::StreamDuplicate
                | Self::StreamReorder
                | Self::StreamGap
                | Self::StreamMute
        )
    }
}

/// One posted fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Whom it meets; none is `any`.
    op: Option<Op>,
    /// How many more requests until it fires; 1 is the next one.
    nth: u64,
    /// How often it fires, in a row.
    times: u64,
    doing: Do,
    /// `doing` as it was posted.
    word: String,
    ms: u64,
}

impl Fault {
    /// Reads the body of `POST /_sim/faults`.
    pub(crate) fn read(mut fields: Fields) -> Result<Self, Wrong> {
        let op = match fields
            .text("op")?
            .ok_or_else(|| Wrong::missing("op"))?
            .as_str()
        {
            "any" => None,
            text => {
                let named = Op::NAMED.into_iter().find(|op| op.word() == text);
                Some(named.ok_or_else(|| Wrong::value("op", &Value::from(text)))?)
            }
        };
        let nth = fields.whole("nth")?.unwrap_or(1);
        let times = fields.whole("times")?.unwrap_or(1);
        let ms = fields.whole("ms")?.unwrap_or(0);
        let text = fields.text("do")?.ok_or_else(|| Wrong::missing("do"))?;
        let doing =
            Do::read(&text).ok_or_else(|| Wrong::value("do", &Value::from(text.as_str())))?;
        for (name, count) in [("nth", nth), ("times", times)] {
            if count == 0 {
                return Err(Wrong::value(name, &Value::from(count)));
            }
        }
        fields.done()?;
        Ok(Self {
            op,
            nth,
            times,
            doing,
            word: text,
            ms,
        })
    }

    fn meets(&self, op: Op) -> bool {
        self.op.is_none_or(|wanted| wanted == op) && (op == Op::Stream) == self.doing.of_stream()
    }
}

/// What a fault does to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shot {
    pub(crate) doing: Do,
    pub(crate) ms: u64,
}

/// All faults that are still due.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    fn due(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn post(&self, fault: Fault) {
        self.due().push(fault);
    }

    pub(crate) fn clear(&self) {
        self.due().clear();
    }

    /// Counts one request and says what happens to it. The first fault that is due fires; others wait.
    pub(crate) fn take(&self, op: Op) -> Option<Shot> {
        self.take_if(op, |_| true)
    }

    /// Whether a request of this kind is to be refused before it is read; then it is counted.
    pub(crate) fn take_refusal(&self, op: Op) -> bool {
        let next = self
            .due()
            .iter()
            .find(|fault| fault.meets(op) && fault.nth == 1)
            .map(|fault| fault.doing);
        next == Some(Do::Refuse) && self.take_if(op, |doing| doing == Do::Refuse).is_some()
    }

    /// Whether any fault refuses connections.
    pub(crate) fn refuses(&self) -> bool {
        self.due().iter().any(|fault| fault.doing == Do::Refuse)
    }

    fn take_if(&self, op: Op, fits: impl Fn(Do) -> bool) -> Option<Shot> {
        let mut due = self.due();
        let mut shot = None;
        for fault in due.iter_mut().filter(|fault| fault.meets(op)) {
            if fault.nth > 1 {
                fault.nth = fault.nth.saturating_sub(1);
            } else if shot.is_none() && fits(fault.doing) {
                fault.times = fault.times.saturating_sub(1);
                shot = Some(Shot {
                    doing: fault.doing,
                    ms: fault.ms,
                });
            }
        }
        due.retain(|fault| fault.times > 0);
        shot
    }

    /// The rows of `GET /_sim/faults`.
    pub(crate) fn rows(&self) -> Value {
        let row = |fault: &Fault| {
            json!({
                "op": fault.op.map_or("any", Op::word), "nth": fault.nth, "times": fault.times,
                "do": fault.word, "ms": fault.ms,
            })
        };
        self.due().iter().map(row).collect()
    }
}
