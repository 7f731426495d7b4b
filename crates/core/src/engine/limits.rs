//! The first line of defense: refused before anything is journaled.

use super::LimitError;
use crate::{Amount, Money, OrdType, OrderIntent};

/// Limits of one venue. What is not given is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most that one order may be worth, quote units.
    pub max_order_notional: Option<Money>,
    /// The most orders that may be open at once.
    pub max_open_orders: Option<usize>,
}

impl Limits {
    /// Checks an intent while `open` orders are open.
    pub(crate) fn check(&self, intent: &OrderIntent, open: usize) -> Result<(), LimitError> {
        if let Some(max) = self.max_open_orders
            && open >= max
        {
            return Err(LimitError::OpenOrders { open, max });
        }
        let Some(max) = self.max_order_notional else {
            return Ok(());
        };
        let notional = match (intent.amount, intent.ord_type) {
            (Amount::Quote(qty), _) => Money::new(qty.value()).ok(),
            (Amount::Base(qty), OrdType::Limit { price }) => price.notional(qty),
            (Amount::Base(_), OrdType::Market) => return Err(LimitError::NoPrice { max }),
        };
        match notional {
            Some(notional) if notional <= max => Ok(()),
            Some(notional) => Err(LimitError::Notional { notional, max }),
            // A product that does not fit a decimal is above any limit.
            None => Err(LimitError::Notional {
                notional: Money::new(rust_decimal::Decimal::MAX).unwrap_or(max),
                max,
            }),
        }
    }
}
