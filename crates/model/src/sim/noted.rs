//! What each write says happened.

use surefill_core::{
    AmendState, Cause, Change, Entry, Halt, HaltCause, Mark, OrdState, OrderRecord, Watch,
};

use super::event::Event;
use super::world::World;

impl World {
    /// An intent was journaled.
    pub(super) fn entered(&mut self, life: u64, row: &OrderRecord, entry: &Entry) {
        self.note(format_args!("{} {} is journaled", row.id, row.symbol()));
        self.saw(Event::Placed);
        let mut blocked = false;
        match entry {
            Entry::Risk { doubt_blocks } => blocked = *doubt_blocks,
            Entry::Exit => self.saw(Event::Exit),
            Entry::DespiteHalt { .. } => {
                self.watched.despite.insert(row.id);
                self.saw(Event::DespiteHalt);
            }
        }
        self.check_entry(life, row, blocked);
    }

    /// A row changed.
    pub(super) fn changed(
        &mut self,
        before: Option<&OrderRecord>,
        change: &Change,
        row: &OrderRecord,
    ) {
        let (id, state, cum) = (row.id, row.state, row.cum_qty);
        let cause = change.cause.as_str();
        self.note(format_args!("{id} {state} {cum}: {cause}"));
        let was = before.map_or(state, |before| before.state);
        if was != state {
            self.became(was, state, change.cause);
        }
        if change.cancel_requested {
            self.saw(Event::CancelAsked);
            if was.is_doubt() {
                self.saw(Event::CancelAskedInDoubt);
            }
        }
        if change.land {
            self.saw(Event::Landed);
        }
        if change.next_attempt.is_some() {
            self.saw(Event::NewAttempt);
        }
        if change.amend.is_some() {
            self.saw(Event::AmendAsked);
        }
        match change.amended {
            Some((_, AmendState::Shown(_))) => self.saw(Event::AmendShown),
            Some((_, AmendState::Refused)) => self.saw(Event::AmendRefused),
            Some((_, AmendState::Lapsed)) => self.saw(Event::AmendLapsed),
            Some((_, AmendState::Asked)) | None => {}
        }
        match change.watch {
            Some(Some(Watch::Surfaced)) => self.saw(Event::Surfaced),
            Some(Some(Watch::UntilAbsent | Watch::Until(_))) => self.saw(Event::Watched),
            Some(None) => self.saw(Event::WatchEnded),
            None => {}
        }
        for (_, mark) in &change.marks {
            self.marked(mark);
        }
        let evidence = |mark: &Mark| matches!(mark, Mark::Admitted | Mark::BytesKnown);
        if change.order_id.is_some() || change.marks.iter().any(|(_, mark)| evidence(mark)) {
            self.watched.evidence.insert(id);
        }
        if let Some(halt) = &change.halt {
            self.declared(halt);
        }
    }

    fn became(&mut self, was: OrdState, state: OrdState, cause: Cause) {
        if was.is_doubt() && !state.is_doubt() {
            self.saw(Event::DoubtEnded);
        }
        match state {
            OrdState::Acked => self.saw(Event::Acked),
            OrdState::Unknown => self.saw(Event::Doubt),
            OrdState::Filled => self.saw(Event::Executed),
            OrdState::Canceled => self.saw(Event::Canceled),
            OrdState::Rejected => self.saw(Event::Rejected),
            OrdState::Pending | OrdState::Submitted | OrdState::Reconciling | OrdState::Partial => {
            }
        }
        match cause {
            Cause::Stale => self.saw(Event::Stale),
            Cause::Absent => self.saw(Event::GivenUp),
            _ => {}
        }
    }

    fn marked(&mut self, mark: &Mark) {
        match mark {
            Mark::NoneLeft => self.saw(Event::NotSent),
            Mark::TurnedAway => self.saw(Event::TurnedAway),
            Mark::Loose => self.saw(Event::Replayed),
            Mark::Admitted => self.saw(Event::IdKnown),
            Mark::BytesKnown => self.saw(Event::BytesKnown),
            Mark::RevokeAsked => self.saw(Event::RevokeAsked),
            Mark::Revoked => self.saw(Event::Revoked),
            Mark::Used(_) => self.saw(Event::NonceUsed),
            Mark::Refused | Mark::Receipt(_) => {}
        }
    }

    /// A halt was declared.
    pub(super) fn declared(&mut self, halt: &Halt) {
        self.note(format_args!("halt: {}", halt.text));
        match halt.cause {
            HaltCause::Doubt { .. } => self.saw(Event::HaltOfDoubt),
            HaltCause::SecondOrder { .. } => self.saw(Event::SecondOrder),
            HaltCause::Refused { .. } => self.saw(Event::KeysRefused),
            HaltCause::Unreachable => self.saw(Event::Unreachable),
            HaltCause::Asked => self.saw(Event::HaltAsked),
            _ => {}
        }
    }
}
