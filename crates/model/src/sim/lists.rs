//! What the venue shows: lists that lag, each change by a time of its own, and a stream.

use surefill_core::{ExecReport, Fill, Handle, OrdStatus, Qty, SeenTerms, VenueEvent, VenueTime};

use super::book::{Held, HeldTerms};
use super::event::Event;
use super::lie::Lie;
use super::world::{World, quantity};

impl World {
    /// What the stream says of an order.
    pub(super) fn tell(&mut self, index: usize) {
        if self.streams.is_empty() || self.is_hidden(&self.orders[index]) {
            return;
        }
        if self.faults.mute > 0 {
            self.faults.mute -= 1;
            return self.saw(Event::StreamMuted);
        }
        let report = self.truth(index);
        if std::mem::take(&mut self.faults.swap) && self.held_back.is_none() {
            self.held_back = Some(report);
            return;
        }
        self.send_event(&report);
        if std::mem::take(&mut self.faults.twice) {
            self.saw(Event::StreamTwice);
            self.send_event(&report);
        }
        if let Some(report) = self.held_back.take() {
            self.saw(Event::StreamSwapped);
            self.send_event(&report);
        }
    }

    fn send_event(&self, report: &ExecReport) {
        for stream in self.streams.values() {
            // A process that is gone hears nothing.
            drop(stream.send(VenueEvent::Report(report.clone())));
        }
    }

    fn report(held: &Held, terms: &HeldTerms, status: OrdStatus, fills: Vec<Fill>) -> ExecReport {
        let told = status != OrdStatus::NotShown;
        ExecReport {
            handle: Handle {
                key: Some(held.key.clone()),
                order_id: Some(held.order_id.clone()),
            },
            status,
            cum_qty: told.then(|| quantity(held.cum)),
            avg_px: None,
            reason: None,
            fills,
            seen: SeenTerms {
                order_qty: told.then(|| quantity(terms.qty)),
                price: told.then(|| terms.px.to_string().parse().expect("a price")),
                ..SeenTerms::default()
            },
            transact_time: Some(VenueTime::from_ms(terms.changed)),
        }
    }

    /// The order as it is.
    pub(super) fn truth(&self, index: usize) -> ExecReport {
        let held = &self.orders[index];
        let fills = held.fills.iter().map(|(fill, _)| fill.clone()).collect();
        let terms = held.terms.last().expect("terms");
        Self::report(held, terms, held.status, fills)
    }

    /// What the list of open orders shows now.
    pub(super) fn list_open(&self) -> Vec<ExecReport> {
        let now = self.now();
        let shown = |held: &&Held| {
            held.shown_open <= now && now < held.hidden_open && !self.is_hidden(held)
        };
        let report = |held: &Held| {
            let fills = visible(held, now);
            let cum = fills.iter().fold(Qty::ZERO, |sum, fill| {
                sum.checked_add(fill.last_qty).expect("a sum")
            });
            let more = if self.lies(Lie::CumTooMuch) {
                quantity(1)
            } else {
                Qty::ZERO
            };
            let mut report = Self::report(held, shown_terms(held, now), OrdStatus::Open, fills);
            report.cum_qty = cum.checked_add(more);
            report
        };
        self.orders.iter().filter(shown).map(report).collect()
    }

    /// What the list of closed orders shows now: the end may show before the fills.
    pub(super) fn list_closed(&self) -> Vec<ExecReport> {
        let now = self.now();
        let shown = |held: &&Held| held.shown_closed <= now && !self.is_hidden(held);
        let report = |held: &Held| {
            let terms = shown_terms(held, now);
            Self::report(held, terms, held.status, visible(held, now))
        };
        self.orders.iter().filter(shown).map(report).collect()
    }

    /// What the list of fills shows now, one report per order.
    pub(super) fn list_fills(&self) -> Vec<ExecReport> {
        let now = self.now();
        let orders = self.orders.iter().filter(|held| !self.is_hidden(held));
        let reports = orders.map(|held| {
            let mut fills = visible(held, now);
            if self.lies(Lie::FillsTwice) {
                let again = fills.clone().into_iter().map(|fill| Fill {
                    exec_id: format!("{}-2", fill.exec_id.as_str()).into(),
                    ..fill
                });
                fills.extend(again.collect::<Vec<_>>());
            }
            Self::report(held, shown_terms(held, now), OrdStatus::NotShown, fills)
        });
        reports.filter(|report| !report.fills.is_empty()).collect()
    }

    /// A lying venue hides it.
    fn is_hidden(&self, held: &Held) -> bool {
        let never = self.lies(Lie::NeverShown) && held.cum == 0;
        let first = self.orders.iter().find(|other| other.key == held.key);
        let second = first.is_some_and(|first| first.order_id != held.order_id);
        never || (second && self.lies(Lie::SecondHidden))
    }
}

fn visible(held: &Held, now: u64) -> Vec<Fill> {
    let shown = held.fills.iter().filter(|(_, at)| *at <= now);
    shown.map(|(fill, _)| fill.clone()).collect()
}

/// The newest terms that lists show now, or the first ones.
fn shown_terms(held: &Held, now: u64) -> &HeldTerms {
    let mut newest = held.terms.iter().rev();
    newest
        .find(|terms| terms.shown <= now)
        .unwrap_or_else(|| held.terms.first().expect("terms"))
}
