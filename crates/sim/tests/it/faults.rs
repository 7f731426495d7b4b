//! Each fault over a real socket: what the client sees, and what the venue really holds.

use std::io::ErrorKind;

use serde_json::json;
use surefill_sim::bybit::Config;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::support::{BOUND, Sim, exchange, resting, send};

async fn sim_with(doing: &str, ms: u64) -> Sim {
    let sim = Sim::start().await;
    sim.set("/faults", json!({ "op": "create", "do": doing, "ms": ms }))
        .await;
    sim
}

#[tokio::test]
async fn refuse_and_reset_before_reset_the_connection_and_do_nothing() {
    for doing in ["refuse", "reset_before"] {
        let sim = sim_with(doing, 0).await;
        let error = sim.create("x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{doing}");
        assert_eq!(sim.held("x").await.len(), 0, "{doing}");
        let row = sim.until_logged(|row| row["op"] == "create").await;
        assert_eq!(
            (&row["acted"], &row["answered"], &row["status"]),
            (&json!(false), &json!(false), &json!(null))
        );
        assert_eq!(row["body_sha256"].is_null(), doing == "refuse", "{doing}");
        assert_eq!(
            sim.create("x").await.unwrap().code(),
            0,
            "{doing} fires once"
        );
    }
}

#[tokio::test]
async fn refuse_also_meets_a_later_request_of_a_connection() {
    let sim = Sim::start().await;
    let mut stream = TcpStream::connect(sim.addr()).await.unwrap();
    let get = sim.signed("GET", "/v5/market/time", "", "", 0, 5_000);
    assert_eq!(exchange(&mut stream, &get).await.unwrap().code(), 0);
    assert_eq!(
        exchange(&mut stream, &get).await.unwrap().code(),
        0,
        "the connection stays"
    );
    sim.set("/faults", json!({ "op": "any", "do": "refuse" }))
        .await;
    assert_eq!(
        exchange(&mut stream, &get).await.unwrap_err().kind(),
        ErrorKind::ConnectionReset
    );
}

#[tokio::test]
async fn reset_after_acts() {
    let sim = sim_with("reset_after", 0).await;
    assert_eq!(
        sim.create("x").await.unwrap_err().kind(),
        ErrorKind::ConnectionReset
    );
    assert_eq!(sim.held("x").await.len(), 1);
    let row = sim.until_logged(|row| row["op"] == "create").await;
    assert_eq!(
        (&row["acted"], &row["answered"]),
        (&json!(true), &json!(false))
    );
}

#[tokio::test]
async fn reset_after_with_a_delay_acts_when_the_client_is_long_gone() {
    let sim = sim_with("reset_after", 60_000).await;
    let body = resting("x").to_string();
    let bytes = sim.signed(
        "POST",
        "/v5/order/create",
        "",
        &body,
        sim.now_ms().await,
        120_000,
    );
    assert_eq!(
        send(sim.addr(), bytes).await.unwrap_err().kind(),
        ErrorKind::ConnectionReset
    );
    assert_eq!(sim.held("x").await.len(), 0);
    sim.set("/clock", json!({ "advance_ms": 60_000 })).await;
    sim.until_held("x", 1).await;
}

#[tokio::test]
async fn hold_acts_later_also_for_a_client_that_gave_up() {
    let sim = sim_with("hold", 60_000).await;
    let body = resting("x").to_string();
    let bytes = sim.signed(
        "POST",
        "/v5/order/create",
        "",
        &body,
        sim.now_ms().await,
        120_000,
    );
    let mut stream = TcpStream::connect(sim.addr()).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    let row = sim.until_logged(|row| row["op"] == "create").await;
    assert_eq!(
        (&row["acted"], sim.held("x").await.len()),
        (&json!(false), 0)
    );
    drop(stream);
    sim.set("/clock", json!({ "advance_ms": 60_000 })).await;
    sim.until_held("x", 1).await;
}

#[tokio::test]
async fn a_request_held_past_its_window_is_refused_and_never_enters() {
    let sim = sim_with("hold", 60_000).await;
    let body = resting("x").to_string();
    let bytes = sim.signed(
        "POST",
        "/v5/order/create",
        "",
        &body,
        sim.now_ms().await,
        5_000,
    );
    let addr = sim.addr();
    let waiting = tokio::spawn(async move { send(addr, bytes).await });
    sim.until_logged(|row| row["op"] == "create").await;
    sim.set("/clock", json!({ "advance_ms": 60_000 })).await;
    let answer = waiting.await.unwrap().unwrap();
    assert_eq!(answer.code(), 10_002);
    assert!(
        answer.json()["retMsg"]
            .as_str()
            .unwrap()
            .contains("req_timestamp["),
        "{answer:?}"
    );
    assert_eq!(sim.held("x").await.len(), 0);
    let row = sim.until_logged(|row| row["op"] == "create").await;
    assert_eq!(
        (&row["acted"], &row["answered"]),
        (&json!(false), &json!(true))
    );
}

#[tokio::test]
async fn a_hold_within_the_window_is_answered() {
    let sim = sim_with("hold", 1_000).await;
    let began = sim.now_ms().await;
    assert_eq!(sim.create("x").await.unwrap().code(), 0);
    let accepted = sim.held("x").await[0]["accepted_at_ms"].as_u64().unwrap();
    assert!(accepted >= began + 1_000, "{accepted} {began}");
}

#[tokio::test]
async fn the_way_from_the_gate_to_the_engine_is_not_checked_again() {
    let sim = Sim::start().await;
    sim.set("/venue", json!({ "drain_ms": 60_000 })).await;
    let bytes = sim.signed(
        "POST",
        "/v5/order/create",
        "",
        &resting("x").to_string(),
        sim.now_ms().await,
        5_000,
    );
    let addr = sim.addr();
    let waiting = tokio::spawn(async move { send(addr, bytes).await });
    sim.until_logged(|row| row["op"] == "create").await;
    assert_eq!(
        sim.held("x").await.len(),
        0,
        "past the gate, not yet in the book"
    );
    // The gate has seen it: from here on its window does not matter.
    while !waiting.is_finished() {
        sim.set("/clock", json!({ "advance_ms": 1_000 })).await;
    }
    assert_eq!(waiting.await.unwrap().unwrap().code(), 0);
    assert_eq!(sim.held("x").await.len(), 1);
}

#[tokio::test]
async fn drop_answer_acts_and_says_nothing() {
    let sim = sim_with("drop_answer", 0).await;
    let bytes = sim.signed(
        "POST",
        "/v5/order/create",
        "",
        &resting("x").to_string(),
        sim.now_ms().await,
        5_000,
    );
    let mut stream = TcpStream::connect(sim.addr()).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    sim.until_held("x", 1).await;
    let mut byte = [0_u8];
    let nothing = stream.try_read(&mut byte).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::WouldBlock, "open, and silent");
    let row = sim.until_logged(|row| row["acted"] == true).await;
    assert_eq!(row["answered"], false);
}

#[tokio::test]
async fn status_does_nothing_and_act_then_status_acts() {
    let sim = sim_with("status:502", 0).await;
    let answer = sim.create("x").await.unwrap();
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (502, Some("text/html"))
    );
    assert_eq!(sim.held("x").await.len(), 0);
    let sim = sim_with("act_then_status:504", 0).await;
    assert_eq!(sim.create("x").await.unwrap().status, 504);
    assert_eq!(sim.held("x").await.len(), 1);
}

#[tokio::test]
async fn truncate_and_garbage_act_and_cannot_be_read() {
    let sim = sim_with("truncate", 0).await;
    assert_eq!(
        sim.create("x").await.unwrap_err().kind(),
        ErrorKind::UnexpectedEof
    );
    assert_eq!(sim.held("x").await.len(), 1);
    let sim = sim_with("garbage", 0).await;
    let answer = sim.create("x").await.unwrap();
    assert_eq!(answer.status, 200);
    assert!(serde_json::from_slice::<serde_json::Value>(&answer.body).is_err());
    assert_eq!(sim.held("x").await.len(), 1);
}

#[tokio::test]
async fn throttle_answers_as_over_the_limit_and_does_nothing() {
    let sim = sim_with("throttle", 0).await;
    let answer = sim.create("x").await.unwrap();
    assert_eq!(
        (answer.code(), answer.header("X-Bapi-Limit-Status")),
        (10_006, Some("0"))
    );
    let reset: u64 = answer
        .header("X-Bapi-Limit-Reset-Timestamp")
        .unwrap()
        .parse()
        .unwrap();
    assert!(reset > answer.json()["time"].as_u64().unwrap());
    assert_eq!(sim.held("x").await.len(), 0);
}

#[tokio::test]
async fn duplicate_acts_twice() {
    let sim = sim_with("duplicate", 0).await;
    assert_eq!(sim.create("x").await.unwrap().code(), 0);
    sim.until_logged(|row| row["seq"] == 2 && row["acted"] == true)
        .await;
    assert_eq!(sim.held("x").await.len(), 1, "the id is taken");
    let sim = sim_with("duplicate", 500).await;
    sim.set("/rules", json!({ "duplicate": "accepted" })).await;
    assert_eq!(sim.create("x").await.unwrap().code(), 0);
    sim.until_held("x", 2).await;
    let held = sim.held("x").await;
    assert_ne!(
        held[0]["order_id"], held[1]["order_id"],
        "two orders with one id are two rows"
    );
    let at = |row: usize| held[row]["accepted_at_ms"].as_u64().unwrap();
    assert!(at(1) >= at(0) + 500);
}

#[tokio::test]
async fn nth_and_times_count_requests_of_the_kind() {
    let sim = Sim::start().await;
    sim.set(
        "/faults",
        json!({ "op": "create", "nth": 2, "times": 2, "do": "status:503" }),
    )
    .await;
    let mut statuses = Vec::new();
    for index in 0..4 {
        sim.get("/v5/order/realtime", "category=linear&symbol=BTCUSDT")
            .await;
        statuses.push(sim.create(&format!("x{index}")).await.unwrap().status);
    }
    assert_eq!(statuses, [200, 503, 503, 200]);
    sim.set(
        "/faults",
        json!({ "op": "lookup", "times": 9, "do": "status:503" }),
    )
    .await;
    let by_id = "category=linear&orderLinkId=x0";
    assert_eq!(sim.get("/v5/order/realtime", by_id).await.status, 503);
    assert_eq!(sim.get("/v5/order/history", by_id).await.status, 503);
    assert_eq!(
        sim.get("/v5/execution/list", by_id).await.status,
        200,
        "fills are a kind of their own"
    );
    assert_eq!(
        sim.control("DELETE", "/faults", &json!(null)).await.status,
        200
    );
    assert_eq!(sim.get("/v5/order/realtime", by_id).await.status, 200);
}

#[tokio::test]
async fn a_restart_refuses_connections_keeps_the_port_and_wipes_recent_orders() {
    let sim = Sim::start().await;
    sim.create("open").await.unwrap();
    sim.create("closed").await.unwrap();
    let cancel = json!({ "category": "linear", "symbol": "BTCUSDT", "orderLinkId": "closed" });
    assert_eq!(sim.post("/v5/order/cancel", &cancel).await.code(), 0);
    let query = |id: &str| format!("category=linear&symbol=BTCUSDT&orderLinkId={id}");
    assert_eq!(
        sim.get("/v5/order/realtime", &query("closed"))
            .await
            .list()
            .len(),
        1
    );
    let mut old = TcpStream::connect(sim.addr()).await.unwrap();
    let get = sim.signed("GET", "/v5/market/time", "", "", 0, 5_000);
    exchange(&mut old, &get).await.unwrap();
    sim.set("/restart", json!({ "down_ms": 1_000 })).await;
    let down = TcpStream::connect(sim.addr()).await.unwrap_err();
    assert_eq!(down.kind(), ErrorKind::ConnectionRefused);
    assert!(
        exchange(&mut old, &get).await.is_err(),
        "old connections are gone"
    );
    let back = async {
        while TcpStream::connect(sim.addr()).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(BOUND, back)
        .await
        .expect("it comes back");
    assert_eq!(
        sim.get("/v5/order/realtime", &query("open"))
            .await
            .list()
            .len(),
        1
    );
    assert_eq!(
        sim.get("/v5/order/realtime", &query("closed"))
            .await
            .list()
            .len(),
        0,
        "wiped"
    );
    assert_eq!(
        sim.get("/v5/order/history", &query("closed"))
            .await
            .list()
            .len(),
        1,
        "but in the history"
    );
}

#[tokio::test]
async fn many_connections_at_once_each_place_one_order() {
    let sim = Sim::with(Config::default()).await;
    let at_ms = sim.now_ms().await;
    let mut placing = tokio::task::JoinSet::new();
    for index in 0..100 {
        let bytes = sim.signed(
            "POST",
            "/v5/order/create",
            "",
            &resting(&format!("many-{index}")).to_string(),
            at_ms,
            60_000,
        );
        placing.spawn(send(sim.addr(), bytes));
    }
    while let Some(answer) = placing.join_next().await {
        assert_eq!(answer.unwrap().unwrap().code(), 0);
    }
    assert_eq!(
        sim.get_control("/orders").await.as_array().unwrap().len(),
        100
    );
}

#[tokio::test]
async fn the_handle_reaches_the_control_port_also_while_the_venue_is_down() {
    let sim = Sim::start().await;
    sim.create("x").await.unwrap();
    sim.handle
        .control("POST", "/restart", &json!({ "down_ms": 600_000 }))
        .await
        .unwrap();
    assert_eq!(
        TcpStream::connect(sim.addr()).await.unwrap_err().kind(),
        ErrorKind::ConnectionRefused
    );
    let orders = sim
        .handle
        .control("GET", "/orders?cl_ord_id=x", &json!(null))
        .await
        .unwrap();
    assert_eq!(orders.as_array().unwrap().len(), 1);
    let refused = sim
        .handle
        .control("POST", "/faults", &json!({ "op": "nothing", "do": "hold" }))
        .await
        .unwrap_err();
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("nothing"), "{refused}");
    let addr = sim.addr();
    sim.handle.shutdown().await;
    assert_eq!(
        TcpStream::connect(addr).await.unwrap_err().kind(),
        ErrorKind::ConnectionRefused
    );
}

#[tokio::test]
async fn faults_of_streams_are_kept_and_meet_no_request() {
    let sim = Sim::start().await;
    for doing in [
        "stream_drop",
        "stream_duplicate",
        "stream_reorder",
        "stream_gap",
        "stream_mute",
    ] {
        sim.set("/faults", json!({ "op": "stream", "do": doing }))
            .await;
    }
    assert_eq!(sim.create("x").await.unwrap().code(), 0);
    assert_eq!(
        sim.get_control("/faults").await.as_array().unwrap().len(),
        5
    );
}
