//! One socket of a client: the private one, which streams, or the trade one, which takes orders.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use hyper::{
    HeaderMap, Method,
    header::{HeaderName, HeaderValue},
};
use serde_json::{Map, Value, json};

use super::{sign, venue::Bybit};
use crate::edge::{Called, Heard, Push, Reply, Request, Venue};

/// Families of topics that come all in one or by category.
const FAMILIES: [&str; 4] = ["order", "execution", "position", "execution.fast"];
/// Topics without categories.
const PLAIN: [&str; 5] = ["wallet", "greeks", "dcp.future", "dcp.spot", "dcp.option"];
const CATEGORIES: [&str; 4] = ["linear", "inverse", "spot", "option"];
/// Longest `reqId`.
const LONGEST_REQ_ID: usize = 36;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Private,
    Trade,
}

/// A socket.
#[derive(Debug)]
pub(super) struct Session {
    kind: Kind,
    conn_id: String,
    pub(super) idle_ms: u64,
    api_key: Option<String>,
    account: String,
    /// Topic, and the last event before it was asked for: no snapshot follows a subscription.
    topics: BTreeMap<String, u64>,
    req_ids: BTreeSet<String>,
}

impl Session {
    /// The socket at this path, if there is one.
    pub(super) fn open(path: &str, query: &str, conn_id: String) -> Option<Self> {
        let kind = match path {
            "/v5/private" => Kind::Private,
            "/v5/trade" => Kind::Trade,
            _ => return None,
        };
        let asked = query
            .split('&')
            .find_map(|part| part.strip_prefix("max_active_time="));
        Some(Self {
            kind,
            conn_id,
            idle_ms: asked.and_then(span_ms).unwrap_or(600_000),
            api_key: None,
            account: String::new(),
            topics: BTreeMap::new(),
            req_ids: BTreeSet::new(),
        })
    }

    /// One frame of the client.
    pub(super) fn hear(&mut self, venue: &Bybit, text: &str) -> Heard {
        let Ok(Value::Object(frame)) = serde_json::from_str(text) else {
            return self.refuse("", &Value::Null, 10_001, "Params Error");
        };
        let op = frame.get("op").and_then(Value::as_str).unwrap_or_default();
        let id = frame
            .get(self.id_name())
            .or_else(|| frame.get("req_id"))
            .cloned()
            .unwrap_or_default();
        match (op, self.kind) {
            ("auth", _) => self.auth(venue, &frame, &id),
            ("ping", Kind::Private) => {
                let now_ms = venue.stage().clock.now_ms().to_string();
                self.tell(json!({ "op": "pong", "args": [now_ms] }), &id)
            }
            ("ping", Kind::Trade) => {
                let now_ms = venue.stage().clock.now_ms().to_string();
                let pong = json!({ "retCode": 0, "retMsg": "OK", "op": "pong", "data": [now_ms] });
                self.tell(pong, &id)
            }
            ("subscribe" | "unsubscribe", Kind::Private) => self.subscribe(venue, op, &frame, &id),
            (op, Kind::Trade) if path(op).is_some() => self.order(op, &frame, &id),
            (op, _) => self.refuse(op, &id, 10_404, "op type is not found"),
        }
    }

    const fn id_name(&self) -> &'static str {
        match self.kind {
            Kind::Private => "req_id",
            Kind::Trade => "reqId",
        }
    }

    /// An answer with the ids that every one carries.
    fn tell(&self, mut frame: Value, id: &Value) -> Heard {
        let conn = match self.kind {
            Kind::Private => "conn_id",
            Kind::Trade => "connId",
        };
        if let Some(frame) = frame.as_object_mut() {
            if !id.is_null() {
                frame.insert(self.id_name().to_owned(), id.clone());
            }
            frame.insert(conn.to_owned(), json!(self.conn_id));
        }
        Heard::Say(frame.to_string())
    }

    fn refuse(&self, op: &str, id: &Value, code: u32, text: &str) -> Heard {
        let frame = match self.kind {
            Kind::Private => json!({ "success": false, "ret_msg": text, "op": op }),
            Kind::Trade => json!({ "retCode": code, "retMsg": text, "op": op }),
        };
        self.tell(frame, id)
    }

    fn agree(&self, op: &str, id: &Value) -> Heard {
        let frame = match self.kind {
            Kind::Private => json!({ "success": true, "ret_msg": "", "op": op }),
            Kind::Trade => json!({ "retCode": 0, "retMsg": "OK", "op": op }),
        };
        self.tell(frame, id)
    }

    fn auth(&mut self, venue: &Bybit, frame: &Map<String, Value>, id: &Value) -> Heard {
        if self.api_key.is_some() {
            return self.refuse("auth", id, 20_001, "Repeat auth");
        }
        let args = frame.get("args").and_then(Value::as_array);
        let (key, expires, signature) = match args.map(Vec::as_slice) {
            Some([Value::String(key), expires, Value::String(signature)]) => {
                (key, words(expires), signature)
            }
            Some(_) | None => return self.refuse("auth", id, 10_001, "Params Error"),
        };
        let Some(login) = venue.login(key) else {
            return self.refuse("auth", id, 10_003, "API key is invalid.");
        };
        let signed = format!("GET/realtime{expires}");
        if !sign::fits(login, signed.as_bytes(), signature) {
            return self.refuse("auth", id, 10_004, "Error sign");
        }
        let now_ms = venue.stage().clock.now_ms();
        if expires
            .parse::<u64>()
            .map_or(true, |expires| expires <= now_ms)
        {
            return self.refuse("auth", id, 10_001, "Request expired");
        }
        self.api_key = Some(key.clone());
        self.account.clone_from(&login.uid);
        self.agree("auth", id)
    }

    fn subscribe(
        &mut self,
        venue: &Bybit,
        op: &str,
        frame: &Map<String, Value>,
        id: &Value,
    ) -> Heard {
        if self.api_key.is_none() {
            return self.refuse(op, id, 10_007, "Request not authorized");
        }
        let args = frame
            .get("args")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let topics: Vec<&str> = args.iter().filter_map(Value::as_str).collect();
        if topics.is_empty() || topics.len() != args.len() {
            return self.refuse(op, id, 10_001, "Params Error");
        }
        // One bad topic fails the whole request.
        if let Some(topic) = topics.iter().find(|topic| !is_topic(topic)) {
            let text = format!("error:topic not found, topic:{topic}");
            return self.refuse(op, id, 10_001, &text);
        }
        if op == "unsubscribe" {
            self.topics
                .retain(|topic, _| !topics.contains(&topic.as_str()));
            return self.agree(op, id);
        }
        let held: Vec<&str> = self
            .topics
            .keys()
            .map(String::as_str)
            .chain(topics.iter().copied())
            .collect();
        for family in FAMILIES {
            let by_category = |topic: &&str| split(topic).is_some_and(|(other, _)| other == family);
            if held.contains(&family) && held.iter().any(by_category) {
                let text = format!("error:subscription conflict, topic:{family}");
                return self.refuse(op, id, 10_001, &text);
            }
        }
        let seq = venue.stage().world().core().seq();
        for topic in topics {
            self.topics.entry(topic.to_owned()).or_insert(seq);
        }
        self.agree(op, id)
    }

    /// An order frame becomes the request that REST would bring, without a signature.
    fn order(&mut self, op: &str, frame: &Map<String, Value>, id: &Value) -> Heard {
        let id_text = id.as_str().unwrap_or_default();
        if id_text.is_empty() || id_text.len() > LONGEST_REQ_ID {
            return self.refuse(op, id, 10_001, "reqId invalid");
        }
        let Some(api_key) = self.api_key.clone() else {
            return self.refuse(op, id, 10_007, "User authentication failed.");
        };
        if !self.req_ids.insert(id_text.to_owned()) {
            return self.refuse(op, id, 20_006, "reqId is duplicated");
        }
        let mut headers = HeaderMap::new();
        for (name, value) in frame
            .get("header")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(words(value))) {
                headers.insert(name, value);
            }
        }
        let body = match frame
            .get("args")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        {
            Some([body @ Value::Object(_)]) => body.to_string(),
            Some(_) | None => return self.refuse(op, id, 10_001, "Params Error"),
        };
        let request = Request {
            method: Method::POST,
            path: path(op).unwrap_or_default(),
            query: String::new(),
            headers,
            body: Bytes::from(body),
            known: Some(api_key),
        };
        let tag = json!({ "reqId": id, "op": op, "connId": self.conn_id });
        Heard::Called(Box::new(Called { request, tag }))
    }

    /// A push as this socket gets it.
    pub(super) fn push(&self, push: &Push) -> Option<String> {
        if push.account != self.account {
            return None;
        }
        let by_category = format!("{}.{}", push.topic, push.category);
        let topic = [push.topic, &by_category].into_iter().find(|topic| {
            self.topics
                .get(*topic)
                .is_some_and(|after| push.seq > *after)
        })?;
        let message = json!({
            "id": push.id, "topic": topic, "creationTime": push.at_ms, "data": push.rows,
        });
        Some(message.to_string())
    }
}

/// The answer of the trade socket to an order frame.
pub(super) fn answer(tag: &Value, reply: &Reply, trace: u64, now_ms: u64) -> String {
    let unreadable = json!({ "retCode": 10_016, "retMsg": "internal server error" });
    let body = serde_json::from_str::<Value>(&reply.body)
        .ok()
        .filter(|body| body.get("retCode").is_some())
        .unwrap_or(unreadable);
    let object = |name: &str| body.get(name).cloned().unwrap_or_else(|| json!({}));
    let mut header: Map<String, Value> = reply
        .headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    header.insert("Traceid".to_owned(), json!(format!("{trace:032x}")));
    header.insert("Timenow".to_owned(), json!(now_ms.to_string()));
    json!({
        "reqId": tag.get("reqId"), "retCode": body.get("retCode"), "retMsg": body.get("retMsg"),
        "op": tag.get("op"), "data": object("result"), "retExtInfo": object("retExtInfo"), "header": header,
        "connId": tag.get("connId"),
    })
    .to_string()
}

/// The shape in which some failures came: nothing says which request failed.
pub(super) fn nameless(tag: &Value) -> String {
    json!({
        "success": false, "ret_msg": "Params Error", "op": tag.get("op"), "conn_id": tag.get("connId"),
    })
    .to_string()
}

/// The REST path of an op of the trade socket.
fn path(op: &str) -> Option<String> {
    let verb = op.strip_prefix("order.")?;
    let known = [
        "create",
        "amend",
        "cancel",
        "create-batch",
        "amend-batch",
        "cancel-batch",
    ];
    known.contains(&verb).then(|| format!("/v5/order/{verb}"))
}

fn is_topic(topic: &str) -> bool {
    FAMILIES.contains(&topic) || PLAIN.contains(&topic) || split(topic).is_some()
}

/// Family and category of a topic that has one.
fn split(topic: &str) -> Option<(&str, &str)> {
    topic
        .rsplit_once('.')
        .filter(|(family, category)| FAMILIES.contains(family) && CATEGORIES.contains(category))
}

/// A string as it is, a number as it was written.
fn words(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// `30s` to `600s`, or `10m`, in ms.
fn span_ms(text: &str) -> Option<u64> {
    let (number, unit) = text
        .strip_suffix('s')
        .map(|number| (number, 1_000))
        .or_else(|| text.strip_suffix('m').map(|number| (number, 60_000)))?;
    let ms = number.parse::<u64>().ok()?.checked_mul(unit)?;
    (30_000..=600_000).contains(&ms).then_some(ms)
}
