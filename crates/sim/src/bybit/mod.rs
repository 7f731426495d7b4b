//! A simulated Bybit V5: REST, linear category.

mod config;
mod create;
mod gate;
mod ids;
mod instruments;
mod lookup;
mod orders;
mod params;
mod rate;
mod reply;
mod route;
mod rows;
mod sign;
mod venue;

use std::sync::Arc;

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

/// A running simulated Bybit. Dropping it stops it.
#[derive(Debug)]
pub struct Handle {
    server: Option<Server>,
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
        for instrument in instruments::all() {
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
    let venue = Bybit::new(Stage::new(world), seed, config.logins)?;
    let server = Server::start(Arc::new(venue), config.port)
        .await
        .map_err(StartError::Listen)?;
    Ok(Handle {
        addr: server.addr(),
        server: Some(server),
    })
}

impl Handle {
    /// Base of the REST API, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Base of the sockets, `ws://127.0.0.1:PORT`. No socket is served yet.
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
