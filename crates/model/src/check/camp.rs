//! The kinds of venues, and the numbers of the model in ticks.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use surefill_core::{
    AbsenceRule, AmendRule, CancelRule, DuplicateRule, FenceRule, IdRule, Rates, Sourced,
    VenueProfile, VenueTime,
};

/// A moment of the model. One tick is the longest time until a change shows in lists.
pub type Tick = u8;

/// From signing to the fence.
pub const FENCE: Tick = 2;
/// The longest way from the gate to the book.
pub const DRAIN: Tick = 2;
/// The longest time until a change shows in lists.
pub const LAG: Tick = 1;
/// How long an intent stays fresh: more than fence, drain and two lags.
pub const TTL: Tick = 8;
/// How long a row is watched that ended on an assumed number.
pub const WATCH: Tick = 2;
/// How long an order may stay in doubt before it halts.
pub const CAP: Tick = 14;
/// How often an open order is looked at.
pub const POLL: Tick = 2;
/// How long an id is refused where it is refused within a window.
pub const WINDOW: Tick = 8;
/// Faults happen up to this tick.
pub const CALM: Tick = 7;
/// The last tick.
pub const HORIZON: Tick = 24;
/// What is ordered, in units.
pub const QTY: u8 = 2;

const TICK_MS: u64 = 1_000;
const T0: u64 = 1_000_000;

/// The venue's time at a tick.
pub const fn at(tick: Tick) -> VenueTime {
    VenueTime::from_ms(T0 + widen(tick) * TICK_MS)
}

#[expect(clippy::as_conversions, reason = "widening in a const fn")]
const fn widen(tick: Tick) -> u64 {
    tick as u64
}

/// The tick of an instant, rounded down.
pub fn tick_of(time: VenueTime) -> Tick {
    u8::try_from(time.as_ms().saturating_sub(T0) / TICK_MS).unwrap_or(u8::MAX)
}

/// A wait in whole ticks: rounded down, but never nothing.
pub fn ticks(wait: Duration) -> Tick {
    if wait.is_zero() {
        return 0;
    }
    u8::try_from(wait.as_millis() / u128::from(TICK_MS))
        .unwrap_or(u8::MAX)
        .max(1)
}

/// As many ticks.
pub const fn span(ticks: Tick) -> Duration {
    Duration::from_millis(widen(ticks) * TICK_MS)
}

/// Where a venue refuses what comes too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceKind {
    /// Nowhere.
    None,
    /// At its gate; how long it takes from there to the book is only assumed, and may be longer.
    Gate,
    /// At its gate; how long it takes from there to the book is documented.
    GateAndDrain,
    /// At the book itself.
    Engine,
}

/// A kind of venue: what decides which rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Camp {
    /// What it does with an id that it has seen.
    pub duplicate: DuplicateRule,
    /// Where it refuses what comes too late.
    pub fence: FenceKind,
    /// It remembers the bytes.
    pub replayable: bool,
    /// An attempt can be revoked.
    pub revocable: bool,
    /// A refusal uses up the bytes.
    pub uses_up: bool,
}

impl Camp {
    /// Nothing but a fence with a documented drain.
    pub const PLAIN: Self = Self {
        duplicate: DuplicateRule::Accepted,
        fence: FenceKind::GateAndDrain,
        replayable: false,
        revocable: false,
        uses_up: false,
    };

    /// Every rule for ids that decides differently.
    pub const DUPLICATES: [DuplicateRule; 5] = [
        DuplicateRule::RefusedForever,
        DuplicateRule::RefusedWithin(span(WINDOW)),
        DuplicateRule::RefusedWhileOpen,
        DuplicateRule::ReturnsExisting,
        DuplicateRule::Accepted,
    ];

    /// Every kind of fence.
    pub const FENCES: [FenceKind; 4] = [
        FenceKind::None,
        FenceKind::Gate,
        FenceKind::GateAndDrain,
        FenceKind::Engine,
    ];

    /// Every camp: rule for ids × fence × remembered bytes × revocation.
    pub fn all() -> Vec<Self> {
        let mut camps = Vec::new();
        for duplicate in Self::DUPLICATES {
            for fence in Self::FENCES {
                for kind in 0..4_u8 {
                    camps.push(Self {
                        duplicate,
                        fence,
                        replayable: kind & 1 != 0,
                        revocable: kind & 2 != 0,
                        // Where bytes are remembered a refusal uses them up in every other camp.
                        uses_up: kind != 0 && camps.len() % 2 == 0,
                    });
                }
            }
        }
        camps
    }

    /// Whether the venue knows bytes again that passed its gate.
    pub const fn remembers(&self) -> bool {
        self.replayable || self.revocable
    }

    /// Whether an id is refused, or answered with the first order, also after that order ended.
    pub const fn keeps_id(&self) -> bool {
        match self.duplicate {
            DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => true,
            DuplicateRule::RefusedWithin(_)
            | DuplicateRule::RefusedWhileOpen
            | DuplicateRule::Accepted => false,
        }
    }

    /// What an honest adapter claims about it.
    pub fn profile(&self) -> VenueProfile {
        let rate = NonZeroU32::MIN;
        let documented = |ticks| Sourced::Documented(span(ticks), "the model");
        let max = span(FENCE);
        let fence = match self.fence {
            FenceKind::None => FenceRule::None,
            FenceKind::Gate => FenceRule::Clock {
                max,
                drain: Sourced::Assumed(span(DRAIN)),
            },
            FenceKind::GateAndDrain => FenceRule::Clock {
                max,
                drain: documented(DRAIN),
            },
            FenceKind::Engine => FenceRule::Clock {
                max,
                drain: documented(0),
            },
        };
        VenueProfile {
            name: "model".into(),
            id_rule: IdRule {
                alphabet: "0123456789abcdef",
                max_len: 32,
            },
            duplicate: self.duplicate,
            refusal_uses_up_bytes: self.uses_up,
            fence,
            absence: AbsenceRule {
                lag: documented(LAG),
                lag_blocks: 0,
                spacing: span(LAG),
                margin: Duration::ZERO,
                closed_retention: documented(200),
                fills_retention: documented(200),
            },
            watch: span(WATCH),
            cap: span(CAP),
            rates: Rates {
                create: rate,
                cancel: rate,
                lookup: rate,
            },
            poll: span(POLL),
            nonce_scope: None,
            reduce_only: true,
            successors: false,
            amend: AmendRule::None,
            cancel: CancelRule::Receipt,
            cancel_batch: 1,
        }
    }
}

impl fmt::Display for Camp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let duplicate = match self.duplicate {
            DuplicateRule::RefusedForever => "refused for ever",
            DuplicateRule::RefusedWithin(_) => "refused within a window",
            DuplicateRule::RefusedWhileOpen => "refused while open",
            DuplicateRule::ReturnsExisting => "returns the existing",
            DuplicateRule::Accepted => "accepted",
        };
        let fence = match self.fence {
            FenceKind::None => "none",
            FenceKind::Gate => "gate",
            FenceKind::GateAndDrain => "gate and drain",
            FenceKind::Engine => "engine",
        };
        let remembered = if self.replayable { "yes" } else { "no" };
        let revocable = if self.revocable { "yes" } else { "no" };
        write!(
            f,
            "id {duplicate}, fence {fence}, bytes remembered {remembered}, revocable {revocable}"
        )
    }
}
