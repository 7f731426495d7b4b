//! The conformance suite: every case, over the simulated Bybit.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use surefill_bybit::{Bybit, Keys};
use surefill_conformance::venue::{ControlPort, Fate, Login, VenueFixture};
use surefill_core::{Alias, Amount, Connect, Decision, OrderIntent, Qty, Side};
use surefill_sim::bybit::{Config, Handle, start};

use crate::server::keys;
use crate::world::timing;

surefill_conformance::venue_suite!(BybitSim);

/// A simulated Bybit whose accounts may ask as fast as a suite does.
struct BybitSim(Handle);

#[async_trait]
impl ControlPort for BybitSim {
    async fn control(&self, method: &str, target: &str, body: &Value) -> Value {
        let done = self.0.control(method, target, body).await;
        done.unwrap_or_else(|error| panic!("{method} {target} {body}: {error}"))
    }
}

#[async_trait]
impl VenueFixture for BybitSim {
    async fn start() -> Self {
        let mut config = Config::default();
        for login in &mut config.logins {
            login.orders_per_s = 1_000;
            login.reads_per_s = 1_000;
        }
        Self(start(config).await.expect("a venue"))
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
        account
            == match login {
                Login::Main => "1001",
                Login::Other => "1002",
            }
    }

    fn intent(&self, decision: Decision, alias: &Alias, fate: Fate) -> OrderIntent {
        let (qty, price) = match fate {
            Fate::Rests => ("0.010", "50000.0"),
            // It crosses two levels of the book.
            Fate::Fills => ("1.500", "60100.0"),
            // More than the account has.
            Fate::Refused => ("900.000", "50000.0"),
        };
        let amount = Amount::Base(qty.parse().expect("qty"));
        let price = price.parse().expect("px");
        OrderIntent::limit(decision, alias.clone(), "BTCUSDT", Side::Buy, amount, price)
    }

    fn part(&self) -> Qty {
        "0.003".parse().expect("qty")
    }

    fn window(&self) -> Option<Duration> {
        Some(Duration::from_millis(timing().receive_window_ms))
    }

    fn more_than_a_page(&self) -> usize {
        55
    }

    fn throttle_is_documented(&self) -> bool {
        // https://bybit-exchange.github.io/docs/v5/error, 10006.
        true
    }
}

fn configured(url: &str, keys: Keys) -> Bybit {
    Bybit::simulator(url, keys)
        .with_timing(timing())
        .with_cap(Duration::from_millis(1_500))
}

fn other_keys() -> Keys {
    Keys::hmac("SUREFILLFAKEKEY002", "fakefakefakefakefakefakefakefake0002").expect("keys")
}
