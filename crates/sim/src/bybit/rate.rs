//! Rate limits: per account and endpoint, in a rolling second of venue time.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use super::route::Endpoint;

/// What is counted together: the endpoint, and whether it is spot, which has limits of its own.
type Class = (Endpoint, bool);

/// What the headers say about one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) allowed: bool,
    pub(super) limit: u32,
    pub(super) left: u32,
    pub(super) reset_ms: u64,
}

impl Rate {
    /// The three headers of an answer.
    pub(super) fn headers(self) -> Vec<(&'static str, String)> {
        vec![
            ("X-Bapi-Limit", self.limit.to_string()),
            ("X-Bapi-Limit-Status", self.left.to_string()),
            ("X-Bapi-Limit-Reset-Timestamp", self.reset_ms.to_string()),
        ]
    }
}

/// Times of the requests of the last second.
#[derive(Debug, Default)]
pub(super) struct Rates {
    accounts: Mutex<BTreeMap<(String, Class), VecDeque<u64>>>,
    /// Of the last five seconds, whoever asked: all clients are on one address.
    address: Mutex<VecDeque<u64>>,
}

impl Rates {
    /// Counts as many of `asked` requests as are allowed, and says how many those are.
    pub(super) fn count(
        &self,
        uid: &str,
        class: Class,
        limit: u32,
        asked: u32,
        now_ms: u64,
    ) -> (u32, Rate) {
        let mut all = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let times = all.entry((uid.to_owned(), class)).or_default();
        times.retain(|at| *at <= now_ms && at.saturating_add(1_000) > now_ms);
        let used = u32::try_from(times.len()).unwrap_or(u32::MAX);
        let granted = limit.saturating_sub(used).min(asked);
        for _ in 0..granted {
            times.push_back(now_ms);
        }
        let left = limit.saturating_sub(used).saturating_sub(granted);
        let reset_ms = match times.front() {
            Some(oldest) if granted < asked => oldest.saturating_add(1_000),
            Some(_) | None => now_ms,
        };
        let rate = Rate {
            allowed: granted > 0,
            limit,
            left,
            reset_ms,
        };
        (granted, rate)
    }

    /// Counts one request of the address; false if it is one too many.
    pub(super) fn count_address(&self, limit: u32, now_ms: u64) -> bool {
        let mut times = self.address.lock().unwrap_or_else(PoisonError::into_inner);
        times.retain(|at| *at <= now_ms && at.saturating_add(5_000) > now_ms);
        times.push_back(now_ms);
        u32::try_from(times.len()).is_ok_and(|count| count <= limit)
    }
}
