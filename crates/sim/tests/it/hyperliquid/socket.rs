//! The socket: subscriptions, snapshots, posts, silence.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use super::client::{Key, SECOND, Sim, cancel, cloid, limit, orders, refused, resting};
use crate::support::BOUND;

/// One open socket.
#[derive(Debug)]
struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    /// Open and greeted.
    async fn open(sim: &Sim) -> Self {
        let stream = TcpStream::connect(sim.handle.addr()).await.unwrap();
        let url = format!("{}/ws", sim.handle.ws_url());
        let (socket, _) = client_async(url, stream).await.unwrap();
        let mut socket = Self(socket);
        let greeting = socket.text().await;
        assert_eq!(
            greeting.as_deref(),
            Some("Websocket connection established.")
        );
        socket
    }

    async fn send(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    /// The next text; none when the socket ended.
    async fn text(&mut self) -> Option<String> {
        loop {
            let next = tokio::time::timeout(BOUND, self.0.next()).await;
            match next.expect("a frame or an end within the bound") {
                Some(Ok(Message::Text(text))) => return Some(text.to_string()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.text().await.expect("the socket is open")).unwrap()
    }

    /// Subscribes, and gives what is said at once after the acknowledgment, if anything is expected.
    async fn subscribe(&mut self, subscription: Value) -> Value {
        self.send(json!({ "method": "subscribe", "subscription": subscription }))
            .await;
        let answer = self.next().await;
        assert_eq!(answer["channel"], "subscriptionResponse", "{answer}");
        answer["data"]["subscription"].clone()
    }

    /// The next message of a channel.
    async fn heard(&mut self, channel: &str) -> Value {
        loop {
            let frame = self.next().await;
            if frame["channel"] == channel {
                return frame["data"].clone();
            }
        }
    }

    async fn ask(&mut self, frame: Value) -> Value {
        self.send(frame).await;
        self.next().await
    }
}

#[tokio::test]
async fn order_updates_have_no_snapshot_and_no_user() {
    let sim = Sim::start().await;
    sim.place(resting(1)).await;
    let mut socket = Socket::open(&sim).await;
    let echo = socket.subscribe(json!({ "type": "orderUpdates", "user": sim.user().to_uppercase().replacen("0X", "0x", 1) })).await;
    assert_eq!(echo["user"], sim.user());
    // Another account's order is not said.
    sim.act_by(&Key::new(SECOND), None, orders(&[resting(7)]))
        .await;
    sim.statuses(orders(&[
        resting(2),
        limit(3, true, "3000", "0.001", "Gtc"),
    ]))
    .await;
    let row = socket.heard("orderUpdates").await[0].clone();
    assert_eq!(
        (&row["order"]["cloid"], &row["status"]),
        (&json!(cloid(2)), &json!("open"))
    );
    assert_eq!(
        row.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["order", "status", "statusTimestamp"]
    );
    let row = socket.heard("orderUpdates").await[0].clone();
    assert_eq!(
        (&row["order"]["cloid"], &row["status"]),
        (&json!(cloid(3)), &json!("minTradeNtlRejected"))
    );
    sim.set(
        "/fill",
        json!({ "cl_ord_id": &cloid(2)[2..], "qty": "0.01" }),
    )
    .await;
    let row = socket.heard("orderUpdates").await[0].clone();
    assert_eq!(
        (&row["status"], &row["order"]["sz"]),
        (&json!("open"), &json!("0.01"))
    );
    sim.statuses(cancel(2)).await;
    let row = socket.heard("orderUpdates").await[0].clone();
    assert_eq!(
        (&row["status"], &row["order"]["sz"]),
        (&json!("canceled"), &json!("0.01"))
    );
}

#[tokio::test]
async fn user_fills_begin_with_a_snapshot_and_leave_nothing_out() {
    let sim = Sim::start().await;
    sim.place(limit(1, true, "3000.1", "0.1", "Ioc")).await;
    let mut socket = Socket::open(&sim).await;
    socket
        .subscribe(json!({ "type": "userFills", "user": sim.user() }))
        .await;
    let snapshot = socket.heard("userFills").await;
    assert_eq!(
        (&snapshot["isSnapshot"], &snapshot["user"]),
        (&json!(true), &json!(sim.user()))
    );
    assert_eq!(snapshot["fills"], sim.ask("userFills").await);
    sim.place(limit(2, true, "3000.2", "1.5", "Ioc")).await;
    let pushed = socket.heard("userFills").await;
    assert_eq!(pushed.get("isSnapshot"), None);
    let fills = pushed["fills"].as_array().unwrap();
    assert_eq!(fills.len(), 2);
    assert!(
        fills
            .iter()
            .all(|fill| fill["cloid"] == cloid(2) && fill["crossed"] == true)
    );
    let mut rest = sim.ask("userFills").await.as_array().unwrap().clone();
    rest.truncate(2);
    rest.reverse();
    assert_eq!(fills, &rest);
}

#[tokio::test]
async fn events_say_fills_and_cancels_that_the_owner_did_not_ask_for() {
    let sim = Sim::start().await;
    let mut socket = Socket::open(&sim).await;
    socket
        .subscribe(json!({ "type": "userEvents", "user": sim.user() }))
        .await;
    let oid = sim.place(limit(1, true, "3000", "0.02", "Alo")).await["resting"]["oid"].clone();
    sim.place(limit(2, false, "3000", "0.02", "Alo")).await;
    sim.place(limit(3, false, "2999.9", "0.02", "Ioc")).await;
    // Post-only does not meet its own order: it is refused. What takes cancels it.
    let event = socket.heard("user").await;
    let expected = json!({ "nonUserCancel": [{ "coin": "ETH", "oid": oid }] });
    let fills = |event: &Value| event["fills"].as_array().map(Vec::len);
    if event == expected {
        assert_eq!(fills(&socket.heard("user").await), Some(1));
    } else {
        assert_eq!(fills(&event), Some(1));
        assert_eq!(socket.heard("user").await, expected);
    }
}

#[tokio::test]
async fn the_market_is_pushed() {
    let sim = Sim::start().await;
    let mut socket = Socket::open(&sim).await;
    let echo = socket
        .subscribe(json!({ "type": "l2Book", "coin": "ETH" }))
        .await;
    assert_eq!(
        echo,
        json!({ "type": "l2Book", "coin": "ETH", "nSigFigs": null, "mantissa": null })
    );
    assert_eq!(socket.heard("l2Book").await["levels"][0][0]["px"], "2999.9");
    socket
        .subscribe(json!({ "type": "trades", "coin": "ETH" }))
        .await;
    sim.place(limit(1, true, "3000.1", "0.1", "Ioc")).await;
    let trade = socket.heard("trades").await[0].clone();
    assert_eq!(
        (&trade["px"], &trade["sz"], &trade["side"]),
        (&json!("3000.1"), &json!("0.1"), &json!("B"))
    );
    sim.set(
        "/market",
        json!({ "symbol": "ETH", "bid": "2000", "ask": "2001" }),
    )
    .await;
    loop {
        let book = socket.heard("l2Book").await;
        if book["levels"][1][0]["px"] == "2001.0" {
            break;
        }
    }
}

#[tokio::test]
async fn posts_are_answered_by_their_id() {
    let sim = Sim::start().await;
    let mut socket = Socket::open(&sim).await;
    let body = sim.body(orders(&[resting(1)])).await;
    let post = |id: u64, kind: &str, payload: &Value| json!({ "method": "post", "id": id, "request": { "type": kind, "payload": payload } });
    let answer = socket.ask(post(256, "action", &body)).await;
    assert_eq!(
        (&answer["channel"], &answer["data"]["id"]),
        (&json!("post"), &json!(256))
    );
    let response = &answer["data"]["response"];
    assert_eq!(
        (&response["type"], &response["payload"]["status"]),
        (&json!("action"), &json!("ok"))
    );
    assert_eq!(
        response["payload"]["response"]["data"]["statuses"][0]["resting"]["cloid"],
        cloid(1)
    );
    let answer = socket.ask(post(257, "action", &body)).await;
    let text = format!("Invalid nonce: duplicate nonce {}", body["nonce"]);
    assert_eq!(answer["data"]["response"]["payload"], refused(&text));
    let ask = json!({ "type": "openOrders", "user": sim.user() });
    let answer = socket.ask(post(258, "info", &ask)).await;
    let payload = &answer["data"]["response"]["payload"];
    assert_eq!(
        (&payload["type"], &payload["data"]),
        (&json!("openOrders"), &sim.ask("openOrders").await)
    );
    let answer = socket
        .ask(post(259, "info", &json!({ "type": "nothing" })))
        .await;
    let response = &answer["data"]["response"];
    assert_eq!(response["type"], "error");
    assert!(
        response["payload"].as_str().unwrap().starts_with("422"),
        "{response}"
    );
    // Faults meet posts as they meet requests.
    sim.set("/faults", json!({ "op": "create", "do": "reset_after" }))
        .await;
    let body = sim.body(orders(&[resting(2)])).await;
    socket.send(post(260, "action", &body)).await;
    assert_eq!(socket.text().await, None);
    sim.until_held(&cloid(2), 1).await;
}

#[tokio::test]
async fn what_makes_no_sense_is_quoted() {
    let sim = Sim::start().await;
    let mut socket = Socket::open(&sim).await;
    let frame = json!({ "method": "subscribe", "subscription": { "type": "nothing" } });
    let answer = socket.ask(frame.clone()).await;
    let text = format!("Error parsing JSON into valid websocket request: {frame}");
    assert_eq!(answer, json!({ "channel": "error", "data": text }));
    let unknown =
        json!({ "method": "subscribe", "subscription": { "type": "l2Book", "coin": "NOPE" } });
    assert!(
        socket.ask(unknown).await["data"]
            .as_str()
            .unwrap()
            .starts_with("Invalid subscription")
    );
    socket.subscribe(json!({ "type": "allMids" })).await;
    assert_eq!(socket.heard("allMids").await["mids"]["SOL"], "150.0");
    let again = json!({ "method": "subscribe", "subscription": { "type": "allMids" } });
    assert!(
        socket.ask(again).await["data"]
            .as_str()
            .unwrap()
            .starts_with("Already subscribed")
    );
    for channel in ["subscriptionResponse", "error"] {
        let frame = json!({ "method": "unsubscribe", "subscription": { "type": "allMids" } });
        assert_eq!(socket.ask(frame).await["channel"], channel);
    }
}

#[tokio::test]
async fn a_socket_on_which_nothing_was_sent_for_a_minute_is_closed() {
    let sim = Sim::start().await;
    sim.set("/clock", json!({ "rate": 0 })).await;
    let mut socket = Socket::open(&sim).await;
    sim.set("/clock", json!({ "advance_ms": 59_000 })).await;
    assert_eq!(
        socket.ask(json!({ "method": "ping" })).await,
        json!({ "channel": "pong" })
    );
    // An answer counts, what the client says does not.
    sim.set("/clock", json!({ "advance_ms": 59_000 })).await;
    socket
        .0
        .send(Message::Pong(Vec::new().into()))
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    sim.set("/clock", json!({ "advance_ms": 1_000 })).await;
    assert_eq!(socket.text().await, None);
}

#[tokio::test]
async fn streams_break_as_they_are_told_to() {
    let sim = Sim::start().await;
    let mut socket = Socket::open(&sim).await;
    socket
        .subscribe(json!({ "type": "orderUpdates", "user": sim.user() }))
        .await;
    sim.set(
        "/faults",
        json!({ "op": "stream", "do": "stream_duplicate" }),
    )
    .await;
    sim.place(resting(1)).await;
    let (one, two) = (socket.next().await, socket.next().await);
    assert_eq!(one, two);
    sim.set(
        "/faults",
        json!({ "op": "stream", "do": "stream_reorder", "ms": 60_000 }),
    )
    .await;
    sim.place(resting(2)).await;
    sim.place(resting(3)).await;
    let mut order = Vec::new();
    for _ in 0..2 {
        order.push(socket.heard("orderUpdates").await[0]["order"]["cloid"].clone());
    }
    assert_eq!(order, [cloid(3), cloid(2)]);
    sim.set("/faults", json!({ "op": "stream", "do": "stream_drop" }))
        .await;
    sim.place(resting(4)).await;
    assert_eq!(socket.text().await, None);
    assert_eq!(sim.held(&cloid(4)).await.len(), 1);
}

/// It stays open and says nothing, to a ping neither, until the venue goes down.
#[tokio::test]
async fn a_socket_goes_mute() {
    let sim = Sim::start().await;
    let mut socket = Socket::open(&sim).await;
    socket
        .subscribe(json!({ "type": "orderUpdates", "user": sim.user() }))
        .await;
    sim.set("/faults", json!({ "op": "stream", "do": "stream_mute" }))
        .await;
    sim.place(resting(1)).await;
    socket.send(json!({ "method": "ping" })).await;
    sim.place(resting(2)).await;
    sim.set("/restart", json!({ "down_ms": 0 })).await;
    assert_eq!(socket.text().await, None);
}
