//! A simulated Bybit V5: REST, linear category.

mod account;
mod batch;
mod config;
mod create;
mod gate;
mod ids;
mod instruments;
mod lookup;
mod orders;
mod params;
mod query;
mod rate;
mod reply;
mod route;
mod rows;
mod session;
mod sign;
mod stream;
mod venue;

use std::sync::Arc;

use serde_json::Value;

pub use crate::edge::ControlError;
pub use config::{Config, Login, StartError};
pub use gate::in_window;
pub use ids::{cl_ord_id, is_valid_id};
pub use sign::{signature, signed_text};

use crate::{
    core::{DuplicateRule, What},
    edge::{Running, Stage},
    world::World,
};
use venue::Bybit;

/// A running simulated Bybit. Dropping it stops it.
#[derive(Debug)]
pub struct Handle(Running<Bybit>);

/// Starts a simulated Bybit on loopback, in the current tokio runtime.
///
/// # Errors
/// `Listen` when the port is taken, `Journal` when the journal cannot be used or its replay differs, `Accounts` when an
/// account is twice there.
pub async fn start(config: Config) -> Result<Handle, StartError> {
    let dir = config.journal.as_ref().map(|dir| dir.join("bybit"));
    let (mut world, seed) = World::open(dir.as_deref(), config.seed)?;
    if world.core().instruments().is_empty() {
        for mut instrument in instruments::all() {
            instrument.max_open_orders = config.max_open_orders;
            world.apply(0, What::List(Box::new(instrument)))?;
        }
        // A world of its own starts under this venue's rule, whatever the core's is.
        world.apply(
            0,
            What::SetRules {
                duplicate: DuplicateRule::RefusedForever,
                window: 10_000,
            },
        )?;
    }
    for login in &config.logins {
        if !world.core().accounts().contains_key(&login.uid) {
            world.apply(
                0,
                What::OpenAccount {
                    account: login.uid.clone(),
                    balances: instruments::riches(),
                },
            )?;
        }
    }
    let venue = Arc::new(Bybit::new(Stage::new(world), seed, config.logins)?);
    let running = Running::start(venue, config.port).await;
    running.map(Handle).map_err(StartError::Listen)
}

impl Handle {
    /// Base of the REST API, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.0.addr())
    }

    /// Base of the sockets, `ws://127.0.0.1:PORT`. The private socket is `/v5/private`, the trade socket `/v5/trade`.
    #[must_use]
    pub fn ws_url(&self) -> String {
        format!("ws://{}", self.0.addr())
    }

    /// Base of the control port.
    #[must_use]
    pub fn control_url(&self) -> String {
        format!("http://{}/_sim", self.0.addr())
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> std::net::SocketAddr {
        self.0.addr()
    }

    /// Asks the control port without a socket, so also while a restart keeps the venue down.
    ///
    /// `target` is what follows `/_sim`, with its query (`/orders?cl_ord_id=…`); a null body is none.
    ///
    /// # Errors
    /// What the control port would answer with another status than 200.
    pub async fn control(
        &self,
        method: &str,
        target: &str,
        body: &Value,
    ) -> Result<Value, ControlError> {
        self.0.control(method, target, body).await
    }

    /// Stops, closes the journal and gives the port back.
    pub async fn shutdown(self) {
        self.0.shutdown().await;
    }
}
