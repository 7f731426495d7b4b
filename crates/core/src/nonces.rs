//! Nonces that are never given out twice, in any process.

use crate::{Journal, NonceScope, StoreError, VenueTime};

/// Hands out nonces of one scope, each durable before it is used.
#[derive(Clone, Debug)]
pub struct Nonces {
    journal: Journal,
    scope: NonceScope,
}

impl Nonces {
    /// Nonces of `scope`, kept in `journal`.
    pub const fn new(journal: Journal, scope: NonceScope) -> Self {
        Self { journal, scope }
    }

    /// The next nonce, not below the venue's time in milliseconds.
    ///
    /// # Errors
    /// The journal's.
    pub async fn next(&self, now: VenueTime) -> Result<u64, StoreError> {
        let store = self.journal.store();
        let range = self
            .journal
            .write(store.reserve(&self.scope, now.as_ms(), 1))
            .await?;
        Ok(range.start)
    }
}
