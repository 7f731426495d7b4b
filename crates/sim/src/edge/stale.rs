//! Orders that lists show for a while as they were at one moment.

use std::sync::{Mutex, PoisonError};

use super::fields::{Fields, Wrong};
use crate::core::{Core, Order, OrderNo};

#[derive(Debug)]
struct Picture {
    until_ms: u64,
    /// Fills up to this one are shown.
    fills: usize,
    order: Order,
}

/// The orders as lists show them, and until when.
#[derive(Debug, Default)]
pub(crate) struct Stale(Mutex<Vec<Picture>>);

impl Stale {
    /// Reads and applies the body of `POST /_sim/stale`: every order that `is` the one named is kept as it is now.
    pub(crate) fn post(
        &self,
        mut fields: Fields,
        core: &Core,
        now_ms: u64,
        is: impl Fn(&str, &str) -> bool,
    ) -> Result<(), Wrong> {
        let id = fields
            .text("cl_ord_id")?
            .ok_or_else(|| Wrong::missing("cl_ord_id"))?;
        let ms = fields.whole("ms")?.ok_or_else(|| Wrong::missing("ms"))?;
        fields.done()?;
        let meant = |order: &&Order| order.wire_id.as_deref().is_some_and(|wire| is(&id, wire));
        let mut pictures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pictures.retain(|picture| picture.until_ms > now_ms);
        for order in core.orders().iter().filter(meant) {
            pictures.push(Picture {
                until_ms: now_ms.saturating_add(ms),
                fills: core.fills_of(order.no).count(),
                order: order.clone(),
            });
        }
        Ok(())
    }

    /// The orders that are shown so.
    pub(crate) fn numbers(&self, now_ms: u64) -> Vec<OrderNo> {
        let pictures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = pictures.iter().filter(|picture| picture.until_ms > now_ms);
        shown.map(|picture| picture.order.no).collect()
    }

    /// The order as it is shown, and how many of its fills are; `None` when it is shown as it is.
    pub(crate) fn shows(&self, no: OrderNo, now_ms: u64) -> Option<(Order, usize)> {
        let pictures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of_order = pictures
            .iter()
            .filter(|picture| picture.order.no == no && picture.until_ms > now_ms);
        let picture = of_order.next()?;
        Some((picture.order.clone(), picture.fills))
    }
}
