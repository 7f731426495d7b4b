//! The cases: the same id and the same bytes, while the first order is open and after each of its ends.

use std::collections::BTreeSet;

use serde_json::Value;
use surefill_core::{
    Amount, Attempt, ClOrdId, Fence, NotSent, OrderId, OrderIntent, Side, Submission,
};
use tokio::time::sleep;

use crate::bench::Bench;
use crate::seen::Seen;
use crate::size::{Terms, taking};
use crate::{Duplicate, ProbeError, Replay, Reuse};

/// How often a case is begun anew whose second send was lost, or came too late.
const TRIES: u32 = 4;

/// How often in a row nothing comes of a second send, past its fence, while an order under a new id comes through right after, until that
/// counts as a refusal in words that the adapter does not know.
const SILENT: u32 = 2;

/// What became of a second send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Second {
    /// No order came of it.
    Refused,
    /// No order came of it, and the answer named the first.
    Existing,
    /// An order of its own.
    Another,
}

/// An order that rests.
pub(crate) struct Resting {
    pub(crate) id: ClOrdId,
    pub(crate) intent: OrderIntent,
    pub(crate) attempt: Attempt,
    pub(crate) answer: Submission,
    /// The order ids that are known to be its.
    pub(crate) orders: BTreeSet<OrderId>,
}

impl Bench {
    /// Sends a buy that rests; nothing was looked up yet.
    pub(crate) async fn rest(&self, terms: Terms) -> Result<Resting, ProbeError> {
        let intent = self.resting(terms)?;
        let id = self.id(&intent);
        let (attempt, answer) = self.submit(&id, &intent).await?;
        Ok(Resting {
            id,
            intent,
            attempt,
            answer,
            orders: BTreeSet::new(),
        })
    }

    /// The same, and it is shown to be open.
    pub(crate) async fn shown(&self, terms: Terms) -> Result<Resting, ProbeError> {
        let mut last = String::new();
        for _ in 0..TRIES {
            let mut resting = self.rest(terms).await?;
            let patience = self.until_quiet()?;
            let seen = self.watch(&resting.id, patience, Seen::any_open).await?;
            if seen.any_open() && seen.0.len() == 1 {
                resting.orders = seen.ids();
                return Ok(resting);
            }
            self.end(&resting.id).await?;
            last = format!(
                "one buy was answered with {:?} and is shown as {seen:?}",
                resting.answer
            );
        }
        Err(ProbeError::Inconclusive(last))
    }

    /// What became of a send after which the orders `before` were there already: a new order id is another order, whatever the
    /// answer said. None where the send was lost.
    async fn second(
        &self,
        id: &ClOrdId,
        before: &BTreeSet<OrderId>,
        answer: &Submission,
    ) -> Result<Option<Second>, ProbeError> {
        let patience = match answer {
            Submission::Unknown(_) | Submission::Received(_) => self.until_quiet()?,
            Submission::Acked(_)
            | Submission::Rejected(_)
            | Submission::Duplicate(_)
            | Submission::NotTaken { .. }
            | Submission::NotSent(_) => self.patience(),
        };
        let another = |seen: &Seen| {
            let mut orders = seen.0.iter().filter(|(_, one)| !one.is_refused());
            orders.any(|(id, _)| !before.contains(id))
        };
        let seen = self.watch(id, patience, another).await?;
        if another(&seen) {
            return Ok(Some(Second::Another));
        }
        Ok(match answer {
            Submission::Rejected(_) | Submission::Duplicate(_) => Some(Second::Refused),
            Submission::Acked(report) => {
                let named = report.handle.order_id.as_ref();
                // One that is named and never shown says nothing.
                named
                    .is_some_and(|named| before.contains(named))
                    .then_some(Second::Existing)
            }
            Submission::Received(_)
            | Submission::NotTaken { .. }
            | Submission::NotSent(_)
            | Submission::Unknown(_) => None,
        })
    }

    /// The same id under a new signature, beside the orders `before`; then all are ended.
    ///
    /// A venue may refuse in words that its adapter does not know, which is doubt and looks like a request that was lost. They are told apart
    /// by orders under new ids in between, which are not refused and would be lost as well.
    async fn again(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        before: &BTreeSet<OrderId>,
    ) -> Result<Second, ProbeError> {
        let mut silent = 0;
        for _ in 0..TRIES {
            // Another instant, so that it is another request.
            sleep(std::time::Duration::from_millis(2)).await;
            let (attempt, answer) = self.submit(id, intent).await?;
            if let Some(second) = self.second(id, before, &answer).await? {
                self.end(id).await?;
                return Ok(second);
            }
            let fenced = matches!(attempt.fence, Fence::Clock(_));
            let doubt = matches!(answer, Submission::Unknown(_));
            silent = match fenced && doubt && self.comes_through(intent).await? {
                true => silent + 1,
                false => 0,
            };
            if silent == SILENT {
                self.end(id).await?;
                return Ok(Second::Refused);
            }
        }
        let why = "every second send of an id was lost";
        Err(ProbeError::Inconclusive(why.to_owned()))
    }

    /// Whether an order of these terms under a new id is acked and shown.
    async fn comes_through(&self, intent: &OrderIntent) -> Result<bool, ProbeError> {
        let decision = self.decision()?;
        let intent = OrderIntent {
            decision,
            ..intent.clone()
        };
        let id = self.id(&intent);
        let (_, answer) = self.submit(&id, &intent).await?;
        let patience = self.until_quiet()?;
        let seen = self.watch(&id, patience, Seen::any_open).await?;
        self.end(&id).await?;
        Ok(matches!(answer, Submission::Acked(_)) && seen.any_open())
    }

    /// The same id while the first order is open.
    pub(crate) async fn while_open(&self, terms: Terms) -> Result<Second, ProbeError> {
        let first = self.shown(terms).await?;
        self.again(&first.id, &first.intent, &first.orders).await
    }

    /// The same id after a cancel; and the order that was canceled.
    pub(crate) async fn after_cancel(&self, terms: Terms) -> Result<(Second, Resting), ProbeError> {
        let first = self.shown(terms).await?;
        self.ended(&first.id).await?;
        let second = self.again(&first.id, &first.intent, &first.orders).await?;
        Ok((second, first))
    }

    /// Cancels, and waits until the venue shows the end.
    async fn ended(&self, id: &ClOrdId) -> Result<Seen, ProbeError> {
        let seen = self.end(id).await?;
        if seen.all_ended() {
            return Ok(seen);
        }
        self.watch(id, self.patience(), Seen::all_ended).await
    }

    /// The id of an order that was filled.
    pub(crate) async fn after_fill(&self, terms: Terms) -> Result<Reuse, ProbeError> {
        let Some((id, seen)) = self.buy(terms).await? else {
            return Ok(Reuse::NotTested);
        };
        let second = self.again(&id, &self.resting(terms)?, &seen.ids()).await?;
        self.close(seen.filled().value()).await?;
        Ok(reuse(second))
    }

    /// The id of an order that was refused.
    pub(crate) async fn after_refusal(&self, terms: Terms) -> Result<Reuse, ProbeError> {
        for intent in self.refusable(terms).await? {
            let id = self.id(&intent);
            let answer = match self.submit(&id, &intent).await {
                Ok((_, answer)) => answer,
                Err(ProbeError::Prepare(_)) => continue,
                Err(error) => return Err(error),
            };
            // Some venues keep a record of what they refused, with an order id.
            let there = |seen: &Seen| !seen.all_refused();
            let seen = self.watch(&id, self.patience(), there).await?;
            if there(&seen) || !matches!(answer, Submission::Rejected(_)) {
                self.end(&id).await?;
                continue;
            }
            let again = self.resting(terms)?;
            let second = self.again(&id, &again, &seen.ids()).await?;
            return Ok(reuse(second));
        }
        Ok(Reuse::NotTested)
    }

    /// Orders that pass the adapter, and that the venue is likely to refuse.
    async fn refusable(&self, terms: Terms) -> Result<Vec<OrderIntent>, ProbeError> {
        let mut all = Vec::new();
        let positions = self.venue.positions().await?;
        let flat = positions
            .rows
            .iter()
            .all(|row| row.symbol != *self.symbol());
        if self.profile.reduce_only && flat {
            // There is nothing to reduce.
            for price in self.takers(Side::Sell, terms.price) {
                let (symbol, amount) = (self.symbol().clone(), Amount::Base(terms.qty));
                let alias = self.alias.clone();
                let sell = OrderIntent::market(self.decision()?, alias, symbol, Side::Sell, amount);
                let sell = OrderIntent {
                    reduce_only: true,
                    ..sell
                };
                all.push(taking(sell, price));
            }
        }
        // Most accounts cannot pay for the most that can be bought. It is post-only, and canceled if it is taken.
        let most = Terms {
            qty: self.instrument.max_limit_qty,
            ..terms
        };
        all.push(self.resting(most)?);
        Ok(all)
    }

    /// The same bytes, while the first order is open and after its end.
    pub(crate) async fn replay(&self, terms: Terms) -> Result<Replay, ProbeError> {
        let open = self.replayed(terms, false).await?;
        let open = open.ok_or_else(|| {
            ProbeError::Inconclusive("the same bytes were never sent before their fence".to_owned())
        })?;
        let ended = self.replayed(terms, true).await?;
        Ok(match (open, ended) {
            (Second::Another, _) => Replay::Accepted,
            (Second::Refused | Second::Existing, Some(Second::Another)) => Replay::WhileOpen,
            (Second::Existing, _) => Replay::ReturnsExisting,
            (Second::Refused, Some(Second::Refused | Second::Existing)) => Replay::Refused,
            (Second::Refused, None) => Replay::NotTested,
        })
    }

    /// Sends bytes twice. None where the second send never came before the fence.
    async fn replayed(&self, terms: Terms, ended: bool) -> Result<Option<Second>, ProbeError> {
        for _ in 0..TRIES {
            let first = self.rest(terms).await?;
            let mut before = BTreeSet::new();
            if let Submission::Acked(report) = &first.answer {
                before.extend(report.handle.order_id.clone());
            }
            if ended {
                // The end has to be shown, or it would be a replay while open.
                before.extend(self.ended(&first.id).await?.ids());
            }
            if before.is_empty() {
                self.end(&first.id).await?;
                continue;
            }
            let answer = self.send(&first.id, &first.intent, &first.attempt).await?;
            let late = matches!(answer, Submission::NotSent(NotSent::HeldBack(_)));
            let second = match late {
                true => None,
                false => self.second(&first.id, &before, &answer).await?,
            };
            self.end(&first.id).await?;
            if second.is_some() {
                return Ok(second);
            }
        }
        Ok(None)
    }

    /// What the venue does about ids, out of the cases. `canceled` is an order whose id was refused again.
    pub(crate) async fn duplicate(
        &self,
        open: Second,
        ends: [Reuse; 2],
        canceled: &Resting,
    ) -> Result<Duplicate, ProbeError> {
        match open {
            Second::Another => return Ok(Duplicate::Accepted),
            Second::Existing => return Ok(Duplicate::ReturnsExisting),
            Second::Refused => {}
        }
        if ends.contains(&Reuse::Accepted) {
            return Ok(Duplicate::WhileOpen);
        }
        let Some(sim) = &self.sim else {
            return Ok(Duplicate::RefusedForever);
        };
        let nothing = Value::Object(serde_json::Map::new());
        let day = sim.call("POST", "/close_day", &nothing).await;
        day.map_err(ProbeError::Control)?;
        Ok(
            match self
                .again(&canceled.id, &canceled.intent, &canceled.orders)
                .await?
            {
                Second::Another => Duplicate::RefusedDay,
                Second::Refused | Second::Existing => Duplicate::RefusedForever,
            },
        )
    }
}

pub(crate) const fn reuse(second: Second) -> Reuse {
    match second {
        Second::Refused => Reuse::Refused,
        Second::Existing => Reuse::ReturnsExisting,
        Second::Another => Reuse::Accepted,
    }
}
