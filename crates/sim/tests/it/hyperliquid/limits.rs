//! Limits per address of an account, and per address of the network.

use serde_json::{Value, json};

use super::client::{Key, SECOND, SUB, Sim, cancel, default, limit, orders, resting, statuses};

#[tokio::test]
async fn an_address_has_ten_thousand_requests_and_one_per_dollar_traded() {
    let sim = Sim::start().await;
    sim.set("/clock", json!({ "rate": 0 })).await;
    let cancels: Vec<Value> = (0..2_000).map(|_| json!({ "a": 1, "o": 1 })).collect();
    let many = json!({ "type": "cancel", "cancels": cancels });
    for _ in 0..5 {
        assert_eq!(sim.statuses(many.clone()).await.len(), 2_000);
    }
    let limits = sim.ask("userRateLimit").await;
    assert_eq!(
        (&limits["nRequestsUsed"], &limits["nRequestsCap"]),
        (&json!(10_000), &json!(10_000))
    );
    let answer = sim.act(orders(&[resting(1)])).await;
    let text = "Too many cumulative requests sent (10000 > 10000) for cumulative volume traded $0.";
    assert!(
        answer["response"].as_str().unwrap().starts_with(text),
        "{answer}"
    );
    assert_eq!(sim.control("/orders").await, json!([]));
    // Cancels have a cap of their own, and a sub-account is another address.
    assert_eq!(sim.statuses(cancel(1)).await.len(), 1);
    let sub = sim.act_by(&sim.key, Some(SUB), orders(&[resting(1)])).await;
    assert!(statuses(&sub)[0]["resting"]["oid"].is_u64());
    let other = sim
        .act_by(&Key::new(SECOND), None, json!({ "type": "noop" }))
        .await;
    assert_eq!(other, default());
    // One request in ten seconds passes; what it trades makes room.
    assert_eq!(sim.act(orders(&[resting(1)])).await["status"], "err");
    sim.set("/clock", json!({ "advance_ms": 10_000 })).await;
    let status = sim.place(limit(2, true, "3000.1", "0.1", "Ioc")).await;
    assert_eq!(status["filled"]["totalSz"], "0.1");
    assert_eq!(sim.ask("userRateLimit").await["nRequestsCap"], 10_300);
    assert!(sim.place(resting(3)).await["resting"]["oid"].is_u64());
}

#[tokio::test]
async fn the_network_address_has_a_weight_in_a_minute() {
    let sim = Sim::start().await;
    sim.set("/clock", json!({ "rate": 0 })).await;
    sim.set("/venue", json!({ "ip_weight": 100 })).await;
    let status = json!({ "type": "exchangeStatus" });
    let asked = async |ask: &Value| sim.post("/info", ask).await.unwrap();
    // 60 and 20 and 20 times 1.
    assert_eq!(
        asked(&json!({ "type": "userRole", "user": sim.user() }))
            .await
            .status,
        200
    );
    assert_eq!(asked(&json!({ "type": "meta" })).await.status, 200);
    for number in 0..20 {
        assert!(sim.place(resting(number)).await["resting"]["oid"].is_u64());
    }
    let answer = asked(&status).await;
    assert_eq!((answer.status, answer.body.as_slice()), (429, &b"null"[..]));
    let body = sim.body(orders(&[resting(99)])).await;
    assert_eq!(sim.post("/exchange", &body).await.unwrap().status, 429);
    sim.set("/clock", json!({ "advance_ms": 60_000 })).await;
    assert_eq!(asked(&status).await.status, 200);
    // Nothing was admitted: the same bytes are taken now. A batch of forty weighs two.
    let answer = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(answer["status"], "ok");
    sim.set("/clock", json!({ "advance_ms": 60_000 })).await;
    sim.set("/venue", json!({ "ip_weight": 2 })).await;
    let forty: Vec<Value> = (100..140).map(resting).collect();
    assert_eq!(sim.statuses(orders(&forty)).await.len(), 40);
    assert_eq!(asked(&status).await.status, 429);
}
