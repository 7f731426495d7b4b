//! What a server answered.

use std::fmt;

/// An answer, read to its end.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    status: u16,
    headers: Vec<(Box<str>, Box<str>)>,
    body: Vec<u8>,
}

impl Answer {
    /// An answer of these parts; the names of headers are taken in any case.
    pub fn new<N: AsRef<str>, V: AsRef<str>>(
        status: u16,
        headers: impl IntoIterator<Item = (N, V)>,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        let headers = headers
            .into_iter()
            .map(|(name, value)| {
                (
                    name.as_ref().to_ascii_lowercase().into(),
                    value.as_ref().into(),
                )
            })
            .collect();
        Self {
            status,
            headers,
            body: body.into(),
        }
    }

    /// The HTTP status.
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// The first header of that name, whatever the case of its letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(have, _)| have.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
