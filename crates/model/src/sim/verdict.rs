//! What is not as it should be when nothing happens any more.

use surefill_core::{
    Fill, Halt, HaltCause, Lacking, OrdState, OrdStatus, OrderFilter, OrderRecord, Store,
    Transition,
};

use super::book::Held;
use super::camp::FenceKind;
use super::lie::Lie;
use super::wire::{whole, whole_px};
use super::world::{World, now, quantity};

impl World {
    /// The first promise that is not kept yet.
    pub(super) fn verdict(&self) -> Option<String> {
        let rows = now(self.store.orders(&OrderFilter::default())).ok()?;
        let halts = now(self.store.halts()).ok()?;
        let told = self.told();
        for row in &rows {
            let held = self.held_for(row);
            let fills = now(self.store.fills(row.id)).ok()?;
            let mut log = now(self.store.history(row.id)).ok()?;
            if self.lies(Lie::LogRewritten) && log.len() > 2 {
                log.remove(1);
            }
            let broken = settled(row, &held, &told, &halts)
                .or_else(|| self.terms_stand(row, &held, &told))
                .or_else(|| booked(&fills, row, &held))
                .or_else(|| logged(&log, row))
                .or_else(|| self.halted_for_a_reason(row, &halts));
            if broken.is_some() {
                return broken;
            }
        }
        let ours = |held: &&Held| {
            rows.iter()
                .any(|row| row.id.to_string() == held.key.as_str())
        };
        let strange = self.orders.iter().find(|held| !ours(held));
        strange.map(|held| {
            format!(
                "I1: {} lives for {} and the journal holds no row",
                held.order_id,
                held.key.as_str()
            )
        })
    }

    /// What was ever halted.
    pub(super) fn told(&self) -> Vec<HaltCause> {
        let halts = now(self.store.halts()).unwrap_or_default();
        let lifted = self.store.lifted().into_iter().map(|(halt, ..)| halt);
        halts
            .into_iter()
            .chain(lifted)
            .map(|halt| halt.cause)
            .collect()
    }

    pub(super) fn held_for(&self, row: &OrderRecord) -> Vec<&Held> {
        let key = row.id.to_string();
        let held = self.orders.iter();
        held.filter(|held| held.key.as_str() == key).collect()
    }

    /// The terms of an order that works are those that the venue has, or it is known that they are not known.
    fn terms_stand(&self, row: &OrderRecord, held: &[&Held], told: &[HaltCause]) -> Option<String> {
        let [only] = held else { return None };
        let alarm = HaltCause::TermsDiffer { id: row.id };
        if !row.state.is_working() || told.contains(&alarm) {
            return None;
        }
        let terms = row.terms()?;
        let (id, open) = (row.id, row.amending().is_some());
        if open && self.camp.fence == FenceKind::None {
            return None;
        }
        if open {
            return Some(format!("P2: an amend of {id} is never decided"));
        }
        let (qty, px) = (whole(terms.order_qty), whole_px(terms.price));
        let (had, at) = only.real;
        ((qty, px) != only.real)
            .then(|| format!("I11: {id} has {had} at {at} and its row says {qty} at {px}"))
    }

    /// A halt from doubt says what this venue lacks, and lifts when the truth arrives.
    fn halted_for_a_reason(&self, row: &OrderRecord, halts: &[Halt]) -> Option<String> {
        let mut doubts = halts.iter().filter_map(|halt| match halt.cause {
            HaltCause::Doubt { id, lacking } if id == row.id => Some(lacking),
            _ => None,
        });
        let lacking = doubts.next()?;
        let (id, state) = (row.id, row.state);
        if row.state.is_working() || row.state.is_terminal() {
            return Some(format!("§7: {id} is {state}, and its doubt halts on"));
        }
        let known = row.attempts.iter().any(|attempt| attempt.bytes_known);
        let true_of_it = match lacking {
            Lacking::Fence => self.camp.fence == FenceKind::None,
            Lacking::DocumentedDrain => known || self.camp.fence == FenceKind::Assumed,
            Lacking::Retention => false,
            Lacking::Answer | Lacking::Sight => true,
        };
        (!true_of_it).then(|| format!("P2: {id} is halted for {lacking:?}, which the venue has"))
    }
}

/// P2: settled as the venue says, or halted for a cause that speaks of the order.
fn settled(
    row: &OrderRecord,
    held: &[&Held],
    told: &[HaltCause],
    halts: &[Halt],
) -> Option<String> {
    let (id, state) = (row.id, row.state);
    let speaks = |cause: &HaltCause| cause.order() == Some(id);
    let alarmed = told
        .iter()
        .any(|cause| speaks(cause) && cause.needs_person());
    // A second that ended unseen and unexecuted, by our own cancel, cost nothing.
    let counts = |held: &&&Held| {
        !row.order_ids.contains(&held.order_id) && (held.cum > 0 || held.status == OrdStatus::Open)
    };
    let second =
        held.len() > 1 && (row.order_ids.len() > 1 || held.iter().any(|held| counts(&held)));
    if second && !alarmed {
        return Some(format!(
            "I11: {} orders for {id} and nobody was told",
            held.len()
        ));
    }
    let open = held
        .iter()
        .filter(|held| held.status == OrdStatus::Open)
        .count();
    // One row cannot say what became of two: that both are known, that somebody was told, and that none outlives the row or its cancel.
    if held.len() > 1 {
        let unwanted = state.is_terminal() || state.is_working() && row.cancel_requested;
        return (unwanted && open > 0).then(|| {
            format!("I11: {id} is {state}, canceled or not, and one of its orders lives")
        });
    }
    if state.is_working() {
        if open == 0 {
            return Some(format!("P2: {id} is {state} and does not live"));
        }
        if row.cancel_requested {
            return Some(format!("I7: a cancel of {id} was asked, and it lives on"));
        }
    } else if !state.is_terminal() || row.unfinished() {
        // In doubt for good: a halt in force says so.
        if !halts.iter().any(|halt| speaks(&halt.cause)) {
            return Some(format!("P2: {id} is {state} and nothing is halted for it"));
        }
        return None;
    } else if open > 0 {
        return Some(format!("P5: {id} is {state} and lives"));
    }
    if let [only] = held
        && !alarmed
        && row.cum_qty != quantity(only.cum)
    {
        return Some(format!(
            "P3: {id} executed {} and its row says {}",
            only.cum, row.cum_qty
        ));
    }
    None
}

/// P3: the venue's fills are the journal's.
fn booked(fills: &[Fill], row: &OrderRecord, held: &[&Held]) -> Option<String> {
    let at_venue = held.iter().flat_map(|held| &held.fills);
    let missing = at_venue
        .clone()
        .find(|(fill, _)| !fills.iter().any(|other| other.is(fill)));
    if let Some((fill, _)) = missing {
        return Some(format!(
            "P3: fill {} of {} is not booked",
            fill.exec_id.as_str(),
            row.id
        ));
    }
    (at_venue.count() != fills.len())
        .then(|| format!("P3: a fill of {} is booked twice or made up", row.id))
}

/// I8: each change has its entry, and each step is one that the contract allows.
fn logged(log: &[Transition], row: &OrderRecord) -> Option<String> {
    let id = row.id;
    let mut state = None;
    for (version, entry) in (1..).zip(log) {
        if entry.version != version || entry.from != state {
            return Some(format!("I8: the log of {id} has a hole at {version}"));
        }
        if let Some(from) = entry.from
            && from != entry.to
            && !may_become(from, entry.to)
        {
            return Some(format!("§3: {id} went from {from} to {}", entry.to));
        }
        state = Some(entry.to);
    }
    let complete = u64::try_from(log.len()) == Ok(row.version) && state == Some(row.state);
    (!complete).then(|| format!("I8: the log of {id} ends before its row"))
}

/// The contract's table of states, written down a second time.
fn may_become(from: OrdState, to: OrdState) -> bool {
    use OrdState as S;
    let reported = [S::Acked, S::Partial, S::Filled, S::Canceled, S::Rejected].contains(&to);
    match from {
        S::Pending => [S::Submitted, S::Unknown, S::Canceled, S::Rejected].contains(&to),
        S::Submitted => reported || [S::Unknown, S::Pending].contains(&to),
        S::Unknown => reported || to == S::Reconciling,
        S::Reconciling => reported || [S::Unknown, S::Submitted].contains(&to),
        S::Acked => [S::Partial, S::Filled, S::Canceled, S::Rejected, S::Unknown].contains(&to),
        S::Partial => [S::Filled, S::Canceled, S::Unknown].contains(&to),
        S::Filled | S::Canceled | S::Rejected => false,
    }
}
