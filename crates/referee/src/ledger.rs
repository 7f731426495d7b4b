//! What a judged journal says of each decision.

use std::collections::BTreeMap;

use surefill_core::{Halt, OrdState, OrderRecord, Transition};

/// What became of the decisions, by strategy, and which halts stood.
#[derive(Debug)]
pub struct Ledger {
    pub(crate) rows: BTreeMap<String, OrderRecord>,
    pub(crate) logs: BTreeMap<String, Vec<Transition>>,
    pub(crate) stand: Vec<Halt>,
    pub(crate) lifted: Vec<Halt>,
}

impl Ledger {
    /// The row of a decision.
    pub fn of(&self, strategy: &str) -> &OrderRecord {
        let row = self.rows.get(strategy);
        row.unwrap_or_else(|| panic!("no decision of {strategy}: {self:?}"))
    }

    /// The log of a decision.
    pub fn log(&self, strategy: &str) -> &[Transition] {
        self.logs
            .get(strategy)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// How many decisions the journal holds.
    pub fn decisions(&self) -> usize {
        self.rows.len()
    }

    /// The decision ended as one order, which lives or has lived. The promise P2, where a venue can be reached.
    pub fn one_order(&self, strategy: &str) -> &OrderRecord {
        let row = self.of(strategy);
        assert_eq!(row.order_ids.len(), 1, "not exactly one order: {row:?}");
        row
    }

    /// No order came of the decision.
    pub fn no_order(&self, strategy: &str, state: OrdState) -> &OrderRecord {
        let row = self.of(strategy);
        assert!(row.order_ids.is_empty(), "an order: {row:?}");
        assert_eq!(row.state, state, "{row:?}");
        row
    }

    /// Every halt that was ever declared, lifted ones first.
    pub fn halts(&self) -> impl Iterator<Item = &Halt> {
        self.lifted.iter().chain(&self.stand)
    }

    /// Nothing was ever halted.
    pub fn never_halted(&self) {
        let halts: Vec<&Halt> = self.halts().collect();
        assert!(halts.is_empty(), "{halts:?}");
    }
}
