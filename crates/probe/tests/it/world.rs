//! A simulated Bybit, its adapter, and a referee that looks at what the venue holds.

use std::sync::Arc;

use serde_json::{Value, json};
use surefill_bybit::{Bybit, Category, Keys, Timing};
use surefill_core::Connect;
use surefill_probe::{HttpControl, Network, Options, ProbeError, Report, probe};
use surefill_sim::bybit::{Config, Handle, start};
use tokio_util::sync::CancellationToken;

pub(crate) fn keys() -> Keys {
    Keys::hmac("SUREFILLFAKEKEY001", "fakefakefakefakefakefakefakefake0001").expect("keys")
}

pub(crate) fn timing() -> Timing {
    Timing {
        receive_window_ms: 1_000,
        visibility_lag_ms: 150,
        drain_ms: 50,
        margin_ms: 100,
        watch_ms: 1_000,
    }
}

pub(crate) struct World {
    pub(crate) sim: Handle,
}

impl World {
    pub(crate) async fn new() -> Self {
        let sim = start(Config::default()).await.expect("a simulator");
        Self { sim }
    }

    pub(crate) async fn post(&self, target: &str, body: Value) {
        let done = self.sim.control("POST", target, &body).await;
        done.unwrap_or_else(|error| panic!("{target}: {error}"));
    }

    pub(crate) async fn get(&self, target: &str) -> Vec<Value> {
        let rows = self.sim.control("GET", target, &Value::Null).await;
        rows.expect("rows").as_array().expect("a list").clone()
    }

    pub(crate) fn bybit(&self, category: Category) -> Bybit {
        Bybit::simulator(&self.sim.url(), keys())
            .with_timing(timing())
            .with_category(category)
            .without_stream()
    }

    pub(crate) fn options(&self) -> Options {
        let control = HttpControl::new(&self.sim.control_url()).expect("a client");
        Options {
            sim: Some(Arc::new(control)),
            ..Options::new("sim", Network::Simulator)
        }
    }

    pub(crate) async fn probe(&self, connect: impl Connect) -> Result<Report, ProbeError> {
        probe(Box::new(connect), self.options(), &CancellationToken::new()).await
    }

    /// How many creates reached the venue.
    pub(crate) async fn creates(&self) -> usize {
        let rows = self.get("/requests").await;
        rows.iter().filter(|row| row["op"] == "create").count()
    }

    /// Nothing is open, no position is left, and no fault waits.
    pub(crate) async fn is_clean(&self) {
        for order in self.get("/orders").await {
            let status = order["status"].as_str().expect("a status");
            assert!(matches!(status, "filled" | "canceled"), "left: {order}");
        }
        for position in self.get("/positions").await {
            assert_eq!(position["qty"], "0", "left: {position}");
        }
        let faults = self.get("/faults").await;
        assert!(faults.is_empty(), "{faults:?}");
    }

    pub(crate) async fn rule(&self, word: &str) {
        self.post("/rules", json!({"duplicate": word, "window": 10_000}))
            .await;
    }
}
