//! The control port: every field is known by name, and its rows are what the venue holds.

use serde_json::{Value, json};

use crate::support::Sim;

#[tokio::test]
async fn an_unknown_field_or_value_is_refused_by_name() {
    let sim = Sim::start().await;
    let cases = [
        (
            "/faults",
            json!({ "op": "create", "do": "hold", "speed": 1 }),
            "speed",
        ),
        (
            "/faults",
            json!({ "op": "creates", "do": "hold" }),
            "creates",
        ),
        (
            "/faults",
            json!({ "op": "create", "do": "explode" }),
            "explode",
        ),
        (
            "/faults",
            json!({ "op": "create", "do": "status:abc" }),
            "status:abc",
        ),
        (
            "/faults",
            json!({ "op": "create", "do": "hold", "nth": 0 }),
            "nth",
        ),
        (
            "/faults",
            json!({ "op": "create", "do": "hold", "ms": -1 }),
            "ms",
        ),
        ("/faults", json!({ "do": "hold" }), "op"),
        (
            "/hide",
            json!({ "cl_ord_id": "x", "ms": 1, "from": ["shelf"] }),
            "shelf",
        ),
        (
            "/hide",
            json!({ "cl_ord_id": "x", "ms": 1, "from": ["open"], "to": 1 }),
            "to",
        ),
        ("/fill", json!({ "cl_ord_id": "x" }), "qty"),
        ("/market", json!({ "symbol": "DOGEUSDT" }), "DOGEUSDT"),
        ("/clock", json!({ "skew": 1 }), "skew"),
        ("/clock", json!({ "rate": -1 }), "rate"),
        ("/restart", json!({ "down": 1 }), "down"),
        ("/rules", json!({ "duplicate": "sometimes" }), "sometimes"),
        ("/rules", json!({ "windows": 1 }), "windows"),
        ("/close_day", json!({ "at": 1 }), "at"),
        ("/venue", json!({ "settle": {} }), "settle"),
    ];
    for (path, body, name) in cases {
        let answer = sim.control("POST", path, &body).await;
        assert_eq!(answer.status, 400, "{path} {body}");
        assert!(
            answer.json()["error"].as_str().unwrap().contains(name),
            "{path} {body}: {:?}",
            answer.json()
        );
    }
    for (path, name) in [("/orders?id=x", "id"), ("/fills?cl_ord_id=x", "cl_ord_id")] {
        let answer = sim.control("GET", path, &Value::Null).await;
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.json()["error"].as_str().unwrap().contains(name));
    }
    assert_eq!(
        sim.control("GET", "/nothing", &Value::Null).await.status,
        404
    );
    assert_eq!(
        sim.get_control("/faults").await,
        json!([]),
        "none of them was posted"
    );
}

#[tokio::test]
async fn an_order_is_found_in_either_spelling() {
    let sim = Sim::start().await;
    sim.create("sf1-2z05fdwtr0jq5kd25458mbfv3j").await.unwrap();
    sim.create("someone-elses-id").await.unwrap();
    for id in [
        "sf1-2z05fdwtr0jq5kd25458mbfv3j",
        "5f015ede6b0095cb3688a42a28b7ec72",
    ] {
        let held = sim.held(id).await;
        assert_eq!(held.len(), 1, "{id}");
        let want = json!({
            "wire_id": "sf1-2z05fdwtr0jq5kd25458mbfv3j", "cl_ord_id": "5f015ede6b0095cb3688a42a28b7ec72",
            "account": "1001", "symbol": "BTCUSDT", "side": "buy", "order_qty": "0.03", "cum_qty": "0",
            "price": "60000", "status": "new",
        });
        for (name, value) in want.as_object().unwrap() {
            assert_eq!(held[0][name], *value, "{name}");
        }
    }
    assert_eq!(
        sim.held("someone-elses-id").await[0]["cl_ord_id"],
        Value::Null
    );
    sim.set(
        "/fill",
        json!({ "cl_ord_id": "5f015ede6b0095cb3688a42a28b7ec72", "qty": "0.01", "price": "59999" }),
    )
    .await;
    let fills = sim.get_control("/fills").await;
    assert_eq!(
        (&fills[0]["qty"], &fills[0]["price"], &fills[0]["maker"]),
        (&json!("0.01"), &json!("59999"), &json!(true))
    );
    assert_eq!(fills[0]["cl_ord_id"], "5f015ede6b0095cb3688a42a28b7ec72");
    let positions = sim.get_control("/positions").await;
    assert_eq!(
        (&positions[0]["account"], &positions[0]["qty"]),
        (&json!("1001"), &json!("0.01"))
    );
    let beyond = sim
        .control(
            "POST",
            "/fill",
            &json!({ "cl_ord_id": "someone-elses-id", "qty": "1" }),
        )
        .await;
    assert_eq!(beyond.status, 400);
    assert_eq!(
        sim.control(
            "POST",
            "/fill",
            &json!({ "cl_ord_id": "nobody", "qty": "1" })
        )
        .await
        .status,
        404
    );
}

#[tokio::test]
async fn the_clock_is_skewed_advanced_and_stopped() {
    let sim = Sim::start().await;
    sim.set("/clock", json!({ "rate": "0" })).await;
    let stopped = sim.now_ms().await;
    assert_eq!(sim.now_ms().await, stopped);
    sim.set("/clock", json!({ "skew_ms": -500 })).await;
    sim.set("/clock", json!({ "skew_ms": -700 })).await;
    assert_eq!(
        sim.now_ms().await,
        stopped - 700,
        "a skew is not added to an earlier one"
    );
    sim.set("/clock", json!({ "advance_ms": 1_000 })).await;
    assert_eq!(sim.now_ms().await, stopped + 300);
    let venue = sim.get("/v5/market/time", "").await.json();
    assert_eq!(venue["time"].as_u64().unwrap(), stopped + 300);
    assert_eq!(
        venue["result"]["timeNano"],
        ((stopped + 300) * 1_000_000).to_string()
    );
    assert_eq!(sim.get_control("/clock").await["skew_ms"], -700);
}

#[tokio::test]
async fn rules_change_from_now_on() {
    let sim = Sim::start().await;
    assert_eq!(
        sim.get_control("/rules").await,
        json!({ "duplicate": "refused_forever", "window": 10_000 })
    );
    sim.create("x").await.unwrap();
    sim.set("/rules", json!({ "duplicate": "returns_existing" }))
        .await;
    let again = sim.create("x").await.unwrap().json();
    assert_eq!(
        again["result"]["orderId"],
        sim.held("x").await[0]["order_id"]
    );
    sim.set("/rules", json!({ "duplicate": "refused_day", "window": 5 }))
        .await;
    assert_eq!(sim.create("x").await.unwrap().code(), 110_072);
    sim.set("/close_day", json!({})).await;
    assert_eq!(sim.create("x").await.unwrap().code(), 0);
    assert_eq!(sim.held("x").await.len(), 2);
}

#[tokio::test]
async fn a_market_set_by_hand_fills_what_it_crosses() {
    let sim = Sim::start().await;
    sim.create("x").await.unwrap();
    sim.set(
        "/market",
        json!({ "symbol": "BTCUSDT", "bid": "59990", "ask": "59995", "size": "0.01" }),
    )
    .await;
    let held = sim.held("x").await.remove(0);
    assert_eq!(
        (&held["cum_qty"], &held["status"]),
        (&json!("0.03"), &json!("filled")),
        "over three levels"
    );
}

#[tokio::test]
async fn the_request_log_has_what_the_venue_saw_and_not_the_control_port() {
    let sim = Sim::start().await;
    sim.create("x").await.unwrap();
    sim.get("/v5/order/realtime", "category=linear&symbol=BTCUSDT")
        .await;
    sim.get("/v5/order/realtime", "category=linear&orderLinkId=x")
        .await;
    let rows = sim.get_control("/requests").await;
    let rows = rows.as_array().unwrap();
    let ops: Vec<&str> = rows.iter().map(|row| row["op"].as_str().unwrap()).collect();
    assert_eq!(ops, ["create", "open_orders", "lookup"]);
    assert_eq!(
        (&rows[0]["seq"], &rows[0]["method"], &rows[0]["path"]),
        (&json!(1), &json!("POST"), &json!("/v5/order/create"))
    );
    assert_eq!(
        (&rows[0]["acted"], &rows[0]["answered"], &rows[0]["status"]),
        (&json!(true), &json!(true), &json!(200))
    );
    assert_eq!(rows[0]["body_sha256"].as_str().unwrap().len(), 64);
}
