//! What the gate and the engine refuse, with the codes and texts of the notes.

use serde_json::{Value, json};
use surefill_sim::bybit::{Config, Login, start};

use crate::{
    support::{Sim, but, request, resting, send, signed_by},
    vectors::body_of,
};

/// The code and text of an answer, and those of a vector.
fn says(answer: &Value, vector: &str) {
    let want = body_of(vector);
    assert_eq!(
        (&answer["retCode"], &answer["retMsg"]),
        (&want["retCode"], &want["retMsg"]),
        "{vector}"
    );
    assert_eq!(answer["result"], json!({}));
}

#[tokio::test]
async fn a_wrong_key_a_bad_signature_and_missing_headers_are_told_apart() {
    let sim = Sim::start().await;
    let now = sim.now_ms().await;
    let body = resting("x").to_string();
    let stranger = Login::new("1", "NOBODYSKEY", &sim.login.api_secret);
    let bytes = signed_by(&stranger, "POST", "/v5/order/create", "", &body, now, 5_000);
    says(
        &send(sim.addr(), bytes).await.unwrap().json(),
        "http-auth-01",
    );
    let forged = Login::new("1001", &sim.login.api_key, "not the secret");
    let bytes = signed_by(&forged, "POST", "/v5/order/create", "", &body, now, 5_000);
    says(
        &send(sim.addr(), bytes).await.unwrap().json(),
        "http-auth-02",
    );
    let other = body.replace("0.030", "0.031");
    let mut bytes = sim.signed("POST", "/v5/order/create", "", &body, now, 5_000);
    bytes.truncate(bytes.len() - body.len());
    bytes.extend_from_slice(other.as_bytes());
    says(
        &send(sim.addr(), bytes).await.unwrap().json(),
        "http-auth-02",
    );
    let bytes = request("POST", "/v5/order/create", &[], &body);
    assert_eq!(send(sim.addr(), bytes).await.unwrap().status, 401);
    assert_eq!(sim.get_control("/orders").await, json!([]));
}

#[tokio::test]
async fn wrong_paths_methods_and_bodies_are_http_errors() {
    let sim = Sim::start().await;
    let now = sim.now_ms().await;
    let status = async |method: &str, path: &str, body: &str| {
        send(sim.addr(), sim.signed(method, path, "", body, now, 5_000))
            .await
            .unwrap()
            .status
    };
    assert_eq!(status("POST", "/v5/order/nothing", "{}").await, 404);
    assert_eq!(status("GET", "/v5/order/create", "").await, 404);
    assert_eq!(status("PUT", "/v5/order/create", "").await, 400);
    assert_eq!(status("GET", "/v5/market/time", "{}").await, 403);
}

#[tokio::test]
async fn each_key_sees_its_own_account_only() {
    let sim = Sim::start().await;
    sim.create("x").await.unwrap();
    let now = sim.now_ms().await;
    for (login, uid, count) in Login::built_in()
        .into_iter()
        .zip([1001, 1002])
        .zip([1, 0])
        .map(|((l, u), c)| (l, u, c))
    {
        let api = signed_by(&login, "GET", "/v5/user/query-api", "", "", now, 5_000);
        let api = send(sim.addr(), api).await.unwrap().json();
        assert_eq!(
            (&api["result"]["userID"], &api["result"]["readOnly"]),
            (&json!(uid), &json!(0))
        );
        let query = "category=linear&orderLinkId=x";
        let list = signed_by(&login, "GET", "/v5/order/realtime", query, "", now, 5_000);
        assert_eq!(send(sim.addr(), list).await.unwrap().list().len(), count);
    }
    let second = Login::built_in().remove(1);
    let again = signed_by(
        &second,
        "POST",
        "/v5/order/create",
        "",
        &resting("x").to_string(),
        now,
        5_000,
    );
    assert_eq!(
        send(sim.addr(), again).await.unwrap().code(),
        0,
        "ids are per account"
    );
    assert_eq!(sim.held("x").await.len(), 2);
    assert_eq!(
        sim.get("/v5/account/info", "").await.json()["result"]["unifiedMarginStatus"],
        5
    );
}

#[tokio::test]
async fn parameters_are_checked() {
    let sim = Sim::start().await;
    let cases = [
        (json!({ "symbol": "NOPEUSDT" }), 10_001),
        (json!({ "category": "option" }), 10_001),
        (json!({ "category": null }), 10_001),
        (json!({ "side": "buy" }), 10_001),
        (json!({ "orderType": "limit" }), 10_001),
        (json!({ "timeInForce": "GTX" }), 10_001),
        (json!({ "qty": 0.03 }), 10_001),
        (json!({ "qty": "0.0301" }), 10_001),
        (json!({ "qty": "1e-2" }), 10_001),
        (json!({ "qty": "+0.03" }), 10_001),
        (json!({ "qty": "0" }), 10_001),
        (json!({ "qty": "1001" }), 10_001),
        (json!({ "orderType": "Market", "qty": "401" }), 10_001),
        (json!({ "price": "60000.05" }), 10_001),
        (json!({ "price": null }), 10_001),
        (json!({ "price": "2000000" }), 110_003),
        (json!({ "qty": "0.001", "price": "4000" }), 110_094),
        (json!({ "reduceOnly": "true" }), 10_001),
        (json!({ "orderLinkId": "sf1.0001" }), 10_001),
        (json!({ "orderLinkId": "x".repeat(37) }), 10_001),
        (json!({ "takeProfit": "70000" }), 10_001),
    ];
    for (change, code) in cases {
        let answer = sim
            .post("/v5/order/create", &but(resting("x"), change.clone()))
            .await;
        assert_eq!((answer.status, answer.code()), (200, code), "{change}");
    }
    let longer = sim
        .post(
            "/v5/order/create",
            &but(resting("x"), json!({ "orderLinkId": "x".repeat(46) })),
        )
        .await;
    assert_eq!(longer.json()["retMsg"], "order link id is longer than 45");
    let hedged = sim
        .post(
            "/v5/order/create",
            &but(resting("x"), json!({ "positionIdx": 1 })),
        )
        .await;
    says(&hedged.json(), "http-rej-02");
    let rich = sim
        .post(
            "/v5/order/create",
            &but(resting("x"), json!({ "qty": "1000" })),
        )
        .await;
    says(&rich.json(), "http-rej-04");
    let reducing = sim
        .post(
            "/v5/order/create",
            &but(resting("x"), json!({ "reduceOnly": true })),
        )
        .await;
    assert_eq!(reducing.code(), 110_017);
    assert_eq!(
        sim.get_control("/orders").await,
        json!([]),
        "none of them took the id"
    );
    assert_eq!(sim.create("x").await.unwrap().code(), 0);
    says(&sim.create("x").await.unwrap().json(), "http-dup-01");
    let late = json!({ "category": "linear", "symbol": "BTCUSDT", "orderLinkId": "nothing" });
    says(
        &sim.post("/v5/order/cancel", &late).await.json(),
        "http-cxl-02",
    );
}

#[tokio::test]
async fn an_ack_is_a_receipt_whatever_the_order_then_meets() {
    let sim = Sim::start().await;
    let row = async |id: &str| {
        let query = format!("category=linear&symbol=BTCUSDT&orderLinkId={id}");
        sim.get("/v5/order/realtime", &query).await.list().remove(0)
    };
    let create = async |id: &str, change: Value| {
        let answer = sim
            .post("/v5/order/create", &but(resting(id), change))
            .await;
        assert_eq!(answer.code(), 0, "{id}");
        let row = row(id).await;
        assert_eq!(row["orderId"], answer.json()["result"]["orderId"]);
        row
    };
    let post_only = create(
        "po",
        json!({ "timeInForce": "PostOnly", "price": "60000.1" }),
    )
    .await;
    assert_eq!(post_only["orderStatus"], "Cancelled");
    assert_eq!(post_only["rejectReason"], "EC_PostOnlyWillTakeLiquidity");
    let killed = create(
        "fok",
        json!({ "timeInForce": "FOK", "qty": "2", "price": "60000.1" }),
    )
    .await;
    assert_eq!(
        (&killed["orderStatus"], &killed["rejectReason"]),
        (&json!("Cancelled"), &json!("EC_NoEnoughQtyToFill"))
    );
    let ioc = create(
        "ioc",
        json!({ "timeInForce": "IOC", "qty": "2", "price": "60000.1" }),
    )
    .await;
    assert_eq!(
        (&ioc["cumExecQty"], &ioc["rejectReason"]),
        (&json!("1.000"), &json!("EC_NoImmediateQtyToFill"))
    );
    let market = create(
        "mkt",
        json!({ "orderType": "Market", "side": "Sell", "qty": "1.5", "price": null }),
    )
    .await;
    assert_eq!(
        (&market["orderStatus"], &market["timeInForce"]),
        (&json!("Filled"), &json!("IOC"))
    );
    assert_eq!(market["price"], "58799.9", "the protection price");
    assert_eq!(market["leavesQty"], "", "empty on closed rows");
    sim.set("/market", json!({ "symbol": "BTCUSDT", "size": 0 }))
        .await;
    let nothing = create("thin", json!({ "orderType": "Market", "price": null })).await;
    assert_eq!(
        (&nothing["cumExecQty"], &nothing["orderStatus"]),
        (&json!("0.000"), &json!("Cancelled"))
    );
}

#[tokio::test]
async fn amend_and_cancel_name_an_order_by_either_id() {
    let sim = Sim::start().await;
    for id in ["a", "b", "c"] {
        sim.create(id).await.unwrap();
    }
    let base = json!({ "category": "linear", "symbol": "BTCUSDT" });
    let amended = sim
        .post(
            "/v5/order/amend",
            &but(
                base.clone(),
                json!({ "orderLinkId": "a", "price": "59990.0" }),
            ),
        )
        .await;
    assert_eq!(amended.code(), 0);
    let held = sim.held("a").await.remove(0);
    assert_eq!(held["price"], "59990");
    // When both are sent and differ, orderId wins.
    let both = json!({ "orderId": held["order_id"], "orderLinkId": "b" });
    assert_eq!(
        sim.post("/v5/order/cancel", &but(base.clone(), both))
            .await
            .json()["result"]["orderLinkId"],
        "a"
    );
    assert_eq!(sim.held("a").await[0]["status"], "canceled");
    let gone = sim
        .post(
            "/v5/order/amend",
            &but(base.clone(), json!({ "orderLinkId": "a", "qty": "1" })),
        )
        .await;
    assert_eq!(gone.code(), 110_001);
    let other = json!({ "category": "linear", "symbol": "ETHUSDT", "orderLinkId": "b" });
    assert_eq!(
        sim.post("/v5/order/cancel", &other).await.code(),
        110_001,
        "another symbol"
    );
    let all = sim.post("/v5/order/cancel-all", &base).await.json();
    assert_eq!(
        (
            all["result"]["list"].as_array().unwrap().len(),
            &all["result"]["success"]
        ),
        (2, &json!("1"))
    );
    let unscoped = sim
        .post("/v5/order/cancel-all", &json!({ "category": "linear" }))
        .await;
    assert_eq!(unscoped.code(), 10_001);
}

#[tokio::test]
async fn the_rate_is_limited_by_account_and_endpoint_in_a_rolling_second() {
    let handle = start(Config::default()).await.unwrap();
    let sim = Sim {
        handle,
        login: Login::built_in().remove(0),
    };
    sim.set("/clock", json!({ "rate": 0 })).await;
    for index in 0..10 {
        let answer = sim.create(&format!("x{index}")).await.unwrap();
        let left = (9 - index).to_string();
        assert_eq!(
            (answer.code(), answer.header("X-Bapi-Limit-Status")),
            (0, Some(left.as_str()))
        );
    }
    let over = sim.create("x10").await.unwrap();
    says(&over.json(), "http-rate-01");
    assert_eq!(over.header("X-Bapi-Limit"), Some("10"));
    let reset: u64 = over
        .header("X-Bapi-Limit-Reset-Timestamp")
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(reset, sim.now_ms().await + 1_000);
    let query = "category=linear&symbol=BTCUSDT";
    assert_eq!(
        sim.get("/v5/order/realtime", query).await.code(),
        0,
        "lookups have their own"
    );
    let second = Login::built_in().remove(1);
    let bytes = signed_by(
        &second,
        "POST",
        "/v5/order/create",
        "",
        &resting("y").to_string(),
        sim.now_ms().await,
        5_000,
    );
    assert_eq!(
        send(sim.addr(), bytes).await.unwrap().code(),
        0,
        "so has another account"
    );
    sim.set("/clock", json!({ "advance_ms": 1_000 })).await;
    assert_eq!(sim.create("x10").await.unwrap().code(), 0);
}

#[tokio::test]
async fn a_ban_answers_403_to_everything_until_it_ends() {
    let sim = Sim::start().await;
    sim.set("/venue", json!({ "ban_ms": 600_000 })).await;
    assert_eq!(sim.create("x").await.unwrap().status, 403);
    assert_eq!(
        sim.get("/v5/order/realtime", "category=linear&orderLinkId=x")
            .await
            .status,
        403
    );
    assert_eq!(sim.get("/v5/market/time", "").await.status, 403);
    sim.set("/clock", json!({ "advance_ms": 600_000 })).await;
    assert_eq!(sim.create("x").await.unwrap().code(), 0);
}

#[tokio::test]
async fn the_cap_on_open_orders_is_a_setting() {
    let config = Config {
        max_open_orders: 2,
        ..Config::default()
    };
    let sim = Sim::with(config).await;
    for id in ["a", "b"] {
        assert_eq!(sim.create(id).await.unwrap().code(), 0);
    }
    assert_eq!(sim.create("c").await.unwrap().code(), 110_020);
    let cancel = json!({ "category": "linear", "symbol": "BTCUSDT", "orderLinkId": "a" });
    assert_eq!(sim.post("/v5/order/cancel", &cancel).await.code(), 0);
    assert_eq!(
        sim.create("c").await.unwrap().code(),
        0,
        "the id was not taken by the refusal"
    );
}

#[tokio::test]
async fn venue_ids_come_from_the_seed() {
    let id = async |seed| {
        let sim = Sim::with(Config {
            seed,
            ..Config::default()
        })
        .await;
        sim.create("x").await.unwrap().json()["result"]["orderId"].clone()
    };
    let first = id(1).await;
    assert_eq!(first.as_str().unwrap().len(), 36);
    assert_eq!(id(1).await, first);
    assert_ne!(id(2).await, first);
}

#[test]
fn a_secret_is_not_printed() {
    let printed = format!("{:?}", Config::default());
    assert!(
        printed.contains("1001") && printed.contains("[redacted]"),
        "{printed}"
    );
    assert!(
        !printed.contains("fakefake") && !printed.contains("FAKEKEY"),
        "{printed}"
    );
}

#[tokio::test]
async fn limits_are_by_class_and_spot_has_its_own() {
    let config = Config::default();
    let login = config.logins[0].clone();
    let sim = Sim {
        handle: start(config).await.unwrap(),
        login,
    };
    sim.set("/clock", json!({ "rate": 0 })).await;
    let spot = json!({ "category": "spot", "symbol": "ETHUSDT", "side": "Buy", "orderType": "Limit",
        "qty": "0.01", "price": "2500.00" });
    let linear = resting("x");
    let gone = json!({ "category": "spot", "symbol": "ETHUSDT", "orderLinkId": "nobody" });
    let change = but(gone.clone(), json!({ "qty": "1" }));
    for (path, body, limit) in [
        ("/v5/order/create", &spot, 20),
        ("/v5/order/cancel", &gone, 20),
        ("/v5/order/amend", &change, 10),
        ("/v5/order/create", &linear, 10),
    ] {
        for count in 0..limit {
            let answer = sim.post(path, body).await;
            assert_ne!(answer.code(), 10_006, "{path} {count}");
            assert_eq!(
                answer.header("x-bapi-limit").unwrap(),
                limit.to_string(),
                "{path}"
            );
        }
        let over = sim.post(path, body).await;
        assert_eq!(over.code(), 10_006, "{path}");
        let reset: u64 = over
            .header("x-bapi-limit-reset-timestamp")
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(reset, sim.now_ms().await + 1_000);
    }
    sim.set("/clock", json!({ "advance_ms": 1_000 })).await;
    assert_eq!(sim.post("/v5/order/create", &spot).await.code(), 0);
}

#[tokio::test]
async fn an_address_that_asks_too_often_is_out_for_ten_minutes() {
    let sim = Sim::start().await;
    sim.set("/clock", json!({ "rate": 0 })).await;
    sim.set("/venue", json!({ "ip_limit": 3 })).await;
    let time = async || sim.get("/v5/market/time", "").await.status;
    for _ in 0..3 {
        assert_eq!(time().await, 200);
    }
    assert_eq!(time().await, 403);
    sim.set("/clock", json!({ "advance_ms": 599_000 })).await;
    assert_eq!(time().await, 403);
    sim.set("/clock", json!({ "advance_ms": 6_000 })).await;
    assert_eq!(time().await, 200);
}

#[tokio::test]
async fn any_code_can_be_answered_with_and_without_the_act() {
    let sim = Sim::start().await;
    for (word, code, lives) in [
        ("code:10016", 10_016, 0),
        ("act_then_code:10000", 10_000, 1),
        ("code:110079", 110_079, 0),
    ] {
        sim.set("/faults", json!({ "op": "create", "do": word }))
            .await;
        let id = word.replace(':', "-");
        assert_eq!(sim.create(&id).await.unwrap().code(), code);
        assert_eq!(sim.held(&id).await.len(), lives, "{word}");
    }
}
