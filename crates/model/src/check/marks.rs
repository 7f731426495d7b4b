//! What a check met on its way, for the table.

/// What the check met on its way, for the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Stored bytes were sent again.
    Replayed = 1,
    /// A next attempt was sent.
    Resent = 2,
    /// A revocation was asked.
    Revoked = 4,
    /// A row was watched.
    Watched = 8,
    /// It ended as an order.
    OneOrder = 16,
    /// It ended without an order.
    NoOrder = 32,
    /// It ended under a halt: no fence.
    HaltFence = 64,
    /// It ended under a halt: the drain is only assumed.
    HaltDrain = 128,
    /// It ended under a halt: the lists do not reach back.
    HaltRetention = 256,
    /// It ended under a halt: named, and not shown.
    HaltSight = 512,
    /// It ended under a halt: no answer.
    HaltAnswer = 1024,
    /// It ended under a halt: an order came to light under an ended row.
    HaltSurprise = 2048,
    /// It ended under a halt: two orders.
    HaltSecond = 4096,
}

/// What the check met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(pub(super) u32);

impl Marks {
    #[expect(clippy::as_conversions, reason = "the discriminant is the bit")]
    pub(crate) const fn has(self, mark: Mark) -> bool {
        self.0 & mark as u32 != 0
    }

    /// What either met.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
