//! A client that signs, and a venue to use it on.

use std::sync::atomic::{AtomicU64, Ordering};

use k256::ecdsa::SigningKey;
use serde_json::{Value, json};
use surefill_sim::hyperliquid::{Config, Handle, hash_action, recover_signer, start};

use crate::support::{Answer, BOUND, request, send};

pub(crate) const FIRST: &str = "0x0123456789012345678901234567890123456789012345678901234567890123";
pub(crate) const SECOND: &str =
    "0x2222222222222222222222222222222222222222222222222222222222222222";
pub(crate) const AGENT: &str = "0x3333333333333333333333333333333333333333333333333333333333333333";
pub(crate) const VAULT: &str = "0x1719884eb866cb12b2287399b15f7db5e7d775ea";
pub(crate) const SUB: &str = "0x1d9470d4b963f552e6f671a81619d395877bf409";

/// A key and its address.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    key: SigningKey,
    pub(crate) address: String,
}

impl Key {
    pub(crate) fn new(hex: &str) -> Self {
        let key = SigningKey::from_slice(&bytes(hex)).unwrap();
        let signed = sign(&key, &[7; 32]);
        let word = |name: &str| signed[name].as_str().unwrap().to_owned();
        let address = recover_signer(
            &[7; 32],
            &word("r"),
            &word("s"),
            signed["v"].as_u64().unwrap(),
        );
        Self {
            key,
            address: address.unwrap(),
        }
    }

    /// A whole body. An action that users sign by their fields has no vault and no end.
    pub(crate) fn body(
        &self,
        action: &Value,
        nonce: u64,
        vault: Option<&str>,
        expires: Option<u64>,
    ) -> Value {
        let hashed = hash_action(&action.to_string(), nonce, vault, expires, false);
        let digest = hashed.expect("an action of the venue").digest;
        json!({
            "action": action, "nonce": nonce, "signature": sign(&self.key, &digest), "vaultAddress": vault,
            "expiresAfter": expires,
        })
    }
}

pub(crate) fn sign(key: &SigningKey, digest: &[u8; 32]) -> Value {
    let (signature, id) = key.sign_prehash_recoverable(digest);
    let (r, s) = signature.split_bytes();
    let word = |word: &[u8]| {
        format!(
            "0x{}",
            word.iter().map(|b| format!("{b:02x}")).collect::<String>()
        )
    };
    json!({ "r": word(&r), "s": word(&s), "v": 27 + u64::from(id.to_byte()) })
}

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.strip_prefix("0x").unwrap_or(hex);
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// A running venue, and the first key of the vectors.
#[derive(Debug)]
pub(crate) struct Sim {
    pub(crate) handle: Handle,
    pub(crate) key: Key,
    used: AtomicU64,
}

impl Sim {
    pub(crate) async fn start() -> Self {
        Self::with(Config::default()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        Self {
            handle: start(config).await.unwrap(),
            key: Key::new(FIRST),
            used: AtomicU64::new(0),
        }
    }

    pub(crate) fn user(&self) -> String {
        self.key.address.clone()
    }

    pub(crate) async fn now_ms(&self) -> u64 {
        let clock = self.handle.control("GET", "/clock", &Value::Null).await;
        clock.unwrap()["now_ms"].as_u64().unwrap()
    }

    /// Venue time, or one more than the last.
    pub(crate) async fn nonce(&self) -> u64 {
        let now_ms = self.now_ms().await;
        let last = self.used.fetch_max(now_ms, Ordering::SeqCst);
        if last < now_ms {
            return now_ms;
        }
        self.used.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> std::io::Result<Answer> {
        let bytes = request("POST", path, &[], &body.to_string());
        send(self.handle.addr(), bytes).await
    }

    /// Signed by the first key, under a new nonce.
    pub(crate) async fn body(&self, action: Value) -> Value {
        self.key.body(&action, self.nonce().await, None, None)
    }

    pub(crate) async fn act_by(&self, key: &Key, vault: Option<&str>, action: Value) -> Value {
        let body = key.body(&action, self.nonce().await, vault, None);
        self.post("/exchange", &body).await.unwrap().json()
    }

    pub(crate) async fn act(&self, action: Value) -> Value {
        self.act_by(&self.key, None, action).await
    }

    /// The elements of an answer that was admitted.
    pub(crate) async fn statuses(&self, action: Value) -> Vec<Value> {
        statuses(&self.act(action).await)
    }

    /// The only element of one order.
    pub(crate) async fn place(&self, order: Value) -> Value {
        let mut statuses = self.statuses(orders(&[order])).await;
        assert_eq!(statuses.len(), 1, "{statuses:?}");
        statuses.remove(0)
    }

    pub(crate) async fn info(&self, ask: Value) -> Value {
        let answer = self.post("/info", &ask).await.unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// `orderStatus` of the first account, by client id or number.
    pub(crate) async fn lookup(&self, which: impl Into<Value>) -> Value {
        let which: Value = which.into();
        self.info(json!({ "type": "orderStatus", "user": self.user(), "oid": which }))
            .await
    }

    pub(crate) async fn ask(&self, kind: &str) -> Value {
        self.info(json!({ "type": kind, "user": self.user() }))
            .await
    }

    pub(crate) async fn set(&self, path: &str, body: Value) {
        let done = self.handle.control("POST", path, &body).await;
        done.unwrap_or_else(|error| panic!("{path} {body}: {error}"));
    }

    pub(crate) async fn control(&self, path: &str) -> Value {
        self.handle
            .control("GET", path, &Value::Null)
            .await
            .unwrap()
    }

    /// Orders that the venue really holds under this client id.
    pub(crate) async fn held(&self, cloid: &str) -> Vec<Value> {
        let rows = self.control(&format!("/orders?cl_ord_id={cloid}")).await;
        rows.as_array().unwrap().clone()
    }

    /// Waits until the venue holds `count` orders under this client id.
    pub(crate) async fn until_held(&self, cloid: &str, count: usize) {
        let waiting = async {
            while self.held(cloid).await.len() != count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(BOUND, waiting)
            .await
            .unwrap_or_else(|_| panic!("never {count} orders {cloid}"));
    }
}

pub(crate) fn statuses(answer: &Value) -> Vec<Value> {
    assert_eq!(answer["status"], "ok", "{answer}");
    answer["response"]["data"]["statuses"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"))
        .clone()
}

/// A client id.
pub(crate) fn cloid(number: u32) -> String {
    format!("0x{number:032x}")
}

/// A resting buy of 0.02 ETH under a client id.
pub(crate) fn resting(number: u32) -> Value {
    limit(number, true, "2400.5", "0.02", "Gtc")
}

/// An order in ETH.
pub(crate) fn limit(number: u32, buy: bool, price: &str, size: &str, tif: &str) -> Value {
    json!({
        "a": 1, "b": buy, "p": price, "s": size, "r": false, "t": { "limit": { "tif": tif } }, "c": cloid(number),
    })
}

pub(crate) fn orders(orders: &[Value]) -> Value {
    json!({ "type": "order", "orders": orders, "grouping": "na" })
}

pub(crate) fn cancel(number: u32) -> Value {
    json!({ "type": "cancelByCloid", "cancels": [{ "asset": 1, "cloid": cloid(number) }] })
}

pub(crate) fn default() -> Value {
    json!({ "status": "ok", "response": { "type": "default" } })
}

pub(crate) fn refused(text: &str) -> Value {
    json!({ "status": "err", "response": text })
}
