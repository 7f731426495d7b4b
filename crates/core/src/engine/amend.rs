//! From new terms to an order's driver: everything that is tested before the one durable commit.

use std::sync::{Arc, PoisonError};

use tokio::sync::oneshot;

use super::AmendError;
use super::shared::{AskedAmend, Message, Shared};
use crate::{
    AmendOutcome, AmendRule, ClOrdId, Gate, OrderRecord, Px, Qty, RateClass, Terms, Ticket,
    UnknownCause,
};

impl Shared {
    /// Asks for other terms, once. Runs in a task of the engine: dropping the caller's future takes nothing back.
    pub(crate) async fn amend(
        self: Arc<Self>,
        id: ClOrdId,
        order_qty: Option<Qty>,
        price: Option<Px>,
    ) -> Result<AmendOutcome, AmendError> {
        let row = self.amendable(id).await?;
        let unsupported = || AmendError::Unsupported {
            alias: row.alias().clone(),
        };
        let desk = Arc::clone(self.desks.get(row.alias()).ok_or_else(unsupported)?);
        if desk.profile.amend != AmendRule::KeepsIds {
            return Err(unsupported());
        }
        let (from, to) = new_terms(&row, order_qty, price)?;
        let amended = to.onto(&row.intent);
        desk.limits.check(&amended, 0)?;
        // Less of the same at the same price takes no new risk.
        let exit =
            desk.is_exit(&amended) || (to.order_qty < from.order_qty && to.price == from.price);
        if !exit {
            self.check_risk(&row)?;
        }
        desk.rate.admit(RateClass::Cancel).await;
        let venue = |error| AmendError::Venue {
            alias: row.alias().clone(),
            error,
        };
        let facts = desk.venue.facts(&amended).await.map_err(venue)?;
        let now = desk.now().await.map_err(venue)?.now;
        let ticket = Ticket {
            no: 1,
            now,
            nonce: None,
            facts,
        };
        // A create with these terms must be possible; it is not sent.
        desk.venue
            .prepare(&id, &amended, &ticket)
            .map_err(AmendError::Prepare)?;
        if self.is_stopping() {
            return Err(AmendError::ShuttingDown);
        }
        let gone = AmendError::NotWorking { id };
        let Some(driver) = self.driver(id) else {
            return Err(gone);
        };
        let (reply, answer) = oneshot::channel();
        let asked = AskedAmend {
            from,
            to,
            exit,
            at: now,
            reply,
        };
        if driver.inbox.send(Message::Amend(Box::new(asked))).is_err() {
            return Err(gone);
        }
        // Nobody tells when the engine lets go, or the adapter panics: the venue's terms are looked up.
        let unheard = || UnknownCause::new("its answer was not awaited");
        answer
            .await
            .unwrap_or_else(|_| Ok(AmendOutcome::Unknown(unheard())))
    }

    /// The order as its driver knows it.
    async fn amendable(&self, id: ClOrdId) -> Result<OrderRecord, AmendError> {
        let published = self.driver(id).map(|driver| driver.published);
        let row = match published.and_then(|published| published.borrow().row.clone()) {
            Some(row) => Some(row),
            None => self
                .journal
                .store()
                .order(id)
                .await
                .map_err(AmendError::Journal)?,
        };
        let row = row.ok_or(AmendError::NoSuchOrder { id })?;
        if !row.state.is_working() || row.cancel_requested {
            return Err(AmendError::NotWorking { id });
        }
        if row.amending().is_some() {
            return Err(AmendError::Undecided { id });
        }
        Ok(row)
    }

    /// Other terms are new risk: halts refuse them, and doubt about another order in the symbol.
    pub(crate) fn check_risk(&self, row: &OrderRecord) -> Result<(), AmendError> {
        let halts = self.halts();
        let mut covering = halts.into_iter().filter(|halt| {
            let scope = &halt.scope;
            scope.covers(row.alias(), &row.account, row.symbol())
        });
        if let Some(halt) = covering.next() {
            return Err(Gate::Halted(halt).into());
        }
        if !self.doubt_blocks {
            return Ok(());
        }
        let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        let in_doubt = drivers.values().find_map(|driver| {
            let published = driver.published.borrow();
            let other = published.row.as_ref()?;
            let here = other.alias() == row.alias()
                && other.account == row.account
                && other.symbol() == row.symbol();
            (here && other.in_doubt()).then_some(other.id)
        });
        in_doubt.map_or(Ok(()), |id| Err(Gate::Doubt(id).into()))
    }
}

/// The terms that stand and those that are asked for.
fn new_terms(
    row: &OrderRecord,
    order_qty: Option<Qty>,
    price: Option<Px>,
) -> Result<(Terms, Terms), AmendError> {
    let invalid = |what: &str| AmendError::Invalid { what: what.into() };
    let from = row
        .terms()
        .ok_or_else(|| invalid("only a limit order in base units can be amended"))?;
    let to = Terms {
        order_qty: order_qty.unwrap_or(from.order_qty),
        price: price.unwrap_or(from.price),
    };
    if to == from {
        return Err(invalid("the order has these terms"));
    }
    if to.order_qty <= row.cum_qty {
        return Err(invalid(
            "so much is executed already: cancel the rest instead",
        ));
    }
    if to.price.is_zero() {
        return Err(invalid("the price is zero"));
    }
    Ok((from, to))
}
