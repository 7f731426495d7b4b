//! The command journal: each command is written before it is applied, and replayed on start.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::core::{Command, Core, DuplicateRule, Event};

/// Why a journal could not be opened, or no longer be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file system said no.
    #[error("cannot use {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
    /// Another process has it open.
    #[error("{path} is in use by another process")]
    Held {
        /// The lock file.
        path: PathBuf,
    },
    /// The venue has stopped.
    #[error("the venue has stopped")]
    Closed,
    /// A line is no command.
    #[error("{path} line {line} cannot be read")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The replay says something else than what was recorded.
    #[error("event {seq} differs: recorded {recorded}, replayed {replayed}")]
    Differs {
        /// Number of the first event that differs.
        seq: usize,
        /// The line in the event log; `nothing` if it ends before.
        recorded: String,
        /// The line of the replay; `nothing` if it ends before.
        replayed: String,
    },
}

/// What [`verify`] looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// Commands replayed.
    pub commands: usize,
    /// Events compared.
    pub events: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct Meta {
    seed: u64,
}

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    commands: File,
    events: File,
    path: PathBuf,
    _lock: File,
}

impl Journal {
    /// Opens or makes the journal in `dir`, replays it, and rebuilds what the event log lacks. The seed of an
    /// existing journal stays.
    pub(crate) fn open(dir: &Path, seed: u64) -> Result<(Self, Core, u64), JournalError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| JournalError::Io { path, source }
        };
        std::fs::create_dir_all(dir).map_err(at(dir))?;
        let lock_path = dir.join("lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(at(&lock_path))?;
        if lock.try_lock().is_err() {
            return Err(JournalError::Held { path: lock_path });
        }
        let meta_path = dir.join("meta.json");
        let seed = match std::fs::read(&meta_path) {
            Ok(bytes) => {
                let damaged = |source| JournalError::Damaged {
                    path: meta_path.clone(),
                    line: 1,
                    source,
                };
                serde_json::from_slice::<Meta>(&bytes)
                    .map_err(damaged)?
                    .seed
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::write(&meta_path, format!("{{\"seed\":{seed}}}\n"))
                    .map_err(at(&meta_path))?;
                seed
            }
            Err(error) => return Err(at(&meta_path)(error)),
        };
        let (path, events_path) = (dir.join("commands.jsonl"), dir.join("events.jsonl"));
        let replay = Replay::read(dir)?;
        // A torn last line was never applied, and a torn or missing event is derived again.
        let commands = rewritten(&path, &replay.commands)?;
        let events = rewritten(&events_path, &replay.events)?;
        Ok((
            Self {
                commands,
                events,
                path,
                _lock: lock,
            },
            replay.core,
            seed,
        ))
    }

    /// Writes the command, applies it, and writes its events.
    pub(crate) fn apply(
        &mut self,
        core: &mut Core,
        command: Command,
    ) -> Result<Vec<Event>, JournalError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| JournalError::Io { path, source }
        };
        self.commands
            .write_all(line(&command).as_bytes())
            .map_err(failed(&self.path))?;
        let events = core.apply(command);
        let lines: String = events.iter().map(line).collect();
        self.events
            .write_all(lines.as_bytes())
            .map_err(failed(&self.path))?;
        Ok(events)
    }
}

/// Replays the journal in `dir` and compares every event byte for byte, without changing anything.
///
/// # Errors
/// `Differs` names the first event that is not as recorded; `Damaged` and `Io` when a file cannot be read.
pub fn verify(dir: &Path) -> Result<Verified, JournalError> {
    let replay = Replay::read(dir)?;
    Ok(Verified {
        commands: replay.commands.len(),
        events: replay.events.len(),
    })
}

struct Replay {
    core: Core,
    commands: Vec<String>,
    events: Vec<String>,
}

impl Replay {
    fn read(dir: &Path) -> Result<Self, JournalError> {
        let path = dir.join("commands.jsonl");
        let commands = whole_lines(&path)?;
        let recorded = whole_lines(&dir.join("events.jsonl"))?;
        let mut core = Core::new(DuplicateRule::RefusedForever, 10_000);
        let mut events: Vec<String> = Vec::new();
        let mut wanted = recorded.into_iter();
        for (index, text) in commands.iter().enumerate() {
            let command =
                serde_json::from_str::<Command>(text).map_err(|source| JournalError::Damaged {
                    path: path.clone(),
                    line: index.saturating_add(1),
                    source,
                })?;
            for event in core.apply(command) {
                let replayed = line(&event);
                if let Some(recorded) = wanted.next()
                    && recorded != replayed
                {
                    let seq = events.len().saturating_add(1);
                    return Err(JournalError::Differs {
                        seq,
                        recorded: recorded.trim_end().to_owned(),
                        replayed: replayed.trim_end().to_owned(),
                    });
                }
                events.push(replayed);
            }
        }
        match wanted.next() {
            Some(recorded) => Err(JournalError::Differs {
                seq: events.len().saturating_add(1),
                recorded: recorded.trim_end().to_owned(),
                replayed: "nothing".to_owned(),
            }),
            None => Ok(Self {
                core,
                commands,
                events,
            }),
        }
    }
}

/// One JSON line, with its end.
fn line<T: Serialize>(value: &T) -> String {
    // Types of ours serialize; should one not, the replay stops at this line by name.
    let mut text = serde_json::to_string(value)
        .unwrap_or_else(|error| format!("{{\"unwritable\":\"{error}\"}}"));
    text.push('\n');
    text
}

fn whole_lines(path: &Path) -> Result<Vec<String>, JournalError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => {
            return Err(JournalError::Io {
                path: path.to_owned(),
                source,
            });
        }
    };
    Ok(text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(str::to_owned)
        .collect())
}

fn rewritten(path: &Path, lines: &[String]) -> Result<File, JournalError> {
    let failed = |source| JournalError::Io {
        path: path.to_owned(),
        source,
    };
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(failed)?;
    let text = lines.concat();
    let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let found = std::fs::read(path).map_err(failed)?;
    if found.starts_with(text.as_bytes()) {
        file.set_len(length).map_err(failed)?;
    } else {
        file.set_len(0).map_err(failed)?;
        (&file).write_all(text.as_bytes()).map_err(failed)?;
    }
    Ok(file)
}
