//! The HTTP and WebSocket clients of every venue adapter: they send once, and say what is known about a send that failed.
//!
//! No retry, no redirect, no proxy, no HTTP/2 replay, no early data, no decompression. A request body can be read once only, so
//! that nothing below this crate can send it a second time either; the read is also the moment at which [`Go`] is asked, after
//! the connection stands and before the first byte leaves.
//!
//! A WebSocket connection is never made again behind the caller's back: it ends, and says why. Its buffers are bounded.
//!
//! [`Go`]: surefill_core::Go

mod answer;
mod client;
mod gate;
mod request;
mod ws;

pub use answer::Answer;
pub use client::{BuildError, HttpClient, HttpConfig, SendFailure};
pub use request::{Method, Request};
pub use ws::{
    Heartbeat, WsClient, WsConfig, WsConnectError, WsConnection, WsEnd, WsMessages, WsSender,
};
