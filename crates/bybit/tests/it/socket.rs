//! A server of sockets that answers by a script and keeps what it was asked.

use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// What the server does after a frame.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Says this.
    Say(Value),
    /// Says this text.
    Text(String),
    /// Writes these bytes past the protocol.
    Bytes(Vec<u8>),
    /// Closes the connection.
    Close,
}

pub(crate) struct Socket {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<(usize, Value)>>>,
}

impl Socket {
    /// A server that is told the connection, from 1, and the frame.
    pub(crate) async fn start(
        script: impl Fn(usize, &Value) -> Vec<Act> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("ws://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, script) = (Arc::clone(&asked), Arc::new(script));
        tokio::spawn(async move {
            let mut no = 0;
            while let Ok((stream, _)) = listener.accept().await {
                no += 1;
                let (kept, script) = (Arc::clone(&kept), Arc::clone(&script));
                tokio::spawn(async move {
                    let mut peer = tokio_tungstenite::accept_async(stream)
                        .await
                        .expect("shake");
                    while let Some(Ok(message)) = peer.next().await {
                        let Message::Text(text) = message else {
                            continue;
                        };
                        let frame: Value = serde_json::from_str(&text).expect("JSON");
                        kept.lock().expect("lock").push((no, frame.clone()));
                        for act in script(no, &frame) {
                            if !play(&mut peer, act).await {
                                return;
                            }
                        }
                    }
                });
            }
        });
        Self { url, asked }
    }

    /// The frames of an op, with the connection that each came over.
    pub(crate) fn asked(&self, op: &str) -> Vec<(usize, Value)> {
        let asked = self.asked.lock().expect("lock");
        let of_op = asked.iter().filter(|(_, frame)| frame["op"] == op);
        of_op.cloned().collect()
    }
}

async fn play(peer: &mut WebSocketStream<TcpStream>, act: Act) -> bool {
    match act {
        Act::Say(value) => peer.send(Message::text(value.to_string())).await.is_ok(),
        Act::Text(text) => peer.send(Message::text(text)).await.is_ok(),
        Act::Bytes(bytes) => peer.get_mut().write_all(&bytes).await.is_ok(),
        Act::Close => false,
    }
}

/// The answer of the private socket to an authentication or a subscription.
pub(crate) fn yes(frame: &Value) -> Act {
    Act::Say(
        json!({"success": true, "ret_msg": "", "op": frame["op"], "req_id": frame["req_id"], "conn_id": "c"}),
    )
}
