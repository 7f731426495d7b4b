//! Parts that are not what they claim to be: each takes out one guard. Product code has no such switch.

/// A part that lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// The store says that an intent or the next attempt is durable, and it is not.
    AttemptLazy,
    /// The store loses a Rejected that was told.
    RejectedLazy,
    /// The store loses a halt that was announced.
    HaltLazy,
    /// The store loses a cancel that was asked.
    CancelLost,
    /// The store keeps a watch in memory only.
    WatchLost,
    /// The store takes every change, whatever the version of the row, from whatever process.
    NoCas,
    /// The store marks every attempt as refused when one is.
    RefusalForAll,
    /// The store marks every nonce as used when one is.
    UsedForAll,
    /// The driver takes a claim of the process before for somebody else's work.
    ClaimKept,
    /// The driver calls every send the first.
    AlwaysFirst,
    /// The driver does not have the halt tested inside the commit of the next attempt.
    HaltNotTested,
    /// Nobody asks for the fills of closed orders.
    NoSweep,
    /// The adapter says that the fence is where the request was signed.
    FenceEarly,
    /// The adapter calls the instant of the answer the begin of a round.
    BegunAtEnd,
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
