//! Requests of the naive bot: signed by hand at Bybit, by the adapter and without a journal at Hyperliquid.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use surefill_core::{
    AccountId, Alias, Amount, BootTime, ClOrdId, Decision, Journal, MemoryStore, Nonces,
    OrderIntent, Rate, Side, Ticket, Venue, VenueClock, VenueCtx, VenueTime,
};
use surefill_examples::{SIMULATED_KEY, SIMULATED_SECRET};
use surefill_transport::{HttpClient, Method, Request};

use crate::bot::{Orders, VENUE};
use crate::venue::At;
use crate::{Failure, QTY};

/// A create that is ready to leave.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) wire_id: String,
    body: String,
    now_ms: u64,
}

/// Makes creates.
#[derive(Debug)]
pub(crate) struct Maker {
    at: At,
    url: String,
    price: String,
    signer: Option<Signer>,
}

/// An adapter with nonces that nobody keeps.
#[derive(Debug)]
struct Signer {
    venue: Arc<dyn Venue>,
    nonces: Nonces,
    account: AccountId,
}

impl Maker {
    pub(crate) async fn new(orders: &Orders<'_>) -> Result<Self, Failure> {
        let signer = match orders.at {
            At::Bybit => None,
            At::Hyperliquid => Some(Signer::new(orders).await?),
        };
        Ok(Self {
            at: orders.at,
            url: orders.url.to_owned(),
            price: orders.price.to_owned(),
            signer,
        })
    }

    /// A create under this name.
    pub(crate) async fn make(&self, name: &str, now_ms: u64) -> Result<Made, Failure> {
        if let Some(signer) = &self.signer {
            return signer.make(name, now_ms, self.at, &self.price).await;
        }
        let body = json!({
            "category": "linear", "symbol": self.at.symbol(), "side": "Buy", "orderType": "Limit", "qty": QTY,
            "price": self.price, "timeInForce": "GTC", "positionIdx": 0, "orderLinkId": name,
        });
        Ok(Made {
            wire_id: name.to_owned(),
            body: body.to_string(),
            now_ms,
        })
    }

    /// Sends it; whether the venue said yes.
    pub(crate) async fn send(&self, http: &HttpClient, made: &Made) -> Result<bool, Failure> {
        let request = match self.at {
            At::Bybit => self.bybit(made)?,
            At::Hyperliquid => Request::new(Method::Post, format!("{}/exchange", self.url)),
        };
        let request = request
            .header("Content-Type", "application/json")
            .body(made.body.clone());
        let answer = http.send(request, None).await?;
        let answer: Value = serde_json::from_slice(answer.body())?;
        Ok(match self.at {
            At::Bybit => answer.get("retCode").and_then(Value::as_i64) == Some(0),
            At::Hyperliquid => {
                let status = answer.pointer("/response/data/statuses/0");
                status.is_some_and(|status| status.get("error").is_none())
            }
        })
    }

    fn bybit(&self, made: &Made) -> Result<Request, Failure> {
        let window = "5000";
        let mut mac = Hmac::<Sha256>::new_from_slice(SIMULATED_SECRET.as_bytes())?;
        mac.update(format!("{}{SIMULATED_KEY}{window}{}", made.now_ms, made.body).as_bytes());
        let signature = hex::encode(mac.finalize().into_bytes());
        let url = format!("{}/v5/order/create", self.url);
        Ok(Request::new(Method::Post, url)
            .header("X-BAPI-API-KEY", SIMULATED_KEY)
            .header("X-BAPI-TIMESTAMP", made.now_ms.to_string())
            .header("X-BAPI-RECV-WINDOW", window)
            .header("X-BAPI-SIGN", signature))
    }
}

impl Signer {
    async fn new(orders: &Orders<'_>) -> Result<Self, Failure> {
        let adapter = orders.at.adapter(orders.url)?;
        let scope = adapter.nonce_scope().ok_or("there is no scope of nonces")?;
        let store = || Arc::new(MemoryStore::new(VenueTime::from_ms(0)));
        let ctx = VenueCtx {
            alias: Alias::from(VENUE),
            clock: Arc::new(VenueClock::new(Arc::new(BootTime))),
            nonces: Some(Arc::new(Nonces::new(Journal::new(store()), scope.clone()))),
            rate: Arc::new(Rate::new(adapter.profile().rates)),
        };
        let venue = adapter.connect(ctx)?;
        let account = venue.account().await?;
        Ok(Self {
            venue,
            nonces: Nonces::new(Journal::new(store()), scope),
            account,
        })
    }

    async fn make(&self, name: &str, now_ms: u64, at: At, price: &str) -> Result<Made, Failure> {
        let now = VenueTime::from_ms(now_ms);
        let intent = OrderIntent::limit(
            Decision::new(name, now_ms),
            VENUE,
            at.symbol(),
            Side::Buy,
            Amount::Base(QTY.parse()?),
            price.parse()?,
        );
        let ticket = Ticket {
            no: 1,
            now,
            nonce: Some(self.nonces.next(now).await?),
            facts: self.venue.facts(&intent).await?,
        };
        let id = ClOrdId::derive(&intent.decision, &self.account, &intent.symbol, intent.side);
        let attempt = self.venue.prepare(&id, &intent, &ticket)?;
        let wire = String::from_utf8(attempt.wire)?;
        // Signer, account, body: a line each.
        let body = wire.splitn(3, '\n').nth(2).ok_or("there is no body")?;
        Ok(Made {
            wire_id: at.spell(&id),
            body: body.to_owned(),
            now_ms,
        })
    }
}
