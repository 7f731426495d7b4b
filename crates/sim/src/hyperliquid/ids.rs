//! The venue's numbers of orders and fills.

use sha2::{Digest, Sha256};

use crate::core::OrderNo;

/// They look like the venue's and hold the core's number.
#[derive(Debug, Clone, Copy)]
pub(super) struct VenueIds {
    pub(super) seed: u64,
}

impl VenueIds {
    /// Beyond 32 bits, as the venue's are.
    const fn base(self) -> u64 {
        569_000_000_000_u64.saturating_add((self.seed % 1_000) * 1_000_000_000)
    }

    /// `oid` of an order.
    pub(super) const fn oid(self, no: OrderNo) -> u64 {
        self.base().saturating_add(no.0)
    }

    /// The order with this `oid`.
    pub(super) fn order_no(self, oid: u64) -> Option<OrderNo> {
        oid.checked_sub(self.base()).map(OrderNo)
    }

    /// `tid` of a fill: 50 bits, each fill its own.
    pub(super) fn tid(self, no: u64) -> u64 {
        let low = no & 0xFF_FFFF;
        let high = self
            .digest("tid", no >> 24)
            .iter()
            .take(3)
            .fold(0, |sum: u64, byte| (sum << 8) | u64::from(*byte));
        (high << 24) | low
    }

    /// `hash` of the transaction that a command was.
    pub(super) fn transaction(self, command: u64) -> String {
        format!("0x{}", hex::encode(self.digest("transaction", command)))
    }

    fn digest(self, what: &str, no: u64) -> [u8; 32] {
        Sha256::digest(format!("{what}/{}/{no}", self.seed)).into()
    }
}
