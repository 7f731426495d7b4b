//! What an adapter claims about its venue: data, one literal per adapter, with a source on each number.

use std::time::Duration;

use crate::{NonceScope, Rates, VenueName};

/// Where a number comes from. A wrong lag or drain is what no test of ours can see, so each says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sourced<T> {
    /// The venue says so, at this address.
    Documented(T, &'static str),
    /// It was measured, in this way.
    Measured(T, &'static str),
    /// Nobody says so; chosen with care.
    Assumed(T),
}

impl<T: Copy> Sourced<T> {
    /// The value.
    pub const fn value(self) -> T {
        match self {
            Self::Documented(value, _) | Self::Measured(value, _) | Self::Assumed(value) => value,
        }
    }

    /// Whether nobody says so.
    pub const fn is_assumed(self) -> bool {
        match self {
            Self::Assumed(_) => true,
            Self::Documented(..) | Self::Measured(..) => false,
        }
    }

    /// The same source with another value.
    #[must_use]
    pub const fn with(self, value: T) -> Self {
        match self {
            Self::Documented(_, source) => Self::Documented(value, source),
            Self::Measured(_, source) => Self::Measured(value, source),
            Self::Assumed(_) => Self::Assumed(value),
        }
    }
}

/// Which client order ids the venue takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRule {
    /// Every character that may occur.
    pub alphabet: &'static str,
    /// The most characters.
    pub max_len: usize,
}

impl IdRule {
    /// Whether `text` is an id by this rule; an empty one never is.
    pub fn allows(&self, text: &str) -> bool {
        !text.is_empty()
            && text.chars().count() <= self.max_len
            && text.chars().all(|c| self.alphabet.contains(c))
    }
}

/// What the venue does with an id that it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicateRule {
    /// Refused, for ever.
    RefusedForever,
    /// Refused for this long after the first was taken.
    RefusedWithin(Duration),
    /// Refused while the first is open.
    RefusedWhileOpen,
    /// Answered with the first.
    ReturnsExisting,
    /// Taken as another order.
    Accepted,
}

/// The most of a fence that an attempt can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceRule {
    /// None.
    None,
    /// An instant on the venue's clock.
    Clock {
        /// The longest time from signing to the fence.
        max: Duration,
        /// The longest way from the gate to the book.
        drain: Sourced<Duration>,
    },
    /// A block height.
    Height {
        /// The longest way from the gate to the book, blocks.
        drain: Sourced<u64>,
    },
}

impl FenceRule {
    /// The longest way from the gate to the book on the clock; none where the fence is no instant.
    pub(crate) const fn drain_time(&self) -> Duration {
        match self {
            Self::Clock { drain, .. } => drain.value(),
            Self::None | Self::Height { .. } => Duration::ZERO,
        }
    }

    /// The same in blocks; none where the fence is no height.
    pub(crate) const fn drain_blocks(&self) -> u64 {
        match self {
            Self::Height { drain } => drain.value(),
            Self::None | Self::Clock { .. } => 0,
        }
    }

    /// Whether the drain is only assumed; without a fence there is none.
    pub const fn drain_assumed(&self) -> bool {
        match self {
            Self::None => false,
            Self::Clock { drain, .. } => drain.is_assumed(),
            Self::Height { drain } => drain.is_assumed(),
        }
    }
}

/// How absence is proven at this venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsenceRule {
    /// The longest time until an accepted or changed order shows in lookups.
    pub lag: Sourced<Duration>,
    /// The same in blocks, where the fence is a height.
    pub lag_blocks: u64,
    /// From the end of the first round to the begin of the second; at least the lag.
    pub spacing: Duration,
    /// Added where we wait for an instant of the venue's clock; at least 2 s on a real network.
    pub margin: Duration,
    /// How long the list of closed orders keeps one that ended without a fill.
    pub closed_retention: Sourced<Duration>,
    /// How long the list of fills keeps one.
    pub fills_retention: Sourced<Duration>,
}

/// Whether an order can be changed with its ids kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmendRule {
    /// Never used.
    None,
    /// Price and quantity, both ids stay.
    KeepsIds,
}

/// What a taken cancel proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelRule {
    /// The answer is a receipt only.
    Receipt,
    /// The answer says that the order ended.
    Final,
}

/// What an adapter claims about its venue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VenueProfile {
    /// The kind of venue.
    pub name: VenueName,
    /// Which client order ids it takes.
    pub id_rule: IdRule,
    /// What it does with an id that it has seen.
    pub duplicate: DuplicateRule,
    /// A refusal uses up the signed bytes (a nonce, a hash): no copy of them can land later. One that halts the account never does.
    pub refusal_uses_up_bytes: bool,
    /// The most of a fence that an attempt can have.
    pub fence: FenceRule,
    /// How absence is proven.
    pub absence: AbsenceRule,
    /// How long a row that ended on an assumed number is looked after; and for how long the end itself waits where the venue has said that it
    /// took the bytes and then shows no order.
    pub watch: Duration,
    /// How long an order may stay in doubt before its scope halts.
    pub cap: Duration,
    /// How often it may be asked.
    pub rates: Rates,
    /// How often an open order is asked for where no stream tells.
    pub poll: Duration,
    /// What a lease must cover.
    pub nonce_scope: Option<NonceScope>,
    /// The venue enforces reduce-only.
    pub reduce_only: bool,
    /// The venue may carry an order on under another order id.
    pub successors: bool,
    /// Whether an order can be changed.
    pub amend: AmendRule,
    /// What a taken cancel proves.
    pub cancel: CancelRule,
    /// The most orders that one request cancels; 1 where there is no such request.
    pub cancel_batch: usize,
}
