//! An answer's body: whole, or cut short.

use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

/// The bytes of an answer.
#[derive(Debug)]
pub(crate) enum SimBody {
    /// All of it.
    Whole(Bytes),
    /// A part, then the connection ends.
    Cut(Bytes, Pin<Box<Sleep>>),
}

/// Ends a connection in the middle of an answer.
#[derive(Debug)]
pub(crate) struct CutShort;

impl fmt::Display for CutShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("answer cut short on purpose")
    }
}

impl std::error::Error for CutShort {}

impl From<Infallible> for CutShort {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl SimBody {
    /// The first half of `bytes`, then the end of the connection. The pause lets the half leave before it.
    pub(crate) fn cut(mut bytes: Bytes) -> Self {
        bytes.truncate(bytes.len().div_ceil(2));
        Self::Cut(
            bytes,
            Box::pin(tokio::time::sleep(Duration::from_millis(10))),
        )
    }
}

impl Body for SimBody {
    type Data = Bytes;
    type Error = CutShort;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutShort>>> {
        let (bytes, sleep) = match self.get_mut() {
            Self::Whole(bytes) => (bytes, None),
            Self::Cut(bytes, sleep) => (bytes, Some(sleep)),
        };
        match sleep {
            _ if !bytes.is_empty() => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            None => Poll::Ready(None),
            Some(sleep) => sleep.as_mut().poll(cx).map(|()| Some(Err(CutShort))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
            }
            Self::Cut(..) => SizeHint::new(),
        }
    }
}
