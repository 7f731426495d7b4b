//! A small Hyperliquid with its rules about nonces, expiry and client order ids, and faults by order. It recovers the signer of each
//! request from the bytes that came.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use surefill_evm::{Address, Digest, Signature};
use surefill_hyperliquid::Keys;
use surefill_hyperliquid::ordered::Ordered;
use surefill_hyperliquid::sign::{self, Source, Terms};

use crate::server::{self, Reply, now};

pub(crate) const KEY: &str = "0x0123456789012345678901234567890123456789012345678901234567890123";

pub(crate) fn keys() -> Keys {
    Keys::new(KEY).expect("a key")
}

/// What happens to one order on its way.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It is not taken, and the answer is this.
    Lost(Reply),
    /// It is taken, and the answer is this.
    TakenThen(Reply),
    /// It is taken twice, and only the second copy is answered.
    Doubled,
    /// It is taken this much later, and the answer is a reset at once.
    Held,
}

/// An order of the book.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Whose it is: no other account's lists show it.
    user: Address,
    pub(crate) oid: u64,
    pub(crate) cloid: String,
    pub(crate) coin: &'static str,
    buys: bool,
    price: String,
    size: Decimal,
    left: Decimal,
    pub(crate) status: &'static str,
    placed_at: u64,
    changed_at: u64,
}

#[derive(Default)]
pub(crate) struct Book {
    pub(crate) orders: Vec<Order>,
    pub(crate) fills: Vec<Value>,
    /// Every change of an order, oldest first.
    history: Vec<Value>,
    nonces: HashMap<Address, HashSet<u64>>,
    /// Requests that wait on their way.
    held: Vec<String>,
    pub(crate) faults: VecDeque<Fault>,
    /// The same for noops.
    pub(crate) noop_faults: VecDeque<Fault>,
    /// Rows that lists of this type show besides.
    pub(crate) also: HashMap<&'static str, Vec<Value>>,
    /// Bodies of signed requests as they came, faults included.
    pub(crate) posted: Vec<String>,
    /// What the next order executes at once.
    pub(crate) executes: Option<Decimal>,
    /// The answer to the next order in place of the real one; its nonce is used up.
    pub(crate) refuses: Option<Value>,
    /// Reads of this type fail.
    pub(crate) blind: HashSet<&'static str>,
    /// What an address is, in place of an account.
    pub(crate) roles: HashMap<Address, Value>,
    /// Reads by type.
    pub(crate) reads: HashMap<String, usize>,
}

/// A book with a server in front of it.
#[derive(Clone)]
pub(crate) struct Venue {
    book: Arc<Mutex<Book>>,
    pub(crate) url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Request<'a> {
    #[serde(borrow)]
    action: &'a RawValue,
    nonce: u64,
    signature: Posted,
    vault_address: Option<Address20>,
    expires_after: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Posted {
    r: String,
    s: String,
    v: u8,
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Address20(Address);

impl TryFrom<String> for Address20 {
    type Error = surefill_hyperliquid::AddressError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl Venue {
    pub(crate) async fn start() -> Self {
        let book = Arc::new(Mutex::new(Book::default()));
        let shared = Arc::clone(&book);
        let url = server::serve(move |path, body| match path {
            "/info" => shared.lock().expect("lock").info(body),
            "/exchange" => exchange(&shared, body),
            other => panic!("not asked for: {other}"),
        })
        .await;
        Self { book, url }
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("lock")
    }

    pub(crate) fn faulty(&self, faults: impl IntoIterator<Item = Fault>) {
        self.book().faults.extend(faults);
    }

    /// What was held on its way arrives now; how many requests that were.
    pub(crate) fn held_arrive(&self) -> usize {
        let mut book = self.book();
        let held = std::mem::take(&mut book.held);
        held.iter().for_each(|body| drop(book.act(body)));
        held.len()
    }

    /// Orders that ever came to be.
    pub(crate) fn placed(&self) -> usize {
        self.book().orders.len()
    }

    /// The actions of one type that were posted, with their nonces.
    pub(crate) fn posted(&self, kind: &str) -> Vec<(u64, String)> {
        let book = self.book();
        let all = book.posted.iter().map(|body| {
            let value: Value = serde_json::from_str(body).expect("JSON");
            (value, body.clone())
        });
        all.filter(|(value, _)| value["action"]["type"] == kind)
            .map(|(value, body)| (value["nonce"].as_u64().expect("a nonce"), body))
            .collect()
    }
}

fn exchange(book: &Arc<Mutex<Book>>, body: &str) -> Reply {
    let mut locked = book.lock().expect("lock");
    locked.posted.push(body.to_owned());
    let is_order = body.starts_with("{\"action\":{\"type\":\"order\"");
    let is_noop = body.starts_with("{\"action\":{\"type\":\"noop\"");
    let fault = if is_order {
        locked.faults.pop_front()
    } else if is_noop {
        locked.noop_faults.pop_front()
    } else {
        None
    };
    match fault {
        None => Reply::Json(locked.act(body)),
        Some(Fault::Lost(reply)) => reply,
        Some(Fault::TakenThen(reply)) => {
            locked.act(body);
            reply
        }
        Some(Fault::Doubled) => {
            locked.act(body);
            Reply::Json(locked.act(body))
        }
        Some(Fault::Held) => {
            locked.held.push(body.to_owned());
            Reply::Reset
        }
    }
}

fn err(text: impl Into<String>) -> Value {
    json!({"status": "err", "response": text.into()})
}

fn ok(kind: &str, statuses: &Value) -> Value {
    json!({"status": "ok", "response": {"type": kind, "data": {"statuses": statuses}}})
}

fn word(hex_digits: &str) -> [u8; 32] {
    let mut word = [0; 32];
    let digits = hex_digits.strip_prefix("0x").expect("0x");
    hex::decode_to_slice(digits, &mut word).expect("64 digits");
    word
}

impl Book {
    fn act(&mut self, body: &str) -> Value {
        let request: Request<'_> = serde_json::from_str(body).expect("a request");
        let ordered: Ordered = serde_json::from_str(request.action.get()).expect("an action");
        let terms = Terms {
            nonce: request.nonce,
            vault: request.vault_address.map(|address| address.0),
            expires_after: request.expires_after,
        };
        let digest: Digest = sign::l1_digest(&ordered, &terms, Source::Testnet).expect("hashed");
        let signature = Signature {
            r: word(&request.signature.r),
            s: word(&request.signature.s),
            v: request.signature.v,
        };
        let signer = signature.recover(&digest).expect("a signer");
        if signer != keys().signer() {
            return err(format!("User or API Wallet {signer} does not exist."));
        }
        let most = now() + 24 * 60 * 60 * 1_000;
        if request.nonce >= most {
            let nonce = request.nonce;
            return err(format!("Invalid nonce: nonce too high {nonce} > {most}"));
        }
        if !self.nonces.entry(signer).or_default().insert(request.nonce) {
            return err(format!("Invalid nonce: duplicate nonce {}", request.nonce));
        }
        let expires = request.expires_after.expect("each request expires");
        if now() > expires {
            return err("Action already expired");
        }
        let action: Value = serde_json::from_str(request.action.get()).expect("JSON");
        let user = terms.vault.unwrap_or_else(|| self.account_of(signer));
        match action["type"].as_str().expect("a type") {
            "noop" => json!({"status": "ok", "response": {"type": "default"}}),
            "updateLeverage" => match self.refuses.take() {
                None => json!({"status": "ok", "response": {"type": "default"}}),
                Some(refusal) => refusal,
            },
            "order" => self
                .refuses
                .take()
                .unwrap_or_else(|| self.place(user, &action["orders"][0])),
            "cancel" => {
                let cancels = action["cancels"].as_array().expect("cancels");
                let each = |cancel: &Value| self.cancel(|order| json!(order.oid) == cancel["o"]);
                let statuses: Vec<Value> = cancels.iter().map(each).collect();
                ok("cancel", &json!(statuses))
            }
            "cancelByCloid" => {
                let cloid = action["cancels"][0]["cloid"].clone();
                ok(
                    "cancel",
                    &json!([self.cancel(|order| json!(order.cloid) == cloid)]),
                )
            }
            other => panic!("not asked for: {other}"),
        }
    }

    /// Whose the key is: its own, or the account that approved it as its agent.
    fn account_of(&self, signer: Address) -> Address {
        let role = self.roles.get(&signer);
        let master = role.and_then(|role| role["data"]["user"].as_str());
        master.map_or(signer, |master| master.parse().expect("an address"))
    }

    fn place(&mut self, user: Address, item: &Value) -> Value {
        let text = |name: &str| item[name].as_str().expect("text").to_owned();
        let size: Decimal = text("s").parse().expect("a size");
        let executed = self.executes.take().unwrap_or_default();
        let oid = 77_000 + u64::try_from(self.orders.len()).expect("few");
        let ioc = item["t"]["limit"]["tif"] == "Ioc";
        let cloid = text("c");
        let status = if ioc || executed == size {
            "filled"
        } else {
            "open"
        };
        self.orders.push(Order {
            user,
            oid,
            cloid: cloid.clone(),
            coin: "BTC",
            buys: item["b"].as_bool().expect("a side"),
            price: text("p"),
            size,
            left: size,
            status: "open",
            placed_at: now(),
            changed_at: now(),
        });
        self.remember(oid);
        if executed.is_zero() && !ioc {
            return ok("order", &json!([{"resting": {"oid": oid, "cloid": cloid}}]));
        }
        self.execute(oid, executed, status);
        let filled = json!({"totalSz": executed.to_string(), "avgPx": text("p"), "oid": oid, "cloid": cloid});
        ok("order", &json!([{"filled": filled}]))
    }

    /// Executes a part of an order.
    pub(crate) fn execute(&mut self, oid: u64, size: Decimal, status: &'static str) {
        let tid = 9_000 + self.fills.len();
        let order = self
            .orders
            .iter_mut()
            .find(|order| order.oid == oid)
            .expect("an order");
        order.left -= size;
        order.status = status;
        order.changed_at = now();
        let fill = json!({"coin": order.coin, "px": order.price, "sz": size.to_string(), "side": "B", "time": now(),
            "startPosition": "0.0", "dir": "Open Long", "closedPnl": "0.0", "hash": "0x0", "oid": oid, "crossed": true,
            "fee": "0.01", "tid": tid, "cloid": order.cloid, "feeToken": "USDC", "twapId": null});
        self.fills.push(fill);
        self.remember(oid);
    }

    /// Another order under the same client order id, which this venue takes.
    pub(crate) fn double(&mut self, oid: u64) {
        let order = self
            .orders
            .iter()
            .find(|order| order.oid == oid)
            .expect("an order");
        let second = Order {
            oid: oid + 500,
            placed_at: now(),
            changed_at: now(),
            ..order.clone()
        };
        self.orders.push(second);
        self.remember(oid + 500);
    }

    fn cancel(&mut self, which: impl Fn(&Order) -> bool) -> Value {
        let open = self
            .orders
            .iter_mut()
            .find(|order| order.status == "open" && which(order));
        let Some(order) = open else {
            return json!({"error": "Order was never placed, already canceled, or filled. asset=0"});
        };
        order.status = "canceled";
        order.changed_at = now();
        let oid = order.oid;
        self.remember(oid);
        json!("success")
    }

    fn remember(&mut self, oid: u64) {
        let order = self
            .orders
            .iter()
            .find(|order| order.oid == oid)
            .expect("an order");
        self.history.push(order.status_row());
    }

    fn info(&mut self, body: &str) -> Reply {
        let asked: Value = serde_json::from_str(body).expect("JSON");
        let kind = asked["type"].as_str().expect("a type").to_owned();
        *self.reads.entry(kind.clone()).or_default() += 1;
        if self.blind.contains(kind.as_str()) {
            return Reply::Raw(500, "null");
        }
        let user = || {
            asked["user"]
                .as_str()
                .expect("a user")
                .parse::<Address>()
                .expect("an address")
        };
        let answer = match kind.as_str() {
            "exchangeStatus" => json!({"time": now(), "specialStatuses": null}),
            "meta" => meta(),
            "spotMeta" => spot_meta(),
            "allMids" => json!({"BTC": "60000.5", "ETH": "3000.5", "PURR/USDC": "0.2"}),
            "userRole" => self
                .roles
                .get(&user())
                .cloned()
                .unwrap_or_else(|| json!({"role": "user"})),
            "openOrders" => {
                let open = |order: &&Order| order.status == "open" && order.user == user();
                let open = self.orders.iter().filter(open);
                json!(open.map(Order::row).collect::<Vec<_>>())
            }
            "orderStatus" => self.order_status(user(), &asked["oid"]),
            "historicalOrders" => {
                let of = |row: &&Value| self.is_of(user(), &row["order"]["oid"]);
                json!(self.history.iter().rev().filter(of).collect::<Vec<_>>())
            }
            "userFillsByTime" => {
                let (from, to) = (asked["startTime"].as_u64(), asked["endTime"].as_u64());
                let within = |fill: &&Value| {
                    let time = fill["time"].as_u64();
                    time >= from && time <= to && self.is_of(user(), &fill["oid"])
                };
                json!(self.fills.iter().filter(within).collect::<Vec<_>>())
            }
            other => panic!("not asked for: {other}"),
        };
        Reply::Json(match (answer, self.also.get(kind.as_str())) {
            (Value::Array(mut rows), Some(also)) => {
                rows.extend(also.iter().cloned());
                Value::Array(rows)
            }
            (answer, _) => answer,
        })
    }

    fn is_of(&self, user: Address, oid: &Value) -> bool {
        let mut orders = self.orders.iter();
        orders.any(|order| order.user == user && json!(order.oid) == *oid)
    }

    /// The newest order, where several have the id.
    fn order_status(&self, user: Address, oid: &Value) -> Value {
        let is = |order: &&Order| {
            order.user == user && (json!(order.oid) == *oid || json!(order.cloid) == *oid)
        };
        match self.orders.iter().rev().find(is) {
            Some(order) => json!({"status": "order", "order": order.status_row()}),
            None => json!({"status": "unknownOid"}),
        }
    }
}

impl Order {
    /// An open order of an account.
    pub(crate) fn of(user: Address, oid: u64, cloid: &str) -> Self {
        Self {
            user,
            oid,
            cloid: cloid.to_owned(),
            coin: "BTC",
            buys: true,
            price: "60000".to_owned(),
            size: Decimal::new(3, 2),
            left: Decimal::new(3, 2),
            status: "open",
            placed_at: now(),
            changed_at: now(),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.status == "open"
    }

    fn row(&self) -> Value {
        json!({"coin": self.coin, "side": if self.buys { "B" } else { "A" }, "limitPx": self.price,
            "sz": self.left.to_string(), "oid": self.oid, "timestamp": self.placed_at,
            "origSz": self.size.to_string(), "cloid": self.cloid})
    }

    fn status_row(&self) -> Value {
        json!({"order": self.row(), "status": self.status, "statusTimestamp": self.changed_at})
    }
}

/// The perpetuals: one of them is delisted and keeps its number.
pub(crate) fn meta() -> Value {
    json!({"universe": [
        {"name": "BTC", "szDecimals": 5, "maxLeverage": 40, "marginTableId": 56},
        {"name": "OLD", "szDecimals": 0, "maxLeverage": 3, "marginTableId": 3, "isDelisted": true},
        {"name": "ETH", "szDecimals": 4, "maxLeverage": 25, "marginTableId": 55}],
        "marginTables": [], "collateralToken": 0})
}

pub(crate) fn spot_meta() -> Value {
    json!({"universe": [
        {"name": "PURR/USDC", "tokens": [1, 0], "index": 0, "isCanonical": true},
        {"name": "@107", "tokens": [150, 0], "index": 107, "isCanonical": false}],
        "tokens": [
        {"name": "USDC", "szDecimals": 8, "weiDecimals": 8, "index": 0, "tokenId": "0x", "isCanonical": true},
        {"name": "HYPE", "szDecimals": 2, "weiDecimals": 8, "index": 150, "tokenId": "0x", "isCanonical": false},
        {"name": "PURR", "szDecimals": 0, "weiDecimals": 5, "index": 1, "tokenId": "0x", "isCanonical": true}]})
}
