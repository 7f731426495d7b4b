//! The stream: connects, subscribes, and ends on a disconnect or on what cannot be read.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use futures_core::stream::BoxStream;
use futures_util::StreamExt;
use surefill_core::{VenueError, VenueEvent, VenueTime};
use surefill_evm::Address;
use surefill_transport::{Heartbeat, WsClient, WsConfig, WsConnection};

use crate::error::ReadFailure;
use crate::stream::{self, Said, Topic};

/// The longest wait for the answers to the subscriptions.
const ANSWER: Duration = Duration::from_secs(5);

/// How much of the snapshot is told: the rest was read over HTTP long ago.
const OVERLAP: Duration = Duration::from_secs(60);

/// How long the socket may be silent, pings answered: the venue closes one on which it has sent nothing for 60 s.
const SILENCE: Duration = Duration::from_secs(55);

/// How the socket behaves.
pub(crate) fn ws_config(silence: Option<Duration>) -> WsConfig {
    let (idle_timeout, heartbeat_every) = match silence {
        Some(silence) => (silence, silence / 2),
        None => (SILENCE, Duration::from_secs(25)),
    };
    WsConfig {
        heartbeat: Heartbeat::Text(stream::ping()),
        heartbeat_every,
        idle_timeout,
        // The snapshot holds up to 2000 fills.
        max_message_bytes: 4 << 20,
        ..WsConfig::default()
    }
}

/// Where the socket is.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) ws: WsClient,
    pub(crate) url: String,
}

impl Feed {
    /// Resolves when subscribed. Nothing tells what was said before: the engine looks its orders up.
    pub(crate) async fn open(
        &self,
        user: Address,
        now: VenueTime,
    ) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        let connection = self.ws.connect(&self.url).await;
        let connection =
            connection.map_err(|error| VenueError::Unreachable(error.to_string().into()))?;
        let mut line = Line {
            connection,
            user,
            since: now.before(OVERLAP),
            waiting: VecDeque::new(),
        };
        for topic in Topic::ALL {
            let text = stream::subscribe(topic, user);
            let sent = line.connection.sender.send(text, None).await;
            sent.map_err(|failure| VenueError::Unreachable(failure.to_string().into()))?;
        }
        line.subscribed().await?;
        Ok(futures_util::stream::unfold(line, |mut line| async move {
            line.next().await.map(|event| (event, line))
        })
        .boxed())
    }
}

struct Line {
    connection: WsConnection,
    user: Address,
    since: VenueTime,
    waiting: VecDeque<VenueEvent>,
}

impl Line {
    /// Waits until every topic is confirmed. Pushes that overtake are kept.
    async fn subscribed(&mut self) -> Result<(), VenueError> {
        let answers = async {
            let mut confirmed = HashSet::new();
            while confirmed.len() < Topic::ALL.len() {
                let Some(text) = self.connection.messages.recv().await else {
                    return Err(VenueError::Unreachable(self.why().into()));
                };
                match stream::read(&text, self.user)? {
                    Said::Subscribed(topic) => {
                        confirmed.insert(topic);
                    }
                    said @ (Said::Nothing
                    | Said::Refused(_)
                    | Said::Orders(_)
                    | Said::Fills { .. }) => self.waiting.extend(stream::events(said, self.since)?),
                }
            }
            Ok(())
        };
        match tokio::time::timeout(ANSWER, answers).await {
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
                tracing::info!(why = self.why(), "the stream ended");
                return None;
            };
            let said = stream::read(&text, self.user);
            match said.and_then(|said| stream::events(said, self.since)) {
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
    tracing::error!(%error, "the stream said what cannot be read; it is closed and the orders are looked up");
}
