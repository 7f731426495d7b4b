//! The simulated Hyperliquid on which bots play.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use surefill_core::{AccountId, Amount, ClOrdId, Decision, OrderIntent, Side};
use surefill_hyperliquid::Hyperliquid;
use surefill_referee::{Bot, Fate, Simulated, settled, until};
use surefill_sim::hyperliquid::{Config, Handle, start};

use crate::book::keys;
use crate::world::TIMING;

/// The name of the venue in the configuration.
pub(crate) const ALIAS: &str = "hyperliquid-main";

/// A simulated venue with its control port, and a place on disk for the journal.
pub(crate) type Stage = surefill_referee::Stage<Simulator>;

pub(crate) struct Simulator(Handle);

/// Nothing listens there.
const NOBODY: &str = "ws://127.0.0.1:1";

impl Simulator {
    pub(crate) fn url(&self) -> String {
        self.0.url()
    }

    /// The adapter over this address.
    pub(crate) fn adapter_at(url: &str, streams: bool) -> Hyperliquid {
        let venue = Hyperliquid::simulator(url, keys()).with_timing(TIMING);
        if streams {
            venue
        } else {
            venue.with_ws_url(NOBODY)
        }
    }
}

#[async_trait]
impl Simulated for Simulator {
    type Adapter = Hyperliquid;

    const ALIAS: &'static str = ALIAS;

    async fn start() -> Self {
        Self(start(Config::default()).await.expect("a venue"))
    }

    async fn control(&self, method: &str, target: &str, body: &Value) -> Result<Value, String> {
        let done = self.0.control(method, target, body).await;
        done.map_err(|error| error.to_string())
    }

    fn adapter(&self, streams: bool) -> Hyperliquid {
        Self::adapter_at(&self.url(), streams)
    }

    fn account() -> AccountId {
        AccountId::new("hyperliquid", "simulator", &keys().signer().to_string())
    }

    fn intent(strategy: &str, decided_at: u64, fate: Fate) -> OrderIntent {
        let (qty, price) = match fate {
            Fate::Rests => ("0.010", "50000"),
            Fate::Fills => ("1.5", "60100"),
        };
        OrderIntent::limit(
            Decision::new(strategy, decided_at),
            ALIAS,
            "BTC",
            Side::Buy,
            Amount::Base(qty.parse().expect("qty")),
            price.parse().expect("px"),
        )
    }
}

/// The id that an intent has.
pub(crate) fn id_of(intent: &OrderIntent) -> ClOrdId {
    Stage::id_of(intent)
}

/// Waits until pushes are heard: an order of its own trades in small steps until one of them came over the stream.
pub(crate) async fn listens(stage: &Stage, bot: &Bot, probe: &str) {
    let intent = stage.intent(probe, Fate::Rests).await;
    let id = id_of(&intent);
    settled(&bot.order(intent).await).await;
    stage.fault("stream", "stream_duplicate", 0).await;
    let mut wait = Duration::from_millis(50);
    for _ in 0..9 {
        stage.fill(id, "0.001").await;
        let all = async || stage.rows("/faults").await.is_empty().then_some(());
        if tokio::time::timeout(wait, until("a push", all))
            .await
            .is_ok()
        {
            return;
        }
        wait *= 2;
    }
    panic!("nobody listens");
}

/// Market orders of the same size as an order that rests.
pub(crate) fn market(intent: OrderIntent) -> OrderIntent {
    OrderIntent::market(
        intent.decision,
        intent.venue,
        intent.symbol,
        intent.side,
        intent.amount,
    )
}

/// What only this venue has.
pub(crate) async fn venue(stage: &Stage, settings: Value) {
    stage.post("/venue", settings).await;
}

/// The order is on no list of open orders, and its index by id is behind for good: what closed and what traded is all that shows it.
pub(crate) async fn only_in_history(stage: &Stage, id: ClOrdId) {
    venue(stage, json!({"lookup_lag_ms": 600_000})).await;
    stage.hide(id, &["open"], 600_000).await;
}
