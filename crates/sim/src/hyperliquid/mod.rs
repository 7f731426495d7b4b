//! A simulated Hyperliquid, as a testnet: perps, spot and one builder's dex over `/exchange`, `/info` and `/ws`.

mod action;
mod address;
mod chain;
mod config;
mod envelope;
mod exchange;
mod hash;
mod ids;
mod info;
mod markets;
mod modify;
mod nonces;
mod number;
mod orders;
mod pack;
mod reply;
mod rows;
mod session;
mod state;
mod stream;
mod user_signed;
mod venue;
mod weights;

use std::sync::Arc;

use serde_json::Value;

pub use crate::edge::ControlError;
pub use config::{Config, StartError, Wallet};
pub use envelope::{Hashed, hash_action, recover_signer};
pub use number::{price_fits, size_fits};

use crate::{
    core::{DuplicateRule, What},
    edge::{Running, Stage},
    world::World,
};
use venue::Hyperliquid;

/// Nonces of a signer that bound a new one from below.
const NONCES: u32 = 100;

/// A running simulated Hyperliquid. Dropping it stops it.
#[derive(Debug)]
pub struct Handle(
    Running<Hyperliquid>,
    #[expect(dead_code, reason = "ends with the handle")] Task,
);

/// A task that ends with its handle.
#[derive(Debug)]
struct Task(tokio::task::JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts a simulated Hyperliquid on loopback, in the current tokio runtime.
///
/// # Errors
/// `Listen` when the port is taken, `Journal` when the journal cannot be used or its replay differs, `Accounts` when a
/// wallet is twice there, is no address, or belongs to nobody.
pub async fn start(config: Config) -> Result<Handle, StartError> {
    let dir = config.journal.as_ref().map(|dir| dir.join("hyperliquid"));
    let (mut world, seed) = World::open(dir.as_deref(), config.seed)?;
    if world.core().instruments().is_empty() {
        for mut instrument in markets::instruments() {
            instrument.max_open_orders = config.max_open_orders;
            world.apply(0, What::List(Box::new(instrument)))?;
        }
        let (duplicate, window) = (DuplicateRule::Accepted, NONCES);
        world.apply(0, What::SetRules { duplicate, window })?;
    }
    for wallet in &config.wallets {
        let account = wallet.address.to_ascii_lowercase();
        if !world.core().accounts().contains_key(&account) {
            let balances = markets::riches();
            world.apply(0, What::OpenAccount { account, balances })?;
        }
    }
    let venue = Arc::new(Hyperliquid::new(Stage::new(world), seed, &config.wallets)?);
    let running = Running::start(Arc::clone(&venue), config.port).await;
    let running = running.map_err(StartError::Listen)?;
    let schedules = Task(tokio::spawn(venue.keep_schedules()));
    Ok(Handle(running, schedules))
}

impl Handle {
    /// Base of the HTTP API, `http://127.0.0.1:PORT`: the `base_url` of the official SDK.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.0.addr())
    }

    /// Base of the socket, `ws://127.0.0.1:PORT`; its path is `/ws`.
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
