//! The private stream: connects, authenticates, subscribes, and ends on a disconnect or on what cannot be read.

use std::collections::VecDeque;
use std::time::Duration;

use futures_core::stream::BoxStream;
use futures_util::StreamExt;
use surefill_core::{Reason, VenueError, VenueEvent, VenueTime};
use surefill_transport::{Heartbeat, WsClient, WsConfig, WsConnectError, WsConnection};

use crate::category::Category;
use crate::rows::ReadFailure;
use crate::sign::Keys;
use crate::stream::{self, Said};

/// How far ahead the authentication expires.
pub(crate) const EXPIRES_IN: Duration = Duration::from_secs(10);

/// The longest wait for the answer to a request on a socket.
const ANSWER: Duration = Duration::from_secs(5);

/// How a socket of the venue behaves: a heartbeat every 20 s, answered well before the next.
pub(crate) fn ws_config() -> WsConfig {
    WsConfig {
        heartbeat: Heartbeat::Text(stream::ping("p1")),
        heartbeat_every: Duration::from_secs(20),
        idle_timeout: Duration::from_secs(30),
        max_message_bytes: 1 << 20,
        ..WsConfig::default()
    }
}

/// Where the private stream is, and the keys for it.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) ws: WsClient,
    pub(crate) url: String,
    pub(crate) keys: Keys,
    pub(crate) category: Category,
}

impl Feed {
    /// Resolves when subscribed. Nothing tells what was said before: the engine looks its orders up.
    pub(crate) async fn open(
        &self,
        now: VenueTime,
    ) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        let connection = self.ws.connect(&self.url).await.map_err(unreachable)?;
        let mut line = Line {
            connection,
            category: self.category,
            waiting: VecDeque::new(),
        };
        let auth = stream::auth(&self.keys, now.after(EXPIRES_IN), Some("auth-1"))
            .map_err(|error| VenueError::Config(error.to_string().into()))?;
        line.ask(auth).await?;
        match line.answer(Step::Auth).await? {
            Ok(()) => {}
            Err(why) => return Err(VenueError::Keys(why)),
        }
        line.ask(stream::subscribe("sub-1")).await?;
        match line.answer(Step::Subscribe).await? {
            Ok(()) => {}
            Err(why) => return Err(VenueError::Refused(why)),
        }
        Ok(futures_util::stream::unfold(line, |mut line| async move {
            line.next().await.map(|event| (event, line))
        })
        .boxed())
    }
}

pub(crate) fn unreachable(error: WsConnectError) -> VenueError {
    VenueError::Unreachable(error.to_string().into())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Auth,
    Subscribe,
}

struct Line {
    connection: WsConnection,
    category: Category,
    waiting: VecDeque<VenueEvent>,
}

impl Line {
    async fn ask(&self, text: String) -> Result<(), VenueError> {
        let sent = self.connection.sender.send(text, None).await;
        sent.map_err(|failure| VenueError::Unreachable(failure.to_string().into()))
    }

    /// Waits for one answer. Pushes that overtake it are kept.
    async fn answer(&mut self, step: Step) -> Result<Result<(), Reason>, VenueError> {
        let answer = async {
            loop {
                let Some(text) = self.connection.messages.recv().await else {
                    return Err(VenueError::Unreachable(self.why().into()));
                };
                match (stream::read(&text, self.category)?, step) {
                    (Said::Auth(verdict), Step::Auth) => return Ok(verdict),
                    (Said::Subscribed(verdict), Step::Subscribe) => return Ok(verdict),
                    (said, _) => self.waiting.extend(stream::events(said)?),
                }
            }
        };
        match tokio::time::timeout(ANSWER, answer).await {
            Ok(verdict) => verdict,
            Err(_) => Err(VenueError::Unreachable("the socket does not answer".into())),
        }
    }

    async fn next(&mut self) -> Option<VenueEvent> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            let Some(text) = self.connection.messages.recv().await else {
                tracing::info!(why = self.why(), "the private stream ended");
                return None;
            };
            match stream::read(&text, self.category).and_then(stream::events) {
                Ok(events) => self.waiting.extend(events),
                Err(error) => {
                    log_unreadable(&error);
                    return None;
                }
            }
        }
    }

    fn why(&self) -> String {
        let end = self.connection.messages.end();
        end.map_or_else(|| "the connection ended".to_owned(), ToString::to_string)
    }
}

/// Ends the stream: what was said is found by looking.
fn log_unreadable(error: &ReadFailure) {
    tracing::error!(%error, "the private stream said what cannot be read; it is closed and the orders are looked up");
}
