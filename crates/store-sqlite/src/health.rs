//! What can be said of a journal from beside it, for people.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use surefill_core::{StoreError, VenueTime};

use crate::error::reading;
use crate::place::Place;

/// What a journal looks like from beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Its schema.
    pub schema: u32,
    /// The newest schema that this program knows.
    pub known_schema: u32,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of the log beside it.
    pub log_bytes: u64,
    /// When the file or its log was written last, wall clock.
    pub written_at: Option<VenueTime>,
    /// Orders that a start must find.
    pub unfinished: u64,
    /// All others.
    pub finished: u64,
    /// Requests that wait for an engine.
    pub waiting: u64,
    /// The process that wrote the lock file, while it lives.
    pub holder: Option<String>,
    /// The bits of the file's mode that let others in; 0 when there are none.
    pub open_to_others: u32,
}

impl Health {
    pub(crate) fn read(place: &Place, db: &Connection) -> Result<Self, StoreError> {
        let count = |sql: &str| -> Result<u64, StoreError> {
            let count: i64 = db.query_row(sql, (), |row| row.get(0)).map_err(reading)?;
            Ok(count.cast_unsigned())
        };
        let log = place.beside("-wal");
        let schema = count("PRAGMA user_version")?;
        Ok(Self {
            schema: u32::try_from(schema).unwrap_or(u32::MAX),
            known_schema: crate::schema::SCHEMA,
            file_bytes: bytes(place.file()),
            log_bytes: bytes(&log),
            written_at: written(place.file()).max(written(&log)),
            unfinished: count("SELECT count(*) FROM live")?,
            finished: count("SELECT count(*) FROM orders")?,
            waiting: count("SELECT count(*) FROM inbox WHERE answer IS NULL")?,
            holder: holder(&place.beside(".lock")),
            open_to_others: open_to_others(place.file()),
        })
    }
}

/// Looks whether the pages hang together; the first thing that is wrong, in SQLite's words.
pub(crate) fn fault(db: &Connection) -> Result<Option<String>, StoreError> {
    let said: String = db
        .query_row("PRAGMA quick_check(1)", (), |row| row.get(0))
        .map_err(reading)?;
    Ok((said != "ok").then_some(said))
}

fn bytes(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

fn written(path: &Path) -> Option<VenueTime> {
    let at: SystemTime = fs::metadata(path).ok()?.modified().ok()?;
    let ms = at.duration_since(UNIX_EPOCH).ok()?.as_millis();
    u64::try_from(ms).ok().map(VenueTime::from_ms)
}

/// Asking for the lock itself would keep an engine from starting at that moment.
fn holder(lock: &Path) -> Option<String> {
    let pid = fs::read_to_string(lock).ok()?.trim().to_owned();
    let number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    let lives = number && Path::new("/proc").join(&pid).exists();
    lives.then_some(pid)
}

#[cfg(unix)]
fn open_to_others(path: &Path) -> u32 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map_or(0, |meta| meta.mode() & 0o077)
}

#[cfg(not(unix))]
const fn open_to_others(_path: &Path) -> u32 {
    0
}
