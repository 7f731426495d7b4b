//! What a venue says without being asked, on its way to the sockets that listen.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::broadcast;

/// Pushes that a slow socket may be behind before it is cut off.
const BEHIND: usize = 16_384;

/// One message of a stream, before a socket wraps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Push {
    /// Whose.
    pub(crate) account: String,
    /// The all-in-one name of its topic.
    pub(crate) topic: &'static str,
    /// The category of its rows.
    pub(crate) category: String,
    /// Number of the last event that it speaks of.
    pub(crate) seq: u64,
    /// Venue time.
    pub(crate) at_ms: u64,
    /// The message's own id.
    pub(crate) id: String,
    /// Its rows.
    pub(crate) rows: Vec<Value>,
}

/// All sockets that listen.
#[derive(Debug)]
pub(crate) struct Pushes(broadcast::Sender<Arc<Push>>);

impl Default for Pushes {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }
}

impl Pushes {
    /// What is said from now on.
    pub(super) fn listen(&self) -> broadcast::Receiver<Arc<Push>> {
        self.0.subscribe()
    }

    /// Says it to all who listen.
    pub(crate) fn say(&self, push: Push) {
        // Nobody may be there to hear it.
        drop(self.0.send(Arc::new(push)));
    }
}
