//! One request as it came, and one answer as the venue means it.

use bytes::Bytes;
use hyper::{HeaderMap, Method};

/// A whole request. The body and the query are the bytes of the wire, because signatures are over them.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    /// Without the question mark.
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Who sent it, if a socket said so before: such a request has no signature of its own.
    pub(crate) known: Option<String>,
}

impl Request {
    /// A header's text, if it is there and is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The query's names and values, decoded once.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let parts = self.query.split('&').filter(|part| !part.is_empty());
        parts
            .map(|part| {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                (decoded(name), decoded(value))
            })
            .collect()
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Reply {
    /// An answer that is JSON.
    pub(crate) const fn json(status: u16, body: String) -> Self {
        let content_type = "application/json; charset=utf-8";
        Self {
            status,
            content_type,
            headers: Vec::new(),
            body,
        }
    }

    /// What a gateway or a proxy says: a page that is no JSON.
    pub(crate) fn page(status: u16) -> Self {
        let body =
            format!("<html><head><title>{status}</title></head><body>{status}</body></html>");
        Self {
            status,
            content_type: "text/html",
            headers: Vec::new(),
            body,
        }
    }
}

/// Percent-decoding; what is no escape stays as it is.
pub(crate) fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = match (first, after) {
            (b'%', [high, low, tail @ ..]) => {
                let mut byte = [0_u8];
                hex::decode_to_slice([*high, *low], &mut byte)
                    .ok()
                    .map(|()| (byte, tail))
            }
            _ => None,
        };
        match escape {
            Some(([byte], tail)) => {
                out.push(byte);
                rest = tail;
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
