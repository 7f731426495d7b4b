//! Parts that are not what they claim to be: each takes out one guard. Product code has no such switch.

/// A part that lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// The store says that an intent or the next attempt is durable, and it is not.
    AttemptLazy,
    /// The store says that Pending to Submitted is durable, and it is not.
    SubmittedLazy,
    /// The store loses a Rejected that was told.
    RejectedLazy,
    /// The store loses a halt that was announced.
    HaltLazy,
    /// The store loses a cancel that was asked.
    CancelLost,
    /// The store keeps a watch in memory only.
    WatchLost,
    /// The store keeps no watch for a second order of an intent.
    SecondUnwatched,
    /// The store takes every change from whatever process, applied to the row as that process knows it, and the last check asks for no lease: who
    /// writes last wins.
    NoCas,
    /// The store takes every change from whatever process and whatever version it expects, by the rules of the row as it is.
    VersionUnread,
    /// The store keeps one fence for an order: that of its last attempt.
    OneFence,
    /// The store marks every attempt as refused when one is.
    RefusalForAll,
    /// The store marks every nonce as used when one is.
    UsedForAll,
    /// The driver takes a claim of the process before for somebody else's work.
    ClaimKept,
    /// The driver calls every send the first.
    AlwaysFirst,
    /// The driver's last check takes a lease that it lost for its own.
    LeaseKept,
    /// The driver waits where it is to halt for doubt.
    DoubtUnsaid,
    /// The driver does not have the halt tested inside the commit of the next attempt.
    HaltNotTested,
    /// Nobody asks for the fills of closed orders.
    NoSweep,
    /// The adapter says that the fence is where the request was signed.
    FenceEarly,
    /// The adapter calls the instant of the answer the begin of a round.
    BegunAtEnd,
    /// The adapter calls the begin of a round its end.
    EndedAtBegun,
    /// The adapter makes one search and says that it made two.
    OneRound,
    /// The adapter reads "the nonce is used" as an order that landed.
    UsedIsOrder,
    /// The adapter says that the id is as good as a revocation.
    IdIsProof,
    /// The adapter does not say that the bytes are remembered.
    MemoryDenied,
    /// The profile leaves the drain out.
    NoDrain,
    /// The profile says that the lists reach back for ever.
    LongRetention,
    /// The profile has a watch of no length.
    NoWatch,
}
