//! Reads, over any connection. Each is one statement, or one read transaction.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, Row, params, params_from_iter};
use surefill_core::{
    AccountId, Alias, Attempt, AttemptNo, ClOrdId, Fill, Halt, Key, OrderFilter, OrderId,
    OrderRecord, StoreError, Transition, VenueTime,
};

use crate::error::reading;
use crate::rows::{self, Head, ordered, parse, time, word};

/// A halt that was lifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifted {
    /// The halt.
    pub halt: Halt,
    /// Who lifted it.
    pub who: Box<str>,
    /// Why.
    pub reason: Box<str>,
    /// When, venue time.
    pub at: VenueTime,
}

/// Which kind of name a key is, as it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NameKind {
    /// A key of an attempt.
    Key,
    /// The venue's own order id.
    OrderId,
}

impl NameKind {
    pub(crate) const fn stored(self) -> i64 {
        match self {
            Self::Key => 0,
            Self::OrderId => 1,
        }
    }
}

/// Runs several statements on one state of the journal.
fn at_once<T>(
    db: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let work = db.unchecked_transaction().map_err(reading)?;
    let done = read(&work);
    work.finish().map_err(reading)?;
    done
}

pub(crate) fn order(db: &Connection, id: ClOrdId) -> Result<Option<OrderRecord>, StoreError> {
    let sql = "SELECT record FROM ids JOIN live USING (seq) WHERE ids.id = ?1
        UNION ALL SELECT record FROM ids JOIN orders USING (seq) WHERE ids.id = ?1";
    let mut found = texts(db, sql, [id.as_bytes()], parse)?;
    Ok(found.pop())
}

pub(crate) fn unfinished(db: &Connection) -> Result<Vec<OrderRecord>, StoreError> {
    texts(db, "SELECT record FROM live ORDER BY seq", (), parse)
}

pub(crate) fn orders(
    db: &Connection,
    filter: &OrderFilter,
) -> Result<Vec<OrderRecord>, StoreError> {
    let name = |text: &str| Value::from(text.to_owned());
    let tests = [
        (
            "venue = (SELECT n FROM words WHERE word = ?)",
            filter.venue.as_ref().map(|venue| name(venue.as_str())),
        ),
        (
            "symbol = (SELECT n FROM words WHERE word = ?)",
            filter.symbol.as_ref().map(|symbol| name(symbol.as_str())),
        ),
        (
            "strategy = (SELECT n FROM words WHERE word = ?)",
            filter.strategy.as_ref().map(|who| name(who.as_str())),
        ),
        ("state = ?", filter.state.map(|state| name(state.as_str()))),
        (
            "created_at >= ?",
            filter.since.map(|at| Value::from(ordered(at))),
        ),
    ];
    let mut clause = String::new();
    let mut values = Vec::new();
    for (test, value) in tests {
        if let Some(value) = value {
            clause.push_str(if values.is_empty() {
                " WHERE "
            } else {
                " AND "
            });
            clause.push_str(test);
            values.push(value);
        }
    }
    let from = |table| format!("SELECT seq, record FROM {table}{clause}");
    let sql = if filter.open {
        from("live")
    } else {
        values.extend(values.clone());
        format!("{} UNION ALL {}", from("live"), from("orders"))
    };
    let sql = format!("SELECT record FROM ({sql}) ORDER BY seq");
    let mut rows: Vec<OrderRecord> = texts(db, &sql, params_from_iter(values), parse)?;
    // The far end of time is one value in a column.
    rows.retain(|row| filter.takes(row));
    Ok(rows)
}

pub(crate) fn attempt(
    db: &Connection,
    id: ClOrdId,
    no: AttemptNo,
) -> Result<Option<Attempt>, StoreError> {
    let sql = "SELECT attempt, wire FROM ids JOIN live USING (seq) WHERE ids.id = ?1
        UNION ALL SELECT attempt, wire FROM ids JOIN orders USING (seq) WHERE ids.id = ?1
        UNION ALL SELECT attempt, wire FROM ids JOIN attempts USING (seq) WHERE ids.id = ?1 AND no = ?2";
    let found = list(db, sql, params![id.as_bytes(), no], |row| {
        let head: Head = parse(text(row, 0)?)?;
        Ok((head, row.get(1).map_err(reading)?))
    })?;
    let mut found = found.into_iter();
    Ok(found
        .find(|(head, _)| head.no() == no)
        .map(|(head, wire)| head.with(wire)))
}

pub(crate) fn by_name(
    db: &Connection,
    alias: &Alias,
    kind: NameKind,
    name: &str,
) -> Result<Option<ClOrdId>, StoreError> {
    let sql = "WITH named AS (SELECT seq FROM keys
            WHERE venue = (SELECT n FROM words WHERE word = ?1) AND kind = ?2 AND key = ?3)
        SELECT id FROM named JOIN live USING (seq)
        UNION ALL SELECT id FROM named JOIN orders USING (seq)";
    let values = params![alias.as_str(), kind.stored(), name];
    let mut found = list(db, sql, values, |row| {
        let bytes = row.get_ref(0).map_err(reading)?.as_blob();
        rows::id(bytes.map_err(crate::error::damaged)?)
    })?;
    Ok(found.pop())
}

pub(crate) fn by_key(
    db: &Connection,
    alias: &Alias,
    key: &Key,
) -> Result<Option<ClOrdId>, StoreError> {
    by_name(db, alias, NameKind::Key, key.as_str())
}

pub(crate) fn by_order_id(
    db: &Connection,
    alias: &Alias,
    order_id: &OrderId,
) -> Result<Option<ClOrdId>, StoreError> {
    by_name(db, alias, NameKind::OrderId, order_id.as_str())
}

pub(crate) fn fills(db: &Connection, id: ClOrdId) -> Result<Vec<Fill>, StoreError> {
    let sql = "SELECT fill FROM ids JOIN fills USING (seq) WHERE ids.id = ?1 ORDER BY place";
    texts(db, sql, [id.as_bytes()], parse)
}

pub(crate) fn history(db: &Connection, id: ClOrdId) -> Result<Vec<Transition>, StoreError> {
    at_once(db, |db| {
        let first = "SELECT entry FROM ids JOIN live USING (seq) WHERE ids.id = ?1
            UNION ALL SELECT entry FROM ids JOIN orders USING (seq) WHERE ids.id = ?1";
        let mut log = texts(db, first, [id.as_bytes()], parse)?;
        let later = "SELECT version, at, from_state, to_state, cause, evidence
            FROM ids JOIN transitions USING (seq) WHERE ids.id = ?1 ORDER BY version";
        log.extend(list(db, later, [id.as_bytes()], |row| {
            Ok(Transition {
                id,
                version: row.get::<_, i64>(0).map_err(reading)?.cast_unsigned(),
                at: time(row.get(1).map_err(reading)?),
                from: Some(word(text(row, 2)?)?),
                to: word(text(row, 3)?)?,
                cause: word(text(row, 4)?)?,
                evidence: text(row, 5)?.into(),
            })
        })?);
        Ok(log)
    })
}

pub(crate) fn halts(db: &Connection) -> Result<Vec<Halt>, StoreError> {
    texts(db, "SELECT halt FROM halts ORDER BY n", (), parse)
}

pub(crate) fn lifted(db: &Connection) -> Result<Vec<Lifted>, StoreError> {
    let sql = "SELECT halt, who, reason, at FROM lifts ORDER BY n";
    list(db, sql, (), |row| {
        Ok(Lifted {
            halt: parse(text(row, 0)?)?,
            who: text(row, 1)?.into(),
            reason: text(row, 2)?.into(),
            at: time(row.get(3).map_err(reading)?),
        })
    })
}

pub(crate) fn cursor(db: &Connection, alias: &Alias) -> Result<Option<VenueTime>, StoreError> {
    let sql = "SELECT at FROM cursors WHERE alias = ?1";
    let mut found = db.prepare_cached(sql).map_err(reading)?;
    let at = found.query_row([alias.as_str()], |row| row.get(0));
    Ok(at.optional().map_err(reading)?.map(time))
}

pub(crate) fn bindings(db: &Connection) -> Result<Vec<(Alias, AccountId)>, StoreError> {
    let sql = "SELECT alias, account FROM bindings ORDER BY alias";
    list(db, sql, (), |row| {
        Ok((text(row, 0)?.into(), text(row, 1)?.into()))
    })
}

/// Each row of a query, made by `read`.
pub(crate) fn list<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut query = db.prepare_cached(sql).map_err(reading)?;
    let mut found = query.query(values).map_err(reading)?;
    let mut all = Vec::new();
    while let Some(row) = found.next().map_err(reading)? {
        all.push(read(row)?);
    }
    Ok(all)
}

fn texts<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    read: impl Fn(&str) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    list(db, sql, values, |row| read(text(row, 0)?))
}

pub(crate) fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, StoreError> {
    let value = row.get_ref(column).map_err(reading)?;
    value.as_str().map_err(crate::error::damaged)
}
