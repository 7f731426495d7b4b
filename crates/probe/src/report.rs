//! What a venue did. The names of fields are fixed: scripts read them.

use std::fmt;

use serde::Serialize;

/// What a venue did about an id that it had seen, in the words of the simulators' `/_sim/rules`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicate {
    /// Refused while open and after the end, also on the next day where a simulator can end the day; elsewhere as long as the probe looked.
    RefusedForever,
    /// Refused while open and after the end, and taken again once the day had ended.
    RefusedDay,
    /// Refused while open, taken as another order after the end.
    WhileOpen,
    /// Answered with the first order.
    ReturnsExisting,
    /// Taken as another order.
    Accepted,
}

/// What a venue did about the same bytes, sent again before their fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// No second order, neither while the first was open nor after its end.
    Refused,
    /// No second order while the first was open, one after its end.
    WhileOpen,
    /// No second order; the answer named the first.
    ReturnsExisting,
    /// A second order.
    Accepted,
    /// No second order while the first was open; after its end the bytes never came before their fence.
    NotTested,
}

/// What a venue did about the id of an order that had ended, under a new signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reuse {
    /// No order came of it.
    Refused,
    /// No order came of it; the answer named the first.
    ReturnsExisting,
    /// Taken as another order.
    Accepted,
    /// The first order could not be brought to that end.
    NotTested,
}

/// What a venue did about a request that came after its fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FenceSeen {
    /// No order came of it, while a request held for less time became one.
    Enforced,
    /// It became an order.
    NotEnforced,
    /// The attempts have no fence.
    None,
    /// Only a simulator can hold a request.
    NotTested,
}

/// What a venue did, and where its profile says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The venue's name in the configuration.
    pub venue: String,
    /// The same id, with a new signature.
    pub duplicate: Duplicate,
    /// The same bytes.
    pub replay: Replay,
    /// A request after its fence.
    pub fence: FenceSeen,
    /// From the answer to a create until the begin of the first lookup that shows the order; none where no lookup showed it.
    pub visibility_lag_ms: Option<u64>,
    /// The id of a filled order.
    pub after_fill: Reuse,
    /// The id of a canceled order.
    pub after_cancel: Reuse,
    /// The id of a refused order.
    pub after_refusal: Reuse,
    /// Nothing differs.
    pub agrees: bool,
    /// What the profile says otherwise, one sentence each.
    pub differences: Vec<String>,
}

macro_rules! words {
    ($($name:ident { $($variant:ident => $word:literal),+ $(,)? })+) => {$(
        impl $name {
            /// The word of the report.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}

words! {
    Duplicate {
        RefusedForever => "refused_forever",
        RefusedDay => "refused_day",
        WhileOpen => "while_open",
        ReturnsExisting => "returns_existing",
        Accepted => "accepted",
    }
    Replay {
        Refused => "refused",
        WhileOpen => "while_open",
        ReturnsExisting => "returns_existing",
        Accepted => "accepted",
        NotTested => "not_tested",
    }
    Reuse {
        Refused => "refused",
        ReturnsExisting => "returns_existing",
        Accepted => "accepted",
        NotTested => "not_tested",
    }
    FenceSeen {
        Enforced => "enforced",
        NotEnforced => "not_enforced",
        None => "none",
        NotTested => "not_tested",
    }
}
