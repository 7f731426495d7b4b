//! The private socket: who may listen, what is pushed, and how a stream breaks.

use base64::{Engine, prelude::BASE64_STANDARD};
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};
use surefill_sim::bybit::Login;

use crate::{
    socket::{Socket, auth},
    support::{Sim, request, send},
    vectors::{cases, frame_of, of_kind, same_shape},
};

fn statuses(frames: &[Value]) -> Vec<&str> {
    frames
        .iter()
        .map(|frame| frame["data"][0]["orderStatus"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn pushes_have_the_shapes_of_the_vectors() {
    let sim = Sim::start().await;
    let mut socket = Socket::listening(&sim, &["order", "execution", "position"]).await;
    sim.create("x").await.unwrap();
    let order = socket.next().await;
    same_shape("order", &order, &frame_of("ws-16"));
    assert_eq!(order["topic"], "order");
    let row = &order["data"][0];
    assert_eq!(
        [&row["orderStatus"], &row["avgPrice"], &row["category"]],
        ["New", "0", "linear"]
    );
    let flat = socket.next().await;
    assert_eq!(
        [&flat["topic"], &flat["data"][0]["size"]],
        ["position", "0"]
    );
    sim.set("/fill", json!({ "cl_ord_id": "x", "qty": "0.03" }))
        .await;
    let (fill, order, position) = (
        socket.next().await,
        socket.next().await,
        socket.next().await,
    );
    same_shape("execution", &fill, &frame_of("ws-23"));
    same_shape("position", &position, &frame_of("ws-26"));
    assert_eq!(order["data"][0]["orderStatus"], "Filled");
    assert_eq!(position["data"][0]["size"], "0.03");
    let listed = sim
        .get("/v5/execution/list", "category=linear&orderLinkId=x")
        .await
        .list();
    assert_eq!(listed[0]["execId"], fill["data"][0]["execId"]);
    let lost = frame_of("ws-21");
    sim.create("y").await.unwrap();
    let y = json!({ "category": "linear", "symbol": "BTCUSDT", "orderLinkId": "y" });
    sim.post("/v5/order/cancel", &y).await;
    assert_eq!(
        socket.pushed("order").await["data"][0]["orderStatus"],
        "New"
    );
    let canceled = socket.pushed("order").await;
    same_shape("canceled", &canceled, &lost);
    assert_eq!(canceled["data"][0]["cancelType"], "CancelByUser");
}

#[tokio::test]
async fn only_who_signs_for_the_future_may_listen() {
    let sim = Sim::start().await;
    let mut socket = Socket::open(&sim, "/v5/private").await.unwrap();
    let asked = json!({ "req_id": "s", "op": "subscribe", "args": ["order"] });
    assert_eq!(socket.ask(asked.clone()).await["success"], false);
    let now_ms = sim.now_ms().await;
    let mut forged = auth(&sim.login, now_ms + 10_000);
    forged["args"][1] = json!(now_ms + 10_001);
    let stranger = Login::new("1001", "nobody", "nothing");
    for refused in [
        auth(&sim.login, now_ms - 1),
        forged,
        auth(&stranger, now_ms + 10_000),
        json!({ "op": "auth", "args": ["x"] }),
    ] {
        let answer = socket.ask(refused).await;
        assert_eq!(answer["success"], false, "{answer}");
    }
    let known = socket.ask(auth(&sim.login, now_ms + 10_000)).await;
    same_shape("auth", &known, &frame_of("ws-01"));
    assert_eq!(socket.ask(asked).await["success"], true);
    sim.create("x").await.unwrap();
    assert_eq!(socket.next().await["topic"], "order");
}

#[tokio::test]
async fn one_account_does_not_hear_another() {
    let sim = Sim::start().await;
    let second = &Login::built_in()[1];
    let mut socket = Socket::open(&sim, "/v5/private").await.unwrap();
    let now_ms = sim.now_ms().await;
    assert_eq!(
        socket.ask(auth(second, now_ms + 10_000)).await["success"],
        true
    );
    let asked = json!({ "op": "subscribe", "args": ["order"] });
    assert_eq!(socket.ask(asked).await["success"], true);
    sim.create("x").await.unwrap();
    assert!(socket.is_silent().await);
}

#[tokio::test]
async fn rsa_keys_of_the_vectors_are_let_in() {
    let sim = Sim::start().await;
    let rsa = cases()["keys"]["rsa"].clone();
    let der = BASE64_STANDARD
        .decode(rsa["private_key_pkcs8_der_base64"].as_str().unwrap())
        .unwrap();
    let pair = RsaKeyPair::from_pkcs8(&der).unwrap();
    let sign = |text: &str| {
        let mut bytes = vec![0; pair.public().modulus_len()];
        let random = ring::rand::SystemRandom::new();
        pair.sign(&RSA_PKCS1_SHA256, &random, text.as_bytes(), &mut bytes)
            .unwrap();
        BASE64_STANDARD.encode(bytes)
    };
    let case = &of_kind("ws_auth")[1];
    assert_eq!(
        sign(case["expect"]["prehash"].as_str().unwrap()),
        case["expect"]["signature"]
    );
    let key = rsa["api_key"].as_str().unwrap();
    let now_ms = sim.now_ms().await;
    let mut socket = Socket::open(&sim, "/v5/private").await.unwrap();
    let expires = now_ms + 10_000;
    let args = json!([key, expires, sign(&format!("GET/realtime{expires}"))]);
    let answer = socket.ask(json!({ "op": "auth", "args": args })).await;
    assert_eq!(answer["success"], true, "{answer}");
    for (text, code) in [("", 0), ("x", 10_004)] {
        let headers = [
            ("X-BAPI-API-KEY", key.to_owned()),
            ("X-BAPI-TIMESTAMP", now_ms.to_string()),
            ("X-BAPI-RECV-WINDOW", "5000".to_owned()),
            ("X-BAPI-SIGN", sign(&format!("{now_ms}{key}5000{text}"))),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        let bytes = request("GET", "/v5/account/info", &headers, "");
        assert_eq!(send(sim.addr(), bytes).await.unwrap().code(), code);
    }
}

#[tokio::test]
async fn a_subscription_starts_without_a_snapshot_and_topics_do_not_mix() {
    let sim = Sim::start().await;
    sim.create("before").await.unwrap();
    let mut socket = Socket::listening(&sim, &["order.linear", "order.spot"]).await;
    assert!(socket.is_silent().await, "no snapshot");
    for bad in [
        json!(["order"]),
        json!(["wallet", "nonsense"]),
        json!(["position", "position.linear"]),
        json!([]),
    ] {
        let answer = socket.ask(json!({ "op": "subscribe", "args": bad })).await;
        assert_eq!(answer["success"], false, "{answer}");
    }
    sim.create("x").await.unwrap();
    let push = socket.next().await;
    assert_eq!(push["topic"], "order.linear");
    assert_eq!(push["data"][0]["orderLinkId"], "x");
    let off = json!({ "op": "unsubscribe", "args": ["order.linear", "order.spot"] });
    assert_eq!(socket.ask(off).await["success"], true);
    sim.create("y").await.unwrap();
    assert!(socket.is_silent().await);
    let on = json!({ "req_id": "1", "op": "subscribe", "args": ["order"] });
    same_shape("subscribed", &socket.ask(on).await, &frame_of("ws-03"));
    let pong = socket.ask(json!({ "req_id": "p1", "op": "ping" })).await;
    same_shape("pong", &pong, &frame_of("ws-04"));
}

#[tokio::test]
async fn a_push_comes_though_the_ack_is_lost() {
    let sim = Sim::start().await;
    let mut socket = Socket::listening(&sim, &["order"]).await;
    sim.set("/faults", json!({ "op": "create", "do": "reset_after" }))
        .await;
    sim.create("x").await.unwrap_err();
    assert_eq!(socket.next().await["data"][0]["orderLinkId"], "x");
}

#[tokio::test]
async fn a_push_overtakes_the_ack() {
    let sim = Sim::start().await;
    let mut socket = Socket::listening(&sim, &["order"]).await;
    sim.set("/venue", json!({ "ack_ms": 3_600_000 })).await;
    let addr = sim.addr();
    let at_ms = sim.now_ms().await;
    let body = crate::support::resting("x").to_string();
    let bytes = sim.signed("POST", "/v5/order/create", "", &body, at_ms, 5_000);
    let ack = tokio::spawn(async move { send(addr, bytes).await });
    assert_eq!(socket.next().await["data"][0]["orderLinkId"], "x");
    assert!(!ack.is_finished(), "the ack waits");
    sim.set("/clock", json!({ "advance_ms": 3_600_000 })).await;
    assert_eq!(ack.await.unwrap().unwrap().code(), 0);
}

#[tokio::test]
async fn the_faults_of_streams_fire() {
    let sim = Sim::start().await;
    let mut socket = Socket::listening(&sim, &["order"]).await;
    let fault = |word: &str, ms: u64| json!({ "op": "stream", "do": word, "ms": ms });
    let id = |frame: &Value| frame["data"][0]["orderLinkId"].clone();
    sim.set("/faults", fault("stream_duplicate", 0)).await;
    sim.create("twice").await.unwrap();
    let (one, two) = (socket.next().await, socket.next().await);
    assert_eq!(one, two);
    sim.set("/faults", fault("stream_gap", 0)).await;
    for name in ["lost", "seen"] {
        sim.create(name).await.unwrap();
    }
    assert_eq!(id(&socket.next().await), "seen");
    sim.set("/faults", fault("stream_gap", 60_000)).await;
    for name in ["lost-1", "lost-2"] {
        sim.create(name).await.unwrap();
    }
    assert!(socket.is_silent().await);
    sim.set("/clock", json!({ "advance_ms": 60_000 })).await;
    sim.set("/faults", fault("stream_reorder", 60_000)).await;
    for name in ["second", "first"] {
        sim.create(name).await.unwrap();
    }
    assert_eq!(id(&socket.next().await), "first");
    assert_eq!(id(&socket.next().await), "second");
    // Nothing overtakes it: it comes when its time is over.
    sim.set("/faults", fault("stream_reorder", 60_000)).await;
    sim.create("late").await.unwrap();
    assert!(socket.is_silent().await);
    sim.set("/clock", json!({ "advance_ms": 60_000 })).await;
    assert_eq!(id(&socket.next().await), "late");
    sim.set("/faults", fault("stream_drop", 0)).await;
    sim.create("dropped").await.unwrap();
    assert_eq!(socket.text().await, None);
    let mut again = Socket::listening(&sim, &["order"]).await;
    assert!(again.is_silent().await, "nothing is said twice");
    let y = json!({ "category": "linear", "symbol": "BTCUSDT", "orderLinkId": "first" });
    sim.post("/v5/order/cancel", &y).await;
    assert_eq!(
        statuses(&[again.next().await]),
        ["Cancelled"],
        "and the new socket listens"
    );
}

#[tokio::test]
async fn sockets_end_with_the_venue_and_after_silence() {
    let sim = Sim::start().await;
    let mut idle = Socket::listening(&sim, &["order"]).await;
    let mut short = Socket::open(&sim, "/v5/private?max_active_time=30s")
        .await
        .unwrap();
    sim.set("/clock", json!({ "advance_ms": 31_000 })).await;
    assert_eq!(short.text().await, None);
    assert!(idle.is_silent().await);
    sim.set("/clock", json!({ "advance_ms": 600_000 })).await;
    assert_eq!(idle.text().await, None);
    let mut socket = Socket::listening(&sim, &["order"]).await;
    sim.set("/restart", json!({ "down_ms": 1 })).await;
    assert_eq!(socket.text().await, None);
}

#[tokio::test]
async fn a_ban_keeps_sockets_out_and_leaves_open_ones_alone() {
    let sim = Sim::start().await;
    let mut socket = Socket::listening(&sim, &["order"]).await;
    sim.set("/venue", json!({ "ban_ms": 60_000 })).await;
    Socket::open(&sim, "/v5/private").await.unwrap_err();
    Socket::open(&sim, "/v5/public/linear").await.unwrap_err();
    assert!(socket.is_silent().await);
}

#[tokio::test]
async fn a_cancel_that_lost_its_race_is_acked_and_the_fill_is_said_twice() {
    let sim = Sim::start().await;
    sim.create("x").await.unwrap();
    sim.set("/fill", json!({ "cl_ord_id": "x", "qty": "0.03" }))
        .await;
    let mut socket = Socket::listening(&sim, &["order"]).await;
    let x = json!({ "category": "linear", "symbol": "BTCUSDT", "orderLinkId": "x" });
    assert_eq!(sim.post("/v5/order/cancel", &x).await.code(), 110_001);
    sim.set("/venue", json!({ "lost_races": 1 })).await;
    assert_eq!(sim.post("/v5/order/cancel", &x).await.code(), 0);
    let again = socket.next().await;
    same_shape("again", &again, &frame_of("ws-19"));
    let (row, wanted) = (&again["data"][0], &frame_of("ws-19")["data"][0]);
    for name in ["orderStatus", "cancelType", "rejectReason", "cumExecQty"] {
        assert_eq!(row[name], wanted[name], "{name}");
    }
    assert_eq!(sim.post("/v5/order/cancel", &x).await.code(), 110_001);
}
