//! A server that does what a test says, one connection after another, and keeps every byte that it was sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use surefill_transport::{HttpClient, HttpConfig, Method, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a connection does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Reads a request, answers these bytes, and goes on with the next act on the same connection.
    Answer(Vec<u8>),
    /// Resets the connection without reading.
    ResetBefore,
    /// Reads a request, then resets.
    ResetAfter,
    /// Reads a request and never answers.
    Silence,
    /// Waits until the peer closes, and keeps what it sends.
    Listen,
    /// Closes the connection at its end; the next act is for the next connection.
    Close,
}

pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<u8>>>,
    connections: Arc<Mutex<usize>>,
}

impl Server {
    pub(crate) async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(Mutex::new(0));
        let (kept, counted) = (Arc::clone(&seen), Arc::clone(&connections));
        tokio::spawn(async move {
            let mut acts = acts.into_iter();
            while let Ok((stream, _)) = listener.accept().await {
                *counted.lock().expect("lock") += 1;
                play(stream, &mut acts, &kept).await;
            }
        });
        Self {
            url,
            seen,
            connections,
        }
    }

    pub(crate) fn seen(&self) -> String {
        String::from_utf8(self.seen.lock().expect("lock").clone()).expect("text")
    }

    /// How many requests with a POST line were written to us.
    pub(crate) fn posts(&self) -> usize {
        self.seen().matches("POST /").count()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().expect("lock")
    }
}

async fn play(mut stream: TcpStream, acts: &mut impl Iterator<Item = Act>, seen: &Mutex<Vec<u8>>) {
    loop {
        match acts.next() {
            None | Some(Act::Close) => return,
            Some(Act::Answer(bytes)) => {
                read_request(&mut stream, seen).await;
                stream.write_all(&bytes).await.expect("write");
            }
            Some(Act::ResetBefore) => {
                reset(stream);
                return;
            }
            Some(Act::ResetAfter) => {
                read_request(&mut stream, seen).await;
                reset(stream);
                return;
            }
            Some(Act::Silence) => {
                read_request(&mut stream, seen).await;
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).await.ok();
                seen.lock().expect("lock").extend(rest);
                return;
            }
            Some(Act::Listen) => {
                let mut all = Vec::new();
                stream.read_to_end(&mut all).await.ok();
                seen.lock().expect("lock").extend(all);
                return;
            }
        }
    }
}

/// A zero linger time makes the close a reset.
fn reset(stream: TcpStream) {
    stream.set_zero_linger().expect("linger");
    drop(stream);
}

async fn read_request(stream: &mut TcpStream, seen: &Mutex<Vec<u8>>) {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let n = stream.read(&mut buffer).await.unwrap_or(0);
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes);
        let whole = text.find("\r\n\r\n").is_some_and(|head| {
            let length = text.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().expect("a length"))
            });
            bytes.len() >= head + 4 + length.unwrap_or(0)
        });
        if whole || n == 0 {
            break;
        }
    }
    seen.lock().expect("lock").extend(bytes);
}

/// An answer with this status and body.
pub(crate) fn answer(status: &str, body: &str) -> Act {
    Act::Answer(
        format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nX-Mixed-Case: yes\r\n\r\n{body}",
            body.len()
        )
        .into_bytes(),
    )
}

/// A client that waits for as long as any machine takes.
pub(crate) fn client() -> HttpClient {
    waiting(Duration::from_secs(60), Duration::from_secs(60))
}

/// A client whose time-outs are short, for servers that never answer.
pub(crate) fn hasty() -> HttpClient {
    waiting(Duration::from_millis(300), Duration::from_secs(3))
}

fn waiting(connect_timeout: Duration, timeout: Duration) -> HttpClient {
    HttpClient::new(HttpConfig {
        connect_timeout,
        timeout,
        max_body_bytes: 1024,
        ..HttpConfig::default()
    })
    .expect("a client")
}

pub(crate) fn post(url: &str) -> Request {
    Request::new(Method::Post, format!("{url}/order?a=%3D1&b=x,y"))
        .header("X-API-KEY", "TOPSECRETKEY")
        .header("Content-Type", "application/json")
        .body("{\"qty\": \"1\"}")
}
