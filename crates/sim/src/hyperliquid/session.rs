//! One socket of a client: its subscriptions, and requests that REST could bring.

use bytes::Bytes;
use hyper::{
    HeaderMap, Method,
    header::{CONTENT_TYPE, HeaderValue},
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    address::Address,
    info,
    markets::{Market, PERP},
    rows,
    venue::Hyperliquid,
};
use crate::{
    core::Fill,
    edge::{Called, Heard, Push, Reply, Request, Venue},
};

/// A socket on which nothing was sent for so long is closed.
pub(super) const SILENT_MS: u64 = 60_000;
pub(super) const GREETING: &str = "Websocket connection established.";

/// What a subscription is to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Topic {
    OrderUpdates { user: Address },
    UserFills { user: Address },
    UserEvents { user: Address },
    L2Book { coin: String },
    Trades { coin: String },
    AllMids {},
}

impl Topic {
    /// Topic, account and coin of the pushes that belong to it.
    fn of_pushes(&self) -> (&'static str, String, &str) {
        match self {
            Self::OrderUpdates { user } => ("orderUpdates", user.to_string(), ""),
            Self::UserFills { user } => ("userFills", user.to_string(), ""),
            Self::UserEvents { user } => ("userEvents", user.to_string(), ""),
            Self::L2Book { coin } => ("l2Book", String::new(), coin),
            Self::Trades { coin } => ("trades", String::new(), coin),
            Self::AllMids {} => ("allMids", String::new(), ""),
        }
    }

    /// The subscription with defaults filled in, as the venue repeats it.
    fn echo(&self) -> Value {
        match self {
            Self::OrderUpdates { user } => json!({ "type": "orderUpdates", "user": user }),
            Self::UserFills { user } => {
                json!({ "type": "userFills", "user": user, "aggregateByTime": false })
            }
            Self::UserEvents { user } => json!({ "type": "userEvents", "user": user }),
            Self::L2Book { coin } => {
                json!({ "type": "l2Book", "coin": coin, "nSigFigs": null, "mantissa": null })
            }
            Self::Trades { coin } => json!({ "type": "trades", "coin": coin }),
            Self::AllMids {} => json!({ "type": "allMids", "dex": null }),
        }
    }

    fn exists(&self) -> bool {
        match self {
            Self::L2Book { coin } | Self::Trades { coin } => Market::of_coin(coin).is_some(),
            Self::OrderUpdates { .. }
            | Self::UserFills { .. }
            | Self::UserEvents { .. }
            | Self::AllMids {} => true,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(tag = "method", rename_all = "camelCase")]
enum Frame {
    Subscribe { subscription: Topic },
    Unsubscribe { subscription: Topic },
    Ping {},
}

/// A request in a frame. Its payload is kept as it was written.
#[derive(Debug, Deserialize)]
struct Post<'a> {
    id: u64,
    #[serde(borrow)]
    request: Posted<'a>,
}

#[derive(Debug, Deserialize)]
struct Posted<'a> {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(borrow)]
    payload: &'a RawValue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Action,
    Info,
}

#[derive(Debug, Deserialize)]
struct Spoken<'a> {
    method: &'a str,
}

/// A socket.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Each with the last event before it was asked for.
    topics: Vec<(Topic, u64)>,
}

impl Session {
    /// One frame of the client.
    pub(super) fn hear(&mut self, venue: &Hyperliquid, text: &str) -> Heard {
        let method = serde_json::from_str::<Spoken<'_>>(text).map(|frame| frame.method);
        if matches!(method, Ok("post")) {
            return post(text);
        }
        match serde_json::from_str::<Frame>(text) {
            Ok(Frame::Ping {}) => say(&json!({ "channel": "pong" })),
            Ok(Frame::Subscribe { subscription }) => self.subscribe(venue, subscription),
            Ok(Frame::Unsubscribe { subscription }) => self.unsubscribe(&subscription),
            Err(_) => unreadable(text),
        }
    }

    fn subscribe(&mut self, venue: &Hyperliquid, topic: Topic) -> Heard {
        let echo = topic.echo();
        if !topic.exists() {
            return wrong(&format!("Invalid subscription {echo}"));
        }
        if self.topics.iter().any(|(other, _)| *other == topic) {
            return wrong(&format!("Already subscribed: {echo}"));
        }
        let world = venue.stage().world();
        let core = world.core();
        let data = json!({ "method": "subscribe", "subscription": echo });
        let mut texts =
            vec![json!({ "channel": "subscriptionResponse", "data": data }).to_string()];
        let now_ms = venue.now_ms();
        let first = match &topic {
            Topic::UserFills { user } => {
                let account = user.to_string();
                let of_user = core
                    .fills()
                    .iter()
                    .rev()
                    .filter(|fill| fill.account == account);
                let fills: Vec<&Fill> = of_user.take(info::MOST_ROWS).collect();
                let rows = info::fill_rows(venue.ids(), core, &fills, false);
                Some(json!({ "isSnapshot": true, "user": user, "fills": rows }))
            }
            Topic::L2Book { coin } => {
                Market::of_coin(coin).map(|market| rows::book(core, &market.key(), now_ms))
            }
            Topic::AllMids {} => Some(json!({ "mids": rows::mids(core, PERP) })),
            Topic::OrderUpdates { .. } | Topic::UserEvents { .. } | Topic::Trades { .. } => None,
        };
        if let Some(data) = first {
            let (channel, _, _) = topic.of_pushes();
            texts.push(json!({ "channel": channel, "data": data }).to_string());
        }
        self.topics.push((topic, core.seq()));
        Heard::Now(texts)
    }

    fn unsubscribe(&mut self, topic: &Topic) -> Heard {
        let echo = topic.echo();
        let before = self.topics.len();
        self.topics.retain(|(other, _)| other != topic);
        if self.topics.len() == before {
            return wrong(&format!("Already unsubscribed: {echo}"));
        }
        let data = json!({ "method": "unsubscribe", "subscription": echo });
        say(&json!({ "channel": "subscriptionResponse", "data": data }))
    }

    /// A push as this socket gets it.
    pub(super) fn push(&self, push: &Push) -> Option<String> {
        let listens = |(topic, after): &&(Topic, u64)| {
            let (name, account, coin) = topic.of_pushes();
            push.seq > *after
                && push.topic == name
                && push.account == account
                && push.category == coin
        };
        self.topics.iter().find(listens)?;
        let first = || push.rows.first().cloned().unwrap_or_default();
        let (channel, data) = match push.topic {
            "orderUpdates" | "trades" => (push.topic, json!(push.rows)),
            "userFills" => (
                "userFills",
                json!({ "user": push.account, "fills": push.rows }),
            ),
            "userEvents" => ("user", first()),
            _ => (push.topic, first()),
        };
        Some(json!({ "channel": channel, "data": data }).to_string())
    }
}

/// A frame that holds a request becomes the request that REST would bring.
fn post(text: &str) -> Heard {
    let Ok(post) = serde_json::from_str::<Post<'_>>(text) else {
        return unreadable(text);
    };
    let path = match post.request.kind {
        Kind::Action => "/exchange",
        Kind::Info => "/info",
    };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = post.request.payload.get();
    let asked = serde_json::from_str::<Value>(body).unwrap_or_default();
    let tag = json!({ "id": post.id, "path": path, "asked": asked.get("type") });
    let request = Request {
        method: Method::POST,
        path: path.to_owned(),
        query: String::new(),
        headers,
        body: Bytes::from(body.to_owned()),
        known: None,
    };
    Heard::Called(Box::new(Called { request, tag }))
}

/// The frame that answers a posted request.
pub(super) fn answer(tag: &Value, reply: &Reply) -> String {
    let payload = serde_json::from_str::<Value>(&reply.body)
        .ok()
        .filter(|_| reply.status == 200);
    let response = match (payload, tag.get("path").and_then(Value::as_str)) {
        (Some(payload), Some("/exchange")) => json!({ "type": "action", "payload": payload }),
        (Some(data), _) => {
            json!({ "type": "info", "payload": { "type": tag.get("asked"), "data": data } })
        }
        (None, _) => {
            let reason = hyper::StatusCode::from_u16(reply.status).ok();
            let reason = reason.map_or_else(|| reply.status.to_string(), |code| code.to_string());
            json!({ "type": "error", "payload": format!("{reason}: {}", reply.body) })
        }
    };
    let data = json!({ "id": tag.get("id"), "response": response });
    json!({ "channel": "post", "data": data }).to_string()
}

fn say(frame: &Value) -> Heard {
    Heard::Now(vec![frame.to_string()])
}

fn wrong(text: &str) -> Heard {
    say(&json!({ "channel": "error", "data": text }))
}

fn unreadable(text: &str) -> Heard {
    wrong(&format!(
        "Error parsing JSON into valid websocket request: {text}"
    ))
}
