//! Agents, sub-accounts, vaults, leverage and dead man's switches.

use serde_json::{Value, json};
use surefill_sim::hyperliquid::{Config, StartError, Wallet, start};

use super::client::{
    AGENT, FIRST, Key, SECOND, SUB, Sim, VAULT, cloid, default, limit, orders, refused, resting,
    statuses,
};

fn approve(agent: &str, name: Option<&str>, nonce: u64) -> Value {
    let mut action = json!({
        "type": "approveAgent", "agentAddress": agent, "nonce": nonce, "signatureChainId": "0x66eee",
        "hyperliquidChain": "Testnet",
    });
    if let Some(name) = name {
        action["agentName"] = json!(name);
    }
    action
}

async fn approved(sim: &Sim, key: &Key, agent: &str, name: Option<&str>) -> Value {
    let nonce = sim.nonce().await;
    let body = key.body(&approve(agent, name, nonce), nonce, None, None);
    sim.post("/exchange", &body).await.unwrap().json()
}

#[tokio::test]
async fn an_agent_trades_for_its_master_until_it_is_replaced() {
    let sim = Sim::start().await;
    let agent = Key::new(AGENT);
    let unknown = refused(&format!(
        "User or API Wallet {} does not exist.",
        agent.address
    ));
    assert_eq!(
        sim.act_by(&agent, None, orders(&[resting(1)])).await,
        unknown
    );
    assert_eq!(
        approved(&sim, &sim.key, &agent.address, None).await,
        default()
    );
    let answer = sim.act_by(&agent, None, orders(&[resting(1)])).await;
    assert!(statuses(&answer)[0]["resting"]["oid"].is_u64());
    assert_eq!(sim.held(&cloid(1)).await[0]["account"], sim.user());
    // Lookups by the agent's own address find nothing.
    let asked = json!({ "type": "orderStatus", "user": agent.address, "oid": cloid(1) });
    assert_eq!(sim.info(asked).await["status"], "unknownOid");
    let role = json!({ "type": "userRole", "user": agent.address });
    assert_eq!(sim.info(role.clone()).await["data"]["user"], sim.user());
    assert_eq!(sim.ask("extraAgents").await, json!([]), "it has no name");
    // It cannot approve.
    let other = "0x00000000000000000000000000000000000000aa";
    assert_eq!(approved(&sim, &agent, other, None).await, unknown);
    // A named one leaves the unnamed one; a new unnamed one ends it at once.
    assert_eq!(
        approved(&sim, &sim.key, other, Some("second")).await,
        default()
    );
    assert_eq!(sim.ask("extraAgents").await[0]["address"], other);
    let third = "0x00000000000000000000000000000000000000bb";
    assert_eq!(approved(&sim, &sim.key, third, None).await, default());
    assert_eq!(
        sim.act_by(&agent, None, orders(&[resting(2)])).await,
        unknown
    );
    assert_eq!(sim.info(role).await, json!({ "role": "missing" }));
    // The zero address takes the name away.
    let zero = "0x0000000000000000000000000000000000000000";
    assert_eq!(
        approved(&sim, &sim.key, zero, Some("second")).await,
        default()
    );
    assert_eq!(sim.ask("extraAgents").await, json!([]));
}

#[tokio::test]
async fn approvals_are_checked() {
    let sim = Sim::start().await;
    let at = |last: u32| format!("0x{last:040x}");
    let account = Key::new(SECOND).address;
    let used = refused("Extra agent already used.");
    assert_eq!(approved(&sim, &sim.key, &account, None).await, used);
    let name = refused("Invalid agent name or validity.");
    let now_ms = sim.now_ms().await;
    let long = format!("a valid_until {}", now_ms + 181 * 86_400_000);
    for wrong in [
        "seventeen letters",
        "a valid_until 1",
        "a valid_until x",
        &long,
    ] {
        assert_eq!(
            approved(&sim, &sim.key, &at(1), Some(wrong)).await,
            name,
            "{wrong}"
        );
    }
    let until = now_ms + 86_400_000;
    let named = format!("a valid_until {until}");
    assert_eq!(
        approved(&sim, &sim.key, &at(1), Some(&named)).await,
        default()
    );
    assert_eq!(sim.ask("extraAgents").await[0]["validUntil"], until);
    // Three names, and two for the one sub-account.
    for (last, name) in (2..).zip(["b", "c", "d", "e"]) {
        assert_eq!(
            approved(&sim, &sim.key, &at(last), Some(name)).await,
            default()
        );
    }
    let many = refused("Too many extra agents.");
    assert_eq!(approved(&sim, &sim.key, &at(9), Some("f")).await, many);
    // The envelope and the action say one nonce, on this network, and nothing else.
    let nonce = sim.nonce().await;
    let body = sim
        .key
        .body(&approve(&at(9), None, nonce + 1), nonce, None, None);
    let answer = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(answer, refused("Nonce mismatch."));
    let body = sim.key.body(
        &approve(&at(9), None, nonce),
        nonce,
        None,
        Some(nonce + 60_000),
    );
    let answer = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(answer, refused("Action does not support expires_after"));
    let mut action = approve(&at(9), None, nonce);
    action["hyperliquidChain"] = json!("Mainnet");
    let body = sim.key.body(&action, nonce, None, None);
    let answer = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(answer, refused("Invalid hyperliquidChain"));
}

#[tokio::test]
async fn nonces_of_an_agent_may_be_forgotten_when_it_is_revoked() {
    let sim = Sim::start().await;
    let agent = Key::new(AGENT);
    for (prunes, copies, number) in [(false, 1_usize, 1), (true, 2, 2)] {
        sim.set(
            "/venue",
            json!({ "prune_nonces": prunes, "approve_agent": agent.address, "master": sim.user() }),
        )
        .await;
        let body = agent.body(&orders(&[resting(number)]), sim.nonce().await, None, None);
        sim.post("/exchange", &body).await.unwrap();
        sim.set("/venue", json!({ "revoke_agent": agent.address }))
            .await;
        let answer = sim.post("/exchange", &body).await.unwrap().json();
        assert!(
            answer["response"]
                .as_str()
                .unwrap()
                .ends_with("does not exist.")
        );
        sim.set(
            "/venue",
            json!({ "approve_agent": agent.address, "master": sim.user() }),
        )
        .await;
        sim.post("/exchange", &body).await.unwrap();
        assert_eq!(sim.held(&cloid(number)).await.len(), copies, "{prunes}");
        sim.set("/venue", json!({ "revoke_agent": agent.address }))
            .await;
    }
}

#[tokio::test]
async fn sub_accounts_and_vaults_are_traded_by_their_owner_alone() {
    let sim = Sim::start().await;
    for (owned, role) in [(SUB, "subAccount"), (VAULT, "vault")] {
        let answer = sim
            .act_by(&sim.key, Some(owned), orders(&[resting(1)]))
            .await;
        assert!(statuses(&answer)[0]["resting"]["oid"].is_u64());
        let open = sim
            .info(json!({ "type": "openOrders", "user": owned }))
            .await;
        assert_eq!(open[0]["cloid"], cloid(1));
        let stranger = Key::new(SECOND);
        let answer = sim
            .act_by(&stranger, Some(owned), orders(&[resting(2)]))
            .await;
        assert_eq!(answer, refused(&format!("Vault not registered: {owned}")));
        let found = sim.info(json!({ "type": "userRole", "user": owned })).await;
        assert_eq!(found["role"], role);
    }
    assert_eq!(
        sim.ask("openOrders").await,
        json!([]),
        "its own account has none"
    );
    assert_eq!(sim.ask("subAccounts").await[0]["subAccountUser"], SUB);
}

#[tokio::test]
async fn wallets_that_make_no_sense_do_not_start() {
    let user = Wallet::user("0x00000000000000000000000000000000000000aa");
    let wrong = [
        vec![Wallet::user("0x12")],
        vec![user.clone(), user.clone()],
        vec![Wallet::sub_account(SUB, VAULT)],
        vec![
            user.clone(),
            Wallet {
                leader: user.master.clone(),
                master: Some("x".to_owned()),
                ..user.clone()
            },
        ],
        vec![Wallet {
            agents: vec!["x".to_owned()],
            ..user.clone()
        }],
    ];
    for wallets in wrong {
        let config = Config {
            wallets: wallets.clone(),
            ..Config::default()
        };
        let error = start(config).await.unwrap_err();
        assert!(
            matches!(error, StartError::Accounts { .. }),
            "{wallets:?}: {error:?}"
        );
    }
    let agent = Key::new(AGENT);
    let first = Key::new(FIRST).address;
    let wallet = Wallet {
        agents: vec![agent.address.clone()],
        ..Wallet::user(&first)
    };
    let sim = Sim::with(Config {
        wallets: vec![wallet],
        ..Config::default()
    })
    .await;
    let answer = sim.act_by(&agent, None, orders(&[resting(1)])).await;
    assert!(statuses(&answer)[0]["resting"]["oid"].is_u64());
}

#[tokio::test]
async fn leverage_is_set_and_its_kind_only_without_a_position() {
    let sim = Sim::start().await;
    let leverage = |asset: u32, cross: bool, value: u32| json!({ "type": "updateLeverage", "asset": asset, "isCross": cross, "leverage": value });
    assert_eq!(sim.act(leverage(1, true, 5)).await, default());
    sim.place(limit(1, true, "3000.1", "0.1", "Ioc")).await;
    let state = sim.ask("clearinghouseState").await;
    assert_eq!(
        state["assetPositions"][0]["position"]["leverage"],
        json!({ "type": "cross", "value": 5 })
    );
    let text = "Cannot switch leverage type with open position.";
    assert_eq!(sim.act(leverage(1, false, 5)).await, refused(text));
    assert_eq!(sim.act(leverage(0, false, 5)).await, default());
    for (asset, value) in [(1, 0), (1, 21), (10_000, 5), (77, 5)] {
        assert_eq!(sim.act(leverage(asset, true, value)).await["status"], "err");
    }
}

#[tokio::test]
async fn a_dead_mans_switch_cancels_all_orders_at_its_time() {
    let sim = Sim::start().await;
    let schedule = |time: Option<u64>| match time {
        None => json!({ "type": "scheduleCancel" }),
        Some(time) => json!({ "type": "scheduleCancel", "time": time }),
    };
    let now_ms = sim.now_ms().await;
    assert_eq!(
        sim.act(schedule(Some(now_ms + 4_000))).await["status"],
        "err"
    );
    sim.set("/venue", json!({ "schedule_volume": 1_000_000 }))
        .await;
    let text = "Cannot set scheduled cancel time until enough volume traded. Required: $1000000. Traded: $0.";
    assert_eq!(
        sim.act(schedule(Some(now_ms + 60_000))).await,
        refused(text)
    );
    sim.set("/venue", json!({ "schedule_volume": 0 })).await;
    sim.place(resting(1)).await;
    sim.place(json!({ "a": 10000, "b": true, "p": "4", "s": "5", "r": false, "t": { "limit": { "tif": "Gtc" } },
        "c": cloid(2) }))
        .await;
    // Taken back, it does nothing.
    assert_eq!(sim.act(schedule(Some(now_ms + 60_000))).await, default());
    assert_eq!(sim.act(schedule(None)).await, default());
    sim.set("/clock", json!({ "advance_ms": 61_000 })).await;
    sim.act(json!({ "type": "noop" })).await;
    assert_eq!(sim.ask("openOrders").await.as_array().unwrap().len(), 2);
    let at = sim.now_ms().await + 10_000;
    assert_eq!(sim.act(schedule(Some(at))).await, default());
    sim.set("/clock", json!({ "advance_ms": 10_000 })).await;
    let waiting = async {
        while sim.ask("openOrders").await != json!([]) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::support::BOUND, waiting)
        .await
        .expect("they are canceled");
    for number in 1..=2 {
        assert_eq!(
            sim.lookup(cloid(number)).await["order"]["status"],
            "scheduledCancel"
        );
    }
    // It fired once, and does not stop what comes later.
    assert!(sim.place(resting(3)).await["resting"]["oid"].is_u64());
}
