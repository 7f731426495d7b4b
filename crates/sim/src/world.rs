//! The core with its journal: the one place where commands enter.

use std::path::Path;

use crate::{
    core::{Command, Core, DuplicateRule, Event, What},
    journal::{Journal, JournalError},
};

/// One venue's core, and the journal if it keeps one.
#[derive(Debug)]
pub(crate) struct World {
    core: Core,
    journal: Option<Journal>,
    closed: bool,
}

impl World {
    /// A new world, or the one that the journal in `dir` holds; with the seed that holds for it.
    pub(crate) fn open(dir: Option<&Path>, seed: u64) -> Result<(Self, u64), JournalError> {
        match dir {
            None => Ok((
                Self {
                    core: Core::new(DuplicateRule::RefusedForever, 10_000),
                    journal: None,
                    closed: false,
                },
                seed,
            )),
            Some(dir) => {
                let (journal, core, seed) = Journal::open(dir, seed)?;
                Ok((
                    Self {
                        core,
                        journal: Some(journal),
                        closed: false,
                    },
                    seed,
                ))
            }
        }
    }

    /// What there is.
    pub(crate) const fn core(&self) -> &Core {
        &self.core
    }

    /// Journals the command, then applies it.
    pub(crate) fn apply(&mut self, at_ms: u64, what: What) -> Result<Vec<Event>, JournalError> {
        if self.closed {
            return Err(JournalError::Closed);
        }
        let command = Command { at_ms, what };
        match &mut self.journal {
            None => Ok(self.core.apply(command)),
            Some(journal) => {
                let applied = journal.apply(&mut self.core, command);
                // What was half written is cut off by the next start; nothing may follow it.
                self.closed |= applied.is_err();
                applied
            }
        }
    }

    /// Takes no more commands, and gives the journal back. A request that is still held then changes nothing.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.journal = None;
    }
}
