//! A small client, and a venue to use it on.

use std::{io, net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use surefill_sim::bybit::{Config, Handle, Login, signature, signed_text, start};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// No test waits longer than this for anything.
pub(crate) const BOUND: Duration = Duration::from_secs(20);

/// An answer as it came.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn code(&self) -> i64 {
        self.json()["retCode"].as_i64().unwrap()
    }

    pub(crate) fn list(&self) -> Vec<Value> {
        assert_eq!(self.code(), 0, "{:?}", self.json());
        self.json()["result"]["list"].as_array().unwrap().clone()
    }
}

/// Sends one request on an open connection and reads one answer.
pub(crate) async fn exchange(stream: &mut TcpStream, request: &[u8]) -> io::Result<Answer> {
    stream.write_all(request).await?;
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .unwrap()
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .collect();
    let mut body = bytes.split_off(head_end + 4);
    let length = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Answer {
        status,
        headers,
        body,
    })
}

/// A request's bytes.
pub(crate) fn request(
    method: &str,
    target: &str,
    headers: &[(String, String)],
    body: &str,
) -> Vec<u8> {
    let mut text = format!("{method} {target} HTTP/1.1\r\nHost: sim\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if method == "POST" || !body.is_empty() {
        text.push_str(&format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        ));
    }
    text.push_str("\r\n");
    text.push_str(body);
    text.into_bytes()
}

/// Sends on a connection of its own.
pub(crate) async fn send(addr: SocketAddr, bytes: Vec<u8>) -> io::Result<Answer> {
    let exchanged = async {
        let mut stream = TcpStream::connect(addr).await?;
        exchange(&mut stream, &bytes).await
    };
    tokio::time::timeout(BOUND, exchanged)
        .await
        .expect("an answer or an end within the bound")
}

/// A running venue with one account that trades.
#[derive(Debug)]
pub(crate) struct Sim {
    pub(crate) handle: Handle,
    pub(crate) login: Login,
}

impl Sim {
    pub(crate) async fn start() -> Self {
        Self::with(Config::default()).await
    }

    /// Without rate limits that a test could meet.
    pub(crate) async fn with(mut config: Config) -> Self {
        for login in &mut config.logins {
            login.orders_per_s = 100_000;
            login.reads_per_s = 100_000;
        }
        let login = config.logins[0].clone();
        Self {
            handle: start(config).await.unwrap(),
            login,
        }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.handle.addr()
    }

    pub(crate) async fn now_ms(&self) -> u64 {
        self.get_control("/clock").await["now_ms"].as_u64().unwrap()
    }

    pub(crate) fn signed(
        &self,
        method: &str,
        path: &str,
        query: &str,
        body: &str,
        at_ms: u64,
        window: u64,
    ) -> Vec<u8> {
        signed_by(&self.login, method, path, query, body, at_ms, window)
    }

    pub(crate) async fn try_post(&self, path: &str, body: &Value) -> io::Result<Answer> {
        let at_ms = self.now_ms().await;
        send(
            self.addr(),
            self.signed("POST", path, "", &body.to_string(), at_ms, 5_000),
        )
        .await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.try_post(path, body).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str, query: &str) -> Answer {
        let at_ms = self.now_ms().await;
        send(
            self.addr(),
            self.signed("GET", path, query, "", at_ms, 5_000),
        )
        .await
        .unwrap()
    }

    pub(crate) async fn create(&self, id: &str) -> io::Result<Answer> {
        self.try_post("/v5/order/create", &resting(id)).await
    }

    pub(crate) async fn control(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        send(
            self.addr(),
            request(method, &format!("/_sim{path}"), &[], &body),
        )
        .await
        .unwrap()
    }

    /// Posts to the control port and wants a yes.
    pub(crate) async fn set(&self, path: &str, body: Value) {
        let answer = self.control("POST", path, &body).await;
        assert_eq!(answer.status, 200, "{path} {body}: {:?}", answer.json());
    }

    pub(crate) async fn get_control(&self, path: &str) -> Value {
        let answer = self.control("GET", path, &Value::Null).await;
        assert_eq!(answer.status, 200, "{path}: {:?}", answer.json());
        answer.json()
    }

    /// Orders that the venue really holds under this id.
    pub(crate) async fn held(&self, id: &str) -> Vec<Value> {
        self.get_control(&format!("/orders?cl_ord_id={id}"))
            .await
            .as_array()
            .unwrap()
            .clone()
    }

    /// Waits until the venue holds `count` orders under this id.
    pub(crate) async fn until_held(&self, id: &str, count: usize) {
        let waiting = async {
            while self.held(id).await.len() != count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(BOUND, waiting)
            .await
            .unwrap_or_else(|_| panic!("never {count} orders {id}"));
    }

    /// Waits until a row of the request log says what `is` wants.
    pub(crate) async fn until_logged(&self, is: impl Fn(&Value) -> bool) -> Value {
        let waiting = async {
            loop {
                let rows = self.get_control("/requests").await;
                if let Some(row) = rows.as_array().unwrap().iter().find(|row| is(row)) {
                    return row.clone();
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(BOUND, waiting)
            .await
            .expect("a row in the request log")
    }
}

/// Bytes of a signed request.
pub(crate) fn signed_by(
    login: &Login,
    method: &str,
    path: &str,
    query: &str,
    body: &str,
    at_ms: u64,
    window: u64,
) -> Vec<u8> {
    let (at, window) = (at_ms.to_string(), window.to_string());
    let payload = if method == "GET" { query } else { body };
    let sign = signature(
        &login.api_secret,
        &signed_text(&at, &login.api_key, &window, payload.as_bytes()),
    );
    let headers = [
        ("X-BAPI-API-KEY", login.api_key.clone()),
        ("X-BAPI-TIMESTAMP", at),
        ("X-BAPI-RECV-WINDOW", window),
        ("X-BAPI-SIGN", sign),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    let target = if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    };
    request(method, &target, &headers, body)
}

/// A limit order that rests in the middle of the flat book.
pub(crate) fn resting(id: &str) -> Value {
    json!({
        "category": "linear", "symbol": "BTCUSDT", "side": "Buy", "orderType": "Limit", "qty": "0.030",
        "price": "60000.0", "timeInForce": "GTC", "positionIdx": 0, "orderLinkId": id,
    })
}

/// `body` with other values for some fields.
pub(crate) fn but(mut body: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}
