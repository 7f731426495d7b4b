//! Admission: HTTP forms, nonces, expiry, the upgrade gate.

use serde_json::{Value, json};

use super::client::{FIRST, Key, Sim, cancel, cloid, default, limit, orders, refused, resting};
use crate::support::{request, send};

const DAY_MS: u64 = 86_400_000;

fn noop() -> Value {
    json!({ "type": "noop" })
}

/// Sends a noop under this nonce.
async fn spend(sim: &Sim, nonce: u64) -> Value {
    let body = sim.key.body(&noop(), nonce, None, None);
    sim.post("/exchange", &body).await.unwrap().json()
}

#[tokio::test]
async fn bodies_that_are_not_read_are_answered_by_status_and_use_no_nonce() {
    let sim = Sim::start().await;
    let raw = async |path: &str, body: &str| {
        let answer = send(sim.handle.addr(), request("POST", path, &[], body))
            .await
            .unwrap();
        (answer.status, String::from_utf8(answer.body).unwrap())
    };
    let unreadable = (400, "Failed to parse the request body as JSON".to_owned());
    let unfit = (
        422,
        "Failed to deserialize the JSON body into the target type".to_owned(),
    );
    assert_eq!(raw("/exchange", "{\"action\":").await, unreadable);
    assert_eq!(raw("/info", "nothing").await, unreadable);
    assert_eq!(raw("/info", "{\"type\":\"noSuchThing\"}").await, unfit);
    assert_eq!(raw("/info", "{\"type\":\"openOrders\"}").await, unfit);
    let good = sim.body(orders(&[resting(1)])).await;
    let changes: [fn(&mut Value); 9] = [
        |body| body["more"] = json!(1),
        |body| body["action"]["more"] = json!(1),
        |body| body["action"]["type"] = json!("nothing"),
        |body| body["action"]["orders"][0]["p"] = json!(2400.5),
        |body| body["action"]["orders"][0]["p"] = json!("2400.123456789"),
        |body| body["action"]["orders"][0]["s"] = json!("-1"),
        |body| body["action"]["orders"][0]["c"] = json!("1234"),
        |body| body["action"]["orders"][0]["t"] = json!({ "limit": { "tif": "Fok" } }),
        |body| body["nonce"] = json!(1.5),
    ];
    for change in changes {
        let mut body = good.clone();
        change(&mut body);
        assert_eq!(raw("/exchange", &body.to_string()).await, unfit, "{body}");
    }
    let twice = good.to_string().replacen("\"a\":1", "\"a\":1,\"a\":1", 1);
    assert_eq!(raw("/exchange", &twice).await, unfit);
    let text = good.to_string();
    let typeless = format!(
        "POST /exchange HTTP/1.1\r\nHost: sim\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
    let answer = send(sim.handle.addr(), typeless.into_bytes())
        .await
        .unwrap();
    assert_eq!(answer.status, 415);
    assert_eq!(sim.control("/orders").await, json!([]));
    // What follows the first value is ignored, and the nonce is still free.
    let (status, body) = raw("/exchange", &format!("{text} trailing")).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(sim.held(&cloid(1)).await.len(), 1);
}

#[tokio::test]
async fn a_nonce_is_admitted_once_whatever_it_was_used_for() {
    let sim = Sim::start().await;
    let body = sim.body(orders(&[resting(1)])).await;
    let nonce = body["nonce"].as_u64().unwrap();
    let first = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(first["status"], "ok");
    let duplicate = refused(&format!("Invalid nonce: duplicate nonce {nonce}"));
    for _ in 0..2 {
        assert_eq!(
            sim.post("/exchange", &body).await.unwrap().json(),
            duplicate
        );
        assert_eq!(spend(&sim, nonce).await, duplicate);
    }
    assert_eq!(sim.held(&cloid(1)).await.len(), 1);
    // A nonce that a noop took keeps the order away for ever.
    let body = sim.body(orders(&[resting(2)])).await;
    let nonce = body["nonce"].as_u64().unwrap();
    assert_eq!(spend(&sim, nonce).await, default());
    let duplicate = refused(&format!("Invalid nonce: duplicate nonce {nonce}"));
    assert_eq!(
        sim.post("/exchange", &body).await.unwrap().json(),
        duplicate
    );
    assert!(sim.held(&cloid(2)).await.is_empty());
    // Another signer has nonces of its own.
    let other = Key::new(super::client::SECOND).body(&noop(), nonce, None, None);
    assert_eq!(
        sim.post("/exchange", &other).await.unwrap().json(),
        default()
    );
}

#[tokio::test]
async fn one_body_sent_many_times_at_once_is_one_order() {
    let sim = Sim::start().await;
    let body = sim
        .body(orders(&[limit(1, true, "3000.1", "0.02", "Ioc")]))
        .await;
    let sends = (0..16).map(|_| sim.post("/exchange", &body));
    let answers = futures_util::future::join_all(sends).await;
    let admitted = answers.into_iter().filter(|answer| {
        let answer = answer.as_ref().unwrap().json();
        answer["status"] == "ok"
    });
    assert_eq!(admitted.count(), 1);
    assert_eq!(sim.control("/fills").await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_new_nonce_is_above_the_hundredth_highest() {
    let sim = Sim::start().await;
    let now_ms = sim.now_ms().await;
    for step in 0..100 {
        assert_eq!(spend(&sim, now_ms + 2 * step).await, default());
    }
    // Out of order is fine above the lowest of them.
    assert_eq!(spend(&sim, now_ms + 3).await, default());
    let low = refused(&format!(
        "Invalid nonce: nonce too low {} < {}",
        now_ms + 1,
        now_ms + 2
    ));
    assert_eq!(spend(&sim, now_ms + 1).await, low);
    // One that was used and fell below is remembered, or forgotten if that is asked for.
    let duplicate = refused(&format!("Invalid nonce: duplicate nonce {now_ms}"));
    assert_eq!(spend(&sim, now_ms).await, duplicate);
    sim.set("/venue", json!({ "forget_evicted_nonces": true }))
        .await;
    let low = refused(&format!(
        "Invalid nonce: nonce too low {now_ms} < {}",
        now_ms + 2
    ));
    assert_eq!(spend(&sim, now_ms).await, low);
    sim.set("/rules", json!({ "window": 2 })).await;
    let low = format!(
        "Invalid nonce: nonce too low {} < {}",
        now_ms + 195,
        now_ms + 196
    );
    assert_eq!(spend(&sim, now_ms + 195).await, refused(&low));
}

#[tokio::test]
async fn nonces_lie_within_two_days_and_one() {
    let sim = Sim::start().await;
    sim.set("/clock", json!({ "rate": 0 })).await;
    let now_ms = sim.now_ms().await;
    for margin_ms in [120_000, 0] {
        sim.set("/venue", json!({ "nonce_margin_ms": margin_ms }))
            .await;
        let oldest = now_ms - 2 * DAY_MS + margin_ms;
        let newest = now_ms + DAY_MS - margin_ms;
        let text = format!("Invalid nonce: nonce too low {oldest} < {oldest}");
        assert_eq!(spend(&sim, oldest).await, refused(&text));
        let text = format!("Invalid nonce: nonce too high {newest} > {newest}");
        assert_eq!(spend(&sim, newest).await, refused(&text));
        assert_eq!(spend(&sim, oldest + 1).await, default());
        assert_eq!(spend(&sim, newest - 1).await, default());
    }
}

#[tokio::test]
async fn an_expired_action_is_refused_and_has_used_its_nonce() {
    let sim = Sim::start().await;
    sim.set("/clock", json!({ "rate": 0 })).await;
    let now_ms = sim.now_ms().await;
    let at = |nonce: u64, expires: u64| {
        sim.key
            .body(&orders(&[resting(1)]), nonce, None, Some(expires))
    };
    let late = at(now_ms, now_ms - 1);
    let answer = sim.post("/exchange", &late).await.unwrap().json();
    assert_eq!(answer, refused("Action already expired"));
    let duplicate = refused(&format!("Invalid nonce: duplicate nonce {now_ms}"));
    assert_eq!(spend(&sim, now_ms).await, duplicate);
    assert_eq!(
        sim.lookup(cloid(1)).await,
        json!({ "status": "unknownOid" })
    );
    // The last moment is still in time.
    let answer = sim
        .post("/exchange", &at(now_ms + 1, now_ms))
        .await
        .unwrap();
    assert_eq!(answer.json()["status"], "ok");
    let used = sim.ask("userRateLimit").await["nRequestsUsed"].as_u64();
    assert_eq!(used, Some(6), "an expired one counts five");
}

#[tokio::test]
async fn a_refusal_in_business_uses_the_nonce_and_one_in_admission_does_not() {
    let sim = Sim::start().await;
    let nonce = sim.nonce().await;
    let wrong = orders(&[limit(1, true, "2400.55", "0.02", "Gtc")]);
    let body = sim.key.body(&wrong, nonce, None, None);
    let answer = sim.post("/exchange", &body).await.unwrap().json();
    assert!(answer["response"]["data"]["statuses"][0]["error"].is_string());
    let duplicate = refused(&format!("Invalid nonce: duplicate nonce {nonce}"));
    assert_eq!(spend(&sim, nonce).await, duplicate);
    let nonce = sim.nonce().await;
    let nobody = "0x00000000000000000000000000000000000000aa";
    let body = sim
        .key
        .body(&orders(&[resting(1)]), nonce, Some(nobody), None);
    let answer = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(answer, refused(&format!("Vault not registered: {nobody}")));
    assert_eq!(spend(&sim, nonce).await, default());
}

#[tokio::test]
async fn after_an_upgrade_only_post_only_orders_are_taken() {
    let sim = Sim::start().await;
    sim.set("/venue", json!({ "upgrade_gate_ms": 60_000 }))
        .await;
    let text = "Only post-only orders allowed immediately after a network upgrade";
    let body = sim.body(orders(&[resting(1)])).await;
    assert_eq!(
        sim.post("/exchange", &body).await.unwrap().json(),
        refused(text)
    );
    let again = sim.post("/exchange", &body).await.unwrap().json();
    assert!(
        again["response"]
            .as_str()
            .unwrap()
            .contains("duplicate nonce")
    );
    sim.set("/venue", json!({ "upgrade_gate_per_order": true }))
        .await;
    assert_eq!(sim.place(resting(1)).await, json!({ "error": text }));
    assert_eq!(sim.lookup(cloid(1)).await["status"], "unknownOid");
    let alo = sim.place(limit(2, true, "2400", "0.02", "Alo")).await;
    assert!(alo["resting"]["oid"].is_u64());
    assert_eq!(sim.statuses(cancel(2)).await, [json!("success")]);
    sim.set("/clock", json!({ "advance_ms": 60_000 })).await;
    assert!(sim.place(resting(1)).await["resting"]["oid"].is_u64());
}

#[tokio::test]
async fn who_cannot_be_recovered_or_does_not_exist_is_named() {
    let sim = Sim::start().await;
    let mut body = sim.body(noop()).await;
    body["signature"]["s"] = json!("0x0");
    let answer = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(answer, refused("Unable to recover signer."));
    let stranger = Key::new(super::client::AGENT);
    let text = format!("User or API Wallet {} does not exist.", stranger.address);
    assert_eq!(sim.act_by(&stranger, None, noop()).await, refused(&text));
    assert_eq!(Key::new(FIRST).address, sim.user());
}
