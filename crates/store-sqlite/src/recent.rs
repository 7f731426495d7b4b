//! Rows that the writer has seen lately, so that a change need not read and parse them again.

use std::collections::HashMap;

use surefill_core::{ClOrdId, OrderRecord};

/// Rows of one generation; there are two. A row takes about a kilobyte.
const GENERATION: usize = 512;

/// Where an order stands in the file.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) seq: i64,
    pub(crate) live: bool,
    pub(crate) record: OrderRecord,
}

/// The newest rows: when a generation is full, the one before it is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    new: HashMap<ClOrdId, Found>,
    old: HashMap<ClOrdId, Found>,
}

impl Recent {
    /// Takes a row out. Whoever takes it puts it back, or the row as it is now.
    pub(crate) fn take(&mut self, id: ClOrdId) -> Option<Found> {
        self.new.remove(&id).or_else(|| self.old.remove(&id))
    }

    pub(crate) fn put(&mut self, found: Found) {
        if self.new.len() >= GENERATION {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(found.record.id, found);
    }

    pub(crate) fn clear(&mut self) {
        self.new.clear();
        self.old.clear();
    }
}
