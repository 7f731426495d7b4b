//! Hyperliquid, through the functions that the adapter signs with.

mod number;
mod sign;

use crate::input::Recompute;

pub(crate) fn recompute(kind: &str) -> Option<Recompute> {
    Some(match kind {
        "l1_action" => sign::l1_action,
        "user_signed" => sign::user_signed,
        "number_to_wire" => number::to_wire,
        "number_to_int" => number::to_int,
        "price_rule" => number::price_rule,
        "size_rule" => number::size_rule,
        _ => return None,
    })
}
