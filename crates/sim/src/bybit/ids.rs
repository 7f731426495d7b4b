//! Client ids and the venue's own ids.

use sha2::{Digest, Sha256};

use crate::core::OrderNo;

const BASE32: &str = "0123456789abcdefghjkmnpqrstvwxyz";

/// Whether the venue takes an `orderLinkId`: 1 to 36 of `[0-9A-Za-z_-]`.
#[must_use]
pub fn is_valid_id(id: &str) -> bool {
    (1..=36).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The 32 hex digits of an id spelled `sf1-` and 26 digits of Crockford's base32, lower case, 130 bits.
#[must_use]
pub fn cl_ord_id(wire_id: &str) -> Option<String> {
    let digits = wire_id
        .strip_prefix("sf1-")
        .filter(|digits| digits.len() == 26)?;
    let mut value: u128 = 0;
    for digit in digits.chars() {
        let digit = u128::try_from(BASE32.find(digit)?).ok()?;
        // The first digit holds the two bits of padding and three of the value.
        value = value.checked_mul(32)?.checked_add(digit)?;
    }
    Some(format!("{value:032x}"))
}

/// The venue's ids: they look random and hold the number.
#[derive(Debug, Clone, Copy)]
pub(super) struct VenueIds {
    pub(super) seed: u64,
}

impl VenueIds {
    /// `orderId` of an order of the instrument with this key: on spot 19 digits, elsewhere a UUID.
    pub(super) fn order(self, instrument: &str, no: OrderNo) -> String {
        if instrument.starts_with("spot/") {
            let hash = Sha256::digest(format!("spot/{}/{}", self.seed, no.0));
            let salt = hash
                .iter()
                .take(3)
                .fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
            return format!("2{:06}{:012}", salt % 1_000_000, no.0);
        }
        self.uuid("order", no.0)
    }

    /// The number in an `orderId`, if it can be one of this venue's. Whether it is, [`Self::order`] says.
    pub(super) fn order_no(self, id: &str) -> Option<OrderNo> {
        let no = match id.rsplit_once('-') {
            Some((_, last)) => u64::from_str_radix(last, 16).ok()?,
            None => id.get(7..).filter(|no| no.len() == 12)?.parse().ok()?,
        };
        let no = OrderNo(no);
        ["spot/", "linear/"]
            .into_iter()
            .any(|key| self.order(key, no) == id)
            .then_some(no)
    }

    /// `execId` of a fill.
    pub(super) fn exec(self, no: u64) -> String {
        self.uuid("fill", no)
    }

    /// `id` of a message of a stream.
    pub(super) fn message(self, seq: u64, part: u64) -> String {
        self.uuid(&format!("message/{seq}"), part)
    }

    /// `connId` of a socket.
    pub(super) fn connection(self, no: u64) -> String {
        self.uuid("connection", no)
    }

    fn uuid(self, kind: &str, no: u64) -> String {
        let hash = hex::encode(Sha256::digest(format!("{kind}/{}/{no}", self.seed)));
        let part = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
        format!(
            "{}-{}-4{}-a{}-{no:012x}",
            part(0, 8),
            part(8, 12),
            part(12, 15),
            part(15, 18)
        )
    }
}
