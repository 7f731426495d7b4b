//! Faults that other bots met in public, each as one scenario over the wire; the number is its row in the list of reports. Lags of
//! seconds and minutes are scaled to the short timing of these tests, past what the adapter assumes.
//!
//! Each ends with the referee: one order for a decision at most, the venue's state, fills booked once each, and no send under a halt.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rust_decimal::Decimal;
use serde_json::{Value, json};
use surefill_core::{
    Amount, ClOrdId, Decision, Engine, Journal, MemoryStore, NonceScope, Nonces, OrdState,
    OrderFilter, OrderIntent, OrderRecord, PlaceError, Side, TimeInForce, VenueTime,
};
use surefill_hyperliquid::Hyperliquid;
use surefill_sim::hyperliquid::{Config, Handle, start};

use crate::book::{Fault, Venue, keys};
use crate::server::Reply;
use crate::world::{self, TIMING, engine_with, row, store, until, until_state};

/// No condition is waited for longer than this.
const BOUND: Duration = Duration::from_secs(20);

/// A simulated venue and the journal of a bot that may die.
struct Stage {
    sim: Handle,
    store: Mutex<Arc<MemoryStore>>,
}

impl Stage {
    async fn new() -> Self {
        Self {
            sim: start(Config::default()).await.expect("a venue"),
            store: Mutex::new(store()),
        }
    }

    /// A bot over the journal; what it knows it has asked for.
    async fn bot(&self) -> Engine {
        self.bot_at(self.venue().without_stream()).await
    }

    async fn bot_at(&self, venue: Hyperliquid) -> Engine {
        let store = Arc::clone(&self.store.lock().expect("lock"));
        engine_with(venue, &store).await
    }

    /// The bot is dead, and its journal is what the next one opens.
    fn crashed(&self, bot: Engine) {
        let mut store = self.store.lock().expect("lock");
        *store = Arc::new(store.crash());
        drop(bot);
    }

    fn venue(&self) -> Hyperliquid {
        Hyperliquid::simulator(&self.sim.url(), keys()).with_timing(TIMING)
    }

    async fn post(&self, path: &str, body: Value) {
        let done = self.sim.control("POST", path, &body).await;
        done.unwrap_or_else(|error| panic!("{path} {body}: {error}"));
    }

    async fn fault(&self, op: &str, doing: &str, times: u64) {
        let fault = json!({"op": op, "do": doing, "ms": 0, "times": times});
        self.post("/faults", fault).await;
    }

    async fn no_more_faults(&self) {
        let done = self.sim.control("DELETE", "/faults", &Value::Null).await;
        done.expect("no faults");
    }

    async fn hide(&self, id: ClOrdId, from: &[&str], ms: u64) {
        let body = json!({"cl_ord_id": id.to_string(), "from": from, "ms": ms});
        self.post("/hide", body).await;
    }

    async fn fill(&self, id: ClOrdId, qty: &str) {
        let body = json!({"cl_ord_id": id.to_string(), "qty": qty});
        self.post("/fill", body).await;
    }

    async fn rows(&self, path: &str) -> Vec<Value> {
        let rows = self.sim.control("GET", path, &Value::Null).await;
        rows.expect("rows").as_array().expect("a list").clone()
    }

    async fn creates(&self) -> Vec<Value> {
        let mut rows = self.rows("/requests").await;
        rows.retain(|row| row["op"] == "create");
        rows
    }

    /// Bodies of the creates that came: each is one signature.
    async fn signatures(&self) -> usize {
        let creates = self.creates().await;
        let bodies = creates.iter().map(|row| row["body_sha256"].to_string());
        bodies.collect::<HashSet<_>>().len()
    }

    async fn placed(&self, times: usize) {
        eventually("orders", async || self.rows("/orders").await.len() >= times).await;
    }

    async fn now_ms(&self) -> u64 {
        let clock = self.sim.control("GET", "/clock", &Value::Null).await;
        clock.expect("a clock")["now_ms"].as_u64().expect("ms")
    }

    async fn intent(&self, strategy: &str, price: &str) -> OrderIntent {
        let amount = Amount::Base("0.03".parse().expect("qty"));
        let decision = Decision::new(strategy, self.now_ms().await);
        let price = price.parse().expect("px");
        OrderIntent::limit(decision, "v", "BTC", Side::Buy, amount, price)
    }

    async fn market(&self, strategy: &str) -> OrderIntent {
        let limit = self.intent(strategy, RESTS).await;
        OrderIntent::market(limit.decision, "v", "BTC", Side::Buy, limit.amount)
    }

    /// Waits until venue and journal tell one story, and stops the bot.
    async fn judge(&self, bot: Engine) -> Vec<OrderRecord> {
        let deadline = tokio::time::Instant::now() + BOUND;
        while let Err(why) = self.agree(&bot).await {
            assert!(tokio::time::Instant::now() < deadline, "{why}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let rows = all(&bot).await;
        bot.shutdown(Duration::from_secs(10)).await.expect("a stop");
        rows
    }

    async fn agree(&self, bot: &Engine) -> Result<(), String> {
        let there = self.rows("/orders").await;
        let fills_there = self.rows("/fills").await;
        let rows = all(bot).await;
        for row in &rows {
            let id = row.id.to_string();
            let orders: Vec<&Value> = there.iter().filter(|o| o["cl_ord_id"] == id).collect();
            assert!(orders.len() <= 1, "two orders for one decision: {orders:?}");
            let (word, cum_qty) = orders.first().map_or(("none", Decimal::ZERO), |order| {
                let cum_qty = order["cum_qty"].as_str().expect("text");
                (
                    order["status"].as_str().expect("text"),
                    cum_qty.parse().expect("a number"),
                )
            });
            let right = match row.state {
                OrdState::Acked => word == "new",
                OrdState::Partial => word == "partially_filled",
                OrdState::Filled => word == "filled",
                OrdState::Canceled | OrdState::Rejected => {
                    ["none", "canceled", "rejected", "expired"].contains(&word)
                }
                OrdState::Pending
                | OrdState::Submitted
                | OrdState::Unknown
                | OrdState::Reconciling => false,
            };
            let booked = bot.fills(row.id).await.expect("fills");
            let here: BTreeMap<String, Decimal> = booked
                .iter()
                .map(|fill| (fill.exec_id.to_string(), fill.last_qty.value()))
                .collect();
            assert_eq!(here.len(), booked.len(), "a fill is booked twice");
            let mine = |fill: &&Value| {
                orders
                    .iter()
                    .any(|order| order["order_id"] == fill["order_id"])
            };
            let truth: BTreeMap<String, Decimal> = fills_there
                .iter()
                .filter(mine)
                .map(|fill| {
                    let qty = fill["qty"].as_str().expect("text");
                    let id = fill["exec_id"].as_str().expect("text");
                    (id.to_owned(), qty.parse().expect("a number"))
                })
                .collect();
            let sum: Decimal = here.values().sum();
            let told = row.cum_qty.value() == cum_qty && sum == cum_qty && here == truth;
            if !right || !told || row.fills_owed() {
                return Err(format!("{row:?}\nthe venue: {orders:?} {truth:?}"));
            }
        }
        let known: BTreeSet<String> = rows.iter().map(|row| row.id.to_string()).collect();
        for order in &there {
            let id = order["cl_ord_id"].as_str().unwrap_or_default();
            assert!(known.contains(id), "not in the journal: {order}");
        }
        match bot.halts().into_iter().next() {
            None => Ok(()),
            Some(halt) => Err(format!("still halted: {halt:?}")),
        }
    }

    /// A new decision in the same symbol is refused, because of doubt or of its halt, and nothing leaves.
    async fn blocked(&self, bot: &Engine, strategy: &str) {
        let before = self.creates().await.len();
        let refused = bot.place(self.intent(strategy, RESTS).await).await;
        assert!(
            matches!(
                refused,
                Err(PlaceError::Doubt { .. } | PlaceError::Halted(_))
            ),
            "{refused:?}"
        );
        // The order in doubt may be replayed meanwhile, byte for byte.
        let creates = self.creates().await;
        let bodies = |rows: &[Value]| -> HashSet<String> {
            rows.iter()
                .map(|row| row["body_sha256"].to_string())
                .collect()
        };
        assert_eq!(bodies(&creates[..before]), bodies(&creates));
    }
}

/// A price far from the market.
const RESTS: &str = "50000";

/// A price that crosses the book.
const FILLS: &str = "60100";

/// All the lists in which an order can show.
const LISTS: [&str; 3] = ["open", "closed", "fills"];

async fn all(bot: &Engine) -> Vec<OrderRecord> {
    let rows = bot.orders(&OrderFilter::default()).await;
    rows.expect("readable")
}

async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + BOUND;
    while !holds().await {
        assert!(tokio::time::Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A market order whose answer is lost was reported as failed; the strategy asks again, and both fill.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_03_a_market_order_reported_failed() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    stage.fault("create", "reset_after", 1).await;
    let intent = stage.market("first").await;
    let first = row(&bot.place(intent.clone()).await.expect("placed"));
    let again = row(&bot.place(intent.clone()).await.expect("placed"));
    assert_eq!(again.id, first.id);
    until_state(&bot, &first, OrdState::Filled).await;
    let after = row(&bot.place(intent).await.expect("placed"));
    assert_eq!((after.id, after.state), (first.id, OrdState::Filled));
    let rows = stage.judge(bot).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(stage.rows("/orders").await.len(), 1);
    assert_eq!(stage.signatures().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn scenario_05_lost_each_cycle() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    for cycle in 1..=3 {
        stage.fault("create", "drop_answer", 100_000).await;
        stage.fault("lookup", "reset_before", 100_000).await;
        stage.fault("open_orders", "reset_before", 100_000).await;
        stage.fault("fills", "reset_before", 100_000).await;
        let intent = stage.intent(&format!("cycle-{cycle}"), RESTS).await;
        let order = row(&bot.place(intent.clone()).await.expect("placed"));
        assert!(order.state.is_doubt(), "{order:?}");
        // A lost one still blocks, and is what its own decision gets.
        stage.blocked(&bot, "again").await;
        let same = row(&bot.place(intent).await.expect("the same"));
        assert_eq!(same.id, order.id);
        stage.no_more_faults().await;
        until_state(&bot, &order, OrdState::Acked).await;
    }
    stage.judge(bot).await;
    assert_eq!(stage.rows("/orders").await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn scenario_06_known_after_a_restart() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", RESTS).await;
    let order = row(&bot.place(intent).await.expect("placed"));
    stage.crashed(bot);
    let bot = stage.bot().await;
    bot.cancel(order.id).await.expect("known");
    until_state(&bot, &order, OrdState::Canceled).await;
    stage.judge(bot).await;
    assert_eq!(stage.creates().await.len(), 1);
}

/// The cancel is lost and no lookup answers: the order lives, and fills.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_07_a_cancel_in_an_outage() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", RESTS).await;
    let order = row(&bot.place(intent).await.expect("placed"));
    for op in ["cancel", "lookup", "open_orders", "fills"] {
        stage.fault(op, "reset_before", 100_000).await;
    }
    bot.cancel(order.id).await.expect("asked");
    stage.fill(order.id, "0.03").await;
    let before = stage.rows("/requests").await.len();
    eventually("looks in vain", async || {
        stage.rows("/requests").await.len() > before + 4
    })
    .await;
    let meanwhile = bot.order(order.id).await.expect("readable");
    let meanwhile = meanwhile.expect("known").latest();
    assert!(!meanwhile.state.is_terminal(), "{meanwhile:?}");
    stage.no_more_faults().await;
    until_state(&bot, &order, OrdState::Filled).await;
    stage.judge(bot).await;
    assert_eq!(stage.rows("/orders").await.len(), 1);
}

/// The answer is lost, and the order has left the list of open orders before anybody looks. The venue would take its id again.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_15_filled_before_the_check_and_the_id_is_free() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    stage.fault("create", "reset_after", 1).await;
    let intent = stage.intent("first", FILLS).await;
    let order = row(&bot.place(intent).await.expect("placed"));
    until_state(&bot, &order, OrdState::Filled).await;
    stage.judge(bot).await;
    assert_eq!(stage.rows("/orders").await.len(), 1);
    assert_eq!(stage.signatures().await, 1);
}

/// Five answers in a row would be lost: what is sent again are the same bytes, of which one is taken.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_16_no_ordering_again() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    stage.fault("create", "reset_after", 5).await;
    let intent = stage.intent("first", FILLS).await;
    let order = row(&bot.place(intent).await.expect("placed"));
    until_state(&bot, &order, OrdState::Filled).await;
    stage.no_more_faults().await;
    stage.judge(bot).await;
    assert_eq!(stage.rows("/orders").await.len(), 1);
    assert_eq!(stage.signatures().await, 1);
}

/// `orderStatus` says `unknownOid` for an order that the list of open orders shows: the index by id is behind.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_19_not_known_by_id_and_in_the_open_list() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    stage
        .post("/venue", json!({"lookup_lag_ms": 600_000}))
        .await;
    stage.fault("create", "reset_after", 1).await;
    let intent = stage.intent("first", RESTS).await;
    let order = row(&bot.place(intent).await.expect("placed"));
    let acked = until_state(&bot, &order, OrdState::Acked).await;
    let there = stage.rows("/orders").await;
    assert_eq!(there[0]["order_id"], acked.order_ids[0].as_str());
    stage.judge(bot).await;
    assert_eq!(stage.rows("/orders").await.len(), 1);
    assert_eq!(stage.signatures().await, 1);
}

/// An `ok` that names no order, neither resting, nor filled, nor refused, is doubt: whether there is an order or none, one in the end.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_20_an_ok_without_a_status() {
    let vague = || {
        let statuses = json!({"type": "order", "data": {"statuses": []}});
        Reply::Json(json!({"status": "ok", "response": statuses}))
    };
    for fault in [Fault::Lost(vague()), Fault::TakenThen(vague())] {
        let (venue, store) = (Venue::start().await, store());
        venue.faulty([fault.clone()]);
        let bot = world::engine(&venue, &store).await;
        let order = row(&bot.place(world::intent(0)).await.expect("placed"));
        assert!(!order.state.is_terminal(), "{fault:?}: {order:?}");
        until_state(&bot, &order, OrdState::Acked).await;
        assert_eq!(venue.placed(), 1, "{fault:?}");
        assert!(bot.halts().is_empty());
    }
}

/// A hundred nonces in one millisecond, by two processes one after the other that share a journal.
#[tokio::test]
async fn scenario_21_a_hundred_nonces_in_one_millisecond() {
    let now = VenueTime::from_ms(1_767_225_600_000);
    let store = Arc::new(MemoryStore::new(now));
    let mut seen = BTreeSet::new();
    for _process in 0..2 {
        let journal = Journal::new(Arc::<MemoryStore>::clone(&store));
        let nonces = Nonces::new(journal, NonceScope("a signer".into()));
        for _ in 0..50 {
            let nonce = nonces.next(now).await.expect("a nonce");
            assert!(seen.last().is_none_or(|last| *last < nonce), "{nonce}");
            seen.insert(nonce);
        }
    }
    assert_eq!(seen.len(), 100);
}

/// Bots that place at once: none is refused for a nonce that another one used.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_21_orders_at_once_share_no_nonce() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let placing = (0..20).map(|n| {
        let (bot, stage) = (bot.clone(), &stage);
        async move {
            let intent = stage.intent(&format!("s{n}"), RESTS).await;
            row(&bot.place(intent).await.expect("placed"))
        }
    });
    for order in futures_util::future::join_all(placing).await {
        assert_eq!(order.state, OrdState::Acked, "{order:?}");
    }
    stage.judge(bot).await;
    assert_eq!(stage.rows("/orders").await.len(), 20);
    assert_eq!(stage.signatures().await, 20);
}

/// The cancel is answered with an error, by a gateway or by the venue, and the order had filled just before.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_29_a_failed_cancel_of_a_filled_order() {
    for doing in ["status:500", "act_then_status:502", "reset_after"] {
        let stage = Stage::new().await;
        let bot = stage.bot().await;
        let intent = stage.intent("first", RESTS).await;
        let order = row(&bot.place(intent.clone()).await.expect("placed"));
        stage.hide(order.id, &LISTS, 400).await;
        stage.fault("cancel", doing, 1).await;
        stage.fill(order.id, "0.03").await;
        bot.cancel(order.id).await.expect("asked");
        // What is asked again is the same order.
        assert_eq!(row(&bot.place(intent).await.expect("placed")).id, order.id);
        until_state(&bot, &order, OrdState::Filled).await;
        stage.judge(bot).await;
        assert_eq!(stage.rows("/orders").await.len(), 1, "{doing}");
        assert_eq!(stage.creates().await.len(), 1, "{doing}");
    }
}

/// Acked, and then not found for nine times the lag that the adapter assumes.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_30_acked_and_not_found() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    let intent = stage.intent("first", RESTS).await;
    let order = row(&bot.place(intent.clone()).await.expect("placed"));
    stage.hide(order.id, &LISTS, 900).await;
    let shown = stage.now_ms().await + 900;
    while stage.now_ms().await < shown {
        let same = row(&bot.place(intent.clone()).await.expect("the same"));
        assert_eq!(same.id, order.id);
        assert!(!same.state.is_terminal(), "{same:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stage.judge(bot).await;
    assert_eq!(stage.creates().await.len(), 1);
}

/// The process dies after the send: the row was there before it.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_34_killed_after_the_send() {
    let stage = Stage::new().await;
    let bot = stage.bot().await;
    stage.fault("create", "drop_answer", 1).await;
    let intent = stage.intent("first", RESTS).await;
    let placing = tokio::spawn({
        let (bot, intent) = (bot.clone(), intent.clone());
        async move { drop(bot.place(intent).await) }
    });
    stage.placed(1).await;
    placing.abort();
    stage.crashed(bot);
    let bot = stage.bot().await;
    let order = row(&bot.place(intent).await.expect("the same"));
    until(&bot, &order, "found", |row| row.state == OrdState::Acked).await;
    stage.judge(bot).await;
    assert_eq!(stage.rows("/orders").await.len(), 1);
    assert_eq!(stage.signatures().await, 1);
}

/// Each fill is told by the stream twice, by the lists, and by the lists again after each restart.
#[tokio::test(flavor = "multi_thread")]
async fn scenario_11_a_restart_replays_fills() {
    let stage = Stage::new().await;
    let bot = stage.bot_at(stage.venue()).await;
    stage.fault("stream", "stream_duplicate", 100_000).await;
    let intent = OrderIntent {
        time_in_force: TimeInForce::PostOnly,
        ..stage.intent("first", RESTS).await
    };
    let order = row(&bot.place(intent).await.expect("placed"));
    stage.crashed(bot);
    for fills in 1..=3 {
        stage.fill(order.id, "0.01").await;
        let bot = stage.bot_at(stage.venue()).await;
        let booked = async || bot.fills(order.id).await.expect("fills").len() == fills;
        eventually("booked", booked).await;
        stage.crashed(bot);
    }
    stage.no_more_faults().await;
    let bot = stage.bot_at(stage.venue()).await;
    let rows = stage.judge(bot).await;
    assert_eq!(rows[0].state, OrdState::Filled);
    assert_eq!(stage.rows("/fills").await.len(), 3);
}
