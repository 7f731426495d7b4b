//! A server that answers by a script and keeps what it was asked. It checks every signature that it is given.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use surefill_bybit::Keys;
use surefill_core::{BootTime, TimeSource, VenueTime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Asked {
    /// `GET /v5/order/realtime`.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(have, _)| *have == name)
            .map(|(_, value)| value)
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers this `result`, code 0.
    Ok(Value),
    /// Answers this code and text.
    Code(i64, &'static str),
    /// Answers this status, and this `result`, code 0.
    Status(u16, Value),
    /// Answers this status and text.
    Raw(u16, &'static str),
    /// Answers only the first half of a yes.
    Cut,
    /// Answers 200 and so many bytes.
    Flood(usize),
    /// Answers this `result`, code 0, and that the limit is used up for so many milliseconds.
    UsedUp(Value, u64),
    /// Resets the connection.
    Reset,
    /// Keeps the connection and says nothing.
    Silence,
}

/// The venue's time in every answer.
pub(crate) const NOW: u64 = 1_767_225_600_000;

pub(crate) fn keys() -> Keys {
    Keys::hmac("SUREFILLFAKEKEY001", "fakefakefakefakefakefakefakefake0001").expect("keys")
}

pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// A server whose clock stands still at [`NOW`].
    pub(crate) async fn start(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::with_clock(|| NOW, script).await
    }

    /// A server whose clock runs.
    pub(crate) async fn running(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::with_clock(now, script).await
    }

    async fn with_clock(
        clock: fn() -> u64,
        script: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, script) = (Arc::clone(&asked), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, clock, Arc::clone(&script), Arc::clone(&kept)));
            }
        });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("lock").clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().iter().map(Asked::line).collect()
    }

    pub(crate) fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|have| *have == line).count()
    }
}

async fn serve(
    mut stream: TcpStream,
    clock: fn() -> u64,
    script: Arc<impl Fn(&Asked) -> Reply + Send + Sync>,
    kept: Arc<Mutex<Vec<Asked>>>,
) {
    while let Some(asked) = read(&mut stream).await {
        check(&asked);
        kept.lock().expect("lock").push(asked.clone());
        let envelope = |code, message, result| envelope(code, message, result, clock());
        let (status, body) = match script(&asked) {
            Reply::Ok(result) => (200, envelope(0, "OK", result)),
            Reply::Code(code, message) => (200, envelope(code, message, json!({}))),
            Reply::Status(status, result) => (status, envelope(0, "OK", result)),
            Reply::Raw(status, body) => (status, body.to_owned()),
            Reply::Cut => {
                let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"retCode\":0,\"result\":{\"ord";
                stream.write_all(cut).await.expect("write");
                return;
            }
            Reply::Flood(size) => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n");
                let mut open = stream.write_all(head.as_bytes()).await.is_ok();
                for _ in 0..size / 65_536 {
                    open = open && stream.write_all(&[b' '; 65_536]).await.is_ok();
                }
                return;
            }
            Reply::UsedUp(result, ms) => {
                let body = envelope(0, "OK", result);
                let (length, reset) = (body.len(), clock() + ms);
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nx-bapi-limit: 10\r\nx-bapi-limit-status: 0\r\nx-bapi-limit-reset-timestamp: {reset}\r\n\r\n"
                );
                let bytes = [head.into_bytes(), body.into_bytes()].concat();
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
                continue;
            }
            Reply::Reset => {
                stream.set_zero_linger().expect("linger");
                return;
            }
            Reply::Silence => {
                stream.read_to_end(&mut Vec::new()).await.ok();
                return;
            }
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nX-Bapi-Limit-Reset-Timestamp: {NOW}\r\n\r\n",
            body.len()
        );
        let bytes = [head.into_bytes(), body.into_bytes()].concat();
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// The time of a venue whose clock runs, milliseconds.
pub(crate) fn now() -> u64 {
    NOW + u64::try_from(BootTime.elapsed().as_millis()).expect("milliseconds")
}

fn envelope(code: i64, message: &str, result: Value, time: u64) -> String {
    json!({"retCode": code, "retMsg": message, "result": result, "retExtInfo": {}, "time": time})
        .to_string()
}

/// A request about the account is signed over the very bytes that came.
fn check(asked: &Asked) {
    if asked.path.starts_with("/v5/market/") {
        assert!(!asked.headers.contains_key("x-bapi-sign"), "{}", asked.path);
        return;
    }
    let header = |name: &str| asked.headers[name].as_str();
    let at = VenueTime::from_ms(header("x-bapi-timestamp").parse().expect("ms"));
    let window = Duration::from_millis(header("x-bapi-recv-window").parse().expect("ms"));
    let payload = if asked.method == "GET" {
        assert!(asked.body.is_empty(), "no body on a GET");
        &asked.query
    } else {
        assert_eq!(header("content-type"), "application/json");
        assert!(asked.query.is_empty());
        &asked.body
    };
    let signature = keys().sign(at, window, payload).expect("signed");
    assert_eq!(header("x-bapi-sign"), signature);
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let n = stream.read(&mut buffer).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let mut lines = head.lines();
        let mut first = lines.next().expect("a line").split(' ');
        let headers: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length = headers
            .get("content-length")
            .map_or(0, |length| length.parse().expect("a length"));
        if body.len() < length {
            continue;
        }
        let method = first.next().expect("a method").to_owned();
        let target = first.next().expect("a target");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        return Some(Asked {
            method,
            path: path.to_owned(),
            query: query.to_owned(),
            headers,
            body: body.to_owned(),
        });
    }
}
