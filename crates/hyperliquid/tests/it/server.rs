//! A server that answers by a script.

use std::sync::Arc;

use serde_json::Value;
use surefill_core::{BootTime, TimeSource};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers this.
    Json(Value),
    /// Answers this status and text.
    Raw(u16, &'static str),
    /// Resets the connection.
    Reset,
}

/// When the clocks of the tests begin, milliseconds.
pub(crate) const NOW: u64 = 1_767_225_600_000;

/// The time of a venue whose clock runs, milliseconds.
pub(crate) fn now() -> u64 {
    NOW + u64::try_from(BootTime.elapsed().as_millis()).expect("milliseconds")
}

/// Starts a server and says where it is. `script` is given path and body.
pub(crate) async fn serve(script: impl Fn(&str, &str) -> Reply + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let script = Arc::new(script);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(connection(stream, Arc::clone(&script)));
        }
    });
    url
}

async fn connection(
    mut stream: TcpStream,
    script: Arc<impl Fn(&str, &str) -> Reply + Send + Sync>,
) {
    while let Some((path, body)) = read(&mut stream).await {
        let (status, body) = match script(&path, &body) {
            Reply::Json(value) => (200, value.to_string()),
            Reply::Raw(status, body) => (status, body.to_owned()),
            Reply::Reset => {
                stream.set_zero_linger().expect("linger");
                return;
            }
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let bytes = [head.into_bytes(), body.into_bytes()].concat();
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let n = stream.read(&mut buffer).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_ascii_lowercase();
        assert!(head.contains("content-type: application/json"), "{head}");
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().expect("a length"));
        if body.len() < length {
            continue;
        }
        let target = head.split(' ').nth(1).expect("a target").to_owned();
        return Some((target, body.to_owned()));
    }
}
