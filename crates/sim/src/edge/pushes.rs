//! What a venue says without being asked, on its way to the sockets that listen.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

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

/// So many of the last pushes can be said again.
const KEPT: usize = 1_024;

/// All sockets that listen, and what was said last.
#[derive(Debug)]
pub(crate) struct Pushes {
    sockets: broadcast::Sender<Arc<Push>>,
    said: Mutex<VecDeque<Push>>,
}

impl Default for Pushes {
    fn default() -> Self {
        Self {
            sockets: broadcast::Sender::new(BEHIND),
            said: Mutex::default(),
        }
    }
}

impl Pushes {
    /// What is said from now on.
    pub(super) fn listen(&self) -> broadcast::Receiver<Arc<Push>> {
        self.sockets.subscribe()
    }

    /// Says it to all who listen.
    pub(crate) fn say(&self, push: Push) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() >= KEPT {
            said.pop_front();
        }
        said.push_back(push.clone());
        drop(said);
        self.send(push);
    }

    /// Says the last pushes again, in their order and with their rows, also to those who subscribed since.
    pub(crate) fn say_again(&self) {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        for push in said.iter().cloned() {
            self.send(Push {
                seq: u64::MAX,
                ..push
            });
        }
    }

    fn send(&self, push: Push) {
        // Nobody may be there to hear it.
        drop(self.sockets.send(Arc::new(push)));
    }
}
