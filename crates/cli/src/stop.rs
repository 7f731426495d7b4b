//! SIGTERM and SIGINT: asked to stop, a command lets go in order.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::failure::{Exit, Failure};

/// How long what is in flight may take to be answered once a stop was asked. The process is gone within five seconds.
pub(crate) const GRACE: Duration = Duration::from_secs(3);

/// Hears that a stop is asked, however often and by whomever it is waited for.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Listens from here on.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let cannot = |error| Failure::new(Exit::Usage, format!("cannot wait for signals: {error}"));
        let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
        let (tell, told) = watch::channel(false);
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            tell.send_replace(true);
            // Kept, so that those who wait do not take its end for a stop.
            tell.closed().await;
        });
        Ok(Self(told))
    }

    /// Whether a stop was asked.
    pub(crate) fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until a stop is asked.
    pub(crate) async fn asked(&self) {
        let mut told = self.0.clone();
        if told.wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
