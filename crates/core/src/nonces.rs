//! Nonces that are never given out twice, in any process.

use std::fmt;
use std::ops::Range;

use tokio::sync::Mutex;

use crate::{Journal, NonceScope, StoreError, VenueTime};

/// How far ahead of the venue's time nonces are reserved, milliseconds: one sync a second, however many are used.
const AHEAD_MS: u64 = 1_000;

/// Hands out nonces of one scope: strictly increasing across restarts and steps of the clock, each durable before it is used.
///
/// They are milliseconds. A block of them is reserved at a time, never further ahead of the venue's time than a second unless the
/// journal's mark is there already; what a crash leaves of a block is never used.
pub struct Nonces {
    journal: Journal,
    scope: NonceScope,
    /// Reserved, and not handed out yet.
    block: Mutex<Range<u64>>,
}

impl fmt::Debug for Nonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nonces")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl Nonces {
    /// Nonces of `scope`, kept in `journal`.
    pub fn new(journal: Journal, scope: NonceScope) -> Self {
        Self {
            journal,
            scope,
            block: Mutex::new(0..0),
        }
    }

    /// The next nonce, not below the venue's time in milliseconds.
    ///
    /// # Errors
    /// The journal's.
    pub async fn next(&self, now: VenueTime) -> Result<u64, StoreError> {
        let mut block = self.block.lock().await;
        let next = now.as_ms().max(block.start);
        if next < block.end {
            block.start = next.saturating_add(1);
            return Ok(next);
        }
        // What the journal's mark is shows only in its answer, so the first reservation is of one.
        let heard = block.end > 0;
        let ahead = now.as_ms().saturating_add(AHEAD_MS).saturating_sub(next);
        let n = if heard { ahead.max(1) } else { 1 };
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        let store = self.journal.store();
        let reserved = self
            .journal
            .write(store.reserve(&self.scope, next, n))
            .await?;
        *block = reserved.start.saturating_add(1)..reserved.end;
        Ok(reserved.start)
    }

    /// The next nonce for a request that must go out although the journal takes nothing, such as a cancel. It is durable where that is
    /// possible; where not, it is still above every one that this process has handed out.
    pub async fn next_even_unjournaled(&self, now: VenueTime) -> u64 {
        match self.next(now).await {
            Ok(nonce) => nonce,
            Err(error) => {
                tracing::warn!(scope = %self.scope.0, %error, "a nonce is used that is not journaled");
                let mut block = self.block.lock().await;
                let nonce = now.as_ms().max(block.start);
                block.start = nonce.saturating_add(1);
                nonce
            }
        }
    }
}
