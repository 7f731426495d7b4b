//! A list of the venue's with its rows that cannot be read, and whose those may be. Pure.
//!
//! One row of a new shape must neither hide an order of ours nor put every other order in doubt.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use surefill_core::{Key, OrderId, Symbol, VenueTime};

use crate::error::ReadFailure;
use crate::id;

/// The rows of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T> {
    /// Those that were read, in the venue's order.
    pub rows: Vec<T>,
    /// Those that could not be read.
    pub unread: Vec<Unread>,
}

/// A row that cannot be read, with what can be told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Whose it is.
    pub owner: Owner,
    /// The venue's order id.
    pub order_id: Option<OrderId>,
    /// The instrument.
    pub coin: Option<Symbol>,
    /// When it was placed, or filled.
    pub at: Option<VenueTime>,
    /// Why it cannot be read.
    pub why: Box<str>,
}

/// Whose a row is, as its client order id tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// That of this client order id.
    Key(Key),
    /// It has no client order id. Ours have one, as far as the venue keeps it.
    Nobody,
    /// That cannot be told either.
    Hidden,
}

/// One order that rows are asked about.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// Its client order id at the venue.
    pub key: &'a Key,
    /// The venue's order ids that are known for it.
    pub order_ids: &'a [OrderId],
    /// Its instrument.
    pub symbol: &'a Symbol,
    /// It was not placed before this.
    pub since: VenueTime,
}

impl Unread {
    /// Whether it says that it speaks of this order.
    pub fn is(&self, order: &About<'_>) -> bool {
        let known = |order_id: &OrderId| order.order_ids.contains(order_id);
        let named = match &self.owner {
            Owner::Key(key) => key == order.key,
            Owner::Nobody | Owner::Hidden => false,
        };
        named || self.order_id.as_ref().is_some_and(known)
    }

    /// Whether it may speak of this order: it says so, or nothing of it says otherwise.
    pub fn may_be(&self, order: &About<'_>) -> bool {
        if self.is(order) {
            return true;
        }
        let elsewhere = self.coin.as_ref().is_some_and(|coin| coin != order.symbol);
        let earlier = self.at.is_some_and(|at| at < order.since);
        match &self.owner {
            Owner::Key(_) => false,
            Owner::Nobody | Owner::Hidden => !elsewhere && !earlier,
        }
    }

    /// Whether it carries our tag, or may.
    fn may_be_tagged(&self) -> bool {
        match &self.owner {
            Owner::Key(key) => id::read(key.as_str()).is_some(),
            Owner::Nobody => false,
            Owner::Hidden => true,
        }
    }

    /// Whether it is certain that it is of another client order id than ours.
    fn is_foreign(&self) -> bool {
        match &self.owner {
            Owner::Key(_) => !self.may_be_tagged(),
            Owner::Nobody | Owner::Hidden => false,
        }
    }

    pub(crate) fn failure(&self) -> ReadFailure {
        ReadFailure::Unreadable(self.why.clone())
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        let (rows, unread) = (Vec::new(), Vec::new());
        Self { rows, unread }
    }
}

impl<T> List<T> {
    /// How many rows the venue sent: what a list holds at most is counted with those that cannot be read.
    pub const fn len(&self) -> usize {
        self.rows.len().saturating_add(self.unread.len())
    }

    /// Whether the venue sent none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows that were read, and the first other one that may be of an order: with one the list does not prove that the order is not in
    /// it.
    ///
    /// # Errors
    /// [`ReadFailure::Unreadable`]: a row that is of the order.
    pub fn about(self, order: &About<'_>) -> Result<(Vec<T>, Option<Unread>), ReadFailure> {
        let mut doubt = None;
        for row in self.unread {
            if row.is(order) {
                return Err(row.failure());
            }
            if doubt.is_none() && row.may_be(order) {
                doubt = Some(row);
            }
        }
        Ok((self.rows, doubt))
    }

    /// What can be found, where the list is no proof: a row without a client order id that cannot be read hides none of ours.
    ///
    /// # Errors
    /// [`ReadFailure::Unreadable`]: a row with our tag, or one that may have it.
    pub fn found(self) -> Result<Vec<T>, ReadFailure> {
        self.unless(Unread::may_be_tagged)
    }

    /// What is to be booked: a row that may be ours must not be passed over.
    ///
    /// # Errors
    /// [`ReadFailure::Unreadable`]: a row that is not certainly another's.
    pub fn booked(self) -> Result<Vec<T>, ReadFailure> {
        self.unless(|row| !row.is_foreign())
    }

    fn unless(self, matters: impl Fn(&Unread) -> bool) -> Result<Vec<T>, ReadFailure> {
        for row in &self.unread {
            if matters(row) {
                return Err(row.failure());
            }
            tracing::warn!(owner = ?row.owner, order_id = ?row.order_id, why = %row.why, "another's row cannot be read");
        }
        Ok(self.rows)
    }

    /// Both lists as one.
    pub fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.unread.extend(other.unread);
    }
}

/// Reads the rows of a list one by one; `order` is where a row holds the order that it speaks of, empty for the row itself.
pub(crate) fn each<W: DeserializeOwned, T>(
    raws: &[&RawValue],
    order: &str,
    read: impl Fn(&W) -> Result<T, Box<str>>,
) -> List<T> {
    let mut list = List {
        rows: Vec::with_capacity(raws.len()),
        unread: Vec::new(),
    };
    for raw in raws {
        let row = serde_json::from_str::<W>(raw.get())
            .map_err(|_| Box::from("a row of another shape"))
            .and_then(|row| read(&row));
        match row {
            Ok(row) => list.rows.push(row),
            Err(why) => list.unread.push(outline(raw, order, why)),
        }
    }
    list
}

/// As much as can be told of a row that cannot be read.
fn outline(raw: &RawValue, order: &str, why: Box<str>) -> Unread {
    let whole: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let row = if order.is_empty() {
        Some(&whole)
    } else {
        whole.get(order)
    };
    let row = row.and_then(Value::as_object);
    let field = |name: &str| row.and_then(|row| row.get(name));
    let owner = match (row, field("cloid")) {
        (None, _) => Owner::Hidden,
        (Some(_), None | Some(Value::Null)) => Owner::Nobody,
        (Some(_), Some(Value::String(cloid))) if is_cloid(cloid) => {
            Owner::Key(Key::from(cloid.to_ascii_lowercase()))
        }
        (Some(_), Some(_)) => Owner::Hidden,
    };
    let at = field("timestamp").or_else(|| field("time"));
    Unread {
        owner,
        order_id: field("oid")
            .and_then(Value::as_u64)
            .map(|oid| OrderId::from(oid.to_string())),
        coin: field("coin").and_then(Value::as_str).map(Symbol::from),
        at: at.and_then(Value::as_u64).map(VenueTime::from_ms),
        why,
    }
}

/// `0x` and 32 hex digits.
fn is_cloid(text: &str) -> bool {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    digits.is_some_and(|digits| {
        digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}
