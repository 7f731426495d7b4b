//! What the writer does besides orders: halts, nonces, bindings, cursors, leases and answers.

use std::ops::Range;

use rusqlite::params;
use surefill_core::{
    AccountId, Alias, Answer, Halt, Lift, NonceScope, OrderRecord, StoreError, VenueTime,
};

use crate::desk::Desk;
use crate::error::Fault;
use crate::read;
use crate::rows::{json, parse, stored, time};

impl Desk {
    pub(crate) fn reserve(
        &self,
        scope: &NonceScope,
        floor: u64,
        n: u32,
    ) -> Result<Range<u64>, Fault> {
        let sql = "SELECT next FROM nonces WHERE scope = ?1";
        let next = self.value(sql, &scope.0)?.map_or(0, i64::cast_unsigned);
        let from = floor.max(next);
        let to = from.checked_add(n.into()).ok_or_else(|| {
            let text = format!("the numbers of {:?} are used up", scope.0);
            StoreError::Read(text.into())
        })?;
        let sql = "INSERT INTO nonces (scope, next) VALUES (?1, ?2)
            ON CONFLICT (scope) DO UPDATE SET next = excluded.next";
        self.write(sql, params![scope.0, to.cast_signed()])?;
        Ok(from..to)
    }

    pub(crate) fn bind(&mut self, alias: &Alias, account: &AccountId) -> Result<(), Fault> {
        self.must_sync = true;
        let sql = "INSERT INTO bindings (alias, account) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        if self.write(sql, [alias.as_str(), account.as_str()])? > 0 {
            return Ok(());
        }
        let sql = "SELECT account FROM bindings WHERE alias = ?1";
        let bound: String = self.db.query_row(sql, [alias.as_str()], |row| row.get(0))?;
        let bound = AccountId::from(&*bound);
        if bound == *account {
            return Ok(());
        }
        let (alias, found) = (alias.clone(), account.clone());
        Err(Fault::Refused(StoreError::OtherAccount {
            alias,
            bound,
            found,
        }))
    }

    pub(crate) fn halt(&mut self, halt: &Halt) -> Result<(), Fault> {
        let known = |other: &Halt| other.scope == halt.scope && other.cause == halt.cause;
        if self.halts()?.iter().any(known) {
            return Ok(());
        }
        let text = json(halt)?;
        self.halts = None;
        self.write("INSERT INTO halts (halt) VALUES (?1)", [text])?;
        Ok(())
    }

    pub(crate) fn lift(
        &mut self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, Fault> {
        self.must_sync = true;
        if let Lift::Asked { n, .. } = lift
            && !self.waits(*n)?
        {
            return Ok(Vec::new());
        }
        let halts = read::list(
            &self.db,
            "SELECT n, halt FROM halts ORDER BY n",
            (),
            |row| {
                let n: i64 = row.get(0).map_err(crate::error::reading)?;
                let halt: Halt = parse(read::text(row, 1)?)?;
                Ok((n, halt))
            },
        )?;
        self.halts = None;
        let mut lifted = Vec::new();
        for (n, halt) in halts.into_iter().filter(|(_, halt)| lift.takes(halt)) {
            let text = json(&halt)?;
            let sql = "INSERT INTO lifts (halt, who, reason, at) VALUES (?1, ?2, ?3, ?4)";
            self.write(sql, params![text, who, reason, stored(at)])?;
            self.write("DELETE FROM halts WHERE n = ?1", [n])?;
            lifted.push(halt);
        }
        if let Lift::Asked { n, .. } = lift {
            let lifted = lifted.clone();
            self.answer(*n, &Answer::Resumed { lifted })?;
        }
        Ok(lifted)
    }

    pub(crate) fn set_cursor(&self, alias: &Alias, at: VenueTime) -> Result<(), Fault> {
        let sql = "SELECT at FROM cursors WHERE alias = ?1";
        let before = self.value(sql, alias.as_str())?.map(time);
        if before.is_some_and(|before| before >= at) {
            return Ok(());
        }
        let sql = "INSERT INTO cursors (alias, at) VALUES (?1, ?2)
            ON CONFLICT (alias) DO UPDATE SET at = excluded.at";
        self.write(sql, params![alias.as_str(), stored(at)])?;
        Ok(())
    }

    pub(crate) fn lease(&self, scope: &str) -> Result<u64, Fault> {
        let sql = "INSERT INTO leases (scope, epoch) VALUES (?1, 1)
            ON CONFLICT (scope) DO UPDATE SET epoch = epoch + 1";
        self.write(sql, [scope])?;
        let epoch = self.value("SELECT epoch FROM leases WHERE scope = ?1", scope)?;
        Ok(epoch.unwrap_or_default().cast_unsigned())
    }

    /// Whether a request has no answer yet.
    fn waits(&self, n: i64) -> Result<bool, Fault> {
        let sql = "SELECT count(*) FROM inbox WHERE n = ?1 AND answer IS NULL";
        let waiting: i64 = self.db.query_row(sql, [n], |row| row.get(0))?;
        Ok(waiting > 0)
    }

    pub(crate) fn answer(&self, n: i64, answer: &Answer) -> Result<(), Fault> {
        let answer = json(answer)?;
        let sql = "UPDATE inbox SET answer = ?2 WHERE n = ?1 AND answer IS NULL";
        self.write(sql, params![n, answer])?;
        Ok(())
    }

    /// Makes a halt durable, also one that a lazy commit has brought.
    pub(crate) fn declare(&mut self, halt: &Halt) -> Result<(), Fault> {
        self.must_sync = true;
        self.halt(halt)
    }

    /// The first halt in force that covers the order and that `takes` takes.
    pub(crate) fn covering(
        &mut self,
        order: &OrderRecord,
        takes: impl Fn(&Halt) -> bool,
    ) -> Result<Option<Halt>, Fault> {
        let covers = |halt: &&Halt| {
            let scope = &halt.scope;
            takes(halt) && scope.covers(order.alias(), &order.account, order.symbol())
        };
        Ok(self.halts()?.iter().find(covers).cloned())
    }

    fn halts(&mut self) -> Result<&[Halt], Fault> {
        if self.halts.is_none() {
            self.halts = Some(read::halts(&self.db)?);
        }
        Ok(self.halts.as_deref().unwrap_or_default())
    }
}
