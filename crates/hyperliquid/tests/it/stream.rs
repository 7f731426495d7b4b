//! The stream: frames as they are documented, and a socket that is followed to its end.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use surefill_core::{OrdStatus, VenueEvent, VenueTime};
use surefill_evm::Address;
use surefill_hyperliquid::Hyperliquid;
use surefill_hyperliquid::stream::{self, Said, Topic};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

use crate::book::{Venue, keys};
use crate::world::{TIMING, engine_with, intent, row, store, until};

const CLOID: &str = "0x5f015ede6b0095cb3688a42a28b7ec72";

fn user() -> Address {
    keys().signer()
}

fn order_update(cloid: &str, left: &str, status: &str) -> Value {
    json!({"channel": "orderUpdates", "data": [{"order": {"coin": "BTC", "side": "B", "limitPx": "60000.0", "sz": left,
        "oid": 77_000, "timestamp": 1, "origSz": "0.03", "cloid": cloid}, "status": status, "statusTimestamp": 2}]})
}

fn fills(of: Address, snapshot: Option<bool>, time: u64) -> Value {
    let fill = json!({"coin": "BTC", "px": "60000.0", "sz": "0.01", "side": "B", "time": time, "startPosition": "0.0",
        "dir": "Open Long", "closedPnl": "0.0", "hash": "0x0", "oid": 77_000, "crossed": true, "fee": "0.01", "tid": 5,
        "cloid": CLOID, "feeToken": "USDC", "twapId": null});
    let mut data = json!({"user": of.to_string(), "fills": [fill]});
    if let Some(snapshot) = snapshot {
        data["isSnapshot"] = json!(snapshot);
    }
    json!({"channel": "userFills", "data": data})
}

fn confirmed(topic: &str) -> Value {
    let subscription = json!({"type": topic, "user": user().to_string(), "aggregateByTime": false});
    json!({"channel": "subscriptionResponse", "data": {"method": "subscribe", "subscription": subscription}})
}

fn events(frame: &Value) -> Vec<VenueEvent> {
    let said = stream::read(&frame.to_string(), user()).expect("read");
    stream::events(said, VenueTime::from_ms(1_000)).expect("events")
}

#[test]
fn orders_and_fills_are_told() {
    let told = events(&order_update(CLOID, "0.01", "open"));
    let [VenueEvent::Report(report)] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(report.status, OrdStatus::Open);
    assert_eq!(report.cum_qty.expect("a size").to_string(), "0.02");
    let told = events(&fills(user(), None, 5));
    let [VenueEvent::Fill(handle, fill)] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(handle.key, Some(CLOID.into()));
    assert_eq!(fill.last_qty.to_string(), "0.01");
}

#[test]
fn of_a_snapshot_only_what_is_recent_is_told() {
    assert!(events(&fills(user(), Some(true), 999)).is_empty());
    assert_eq!(events(&fills(user(), Some(true), 1_000)).len(), 1);
    assert_eq!(events(&fills(user(), Some(false), 999)).len(), 1);
}

#[test]
fn what_says_nothing_is_passed_over() {
    for text in [
        "Websocket connection established.".to_owned(),
        json!({"channel": "pong"}).to_string(),
        json!({"channel": "webData3", "data": {}}).to_string(),
    ] {
        assert_eq!(stream::read(&text, user()), Ok(Said::Nothing), "{text}");
    }
    let said = stream::read(&confirmed("userFills").to_string(), user());
    assert_eq!(said, Ok(Said::Subscribed(Topic::UserFills)));
}

#[test]
fn what_cannot_be_read_ends_the_stream() {
    let mut broken = order_update(CLOID, "0.01", "open");
    broken["data"][0]["order"]["sz"] = json!("x");
    for text in [
        "nonsense".to_owned(),
        broken.to_string(),
        json!({"channel": "orderUpdates"}).to_string(),
        json!({"channel": "orderUpdates", "data": {}}).to_string(),
        fills(Address::ZERO, None, 5).to_string(),
    ] {
        stream::read(&text, user()).expect_err(&text);
    }
    let new = stream::read(&order_update(CLOID, "0.01", "brandNew").to_string(), user());
    stream::events(new.expect("read"), VenueTime::default()).expect_err("it may be ours");
    let refused =
        json!({"channel": "error", "data": "Error parsing JSON into valid websocket request: {}"});
    let refused = stream::read(&refused.to_string(), user()).expect("read");
    stream::events(refused, VenueTime::default()).expect_err("refused");
}

/// A socket that confirms both topics, pushes what it is given, and drops; then it is connected to again.
async fn socket(frames: Vec<Value>) -> (String, tokio::sync::mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("ws://{}/ws", listener.local_addr().expect("an address"));
    let (tell, asked) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut socket = tokio_tungstenite::accept_async(stream)
                .await
                .expect("a socket");
            let greeting = Message::text("Websocket connection established.");
            socket.send(greeting).await.expect("sent");
            for _ in 0..2 {
                let Some(Ok(message)) = socket.next().await else {
                    break;
                };
                let ask: Value =
                    serde_json::from_str(message.to_text().expect("text")).expect("JSON");
                let topic = ask["subscription"]["type"]
                    .as_str()
                    .expect("a topic")
                    .to_owned();
                tell.send(ask).ok();
                let answer = Message::text(confirmed(&topic).to_string());
                socket.send(answer).await.expect("sent");
            }
            for frame in &frames {
                socket
                    .send(Message::text(frame.to_string()))
                    .await
                    .expect("sent");
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    });
    (url, asked)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stream_that_drops_did_not_tell_is_found_by_looking() {
    let (venue, store) = (Venue::start().await, store());
    let (url, mut asked) = socket(vec![fills(user(), Some(true), 5)]).await;
    // A look at a working order comes too late for this test: only what follows a subscription finds the fill.
    let config = Hyperliquid::simulator(&venue.url, keys())
        .with_timing(TIMING)
        .with_ws_url(&url)
        .with_poll(Duration::from_secs(3_600));
    let engine = engine_with(config, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    let first = asked.recv().await.expect("asked");
    assert_eq!(first["method"], "subscribe");
    assert_eq!(first["subscription"]["user"], user().to_string());
    let oid = venue.book().orders[0].oid;
    venue
        .book()
        .execute(oid, "0.03".parse().expect("a size"), "filled");
    until(
        &engine,
        &placed,
        "filled by the look after a reconnect",
        |row| row.state == surefill_core::OrdState::Filled && !row.fills_owed(),
    )
    .await;
    assert!(engine.halts().is_empty());
}
