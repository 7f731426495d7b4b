//! What the venue's texts prove. It has no codes: the stable part of a text is matched, in any case of letters.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/error-responses>, and answers that others recorded. A
//! text that is not listed proves nothing.

/// What a text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The order, or the whole action, was refused.
    Refused,
    /// Keys or account are refused before the nonce is looked at.
    Keys,
    /// The nonce was seen, or lies below those that are kept: the bytes are known, as far as can be told.
    Used,
    /// Of a cancel: the order is not open, or not yet.
    NotOpen,
    /// Nothing that can be relied on.
    Unknown,
}

/// Texts about an order, or about an action because of its orders.
const REFUSED: &[&str] = &[
    "price must be divisible by tick size",
    "order must have minimum value of",
    "insufficient margin to place order",
    "reduce only order would increase position",
    "post only order would have immediately matched",
    "order could not immediately match against any resting orders",
    "invalid tp/sl price",
    "no liquidity available for market order",
    "open interest while open interest is capped",
    "price more aggressive than oracle",
    "would increase open interest too quickly",
    "insufficient spot balance",
    "price too far from oracle",
    "exceed margin tier limit",
    "order has invalid size",
    "order has zero size",
    "order has invalid price",
    "orders are empty",
    "away from the reference price",
    "reduce-only is invalid for spot trading",
    "only post-only orders allowed immediately after a network upgrade",
    "too many cumulative requests sent",
    "invalid spot",
];

/// Refusals of a whole action that were seen to use its nonce up. Of the others it is not known whether they come before or after that.
const USED_UP: &[&str] = &["only post-only orders allowed immediately after a network upgrade"];

/// Refusals that can only come of numbers or names that are not those of the venue any more.
const OUTDATED: &[&str] = &[
    "price must be divisible by tick size",
    "order has invalid size",
    "order has invalid price",
    "order has zero size",
    "invalid spot",
];

/// Texts about signer, account and vault.
const KEYS: &[&str] = &[
    "user or api wallet",
    "must deposit before performing actions",
    "unable to recover signer",
    "vault not registered",
];

/// What a text of a refusal means.
pub fn class(text: &str) -> Class {
    let text = text.to_lowercase();
    let has = |part: &&str| text.contains(*part);
    // No text about a client order id is documented: whatever it says is looked up.
    if text.contains("cloid") || text.contains("client order id") {
        Class::Unknown
    } else if text.contains("never placed, already canceled, or filled") {
        Class::NotOpen
    } else if text.contains("duplicate nonce") || text.contains("nonce too low") {
        Class::Used
    } else if KEYS.iter().any(has) {
        Class::Keys
    } else if REFUSED.iter().any(has) {
        Class::Refused
    } else {
        Class::Unknown
    }
}

/// Whether a refusal of a whole action is known to have used its nonce up.
pub fn uses_nonce_up(text: &str) -> bool {
    says(text, USED_UP)
}

/// Whether a refusal says that the address has sent more than it may: one request in ten seconds is taken from it meanwhile.
pub fn over_limit(text: &str) -> bool {
    says(text, &["too many cumulative requests sent"])
}

/// Whether a refusal says that the venue's clock is not what we take it for.
pub fn clock_differs(text: &str) -> bool {
    says(text, &["action already expired", "nonce too high"])
}

/// Whether a refusal says that what is kept of the venue's assets is out of date: an order that fits it does not fit the venue.
pub fn assets_changed(text: &str) -> bool {
    says(text, OUTDATED)
}

fn says(text: &str, parts: &[&str]) -> bool {
    let text = text.to_lowercase();
    parts.iter().any(|part| text.contains(part))
}

/// Bodies with which the server turns a request away that it cannot read; nothing was admitted, and the same bytes never will be.
const UNREADABLE: &[(u16, &str)] = &[
    (400, "failed to parse the request body"),
    (415, "expected request with"),
    (422, "failed to deserialize the json body"),
];

/// Whether an answer says that the request could not be read.
pub fn is_unreadable_request(status: u16, body: &[u8]) -> bool {
    let body = String::from_utf8_lossy(body).to_lowercase();
    UNREADABLE
        .iter()
        .any(|(known, text)| *known == status && body.contains(text))
}

/// What a status word of an order means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It works, or waits for its trigger.
    Open,
    /// It ended by execution, in full or not.
    Filled,
    /// It ended otherwise; it may have been executed in part.
    Canceled,
    /// It ended with nothing executed.
    Rejected,
}

/// What a status word means; `None` for one that is not known.
///
/// # Source
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint>; the last of each list are in public SDKs only.
pub fn word(status: &str) -> Option<Word> {
    match status {
        // The trigger fired and the same order goes on.
        "open" | "triggered" => Some(Word::Open),
        "filled" => Some(Word::Filled),
        "canceled"
        | "marginCanceled"
        | "vaultWithdrawalCanceled"
        | "openInterestCapCanceled"
        | "selfTradeCanceled"
        | "reduceOnlyCanceled"
        | "siblingFilledCanceled"
        | "delistedCanceled"
        | "liquidatedCanceled"
        | "scheduledCancel"
        | "outcomeSettledCanceled"
        | "internalCancel" => Some(Word::Canceled),
        "rejected"
        | "tickRejected"
        | "minTradeNtlRejected"
        | "perpMarginRejected"
        | "reduceOnlyRejected"
        | "badAloPxRejected"
        | "iocCancelRejected"
        | "badTriggerPxRejected"
        | "marketOrderNoLiquidityRejected"
        | "positionIncreaseAtOpenInterestCapRejected"
        | "positionFlipAtOpenInterestCapRejected"
        | "tooAggressiveAtOpenInterestCapRejected"
        | "openInterestIncreaseRejected"
        | "insufficientSpotBalanceRejected"
        | "oracleRejected"
        | "perpMaxPositionRejected"
        | "tooManyOpenOrdersRejected"
        | "minTradeSpotNtlRejected" => Some(Word::Rejected),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_known_by_their_stable_part() {
        for (text, expected) in [
            (
                "Order must have minimum value of $10. asset=3",
                Class::Refused,
            ),
            (
                "L1 error: User or API Wallet 0xab does not exist.",
                Class::Keys,
            ),
            ("Invalid nonce: duplicate nonce 7", Class::Used),
            ("Invalid nonce: nonce too low 7 < 9", Class::Used),
            ("Invalid nonce: nonce too high 7 > 3", Class::Unknown),
            ("Action already expired", Class::Unknown),
            (
                "Order was never placed, already canceled, or filled. asset=1",
                Class::NotOpen,
            ),
            ("Order has invalid size: duplicate cloid", Class::Unknown),
            ("something new", Class::Unknown),
            ("", Class::Unknown),
        ] {
            assert_eq!(class(text), expected, "{text}");
        }
    }

    #[test]
    fn only_what_was_seen_to_use_a_nonce_up_is_said_to() {
        let gate = "Only post-only orders allowed immediately after a network upgrade";
        assert!(uses_nonce_up(gate));
        for text in [
            "Too many cumulative requests sent (5 > 4) for cumulative volume traded $1.",
            "Vault not registered: 0xab",
            "Invalid spot",
            "Order has zero size.",
        ] {
            assert!(!uses_nonce_up(text), "{text}");
        }
        // Texts about settings are no refusals of orders.
        let setting = "Cannot switch leverage type with open position.";
        assert_eq!(class(setting), Class::Unknown);
    }

    #[test]
    fn a_gateway_that_cannot_read_is_not_the_venue() {
        assert!(is_unreadable_request(
            422,
            b"Failed to deserialize the JSON body into the target type"
        ));
        assert!(!is_unreadable_request(422, b"<html>"));
        assert!(!is_unreadable_request(
            502,
            b"Failed to deserialize the JSON body"
        ));
    }

    #[test]
    fn a_new_status_word_is_no_guess() {
        assert_eq!(word("brandNewCanceled"), None);
        assert_eq!(word("siblingFilledCanceled"), Some(Word::Canceled));
    }
}
