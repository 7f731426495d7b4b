//! Parts that claim what they do not do: what the checks must find.

/// A part that claims what it does not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// The store answers before an intent is journaled.
    BeginNotKept,
    /// The store says that a change is durable, and a power cut may take it.
    SyncNotKept,
    /// The store says that a halt is durable and does not write it.
    HaltNotKept,
    /// The store takes entries whatever halts and doubt say, and hides the halts from the next start.
    GateIgnored,
    /// The store writes everything of a change but that a cancel is asked.
    CancelForgotten,
    /// The store writes everything of a change but the watch for a second order.
    SecondUnwatched,
    /// The store writes everything of a change but the venue's evidence of the order.
    EvidenceForgotten,
    /// The store says yes to a lazy change and does not write it.
    ChangeNotKept,
    /// A plain crash takes lazy writes with it.
    LostInCrash,
    /// The log of an order lacks an entry.
    LogRewritten,
    /// The store hides orders in doubt from the next start.
    UnfinishedHidden,
    /// The store journals another instant of decision than was given.
    DecisionMoved,
    /// The store answers that a decision with other terms is the same.
    TermsForgotten,
    /// The store gives out nonces without a mark.
    NoncesForgotten,
    /// The store calls a failed commit a full disk.
    FailureCalledFull,
    /// The store serves two processes at once.
    LockIgnored,
    /// The venue claims unique ids and takes duplicates.
    IdsNotUnique,
    /// The venue takes longer from gate to book than it documents.
    LongerDrain,
    /// The venue forgets the signed bytes that it claims to remember.
    BytesForgotten,
    /// The venue never shows an order that filled nothing.
    NeverShown,
    /// The venue shows only the first order under an id.
    SecondHidden,
    /// The venue shows each fill under two ids.
    FillsTwice,
    /// The venue says that more is executed than is.
    CumTooMuch,
    /// The venue shows the terms of an amend that it has refused.
    AmendNotMade,
    /// The adapter says that a cancel went out, and sends none.
    CancelNotSent,
    /// The adapter sends a revocation that the engine has not asked for yet.
    RevokedEarly,
}
