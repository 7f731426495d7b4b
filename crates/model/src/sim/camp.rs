//! What a simulated venue is like, and what it claims to be like.

use std::num::NonZeroU32;
use std::time::Duration;

use rand::Rng;
use serde::{Deserialize, Serialize};
use surefill_core::{
    AbsenceRule, AmendRule, CancelRule, DuplicateRule, FenceRule, IdRule, NonceScope, Rates,
    Sourced, VenueProfile,
};

use super::lie::Lie;

/// From signing to the fence, ms.
pub(super) const FENCE: u64 = 300;
/// The longest way from gate to book, ms.
pub(super) const DRAIN: u64 = 120;
/// So much longer an assumed drain may be in truth, ms.
pub(super) const DRAIN_MORE: u64 = 200;
/// The longest time until a change shows, ms.
pub(super) const LAG: u64 = 60;
/// How long a row that ended on an assumed number is looked after, ms.
pub(super) const WATCH: u64 = 800;
/// From the decision until the intent is stale, ms.
pub(super) const TTL: u64 = 2_500;
/// How long an id is refused where it is refused for a while, ms.
pub(super) const WINDOW: u64 = 60_000;

/// What becomes of an id that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ids {
    /// Refused for ever.
    Forever,
    /// Refused for longer than any schedule takes.
    Within,
    /// Refused while its order is open.
    WhileOpen,
    /// Answered with the first order.
    Existing,
    /// Taken as another order.
    Accepted,
}

/// The fence of a venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FenceKind {
    /// None.
    None,
    /// At the book: nothing passes later.
    Book,
    /// At the gate, with a documented way to the book.
    Documented,
    /// At the gate, with a way to the book that is assumed and may be longer.
    Assumed,
}

/// What a venue is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Camp {
    /// What becomes of an id that was seen.
    pub ids: Ids,
    /// Until when a request is taken.
    pub fence: FenceKind,
    /// Signed bytes are remembered from the gate on.
    pub remembered: bool,
    /// An attempt can be revoked.
    pub revocable: bool,
    /// There is a stream.
    pub stream: bool,
    /// A taken cancel says that the order ended.
    pub cancel_final: bool,
    /// Each signed request has a nonce.
    #[serde(default)]
    pub nonces: bool,
    /// Price and quantity of an order can be amended, and it keeps its ids.
    #[serde(default)]
    pub amends: bool,
}

impl Camp {
    /// A random one.
    pub fn draw(rng: &mut impl Rng) -> Self {
        let ids = [
            Ids::Forever,
            Ids::Within,
            Ids::WhileOpen,
            Ids::Existing,
            Ids::Accepted,
        ];
        let fences = [
            FenceKind::None,
            FenceKind::Book,
            FenceKind::Documented,
            FenceKind::Assumed,
        ];
        Self {
            ids: ids[rng.random_range(0..ids.len())],
            fence: fences[rng.random_range(0..fences.len())],
            remembered: rng.random_bool(0.4),
            revocable: rng.random_bool(0.25),
            stream: rng.random_bool(0.5),
            cancel_final: rng.random_bool(0.5),
            nonces: rng.random_bool(0.4),
            amends: rng.random_bool(0.6),
        }
    }

    /// Whether a second copy of one request can never become a second order.
    pub fn copies_meet(self) -> bool {
        let ids = match self.ids {
            Ids::Forever | Ids::Within | Ids::Existing => true,
            Ids::WhileOpen | Ids::Accepted => false,
        };
        ids || self.remembered
    }

    pub(super) fn profile(self, lie: Option<Lie>) -> VenueProfile {
        let ms = Duration::from_millis;
        let many = NonZeroU32::new(100_000_000).expect("not zero");
        let documented = |value: u64| Sourced::Documented(ms(value), "the simulation");
        let (max, ids) = (ms(FENCE), self.claimed_ids(lie));
        VenueProfile {
            name: "sim".into(),
            id_rule: IdRule {
                alphabet: "0123456789abcdef",
                max_len: 32,
            },
            duplicate: match ids {
                Ids::Forever => DuplicateRule::RefusedForever,
                Ids::Within => DuplicateRule::RefusedWithin(ms(WINDOW)),
                Ids::WhileOpen => DuplicateRule::RefusedWhileOpen,
                Ids::Existing => DuplicateRule::ReturnsExisting,
                Ids::Accepted => DuplicateRule::Accepted,
            },
            refusal_uses_up_bytes: self.remembered,
            fence: match self.fence {
                FenceKind::None => FenceRule::None,
                FenceKind::Book => FenceRule::Clock {
                    max,
                    drain: documented(0),
                },
                FenceKind::Documented => FenceRule::Clock {
                    max,
                    drain: documented(DRAIN),
                },
                FenceKind::Assumed => FenceRule::Clock {
                    max,
                    drain: Sourced::Assumed(ms(DRAIN)),
                },
            },
            absence: AbsenceRule {
                lag: documented(LAG),
                lag_blocks: 1,
                spacing: ms(LAG),
                margin: ms(20),
                closed_retention: documented(86_400_000),
                fills_retention: documented(86_400_000),
            },
            watch: ms(WATCH),
            cap: ms(1_500),
            rates: Rates {
                create: many,
                cancel: many,
                lookup: many,
            },
            poll: ms(300),
            nonce_scope: self.nonce_scope(),
            reduce_only: true,
            successors: false,
            amend: if self.amends {
                AmendRule::KeepsIds
            } else {
                AmendRule::None
            },
            cancel: if self.cancel_final {
                CancelRule::Final
            } else {
                CancelRule::Receipt
            },
            cancel_batch: 1,
        }
    }

    pub(super) fn nonce_scope(self) -> Option<NonceScope> {
        self.nonces.then(|| NonceScope("sim:signer".into()))
    }

    /// A liar claims unique ids whatever it does.
    const fn claimed_ids(self, lie: Option<Lie>) -> Ids {
        match lie {
            Some(Lie::IdsNotUnique) => Ids::Forever,
            _ => self.ids,
        }
    }

    /// What it does in truth.
    #[must_use]
    pub(super) const fn truth(mut self, lie: Option<Lie>) -> Self {
        if matches!(lie, Some(Lie::IdsNotUnique)) {
            self.ids = Ids::Accepted;
        }
        self
    }
}
