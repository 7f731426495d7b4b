//! Amends of an order that keeps its ids: durable before they are sent, and adopted only by the venue's word.

use serde::{Deserialize, Serialize};

use crate::{
    Amount, Fence, OrdState, OrdType, OrderIntent, OrderRecord, Px, Qty, SeenTerms, VenueTime,
};

/// The number of an amend of one order, from 1.
pub type AmendNo = u32;

/// What an amend can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The total quantity, base units.
    pub order_qty: Qty,
    /// The limit price.
    pub price: Px,
}

impl Terms {
    /// Those of an intent; `None` for a market order, and for an amount in quote units.
    pub const fn of(intent: &OrderIntent) -> Option<Self> {
        match (intent.amount, intent.ord_type) {
            (Amount::Base(order_qty), OrdType::Limit { price }) => Some(Self { order_qty, price }),
            (Amount::Base(_) | Amount::Quote(_), OrdType::Limit { .. } | OrdType::Market) => None,
        }
    }

    /// The intent with these terms.
    #[must_use]
    pub fn onto(self, intent: &OrderIntent) -> OrderIntent {
        OrderIntent {
            amount: Amount::Base(self.order_qty),
            ord_type: OrdType::Limit { price: self.price },
            ..intent.clone()
        }
    }
}

/// What is known of an amend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AmendState {
    /// Durable, and perhaps sent: the venue may hold the old terms or these.
    Asked,
    /// No byte left, or the venue refused the only copy.
    Refused,
    /// Past its fence the venue shows the old terms.
    Lapsed,
    /// The venue shows these terms. When it says that it changed the order.
    Shown(Option<VenueTime>),
}

/// An amend in an order's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AmendRecord {
    /// Its number.
    pub no: AmendNo,
    /// The terms asked.
    pub terms: Terms,
    /// When it was made durable, venue time.
    pub asked_at: VenueTime,
    /// Until when the venue may take it.
    pub fence: Fence,
    /// What is known of it.
    pub state: AmendState,
}

impl OrderRecord {
    /// So many amends stay in a row: a report may be older than the newest of them.
    pub const AMENDS_KEPT: usize = 8;

    /// The terms that stand, as the venue has shown them last; `None` for an order that has none which could be amended.
    pub fn terms(&self) -> Option<Terms> {
        self.standing()
            .map_or_else(|| Terms::of(&self.intent), |(amend, _)| Some(amend.terms))
    }

    /// The amend of which it is not known whether the venue has taken it.
    pub fn amending(&self) -> Option<&AmendRecord> {
        let newest = self.amends.last();
        newest.filter(|amend| amend.state == AmendState::Asked && !self.state.is_terminal())
    }

    /// The first term that is neither the intent's nor that of an amend which was asked, in words.
    pub fn disagreement(&self, seen: &SeenTerms) -> Option<String> {
        let differs = seen.disagreement(&self.intent)?;
        let mut asked = self.amends.iter();
        if asked.any(|amend| self.shows(seen, amend.terms)) {
            return None;
        }
        let standing = self.terms().map(|terms| terms.onto(&self.intent));
        standing.map_or(Some(differs), |standing| seen.disagreement(&standing))
    }

    /// The most that may have been ordered: by the terms that stand, or by an amend that may still be taken.
    pub(crate) fn most_ordered(&self) -> Option<Qty> {
        let Amount::Base(ordered) = self.intent.amount else {
            return None;
        };
        let standing = self.terms().map_or(ordered, |terms| terms.order_qty);
        let since = self.standing().map_or(0, |(amend, _)| amend.no);
        let later = self.amends.iter().filter(|amend| amend.no > since);
        Some(later.fold(standing, |most, amend| most.max(amend.terms.order_qty)))
    }

    /// What a report's terms say of an amend; `None` when nothing is new. `settled` when the look began past the fence of what is asked.
    pub(crate) fn amend_seen(
        &self,
        seen: &SeenTerms,
        changed_at: Option<VenueTime>,
        settled: bool,
    ) -> Option<(AmendNo, AmendState)> {
        if seen.order_qty.is_none() && seen.price.is_none() {
            return None;
        }
        let standing = self.standing();
        // Said before the terms that stand: an older report.
        if let (Some((_, Some(shown))), Some(changed_at)) = (standing, changed_at)
            && changed_at < shown
        {
            return None;
        }
        let since = standing.map_or(0, |(amend, _)| amend.no);
        if self.terms().is_some_and(|terms| self.shows(seen, terms)) {
            let asked = self.amending().filter(|_| settled)?;
            return (!self.shows(seen, asked.terms)).then_some((asked.no, AmendState::Lapsed));
        }
        // An older amend may have been taken again after the one that stands: its request was doubled below us. Only a later instant says so.
        let again =
            matches!((standing, changed_at), (Some((_, Some(shown))), Some(at)) if at > shown);
        let mut newest = self.amends.iter().rev();
        let shown =
            newest.find(|amend| (again || amend.no > since) && self.shows(seen, amend.terms))?;
        Some((shown.no, AmendState::Shown(changed_at)))
    }

    /// The amend whose terms the venue showed last, by the instant at which it says that they came; by number where it says none.
    fn standing(&self) -> Option<(&AmendRecord, Option<VenueTime>)> {
        let mut last: Option<(&AmendRecord, Option<VenueTime>)> = None;
        for amend in &self.amends {
            let AmendState::Shown(at) = amend.state else {
                continue;
            };
            if last.is_none_or(|(_, before)| at.is_none() || before <= at) {
                last = Some((amend, at));
            }
        }
        last
    }

    fn shows(&self, seen: &SeenTerms, terms: Terms) -> bool {
        seen.disagreement(&terms.onto(&self.intent)).is_none()
    }

    /// Takes in an amend that is asked; `false` when it may not be.
    pub(crate) fn ask_amend(&mut self, amend: &AmendRecord) -> bool {
        let next = self
            .amends
            .last()
            .map_or(1, |last| last.no.saturating_add(1));
        let may = match self.state {
            OrdState::Acked | OrdState::Partial => !self.cancel_requested,
            OrdState::Pending
            | OrdState::Submitted
            | OrdState::Unknown
            | OrdState::Reconciling
            | OrdState::Filled
            | OrdState::Canceled
            | OrdState::Rejected => false,
        };
        if !may
            || self.amending().is_some()
            || amend.no != next
            || amend.state != AmendState::Asked
            || Terms::of(&self.intent).is_none()
        {
            return false;
        }
        let standing = self.standing().map(|(amend, _)| amend.no);
        if self.amends.len() >= Self::AMENDS_KEPT
            && let Some(oldest) = self.amends.iter().position(|old| Some(old.no) != standing)
        {
            self.amends.remove(oldest);
        }
        self.amends.push(amend.clone());
        true
    }

    /// Takes in what is learned of an amend; `false` when the row has no such one.
    pub(crate) fn learn_amend(&mut self, no: AmendNo, state: AmendState) -> bool {
        let amend = self.amends.iter_mut().find(|amend| amend.no == no);
        match amend {
            Some(amend) => {
                amend.state = state;
                true
            }
            None => false,
        }
    }
}
