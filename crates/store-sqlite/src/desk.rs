//! What the writer does for an order, inside a transaction. Each job checks before it writes.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};
use surefill_core::{
    Attempt, Begin, Begun, Change, ClOrdId, Entry, Fill, Gate, Halt, Key, OrderRecord, StoreError,
    Transition,
};

use crate::error::Fault;
use crate::read::{self, NameKind};
use crate::recent::{Found, Recent};
use crate::rows::{self, Head, json, ordered, parse, stored};
use crate::schema;

/// How many words are kept at hand.
const WORDS: usize = 65_536;

/// The writer's connection, with what it knows of its own uncommitted work.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) db: Connection,
    words: HashMap<Box<str>, i64>,
    pub(crate) halts: Option<Vec<Halt>>,
    next_seq: Option<i64>,
    recent: Recent,
    /// A job asks for what is committed already to be durable, though it may write nothing itself.
    pub(crate) must_sync: bool,
}

impl Desk {
    pub(crate) fn new(db: Connection) -> Self {
        Self {
            db,
            words: HashMap::new(),
            halts: None,
            next_seq: None,
            recent: Recent::default(),
            must_sync: false,
        }
    }

    /// Ends a group, `lazy` if something was committed before that no sync followed: makes sure that the sync has something to do.
    pub(crate) fn settle(&mut self, lazy: bool) -> Result<(), Fault> {
        if std::mem::take(&mut self.must_sync) && lazy {
            self.touch()?;
        }
        Ok(())
    }

    /// Forgets everything that a rollback may have undone.
    pub(crate) fn forget(&mut self) {
        self.words.clear();
        self.halts = None;
        self.next_seq = None;
        self.recent.clear();
        self.must_sync = false;
    }

    pub(crate) fn begin(&mut self, begin: &Begin) -> Result<Begun, Fault> {
        let Begin {
            order,
            attempt,
            entry,
        } = begin;
        let id = order.id;
        if let Some(gate) = self.gate(order, entry)? {
            // A decision that the journal holds is found also when it would be refused now.
            return Ok(match self.find(id)? {
                Some(found) => Begun::Exists(found.record),
                None => Begun::Refused(gate),
            });
        }
        let record = json(order)?;
        let head = json(&Head::of(attempt))?;
        let first = json(&Transition::first(order, entry))?;
        let seq = self.next_seq()?;
        let sql = "INSERT INTO ids (id, seq) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        if self.write(sql, params![id.as_bytes(), seq])? == 0 {
            let found = self.find(id)?;
            let missing = || StoreError::Damaged {
                what: format!("order {id} has a number and no row"),
            };
            return Ok(Begun::Exists(found.ok_or_else(missing)?.record));
        }
        self.next_seq = Some(seq.saturating_add(1));
        let venue = self.word(order.alias().as_str())?;
        let account = self.word(order.account.as_str())?;
        let symbol = self.word(order.symbol().as_str())?;
        let strategy = self.word(order.intent.decision.strategy.as_str())?;
        let (state, created_at) = (order.state.as_str(), ordered(order.created_at));
        self.write(
            "INSERT INTO live (seq, id, venue, account, symbol, strategy, state, created_at,
                record, attempt, wire, entry) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                seq, id.as_bytes(), venue, account, symbol, strategy, state, created_at,
                record, head, attempt.wire, first
            ],
        )?;
        self.name(seq, venue, None, order)?;
        self.recent.put(Found {
            seq,
            live: true,
            record: order.clone(),
        });
        Ok(Begun::Inserted(order.clone()))
    }

    pub(crate) fn apply(&mut self, change: &Change) -> Result<OrderRecord, Fault> {
        let id = change.id;
        let found = match self.recent.take(id) {
            Some(found) => found,
            None => self.find(id)?.ok_or(StoreError::NoSuchOrder { id })?,
        };
        let (seq, live) = (found.seq, found.live);
        let record = match self.change(&found, change) {
            Ok(after) => after,
            Err(fault) => {
                self.recent.put(found);
                return Err(fault);
            }
        };
        let live = self.keep(seq, live, &record)?;
        self.recent.put(Found {
            seq,
            live,
            record: record.clone(),
        });
        Ok(record)
    }

    /// Writes all of a change but the row itself. It refuses before it writes.
    fn change(&mut self, found: &Found, change: &Change) -> Result<OrderRecord, Fault> {
        let (seq, before) = (found.seq, &found.record);
        if change.unless_halted
            && let Some(halt) = self.covering(before, |halt| halt.cause.needs_person())?
        {
            return Err(StoreError::Halted(halt).into());
        }
        let account = self.word(before.account.as_str())?;
        let fresh = self.fresh(account, &change.fills)?;
        let after = before.apply(change, &fresh).map_err(StoreError::from)?;
        self.log(seq, &Transition::of(before, &after, change))?;
        self.book(seq, account, &fresh)?;
        if let Some(attempt) = &change.next_attempt {
            self.attempt(seq, attempt)?;
        }
        if change.order_id.is_some() || !change.marks.is_empty() || change.next_attempt.is_some() {
            let venue = self.word(after.alias().as_str())?;
            self.name(seq, venue, Some(before), &after)?;
        }
        if let Some(halt) = &change.halt {
            self.halt(halt)?;
        }
        Ok(after)
    }

    /// Asks for everything that is committed to be durable.
    pub(crate) const fn sync(&mut self) {
        self.must_sync = true;
    }

    /// A write of its own, so that the sync that follows it makes all before it durable.
    fn touch(&self) -> Result<(), Fault> {
        self.write("UPDATE meta SET touched = touched + 1", ())?;
        Ok(())
    }

    fn gate(&mut self, order: &OrderRecord, entry: &Entry) -> Result<Option<Gate>, Fault> {
        let doubt_blocks = match entry {
            Entry::Risk { doubt_blocks } => *doubt_blocks,
            Entry::Exit | Entry::DespiteHalt { .. } => return Ok(None),
        };
        if let Some(halt) = self.covering(order, |_| true)? {
            return Ok(Some(Gate::Halted(halt)));
        }
        if !doubt_blocks {
            return Ok(None);
        }
        let mut place = [0; 3];
        let names = [
            order.alias().as_str(),
            order.account.as_str(),
            order.symbol().as_str(),
        ];
        for (n, name) in place.iter_mut().zip(names) {
            match self.known_word(name)? {
                Some(known) => *n = known,
                None => return Ok(None),
            }
        }
        let mut query = self.db.prepare_cached(schema::IN_DOUBT)?;
        let mut doubts = query.query(place)?;
        match doubts.next()? {
            None => Ok(None),
            Some(row) => {
                let bytes = row.get_ref(0)?.as_blob().map_err(crate::error::damaged)?;
                Ok(Some(Gate::Doubt(rows::id(bytes)?)))
            }
        }
    }

    fn find(&self, id: ClOrdId) -> Result<Option<Found>, Fault> {
        for (live, sql) in [
            (
                true,
                "SELECT seq, record FROM ids JOIN live USING (seq) WHERE ids.id = ?1",
            ),
            (
                false,
                "SELECT seq, record FROM ids JOIN orders USING (seq) WHERE ids.id = ?1",
            ),
        ] {
            let mut query = self.db.prepare_cached(sql)?;
            let mut found = query.query([id.as_bytes()])?;
            if let Some(row) = found.next()? {
                let seq = row.get(0)?;
                let record = parse(read::text(row, 1)?)?;
                return Ok(Some(Found { seq, live, record }));
            }
        }
        Ok(None)
    }

    /// The fills that the journal does not hold yet, each once.
    fn fresh(&mut self, account: i64, fills: &[Fill]) -> Result<Vec<Fill>, Fault> {
        let mut fresh: Vec<Fill> = Vec::new();
        for fill in fills {
            let same = |other: &Fill| {
                other.symbol == fill.symbol
                    && other.order_id == fill.order_id
                    && other.exec_id == fill.exec_id
            };
            if fresh.iter().any(same) {
                continue;
            }
            let Some(symbol) = self.known_word(fill.symbol.as_str())? else {
                fresh.push(fill.clone());
                continue;
            };
            let sql = "SELECT 1 FROM fills
                WHERE account = ?1 AND symbol = ?2 AND order_id = ?3 AND exec_id = ?4";
            let (order_id, exec_id) = (fill.order_id.as_str(), fill.exec_id.as_str());
            let mut query = self.db.prepare_cached(sql)?;
            if !query.exists(params![account, symbol, order_id, exec_id])? {
                fresh.push(fill.clone());
            }
        }
        Ok(fresh)
    }

    fn log(&self, seq: i64, entry: &Transition) -> Result<(), Fault> {
        let from = entry.from.map_or("", |state| state.as_str());
        self.write(
            "INSERT INTO transitions (seq, version, at, from_state, to_state, cause, evidence)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                seq,
                entry.version.cast_signed(),
                stored(entry.at),
                from,
                entry.to.as_str(),
                entry.cause.as_str(),
                entry.evidence
            ],
        )?;
        Ok(())
    }

    fn book(&mut self, seq: i64, account: i64, fresh: &[Fill]) -> Result<(), Fault> {
        for fill in fresh {
            let symbol = self.word(fill.symbol.as_str())?;
            let text = json(fill)?;
            self.write(
                "INSERT INTO fills (seq, place, account, symbol, order_id, exec_id, fill)
                    VALUES (?1, 1 + coalesce((SELECT max(place) FROM fills WHERE seq = ?1), 0), ?2, ?3, ?4, ?5, ?6)",
                params![
                    seq,
                    account,
                    symbol,
                    fill.order_id.as_str(),
                    fill.exec_id.as_str(),
                    text
                ],
            )?;
        }
        Ok(())
    }

    fn attempt(&self, seq: i64, attempt: &Attempt) -> Result<(), Fault> {
        let head = json(&Head::of(attempt))?;
        let sql = "INSERT INTO attempts (seq, no, attempt, wire) VALUES (?1, ?2, ?3, ?4)";
        self.write(sql, params![seq, attempt.no, head, attempt.wire])?;
        Ok(())
    }

    /// Indexes what the venue knows the order by and did not before.
    fn name(
        &self,
        seq: i64,
        venue: i64,
        before: Option<&OrderRecord>,
        after: &OrderRecord,
    ) -> Result<(), Fault> {
        let known = before.map_or(&[][..], |row| &row.attempts);
        let known = |key: &Key| known.iter().any(|attempt| attempt.keys.contains(key));
        for (at, attempt) in after.attempts.iter().enumerate() {
            let earlier = || after.attempts.iter().take(at);
            let twice = |key: &Key| earlier().any(|attempt| attempt.keys.contains(key));
            for key in &attempt.keys {
                if !known(key) && !twice(key) {
                    self.insert_name(venue, NameKind::Key, key.as_str(), seq)?;
                }
            }
        }
        let known = before.map_or(&[][..], |row| &row.order_ids);
        for order_id in after.order_ids.iter().filter(|id| !known.contains(id)) {
            self.insert_name(venue, NameKind::OrderId, order_id.as_str(), seq)?;
        }
        Ok(())
    }

    fn insert_name(&self, venue: i64, kind: NameKind, name: &str, seq: i64) -> Result<(), Fault> {
        // Should a venue name two orders alike, the newest is meant.
        let sql = "INSERT INTO keys (venue, kind, key, seq) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET seq = excluded.seq";
        self.write(sql, params![venue, kind.stored(), name, seq])?;
        Ok(())
    }

    /// Stores the row where it belongs now; says whether that is among the live ones.
    fn keep(&self, seq: i64, live: bool, after: &OrderRecord) -> Result<bool, Fault> {
        const TO_ORDERS: &str = "INSERT INTO orders (seq, id, venue, account, symbol, strategy, state,
                created_at, record, attempt, wire, entry)
            SELECT seq, id, venue, account, symbol, strategy, ?2, created_at, ?3, attempt, wire, entry
            FROM live WHERE seq = ?1";
        const TO_LIVE: &str = "INSERT INTO live (seq, id, venue, account, symbol, strategy, state,
                created_at, record, attempt, wire, entry)
            SELECT seq, id, venue, account, symbol, strategy, ?2, created_at, ?3, attempt, wire, entry
            FROM orders WHERE seq = ?1";
        let record = json(after)?;
        let values = params![seq, after.state.as_str(), record];
        match (live, after.unfinished()) {
            (true, true) => {
                self.write(
                    "UPDATE live SET state = ?2, record = ?3 WHERE seq = ?1",
                    values,
                )?;
            }
            (true, false) => {
                self.write(TO_ORDERS, values)?;
                self.write("DELETE FROM live WHERE seq = ?1", [seq])?;
            }
            (false, true) => {
                self.write(TO_LIVE, values)?;
                self.write("DELETE FROM orders WHERE seq = ?1", [seq])?;
            }
            (false, false) => {
                self.write(
                    "UPDATE orders SET state = ?2, record = ?3 WHERE seq = ?1",
                    values,
                )?;
            }
        }
        Ok(after.unfinished())
    }

    fn next_seq(&mut self) -> Result<i64, Fault> {
        if let Some(seq) = self.next_seq {
            return Ok(seq);
        }
        let sql = "SELECT max(coalesce((SELECT max(seq) FROM live), 0),
            coalesce((SELECT max(seq) FROM orders), 0)) + 1";
        let seq = self.db.query_row(sql, (), |row| row.get(0))?;
        self.next_seq = Some(seq);
        Ok(seq)
    }

    fn word(&mut self, word: &str) -> Result<i64, Fault> {
        if let Some(n) = self.known_word(word)? {
            return Ok(n);
        }
        self.write("INSERT INTO words (word) VALUES (?1)", [word])?;
        let n = self.db.last_insert_rowid();
        self.words.insert(word.into(), n);
        Ok(n)
    }

    fn known_word(&mut self, word: &str) -> Result<Option<i64>, Fault> {
        if let Some(n) = self.words.get(word) {
            return Ok(Some(*n));
        }
        let known = self.value("SELECT n FROM words WHERE word = ?1", word)?;
        if let Some(n) = known {
            if self.words.len() >= WORDS {
                self.words.clear();
            }
            self.words.insert(word.into(), n);
        }
        Ok(known)
    }

    pub(crate) fn value(&self, sql: &str, key: &str) -> Result<Option<i64>, Fault> {
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_row([key], |row| row.get(0)).optional()?)
    }

    pub(crate) fn write(&self, sql: &str, values: impl rusqlite::Params) -> Result<usize, Fault> {
        Ok(self.db.prepare_cached(sql)?.execute(values)?)
    }
}
