//! A simulated venue with its control port, and a place on disk for the journal.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use surefill_bybit::{Bybit, Keys};
use surefill_core::{
    Amount, ClOrdId, Cold, Decision, OrderIntent, RecoverError, Side, Store, StoreError,
};
use surefill_sim::bybit::{Config, Handle, start};
use surefill_store_sqlite::SqliteStore;
use surefill_store_sqlite::tap::Options;
use tempfile::TempDir;

use crate::bot::Bot;
use crate::server::keys;
use crate::world::timing;

/// No condition is waited for longer than this.
pub(crate) const BOUND: Duration = Duration::from_secs(20);

/// The name of the venue in the configuration.
pub(crate) const ALIAS: &str = "bybit-main";

/// What the market does with an order by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is far from the market.
    Rests,
    /// It crosses two levels of the book.
    Fills,
}

impl Fate {
    const fn terms(self) -> (&'static str, &'static str) {
        match self {
            Self::Rests => ("0.010", "50000.0"),
            Self::Fills => ("1.500", "60100.0"),
        }
    }
}

pub(crate) struct Stage {
    sim: Handle,
    dir: TempDir,
    streams: bool,
}

/// Nothing listens there.
const NOBODY: &str = "ws://127.0.0.1:1";

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with_stream(true).await
    }

    /// Bots reach no stream: what they know they have asked for.
    pub(crate) async fn without_stream() -> Self {
        Self::with_stream(false).await
    }

    pub(crate) async fn with_stream(streams: bool) -> Self {
        Self {
            sim: start(Config::default()).await.expect("a venue"),
            dir: TempDir::new().expect("a folder"),
            streams,
        }
    }

    pub(crate) fn url(&self) -> String {
        self.sim.url()
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.dir.path().join("orders.db")
    }

    pub(crate) fn venue(&self) -> Bybit {
        self.venue_of(keys())
    }

    pub(crate) fn venue_of(&self, keys: Keys) -> Bybit {
        let venue = Bybit::simulator(&self.sim.url(), keys).with_timing(timing());
        if self.streams {
            venue
        } else {
            venue.with_ws_url(NOBODY)
        }
    }

    /// A venue whose pushes are heard as well.
    pub(crate) fn streaming(&self) -> Bybit {
        Bybit::simulator(&self.sim.url(), keys()).with_timing(timing())
    }

    /// Opens the journal, once whoever died has let go of it.
    pub(crate) async fn open(&self) -> SqliteStore {
        self.open_with(Options::default).await
    }

    pub(crate) async fn open_with(
        &self,
        options: impl Fn() -> Options + Send + Sync,
    ) -> SqliteStore {
        let open = async || match SqliteStore::open_with(self.journal(), options()) {
            Ok(store) => Some(store),
            Err(StoreError::Held { .. }) => None,
            Err(error) => panic!("{error}"),
        };
        until("the journal is free", open).await
    }

    /// A bot over the journal on disk.
    pub(crate) async fn bot(&self) -> Bot {
        self.bot_over(self.open().await).await
    }

    pub(crate) async fn bot_over(&self, store: impl Store) -> Bot {
        Bot::start(Cold::new(store).venue(ALIAS, self.venue()))
            .await
            .expect("recovered")
    }

    /// A bot that trades through this adapter, over the journal on disk.
    pub(crate) async fn bot_at(&self, venue: Bybit) -> Bot {
        let cold = Cold::new(self.open().await).venue(ALIAS, venue);
        Bot::start(cold).await.expect("recovered")
    }

    /// A bot with other keys, over the journal on disk.
    pub(crate) async fn bot_of(&self, keys: Keys) -> Result<Bot, RecoverError> {
        let store = self.open().await;
        Bot::start(Cold::new(store).venue(ALIAS, self.venue_of(keys))).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let done = self.sim.control("POST", path, &body).await;
        done.unwrap_or_else(|error| panic!("{path} {body}: {error}"))
    }

    pub(crate) async fn fault(&self, op: &str, doing: &str, ms: u64) {
        self.faults(op, doing, ms, 1).await;
    }

    pub(crate) async fn faults(&self, op: &str, doing: &str, ms: u64, times: u64) {
        let fault = json!({"op": op, "do": doing, "ms": ms, "times": times});
        self.post("/faults", fault).await;
    }

    pub(crate) async fn no_more_faults(&self) {
        let done = self.sim.control("DELETE", "/faults", &Value::Null).await;
        done.expect("no faults");
    }

    /// Takes the order out of these lists.
    pub(crate) async fn hide(&self, id: ClOrdId, from: &[&str], ms: u64) {
        let body = json!({"cl_ord_id": id.to_string(), "from": from, "ms": ms});
        self.post("/hide", body).await;
    }

    /// Lets the lists show the order for so long as it is now.
    pub(crate) async fn stale(&self, id: ClOrdId, ms: u64) {
        let body = json!({"cl_ord_id": id.to_string(), "ms": ms});
        self.post("/stale", body).await;
    }

    /// Lets the sockets say everything again.
    pub(crate) async fn replay(&self) {
        self.post("/replay", json!({})).await;
    }

    /// Trades a part of a resting order.
    pub(crate) async fn fill(&self, id: ClOrdId, qty: &str) {
        let body = json!({"cl_ord_id": id.to_string(), "qty": qty});
        self.post("/fill", body).await;
    }

    /// `/orders`, `/fills`, `/positions` or `/requests`.
    pub(crate) async fn rows(&self, path: &str) -> Vec<Value> {
        let rows = self.sim.control("GET", path, &Value::Null).await;
        rows.expect("rows").as_array().expect("a list").clone()
    }

    /// Requests of a kind that reached the venue.
    pub(crate) async fn requests(&self, op: &str) -> Vec<Value> {
        let mut rows = self.rows("/requests").await;
        rows.retain(|row| row["op"] == op);
        rows
    }

    pub(crate) async fn creates(&self) -> usize {
        self.requests("create").await.len()
    }

    /// Orders at the venue, of any decision.
    pub(crate) async fn orders(&self) -> usize {
        self.rows("/orders").await.len()
    }

    /// Waits until that many requests of a kind have come.
    pub(crate) async fn asked(&self, op: &str, times: usize) {
        let come = async || (self.requests(op).await.len() >= times).then_some(());
        until(&format!("{times} requests to {op}"), come).await;
    }

    /// Waits until that many orders live or lived.
    pub(crate) async fn placed(&self, times: usize) {
        let there = async || (self.orders().await >= times).then_some(());
        until(&format!("{times} orders"), there).await;
    }

    /// The venue's time.
    pub(crate) async fn now_ms(&self) -> u64 {
        let clock = self.sim.control("GET", "/clock", &Value::Null).await;
        clock.expect("a clock")["now_ms"].as_u64().expect("ms")
    }

    /// Waits until the venue's clock has come so far.
    pub(crate) async fn reach(&self, ms: u64) {
        let there = async || (self.now_ms().await >= ms).then_some(());
        until("the venue's clock", there).await;
    }

    /// A decision of now.
    pub(crate) async fn intent(&self, strategy: &str, fate: Fate) -> OrderIntent {
        Self::intent_of(strategy, self.now_ms().await, fate)
    }

    pub(crate) fn intent_of(strategy: &str, decided_at: u64, fate: Fate) -> OrderIntent {
        let (qty, price) = fate.terms();
        OrderIntent::limit(
            Decision::new(strategy, decided_at),
            ALIAS,
            "BTCUSDT",
            Side::Buy,
            Amount::Base(qty.parse().expect("qty")),
            price.parse().expect("px"),
        )
    }
}

/// The id that an intent of the account 1001 has.
pub(crate) fn id_of(intent: &OrderIntent) -> ClOrdId {
    let account = surefill_core::AccountId::new("bybit", "simulator", "1001");
    ClOrdId::derive(&intent.decision, &account, &intent.symbol, intent.side)
}

/// Waits for a condition, with a bound against hanging.
pub(crate) async fn until<T>(what: &str, mut met: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = tokio::time::Instant::now() + BOUND;
    loop {
        if let Some(met) = met().await {
            return met;
        }
        assert!(tokio::time::Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
