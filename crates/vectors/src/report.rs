//! What checking a file gave. The names are fixed: scripts read them.

use serde::Serialize;
use serde_json::Value;

/// What checking a file gave. `passed` and `failed` count cases, and their sum is the file's count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The file, as it was named.
    pub file: String,
    /// Cases of which every checked leaf holds.
    pub passed: usize,
    /// The others.
    pub failed: usize,
    /// Each leaf that differs; a case may have several.
    pub failures: Vec<Failure>,
}

/// A leaf that differs, or why a case could not be recomputed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    /// The case.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// The leaf, below `expect`, joined by dots; `kind` or `input` where the case could not be recomputed.
    pub path: String,
    /// What the file says; null where the case could not be recomputed.
    pub expected: Value,
    /// What the code says, or why it says nothing.
    pub got: Value,
}
