//! Our client order id in the venue's spelling (`cloid`).

use surefill_core::{ClOrdId, IdRule, Key};

/// `0x` and 32 hex digits; ours are in lower case.
///
/// # Source
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>: a 128-bit hex string. Without `0x` one was
/// seen to be dropped without an error.
pub const RULE: IdRule = IdRule {
    alphabet: "0123456789abcdefx",
    max_len: 34,
};

/// `0x` and the 16 bytes of the id.
pub fn spell(id: &ClOrdId) -> String {
    format!("0x{id}")
}

/// The same as a key.
pub fn key(id: &ClOrdId) -> Key {
    Key::from(spell(id))
}

/// Reads what [`spell`] writes; `None` for anything that does not carry our tag.
pub fn read(text: &str) -> Option<ClOrdId> {
    text.strip_prefix("0x")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_ours_is_allowed_and_reads_back() {
        let id: ClOrdId = "5f015ede6b0095cb3688a42a28b7ec72".parse().expect("an id");
        assert_eq!(spell(&id), "0x5f015ede6b0095cb3688a42a28b7ec72");
        assert!(RULE.allows(&spell(&id)));
        assert_eq!(read(&spell(&id)), Some(id));
        assert_eq!(read("0x00000000000000000000000000000001"), None);
        assert_eq!(read("5f015ede6b0095cb3688a42a28b7ec72"), None);
    }
}
