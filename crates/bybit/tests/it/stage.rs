//! The simulated Bybit on which bots play.

use async_trait::async_trait;
use serde_json::Value;
use surefill_bybit::{Bybit, Keys};
use surefill_core::{AccountId, Amount, ClOrdId, Decision, OrderIntent, Side};
use surefill_referee::Simulated;
pub(crate) use surefill_referee::{BOUND, Fate, until};
use surefill_sim::bybit::{Config, Handle, start};

use crate::server::keys;
use crate::world::timing;

/// The name of the venue in the configuration.
pub(crate) const ALIAS: &str = "bybit-main";

/// A simulated venue with its control port, and a place on disk for the journal.
pub(crate) type Stage = surefill_referee::Stage<Simulator>;

pub(crate) struct Simulator(Handle);

/// Nothing listens there.
const NOBODY: &str = "ws://127.0.0.1:1";

impl Simulator {
    pub(crate) fn url(&self) -> String {
        self.0.url()
    }

    /// The adapter with these keys.
    pub(crate) fn adapter_of(&self, keys: Keys, streams: bool) -> Bybit {
        let venue = Bybit::simulator(&self.url(), keys).with_timing(timing());
        if streams {
            venue
        } else {
            venue.with_ws_url(NOBODY)
        }
    }
}

#[async_trait]
impl Simulated for Simulator {
    type Adapter = Bybit;

    const ALIAS: &'static str = ALIAS;

    async fn start() -> Self {
        Self(start(Config::default()).await.expect("a venue"))
    }

    async fn control(&self, method: &str, target: &str, body: &Value) -> Result<Value, String> {
        let done = self.0.control(method, target, body).await;
        done.map_err(|error| error.to_string())
    }

    fn adapter(&self, streams: bool) -> Bybit {
        self.adapter_of(keys(), streams)
    }

    fn account() -> AccountId {
        AccountId::new("bybit", "simulator", "1001")
    }

    fn intent(strategy: &str, decided_at: u64, fate: Fate) -> OrderIntent {
        let (qty, price) = match fate {
            Fate::Rests => ("0.010", "50000.0"),
            Fate::Fills => ("1.500", "60100.0"),
        };
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

/// The id that an intent has.
pub(crate) fn id_of(intent: &OrderIntent) -> ClOrdId {
    Stage::id_of(intent)
}
