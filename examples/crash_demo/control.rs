//! The simulator's control port: the demo's referee.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use surefill_core::Qty;
use surefill_transport::{HttpClient, HttpConfig, Method, Request};

use crate::Failure;

/// An order as the venue holds it.
#[derive(Debug, Deserialize)]
pub(crate) struct HeldOrder {
    pub(crate) wire_id: Option<String>,
    pub(crate) cum_qty: Qty,
}

/// A fill as the venue holds it.
#[derive(Debug, Deserialize)]
pub(crate) struct HeldFill {
    pub(crate) exec_id: String,
    pub(crate) qty: Qty,
}

/// A request as the venue saw it.
#[derive(Debug, Deserialize)]
pub(crate) struct SeenRequest {
    pub(crate) op: String,
    pub(crate) answered: bool,
}

/// A client of one control port.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    http: HttpClient,
    url: String,
}

impl Control {
    pub(crate) fn new(url: &str) -> Result<Self, Failure> {
        let http = HttpClient::new(HttpConfig::default())?;
        Ok(Self {
            http,
            url: url.to_owned(),
        })
    }

    /// Where it is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    async fn ask<T: DeserializeOwned>(&self, request: Request) -> Result<T, Failure> {
        let answer = self.http.send(request, None).await?;
        if answer.status() != 200 {
            let text = String::from_utf8_lossy(answer.body());
            return Err(format!("the control port answered {}: {text}", answer.status()).into());
        }
        Ok(serde_json::from_slice(answer.body())?)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.ask(Request::new(Method::Get, format!("{}{path}", self.url)))
            .await
    }

    async fn post(&self, path: &str, body: &Value) -> Result<(), Failure> {
        let request = Request::new(Method::Post, format!("{}{path}", self.url));
        let request = request
            .header("content-type", "application/json")
            .body(body.to_string());
        self.ask::<Value>(request).await?;
        Ok(())
    }

    pub(crate) async fn orders(&self) -> Result<Vec<HeldOrder>, Failure> {
        self.get("/orders").await
    }

    pub(crate) async fn fills(&self) -> Result<Vec<HeldFill>, Failure> {
        self.get("/fills").await
    }

    /// Creates that the venue has seen, oldest first.
    pub(crate) async fn creates(&self) -> Result<Vec<SeenRequest>, Failure> {
        let mut requests: Vec<SeenRequest> = self.get("/requests").await?;
        requests.retain(|request| request.op == "create");
        Ok(requests)
    }

    /// The venue's time, milliseconds.
    pub(crate) async fn now_ms(&self) -> Result<u64, Failure> {
        #[derive(Deserialize)]
        struct Clock {
            now_ms: u64,
        }
        Ok(self.get::<Clock>("/clock").await?.now_ms)
    }

    /// What happens to the next create.
    pub(crate) async fn fault_next_create(&self, what: &str, ms: u64) -> Result<(), Failure> {
        let fault = json!({ "op": "create", "nth": 1, "times": 1, "do": what, "ms": ms });
        self.post("/faults", &fault).await
    }

    /// Fills a resting order by so much.
    pub(crate) async fn fill(&self, wire_id: &str, qty: &str, price: &str) -> Result<(), Failure> {
        self.post(
            "/fill",
            &json!({ "cl_ord_id": wire_id, "qty": qty, "price": price }),
        )
        .await
    }
}

/// Waits until the answer is yes, up to the demo's patience.
pub(crate) async fn until<F>(what: &str, mut holds: impl FnMut() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<bool, Failure>>,
{
    let patience = tokio::time::Instant::now() + crate::PATIENCE;
    while !holds().await? {
        if tokio::time::Instant::now() >= patience {
            return Err(format!("waited in vain: {what}").into());
        }
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    Ok(())
}
