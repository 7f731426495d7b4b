//! Rate limits: per account and endpoint, in a rolling second of venue time.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use super::route::Endpoint;

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
pub(super) struct Rates(Mutex<BTreeMap<(String, Endpoint), VecDeque<u64>>>);

impl Rates {
    /// Counts one request, if it is allowed.
    pub(super) fn count(&self, uid: &str, endpoint: Endpoint, limit: u32, now_ms: u64) -> Rate {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = all.entry((uid.to_owned(), endpoint)).or_default();
        times.retain(|at| *at <= now_ms && at.saturating_add(1_000) > now_ms);
        let used = u32::try_from(times.len()).unwrap_or(u32::MAX);
        if used >= limit {
            let reset_ms = times
                .front()
                .map_or(now_ms, |oldest| oldest.saturating_add(1_000));
            return Rate {
                allowed: false,
                limit,
                left: 0,
                reset_ms,
            };
        }
        times.push_back(now_ms);
        let left = limit.saturating_sub(used).saturating_sub(1);
        Rate {
            allowed: true,
            limit,
            left,
            reset_ms: now_ms,
        }
    }
}
