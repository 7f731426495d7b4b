//! A running venue, as its handle holds it.

use std::{io, net::SocketAddr, sync::Arc};

use serde_json::Value;

use super::{server::Server, stage::Venue};

/// A control request that was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{status}: {text}")]
pub struct ControlError {
    /// HTTP status.
    pub status: u16,
    /// What is wrong, by name.
    pub text: String,
}

/// The server and its venue. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Running<V: Venue> {
    server: Option<Server>,
    venue: Arc<V>,
    addr: SocketAddr,
}

impl<V: Venue> Running<V> {
    /// Listens on loopback. Port 0 is any free one.
    pub(crate) async fn start(venue: Arc<V>, port: u16) -> io::Result<Self> {
        let server = Server::start(Arc::clone(&venue), port).await?;
        Ok(Self {
            addr: server.addr(),
            server: Some(server),
            venue,
        })
    }

    /// Where it listens.
    pub(crate) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Asks the control port without a socket.
    pub(crate) async fn control(
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
    pub(crate) async fn shutdown(mut self) {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }
}

impl<V: Venue> Drop for Running<V> {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.stop_soon();
        }
    }
}
