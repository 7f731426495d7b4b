//! Weights of requests per address of the network, in a rolling minute.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

const MINUTE_MS: u64 = 60_000;

/// What all clients spent; they are all on one address.
#[derive(Debug, Default)]
pub(super) struct Weights(Mutex<VecDeque<(u64, u64)>>);

impl Weights {
    /// Spends `weight` if that stays within `limit`; a limit of zero is none.
    pub(super) fn spend(&self, weight: u64, limit: u64, now_ms: u64) -> bool {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spent.retain(|(at, _)| *at <= now_ms && at.saturating_add(MINUTE_MS) > now_ms);
        let sum = spent
            .iter()
            .fold(weight, |sum, (_, weight)| sum.saturating_add(*weight));
        if limit > 0 && sum > limit {
            return false;
        }
        spent.push_back((now_ms, weight));
        true
    }

    /// Adds what an answer turned out to weigh.
    pub(super) fn add(&self, weight: u64, now_ms: u64) {
        if weight > 0 {
            let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            spent.push_back((now_ms, weight));
        }
    }
}
