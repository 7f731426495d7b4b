//! Creates and cancels over the trade socket: one connection, each request sent once, each answer given to its request.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use surefill_core::{Go, NotSent, UnknownCause, VenueTime};
use surefill_transport::{SendFailure, WsClient, WsMessages, WsSender};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::follow::EXPIRES_IN;
use crate::outcome::Sent;
use crate::sign::Keys;
use crate::trade::{self, Op, TradeSaid};

/// One request for the trade socket.
pub(crate) struct TradeRequest {
    /// Never used twice: at most 36 characters.
    pub(crate) id: String,
    pub(crate) op: Op,
    pub(crate) timestamp: VenueTime,
    pub(crate) receive_window: Duration,
    pub(crate) body: String,
}

/// The trade socket. Its connection is made when it is needed, and made anew by the next request after it ended.
#[derive(Debug)]
pub(crate) struct Trader {
    ws: WsClient,
    url: String,
    keys: Keys,
    answer_within: Duration,
    numbers: AtomicU64,
    live: tokio::sync::Mutex<Option<Arc<Live>>>,
}

#[derive(Debug)]
struct Live {
    sender: WsSender,
    flight: Arc<Flight>,
}

/// Who waits for which answer, by the number of the request.
type Waiting = HashMap<Box<str>, (Op, oneshot::Sender<Sent>)>;

/// The requests in flight on one connection.
#[derive(Debug, Default)]
struct Flight {
    waiting: Mutex<Waiting>,
    /// The service restarts: answers still come, and nothing new is taken.
    retired: AtomicBool,
}

impl Flight {
    fn put(&self, id: &str, op: Op) -> oneshot::Receiver<Sent> {
        let (tell, told) = oneshot::channel();
        self.lock().insert(id.into(), (op, tell));
        told
    }

    fn take(&self, id: &str) -> Option<oneshot::Sender<Sent>> {
        self.lock().remove(id).map(|(_, tell)| tell)
    }

    /// Leaves every request that `which` holds for in doubt.
    fn doubt(&self, which: impl Fn(Op) -> bool, why: &str) {
        let doubted: Vec<_> = self.lock().extract_if(|_, (op, _)| which(*op)).collect();
        for (_, (_, tell)) in doubted {
            // Whoever no longer waits knows of the doubt.
            drop(tell.send(Err(SendFailure::Unknown(UnknownCause::new(why)))));
        }
    }

    fn done(&self) -> bool {
        self.retired.load(Ordering::Acquire) && self.lock().is_empty()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a request that nobody waits for.
struct Forget<'a>(&'a Flight, &'a str);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.0.take(self.1);
    }
}

impl Trader {
    pub(crate) fn new(ws: WsClient, url: String, keys: Keys, answer_within: Duration) -> Self {
        Self {
            ws,
            url,
            keys,
            answer_within,
            numbers: AtomicU64::new(0),
            live: tokio::sync::Mutex::default(),
        }
    }

    /// A number for a request that is not an attempt's.
    pub(crate) fn number(&self, now: VenueTime) -> String {
        format!("c-{now}-{}", self.numbers.fetch_add(1, Ordering::Relaxed))
    }

    /// Sends one request once and waits for its answer.
    pub(crate) async fn send(
        &self,
        request: TradeRequest,
        now: VenueTime,
        go: Option<&Go>,
    ) -> Sent {
        let live = self.stand(now).await.map_err(|why| not_sent(&why))?;
        let (at, window) = (request.timestamp, request.receive_window);
        let text = trade::request(&request.id, request.op, at, window, &request.body)
            .ok_or_else(|| not_sent("the body is no JSON"))?;
        // Before the first byte, so that an answer cannot overtake it.
        let told = live.flight.put(&request.id, request.op);
        let _forget = Forget(&live.flight, &request.id);
        live.sender.send(text, go).await?;
        let unknown = |why: &str| Err(SendFailure::Unknown(UnknownCause::new(why)));
        match timeout(self.answer_within, told).await {
            Ok(Ok(sent)) => sent,
            Ok(Err(_)) => unknown("the trade socket ended"),
            Err(_) => unknown("no answer on the trade socket"),
        }
    }

    /// Makes the connection stand, so that the next request need not wait for it.
    pub(crate) async fn warm(&self, now: VenueTime) {
        if let Err(why) = self.stand(now).await {
            tracing::warn!(%why, "the trade socket does not stand");
        }
    }

    /// Makes the connection stand, if it does not.
    async fn stand(&self, now: VenueTime) -> Result<Arc<Live>, String> {
        let mut slot = self.live.lock().await;
        if let Some(live) = slot.as_ref()
            && !live.sender.is_closed()
            && !live.flight.retired.load(Ordering::Acquire)
        {
            return Ok(Arc::clone(live));
        }
        *slot = None;
        let connection = self.ws.connect(&self.url).await;
        let connection = connection.map_err(|error| error.to_string())?;
        let (sender, mut messages) = (connection.sender, connection.messages);
        let auth = trade::auth(&self.keys, now.after(EXPIRES_IN), "auth-1");
        let auth = auth.map_err(|error| error.to_string())?;
        let sent = sender.send(auth, None).await;
        sent.map_err(|failure| failure.to_string())?;
        match timeout(self.answer_within, authenticated(&mut messages)).await {
            Ok(verdict) => verdict?,
            Err(_) => return Err("the trade socket does not answer".to_owned()),
        }
        let flight = Arc::<Flight>::default();
        tokio::spawn(hear(messages, Arc::clone(&flight)));
        let live = Arc::new(Live { sender, flight });
        *slot = Some(Arc::clone(&live));
        Ok(live)
    }
}

fn not_sent(why: &str) -> SendFailure {
    SendFailure::NotSent(NotSent::Connect(why.into()))
}

async fn authenticated(messages: &mut WsMessages) -> Result<(), String> {
    while let Some(text) = messages.recv().await {
        match trade::read(&text) {
            Ok(TradeSaid::Auth(Ok(()))) => return Ok(()),
            Ok(TradeSaid::Auth(Err(why))) => return Err(format!("not authenticated: {why}")),
            Ok(TradeSaid::Pong | TradeSaid::Answer { .. } | TradeSaid::Unnamed { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("the trade socket ended".to_owned())
}

/// Gives each answer to its request, until the connection ends: then whatever is in flight is in doubt.
async fn hear(mut messages: WsMessages, flight: Arc<Flight>) {
    while let Some(text) = messages.recv().await {
        match trade::read(&text) {
            Ok(TradeSaid::Answer {
                id,
                answer,
                restarting,
            }) => {
                if restarting {
                    flight.retired.store(true, Ordering::Release);
                }
                match flight.take(&id) {
                    Some(tell) => drop(tell.send(Ok(answer))),
                    None => {
                        tracing::warn!(%id, "an answer on the trade socket that nobody waits for")
                    }
                }
            }
            Ok(TradeSaid::Unnamed { op, text }) => {
                tracing::warn!(%op, %text, "a failure on the trade socket that names no request");
                let which = |of: Op| op.is_empty() || *op == *of.as_str();
                flight.doubt(which, &format!("a failure that names no request: {text}"));
            }
            Ok(TradeSaid::Pong | TradeSaid::Auth(_)) => {}
            Err(error) => {
                tracing::error!(%error, "the trade socket said what cannot be read; it is closed");
                break;
            }
        }
        if flight.done() {
            break;
        }
    }
    flight.retired.store(true, Ordering::Release);
    flight.doubt(|_| true, "the trade socket ended");
}
