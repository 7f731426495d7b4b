//! A WebSocket connection that is never made again by itself: it ends, says why, and what was said meanwhile is read by REST.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::{SinkExt, StreamExt};
use surefill_core::{Go, NotSent, UnknownCause};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::Uri;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream, client_async_tls_with_config};

use crate::client::{BuildError, SendFailure, causes, tls};
use crate::gate::{Gate, ShutOnDrop};

/// How a WebSocket connection behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WsConfig {
    /// The longest time for name lookup, connect, TLS and the WebSocket handshake together.
    pub connect_timeout: Duration,
    /// The longest time for one write.
    pub write_timeout: Duration,
    /// The longest silence of the server, pongs included. More than [`Self::heartbeat_every`].
    pub idle_timeout: Duration,
    /// How often the heartbeat is sent.
    pub heartbeat_every: Duration,
    /// What keeps the connection alive.
    pub heartbeat: Heartbeat,
    /// The longest message that is read. A longer one ends the connection.
    pub max_message_bytes: usize,
    /// The most messages that wait to be taken. One more ends the connection: a reader that is behind reads the gap by REST.
    pub max_waiting: usize,
}

/// What keeps a connection alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heartbeat {
    /// A ping of the protocol.
    Ping,
    /// A text of the venue's own.
    Text(String),
}

impl Default for WsConfig {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_secs(3),
            idle_timeout: Duration::from_secs(30),
            heartbeat_every: Duration::from_secs(20),
            heartbeat: Heartbeat::Ping,
            max_message_bytes: 1 << 20,
            max_waiting: 4_096,
        }
    }
}

/// A connection could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WsConnectError {
    /// TLS could not be set up.
    #[error(transparent)]
    Build(BuildError),
    /// The address is none.
    #[error("{0:?} is no address of a WebSocket")]
    Address(Box<str>),
    /// It took too long.
    #[error("no connection within {0:?}")]
    TimedOut(Duration),
    /// The server answered the handshake with an HTTP status.
    #[error("the server answered the handshake with HTTP status {0}")]
    Status(u16),
    /// Everything else.
    #[error("no connection: {0}")]
    Failed(Box<str>),
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WsEnd {
    /// The server closed it, with a code where it gave one.
    #[error("closed by the server: {code:?} {text}")]
    Closed {
        /// The close code.
        code: Option<u16>,
        /// The server's text, bounded in length.
        text: Box<str>,
    },
    /// It broke.
    #[error("broken: {0}")]
    Broken(Box<str>),
    /// The server was silent for too long.
    #[error("silent for {0:?}")]
    Silent(Duration),
    /// A write did not end in time.
    #[error("a write took longer than {0:?}")]
    Stuck(Duration),
    /// A message that is longer than allowed.
    #[error("a message of more than {0} bytes")]
    TooLong(usize),
    /// A message that is no text.
    #[error("a message that is no text")]
    NotText,
    /// More messages wait than allowed.
    #[error("more than {0} messages wait")]
    Behind(usize),
    /// Nobody listens any more.
    #[error("left by us")]
    Left,
}

/// Makes WebSocket connections. Nothing is read from the machine: TLS takes the bundled roots of the web, and no proxy is used.
#[derive(Clone)]
pub struct WsClient {
    config: WsConfig,
    tls: Arc<rustls::ClientConfig>,
}

impl fmt::Debug for WsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WsClient")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl WsClient {
    /// A client that makes connections of this kind.
    ///
    /// # Errors
    /// [`BuildError`] when TLS cannot be set up.
    pub fn new(config: WsConfig) -> Result<Self, BuildError> {
        Ok(Self {
            config,
            tls: Arc::new(tls()?),
        })
    }

    /// Makes one connection to `url` (`ws://` or `wss://`). It is made once: when it ends, it ends.
    ///
    /// # Errors
    /// [`WsConnectError`]. No message was sent.
    pub async fn connect(&self, url: &str) -> Result<WsConnection, WsConnectError> {
        let bound = self.config.connect_timeout;
        match timeout(bound, self.shake_hands(url)).await {
            Ok(socket) => Ok(WsConnection::start(socket?, self.config.clone())),
            Err(_) => Err(WsConnectError::TimedOut(bound)),
        }
    }

    async fn shake_hands(&self, url: &str) -> Result<Socket, WsConnectError> {
        let address = || WsConnectError::Address(url.chars().take(256).collect());
        let failed = |error: &(dyn std::error::Error + 'static)| {
            WsConnectError::Failed(bounded(&causes(error)))
        };
        let uri: Uri = url.parse().map_err(|_| address())?;
        let port = match uri.scheme_str() {
            Some("ws") => 80,
            Some("wss") => 443,
            Some(_) | None => return Err(address()),
        };
        let port = uri.port_u16().unwrap_or(port);
        let host = uri.host().ok_or_else(address)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let request = uri.clone().into_client_request().map_err(|_| address())?;
        let stream = TcpStream::connect((host, port))
            .await
            .map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        let connector = Connector::Rustls(Arc::clone(&self.tls));
        let config = Some(self.limits());
        match client_async_tls_with_config(request, stream, config, Some(connector)).await {
            Ok((socket, _)) => Ok(socket),
            Err(Error::Http(answer)) => Err(WsConnectError::Status(answer.status().as_u16())),
            Err(error) => Err(failed(&error)),
        }
    }

    fn limits(&self) -> WebSocketConfig {
        let bound = self.config.max_message_bytes;
        WebSocketConfig::default()
            .max_message_size(Some(bound))
            .max_frame_size(Some(bound))
            .write_buffer_size(0)
    }
}

/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_millis(200);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A connection that stands. Dropping both of its halves ends it.
#[derive(Debug)]
pub struct WsConnection {
    /// The half that sends.
    pub sender: WsSender,
    /// The half that hears.
    pub messages: WsMessages,
}

impl WsConnection {
    fn start(socket: Socket, config: WsConfig) -> Self {
        let (sends, orders) = mpsc::channel(64);
        let (heard, rows) = mpsc::channel(config.max_waiting.max(1));
        let end = Arc::new(OnceLock::new());
        let line = Line {
            socket,
            config,
            orders,
            heard,
        };
        tokio::spawn(line.run(Arc::clone(&end)));
        Self {
            sender: WsSender { sends },
            messages: WsMessages { rows, end },
        }
    }
}

/// Sends texts. Clones send over the same connection.
#[derive(Clone, Debug)]
pub struct WsSender {
    sends: mpsc::Sender<Outgoing>,
}

struct Outgoing {
    text: String,
    gate: Arc<Gate>,
    done: oneshot::Sender<Result<(), Box<str>>>,
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

impl WsSender {
    /// Whether the connection has ended: whatever is sent now is not sent.
    pub fn is_closed(&self) -> bool {
        self.sends.is_closed()
    }

    /// Writes one text, once. `go` is asked right before the first byte.
    ///
    /// # Errors
    /// [`SendFailure::NotSent`] only when no byte left and none will; [`SendFailure::Unknown`] when the write broke off. A write that
    /// succeeded says nothing about the server.
    ///
    /// # Cancel safety
    /// Dropping the future after its first poll leaves the same doubt as [`SendFailure::Unknown`].
    pub async fn send(&self, text: String, go: Option<&Go>) -> Result<(), SendFailure> {
        let gate = Gate::new(go.cloned());
        let _shut = ShutOnDrop(Arc::clone(&gate));
        let (done, answer) = oneshot::channel();
        let outgoing = Outgoing {
            text,
            gate: Arc::clone(&gate),
            done,
        };
        let told = match self.sends.send(outgoing).await {
            Ok(()) => answer.await.ok(),
            Err(_) => None,
        };
        let why = match told {
            Some(Ok(())) => return Ok(()),
            Some(Err(why)) => why,
            None => "the connection ended".into(),
        };
        Err(match (gate.shut(), gate.held()) {
            (true, Some(held)) => SendFailure::NotSent(NotSent::HeldBack(held)),
            (true, None) => SendFailure::NotSent(NotSent::Connect(why)),
            (false, _) => SendFailure::Unknown(UnknownCause::new(why)),
        })
    }
}

/// The texts that the server sends, in order; ends when the connection does. What came before the end is still handed out.
#[derive(Debug)]
pub struct WsMessages {
    rows: mpsc::Receiver<String>,
    end: Arc<OnceLock<WsEnd>>,
}

impl WsMessages {
    /// The next text; `None` for ever once the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future loses no text.
    pub async fn recv(&mut self) -> Option<String> {
        self.rows.recv().await
    }

    /// Why the connection ended; `None` while it stands.
    pub fn end(&self) -> Option<&WsEnd> {
        self.end.get()
    }
}

impl Stream for WsMessages {
    type Item = String;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<String>> {
        self.rows.poll_recv(cx)
    }
}

/// The connection itself, in a task of its own, so that a slow reader does not keep pings from being answered.
struct Line {
    socket: Socket,
    config: WsConfig,
    orders: mpsc::Receiver<Outgoing>,
    heard: mpsc::Sender<String>,
}

impl Line {
    async fn run(mut self, end: Arc<OnceLock<WsEnd>>) {
        let why = self.talk().await;
        tracing::debug!(%why, "a WebSocket connection ended");
        end.get_or_init(|| why);
        let Self {
            mut socket,
            orders,
            heard,
            ..
        } = self;
        // Everybody who waits learns of it now.
        drop((orders, heard));
        // A courtesy to the server; whether it hears it does not matter.
        drop(timeout(GOODBYE, socket.close(None)).await);
    }

    async fn talk(&mut self) -> WsEnd {
        let every = self.config.heartbeat_every.max(Duration::from_millis(1));
        let mut beat = interval_at(Instant::now() + every, every);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut silent_at = Instant::now() + self.config.idle_timeout;
        let mut sends = true;
        loop {
            let end = tokio::select! {
                message = self.socket.next() => {
                    silent_at = Instant::now() + self.config.idle_timeout;
                    self.heard(message)
                }
                order = self.orders.recv(), if sends => match order {
                    Some(order) => self.write(order).await,
                    // The half that sends is gone; the other may still listen.
                    None => { sends = false; None }
                },
                _ = beat.tick() => {
                    let message = match &self.config.heartbeat {
                        Heartbeat::Ping => Message::Ping(bytes::Bytes::new()),
                        Heartbeat::Text(text) => Message::text(text.clone()),
                    };
                    self.put(message).await.err()
                }
                () = sleep_until(silent_at) => Some(WsEnd::Silent(self.config.idle_timeout)),
                () = self.heard.closed() => Some(WsEnd::Left),
            };
            if let Some(why) = end {
                return why;
            }
        }
    }

    fn heard(&self, message: Option<Result<Message, Error>>) -> Option<WsEnd> {
        match message {
            Some(Ok(Message::Text(text))) => match self.heard.try_send(text.as_str().to_owned()) {
                Ok(()) => None,
                Err(mpsc::error::TrySendError::Full(_)) => {
                    Some(WsEnd::Behind(self.config.max_waiting))
                }
                Err(mpsc::error::TrySendError::Closed(_)) => Some(WsEnd::Left),
            },
            // The library answers a ping with the next write or read.
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
            Some(Ok(Message::Binary(_) | Message::Frame(_))) => Some(WsEnd::NotText),
            Some(Ok(Message::Close(frame))) => Some(match frame {
                Some(frame) => WsEnd::Closed {
                    code: Some(frame.code.into()),
                    text: bounded(frame.reason.as_str()),
                },
                None => WsEnd::Closed {
                    code: None,
                    text: "".into(),
                },
            }),
            Some(Err(error)) => Some(self.broken(&error)),
            None => Some(WsEnd::Broken("the stream ended".into())),
        }
    }

    async fn write(&mut self, order: Outgoing) -> Option<WsEnd> {
        if order.gate.pass().is_err() {
            drop(
                order
                    .done
                    .send(Err("held back before the first byte".into())),
            );
            return None;
        }
        match self.put(Message::text(order.text)).await {
            Ok(()) => {
                drop(order.done.send(Ok(())));
                None
            }
            Err(why) => {
                drop(order.done.send(Err(why.to_string().into())));
                Some(why)
            }
        }
    }

    async fn put(&mut self, message: Message) -> Result<(), WsEnd> {
        let bound = self.config.write_timeout;
        match timeout(bound, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.broken(&error)),
            Err(_) => Err(WsEnd::Stuck(bound)),
        }
    }

    fn broken(&self, error: &Error) -> WsEnd {
        if matches!(error, Error::Capacity(_)) {
            return WsEnd::TooLong(self.config.max_message_bytes);
        }
        WsEnd::Broken(bounded(&causes(error)))
    }
}

fn bounded(text: &str) -> Box<str> {
    text.chars().take(256).collect()
}
