//! Everything that was placed is canceled, and a position that a probe opened is closed.

use std::time::Duration;

use rust_decimal::Decimal;
use serde_json::Value;
use std::sync::atomic::Ordering;
use surefill_core::{
    Amount, CancelOutcome, ClOrdId, OrderIntent, PrepareError, Px, Qty, Side, Submission,
};

use crate::ProbeError;
use crate::bench::Bench;
use crate::seen::Seen;
use crate::size::taking;

/// How often a cancel is asked again.
const TRIES: u32 = 12;

/// How often a position is closed again, where the first order was not filled whole.
const CLOSES: u32 = 3;

impl Bench {
    /// Cancels what is open under an id, until the venue shows that all of it ended.
    pub(crate) async fn end(&self, id: &ClOrdId) -> Result<Seen, ProbeError> {
        let order = self.record(id)?;
        for _ in 0..TRIES {
            let taken = match self.venue.cancel(&order).await {
                CancelOutcome::Canceled(_) | CancelOutcome::Taken => true,
                CancelOutcome::NotOpen | CancelOutcome::NotYet | CancelOutcome::Unknown(_) => false,
            };
            // Where the cancel met nothing, the order may only not be visible yet.
            let enough = |seen: &Seen| match taken {
                true => !seen.any_open(),
                false => seen.any_open() || seen.all_ended(),
            };
            let seen = self.watch(id, self.patience(), enough).await?;
            if !seen.any_open() {
                return Ok(seen);
            }
        }
        let left = format!("an open order {id} of {}", self.symbol());
        Err(ProbeError::NotCleaned { left })
    }

    /// Cleans up. `calm` is false where a request may still be on its way: then once more, when none can act any more.
    pub(crate) async fn clean(&self, calm: bool) -> Result<(), ProbeError> {
        if let Some(sim) = self
            .sim
            .as_ref()
            .filter(|_| self.fault.swap(false, Ordering::Relaxed))
            && let Err(error) = sim.call("DELETE", "/faults", &Value::Null).await
        {
            tracing::warn!(%error, "the simulator keeps a fault");
        }
        if !calm {
            // What is there is ended at once; what is still on its way, when it can act no more.
            if let Err(error) = self.sweep().await {
                tracing::warn!(%error, "not all could be canceled at once");
            }
            let wait = self.quiet_at().since(self.now()?);
            tokio::time::sleep(wait.min(Duration::from_secs(120))).await;
        }
        tokio::time::sleep(self.patience()).await;
        let net = self.sweep().await?;
        self.close(net).await
    }

    /// Ends every order; what they bought beyond what they sold.
    async fn sweep(&self) -> Result<Decimal, ProbeError> {
        let mut left = Vec::new();
        let mut net = Decimal::ZERO;
        for order in self.placed() {
            let open = |seen: &Seen| !seen.any_open();
            let seen = match self.watch(&order.id, Duration::ZERO, open).await {
                Ok(seen) if seen.any_open() => self.end(&order.id).await,
                seen => seen,
            };
            match seen {
                Ok(seen) => {
                    let filled = seen.filled().value();
                    let signed = match order.intent.side {
                        Side::Buy => Some(filled),
                        Side::Sell => Decimal::ZERO.checked_sub(filled),
                    };
                    net = signed.and_then(|one| net.checked_add(one)).unwrap_or(net);
                }
                Err(error) => left.push(format!("{} ({error})", order.id)),
            }
        }
        if left.is_empty() {
            Ok(net)
        } else {
            let left = left.join(", ");
            Err(ProbeError::NotCleaned { left })
        }
    }

    /// Closes what a probe bought, reduce-only. Where the venue has no such orders, what was bought is kept, and that is said.
    pub(crate) async fn close(&self, net: Decimal) -> Result<(), ProbeError> {
        let mut open = net;
        for _ in 0..CLOSES {
            let Some(qty) = Qty::new(open).ok().filter(|qty| !qty.is_zero()) else {
                return Ok(());
            };
            if !self.profile.reduce_only {
                tracing::warn!(%qty, symbol = %self.symbol(), "what the probe bought is kept: there is no reduce-only");
                return Ok(());
            }
            let sold = self.take(Side::Sell, qty, true, self.rest_px()).await?;
            let sold = sold.map_or(Decimal::ZERO, |(_, seen)| seen.filled().value());
            open = open.checked_sub(sold).unwrap_or(open);
        }
        if open.is_zero() {
            return Ok(());
        }
        let left = format!("a position of {open} {}", self.symbol());
        Err(ProbeError::NotCleaned { left })
    }

    /// An order that takes at once; none where the venue did not take or fill it.
    pub(crate) async fn take(
        &self,
        side: Side,
        qty: Qty,
        reduce_only: bool,
        rest: Px,
    ) -> Result<Option<(ClOrdId, Seen)>, ProbeError> {
        for price in self.takers(side, rest) {
            let market = OrderIntent::market(
                self.decision()?,
                self.alias.clone(),
                self.symbol().clone(),
                side,
                Amount::Base(qty),
            );
            let intent = taking(
                OrderIntent {
                    reduce_only,
                    ..market
                },
                price,
            );
            let id = self.id(&intent);
            let answer = match self.submit(&id, &intent).await {
                Ok((_, answer)) => answer,
                // No market orders here: the next is a limit order.
                Err(ProbeError::Prepare(PrepareError::Unsupported { .. })) => continue,
                Err(error) => return Err(error),
            };
            if !matches!(answer, Submission::Rejected(_)) {
                // Doubt lasts until the fence.
                let patience = self.until_quiet()?;
                let seen = self.watch(&id, patience, Seen::all_ended).await?;
                if !seen.filled().is_zero() {
                    return Ok(Some((id, seen)));
                }
            }
            if price.is_none() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// How long it is until nothing that was sent can act any more.
    pub(crate) fn until_quiet(&self) -> Result<Duration, ProbeError> {
        Ok(self.quiet_at().since(self.now()?).max(self.patience()))
    }
}
