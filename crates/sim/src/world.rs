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
}

impl World {
    /// A new world, or the one that the journal in `dir` holds; with the seed that holds for it.
    pub(crate) fn open(dir: Option<&Path>, seed: u64) -> Result<(Self, u64), JournalError> {
        match dir {
            None => Ok((
                Self {
                    core: Core::new(DuplicateRule::RefusedForever, 10_000),
                    journal: None,
                },
                seed,
            )),
            Some(dir) => {
                let (journal, core, seed) = Journal::open(dir, seed)?;
                Ok((
                    Self {
                        core,
                        journal: Some(journal),
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
        let command = Command { at_ms, what };
        match &mut self.journal {
            None => Ok(self.core.apply(command)),
            Some(journal) => journal.apply(&mut self.core, command),
        }
    }
}
