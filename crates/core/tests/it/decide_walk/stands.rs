//! Where a process may stand: the time, and what it remembers.

use crate::kit::{BOUND, CLOSED_KEPT, Camp, FenceKind, T0, TTL};

impl Camp {
    pub(super) const fn height(self) -> bool {
        matches!(self.fence, FenceKind::Height | FenceKind::AssumedHeight)
    }
}

/// Where the world stands around the row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand {
    pub(super) now: u64,
    pub(super) rounds: &'static [(u64, u64)],
    pub(super) lease: bool,
    pub(super) halted: bool,
}

/// Fresh, before the fence, after a round that proves nothing yet.
pub(super) const EARLY: Stand = Stand {
    now: T0 + 2_000,
    rounds: &[(T0 + 1_000, T0 + 1_100)],
    lease: true,
    halted: false,
};

/// Fresh, after two rounds that make absence complete.
pub(super) const PROVEN: Stand = Stand {
    now: BOUND + 3_000,
    rounds: &[(BOUND, BOUND + 100), (BOUND + 2_000, BOUND + 2_100)],
    lease: true,
    halted: false,
};

pub(super) const STALE: Stand = Stand {
    now: T0 + TTL + 5_000,
    ..PROVEN
};

/// Stale, after two rounds of which the first began too early.
pub(super) const UNPROVEN: Stand = Stand {
    now: T0 + TTL + 5_000,
    rounds: &[(T0 + 3_000, T0 + 3_100), (BOUND, BOUND + 100)],
    lease: true,
    halted: false,
};

pub(super) const FORGOTTEN: Stand = Stand {
    now: T0 + CLOSED_KEPT + 5_000,
    rounds: &[
        (T0 + CLOSED_KEPT + 1_000, T0 + CLOSED_KEPT + 1_100),
        (T0 + CLOSED_KEPT + 3_000, T0 + CLOSED_KEPT + 3_100),
    ],
    lease: true,
    halted: false,
};

pub(super) const STANDS: [Stand; 8] = [
    EARLY,
    Stand {
        halted: true,
        ..EARLY
    },
    PROVEN,
    Stand {
        halted: true,
        ..PROVEN
    },
    Stand {
        lease: false,
        ..PROVEN
    },
    UNPROVEN,
    STALE,
    FORGOTTEN,
];
