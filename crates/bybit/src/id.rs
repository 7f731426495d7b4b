//! Our client order id in the venue's spelling (`orderLinkId`).

use surefill_core::{ClOrdId, IdRule, Key};

/// Letters, digits, dash and underscore, at most 36.
///
/// # Source
/// <https://bybit-exchange.github.io/docs/v5/order/create-order>. The linear gateway was seen to refuse only above 45; stay within
/// what is documented.
pub const RULE: IdRule = IdRule {
    alphabet: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-",
    max_len: 36,
};

const PREFIX: &str = "sf1-";

/// `sf1-` and 26 digits of base 32.
pub fn spell(id: &ClOrdId) -> String {
    format!("{PREFIX}{}", id.to_base32())
}

/// The same as a key.
pub fn key(id: &ClOrdId) -> Key {
    Key::from(spell(id))
}

/// Reads what [`spell`] writes; `None` for anything that is not ours.
pub fn read(text: &str) -> Option<ClOrdId> {
    ClOrdId::from_base32(text.strip_prefix(PREFIX)?)
}

/// Whether the venue takes `text` as an id, as far as is documented.
pub fn allowed(text: &str) -> bool {
    RULE.allows(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_of_ours_is_allowed_and_reads_back() {
        let id: ClOrdId = "5f01ffffffffffffffffffffffffffff".parse().expect("an id");
        let spelled = spell(&id);
        assert_eq!(spelled.len(), 30);
        assert!(allowed(&spelled));
        assert_eq!(read(&spelled), Some(id));
        assert_eq!(read("sf1-"), None);
        assert_eq!(read(&spelled.to_uppercase()), None);
    }
}
