//! A vector file and its frame: a head, and cases with id, kind, input and expect.

use serde_json::Value;

use crate::Kind;

/// A file that is not in the frame. No case of it was checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// It cannot be read.
    #[error("{file} cannot be read")]
    Read {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is not JSON.
    #[error("{file}, line {line}, column {column}: not JSON")]
    Json {
        /// The file.
        file: String,
        /// Where.
        line: usize,
        /// Where in the line.
        column: usize,
        /// What is wrong there.
        #[source]
        source: serde_json::Error,
    },
    /// It holds the vectors of another venue.
    #[error("{file} holds vectors of {found}, not of {asked}")]
    OtherVenue {
        /// The file.
        file: String,
        /// Whose vectors were asked for.
        asked: Kind,
        /// Whose it holds.
        found: String,
    },
    /// Its count is not the number of its cases.
    #[error("{file}: the count is {count}, and there are {cases} cases")]
    Count {
        /// The file.
        file: String,
        /// The head's count.
        count: u64,
        /// The cases.
        cases: usize,
    },
    /// Something of the frame is missing or of another type.
    #[error("{file}: {what}")]
    Shape {
        /// The file.
        file: String,
        /// What.
        what: String,
    },
}

/// A file in the frame.
#[derive(Debug)]
pub(crate) struct VectorFile {
    head: Value,
    cases: Vec<Value>,
    not_checked: Vec<String>,
}

/// A case in the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'f> {
    pub(crate) id: &'f str,
    pub(crate) kind: &'f str,
    pub(crate) input: &'f Value,
    pub(crate) expect: &'f Value,
    pub(crate) file: &'f VectorFile,
}

impl VectorFile {
    /// Reads a file, named `name` in errors.
    pub(crate) fn read(asked: Kind, name: &str, bytes: &[u8]) -> Result<Self, FrameError> {
        let file = || name.to_owned();
        let mut head: Value = serde_json::from_slice(bytes).map_err(|source| FrameError::Json {
            file: file(),
            line: source.line(),
            column: source.column(),
            source,
        })?;
        let shape = |what: &str| FrameError::Shape {
            file: file(),
            what: what.to_owned(),
        };
        let venue = head.get("venue").and_then(Value::as_str);
        let venue = venue.ok_or_else(|| shape("the head has no text `venue`"))?;
        if venue != asked.as_str() {
            return Err(FrameError::OtherVenue {
                file: file(),
                asked,
                found: venue.to_owned(),
            });
        }
        let Some(Value::Array(cases)) = head.get_mut("vectors").map(Value::take) else {
            return Err(shape("the head has no list `vectors`"));
        };
        let count = head.get("count").and_then(Value::as_u64);
        let count = count.ok_or_else(|| shape("the head has no number `count`"))?;
        if usize::try_from(count).ok() != Some(cases.len()) {
            return Err(FrameError::Count {
                file: file(),
                count,
                cases: cases.len(),
            });
        }
        let names = head.get("not_checked").and_then(Value::as_array);
        let names = names.ok_or_else(|| shape("the head has no list `not_checked`"))?;
        let names: Option<Vec<String>> = names
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect();
        let not_checked = names.ok_or_else(|| shape("`not_checked` is not a list of texts"))?;
        let read = Self {
            head,
            cases,
            not_checked,
        };
        for (at, case) in read.cases.iter().enumerate() {
            if read.case(case).is_none() {
                let what = "has no text `id`, no text `kind`, no `input` or no object `expect`";
                return Err(shape(&format!("case {} {what}", at + 1)));
            }
        }
        Ok(read)
    }

    fn case<'f>(&'f self, case: &'f Value) -> Option<Case<'f>> {
        Some(Case {
            id: case.get("id")?.as_str()?,
            kind: case.get("kind")?.as_str()?,
            input: case.get("input")?,
            expect: case.get("expect").filter(|expect| expect.is_object())?,
            file: self,
        })
    }

    /// The cases, in the file's order.
    pub(crate) fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.cases.iter().filter_map(|case| self.case(case))
    }

    /// The case of that id.
    pub(crate) fn find(&self, id: &str) -> Option<Case<'_>> {
        self.cases().find(|case| case.id == id)
    }

    /// What stands in the head beside the frame, such as keys.
    pub(crate) const fn head(&self) -> &Value {
        &self.head
    }

    /// The names of leaves that are for people.
    pub(crate) fn not_checked(&self) -> &[String] {
        &self.not_checked
    }
}

impl<'f> Case<'f> {
    /// What the case presupposes. It stands under `expect`, and must come out again like any other leaf.
    pub(crate) fn given(&self) -> Option<&'f Value> {
        self.expect.get("given")
    }
}
