//! The private stream: what is asked, what becomes of what is said, and what ends it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};
use surefill_bybit::Bybit;
use surefill_core::{
    Cold, MemoryStore, OrdState, OrdStatus, OrderIntent, Placement, VenueError, VenueEvent,
    VenueTime,
};

use crate::server::{Asked, NOW, Reply, Server, keys, now};
use crate::socket::{Act, Socket, yes};
use crate::world::{World, fill_row, intent, key, listing, order_row, page, timing};

const SOON: Duration = Duration::from_secs(60);

fn config(socket: &Socket) -> Bybit {
    Bybit::simulator("http://127.0.0.1:1", keys())
        .with_ws_url(&socket.url)
        .with_timing(timing())
}

fn push(topic: &str, rows: impl IntoIterator<Item = Value>) -> Value {
    let rows: Vec<Value> = rows.into_iter().collect();
    json!({"id": "i", "topic": topic, "creationTime": NOW, "data": rows})
}

/// Lets everybody in, and then says this.
async fn saying(acts: Vec<Act>) -> Socket {
    Socket::start(move |_, frame| match frame["op"].as_str() {
        Some("subscribe") => [vec![yes(frame)], acts.clone()].concat(),
        _ => vec![yes(frame)],
    })
    .await
}

/// Everything that is told until the end, or until a last fill which shows that the stream did not end; and which of both it was.
async fn heard(mut acts: Vec<Act>) -> (Vec<VenueEvent>, bool) {
    acts.push(Act::Say(push(
        "execution",
        [fill_row("o-last", &key(), "e-last", "0.010")],
    )));
    let socket = saying(acts).await;
    let world = World::with(config(&socket));
    let mut stream = world.venue.follow().await.expect("subscribed");
    let mut all = Vec::new();
    let ended = loop {
        let next = tokio::time::timeout(SOON, stream.next());
        match next.await.expect("an end, or the last fill") {
            Some(VenueEvent::Fill(_, fill)) if fill.exec_id == "e-last".into() => break false,
            Some(event) => all.push(event),
            None => break true,
        }
    };
    (all, ended)
}

#[tokio::test]
async fn it_resolves_when_subscribed_and_tells_orders_and_fills() {
    let socket = Socket::start(|_, frame| match frame["op"].as_str() {
        // A push may overtake the answer.
        Some("subscribe") => vec![
            Act::Say(push("order", [order_row("o-1", &key(), "New", "0")])),
            yes(frame),
            Act::Say(push("execution", [
                fill_row("o-1", &key(), "e-1", "0.010"),
                json!({"category": "linear", "symbol": "BTCUSDT", "orderId": "f", "execId": "f-1", "execType": "Funding"}),
                fill_row("o-1", "", "e-2", "0.020"),
            ])),
            Act::Say(push("position", [json!({"category": "linear", "symbol": "BTCUSDT", "side": "Buy", "size": "0.030"})])),
            Act::Say(push("wallet", [json!({"anything": [1, {}]})])),
            Act::Say(json!({"req_id": "p1", "op": "pong", "args": ["1"]})),
            Act::Say(push("order", [order_row("o-1", &key(), "Filled", "0.030")])),
            Act::Close,
        ],
        _ => vec![yes(frame)],
    })
    .await;
    let world = World::with(config(&socket));
    let stream = world.venue.follow().await.expect("subscribed");
    let events: Vec<VenueEvent> = tokio::time::timeout(SOON, stream.collect())
        .await
        .expect("it ends");
    let words: Vec<String> = events
        .iter()
        .map(|event| match event {
            VenueEvent::Report(report) => {
                let cum_qty = report.cum_qty.expect("a quantity");
                assert_eq!(
                    report
                        .handle
                        .key
                        .as_ref()
                        .map(|key| key.as_str().to_owned()),
                    Some(key())
                );
                format!("{:?} {cum_qty}", report.status)
            }
            VenueEvent::Fill(handle, fill) => {
                assert_eq!(handle.order_id, Some("o-1".into()));
                format!(
                    "{} {} {:?}",
                    fill.exec_id,
                    fill.last_qty,
                    handle.key.is_some()
                )
            }
        })
        .collect();
    assert_eq!(
        words,
        [
            "Open 0",
            "e-1 0.010 true",
            "e-2 0.020 false",
            "Filled 0.030"
        ]
    );
    let auth = &socket.asked("auth")[0].1;
    let expires = VenueTime::from_ms(NOW).after(Duration::from_secs(10));
    let signature = keys().sign_socket(expires).expect("signed");
    assert_eq!(
        auth["args"],
        json!(["SUREFILLFAKEKEY001", expires.as_ms(), signature])
    );
    let topics = &socket.asked("subscribe")[0].1["args"];
    assert_eq!(topics, &json!(["order", "execution", "position"]));
}

#[tokio::test]
async fn rows_of_others_are_passed_over() {
    let mut spot = order_row("o-9", &key(), "New", "0");
    spot["category"] = json!("spot");
    let mut second = order_row("o-2", &key(), "Rejected", "0");
    second["rejectReason"] = json!("EC_DuplicatedClOrdID");
    let (events, ended) = heard(vec![
        Act::Say(push("order", [spot, second])),
        Act::Say(push("order", [order_row("o-8", "a-man", "Baffled", "0")])),
        Act::Say(push("order.linear", [])),
        // Numbers as they please: an order of ours all the same.
        Act::Text(format!(
            "{{\"topic\":\"order\",\"creationTime\":\"1\",\"data\":[{{\"orderId\":7,\"orderLinkId\":\"{}\",\"symbol\":\"BTCUSDT\",\
             \"side\":\"Buy\",\"orderStatus\":\"New\",\"orderType\":\"Limit\",\"qty\":0.030,\"price\":60000.0,\"cumExecQty\":0,\
             \"avgPrice\":null,\"updatedTime\":{NOW},\"smpGroup\":\"7\"}}]}}",
            key()
        )),
    ])
    .await;
    assert!(!ended);
    let [VenueEvent::Report(report)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(report.status, OrdStatus::Open);
    assert_eq!(report.handle.order_id, Some("7".into()));
    assert_eq!(report.seen.order_qty, Some("0.030".parse().expect("qty")));
}

#[tokio::test]
async fn what_cannot_be_read_ends_it_and_tells_nothing() {
    let ours = |field: &str, value: Value| {
        let mut row = order_row("o-1", &key(), "New", "0");
        row[field] = value;
        Act::Say(push("order", [row]))
    };
    let fill = |field: &str, value: Value| {
        let mut row = fill_row("o-1", &key(), "e-1", "0.010");
        row[field] = value;
        Act::Say(push("execution", [row]))
    };
    let frames = vec![
        Act::Text("{\"topic\":\"order\",\"data\":[{\"ord".into()),
        Act::Text(String::new()),
        Act::Text("null".into()),
        Act::Text("[[]]".into()),
        Act::Text("{}".into()),
        Act::Text("[".repeat(200_000)),
        Act::Text("{\"topic\":\"order\"}".into()),
        Act::Text("{\"topic\":\"order\",\"data\":{}}".into()),
        Act::Text("{\"topic\":\"order\",\"data\":[1]}".into()),
        Act::Say(json!({"op": "subscribe", "success": false, "ret_msg": "gone"})),
        ours("orderStatus", json!("Baffled")),
        ours("orderStatus", json!(7)),
        ours("orderId", json!("")),
        ours("qty", json!("1e5000")),
        ours("qty", json!("many")),
        ours("qty", json!(-1)),
        ours("cumExecQty", json!({})),
        ours("side", json!("Both")),
        fill("execQty", json!("NaN")),
        fill("execTime", json!("soon")),
        fill("execFee", json!("free")),
        fill("execId", json!(null)),
        // A frame that says it holds 100 MB, a cut one, bytes that are no text.
        Act::Bytes([&[0x81, 127][..], &(100_u64 << 20).to_be_bytes()].concat()),
        Act::Bytes(vec![0x81, 2, 0xc3, 0x28]),
    ];
    for frame in frames {
        let shown = format!("{frame:?}").chars().take(200).collect::<String>();
        let (events, ended) = heard(vec![frame]).await;
        assert_eq!((events.len(), ended), (0, true), "{shown}");
    }
}

#[tokio::test]
async fn a_door_that_stays_shut_says_why() {
    let refuse = |op: &'static str| {
        move |_: usize, frame: &Value| {
            if frame["op"] == op {
                vec![Act::Say(
                    json!({"success": false, "ret_msg": "no", "op": op}),
                )]
            } else {
                vec![yes(frame)]
            }
        }
    };
    let why = async |socket: Socket| match World::with(config(&socket)).venue.follow().await {
        Err(error) => error,
        Ok(_) => panic!("subscribed"),
    };
    let auth = why(Socket::start(refuse("auth")).await).await;
    assert!(matches!(auth, VenueError::Keys(_)), "{auth}");
    let subscribe = why(Socket::start(refuse("subscribe")).await).await;
    assert!(matches!(subscribe, VenueError::Refused(_)), "{subscribe}");
    let closed = why(Socket::start(|_, _| vec![Act::Close]).await).await;
    assert!(matches!(closed, VenueError::Unreachable(_)), "{closed}");
    let garbage = why(Socket::start(|_, _| vec![Act::Text("<html>".into())]).await).await;
    assert!(matches!(garbage, VenueError::Unreadable(_)), "{garbage}");
    let mut nobody = Socket::start(|_, _| Vec::new()).await;
    nobody.url = "ws://127.0.0.1:1".to_owned();
    let refused = why(nobody).await;
    assert!(matches!(refused, VenueError::Unreachable(_)), "{refused}");
}

/// The engine over both: nothing but the stream tells of the fill, and a stream that ends is followed anew.
#[tokio::test]
async fn the_engine_learns_of_a_fill_by_the_stream_and_follows_again() {
    let placed: Arc<Mutex<Option<String>>> = Arc::default();
    let (told, known) = (Arc::clone(&placed), Arc::clone(&placed));
    let server = Server::running(move |asked: &Asked| match asked.line().as_str() {
        "POST /v5/order/create" => {
            let body: Value = serde_json::from_str(&asked.body).expect("JSON");
            let key = body["orderLinkId"].as_str().expect("an id").to_owned();
            *told.lock().expect("lock") = Some(key.clone());
            Reply::Ok(json!({"orderId": "o-1", "orderLinkId": key}))
        }
        "GET /v5/order/realtime" => {
            let key = told.lock().expect("lock").clone();
            let rows = key.map(|key| order_row("o-1", &key, "New", "0"));
            Reply::Ok(page(rows, ""))
        }
        "GET /v5/order/history" | "GET /v5/execution/list" | "GET /v5/position/list" => {
            Reply::Ok(page([], ""))
        }
        "GET /v5/market/time" => Reply::Ok(json!({"timeNano": format!("{}000000", now())})),
        "GET /v5/market/instruments-info" => Reply::Ok(listing()),
        "GET /v5/user/query-api" => Reply::Ok(json!({"userID": "4711", "readOnly": 0})),
        "GET /v5/account/info" => Reply::Ok(json!({"unifiedMarginStatus": 6})),
        other => panic!("not asked for: {other}"),
    })
    .await;
    let socket = Socket::start(move |connection, frame| {
        let mut acts = vec![yes(frame)];
        if frame["op"] != "subscribe" {
            return acts;
        }
        if connection == 1 {
            acts.push(Act::Close);
            return acts;
        }
        let key = known.lock().expect("lock").clone();
        if let Some(key) = key {
            let mut row = order_row("o-1", &key, "Filled", "0.030");
            row["updatedTime"] = json!((now() + 1).to_string());
            acts.push(Act::Say(push(
                "execution",
                [fill_row("o-1", &key, "e-1", "0.030")],
            )));
            acts.push(Act::Say(push("order", [row])));
        } else {
            acts.push(Act::Close);
        }
        acts
    })
    .await;
    let venue = Bybit::simulator(&server.url, keys())
        .with_ws_url(&socket.url)
        .with_timing(timing())
        .with_poll(Duration::from_secs(3_600));
    let store = MemoryStore::new(VenueTime::from_ms(now()));
    let cold = Cold::new(store).venue("v", venue);
    let (engine, _report) = cold.recover().await.expect("recovered");
    let mut intent: OrderIntent = intent();
    intent.decision.decided_at = VenueTime::from_ms(now());
    let placement = tokio::time::timeout(SOON, engine.place(intent)).await;
    let Placement::Live(order) = placement.expect("in time").expect("placed") else {
        panic!("live")
    };
    let row = tokio::time::timeout(SOON, order.done())
        .await
        .expect("in time");
    assert_eq!(row.state, OrdState::Filled);
    assert_eq!(row.booked_qty, "0.030".parse().expect("qty"));
    assert!(socket.asked("subscribe").len() >= 2);
    assert_eq!(server.count("POST /v5/order/create"), 1);
}
