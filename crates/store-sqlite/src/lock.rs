//! One process holds a journal: a lock on a side file that says which.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};

use surefill_core::StoreError;

use crate::place::{Place, options};

/// The lock. It ends with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock of a journal, or says who has it.
    pub(crate) fn take(place: &Place) -> Result<Self, StoreError> {
        let path = place.beside(".lock");
        let opened = options().create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| place.not_writable(error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(place, &mut file)),
            Err(TryLockError::Error(error)) => return Err(place.not_writable(error)),
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        // The lock holds without it, and a full disk must not keep cancels from going out.
        if let Err(error) = written {
            tracing::warn!(%error, path = %path.display(), "the lock file does not name this process");
        }
        Ok(Self { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child that was forked and has not yet become its program holds the same open file, so closing ours is not enough.
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "the journal stays locked until this process ends");
        }
    }
}

fn held(place: &Place, file: &mut File) -> StoreError {
    let mut text = String::new();
    let pid = match file.take(32).read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        Ok(_) | Err(_) => "unknown".to_owned(),
    };
    StoreError::Held {
        path: place.file().to_owned(),
        pid,
    }
}
