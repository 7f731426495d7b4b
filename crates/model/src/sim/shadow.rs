//! What a power cut would leave: a second journal, written at each sync only, beside the one that the engine writes.

use std::collections::BTreeMap;

use surefill_core::{
    Attempt, AttemptNo, Begin, Change, ClOrdId, Durability, Entry, Halt, MemoryStore, OrderRecord,
    Store, VenueTime,
};

use super::world::now;

/// The durable part of the journal, what is at stake, and each row as it was answered last.
#[derive(Debug)]
pub(super) struct Shadow {
    durable: MemoryStore,
    /// Lazy commits since the last sync; `None` for one that is no change of an order.
    stake: Vec<Option<Change>>,
    rows: BTreeMap<ClOrdId, OrderRecord>,
    /// Every halt that was ever durable.
    halts: Vec<Halt>,
}

impl Shadow {
    pub(super) fn new(made_at: VenueTime) -> Self {
        Self {
            durable: MemoryStore::new(made_at),
            stake: Vec::new(),
            rows: BTreeMap::new(),
            halts: Vec::new(),
        }
    }

    /// An intent was journaled.
    pub(super) fn begun(&mut self, begin: &Begin) {
        self.sync();
        // Whether it may enter was the journal's question.
        let begin = Begin {
            entry: Entry::Exit,
            ..begin.clone()
        };
        self.rows.insert(begin.order.id, begin.order.clone());
        now(self.durable.begin(begin)).expect("memory");
    }

    /// A change was committed. Says what is wrong with the answer.
    pub(super) fn applied(
        &mut self,
        change: &Change,
        durability: Durability,
        row: &OrderRecord,
    ) -> Option<String> {
        let id = change.id;
        let Some(before) = self.rows.insert(id, row.clone()) else {
            return Some(format!("I1: a change of {id}, which is not journaled"));
        };
        if before.version != change.expected || row.version != before.version + 1 {
            return Some(format!(
                "I2: {id} is at version {} after a change of version {} that expected {}",
                row.version, before.version, change.expected
            ));
        }
        if before.state.is_terminal() && row.state != before.state {
            return Some(format!(
                "I3: {id} was {} and is {}",
                before.state, row.state
            ));
        }
        if row.cum_qty < before.cum_qty {
            return Some(format!(
                "I4: {id} had executed {} and now {}",
                before.cum_qty, row.cum_qty
            ));
        }
        self.stake.push(Some(change.clone()));
        if durability == Durability::Sync {
            self.sync();
        }
        None
    }

    /// A lazy commit that is no change of an order.
    pub(super) fn lazy(&mut self) {
        self.stake.push(None);
    }

    /// Everything up to here is durable.
    pub(super) fn sync(&mut self) {
        for change in std::mem::take(&mut self.stake) {
            self.keep(change);
        }
    }

    fn keep(&mut self, change: Option<Change>) {
        let Some(change) = change else { return };
        self.halts.extend(change.halt.clone());
        let change = Change {
            unless_halted: false,
            ..change
        };
        now(self.durable.apply(change, Durability::Sync)).expect("what the journal took");
    }

    pub(super) fn halted(&mut self, halt: &Halt) {
        self.sync();
        self.halts.push(halt.clone());
    }

    /// Whether it was durable, ever.
    pub(super) fn was_halted(&self, halt: &Halt) -> bool {
        let mut halts = self.halts.iter();
        halts.any(|other| other.scope == halt.scope && other.cause == halt.cause)
    }

    /// How many commits a power cut may take.
    pub(super) fn at_stake(&self) -> usize {
        self.stake.len()
    }

    /// A power cut took the newest so many of them.
    pub(super) fn lost(&mut self, lose: usize) {
        let keep = self.stake.len().saturating_sub(lose);
        self.stake.truncate(keep);
        self.sync();
        let ids: Vec<ClOrdId> = self.rows.keys().copied().collect();
        for id in ids {
            match self.durable(id) {
                Some(row) => self.rows.insert(id, row),
                None => self.rows.remove(&id),
            };
        }
    }

    /// A row as it was answered last.
    pub(super) fn row(&self, id: ClOrdId) -> Option<&OrderRecord> {
        self.rows.get(&id)
    }

    pub(super) fn ids(&self) -> Vec<ClOrdId> {
        self.rows.keys().copied().collect()
    }

    /// A row as a power cut would leave it.
    pub(super) fn durable(&self, id: ClOrdId) -> Option<OrderRecord> {
        now(self.durable.order(id)).ok().flatten()
    }

    /// An attempt as a power cut would leave it.
    pub(super) fn durable_attempt(&self, id: ClOrdId, no: AttemptNo) -> Option<Attempt> {
        now(self.durable.attempt(id, no)).ok().flatten()
    }
}
