//! Faults find their requests by what the bodies ask for.

use serde_json::{Value, json};

use super::client::{Key, SECOND, Sim, cancel, cloid, default, orders, refused, resting};

#[tokio::test]
async fn each_kind_of_request_meets_its_own_faults() {
    let sim = Sim::start().await;
    sim.place(resting(1)).await;
    let user = sim.user();
    let of_user = |kind: &str| json!({ "type": kind, "user": user });
    let lookup = json!({ "type": "orderStatus", "user": user, "oid": 1 });
    let modify = json!({ "type": "modify", "oid": cloid(9), "order": resting(9) });
    let fills = json!({ "type": "userFillsByTime", "user": user, "startTime": 0 });
    let noop = json!({ "type": "noop" });
    let asks = [
        ("create", Err(orders(&[resting(2)]))),
        ("cancel", Err(cancel(1))),
        ("cancel", Err(json!({ "type": "cancel", "cancels": [] }))),
        ("cancel", Err(noop)),
        ("amend", Err(modify)),
        ("lookup", Ok(lookup)),
        ("lookup", Ok(of_user("historicalOrders"))),
        ("open_orders", Ok(of_user("openOrders"))),
        ("open_orders", Ok(of_user("frontendOpenOrders"))),
        ("fills", Ok(of_user("userFills"))),
        ("fills", Ok(fills)),
        ("positions", Ok(of_user("clearinghouseState"))),
        ("positions", Ok(of_user("spotClearinghouseState"))),
    ];
    let ops = [
        "create",
        "cancel",
        "amend",
        "lookup",
        "open_orders",
        "fills",
        "positions",
    ];
    for (op, ask) in asks {
        for other in ops.into_iter().filter(|other| *other != op) {
            sim.set("/faults", json!({ "op": other, "do": "status:503" }))
                .await;
        }
        sim.set("/faults", json!({ "op": op, "do": "status:502" }))
            .await;
        let answer = match &ask {
            Ok(ask) => sim.post("/info", ask).await.unwrap(),
            Err(action) => {
                let body = sim.body(action.clone()).await;
                sim.post("/exchange", &body).await.unwrap()
            }
        };
        assert_eq!(answer.status, 502, "{op}: {ask:?}");
        sim.handle
            .control("DELETE", "/faults", &Value::Null)
            .await
            .unwrap();
    }
    assert_eq!(sim.control("/orders").await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_connection_is_refused_by_what_its_first_body_asks_for() {
    let sim = Sim::start().await;
    sim.set("/faults", json!({ "op": "create", "do": "refuse" }))
        .await;
    assert_eq!(sim.lookup(cloid(1)).await["status"], "unknownOid");
    let body = sim.body(orders(&[resting(1)])).await;
    assert!(sim.post("/exchange", &body).await.is_err());
    let rows = sim.control("/requests").await;
    let refused = rows.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&refused["op"], &refused["acted"]),
        (&json!("create"), &json!(false))
    );
    assert!(sim.held(&cloid(1)).await.is_empty());
    let answer = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(answer["status"], "ok", "the same bytes, later");
}

#[tokio::test]
async fn an_answer_that_is_lost_leaves_the_order_and_its_nonce() {
    let sim = Sim::start().await;
    for (number, fault) in [
        (1, "reset_after"),
        (2, "act_then_status:502"),
        (3, "truncate"),
        (4, "garbage"),
    ] {
        sim.set("/faults", json!({ "op": "create", "do": fault }))
            .await;
        let body = sim.body(orders(&[resting(number)])).await;
        let answer = sim.post("/exchange", &body).await;
        let readable = answer.is_ok_and(|answer| {
            answer.status == 200 && serde_json::from_slice::<Value>(&answer.body).is_ok()
        });
        assert!(!readable, "{fault}");
        sim.until_held(&cloid(number), 1).await;
        let again = sim.post("/exchange", &body).await.unwrap().json();
        let duplicate = format!("Invalid nonce: duplicate nonce {}", body["nonce"]);
        assert_eq!(again, refused(&duplicate), "{fault}");
        assert_eq!(sim.lookup(cloid(number)).await["order"]["status"], "open");
    }
}

#[tokio::test]
async fn one_body_delivered_twice_is_one_order() {
    let sim = Sim::start().await;
    sim.set("/faults", json!({ "op": "create", "do": "duplicate" }))
        .await;
    let answer = sim.act(orders(&[resting(1)])).await;
    assert_eq!(answer["status"], "ok");
    let waiting = async {
        loop {
            let rows = sim.control("/requests").await;
            let rows = rows.as_array().unwrap().clone();
            if rows
                .iter()
                .filter(|row| row["op"] == "create" && row["acted"] == true)
                .count()
                == 2
            {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::support::BOUND, waiting)
        .await
        .expect("it comes twice");
    assert_eq!(sim.held(&cloid(1)).await.len(), 1);
}

#[tokio::test]
async fn an_order_that_is_held_up_meets_the_fence_or_its_end() {
    let sim = Sim::start().await;
    // A noop with its nonce comes first.
    sim.set("/clock", json!({ "rate": 0 })).await;
    sim.set(
        "/faults",
        json!({ "op": "create", "do": "hold", "ms": 1_000 }),
    )
    .await;
    let body = sim.body(orders(&[resting(1)])).await;
    let nonce = body["nonce"].as_u64().unwrap();
    let noop = sim.key.body(&json!({ "type": "noop" }), nonce, None, None);
    let fence = async {
        let waiting = async {
            while sim.control("/faults").await != json!([]) {
                tokio::task::yield_now().await;
            }
        };
        waiting.await;
        let fenced = sim.post("/exchange", &noop).await.unwrap().json();
        sim.set("/clock", json!({ "advance_ms": 1_000 })).await;
        fenced
    };
    let (held, fenced) = tokio::join!(sim.post("/exchange", &body), fence);
    assert_eq!(fenced, default());
    let duplicate = refused(&format!("Invalid nonce: duplicate nonce {nonce}"));
    assert_eq!(held.unwrap().json(), duplicate);
    // Its own end comes first.
    sim.set(
        "/faults",
        json!({ "op": "create", "do": "hold", "ms": 1_000 }),
    )
    .await;
    let now_ms = sim.now_ms().await;
    let body = sim
        .key
        .body(&orders(&[resting(2)]), now_ms + 1, None, Some(now_ms + 500));
    let later = async {
        while sim.control("/faults").await != json!([]) {
            tokio::task::yield_now().await;
        }
        sim.set("/clock", json!({ "advance_ms": 1_000 })).await;
    };
    let (held, ()) = tokio::join!(sim.post("/exchange", &body), later);
    assert_eq!(held.unwrap().json(), refused("Action already expired"));
    assert_eq!(sim.control("/orders").await, json!([]));
}

#[tokio::test]
async fn too_much_and_the_venues_own_codes_have_its_bodies() {
    let sim = Sim::start().await;
    for (fault, status, body) in [
        ("throttle", 429, "null"),
        ("code:500", 500, "null"),
        (
            "code:422",
            422,
            "Failed to deserialize the JSON body into the target type",
        ),
    ] {
        sim.set("/faults", json!({ "op": "create", "do": fault }))
            .await;
        let order = sim.body(orders(&[resting(1)])).await;
        let answer = sim.post("/exchange", &order).await.unwrap();
        assert_eq!(
            (answer.status, answer.body.as_slice()),
            (status, body.as_bytes()),
            "{fault}"
        );
        assert!(sim.held(&cloid(1)).await.is_empty(), "{fault}");
    }
}

#[tokio::test]
async fn a_restart_keeps_all_that_the_chain_knows() {
    let sim = Sim::start().await;
    let body = sim.body(orders(&[resting(1)])).await;
    sim.post("/exchange", &body).await.unwrap();
    sim.set("/restart", json!({ "down_ms": 0 })).await;
    let waiting = async {
        loop {
            if let Ok(answer) = sim.post("/exchange", &body).await {
                return answer.json();
            }
            tokio::task::yield_now().await;
        }
    };
    let answer = tokio::time::timeout(crate::support::BOUND, waiting)
        .await
        .unwrap();
    assert_eq!(
        answer,
        refused(&format!("Invalid nonce: duplicate nonce {}", body["nonce"]))
    );
    assert_eq!(sim.lookup(cloid(1)).await["order"]["status"], "open");
}

#[tokio::test]
async fn the_control_port_names_what_it_does_not_know() {
    let sim = Sim::start().await;
    for (wrong, named) in [
        (json!({ "upgrade_gate_m": 1 }), "upgrade_gate_m"),
        (json!({ "upgrade_gate_ms": "x" }), "upgrade_gate_ms"),
        (json!({ "prune_nonces": 1 }), "prune_nonces"),
        (
            json!({ "approve_agent": "0x00000000000000000000000000000000000000aa" }),
            "master",
        ),
        (
            json!({ "revoke_agent": "0x00000000000000000000000000000000000000aa" }),
            "revoke_agent",
        ),
        (json!({ "approve_agent": "x", "master": sim.user() }), "x"),
    ] {
        let error = sim
            .handle
            .control("POST", "/venue", &wrong)
            .await
            .unwrap_err();
        assert!(
            error.status == 400 && error.text.contains(named),
            "{wrong}: {error}"
        );
    }
    assert_eq!(
        Key::new(SECOND).address,
        "0x1563915e194d8cfba1943570603f7606a3115508"
    );
}

/// As on a market that drops orders with a `cloid` without a word; the nonce is used up all the same.
#[tokio::test]
async fn an_order_vanishes_or_its_answer_names_nothing() {
    let sim = Sim::start().await;
    let empty =
        json!({ "status": "ok", "response": { "type": "order", "data": { "statuses": [] } } });
    for (number, field, orders_there) in [(1, "vanish", 0), (2, "no_status", 1)] {
        sim.set("/venue", json!({ field: 1 })).await;
        let body = sim.body(orders(&[resting(number)])).await;
        let answer = sim.post("/exchange", &body).await.unwrap().json();
        assert_eq!(answer, empty, "{field}");
        assert_eq!(
            sim.held(&cloid(number)).await.len(),
            orders_there,
            "{field}"
        );
        let again = sim.post("/exchange", &body).await.unwrap().json();
        let duplicate = format!("Invalid nonce: duplicate nonce {}", body["nonce"]);
        assert_eq!(again, refused(&duplicate), "{field}");
    }
    let element = sim.place(resting(3)).await;
    assert!(element["resting"]["oid"].is_u64(), "{element}");
}
