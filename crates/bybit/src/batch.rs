//! Several cancels in one request. Pure: the body here, what its answer proves in [`crate::outcome::cancels`].

use surefill_core::{ClOrdId, PrepareError, Symbol};

use crate::category::Category;
use crate::id;
use crate::wire::{CancelBatch, CancelItem};

/// The most cancels in one request. The pages of the batch requests say 20 (spot 10), that of the rate limits 10: the least holds.
pub const MAX: usize = 10;

/// The path.
pub const CANCELS: &str = "/v5/order/cancel-batch";

/// The body of a batch of cancels, each order by our id alone: where both ids are given, the venue's own wins.
///
/// # Errors
/// [`PrepareError::Invalid`] for none, for more than [`MAX`], and for one order given twice.
pub fn cancels(category: Category, orders: &[(&Symbol, ClOrdId)]) -> Result<String, PrepareError> {
    let invalid = |what: &str| PrepareError::Invalid { what: what.into() };
    if orders.is_empty() || orders.len() > MAX {
        return Err(invalid("a batch holds 1 to 10 cancels"));
    }
    let keys: Vec<String> = orders.iter().map(|(_, id)| id::spell(id)).collect();
    let distinct: std::collections::HashSet<&String> = keys.iter().collect();
    if distinct.len() != keys.len() {
        return Err(invalid("an order twice in one batch"));
    }
    let items = orders.iter().zip(&keys);
    let body = CancelBatch {
        category: category.as_str(),
        request: items
            .map(|((symbol, _), key)| CancelItem {
                symbol: symbol.as_str(),
                order_link_id: key,
            })
            .collect(),
    };
    serde_json::to_string(&body).map_err(|error| invalid(&error.to_string()))
}
