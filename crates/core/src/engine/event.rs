//! What those who watch the engine are told.

use tokio::sync::broadcast;

use crate::{Halt, OrderRecord, Transition};

/// Something that happened, told after it was committed.
#[derive(Clone, Debug)]
pub enum Event {
    /// An order changed.
    Transition {
        /// The row after the change.
        order: Box<OrderRecord>,
        /// The log's entry.
        transition: Box<Transition>,
    },
    /// A scope is halted.
    Halted(Halt),
    /// A halt is lifted.
    Lifted(Halt),
    /// The watcher was too slow and missed this many: read the orders again.
    Lagged(u64),
}

/// A stream of events, from the moment it was asked for.
#[derive(Debug)]
pub struct Events(pub(crate) broadcast::Receiver<Event>);

impl Events {
    /// The next event; `None` once the engine is gone.
    pub async fn next(&mut self) -> Option<Event> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(Event::Lagged(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
