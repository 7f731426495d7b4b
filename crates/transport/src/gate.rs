//! The last moment before the first byte: a body that is read once, and only while its gate lets it.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use surefill_core::{Go, HeldBack};

const WAITING: u8 = 0;
const OPEN: u8 = 1;
const SHUT: u8 = 2;

/// Whether a body may leave. It opens or shuts once, whichever comes first.
#[derive(Debug)]
pub(crate) struct Gate {
    state: AtomicU8,
    go: Option<Go>,
    held: OnceLock<HeldBack>,
}

impl Gate {
    pub(crate) fn new(go: Option<Go>) -> Arc<Self> {
        Arc::new(Self {
            state: AtomicU8::new(WAITING),
            go,
            held: OnceLock::new(),
        })
    }

    /// Shuts the gate. `true` means that no byte left and none will.
    pub(crate) fn shut(&self) -> bool {
        match self
            .state
            .compare_exchange(WAITING, SHUT, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => true,
            Err(state) => state == SHUT,
        }
    }

    /// Why [`Go`] held the body back, if it did.
    pub(crate) fn held(&self) -> Option<HeldBack> {
        self.held.get().copied()
    }

    /// Opens the gate right before the first byte, unless [`Go`] or the caller says no.
    pub(crate) fn pass(&self) -> Result<(), Shut> {
        if let Some(Err(held)) = self.go.as_ref().map(Go::check) {
            self.shut();
            self.held.get_or_init(|| held);
            return Err(Shut);
        }
        self.state
            .compare_exchange(WAITING, OPEN, Ordering::AcqRel, Ordering::Acquire)
            .map(|_| ())
            .map_err(|_| Shut)
    }
}

/// Shuts the gate when the caller loses interest, so that a connection made too late sends nothing.
pub(crate) struct ShutOnDrop(pub(crate) Arc<Gate>);

impl Drop for ShutOnDrop {
    fn drop(&mut self) {
        self.0.shut();
    }
}

/// The gate was shut before the body was read.
#[derive(Debug)]
pub(crate) struct Shut;

impl fmt::Display for Shut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("held back before the first byte")
    }
}

impl std::error::Error for Shut {}

/// A body that can be read once. HTTP/1 asks for it after the head is buffered and before anything is written.
pub(crate) struct OnceBody {
    gate: Arc<Gate>,
    bytes: Option<Bytes>,
    len: u64,
}

impl OnceBody {
    pub(crate) fn new(gate: Arc<Gate>, bytes: Vec<u8>) -> Self {
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self {
            gate,
            bytes: Some(bytes.into()),
            len,
        }
    }
}

impl Body for OnceBody {
    type Data = Bytes;
    type Error = Shut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Shut>>> {
        let Some(bytes) = self.bytes.take() else {
            return Poll::Ready(None);
        };
        Poll::Ready(Some(self.gate.pass().map(|()| Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(if self.bytes.is_some() { self.len } else { 0 })
    }
}
