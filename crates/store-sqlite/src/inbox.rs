//! Requests to a running engine, from processes that do not hold the journal.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use surefill_core::{ClOrdId, Scope, StoreError};

use crate::error::{Kind, kind, reading};
use crate::place::Place;
use crate::read::{list, text};
use crate::rows::{json, parse};
use crate::schema::{self, Purpose};

/// What an operator wants of the engine that holds the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Halt a scope.
    Halt {
        /// What it covers.
        scope: Scope,
        /// Who asks.
        who: Box<str>,
        /// Why.
        reason: Box<str>,
    },
    /// Lift every halt of exactly this scope.
    Resume {
        /// What it covers.
        scope: Scope,
        /// Who asks.
        who: Box<str>,
        /// Why.
        reason: Box<str>,
    },
    /// Cancel an order.
    Cancel {
        /// The order.
        id: ClOrdId,
    },
    /// Cancel every order of a scope.
    CancelAll {
        /// What it covers.
        scope: Scope,
    },
}

/// A request that waits, with the number by which it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    /// Its number; later ones are greater.
    pub n: i64,
    /// What is wanted.
    pub request: Request,
}

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
        let text = json(request)?;
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
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
    pub fn answer(&self, n: i64) -> Result<Option<String>, StoreError> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let sql = "SELECT answer FROM inbox WHERE n = ?1";
        let answer = db.query_row(sql, [n], |row| row.get(0)).optional();
        Ok(answer.map_err(reading)?.flatten())
    }
}

/// Requests without an answer, oldest first.
pub(crate) fn waiting(db: &Connection) -> Result<Vec<Requested>, StoreError> {
    let sql = "SELECT n, request FROM inbox WHERE answer IS NULL ORDER BY n";
    list(db, sql, (), |row| {
        Ok(Requested {
            n: row.get(0).map_err(reading)?,
            request: parse(text(row, 1)?)?,
        })
    })
}
