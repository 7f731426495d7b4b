//! The bytes of a create: everything that decides what the venue does with it.

use serde::{Deserialize, Serialize};
use surefill_core::{Amount, ClOrdId, Key, OrdType, OrderIntent, Px, Qty};

/// A create, as it is signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wire {
    pub(super) key: String,
    pub(super) no: u32,
    pub(super) nonce: Option<u64>,
    pub(super) symbol: String,
    pub(super) qty: u32,
    pub(super) px: u32,
}

impl Wire {
    pub(super) fn of(id: &ClOrdId, intent: &OrderIntent, no: u32, nonce: Option<u64>) -> Self {
        let (qty, px) = match (&intent.amount, &intent.ord_type) {
            (Amount::Base(qty), OrdType::Limit { price }) => (whole(*qty), whole_px(*price)),
            _ => (0, 0),
        };
        Self {
            key: id.to_string(),
            no,
            nonce,
            symbol: intent.symbol.as_str().to_owned(),
            qty,
            px,
        }
    }

    pub(super) fn key(&self) -> Key {
        self.key.as_str().into()
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data")
    }

    pub(super) fn read(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).expect("what was signed")
    }
}

/// Quantities and prices of the simulation are whole.
pub(super) fn whole(qty: Qty) -> u32 {
    qty.to_string().parse().expect("a whole quantity")
}

pub(super) fn whole_px(px: Px) -> u32 {
    px.to_string().parse().expect("a whole price")
}
