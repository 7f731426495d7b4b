//! The journal of the model: the real row and the real rules of a change, with what a power cut may take.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use surefill_core::{
    AttemptState, Change, ChangeError, Copies, Durability, Fence, Fill, HaltCause, Mark,
    OrderRecord, RevocationState, Watch,
};

use super::Lie;
use super::venue::FillSet;

/// A row, compared and hashed by what decides: neither texts nor the version do.
#[derive(Clone, Debug)]
pub struct Row {
    /// The row.
    pub record: OrderRecord,
    print: u64,
}

impl Row {
    pub(crate) fn new(record: OrderRecord) -> Arc<Self> {
        let mut hasher = std::hash::DefaultHasher::new();
        let row = &record;
        (row.state, row.cancel_requested, row.land).hash(&mut hasher);
        (&row.order_ids, row.cum_qty, row.booked_qty).hash(&mut hasher);
        match row.watch {
            None => 0_u64.hash(&mut hasher),
            Some(Watch::UntilAbsent) => 1_u64.hash(&mut hasher),
            Some(Watch::Surfaced) => 2_u64.hash(&mut hasher),
            Some(Watch::Until(until)) => until.hash(&mut hasher),
        }
        // When it last changed decides only where the venue never spoke of a row that works.
        let changed = (row.state.is_working() && row.seen_at.is_none()).then_some(row.updated_at);
        // When the venue last spoke decides nothing about an ended row.
        let seen = row.seen_at.filter(|_| !row.state.is_terminal());
        (row.created_at, changed, seen, row.doubt_since).hash(&mut hasher);
        // How long the newest attempt has been out decides the pace of looks past the cap.
        let newest = row.attempts.last().map(|attempt| attempt.made_at);
        newest.hash(&mut hasher);
        for attempt in &row.attempts {
            let copies = match attempt.copies {
                Copies::None => 0_u8,
                Copies::Turned => 1,
                Copies::Loose => 2,
            };
            let fence = match attempt.fence {
                Fence::None => 0,
                Fence::Clock(at) => at.as_ms(),
                Fence::Height(height) => height,
            };
            let revocation = match attempt.revocation {
                RevocationState::None => (0_u8, None),
                RevocationState::Asked => (1, None),
                RevocationState::Revoked => (2, None),
                RevocationState::Used(at) => (3, Some(at)),
            };
            (copies, fence, revocation).hash(&mut hasher);
            (attempt.admitted, attempt.bytes_known, attempt.refused).hash(&mut hasher);
        }
        Arc::new(Self {
            print: hasher.finish(),
            record,
        })
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.print == other.print
    }
}

impl Eq for Row {}

impl Hash for Row {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.print.hash(state);
    }
}

/// What is on disk, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Page {
    /// The order's row.
    pub row: Option<Arc<Row>>,
    /// The fills that are booked.
    pub fills: FillSet,
    /// The halts in force.
    pub halts: Vec<HaltCause>,
    /// Which request of the venue's count each attempt's stored bytes are.
    pub wires: Vec<u8>,
}

/// The journal: what stands, and what a power cut may go back to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Journal {
    /// What stands.
    pub page: Page,
    /// What stood before each lazy commit since the last sync, oldest first.
    pub(crate) lazy: Vec<Page>,
    /// Who holds the lease.
    pub(crate) leader: u8,
}

/// Why a change was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another process holds the lease.
    Fenced,
    /// The row is at another version.
    Conflict,
    /// A declared halt came first.
    Halted,
    /// A rule of the row.
    Rule,
}

impl Journal {
    /// Commits; `lazy` says whether the power may take it.
    pub(crate) fn commit(&mut self, page: Page, lazy: bool) {
        let before = std::mem::replace(&mut self.page, page);
        if lazy {
            self.lazy.push(before);
        } else {
            self.lazy.clear();
        }
    }

    /// A process dies, with so many of the lazy commits.
    pub(crate) fn crash(&mut self, lose: usize, lie: Option<Lie>) {
        if lose > 0 {
            let kept = self.lazy.len() - lose;
            self.page = self.lazy[kept].clone();
        }
        self.lazy.clear();
        if lie == Some(Lie::WatchLost)
            && let Some(row) = &self.page.row
            && row.record.watch.is_some()
        {
            let mut record = row.record.clone();
            record.watch = None;
            self.page.row = Some(Row::new(record));
        }
    }

    /// Applies a change by the rules of the row; `known` is the row as the process knows it, which only a lying store looks at.
    pub(crate) fn apply(
        &mut self,
        by: u8,
        known: Option<Arc<Row>>,
        mut change: Change,
        fresh: impl FnOnce(&Change, FillSet) -> (Vec<Fill>, FillSet),
        lie: Option<Lie>,
    ) -> Result<Arc<Row>, Refusal> {
        let no_cas = lie == Some(Lie::NoCas);
        let unread = lie == Some(Lie::VersionUnread);
        if by != self.leader && !no_cas && !unread {
            return Err(Refusal::Fenced);
        }
        let Some(row) = &self.page.row else {
            return Err(Refusal::Conflict);
        };
        let declared = self.page.halts.iter().any(HaltCause::needs_person);
        if change.unless_halted && declared && lie != Some(Lie::HaltNotTested) {
            return Err(Refusal::Halted);
        }
        let row = known.as_ref().filter(|_| no_cas).unwrap_or(row);
        if unread {
            change.expected = row.record.version;
        }
        if lie == Some(Lie::RefusalForAll) && change.marks.iter().any(|(_, m)| *m == Mark::Refused)
        {
            let all = row.record.attempts.iter().map(|attempt| attempt.no);
            change.marks.extend(all.map(|no| (no, Mark::Refused)));
        }
        let (fills, set) = fresh(&change, self.page.fills);
        let mut after = match row.record.apply(&change, &fills) {
            Ok(after) => after,
            Err(ChangeError::Conflict { .. }) => return Err(Refusal::Conflict),
            Err(_) => return Err(Refusal::Rule),
        };
        if lie == Some(Lie::UsedForAll) {
            let used = |attempt: &AttemptState| match attempt.revocation {
                RevocationState::Used(_) => Some(attempt.revocation),
                _ => None,
            };
            if let Some(used) = after.attempts.iter().find_map(used) {
                for attempt in &mut after.attempts {
                    attempt.revocation = used;
                }
            }
        }
        if lie == Some(Lie::OneFence)
            && let Some(last) = after.attempts.last().map(|attempt| attempt.fence)
        {
            for attempt in &mut after.attempts {
                attempt.fence = last;
            }
        }
        if lie == Some(Lie::SecondUnwatched) && after.order_ids.len() > 1 {
            after.watch = None;
        }
        let mut page = self.page.clone();
        page.fills = set;
        if let Some(halt) = &change.halt
            && !page.halts.contains(&halt.cause)
        {
            page.halts.push(halt.cause.clone());
        }
        let row = Row::new(after);
        page.row = Some(Arc::clone(&row));
        let lazy = change.durability() == Durability::Lazy || forgets(lie, &change);
        self.commit(page, lazy);
        Ok(row)
    }
}

/// Whether a lying store keeps this change in memory only.
fn forgets(lie: Option<Lie>, change: &Change) -> bool {
    use surefill_core::OrdState::{Rejected, Submitted};
    match lie {
        Some(Lie::AttemptLazy) => change.next_attempt.is_some(),
        Some(Lie::SubmittedLazy) => change.to == Some(Submitted) && change.next_attempt.is_none(),
        Some(Lie::RejectedLazy) => change.to == Some(Rejected),
        Some(Lie::CancelLost) => change.cancel_requested,
        Some(_) | None => false,
    }
}
