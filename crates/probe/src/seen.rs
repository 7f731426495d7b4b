//! What the venue shows under an id: order ids are counted, over every list, whatever the answers said.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use surefill_core::{ClOrdId, ExecReport, Handle, Lookup, OrdStatus, OrderId, OrderRecord, Qty};

use crate::ProbeError;
use crate::bench::Bench;

/// One order, as the lists show it together.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) status: OrdStatus,
    pub(crate) cum_qty: Qty,
}

impl Shown {
    /// A record of a refusal, which was never an order.
    pub(crate) fn is_refused(&self) -> bool {
        match self.status {
            OrdStatus::Rejected => self.cum_qty.is_zero(),
            OrdStatus::Open | OrdStatus::NotShown | OrdStatus::Filled | OrdStatus::Canceled => {
                false
            }
        }
    }
}

/// The orders under one id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(pub(crate) BTreeMap<OrderId, Shown>);

impl Seen {
    pub(crate) fn ids(&self) -> BTreeSet<OrderId> {
        self.0.keys().cloned().collect()
    }

    pub(crate) fn any_open(&self) -> bool {
        self.0.values().any(|one| one.status == OrdStatus::Open)
    }

    /// There are some, and the venue says of each that it ended.
    pub(crate) fn all_ended(&self) -> bool {
        !self.0.is_empty() && self.0.values().all(|one| one.status.is_ended())
    }

    /// There is none, or the venue says of each that it was refused.
    pub(crate) fn all_refused(&self) -> bool {
        self.0.values().all(Shown::is_refused)
    }

    pub(crate) fn filled(&self) -> Qty {
        let sum = |sum: Qty, one: &Shown| sum.checked_add(one.cum_qty).unwrap_or(sum);
        self.0.values().fold(Qty::ZERO, sum)
    }

    fn add(&mut self, report: &ExecReport) {
        let Some(id) = &report.handle.order_id else {
            return;
        };
        let booked = report.fills.iter().fold(Qty::ZERO, |sum, fill| {
            sum.checked_add(fill.last_qty).unwrap_or(sum)
        });
        let cum_qty = report.cum_qty.unwrap_or(Qty::ZERO).max(booked);
        let one = self.0.entry(id.clone()).or_insert(Shown {
            status: OrdStatus::NotShown,
            cum_qty: Qty::ZERO,
        });
        one.cum_qty = one.cum_qty.max(cum_qty);
        // Lists are read one after another: an end is never taken back by a list that was read earlier.
        one.status = match (one.status, report.status) {
            (OrdStatus::NotShown | OrdStatus::Open, said) if said != OrdStatus::NotShown => said,
            (had, _) => had,
        };
    }
}

impl Bench {
    /// One reading of every list.
    async fn read(&self, order: &OrderRecord) -> Result<Seen, String> {
        let text = |error: surefill_core::VenueError| error.to_string();
        let symbol = Some(self.symbol());
        let since = order.created_at.before(Duration::from_secs(2));
        let mut seen = Seen::default();
        match self.venue.lookup(order).await {
            Lookup::Found(reports) => reports.iter().for_each(|report| seen.add(report)),
            Lookup::Absent { .. } => {}
            Lookup::Inconclusive(cause) => return Err(cause.to_string()),
        }
        let open = self.venue.open_orders(symbol).await.map_err(text)?;
        let closed = self.venue.closed_since(symbol, since).await.map_err(text)?;
        for report in open.rows.iter().chain(&closed.rows) {
            if self.is_ours(order, &report.handle) {
                seen.add(report);
            }
        }
        let fills = self.venue.fills_since(symbol, since).await.map_err(text)?;
        for (handle, fill) in fills.rows {
            let known = seen.0.contains_key(&fill.order_id);
            if !known && self.is_ours(order, &handle) {
                let key = handle.key.unwrap_or_else(|| "".into());
                let mut report = ExecReport::ack(key, fill.order_id.clone());
                report.status = OrdStatus::NotShown;
                report.fills.push(fill);
                seen.add(&report);
            }
        }
        Ok(seen)
    }

    fn is_ours(&self, order: &OrderRecord, handle: &Handle) -> bool {
        let Some(key) = &handle.key else {
            return false;
        };
        let spelled = self.venue.spelled_id(key) == Some(order.id);
        spelled || order.attempts.iter().any(|one| one.keys.contains(key))
    }

    /// Looks at growing delays until `enough`, or until the time is up; then what was seen last.
    pub(crate) async fn watch(
        &self,
        id: &ClOrdId,
        patience: Duration,
        enough: impl Fn(&Seen) -> bool + Send + Sync,
    ) -> Result<Seen, ProbeError> {
        let begun = Self::elapsed();
        let mut delay = Duration::from_millis(5);
        let order = self.record(id)?;
        // A list that cannot be read now says nothing, and is asked again for a while longer.
        let longest = patience.saturating_add(Duration::from_secs(10));
        loop {
            let waited = Self::elapsed().saturating_sub(begun);
            match self.read(&order).await {
                Ok(seen) if enough(&seen) || waited >= patience => return Ok(seen),
                Err(why) if waited >= longest => return Err(ProbeError::Inconclusive(why)),
                Ok(_) | Err(_) => {}
            }
            tokio::time::sleep(delay).await;
            delay = delay.saturating_mul(2).min(Duration::from_millis(250));
        }
    }
}
