//! A simulated venue with its control port, and a place on disk for the journal.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use surefill_core::{ClOrdId, Cold, OrderIntent, PlaceError, RecoverError, Store, StoreError};
use surefill_store_sqlite::SqliteStore;
use surefill_store_sqlite::tap::Options;
use tempfile::TempDir;

use crate::bot::Bot;
use crate::simulated::{Fate, Simulated};

/// No condition is waited for longer than this.
pub const BOUND: Duration = Duration::from_secs(20);

/// All the lists in which an order can show.
pub const LISTS: [&str; 3] = ["open", "closed", "fills"];

/// The venue, and the folder of the journal.
#[derive(Debug)]
pub struct Stage<V> {
    /// The simulated venue.
    pub sim: V,
    dir: TempDir,
    streams: bool,
}

impl<V: Simulated> Stage<V> {
    /// Bots hear the stream.
    pub async fn new() -> Self {
        Self::with_stream(true).await
    }

    /// Bots reach no stream: what they know they have asked for.
    pub async fn without_stream() -> Self {
        Self::with_stream(false).await
    }

    /// Either of them.
    pub async fn with_stream(streams: bool) -> Self {
        Self {
            sim: V::start().await,
            dir: TempDir::new().expect("a folder"),
            streams,
        }
    }

    /// The file of the journal.
    pub fn journal(&self) -> PathBuf {
        self.dir.path().join("orders.db")
    }

    /// The adapter of the bots here.
    pub fn venue(&self) -> V::Adapter {
        self.sim.adapter(self.streams)
    }

    /// An adapter that hears pushes.
    pub fn streaming(&self) -> V::Adapter {
        self.sim.adapter(true)
    }

    /// Opens the journal, once whoever died has let go of it.
    pub async fn open(&self) -> SqliteStore {
        self.open_with(Options::default).await
    }

    /// Opens the journal in this way.
    pub async fn open_with(&self, options: impl Fn() -> Options + Send + Sync) -> SqliteStore {
        let open = async || match SqliteStore::open_with(self.journal(), options()) {
            Ok(store) => Some(store),
            Err(StoreError::Held { .. }) => None,
            Err(error) => panic!("{error}"),
        };
        until("the journal is free", open).await
    }

    /// A bot over the journal on disk.
    pub async fn bot(&self) -> Bot {
        self.bot_over(self.open().await).await
    }

    /// A bot over this store.
    pub async fn bot_over(&self, store: impl Store) -> Bot {
        Bot::start(Cold::new(store).venue(V::ALIAS, self.venue()))
            .await
            .expect("recovered")
    }

    /// A bot that trades through this adapter, over the journal on disk.
    pub async fn bot_at(&self, venue: impl surefill_core::Connect) -> Bot {
        self.try_bot_at(venue).await.expect("recovered")
    }

    /// The same, which may be refused.
    ///
    /// # Errors
    /// As [`Cold::recover`].
    pub async fn try_bot_at(
        &self,
        venue: impl surefill_core::Connect,
    ) -> Result<Bot, RecoverError> {
        Bot::start(Cold::new(self.open().await).venue(V::ALIAS, venue)).await
    }

    /// Posts to the control port.
    pub async fn post(&self, path: &str, body: Value) -> Value {
        let done = self.sim.control("POST", path, &body).await;
        done.unwrap_or_else(|error| panic!("{path} {body}: {error}"))
    }

    /// Meets the next request of this kind.
    pub async fn fault(&self, op: &str, doing: &str, ms: u64) {
        self.faults(op, doing, ms, 1).await;
    }

    /// Meets the next requests of this kind, so many in a row.
    pub async fn faults(&self, op: &str, doing: &str, ms: u64, times: u64) {
        let fault = json!({"op": op, "do": doing, "ms": ms, "times": times});
        self.post("/faults", fault).await;
    }

    /// No read about orders is answered any more.
    pub async fn blind(&self) {
        for op in ["lookup", "open_orders", "fills"] {
            self.faults(op, "reset_before", 0, 100_000).await;
        }
    }

    /// Takes every fault back.
    pub async fn no_more_faults(&self) {
        let done = self.sim.control("DELETE", "/faults", &Value::Null).await;
        done.expect("no faults");
    }

    /// Waits until every fault was met.
    pub async fn met(&self) {
        let none = async || self.rows("/faults").await.is_empty().then_some(());
        until("the faults are met", none).await;
    }

    /// Takes the order out of these lists.
    pub async fn hide(&self, id: ClOrdId, from: &[&str], ms: u64) {
        let body = json!({"cl_ord_id": id.to_string(), "from": from, "ms": ms});
        self.post("/hide", body).await;
    }

    /// Lets every list show the order again.
    pub async fn show(&self, id: ClOrdId) {
        self.hide(id, &LISTS, 0).await;
    }

    /// Lets the lists show the order for so long as it is now.
    pub async fn stale(&self, id: ClOrdId, ms: u64) {
        let body = json!({"cl_ord_id": id.to_string(), "ms": ms});
        self.post("/stale", body).await;
    }

    /// Lets the sockets say everything again.
    pub async fn replay(&self) {
        self.post("/replay", json!({})).await;
    }

    /// Trades a part of a resting order.
    pub async fn fill(&self, id: ClOrdId, qty: &str) {
        let body = json!({"cl_ord_id": id.to_string(), "qty": qty});
        self.post("/fill", body).await;
    }

    /// `/orders`, `/fills`, `/positions` or `/requests`.
    pub async fn rows(&self, path: &str) -> Vec<Value> {
        let rows = self.sim.control("GET", path, &Value::Null).await;
        rows.expect("rows").as_array().expect("a list").clone()
    }

    /// The same of the account that bots trade for.
    pub async fn ours(&self, path: &str) -> Vec<Value> {
        let account = V::account();
        let account = account.as_str().rsplit(':').next().expect("a part");
        let mut rows = self.rows(path).await;
        rows.retain(|row| row["account"] == account);
        rows
    }

    /// Requests of a kind that reached the venue.
    pub async fn requests(&self, op: &str) -> Vec<Value> {
        let mut rows = self.rows("/requests").await;
        rows.retain(|row| row["op"] == op);
        rows
    }

    /// How many creates came.
    pub async fn creates(&self) -> usize {
        self.requests("create").await.len()
    }

    /// The bodies of the creates that came, as hashes: each is one signed attempt, however often it was sent.
    pub async fn bodies(&self) -> BTreeSet<String> {
        let creates = self.requests("create").await;
        let sent = creates.iter().filter_map(|row| row["body_sha256"].as_str());
        sent.map(str::to_owned).collect()
    }

    /// Orders at the venue, of any decision.
    pub async fn orders(&self) -> usize {
        self.rows("/orders").await.len()
    }

    /// Waits until that many requests of a kind have come.
    pub async fn asked(&self, op: &str, times: usize) {
        let come = async || (self.requests(op).await.len() >= times).then_some(());
        until(&format!("{times} requests to {op}"), come).await;
    }

    /// Waits until that many orders live or lived.
    pub async fn placed(&self, times: usize) {
        let there = async || (self.orders().await >= times).then_some(());
        until(&format!("{times} orders"), there).await;
    }

    /// Waits until each create that came is answered.
    pub async fn answered(&self) {
        until("the answer", async || {
            let creates = self.requests("create").await;
            let answered = creates.iter().all(|row| row["answered"] == true);
            answered.then_some(())
        })
        .await;
    }

    /// A new decision in the same symbol is refused, because of doubt or of its halt, and nothing is signed for it.
    pub async fn blocked(&self, bot: &Bot, strategy: &str) {
        let before = self.bodies().await;
        let refused = bot.place(self.intent(strategy, Fate::Rests).await).await;
        assert!(
            matches!(
                refused,
                Err(PlaceError::Doubt { .. } | PlaceError::Halted(_))
            ),
            "{refused:?}"
        );
        assert_eq!(self.bodies().await, before);
    }

    /// The venue's time.
    pub async fn now_ms(&self) -> u64 {
        let clock = self.sim.control("GET", "/clock", &Value::Null).await;
        clock.expect("a clock")["now_ms"].as_u64().expect("ms")
    }

    /// Waits until the venue's clock has come so far.
    pub async fn reach(&self, ms: u64) {
        let there = async || (self.now_ms().await >= ms).then_some(());
        until("the venue's clock", there).await;
    }

    /// A decision of now.
    pub async fn intent(&self, strategy: &str, fate: Fate) -> OrderIntent {
        V::intent(strategy, self.now_ms().await, fate)
    }

    /// A decision of then.
    pub fn intent_of(strategy: &str, decided_at: u64, fate: Fate) -> OrderIntent {
        V::intent(strategy, decided_at, fate)
    }

    /// The id that an intent has.
    pub fn id_of(intent: &OrderIntent) -> ClOrdId {
        ClOrdId::derive(&intent.decision, &V::account(), &intent.symbol, intent.side)
    }
}

/// Waits for a condition, with a bound against hanging.
pub async fn until<T>(what: &str, mut met: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = tokio::time::Instant::now() + BOUND;
    loop {
        if let Some(met) = met().await {
            return met;
        }
        assert!(tokio::time::Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
