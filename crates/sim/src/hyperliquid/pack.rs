//! MessagePack of an action: what the venue rebuilds before it hashes.

use rmp::encode::{
    ValueWriteError, write_array_len, write_bool, write_map_len, write_sint, write_str, write_uint,
};

/// A value; the keys of a map in the order in which they are hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pack {
    Map(Vec<(&'static str, Self)>),
    List(Vec<Self>),
    Text(String),
    Whole(u64),
    Signed(i64),
    Flag(bool),
}

impl Pack {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of what each item packs to.
    pub(super) fn list<T>(items: &[T], pack: impl Fn(&T) -> Self) -> Self {
        Self::List(items.iter().map(pack).collect())
    }

    /// The bytes. Writing to memory does not fail; should it, nothing hashes to what was signed.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self.write(&mut out) {
            Ok(()) => out,
            Err(error) => {
                tracing::error!(%error, "cannot pack");
                Vec::new()
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), ValueWriteError> {
        match self {
            Self::Map(fields) => {
                write_map_len(out, length(fields.len()))?;
                for (key, value) in fields {
                    write_str(out, key)?;
                    value.write(out)?;
                }
            }
            Self::List(items) => {
                write_array_len(out, length(items.len()))?;
                for item in items {
                    item.write(out)?;
                }
            }
            Self::Text(text) => write_str(out, text)?,
            Self::Whole(number) => drop(write_uint(out, *number)?),
            Self::Signed(number) => drop(write_sint(out, *number)?),
            Self::Flag(flag) => {
                write_bool(out, *flag).map_err(ValueWriteError::InvalidMarkerWrite)?;
            }
        }
        Ok(())
    }
}

fn length(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
