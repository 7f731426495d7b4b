//! The journal: all that the venue knows is there again, and every event is as it was.

use serde_json::{Value, json};
use surefill_sim::{
    JournalError,
    hyperliquid::{Config, StartError, start},
    verify,
};

use super::client::{AGENT, Key, Sim, cancel, cloid, limit, orders, refused, resting};

fn config(dir: &std::path::Path) -> Config {
    Config {
        journal: Some(dir.to_owned()),
        seed: 7,
        ..Config::default()
    }
}

async fn all(sim: &Sim) -> Vec<Value> {
    let mut all = Vec::new();
    for path in ["/orders", "/fills", "/positions", "/rules"] {
        all.push(sim.control(path).await);
    }
    for kind in [
        "historicalOrders",
        "userFills",
        "openOrders",
        "userRateLimit",
        "extraAgents",
    ] {
        all.push(sim.ask(kind).await);
    }
    all
}

#[tokio::test]
async fn a_new_start_has_the_same_orders_records_nonces_and_agents() {
    let dir = tempfile::tempdir().unwrap();
    let sim = Sim::with(config(dir.path())).await;
    let agent = Key::new(AGENT);
    sim.set(
        "/venue",
        json!({ "approve_agent": agent.address, "master": sim.user() }),
    )
    .await;
    let body = agent.body(&orders(&[resting(1)]), sim.nonce().await, None, None);
    sim.post("/exchange", &body).await.unwrap();
    sim.place(limit(2, true, "3000.2", "1.5", "Ioc")).await;
    sim.place(limit(3, true, "2400", "0.001", "Gtc")).await;
    sim.place(resting(4)).await;
    sim.statuses(cancel(4)).await;
    let leverage = json!({ "type": "updateLeverage", "asset": 0, "isCross": false, "leverage": 3 });
    sim.act(leverage).await;
    let before = all(&sim).await;
    sim.handle.shutdown().await;
    let verified = verify(&dir.path().join("hyperliquid")).unwrap();
    assert!(verified.events > verified.commands);
    let sim = Sim::with(Config {
        seed: 8,
        ..config(dir.path())
    })
    .await;
    assert_eq!(all(&sim).await, before);
    let again = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(
        again,
        refused(&format!("Invalid nonce: duplicate nonce {}", body["nonce"]))
    );
    assert_eq!(
        sim.lookup(cloid(3)).await["order"]["status"],
        "minTradeNtlRejected"
    );
    let held = start(config(dir.path())).await.unwrap_err();
    assert!(
        matches!(held, StartError::Journal(JournalError::Held { .. })),
        "{held:?}"
    );
}

#[tokio::test]
async fn an_event_that_is_not_as_recorded_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let sim = Sim::with(config(dir.path())).await;
    sim.place(limit(1, true, "2400", "0.001", "Gtc")).await;
    sim.handle.shutdown().await;
    let events = dir.path().join("hyperliquid/events.jsonl");
    let recorded = std::fs::read_to_string(&events).unwrap();
    assert!(recorded.contains("below_minimum"));
    std::fs::write(&events, recorded.replace("below_minimum", "funds")).unwrap();
    let error = start(config(dir.path())).await.unwrap_err();
    assert!(
        matches!(&error, StartError::Journal(JournalError::Differs { .. })),
        "{error:?}"
    );
    // Without the log it is derived again, byte for byte.
    std::fs::remove_file(&events).unwrap();
    let sim = Sim::with(config(dir.path())).await;
    sim.handle.shutdown().await;
    let again = std::fs::read_to_string(&events).unwrap();
    assert!(again.starts_with(&recorded), "{}", again.len());
}

#[tokio::test]
async fn the_same_commands_give_the_same_log() {
    let mut logs = Vec::new();
    for _ in 0..2 {
        let dir = tempfile::tempdir().unwrap();
        let sim = Sim::with(config(dir.path())).await;
        sim.place(limit(1, true, "3000.2", "1.5", "Ioc")).await;
        sim.statuses(cancel(1)).await;
        sim.handle.shutdown().await;
        let commands = dir.path().join("hyperliquid/commands.jsonl");
        let events = std::fs::read_to_string(dir.path().join("hyperliquid/events.jsonl")).unwrap();
        // The same commands elsewhere.
        let copy = tempfile::tempdir().unwrap();
        std::fs::create_dir(copy.path().join("hyperliquid")).unwrap();
        std::fs::copy(commands, copy.path().join("hyperliquid/commands.jsonl")).unwrap();
        start(config(copy.path())).await.unwrap().shutdown().await;
        let replayed =
            std::fs::read_to_string(copy.path().join("hyperliquid/events.jsonl")).unwrap();
        assert_eq!(replayed, events);
        logs.push(events.lines().count());
    }
    assert_eq!(logs[0], logs[1]);
}
