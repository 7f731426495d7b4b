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

pub use config::{Config, Login, StartError};
pub use gate::in_window;
pub use ids::{cl_ord_id, is_valid_id};
pub use sign::{signature, signed_text};

use crate::{
    core::{DuplicateRule, What},
    edge::{Server, Stage},
    world::World,
};
use venue::Bybit;

/// A control request that was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{status}: {text}")]
pub struct ControlError {
    /// HTTP status.
    pub status: u16,
    /// What is wrong, by name.
    pub text: String,
}

/// A running simulated Bybit. Dropping it stops it.
#[derive(Debug)]
pub struct Handle {
    server: Option<Server>,
    venue: Arc<Bybit>,
    addr: std::net::SocketAddr,
}

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
    let server = Server::start(Arc::clone(&venue), config.port)
        .await
        .map_err(StartError::Listen)?;
    Ok(Handle {
        addr: server.addr(),
        server: Some(server),
        venue,
    })
}

impl Handle {
    /// Base of the REST API, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Base of the sockets, `ws://127.0.0.1:PORT`. The private socket is `/v5/private`, the trade socket `/v5/trade`.
    #[must_use]
    pub fn ws_url(&self) -> String {
        format!("ws://{}", self.addr)
    }

    /// Base of the control port.
    #[must_use]
    pub fn control_url(&self) -> String {
        format!("http://{}/_sim", self.addr)
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> std::net::SocketAddr {
        self.addr
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
        let Some(server) = &self.server else {
            return Err(ControlError {
                status: 503,
                text: "the venue has stopped".to_owned(),
            });
        };
        let answer = server.control(&*self.venue, method, target, body).await;
        answer.map_err(|wrong| ControlError {
            status: wrong.status,
            text: wrong.text,
        })
    }

    /// Stops, closes the journal and gives the port back.
    pub async fn shutdown(mut self) {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.stop_soon();
        }
    }
}
