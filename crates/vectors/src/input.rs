//! What recomputing takes and gives: a case's input, read by name, and the leaves that come out.

use std::fmt::Display;

use serde_json::Value;

use crate::file::Case;

/// Recomputes a case from its input with the code that trades.
pub(crate) type Recompute = fn(&Case<'_>) -> Result<Got, Unfit>;

/// Why a case could not be recomputed. It fails, and this is what is reported.
#[derive(Debug)]
pub(crate) struct Unfit(pub(crate) String);

impl Unfit {
    pub(crate) fn new(why: impl Display) -> Self {
        Self(why.to_string())
    }
}

/// The leaves that a case's input gives. There may be more than the file names.
#[derive(Debug)]
pub(crate) struct Got {
    /// The case holds when one of these agrees with it. More than one only where the input does not say which is meant.
    pub(crate) one_of: Vec<Value>,
    /// Objects that are compared in both directions: a leaf in them that the file lacks is a failure.
    pub(crate) exact: &'static [&'static str],
}

impl From<Value> for Got {
    fn from(value: Value) -> Self {
        Self {
            one_of: vec![value],
            exact: &[],
        }
    }
}

impl Got {
    pub(crate) const fn exact(mut self, paths: &'static [&'static str]) -> Self {
        self.exact = paths;
        self
    }
}

/// The member of that name.
pub(crate) fn member<'v>(of: &'v Value, name: &str) -> Result<&'v Value, Unfit> {
    of.get(name)
        .ok_or_else(|| Unfit(format!("the input has no `{name}`")))
}

/// The text of that name.
pub(crate) fn text<'v>(of: &'v Value, name: &str) -> Result<&'v str, Unfit> {
    let text = member(of, name)?.as_str();
    text.ok_or_else(|| Unfit(format!("`{name}` is no text")))
}

/// The whole number of that name.
pub(crate) fn number(of: &Value, name: &str) -> Result<u64, Unfit> {
    let number = member(of, name)?.as_u64();
    number.ok_or_else(|| Unfit(format!("`{name}` is no whole number")))
}

/// The list of that name.
pub(crate) fn list<'v>(of: &'v Value, name: &str) -> Result<&'v [Value], Unfit> {
    let list = member(of, name)?.as_array();
    list.map(Vec::as_slice)
        .ok_or_else(|| Unfit(format!("`{name}` is no list")))
}
