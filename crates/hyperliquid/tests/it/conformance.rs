//! The conformance suite: every case, over the simulated Hyperliquid.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use surefill_conformance::venue::{ControlPort, Fate, Login, VenueFixture};
use surefill_core::{Alias, Amount, Connect, Decision, OrderIntent, Qty, Side};
use surefill_hyperliquid::{Hyperliquid, Keys};
use surefill_sim::hyperliquid::{Config, Handle, start};

use crate::book::keys;
use crate::world::TIMING;

surefill_conformance::venue_suite!(HyperliquidSim);

/// A simulated Hyperliquid; its two logins are two wallets.
struct HyperliquidSim(Handle);

#[async_trait]
impl ControlPort for HyperliquidSim {
    async fn control(&self, method: &str, target: &str, body: &Value) -> Value {
        let done = self.0.control(method, target, body).await;
        done.unwrap_or_else(|error| panic!("{method} {target} {body}: {error}"))
    }
}

#[async_trait]
impl VenueFixture for HyperliquidSim {
    async fn start() -> Self {
        Self(start(Config::default()).await.expect("a venue"))
    }

    fn connect(&self, login: Login) -> Box<dyn Connect> {
        let keys = match login {
            Login::Main => keys(),
            Login::Other => other_keys(),
        };
        Box::new(configured(&self.0.url(), keys))
    }

    fn nowhere(&self) -> Box<dyn Connect> {
        Box::new(configured("http://127.0.0.1:1", keys()))
    }

    fn is_account(&self, login: Login, account: &str) -> bool {
        let keys = match login {
            Login::Main => keys(),
            Login::Other => other_keys(),
        };
        account.eq_ignore_ascii_case(&keys.signer().to_string())
    }

    fn intent(&self, decision: Decision, alias: &Alias, fate: Fate) -> OrderIntent {
        let (qty, price) = match fate {
            Fate::Rests => ("0.01", "50000"),
            // It crosses two levels of the book.
            Fate::Fills => ("1.5", "60100"),
            // More than the account has margin for.
            Fate::Refused => ("900", "50000"),
        };
        let amount = Amount::Base(qty.parse().expect("qty"));
        let price = price.parse().expect("px");
        OrderIntent::limit(decision, alias.clone(), "BTC", Side::Buy, amount, price)
    }

    fn part(&self) -> Qty {
        "0.003".parse().expect("qty")
    }

    fn window(&self) -> Option<Duration> {
        Some(Duration::from_millis(TIMING.receive_window_ms))
    }

    fn more_than_a_page(&self) -> usize {
        // The list has no pages.
        55
    }

    fn throttle_is_documented(&self) -> bool {
        // Nothing says that what met the limit of an address was never admitted.
        false
    }
}

fn configured(url: &str, keys: Keys) -> Hyperliquid {
    Hyperliquid::simulator(url, keys)
        .with_timing(TIMING)
        .with_cap(Duration::from_millis(1_500))
}

fn other_keys() -> Keys {
    Keys::new("0x1111111111111111111111111111111111111111111111111111111111111111").expect("keys")
}
