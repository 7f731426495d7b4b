//! Cancels that go out several at a time: each is durable by then, and each answer goes to its order's driver.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::shared::Shared;
use crate::{Alias, CancelOutcome, OrderRecord};

/// How long a cancel that is durable waits for others.
pub(crate) const GATHER: Duration = Duration::from_millis(20);

/// Cancels that are durable, and whom to tell what the venue answers. A teller that is dropped lets the driver ask by itself.
pub(crate) struct Together {
    shared: Arc<Shared>,
    waiting: HashMap<Alias, Vec<(OrderRecord, oneshot::Sender<CancelOutcome>)>>,
}

impl Together {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            waiting: HashMap::new(),
        }
    }

    /// Takes an order in whose driver waits for the answer; a full request leaves at once.
    pub(crate) fn add(&mut self, row: OrderRecord, answer: oneshot::Sender<CancelOutcome>) {
        let most = self.most(row.alias());
        if most < 2 || answer.is_closed() {
            return;
        }
        let alias = row.alias().clone();
        let waiting = self.waiting.entry(alias.clone()).or_default();
        waiting.push((row, answer));
        if waiting.len() >= most {
            let full = std::mem::take(waiting);
            self.send(&alias, full);
        }
    }

    /// Sends what has gathered.
    pub(crate) fn send_all(&mut self) {
        for (alias, waiting) in std::mem::take(&mut self.waiting) {
            // One alone is left to its driver.
            if waiting.len() > 1 {
                self.send(&alias, waiting);
            }
        }
    }

    fn most(&self, alias: &Alias) -> usize {
        let desk = self.shared.desks.get(alias);
        desk.map_or(1, |desk| desk.profile.cancel_batch)
    }

    fn send(&self, alias: &Alias, batch: Vec<(OrderRecord, oneshot::Sender<CancelOutcome>)>) {
        let Some(desk) = self.shared.desks.get(alias) else {
            return;
        };
        let venue = Arc::clone(&desk.venue);
        let (rows, tellers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        // Should the adapter panic, or name fewer answers, the tellers are dropped.
        self.shared.spawn(async move {
            let outcomes = venue.cancel_batch(&rows).await;
            for (teller, outcome) in tellers.into_iter().zip(outcomes) {
                // A driver that is gone has let go of the order, or it ended.
                drop(teller.send(outcome));
            }
        });
    }
}
