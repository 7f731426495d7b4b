//! What a report changes: adopted only when it is the same order.

use super::{Case, Step};
use crate::{
    Cause, Change, ExecReport, Fill, Halt, HaltCause, Mark, OrdState, OrdStatus, OrderId, Qty,
    SeenTerms, Watch,
};

impl Case<'_> {
    /// The venue speaks of the order: one report per venue order id.
    pub(super) fn sighted(self, reports: &[ExecReport], cause: Cause) -> Step {
        if let Some(step) = self.other_terms(reports, cause) {
            return step;
        }
        let ours: Vec<ExecReport>;
        let mut reports = reports;
        if reports.iter().any(|report| self.strange(report)) {
            // It was told, and says nothing of ours. In doubt nothing is sent as long as it shows.
            let rest = reports.iter().filter(|report| !self.strange(report));
            ours = rest.cloned().collect();
            reports = &ours;
            if ours.is_empty() && !(self.order.state.is_working() || self.order.state.is_terminal())
            {
                return Step::LookAgain {
                    after: self.slowly(),
                };
            }
        }
        if let Some(step) = self.second_order(reports, cause) {
            return step;
        }
        if let Some(step) = self.overfilled(reports, cause) {
            return step;
        }
        if let Some(step) = self.others_fills(reports, cause) {
            return step;
        }
        let step = if self.order.state.is_terminal() {
            self.late(reports, cause)
        } else {
            self.adopt(reports, cause)
        };
        step.unwrap_or_else(|| self.resume())
    }

    /// Our id with other terms than were sent is not adopted. That halts; an order that the row knows by its venue order id stays ours all
    /// the same: its terms are not adopted, its fills and its end are.
    fn other_terms(self, reports: &[ExecReport], cause: Cause) -> Option<Step> {
        let differing = |report: &&ExecReport| self.order.disagreement(&report.seen).is_some();
        let alarm = HaltCause::TermsDiffer { id: self.order.id };
        if !self.at.raised(&alarm) {
            let report = reports.iter().find(differing)?;
            let differs = self.order.disagreement(&report.seen)?;
            let halt = Halt::new(self.order.account_scope(), alarm, self.at.now.now, &differs);
            return Some(Step::advance(self.change(cause, differs).halting(halt)));
        }
        None
    }

    /// Whether the report speaks of an order under our id that is not ours by its terms, nor by its venue order id.
    fn strange(&self, report: &ExecReport) -> bool {
        self.order.disagreement(&report.seen).is_some() && !self.known_by_id(report)
    }

    /// Whether the report speaks of a venue order that was adopted before, for all that amends may have made of its quantity and price.
    fn known_by_id(&self, report: &ExecReport) -> bool {
        let order_id = report.handle.order_id.as_ref();
        let lasting = SeenTerms {
            order_qty: None,
            price: None,
            ..report.seen.clone()
        };
        order_id.is_some_and(|order_id| self.order.order_ids.contains(order_id))
            && lasting.disagreement(&self.order.intent).is_none()
    }

    /// Our order, executed beyond what was ordered: that halts, and is booked all the same.
    fn overfilled(self, reports: &[ExecReport], cause: Cause) -> Option<Step> {
        let ordered = self.order.most_ordered()?;
        let alarm = HaltCause::TermsDiffer { id: self.order.id };
        if self.at.raised(&alarm) || self.order.state.is_terminal() {
            return None;
        }
        let beyond = |report: &&ExecReport| report.cum_qty.is_some_and(|cum_qty| cum_qty > ordered);
        let report = reports.iter().find(beyond)?;
        let text = format!("{}, {ordered} ordered", describe(report));
        let halt = Halt::new(self.order.account_scope(), alarm, self.at.now.now, &text);
        let mut change = self.change(cause, text).halting(halt);
        self.news(report, &mut change);
        Some(Step::advance(change))
    }

    /// More than one venue order id for one intent breaches "at most one".
    fn second_order(self, reports: &[ExecReport], cause: Cause) -> Option<Step> {
        if self.profile.successors {
            return None;
        }
        let mut known: Vec<&OrderId> = self.order.order_ids.iter().collect();
        for report in reports {
            let Some(order_id) = &report.handle.order_id else {
                continue;
            };
            if known.contains(&order_id) {
                continue;
            }
            if known.is_empty() {
                known.push(order_id);
                continue;
            }
            let alarm = HaltCause::SecondOrder { id: self.order.id };
            let text = format!("order {order_id} beside {}", known.first()?);
            let halt = Halt::new(self.order.account_scope(), alarm, self.at.now.now, &text);
            let mut change = self.change(cause, text).halting(halt);
            // The first report's id must be on the row before the second's.
            let first = reports
                .iter()
                .find_map(|report| report.handle.order_id.clone());
            change.order_id = if self.order.order_ids.is_empty() {
                first
            } else {
                Some(order_id.clone())
            };
            change.fills = self.unbooked(&report.fills);
            // The row has ended: nobody wants another order of it.
            if self.order.state.is_terminal() && !reports.iter().all(|report| self.gone(report)) {
                change = change.watched(Watch::Surfaced);
            }
            return Some(Step::advance(change));
        }
        None
    }

    /// Whether the venue says, or said before, that the report's order ended. An ended order does not come back.
    fn gone(&self, report: &ExecReport) -> bool {
        let order_id = report.handle.order_id.as_ref();
        report.status.is_ended() || order_id.is_some_and(|id| self.pursuit.has_ended(id))
    }

    /// Whether the venue says, or said before, that each order of the intent ended, but for the one that is left out.
    fn all_gone(&self, reports: &[ExecReport], but: Option<&OrderId>) -> bool {
        let named = reports.iter().filter_map(|r| r.handle.order_id.as_ref());
        let mut orders = self.order.order_ids.iter().chain(named);
        orders.all(|id| {
            let said = |report: &ExecReport| {
                report.status.is_ended() && report.handle.order_id.as_ref() == Some(id)
            };
            Some(id) == but || self.pursuit.has_ended(id) || reports.iter().any(said)
        })
    }

    /// Fills of orders that the row knows and does not stand for, a second one or a predecessor, are booked first.
    fn others_fills(self, reports: &[ExecReport], cause: Cause) -> Option<Step> {
        let primary = self.primary(reports);
        let others = reports
            .iter()
            .filter(|report| primary.is_none_or(|primary| !std::ptr::eq(primary, *report)));
        let fills: Vec<Fill> = others
            .flat_map(|report| self.unbooked(&report.fills))
            .collect();
        if fills.is_empty() {
            return None;
        }
        let text = "fills of another order of the same intent";
        let mut change = self.change(cause, text);
        change.fills = fills;
        let id = self.order.id;
        let told = self.at.raised(&HaltCause::SecondOrder { id });
        if self.order.state.is_terminal() && !self.profile.successors && !told {
            change.halt = self.late_fill(&change, text);
        }
        Some(Step::advance(change))
    }

    /// The report that speaks of the order that the row stands for.
    fn primary<'r>(&self, reports: &'r [ExecReport]) -> Option<&'r ExecReport> {
        let known = &self.order.order_ids;
        let row = if self.profile.successors {
            // A successor under a new id speaks for the row, its predecessor does not any more.
            let new = |report: &&ExecReport| {
                let order_id = report.handle.order_id.as_ref();
                order_id.is_some_and(|order_id| !known.contains(order_id))
            };
            if let Some(successor) = reports.iter().rev().find(new) {
                return Some(successor);
            }
            known.last()
        } else {
            known.first()
        };
        reports.iter().find(|report| {
            row.is_none()
                || report.handle.order_id.is_none()
                || report.handle.order_id.as_ref() == row
        })
    }

    fn unbooked(&self, fills: &[Fill]) -> Vec<Fill> {
        fills
            .iter()
            .filter(|fill| self.pursuit.is_fresh(fill))
            .cloned()
            .collect()
    }

    /// What the report adds, without a change of state; `true` when there is news.
    fn news(&self, report: &ExecReport, change: &mut Change) -> bool {
        let order_id = report.handle.order_id.clone();
        change.order_id = order_id.filter(|order_id| !self.order.order_ids.contains(order_id));
        change.cum_qty = report
            .cum_qty
            .filter(|cum_qty| *cum_qty > self.order.cum_qty);
        change.fills = self.unbooked(&report.fills);
        change.avg_px = report.avg_px;
        change.order_id.is_some() || change.cum_qty.is_some() || !change.fills.is_empty()
    }

    /// Executed, after the report.
    fn cum_after(&self, report: &ExecReport, change: &Change) -> Qty {
        let fresh = change
            .fills
            .iter()
            .try_fold(self.order.booked_qty, |sum, fill| {
                sum.checked_add(fill.last_qty)
            });
        let booked = fresh.unwrap_or(self.order.booked_qty);
        self.order
            .cum_qty
            .max(booked)
            .max(report.cum_qty.unwrap_or_default())
    }

    /// Reports about an order that has not ended.
    fn adopt(self, reports: &[ExecReport], cause: Cause) -> Option<Step> {
        let report = self.primary(reports)?;
        let mut change = self.change(cause, describe(report));
        let news = self.news(report, &mut change);
        let cum_qty = self.cum_after(report, &change);
        let executed = !cum_qty.is_zero();
        let target = match report.status {
            OrdStatus::Open if executed => Some(OrdState::Partial),
            OrdStatus::Open => Some(OrdState::Acked),
            OrdStatus::NotShown if executed && news => Some(OrdState::Partial),
            OrdStatus::NotShown => self.out_of_sight(cause).then_some(OrdState::Unknown),
            OrdStatus::Filled => Some(OrdState::Filled),
            OrdStatus::Canceled => Some(OrdState::Canceled),
            OrdStatus::Rejected if executed => Some(OrdState::Canceled),
            OrdStatus::Rejected => Some(OrdState::Rejected),
        };
        let state = self.order.state;
        let to = match target {
            // A copy that nobody sent got through while each that we know was turned away: find out.
            Some(_) if state == OrdState::Pending => Some(OrdState::Unknown),
            // An older report: Partial does not become Acked again.
            Some(OrdState::Acked) if state == OrdState::Partial => None,
            Some(target) if target == state => None,
            target => target,
        };
        // A report without an order id is evidence all the same: absence is never final from here on.
        let unmarked = change.order_id.is_none() && !self.order.admitted();
        change.amended = self.shown_terms(report, cause);
        if to.is_none() && !news && !unmarked && change.amended.is_none() {
            return None;
        }
        if unmarked && let Some(last) = self.order.last_attempt() {
            change = change.mark(last.no, Mark::Admitted);
        }
        if let Some(to) = to {
            change.to = Some(to);
            if to.is_terminal() {
                change.reason.clone_from(&report.reason);
            }
            // A second order outlives the row: nobody wants it any more.
            let row = self.order.order_ids.first();
            if to.is_terminal() && !self.profile.successors && !self.all_gone(reports, row) {
                change = change.watched(Watch::Surfaced);
            }
        }
        Some(Step::advance(change))
    }

    /// Whether a working order, of which a round showed old fills only, should have shown by now.
    fn out_of_sight(&self, cause: Cause) -> bool {
        let absence = &self.profile.absence;
        let spoken = self.order.seen_at.unwrap_or(self.order.updated_at);
        let lag = absence.lag.value();
        let shown = spoken.after(lag).after(absence.margin);
        // Where nobody says when the round began, one lag more stands for it.
        let begun = self.pursuit.begun;
        let begun = begun.unwrap_or_else(|| self.at.now.earliest().before(lag));
        self.order.state.is_working() && cause == Cause::Found && begun >= shown
    }

    /// Reports about an order whose row has ended.
    fn late(self, reports: &[ExecReport], cause: Cause) -> Option<Step> {
        // Ended without a word of it at the venue, or beside another order: whatever lives there must not.
        if self.order.watch.is_some() || !self.order.admitted() || self.lives_beside(reports) {
            return self.surfaced(reports, cause);
        }
        let report = self.primary(reports)?;
        let mut change = self.change(cause, describe(report));
        if !self.news(report, &mut change) {
            return None;
        }
        change.halt = self.late_fill(&change, describe(report));
        Some(Step::advance(change))
    }

    /// The halt for more executed than the row ended with.
    fn late_fill(&self, change: &Change, what: impl std::fmt::Display) -> Option<Halt> {
        let mut fills = change.fills.iter();
        let booked = fills.try_fold(self.order.booked_qty, |sum, fill| {
            sum.checked_add(fill.last_qty)
        });
        let beyond =
            booked.is_none_or(|booked| booked > self.order.cum_qty) || change.cum_qty.is_some();
        let alarm = HaltCause::LateFill { id: self.order.id };
        let tell = beyond && !self.at.raised(&alarm);
        let text = format!("ended with {}, and now {what}", self.order.cum_qty);
        let (scope, now) = (self.order.symbol_scope(), self.at.now.now);
        tell.then(|| Halt::new(scope, alarm, now, text))
    }

    /// Whether a second order is open. That the first one is may be an older report: that one ended by the venue's word.
    fn lives_beside(&self, reports: &[ExecReport]) -> bool {
        let Some(first) = self.order.order_ids.first() else {
            return false;
        };
        let mut others = reports.iter().filter(|report| {
            let order_id = report.handle.order_id.as_ref();
            order_id.is_some_and(|order_id| order_id != first)
        });
        !self.profile.successors
            && others.any(|report| report.status == OrdStatus::Open && !self.gone(report))
    }

    /// Orders of a row that ended without them.
    fn surfaced(self, reports: &[ExecReport], cause: Cause) -> Option<Step> {
        let report = self.primary(reports);
        let spoken = report.or(reports.first())?;
        let mut change = self.change(cause, describe(spoken));
        let news = report.is_some_and(|report| self.news(report, &mut change));
        // One that names no order speaks of the only one.
        let alone = self.order.order_ids.len() <= 1 && spoken.handle.order_id.is_none();
        let ended = if self.profile.successors || alone {
            self.gone(spoken)
        } else {
            self.all_gone(reports, None)
        };
        if let Some((alarm, report)) = self.surprise(reports, &change)
            && !self.at.raised(&alarm)
        {
            let text = format!("{} row, and now {}", self.order.state, describe(report));
            change.halt = Some(Halt::new(
                self.order.account_scope(),
                alarm,
                self.at.now.now,
                text,
            ));
        }
        if ended && self.order.watch.is_some() {
            change.watch = Some(None);
            return Some(Step::advance(change));
        }
        if !ended && self.order.watch != Some(Watch::Surfaced) {
            change = change.watched(Watch::Surfaced);
            return Some(Step::advance(change));
        }
        (news || change.halt.is_some()).then(|| Step::advance(change))
    }

    /// What is told of it: an order that lives, or lived, where none should; of several, that there are several while one lives.
    fn surprise<'r>(
        &self,
        reports: &'r [ExecReport],
        change: &Change,
    ) -> Option<(HaltCause, &'r ExecReport)> {
        let id = self.order.id;
        if self.order.order_ids.len() > 1 && !self.profile.successors {
            let living = reports.iter().find(|report| !self.gone(report))?;
            return Some((HaltCause::SecondOrder { id }, living));
        }
        let report = self.primary(reports)?;
        let lived =
            report.status != OrdStatus::Rejected || !self.cum_after(report, change).is_zero();
        lived.then_some((HaltCause::Surprise { id }, report))
    }
}

fn describe(report: &ExecReport) -> String {
    let status = match report.status {
        OrdStatus::Open => "open",
        OrdStatus::Filled => "filled",
        OrdStatus::Canceled => "canceled",
        OrdStatus::Rejected => "rejected",
        OrdStatus::NotShown => "fills only",
    };
    let order_id = report
        .handle
        .order_id
        .as_ref()
        .map_or("", |order_id| order_id.as_str());
    let cum_qty = report
        .cum_qty
        .map_or_else(String::new, |cum_qty| format!(", {cum_qty} executed"));
    let reason = report
        .reason
        .as_ref()
        .map_or_else(String::new, |reason| format!(" ({reason})"));
    format!("{status} {order_id}{cum_qty}{reason}")
}
