//! A small WebSocket client.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use surefill_sim::bybit::{Login, signature};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message},
};

use crate::support::{BOUND, Sim};

/// One open socket.
#[derive(Debug)]
pub(crate) struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    pub(crate) async fn open(sim: &Sim, path: &str) -> Result<Self, Error> {
        let stream = TcpStream::connect(sim.addr()).await.unwrap();
        let url = format!("{}{path}", sim.handle.ws_url());
        client_async(url, stream)
            .await
            .map(|(socket, _)| Self(socket))
    }

    /// Open and authenticated.
    pub(crate) async fn known(sim: &Sim, path: &str) -> Self {
        let mut socket = Self::open(sim, path).await.unwrap();
        let expires = sim.now_ms().await + 10_000;
        let answer = socket.ask(auth(&sim.login, expires)).await;
        assert!(
            answer["success"] == true || answer["retCode"] == 0,
            "{answer}"
        );
        socket
    }

    /// On the private socket, subscribed to these topics.
    pub(crate) async fn listening(sim: &Sim, topics: &[&str]) -> Self {
        let mut socket = Self::known(sim, "/v5/private").await;
        let asked = json!({ "req_id": "s", "op": "subscribe", "args": topics });
        let answer = socket.ask(asked).await;
        assert_eq!(answer["success"], true, "{answer}");
        socket
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    /// The next text; none when the socket ended.
    pub(crate) async fn text(&mut self) -> Option<String> {
        loop {
            let next = tokio::time::timeout(BOUND, self.0.next()).await;
            match next.expect("a frame or an end within the bound") {
                Some(Ok(Message::Text(text))) => return Some(text.to_string()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&self.text().await.expect("the socket is open")).unwrap()
    }

    pub(crate) async fn ask(&mut self, frame: Value) -> Value {
        self.send(frame).await;
        self.next().await
    }

    /// The next push of a topic.
    pub(crate) async fn pushed(&mut self, topic: &str) -> Value {
        loop {
            let frame = self.next().await;
            if frame["topic"] == topic {
                return frame;
            }
        }
    }

    /// Whether nothing comes for a short while, with a ping as the mark.
    pub(crate) async fn is_silent(&mut self) -> bool {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let pong = self.ask(json!({ "op": "ping" })).await;
        pong["op"] == "pong"
    }
}

pub(crate) fn auth(login: &Login, expires: u64) -> Value {
    let sign = signature(
        &login.api_secret,
        format!("GET/realtime{expires}").as_bytes(),
    );
    json!({ "op": "auth", "args": [login.api_key, expires, sign] })
}
