//! The promises that are looked at while a schedule runs: before each send, and after each step. Each says its name first.

use std::collections::{BTreeMap, BTreeSet};

use surefill_core::{
    Amend, AmendState, Attempt, ClOrdId, Copies, Fence, Halt, OrdState, OrdStatus, OrderRecord,
    Qty, RevocationState, Store,
};

use super::book::Held;
use super::event::Event;
use super::venue::account;
use super::wire::Wire;
use super::world::{World, now, quantity};

/// What is remembered for it.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// Halts that only a person lifts, as they stood at the last look.
    halts: Vec<Halt>,
    /// Orders whose rejection was told to the strategy.
    pub(super) rejected: BTreeSet<ClOrdId>,
    /// Orders whose cancel was told to be asked.
    pub(super) canceled: BTreeSet<ClOrdId>,
    /// Orders of which this process has committed evidence that the venue knows them.
    pub(super) evidence: BTreeSet<ClOrdId>,
    /// Orders that somebody placed in spite of halts.
    pub(super) despite: BTreeSet<ClOrdId>,
    sent: BTreeSet<(ClOrdId, u32)>,
    nonces: BTreeMap<u64, Vec<u8>>,
    /// The highest nonce of an earlier process.
    nonce_floor: u64,
    /// Cancels that left.
    pub(super) cancels: BTreeMap<ClOrdId, u32>,
}

/// Later than this after the deadline nothing may leave: the way of the venue's time and the error of the clock, ms.
const LATE: u64 = 10;

impl World {
    /// Looked at when a create is about to leave.
    pub(super) fn check_send(&mut self, life: u64, attempt: &Attempt) {
        let wire = Wire::read(&attempt.wire);
        if let Some(nonce) = wire.nonce {
            self.check_nonce(life, nonce, attempt.wire.clone(), true);
        }
        let broken = self.wrong_send(life, attempt, &wire);
        self.breaks_if(broken);
        if let Ok(id) = wire.key.parse() {
            self.watched.sent.insert((id, attempt.no));
        }
    }

    fn wrong_send(&mut self, life: u64, attempt: &Attempt, wire: &Wire) -> Option<String> {
        let no = attempt.no;
        let Ok(id) = wire.key.parse::<ClOrdId>() else {
            return Some(format!("§4: sent under {}, which is no id", wire.key));
        };
        if self.closed.contains(&life) {
            return Some(format!("§9: {id} is sent after a failed commit"));
        }
        // In the words of I1: state, bytes, keys, fence are durable, and that a copy leaves.
        let Some(durable) = self.shadow.durable(id) else {
            return Some(format!("I1: {id} is sent and not durable"));
        };
        if self.shadow.durable_attempt(id, no).as_ref() != Some(attempt) {
            return Some(format!("I1: attempt {no} of {id} is sent and not durable"));
        }
        let state = durable.attempt(no)?;
        if state.copies != Copies::Loose {
            return Some(format!(
                "I1: attempt {no} of {id} leaves, and the durable row says that none left"
            ));
        }
        if life != self.holder {
            // It was stopped after its last check: the guards are the venue's.
            self.saw(Event::SentByThePast);
            return None;
        }
        let row = self.row(id)?;
        if row.state.is_terminal() {
            return Some(format!("I3: {id} is sent although it is {}", row.state));
        }
        let derived = ClOrdId::derive(
            &row.intent.decision,
            &account(),
            row.symbol(),
            row.intent.side,
        );
        if derived != id {
            return Some(format!("I5: {id} is sent, and its decision is {derived}"));
        }
        if row.cancel_requested && !row.land {
            return Some(format!("I7: {id} is sent although a cancel was asked"));
        }
        if state.revocation != RevocationState::None {
            return Some(format!(
                "I12: attempt {no} of {id} is sent although its revocation was asked"
            ));
        }
        let fresh = no > 1 && !self.watched.sent.contains(&(id, no));
        if fresh && self.watched.evidence.contains(&id) {
            return Some(format!(
                "I13: attempt {no} of {id} although the venue knows it"
            ));
        }
        self.too_late(attempt, &row)
            .or_else(|| self.under_a_halt(&row, row.intent.reduce_only || row.land, "is sent"))
    }

    fn too_late(&self, attempt: &Attempt, row: &OrderRecord) -> Option<String> {
        let (now, id) = (self.now(), row.id);
        if self.time_behind > 0 {
            return None;
        }
        if let Fence::Clock(fence) = attempt.fence
            && now > fence.as_ms() + LATE
        {
            return Some(format!("I6: {id} is sent after its fence"));
        }
        let stale_at = row.intent.stale_at().as_ms();
        (now > stale_at + LATE && !row.land).then(|| format!("I6: {id} is sent stale"))
    }

    fn under_a_halt(&self, row: &OrderRecord, exit: bool, what: &str) -> Option<String> {
        if exit || self.watched.despite.contains(&row.id) {
            return None;
        }
        let halts = now(self.store.halts()).unwrap_or_default();
        let old = |halt: &&Halt| {
            // One that was lifted and declared again since is another one.
            halts.contains(halt) && halt.scope.covers(row.alias(), &row.account, row.symbol())
        };
        let halt = self.watched.halts.iter().find(old)?;
        Some(format!("P4: {} {what} under a halt: {}", row.id, halt.text))
    }

    /// Looked at when an entry was journaled.
    pub(super) fn check_entry(&mut self, life: u64, row: &OrderRecord, doubt_blocks: bool) {
        if !self.recovered.contains(&life) {
            self.breaks(format!("I9: {} is placed before recovery", row.id));
        }
        if !doubt_blocks {
            return;
        }
        let broken = self.under_a_halt(row, false, "is entered");
        self.breaks_if(broken);
        let rows = now(self.store.orders(&Default::default())).unwrap_or_default();
        let doubt = rows.iter().find(|other| {
            other.id != row.id && other.symbol() == row.symbol() && other.state.is_doubt()
        });
        if let Some(other) = doubt {
            let (id, other, state) = (row.id, other.id, other.state);
            self.breaks(format!("P4: {id} is entered while {other} is {state}"));
        }
    }

    /// Looked at when an amend is about to leave.
    pub(super) fn check_amend(&mut self, life: u64, amend: &Amend) {
        let broken = self.wrong_amend(life, amend);
        self.breaks_if(broken);
    }

    fn wrong_amend(&self, life: u64, amend: &Amend) -> Option<String> {
        let id = amend.id;
        if self.closed.contains(&life) {
            return Some(format!(
                "§9: an amend of {id} is sent after a failed commit"
            ));
        }
        let durable = self.shadow.durable(id);
        let asked = durable.and_then(|row| row.amends.last().cloned());
        let same = asked.is_some_and(|asked| {
            amend
                .order_qty
                .is_none_or(|qty| qty == asked.terms.order_qty)
                && amend.price.is_none_or(|px| px == asked.terms.price)
        });
        if !same {
            return Some(format!("I1: an amend of {id} is sent and not durable"));
        }
        if life != self.holder {
            return None;
        }
        let row = self.row(id)?;
        let less = amend.price.is_none()
            && amend.order_qty < row.terms().map(|terms| terms.order_qty)
            && amend.order_qty.is_some();
        self.under_a_halt(&row, row.intent.reduce_only || less, "is amended")
    }

    /// Looked at when a revocation is about to leave.
    pub(super) fn check_revoke(&mut self, life: u64, id: ClOrdId, no: u32) {
        if self.closed.contains(&life) {
            return self.breaks(format!("§9: {id} is revoked after a failed commit"));
        }
        let durable = self.shadow.durable(id);
        let attempt = durable.as_ref().and_then(|row| row.attempt(no));
        if attempt.is_none_or(|attempt| attempt.revocation == RevocationState::None) {
            self.breaks(format!(
                "I12: the revocation of attempt {no} of {id} is sent and not durable"
            ));
        }
    }

    /// A nonce is about to leave in a request.
    pub(super) fn check_nonce(&mut self, life: u64, nonce: u64, bytes: Vec<u8>, journaled: bool) {
        if !journaled {
            return self.saw(Event::NonceNotJournaled);
        }
        if let Some(before) = self.watched.nonces.get(&nonce)
            && *before != bytes
        {
            self.breaks(format!("§9: nonce {nonce} is in two requests"));
        }
        let again = self.watched.nonces.insert(nonce, bytes).is_some();
        if again || life != self.holder {
            return;
        }
        let floor = self.watched.nonce_floor;
        if nonce <= floor {
            self.breaks(format!(
                "§9: nonce {nonce} after {floor} of the process before"
            ));
        }
        if nonce > self.now() + 2_000 {
            self.breaks(format!(
                "§9: nonce {nonce} is far ahead of the venue's time"
            ));
        }
    }

    /// The next process's nonces are above every one so far, also above those of attempts that no byte of has left. It may send such an
    /// attempt's bytes with the nonce that they have: it is given out once. One that was replaced may have some of its block left.
    pub(super) fn close_nonces(&mut self) {
        for id in self.shadow.ids() {
            let row = self.row(id);
            for no in row.iter().flat_map(|row| &row.attempts).map(|a| a.no) {
                let attempt = now(self.store.attempt(id, no)).ok().flatten();
                if let Some(attempt) = attempt
                    && let Some(nonce) = Wire::read(&attempt.wire).nonce
                {
                    self.watched.nonces.entry(nonce).or_insert(attempt.wire);
                }
            }
        }
        let last = self.watched.nonces.keys().next_back();
        self.watched.nonce_floor = last.copied().unwrap_or(0);
    }

    /// What holds after each step.
    pub(super) fn check(&mut self) {
        self.settle();
        if self.died {
            return;
        }
        let mut halts = now(self.store.halts()).unwrap_or_default();
        halts.retain(|halt| halt.cause.needs_person());
        // A process that stands still right after the write of a halt does not know it yet, and has told nobody.
        if self.stood_still() {
            halts.retain(|halt| self.watched.halts.contains(halt));
        }
        self.watched.halts = halts;
        let broken = self.wrong_rows().or_else(|| self.wrong_orders());
        self.breaks_if(broken);
    }

    /// The journal: it holds what it said, and nothing that is not so.
    fn wrong_rows(&self) -> Option<String> {
        for id in self.shadow.ids() {
            let row = self.row(id);
            let said = self.shadow.row(id);
            if row.as_ref() != said {
                return Some(lost(id, said, row.as_ref()));
            }
            let Some(row) = row else { continue };
            if self.watched.canceled.contains(&id)
                && !row.cancel_requested
                && !row.state.is_terminal()
            {
                return Some(format!(
                    "I7: the cancel of {id} was asked, and its row lacks it"
                ));
            }
            if self.watched.rejected.contains(&id) && row.state != OrdState::Rejected {
                return Some(format!(
                    "I10: {id} was told to be rejected, and its row is {}",
                    row.state
                ));
            }
            let asked = row.amends.iter();
            if asked
                .filter(|amend| amend.state == AmendState::Asked)
                .count()
                > 1
            {
                return Some(format!("I11: two amends of {id} are undecided at once"));
            }
            if let Some(broken) = self.wrong_quantities(&row) {
                return Some(broken);
            }
        }
        None
    }

    fn wrong_quantities(&self, row: &OrderRecord) -> Option<String> {
        let key = row.id.to_string();
        let held = || self.orders.iter().filter(|held| held.key.as_str() == key);
        let cum: u32 = held().map(|held| held.cum).sum();
        if row.cum_qty > quantity(cum) {
            return Some(format!(
                "I4: {} executed {cum} and its row says {}",
                row.id, row.cum_qty
            ));
        }
        if row.booked_qty == Qty::ZERO {
            return None;
        }
        let fills = now(self.store.fills(row.id)).unwrap_or_default();
        for (index, fill) in fills.iter().enumerate() {
            let exec_id = fill.exec_id.as_str();
            if fills.iter().skip(index + 1).any(|other| other.is(fill)) {
                return Some(format!("P3: fill {exec_id} of {} is booked twice", row.id));
            }
            let mut known = held().flat_map(|held| &held.fills);
            if !known.any(|(known, _)| known.is(fill) && known.last_qty == fill.last_qty) {
                return Some(format!("P3: fill {exec_id} of {} never happened", row.id));
            }
        }
        None
    }

    /// The venue: one order per intent, and none that the journal has forgotten.
    fn wrong_orders(&self) -> Option<String> {
        for held in &self.orders {
            let same: Vec<&Held> = self
                .orders
                .iter()
                .filter(|other| other.key == held.key)
                .collect();
            let several = same.len() > 1;
            let sends = same.iter().any(|other| other.send != held.send);
            let doubled = several && !sends && !self.camp.copies_meet();
            if several && !doubled {
                return Some(format!(
                    "P1: {} orders for {}",
                    same.len(),
                    held.key.as_str()
                ));
            }
            if held.status == OrdStatus::Open
                && !several
                && let Ok(id) = held.key.as_str().parse()
                && let Some(row) = self.row(id)
                && !row.unfinished()
            {
                return Some(format!(
                    "P5: {} lives as {} and its row is {}, not watched",
                    row.id, held.order_id, row.state
                ));
            }
        }
        None
    }
}

/// How a row differs from what the journal said last.
fn lost(id: ClOrdId, said: Option<&OrderRecord>, row: Option<&OrderRecord>) -> String {
    let Some(said) = said else {
        return format!("§9: the journal holds {id}, which it lost");
    };
    let Some(row) = row else {
        return format!("I1: the journal said that it holds {id} and does not");
    };
    if said.state.is_terminal() && row.state != said.state {
        return format!("I3: {id} was {} and is {}", said.state, row.state);
    }
    if row.cum_qty < said.cum_qty {
        let (had, has) = (said.cum_qty, row.cum_qty);
        return format!("I4: {id} had executed {had} and now {has}");
    }
    if row.intent != said.intent {
        return format!("I5: the intent of {id} changed");
    }
    format!(
        "§9: the journal said version {} of {id} and holds {}",
        said.version, row.version
    )
}
