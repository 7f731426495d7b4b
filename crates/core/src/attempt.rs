//! One signed request for an intent, and what is known of its copies.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{AsOf, Key, VenueTime};

/// The number of an attempt, from 1.
pub type AttemptNo = u32;

/// The instant or height after which the venue refuses an attempt at its gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fence {
    /// There is none: the venue may take the attempt at any time.
    None,
    /// An instant on the venue's clock.
    Clock(VenueTime),
    /// A block height.
    Height(u64),
}

/// One signed request, ready to be sent as often as its properties allow.
///
/// Everything that decides what the venue does, or until when, is in `wire`; sending adds authentication only.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Its number, from 1.
    pub no: AttemptNo,
    /// Names the layout of `wire`, such as `bybit.create.1`.
    pub format: Box<str>,
    /// The request's bytes. No secret is in them; a signature may be.
    #[serde(with = "hex_bytes")]
    pub wire: Vec<u8>,
    /// What the venue knows the order by.
    pub keys: Vec<Key>,
    /// Until when the venue may take it.
    pub fence: Fence,
    /// The venue remembers these bytes (nonce, hash, signature): a second copy changes nothing.
    pub replayable: bool,
    /// There is a request that makes the attempt unlandable.
    pub revocable: bool,
    /// Another attempt can be built from the row alone.
    pub rebuildable: bool,
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("no", &self.no)
            .field("format", &self.format)
            .field("wire_bytes", &self.wire.len())
            .field("keys", &self.keys)
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}

/// What is known of the copies of an attempt's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Copies {
    /// None ever left: every send failed to connect, or was held back before the first byte.
    None,
    /// Each one that left was turned away before it was acted upon, by the venue's word.
    Turned,
    /// One may be on its way, or has arrived.
    Loose,
}

/// How far the revocation of an attempt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevocationState {
    /// Not asked.
    None,
    /// Durably asked, not known to have taken effect. Ends replay.
    Asked,
    /// The venue said that the attempt cannot land any more.
    Revoked,
    /// The venue said, at this instant, that the nonce is used: by the order, or by an earlier revocation.
    Used(AsOf),
}

/// An attempt's row in the journal: all but its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptState {
    /// Its number, from 1.
    pub no: AttemptNo,
    /// What the venue knows the order by.
    pub keys: Vec<Key>,
    /// Until when the venue may take it.
    pub fence: Fence,
    /// See [`Attempt::replayable`].
    pub replayable: bool,
    /// See [`Attempt::revocable`].
    pub revocable: bool,
    /// See [`Attempt::rebuildable`].
    pub rebuildable: bool,
    /// When it was made durable, venue time: no copy left earlier.
    pub made_at: VenueTime,
    /// What is known of its copies.
    pub copies: Copies,
    /// The venue has spoken of the order: absence of it is never final again.
    pub admitted: bool,
    /// The venue has said that it knows the bytes: no new attempt, ever.
    pub bytes_known: bool,
    /// The venue refused it for good, in answer to its only copy.
    pub refused: bool,
    /// How far its revocation has come.
    pub revocation: RevocationState,
    /// What was last heard of it, for people.
    pub outcome: Box<str>,
}

impl AttemptState {
    /// The row of a fresh attempt. From its commit on a copy may be out.
    pub fn new(attempt: &Attempt, made_at: VenueTime) -> Self {
        Self {
            no: attempt.no,
            keys: attempt.keys.clone(),
            fence: attempt.fence,
            replayable: attempt.replayable,
            revocable: attempt.revocable,
            rebuildable: attempt.rebuildable,
            made_at,
            copies: Copies::Loose,
            admitted: false,
            bytes_known: false,
            refused: false,
            revocation: RevocationState::None,
            outcome: "".into(),
        }
    }

    /// Whether no copy can become an order any more, by the venue's word or because none left.
    pub fn settled(&self) -> bool {
        self.revocation == RevocationState::Revoked
            || self.refused
            || match self.copies {
                Copies::None | Copies::Turned => true,
                Copies::Loose => false,
            }
    }
}

mod hex_bytes {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&hex::encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        hex::decode(&*text).map_err(de::Error::custom)
    }
}
