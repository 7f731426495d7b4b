//! Which client ids are taken, under each of the rules that venues have.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::order::OrderNo;

/// What a venue does with a client id that it has seen before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DuplicateRule {
    /// Refused for ever.
    RefusedForever,
    /// Refused within the day, and within the last ids of the account.
    RefusedDay,
    /// Refused while the order that has it is open.
    WhileOpen,
    /// Answered with the first order.
    ReturnsExisting,
    /// Taken as a new order.
    Accepted,
}

impl DuplicateRule {
    /// All rules, for parsers.
    pub const ALL: [Self; 5] = [
        Self::RefusedForever,
        Self::RefusedDay,
        Self::WhileOpen,
        Self::ReturnsExisting,
        Self::Accepted,
    ];

    /// The word of the control port.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::RefusedForever => "refused_forever",
            Self::RefusedDay => "refused_day",
            Self::WhileOpen => "while_open",
            Self::ReturnsExisting => "returns_existing",
            Self::Accepted => "accepted",
        }
    }
}

/// The ids of one account. Only an accepted order takes one.
#[derive(Debug, Default)]
pub(super) struct Ids {
    ever: BTreeMap<String, Vec<OrderNo>>,
    day: VecDeque<String>,
    day_count: BTreeMap<String, u32>,
}

impl Ids {
    /// All orders that came with the id, oldest first; refused ones are in it only if they were recorded.
    pub(super) fn orders(&self, id: &str) -> &[OrderNo] {
        self.ever.get(id).map_or(&[], Vec::as_slice)
    }

    /// Whether the day's window holds the id.
    pub(super) fn in_day(&self, id: &str) -> bool {
        self.day_count.contains_key(id)
    }

    /// An accepted order takes the id; the oldest of the day leave when the window is full.
    pub(super) fn take(&mut self, id: &str, order: OrderNo, window: u32) {
        self.ever.entry(id.to_owned()).or_default().push(order);
        self.day.push_back(id.to_owned());
        let count = self.day_count.entry(id.to_owned()).or_default();
        *count = count.saturating_add(1);
        self.shrink(window);
    }

    /// A refused order is found by its id, which stays free.
    pub(super) fn record(&mut self, id: &str, order: OrderNo) {
        self.ever.entry(id.to_owned()).or_default().push(order);
    }

    /// Evicts the oldest ids of the day until at most `window` are left.
    pub(super) fn shrink(&mut self, window: u32) {
        while u32::try_from(self.day.len()).map_or(true, |len| len > window) {
            let Some(oldest) = self.day.pop_front() else {
                return;
            };
            if let Some(count) = self.day_count.get_mut(&oldest) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    self.day_count.remove(&oldest);
                }
            }
        }
    }

    /// Forgets the day.
    pub(super) fn close_day(&mut self) {
        self.day.clear();
        self.day_count.clear();
    }
}
