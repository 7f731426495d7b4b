//! Requests to a running engine, from processes that do not hold the journal.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use surefill_core::{Answer, Request, Requested, StoreError};

use crate::error::{Kind, kind, reading};
use crate::place::Place;
use crate::read::{self, list, text};
use crate::rows::{json, parse};
use crate::schema::{self, Purpose};

/// Puts requests into the inbox of a journal that another process holds. Calls block for the time of a commit.
#[derive(Debug)]
pub struct Inbox {
    place: Place,
    db: Mutex<Connection>,
}

impl Inbox {
    /// Opens the inbox of the journal at `path`.
    ///
    /// # Errors
    /// As [`SqliteReader::open`](crate::SqliteReader::open).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let place = Place::existing(path.as_ref())?;
        let db = schema::connect(&place, Purpose::Post)?;
        schema::check(&db)?;
        db.execute_batch("PRAGMA wal_autocheckpoint=0;")
            .map_err(reading)?;
        let db = Mutex::new(db);
        Ok(Self { place, db })
    }

    /// Makes a request durable; returns its number.
    ///
    /// # Errors
    /// [`StoreError::Full`], [`StoreError::NotWritable`].
    pub fn post(&self, request: &Request) -> Result<i64, StoreError> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        // What is declared between these reads and the insert is not lifted: nobody has looked at it.
        let request = match request {
            Request::Resume { .. } => &request.posted(&read::halts(&db)?, &waiting(&db)?),
            Request::Halt { .. }
            | Request::Cancel { .. }
            | Request::CancelAll { .. }
            | Request::Unreadable => request,
        };
        let text = json(request)?;
        let sql = "INSERT INTO inbox (request) VALUES (?1)";
        match db.execute(sql, [text]) {
            Ok(_) => Ok(db.last_insert_rowid()),
            Err(error) => Err(match kind(&error) {
                Kind::Full => StoreError::Full,
                Kind::Busy | Kind::Other => self.place.not_writable(error),
                Kind::Damaged => reading(error),
            }),
        }
    }

    /// What the engine answered; `None` while it has not.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub fn answer(&self, n: i64) -> Result<Option<Answer>, StoreError> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let sql = "SELECT answer FROM inbox WHERE n = ?1";
        let answer = db.query_row(sql, [n], |row| row.get(0)).optional();
        let answer: Option<String> = answer.map_err(reading)?.flatten();
        answer.as_deref().map(parse).transpose()
    }
}

/// Requests without an answer, oldest first.
pub(crate) fn waiting(db: &Connection) -> Result<Vec<Requested>, StoreError> {
    let sql = "SELECT n, request FROM inbox WHERE answer IS NULL ORDER BY n";
    list(db, sql, (), |row| {
        Ok(Requested {
            n: row.get(0).map_err(reading)?,
            // A request of a later version is refused by name, and holds up no other one.
            request: parse(text(row, 1)?).unwrap_or(Request::Unreadable),
        })
    })
}
