//! The schema: made once, checked at every opening.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use surefill_core::{StoreError, VenueTime};

use crate::error::reading;
use crate::place::Place;

/// The newest schema that this program knows.
pub(crate) const SCHEMA: u32 = 1;

/// Finds the orders in doubt: an order is that through every further attempt too, so the state alone does not say it. A journal from
/// before this index gets it when it is opened next, and is read by a program from before it all the same.
const DOUBTS: &str = "DROP INDEX IF EXISTS live_doubt;
    CREATE INDEX IF NOT EXISTS live_in_doubt ON live (venue, account, symbol)
        WHERE json_extract(record, '$.doubt_since') IS NOT NULL;";

/// An order in doubt in one symbol of an account. The last condition is that of [`DOUBTS`], word for word, or the index is not used.
pub(crate) const IN_DOUBT: &str = "SELECT id FROM live
    WHERE venue = ?1 AND account = ?2 AND symbol = ?3
        AND json_extract(record, '$.doubt_since') IS NOT NULL LIMIT 1";

/// Says in the file's header whose it is: `srfl`.
const APPLICATION: i64 = 0x7372_666c;

/// How long a statement waits for another process that writes to the inbox.
const BUSY: Duration = Duration::from_secs(5);

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The only one that changes orders.
    Write,
    /// Moves the log into the file.
    Checkpoint,
    /// Reads, inside the engine or beside it.
    Read,
    /// Puts requests into the inbox of a running engine.
    Post,
}

/// Opens a connection to a file that is there.
pub(crate) fn connect(place: &Place, purpose: Purpose) -> Result<Connection, StoreError> {
    let access = match purpose {
        Purpose::Write | Purpose::Checkpoint | Purpose::Post => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Purpose::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(place.file(), flags).map_err(reading)?;
    db.busy_timeout(BUSY).map_err(reading)?;
    db.set_prepared_statement_cache_capacity(64);
    // Without it each new value of a parameter may prepare a statement anew.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(reading)?;
    let cache = match purpose {
        Purpose::Write => "PRAGMA cache_size=-8192",
        Purpose::Checkpoint | Purpose::Read | Purpose::Post => "PRAGMA cache_size=-2048",
    };
    // The log is synced by every commit until the writer says otherwise. The two in the middle matter on macOS only.
    let settings = format!(
        "PRAGMA page_size=2048; PRAGMA synchronous=FULL; PRAGMA fullfsync=ON; PRAGMA checkpoint_fullfsync=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY; {cache};"
    );
    db.execute_batch(&settings).map_err(reading)?;
    Ok(db)
}

/// Makes the journal in an empty file, or checks the one that is there.
pub(crate) fn prepare(place: &Place, db: &mut Connection) -> Result<(), StoreError> {
    if db.is_readonly("main").map_err(reading)? {
        return Err(place.not_writable("the file or its file system is read-only"));
    }
    if is_empty(db)? {
        make(db).map_err(|error| place.no_room(error))?;
    }
    check(db)?;
    db.execute_batch(DOUBTS)
        .map_err(|error| place.no_room(error))?;
    let mode: String = db
        .query_row("PRAGMA journal_mode=WAL", (), |row| row.get(0))
        .map_err(reading)?;
    if mode != "wal" {
        return Err(place.not_writable("the file system does not take a write-ahead log"));
    }
    db.execute_batch("PRAGMA wal_autocheckpoint=0;")
        .map_err(reading)
}

/// Whether the file holds a journal that this program can read.
pub(crate) fn check(db: &Connection) -> Result<(), StoreError> {
    let application: i64 = pragma(db, "PRAGMA application_id")?;
    if application != APPLICATION {
        let what = format!("the file is no journal: its application id is {application:#x}");
        return Err(StoreError::Damaged { what });
    }
    let version = pragma(db, "PRAGMA user_version")?;
    let found = u32::try_from(version).unwrap_or(u32::MAX);
    if found > SCHEMA {
        return Err(StoreError::Newer {
            found,
            known: SCHEMA,
        });
    }
    // An older schema is migrated here, one step at a time. Schema 1 is the first.
    if found != SCHEMA {
        let what = format!("there never was a schema {found}");
        return Err(StoreError::Damaged { what });
    }
    made_at(db).map(drop)
}

/// When the journal was made, wall-clock milliseconds.
pub(crate) fn made_at(db: &Connection) -> Result<VenueTime, StoreError> {
    let ms: i64 = pragma(db, "SELECT made_at FROM meta WHERE one = 1")?;
    Ok(VenueTime::from_ms(ms.cast_unsigned()))
}

fn is_empty(db: &Connection) -> Result<bool, StoreError> {
    Ok(pragma(db, "SELECT count(*) FROM sqlite_schema")? == 0
        && pragma(db, "PRAGMA user_version")? == 0)
}

fn make(db: &mut Connection) -> rusqlite::Result<()> {
    // In this order: the page size is fixed by the first write, and that is the change of mode.
    db.query_row("PRAGMA journal_mode=WAL", (), |_| Ok(()))?;
    let work = db.transaction()?;
    work.execute_batch(include_str!("schema.sql"))?;
    work.execute(
        "INSERT INTO meta (one, made_at, touched) VALUES (1, ?1, 0)",
        [now().as_ms().cast_signed()],
    )?;
    work.execute_batch(&format!(
        "PRAGMA application_id={APPLICATION}; PRAGMA user_version={SCHEMA};"
    ))?;
    work.commit()?;
    // So that the file alone says what it is, whatever becomes of its log.
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
}

fn pragma(db: &Connection, sql: &str) -> Result<i64, StoreError> {
    db.query_row(sql, (), |row| row.get(0)).map_err(reading)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the age of a journal is wall-clock time; nothing else here asks a clock"
)]
fn now() -> VenueTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let ms = since.unwrap_or_default().as_millis();
    VenueTime::from_ms(u64::try_from(ms).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How SQLite finds the orders in doubt.
    fn plan(db: &Connection) -> String {
        db.query_row(
            &format!("EXPLAIN QUERY PLAN {IN_DOUBT}"),
            [0, 0, 0],
            |row| row.get(3),
        )
        .unwrap()
    }

    #[test]
    fn doubt_is_found_by_its_index_also_in_an_older_journal() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("PRAGMA trusted_schema=OFF").unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        db.execute_batch(
            "CREATE INDEX live_doubt ON live (venue, account, symbol)
                WHERE state IN ('unknown', 'reconciling')",
        )
        .unwrap();
        assert!(!plan(&db).contains("live_in_doubt"), "{}", plan(&db));
        for _ in 0..2 {
            db.execute_batch(DOUBTS).unwrap();
            assert!(plan(&db).contains("live_in_doubt"), "{}", plan(&db));
        }
        let indexes = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'live_%'";
        assert_eq!(pragma(&db, indexes).unwrap(), 1);
    }
}
