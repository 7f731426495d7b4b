//! The log of requests that reached the edge.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::fault::Op;

/// Rows kept; older ones leave.
const KEPT: usize = 100_000;

#[derive(Debug)]
struct Row {
    seq: u64,
    at_ms: u64,
    op: Op,
    method: String,
    path: String,
    body_sha256: Option<String>,
    acted: bool,
    answered: bool,
    status: Option<u16>,
}

/// All requests but those to the control port, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Requests(Mutex<Log>);

#[derive(Debug, Default)]
struct Log {
    last: u64,
    rows: VecDeque<Row>,
}

impl Requests {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request came; `body` is none if it was not read.
    pub(crate) fn came(
        &self,
        at_ms: u64,
        op: Op,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
    ) -> u64 {
        let body_sha256 = body.map(|body| hex::encode(Sha256::digest(body)));
        let mut log = self.log();
        log.last = log.last.saturating_add(1);
        let seq = log.last;
        let (method, path) = (method.to_owned(), path.to_owned());
        log.rows.push_back(Row {
            seq,
            at_ms,
            op,
            method,
            path,
            body_sha256,
            acted: false,
            answered: false,
            status: None,
        });
        if log.rows.len() > KEPT {
            log.rows.pop_front();
        }
        seq
    }

    /// The venue acted upon it.
    pub(crate) fn acted(&self, seq: u64) {
        self.change(seq, |row| row.acted = true);
    }

    /// An answer was handed to the connection.
    pub(crate) fn answered(&self, seq: u64, status: u16) {
        self.change(seq, |row| {
            row.answered = true;
            row.status = Some(status);
        });
    }

    fn change(&self, seq: u64, change: impl FnOnce(&mut Row)) {
        let mut log = self.log();
        let back = usize::try_from(log.last.saturating_sub(seq)).unwrap_or(usize::MAX);
        let index = log.rows.len().checked_sub(back.saturating_add(1));
        if let Some(row) = index.and_then(|index| log.rows.get_mut(index)) {
            change(row);
        }
    }

    /// The rows of `GET /_sim/requests`.
    pub(crate) fn rows(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "seq": row.seq, "at_ms": row.at_ms, "op": row.op.word(), "method": row.method, "path": row.path,
                "body_sha256": row.body_sha256, "acted": row.acted, "answered": row.answered, "status": row.status,
            })
        };
        self.log().rows.iter().map(row).collect()
    }
}
