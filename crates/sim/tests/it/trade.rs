//! The trade socket and batches.

use serde_json::{Value, json};
use surefill_sim::bybit::Config;

use crate::{
    socket::{Socket, auth},
    support::{Sim, but, resting},
    vectors::{frame_of, same_shape},
};

/// An order frame signed off now.
async fn frame(sim: &Sim, id: &str, op: &str, body: Value) -> Value {
    let now_ms = sim.now_ms().await;
    json!({
        "reqId": id, "op": op, "args": [body],
        "header": { "X-BAPI-TIMESTAMP": now_ms.to_string(), "X-BAPI-RECV-WINDOW": "5000" },
    })
}

fn target(id: &str) -> Value {
    json!({ "category": "linear", "symbol": "BTCUSDT", "orderLinkId": id })
}

#[tokio::test]
async fn orders_live_and_end_over_the_trade_socket() {
    let sim = Sim::start().await;
    let mut pushes = Socket::listening(&sim, &["order"]).await;
    let mut socket = Socket::known(&sim, "/v5/trade").await;
    let ack = socket
        .ask(frame(&sim, "c-1", "order.create", resting("x")).await)
        .await;
    same_shape("ack", &ack, &frame_of("ws-07"));
    assert_eq!([&ack["reqId"], &ack["op"]], ["c-1", "order.create"]);
    let held = sim.held("x").await;
    assert_eq!(held[0]["order_id"], ack["data"]["orderId"]);
    let again = socket
        .ask(frame(&sim, "c-2", "order.create", resting("x")).await)
        .await;
    same_shape("duplicate", &again, &frame_of("ws-08"));
    assert_eq!(again["retCode"], 110_072);
    let more = but(target("x"), json!({ "qty": "0.040" }));
    let amended = socket
        .ask(frame(&sim, "a-1", "order.amend", more).await)
        .await;
    assert_eq!(amended["retCode"], 0);
    let canceled = socket
        .ask(frame(&sim, "d-1", "order.cancel", target("x")).await)
        .await;
    assert_eq!(canceled["retCode"], 0);
    for status in ["New", "New", "Cancelled"] {
        assert_eq!(pushes.next().await["data"][0]["orderStatus"], status);
    }
    assert_eq!(sim.held("x").await[0]["order_qty"], "0.04");
    let pong = socket.ask(json!({ "op": "ping" })).await;
    assert_eq!(pong["op"], "pong");
    assert_eq!(pong["retCode"], 0);
}

#[tokio::test]
async fn a_frame_is_checked_at_the_gate_like_a_request() {
    let sim = Sim::start().await;
    let mut socket = Socket::open(&sim, "/v5/trade").await.unwrap();
    let stranger = frame(&sim, "c-0", "order.create", resting("x")).await;
    assert_eq!(socket.ask(stranger).await["retCode"], 10_007);
    let expires = sim.now_ms().await + 1_000;
    let mut known = auth(&sim.login, expires);
    known["reqId"] = json!("auth-2");
    same_shape("auth", &socket.ask(known.clone()).await, &frame_of("ws-05"));
    same_shape("repeat", &socket.ask(known).await, &frame_of("ws-06"));
    let now_ms = sim.now_ms().await;
    let timed = |id: &str, at: Value, window: Value| {
        json!({
            "reqId": id, "op": "order.create", "args": [resting(id)],
            "header": { "X-BAPI-TIMESTAMP": at, "X-BAPI-RECV-WINDOW": window },
        })
    };
    for (id, at, window, code) in [
        ("number", json!(now_ms), json!(5_000), 0),
        ("text", json!(now_ms.to_string()), json!("5000"), 0),
        ("unreadable", json!(now_ms), json!("x"), 10_002),
        ("late", json!(now_ms - 60_000), json!("5000"), 10_002),
        ("early", json!(now_ms + 60_000), json!("5000"), 10_002),
    ] {
        let answer = socket.ask(timed(id, at, window)).await;
        assert_eq!(answer["retCode"], code, "{id}: {answer}");
        assert_eq!(sim.held(id).await.len(), usize::from(code == 0), "{id}");
    }
    let bare = json!({ "reqId": "bare", "op": "order.create", "args": [resting("bare")],
        "header": { "X-BAPI-TIMESTAMP": now_ms } });
    assert_eq!(socket.ask(bare).await["retCode"], 0, "5000 is the default");
    let twice = frame(&sim, "number", "order.create", resting("other")).await;
    let answer = socket.ask(twice).await;
    assert_eq!(answer["retCode"], 20_006);
    assert_eq!(sim.held("other").await.len(), 0);
    let long = "r".repeat(37);
    for wrong in [
        frame(&sim, &long, "order.create", resting("other")).await,
        json!({ "reqId": "w", "op": "order.create", "args": [] }),
        json!({ "reqId": "v", "op": "order.everything", "args": [{}] }),
    ] {
        assert_ne!(socket.ask(wrong).await["retCode"], 0);
    }
}

#[tokio::test]
async fn faults_meet_frames_as_they_meet_requests() {
    let sim = Sim::start().await;
    let fault = |word: &str| json!({ "op": "create", "do": word });
    // What the client hears, and whether the order lives.
    for (word, code, lives) in [
        ("code:10019", Some(10_019), false),
        ("status:502", Some(10_016), false),
        ("act_then_status:502", Some(10_016), true),
        ("act_then_code:10016", Some(10_016), true),
        ("throttle", Some(10_006), false),
        ("hold", Some(0), true),
        ("reset_before", None, false),
        ("reset_after", None, true),
    ] {
        let mut socket = Socket::known(&sim, "/v5/trade").await;
        sim.set("/faults", fault(word)).await;
        let id = word.replace(':', "-");
        socket
            .send(frame(&sim, "c-1", "order.create", resting(&id)).await)
            .await;
        let heard = socket.text().await;
        let heard = heard.map(|text| serde_json::from_str::<Value>(&text).unwrap());
        assert_eq!(
            heard.as_ref().and_then(|heard| heard["retCode"].as_i64()),
            code,
            "{word}"
        );
        sim.until_held(&id, usize::from(lives)).await;
    }
    let mut socket = Socket::known(&sim, "/v5/trade").await;
    sim.set("/faults", fault("drop_answer")).await;
    socket
        .send(frame(&sim, "c-1", "order.create", resting("silent")).await)
        .await;
    sim.until_held("silent", 1).await;
    assert!(socket.is_silent().await);
    for word in ["truncate", "garbage"] {
        sim.set("/faults", fault(word)).await;
        socket
            .send(frame(&sim, word, "order.create", resting(word)).await)
            .await;
        let text = socket.text().await.unwrap();
        serde_json::from_str::<Value>(&text).unwrap_err();
        sim.until_held(word, 1).await;
    }
    sim.set("/rules", json!({ "duplicate": "accepted" })).await;
    sim.set("/faults", fault("duplicate")).await;
    socket
        .send(frame(&sim, "d", "order.create", resting("doubled")).await)
        .await;
    sim.until_held("doubled", 2).await;
    let logged = sim.get_control("/requests").await;
    let frames = logged.as_array().unwrap().iter();
    assert!(frames.filter(|row| row["method"] == "WS").count() >= 13);
}

#[tokio::test]
async fn an_error_may_come_without_a_req_id() {
    let sim = Sim::start().await;
    let mut socket = Socket::known(&sim, "/v5/trade").await;
    sim.set("/venue", json!({ "socket_error_without_reqid": 1 }))
        .await;
    let answer = socket
        .ask(frame(&sim, "c-1", "order.create", resting("x")).await)
        .await;
    same_shape("nameless", &answer, &frame_of("ws-09"));
    assert!(answer.get("reqId").is_none() && answer.get("retCode").is_none());
    assert_eq!(sim.held("x").await.len(), 1, "it was taken all the same");
    let answer = socket
        .ask(frame(&sim, "c-2", "order.create", resting("y")).await)
        .await;
    assert_eq!(answer["retCode"], 0);
}

#[tokio::test]
async fn a_batch_answers_each_order_by_itself() {
    let sim = Sim::start().await;
    let item = |id: &str| {
        let mut item = resting(id);
        item.as_object_mut().unwrap().remove("category");
        item
    };
    let wrong = but(item("b2"), json!({ "positionIdx": 1 }));
    let batch = json!({ "category": "linear", "request": [item("b1"), wrong, item("b1")] });
    let answer = sim.post("/v5/order/create-batch", &batch).await.json();
    assert_eq!(answer["retCode"], 0);
    let codes = |answer: &Value| {
        let list = answer["retExtInfo"]["list"].as_array().unwrap().clone();
        list.iter()
            .map(|item| item["code"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(&answer), [0, 10_001, 110_072]);
    let rows = &answer["result"]["list"];
    assert_eq!(rows[1]["orderId"], "");
    assert_eq!(rows[1]["orderLinkId"], "b2");
    assert_eq!(sim.held("b1").await[0]["order_id"], rows[0]["orderId"]);
    let mut socket = Socket::known(&sim, "/v5/trade").await;
    let more = json!({ "category": "linear", "request": [
        { "symbol": "BTCUSDT", "orderLinkId": "b1", "qty": "0.050" },
        { "symbol": "BTCUSDT", "orderLinkId": "nobody", "qty": "0.050" },
    ] });
    let answer = socket
        .ask(frame(&sim, "m", "order.amend-batch", more).await)
        .await;
    assert_eq!(codes(&answer), [0, 110_001]);
    let off = json!({ "category": "linear", "request": [
        { "symbol": "BTCUSDT", "orderLinkId": "b1" },
        { "symbol": "BTCUSDT", "orderLinkId": "b1" },
    ] });
    let answer = socket
        .ask(frame(&sim, "o", "order.cancel-batch", off).await)
        .await;
    assert_eq!(codes(&answer), [0, 110_001]);
    assert_eq!(sim.held("b1").await[0]["order_qty"], "0.05");
    let created = socket
        .ask(
            frame(
                &sim,
                "n",
                "order.create-batch",
                json!({ "category": "linear", "request": [item("b3")] }),
            )
            .await,
        )
        .await;
    same_shape("batch", &created, &frame_of("ws-15"));
    let most: Vec<Value> = (0..21).map(|n| item(&format!("m{n}"))).collect();
    let answer = sim
        .post(
            "/v5/order/create-batch",
            &json!({ "category": "linear", "request": most }),
        )
        .await;
    assert_eq!(answer.code(), 10_001);
}

#[tokio::test]
async fn the_tail_of_a_batch_is_cut_by_the_rate_limit() {
    let config = Config::default();
    let login = config.logins[0].clone();
    let sim = Sim {
        handle: surefill_sim::bybit::start(config).await.unwrap(),
        login,
    };
    sim.set("/clock", json!({ "rate": 0 })).await;
    let items: Vec<Value> = (0..12).map(|n| resting(&format!("r{n}"))).collect();
    let batch = json!({ "category": "linear", "request": items });
    let answer = sim.post("/v5/order/create-batch", &batch).await;
    let codes: Vec<i64> = answer.json()["retExtInfo"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["code"].as_i64().unwrap())
        .collect();
    assert_eq!(codes[..10], [0; 10]);
    assert_eq!(codes[10..], [10_006; 2]);
    assert_eq!(
        sim.post("/v5/order/create-batch", &batch).await.code(),
        10_006,
        "a bucket of its own, now empty"
    );
    assert_eq!(sim.create("single").await.unwrap().code(), 0);
}
