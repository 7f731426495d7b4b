//! The smallest order that rests far from the market, and the smallest one that is filled.

use rust_decimal::Decimal;
use surefill_core::{
    Amount, ClOrdId, OrdType, OrderIntent, PrepareError, Px, Qty, Side, Submission, TimeInForce,
};

use crate::ProbeError;
use crate::bench::{Bench, is_terms};
use crate::seen::Seen;

/// How often terms are mended by what the adapter says of them.
const MENDS: u32 = 8;

/// Prices that are tried downward, each half of the one before, and upward, each half as much again.
const DOWN: u32 = 24;
const UP: u32 = 12;

/// Prices that are tried where no floor of the notional says where to begin, each eight times the one before.
const FROM_TICK: u32 = 12;

/// A buy that rests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) price: Px,
    pub(crate) qty: Qty,
}

impl Bench {
    /// A decision to buy on these terms, never as a taker.
    pub(crate) fn resting(&self, terms: Terms) -> Result<OrderIntent, ProbeError> {
        Ok(OrderIntent {
            time_in_force: TimeInForce::PostOnly,
            ..self.limit(Side::Buy, terms)?
        })
    }

    pub(crate) fn limit(&self, side: Side, terms: Terms) -> Result<OrderIntent, ProbeError> {
        Ok(OrderIntent::limit(
            self.decision()?,
            self.alias.clone(),
            self.symbol().clone(),
            side,
            Amount::Base(terms.qty),
            terms.price,
        ))
    }

    /// The least quantity at a price.
    fn least(&self, price: Decimal) -> Option<Qty> {
        let listed = &self.instrument;
        let least = listed.min_qty.value().max(listed.qty_step);
        if listed.min_notional.is_zero() {
            return Qty::new(least).ok();
        }
        let steps = listed
            .min_notional
            .checked_div(price)?
            .checked_div(listed.qty_step)?;
        let worth = steps.ceil().checked_mul(listed.qty_step)?;
        Qty::new(worth.max(least)).ok()
    }

    fn on_tick(&self, price: Decimal) -> Option<Px> {
        let ticks = price.checked_div(self.instrument.tick)?.floor();
        Px::new(ticks.checked_mul(self.instrument.tick)?.normalize()).ok()
    }

    fn terms_at(&self, price: Decimal) -> Option<Terms> {
        let price = self.on_tick(price).filter(|price| !price.is_zero())?;
        let qty = self.least(price.value())?;
        (qty <= self.instrument.max_limit_qty).then_some(Terms { price, qty })
    }

    /// Terms on which a buy rests: no order that crosses the market is taken, because all are post-only.
    pub(crate) async fn find_rest(&self, named: Option<Px>) -> Result<Terms, ProbeError> {
        let prices = match named {
            Some(price) => vec![price.value()],
            None => self.ladder(),
        };
        for price in prices {
            let Some(terms) = self.terms_at(price) else {
                continue;
            };
            let Some(found) = self.rests(terms).await? else {
                continue;
            };
            if named.is_some() {
                return Ok(found);
            }
            // It may rest right below the market: half as high is far away, where the venue takes that.
            let half = found.price.value().checked_div(Decimal::TWO);
            let further = match half.and_then(|half| self.terms_at(half)) {
                Some(terms) => self.rests(terms).await?,
                None => None,
            };
            return Ok(further.unwrap_or(found));
        }
        Err(ProbeError::NoRest(self.symbol().to_string()))
    }

    fn ladder(&self) -> Vec<Decimal> {
        let listed = &self.instrument;
        let series = |from: Decimal, factor: Decimal, count: u32| {
            let mut next = Some(from);
            let step = move || {
                let this = next?;
                next = this.checked_mul(factor);
                Some(this)
            };
            std::iter::from_fn(step)
                .take(usize::try_from(count).unwrap_or(0))
                .collect::<Vec<_>>()
        };
        let least = listed.min_qty.value().max(listed.qty_step);
        let floor = listed.min_notional.checked_div(least);
        match floor.filter(|floor| !floor.is_zero()) {
            Some(floor) => {
                let mut prices = series(floor, Decimal::new(5, 1), DOWN);
                prices.extend(series(floor, Decimal::new(15, 1), UP).into_iter().skip(1));
                prices
            }
            None => series(listed.tick, Decimal::from(8), FROM_TICK),
        }
    }

    /// Whether a buy rests on these terms, or on the nearest that the adapter names.
    async fn rests(&self, terms: Terms) -> Result<Option<Terms>, ProbeError> {
        let mut terms = terms;
        for _ in 0..MENDS {
            let intent = self.resting(terms)?;
            let id = self.id(&intent);
            match self.submit(&id, &intent).await {
                Ok((_, Submission::Rejected(_))) => return Ok(None),
                Ok(_) => {
                    let patience = self.until_quiet()?;
                    let seen = self.watch(&id, patience, |seen| !seen.0.is_empty()).await?;
                    let rests = seen.any_open();
                    self.end(&id).await?;
                    return Ok(rests.then_some(terms));
                }
                Err(ProbeError::Prepare(error)) if is_terms(&error) => match mend(terms, &error) {
                    Some(mended) => terms = mended,
                    None => return Ok(None),
                },
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Buys as little as is filled. `rest` is below the market.
    pub(crate) async fn buy(&self, rest: Terms) -> Result<Option<(ClOrdId, Seen)>, ProbeError> {
        let listed = &self.instrument;
        let least = listed.min_qty.value().max(listed.qty_step);
        // At the market less is needed than at the price that rests.
        for qty in [Qty::new(least).ok(), Some(rest.qty)].into_iter().flatten() {
            match self.take(Side::Buy, qty, false, rest.price).await {
                Ok(None) => {}
                Err(ProbeError::Prepare(error)) if is_terms(&error) => {}
                done => return done,
            }
        }
        Ok(None)
    }

    /// What takes at once: a market order, or where the adapter has none a limit order at each of these prices.
    pub(crate) fn takers(&self, side: Side, rest: Px) -> Vec<Option<Px>> {
        let mut next = Some(rest.value());
        let above = std::iter::from_fn(|| {
            let this = next?;
            next = this.checked_mul(Decimal::new(15, 1));
            Some(this)
        });
        let prices: Vec<Decimal> = match side {
            Side::Buy => above.skip(1).take(24).collect(),
            Side::Sell => vec![rest.value()],
        };
        let prices = prices.into_iter().filter_map(|price| self.on_tick(price));
        std::iter::once(None).chain(prices.map(Some)).collect()
    }
}

/// The terms that the adapter says are nearest.
fn mend(terms: Terms, error: &PrepareError) -> Option<Terms> {
    let price = |value: &Decimal| {
        let price = Px::new(*value).ok()?;
        Some(Terms { price, ..terms })
    };
    let qty = |value: &Decimal| {
        let qty = Qty::new(*value).ok()?;
        Some(Terms { qty, ..terms })
    };
    match error {
        PrepareError::OffStep {
            what, below, above, ..
        } => match *what {
            "price" => price(below),
            _ => qty(above),
        },
        PrepareError::BelowMinimum { what, min, .. } => match *what {
            "price" => price(min),
            "quantity" => qty(min),
            _ => terms
                .qty
                .checked_add(terms.qty)
                .map(|qty| Terms { qty, ..terms }),
        },
        PrepareError::UnknownSymbol { .. }
        | PrepareError::AboveMaximum { .. }
        | PrepareError::Unsupported { .. }
        | PrepareError::Invalid { .. }
        | _ => None,
    }
}

/// A limit order that takes what it can.
pub(crate) fn taking(intent: OrderIntent, price: Option<Px>) -> OrderIntent {
    match price {
        Some(price) => OrderIntent {
            ord_type: OrdType::Limit { price },
            time_in_force: TimeInForce::Ioc,
            ..intent
        },
        None => intent,
    }
}
