//! Rows as they are stored, and back.

use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use surefill_core::{Attempt, AttemptNo, ClOrdId, Fence, Key, StoreError, VenueTime};

use crate::error::damaged;

/// An attempt without its bytes, which lie beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    no: AttemptNo,
    format: Box<str>,
    keys: Vec<Key>,
    fence: Fence,
    replayable: bool,
    revocable: bool,
    rebuildable: bool,
}

impl Head {
    pub(crate) fn of(attempt: &Attempt) -> Self {
        let Attempt {
            no,
            format,
            wire: _,
            keys,
            fence,
            replayable,
            revocable,
            rebuildable,
        } = attempt.clone();
        Self {
            no,
            format,
            keys,
            fence,
            replayable,
            revocable,
            rebuildable,
        }
    }

    pub(crate) const fn no(&self) -> AttemptNo {
        self.no
    }

    pub(crate) fn with(self, wire: Vec<u8>) -> Attempt {
        Attempt {
            no: self.no,
            format: self.format,
            wire,
            keys: self.keys,
            fence: self.fence,
            replayable: self.replayable,
            revocable: self.revocable,
            rebuildable: self.rebuildable,
        }
    }
}

/// The JSON of a row. Our types always serialize.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(damaged)
}

/// A row of its JSON.
pub(crate) fn parse<T: DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(damaged)
}

/// A word such as a state or a cause, of its text.
pub(crate) fn word<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, StoreError> {
    let text: StrDeserializer<'a, WordError> = text.into_deserializer();
    T::deserialize(text).map_err(damaged)
}

/// An order's id of its bytes.
pub(crate) fn id(bytes: &[u8]) -> Result<ClOrdId, StoreError> {
    let bytes = <[u8; 16]>::try_from(bytes).ok();
    bytes
        .and_then(ClOrdId::from_bytes)
        .ok_or_else(|| damaged("an id that is none"))
}

/// A time for a column that is only compared: the far end of time stays there.
pub(crate) fn ordered(at: VenueTime) -> i64 {
    i64::try_from(at.as_ms()).unwrap_or(i64::MAX)
}

/// A time for a column that is read back.
pub(crate) const fn stored(at: VenueTime) -> i64 {
    at.as_ms().cast_signed()
}

/// The time of such a column.
pub(crate) const fn time(stored: i64) -> VenueTime {
    VenueTime::from_ms(stored.cast_unsigned())
}
