//! One function per endpoint. Sends once; no retry, no policy.

use std::fmt::{self, Write};
use std::time::Duration;

use serde::Serialize;
use surefill_core::{Go, NotSent, VenueTime};
use surefill_transport::{HttpClient, Method, Request, SendFailure};

use crate::batch;
use crate::outcome::Sent;
use crate::prepare::Wire;
use crate::sign::Keys;
use crate::wire::{ByLink, CancelAll};

/// The REST API of one environment, with the keys of one account.
#[derive(Debug)]
pub(crate) struct Client {
    http: HttpClient,
    base: String,
    keys: Keys,
    receive_window: Duration,
}

/// The reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    OpenOrders,
    ClosedOrders,
    Executions,
    Positions,
    Wallet,
    ApiKey,
    Account,
    Instruments,
    Time,
}

impl Read {
    const fn path(self) -> &'static str {
        match self {
            Self::OpenOrders => "/v5/order/realtime",
            Self::ClosedOrders => "/v5/order/history",
            Self::Executions => "/v5/execution/list",
            Self::Positions => "/v5/position/list",
            Self::Wallet => "/v5/account/wallet-balance",
            Self::ApiKey => "/v5/user/query-api",
            Self::Account => "/v5/account/info",
            Self::Instruments => "/v5/market/instruments-info",
            Self::Time => "/v5/market/time",
        }
    }

    /// Whether it is about an account.
    pub(crate) const fn is_private(self) -> bool {
        match self {
            Self::OpenOrders
            | Self::ClosedOrders
            | Self::Executions
            | Self::Positions
            | Self::Wallet
            | Self::ApiKey
            | Self::Account => true,
            Self::Instruments | Self::Time => false,
        }
    }
}

impl Client {
    pub(crate) const fn new(
        http: HttpClient,
        base: String,
        keys: Keys,
        receive_window: Duration,
    ) -> Self {
        Self {
            http,
            base,
            keys,
            receive_window,
        }
    }

    pub(crate) const fn receive_window(&self) -> Duration {
        self.receive_window
    }

    /// Sends a create, byte for byte as it was journaled.
    pub(crate) async fn create(&self, wire: &Wire, go: &Go) -> Sent {
        let (at, window) = (wire.timestamp, wire.receive_window);
        self.post("/v5/order/create", at, window, wire.body.clone(), Some(go))
            .await
    }

    pub(crate) async fn cancel(&self, at: VenueTime, body: String) -> Sent {
        let window = self.receive_window;
        self.post("/v5/order/cancel", at, window, body, None).await
    }

    pub(crate) async fn cancel_batch(&self, at: VenueTime, body: String) -> Sent {
        let window = self.receive_window;
        self.post(batch::CANCELS, at, window, body, None).await
    }

    pub(crate) async fn amend(&self, at: VenueTime, body: &ByLink<'_>, go: &Go) -> Sent {
        self.post_json("/v5/order/amend", at, body, Some(go)).await
    }

    pub(crate) async fn cancel_all(&self, at: VenueTime, body: &CancelAll<'_>) -> Sent {
        self.post_json("/v5/order/cancel-all", at, body, None).await
    }

    /// Sends one read of the public market.
    pub(crate) async fn public(&self, read: Read, query: &Query) -> Sent {
        let request = Request::new(Method::Get, self.url(read.path(), query));
        self.http.send(request, None).await
    }

    /// Sends one read of the account. No body: one on a GET is a documented cause of HTTP 403.
    pub(crate) async fn private(&self, read: Read, at: VenueTime, query: &Query) -> Sent {
        let mut request = Request::new(Method::Get, self.url(read.path(), query));
        for (name, value) in self.signed(at, self.receive_window, &query.0, false)? {
            request = request.header(name, value);
        }
        self.http.send(request, None).await
    }

    async fn post_json(
        &self,
        path: &str,
        at: VenueTime,
        body: &(impl Serialize + Sync),
        go: Option<&Go>,
    ) -> Sent {
        let body = serde_json::to_string(body).map_err(|error| not_sent(&error.to_string()))?;
        self.post(path, at, self.receive_window, body, go).await
    }

    async fn post(
        &self,
        path: &str,
        at: VenueTime,
        window: Duration,
        body: String,
        go: Option<&Go>,
    ) -> Sent {
        let mut request = Request::new(Method::Post, format!("{}{path}", self.base));
        for (name, value) in self.signed(at, window, &body, true)? {
            request = request.header(name, value);
        }
        self.http.send(request.body(body), go).await
    }

    fn signed(
        &self,
        at: VenueTime,
        window: Duration,
        payload: &str,
        posts: bool,
    ) -> Result<Vec<(&'static str, String)>, SendFailure> {
        self.keys
            .headers(at, window, payload, posts)
            .map_err(|error| not_sent(&error.to_string()))
    }

    fn url(&self, path: &str, query: &Query) -> String {
        if query.0.is_empty() {
            format!("{}{path}", self.base)
        } else {
            format!("{}{path}?{}", self.base, query.0)
        }
    }
}

fn not_sent(why: &str) -> SendFailure {
    SendFailure::NotSent(NotSent::Connect(why.into()))
}

/// A query in the very bytes that are signed and sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(String);

impl Query {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter, encoded where it needs to be.
    pub(crate) fn with(self, name: &str, value: impl fmt::Display) -> Self {
        let value = value.to_string();
        self.push(name, &value, |b| {
            b.is_ascii_alphanumeric() || b"-_.~".contains(&b)
        })
    }

    /// Adds a cursor as the venue wrote it: it comes encoded. Only what cannot stand in a URL is encoded, so that the bytes on the
    /// wire are those that were signed.
    pub(crate) fn with_cursor(self, cursor: &str) -> Self {
        self.push("cursor", cursor, |b| {
            b.is_ascii_graphic() && !b"\"#<>'".contains(&b)
        })
    }

    fn push(mut self, name: &str, value: &str, plain: impl Fn(u8) -> bool) -> Self {
        let separator = if self.0.is_empty() { "" } else { "&" };
        self.0.push_str(separator);
        self.0.push_str(name);
        self.0.push('=');
        for byte in value.bytes() {
            if plain(byte) {
                self.0.push(char::from(byte));
            } else {
                write!(self.0, "%{byte:02X}").ok();
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_goes_back_as_it_came_and_a_value_cannot_add_a_parameter() {
        let query = Query::new()
            .with("category", "linear")
            .with("symbol", "A&b=c d")
            .with_cursor("page_token%3D51234%26");
        assert_eq!(
            query.0,
            "category=linear&symbol=A%26b%3Dc%20d&cursor=page_token%3D51234%26"
        );
    }
}
