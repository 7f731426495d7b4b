//! Orders that lists do not show for a while.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::fields::{Fields, Wrong};

/// A kind of list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shelf {
    Open,
    Closed,
    Fills,
}

impl Shelf {
    fn read(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "open" => Some(Self::Open),
            "closed" => Some(Self::Closed),
            "fills" => Some(Self::Fills),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct Veil {
    id: String,
    until_ms: u64,
    from: Vec<Shelf>,
}

/// What is hidden, and until when.
#[derive(Debug, Default)]
pub(crate) struct Hidden(Mutex<Vec<Veil>>);

impl Hidden {
    /// Reads and applies the body of `POST /_sim/hide`. The order need not exist yet. For no time at all it is shown again everywhere.
    pub(crate) fn post(&self, mut fields: Fields, now_ms: u64) -> Result<(), Wrong> {
        let id = fields
            .text("cl_ord_id")?
            .ok_or_else(|| Wrong::missing("cl_ord_id"))?;
        let ms = fields.whole("ms")?.ok_or_else(|| Wrong::missing("ms"))?;
        let from = match fields.value("from") {
            None => return Err(Wrong::missing("from")),
            Some(value) => {
                let list = value
                    .as_array()
                    .ok_or_else(|| Wrong::value("from", &value))?;
                let shelf = |item| Shelf::read(item).ok_or_else(|| Wrong::value("from", item));
                list.iter().map(shelf).collect::<Result<Vec<_>, _>>()?
            }
        };
        fields.done()?;
        let mut veils = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        veils.retain(|veil| veil.until_ms > now_ms && (ms > 0 || veil.id != id));
        veils.push(Veil {
            id,
            until_ms: now_ms.saturating_add(ms),
            from,
        });
        Ok(())
    }

    /// Whether an order is hidden from `shelf`; `is` says whether an id of the control port means it.
    pub(crate) fn hides(&self, shelf: Shelf, now_ms: u64, is: impl Fn(&str) -> bool) -> bool {
        let veils = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        veils
            .iter()
            .any(|veil| veil.until_ms > now_ms && veil.from.contains(&shelf) && is(&veil.id))
    }
}
