//! One function per endpoint. Sends once; no retry, no policy.

use serde_json::{Value, json};
use surefill_core::{Go, VenueTime};
use surefill_evm::Address;
use surefill_transport::{HttpClient, Method, Request};

use crate::outcome::Sent;

/// The two endpoints of one network.
#[derive(Debug)]
pub(crate) struct Client {
    http: HttpClient,
    base: String,
}

/// A read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// The venue's time.
    Status,
    Meta(Option<String>),
    SpotMeta,
    Dexes,
    Mids,
    Role(Address),
    OpenOrders(Address, Option<String>),
    ByCloid(Address, String),
    ByOid(Address, u64),
    History(Address),
    /// Fills between two instants, both included.
    Fills(Address, VenueTime, VenueTime),
    Positions(Address, Option<String>),
    Balances(Address),
}

impl Read {
    fn body(&self) -> Value {
        let on = |mut body: Value, dex: &Option<String>| {
            if let (Some(body), Some(dex)) = (body.as_object_mut(), dex) {
                body.insert("dex".to_owned(), json!(dex));
            }
            body
        };
        match self {
            Self::Status => json!({"type": "exchangeStatus"}),
            Self::Meta(dex) => on(json!({"type": "meta"}), dex),
            Self::SpotMeta => json!({"type": "spotMeta"}),
            Self::Dexes => json!({"type": "perpDexs"}),
            Self::Mids => json!({"type": "allMids"}),
            Self::Role(user) => json!({"type": "userRole", "user": user.to_string()}),
            Self::OpenOrders(user, dex) => {
                on(json!({"type": "openOrders", "user": user.to_string()}), dex)
            }
            Self::ByCloid(user, cloid) => {
                json!({"type": "orderStatus", "user": user.to_string(), "oid": cloid})
            }
            Self::ByOid(user, oid) => {
                json!({"type": "orderStatus", "user": user.to_string(), "oid": oid})
            }
            Self::History(user) => json!({"type": "historicalOrders", "user": user.to_string()}),
            Self::Fills(user, from, to) => json!({
                "type": "userFillsByTime",
                "user": user.to_string(),
                "startTime": from.as_ms(),
                "endTime": to.as_ms(),
            }),
            Self::Positions(user, dex) => {
                let body = json!({"type": "clearinghouseState", "user": user.to_string()});
                on(body, dex)
            }
            Self::Balances(user) => {
                json!({"type": "spotClearinghouseState", "user": user.to_string()})
            }
        }
    }

    /// What it costs of the address's budget, before its rows.
    ///
    /// # Source
    /// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
    pub(crate) const fn weight(&self) -> u32 {
        match self {
            Self::Status
            | Self::Mids
            | Self::ByCloid(..)
            | Self::ByOid(..)
            | Self::Positions(..)
            | Self::Balances(_) => 2,
            Self::Role(_) => 60,
            Self::Meta(_)
            | Self::SpotMeta
            | Self::Dexes
            | Self::OpenOrders(..)
            | Self::History(_)
            | Self::Fills(..) => 20,
        }
    }
}

impl Client {
    pub(crate) const fn new(http: HttpClient, base: String) -> Self {
        Self { http, base }
    }

    /// Sends a signed request, byte for byte.
    pub(crate) async fn exchange(&self, body: String, go: Option<&Go>) -> Sent {
        self.http.send(self.post("/exchange", body), go).await
    }

    pub(crate) async fn info(&self, read: &Read) -> Sent {
        let body = read.body().to_string();
        self.http.send(self.post("/info", body), None).await
    }

    fn post(&self, path: &str, body: String) -> Request {
        Request::new(Method::Post, format!("{}{path}", self.base))
            .header("Content-Type", "application/json")
            .body(body)
    }
}
