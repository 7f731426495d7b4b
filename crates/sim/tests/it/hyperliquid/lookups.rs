//! Lookups and lists: what is found, what is hidden, how long lists are.

use serde_json::{Value, json};

use super::client::{Sim, cancel, cloid, limit, orders, resting};

fn len(rows: &Value) -> usize {
    rows.as_array().unwrap_or_else(|| panic!("{rows}")).len()
}

#[tokio::test]
async fn an_order_has_one_shape_by_number_and_by_cloid() {
    let sim = Sim::start().await;
    let oid = sim.place(resting(1)).await["resting"]["oid"].clone();
    let found = sim.lookup(cloid(1)).await;
    assert_eq!(found, sim.lookup(oid.clone()).await);
    let at = found["order"]["statusTimestamp"].clone();
    assert_eq!(
        found,
        json!({ "status": "order", "order": { "status": "open", "statusTimestamp": at, "order": {
            "coin": "ETH", "side": "B", "limitPx": "2400.5", "sz": "0.02", "oid": oid, "timestamp": at,
            "triggerCondition": "N/A", "isTrigger": false, "triggerPx": "0.0", "children": [],
            "isPositionTpsl": false, "reduceOnly": false, "orderType": "Limit", "origSz": "0.02", "tif": "Gtc",
            "cloid": cloid(1),
        } } })
    );
    assert_eq!(
        sim.ask("openOrders").await,
        json!([{ "coin": "ETH", "side": "B", "limitPx": "2400.5", "sz": "0.02", "oid": oid, "timestamp": at,
            "origSz": "0.02", "cloid": cloid(1) }])
    );
    let shouted = format!("0x{}", sim.user()[2..].to_ascii_uppercase());
    let asked = json!({ "type": "orderStatus", "user": shouted, "oid": format!("0x{}", cloid(1)[2..].to_uppercase()) });
    assert_eq!(sim.info(asked).await, found);
    assert_eq!(sim.lookup(1).await, json!({ "status": "unknownOid" }));
    assert_eq!(
        sim.lookup(cloid(2)).await,
        json!({ "status": "unknownOid" })
    );
}

#[tokio::test]
async fn builder_dexes_have_lists_of_their_own_and_spot_comes_with_the_main_one() {
    let sim = Sim::start().await;
    let other = |asset: u32, number: u32, price: &str, size: &str| {
        json!({ "a": asset, "b": true, "p": price, "s": size, "r": false, "t": { "limit": { "tif": "Gtc" } },
            "c": cloid(number) })
    };
    sim.statuses(orders(&[
        resting(1),
        other(10_000, 2, "4", "5"),
        other(110_000, 3, "90", "1"),
    ]))
    .await;
    let coins = async |dex: Value| {
        let mut ask = json!({ "type": "openOrders", "user": sim.user() });
        ask["dex"] = dex;
        let rows = sim.info(ask).await;
        let coins = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["coin"].clone());
        coins.collect::<Vec<Value>>()
    };
    assert_eq!(coins(json!("")).await, ["PURR/USDC", "ETH"]);
    assert_eq!(coins(Value::Null).await, ["PURR/USDC", "ETH"]);
    assert_eq!(coins(json!("xyz")).await, ["xyz:XYZ100"]);
    // A lookup needs no dex.
    assert_eq!(
        sim.lookup(cloid(3)).await["order"]["order"]["coin"],
        "xyz:XYZ100"
    );
    let unknown = json!({ "type": "openOrders", "user": sim.user(), "dex": "nowhere" });
    let answer = sim.post("/info", &unknown).await.unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (500, &b"null"[..]));
    let book = sim.info(json!({ "type": "l2Book", "coin": "NOPE" })).await;
    assert_eq!(book, Value::Null);
}

#[tokio::test]
async fn the_history_has_a_row_for_each_change_newest_first_and_two_thousand_rows() {
    let sim = Sim::start().await;
    sim.place(resting(1)).await;
    sim.statuses(cancel(1)).await;
    sim.place(limit(2, true, "3000.1", "0.02", "Ioc")).await;
    let rows = sim.ask("historicalOrders").await;
    let words: Vec<&Value> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["status"])
        .collect();
    assert_eq!(words.len(), 3, "{words:?}");
    assert_eq!(words.iter().filter(|word| **word == "open").count(), 1);
    sim.set("/clock", json!({ "advance_ms": 1_000 })).await;
    // Each of these is open, then canceled: two rows.
    for batch in 0..11_u32 {
        let numbers = (0..100).map(|item| 100 + batch * 100 + item);
        let all: Vec<Value> = numbers.clone().map(resting).collect();
        sim.statuses(orders(&all)).await;
        let cancels: Vec<Value> = numbers
            .map(|number| json!({ "asset": 1, "cloid": cloid(number) }))
            .collect();
        sim.statuses(json!({ "type": "cancelByCloid", "cancels": cancels }))
            .await;
    }
    let rows = sim.ask("historicalOrders").await;
    assert_eq!(len(&rows), 2_000);
    let times: Vec<u64> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["statusTimestamp"].as_u64().unwrap())
        .collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older));
    // The lookup still finds what has left the history.
    assert_eq!(sim.lookup(cloid(1)).await["order"]["status"], "canceled");
}

#[tokio::test]
async fn fills_are_paged_by_time_and_the_oldest_go() {
    let sim = Sim::start().await;
    sim.set("/clock", json!({ "rate": 0 })).await;
    let start = sim.now_ms().await;
    // 10,001 fills, a hundred in each millisecond and one before them.
    sim.place(limit(1, true, "3000.1", "0.01", "Ioc")).await;
    for batch in 0..100_u32 {
        sim.set("/clock", json!({ "advance_ms": 1 })).await;
        let all: Vec<Value> = (0..100)
            .map(|item| {
                limit(
                    2 + batch * 100 + item,
                    item % 2 == 0,
                    if item % 2 == 0 { "3000.1" } else { "2999.9" },
                    "0.01",
                    "Ioc",
                )
            })
            .collect();
        sim.statuses(orders(&all)).await;
    }
    let by_time = async |from: u64, to: Option<u64>, more: Value| {
        let mut ask = json!({ "type": "userFillsByTime", "user": sim.user(), "startTime": from });
        if let Some(to) = to {
            ask["endTime"] = json!(to);
        }
        for (name, value) in more.as_object().unwrap() {
            ask[name] = value.clone();
        }
        sim.info(ask).await
    };
    assert_eq!(len(&sim.ask("userFills").await), 2_000);
    assert_eq!(sim.ask("userFills").await[0]["time"], start + 100);
    let page = by_time(0, None, json!({})).await;
    assert_eq!(len(&page), 2_000);
    assert_eq!(
        (&page[0]["time"], &page[1_999]["time"]),
        (&json!(start + 1), &json!(start + 20))
    );
    assert_eq!(
        len(&by_time(start + 5, Some(start + 6), json!({})).await),
        200,
        "both ends are in"
    );
    let back = by_time(start, None, json!({ "reversed": true })).await;
    assert_eq!(back[0]["time"], start + 100);
    // Pages from the last time on, without repeats, are all there is: the first fill has gone.
    let mut seen = std::collections::BTreeSet::new();
    let mut from = 0;
    loop {
        let page = by_time(from, None, json!({})).await;
        let before = seen.len();
        for fill in page.as_array().unwrap() {
            seen.insert((fill["tid"].as_u64().unwrap(), fill["oid"].as_u64().unwrap()));
            from = fill["time"].as_u64().unwrap();
        }
        if seen.len() == before {
            break;
        }
    }
    assert_eq!(seen.len(), 10_000);
}

#[tokio::test]
async fn fills_of_one_order_in_one_command_can_be_merged() {
    let sim = Sim::start().await;
    sim.place(limit(1, true, "3000.2", "2", "Ioc")).await;
    assert_eq!(len(&sim.ask("userFills").await), 2);
    let ask = json!({ "type": "userFills", "user": sim.user(), "aggregateByTime": true });
    let merged = sim.info(ask).await;
    assert_eq!(len(&merged), 1);
    assert_eq!(
        (&merged[0]["sz"], &merged[0]["px"]),
        (&json!("2.0"), &json!("3000.15"))
    );
}

#[tokio::test]
async fn the_control_port_hides_orders_and_delays_the_index() {
    let sim = Sim::start().await;
    let id = cloid(1);
    let digits = &id[2..];
    sim.set("/clock", json!({ "rate": 0 })).await;
    sim.set(
        "/hide",
        json!({ "cl_ord_id": digits, "ms": 1_000, "from": ["open", "closed", "fills"] }),
    )
    .await;
    sim.place(limit(1, true, "3000.1", "1.5", "Gtc")).await;
    assert_eq!(sim.lookup(&*id).await["status"], "unknownOid");
    for list in [
        "openOrders",
        "frontendOpenOrders",
        "historicalOrders",
        "userFills",
    ] {
        assert_eq!(len(&sim.ask(list).await), 0, "{list}");
    }
    sim.set("/clock", json!({ "advance_ms": 1_000 })).await;
    assert_eq!(sim.lookup(&*id).await["status"], "order");
    for list in [
        "openOrders",
        "frontendOpenOrders",
        "historicalOrders",
        "userFills",
    ] {
        assert_eq!(len(&sim.ask(list).await), 1, "{list}");
    }
    // For no time at all it is shown again.
    for (ms, status) in [(1_000, "unknownOid"), (0, "order")] {
        sim.set(
            "/hide",
            json!({ "cl_ord_id": digits, "ms": ms, "from": ["open", "closed"] }),
        )
        .await;
        assert_eq!(sim.lookup(&*id).await["status"], status);
    }
    // The index of client ids is behind; numbers and lists are not.
    sim.set("/venue", json!({ "lookup_lag_ms": 500 })).await;
    let oid = sim.place(resting(2)).await["resting"]["oid"].clone();
    assert_eq!(sim.lookup(cloid(2)).await["status"], "unknownOid");
    assert_eq!(sim.lookup(oid).await["status"], "order");
    sim.set("/clock", json!({ "advance_ms": 500 })).await;
    assert_eq!(sim.lookup(cloid(2)).await["status"], "order");
}

#[tokio::test]
async fn the_market_is_described() {
    let sim = Sim::start().await;
    let meta = sim.info(json!({ "type": "meta" })).await;
    let names: Vec<&Value> = meta["universe"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(names, ["BTC", "ETH", "SOL", "OLD"]);
    assert_eq!(meta["universe"][3]["isDelisted"], true);
    let dexs = sim.info(json!({ "type": "perpDexs" })).await;
    assert_eq!((&dexs[0], &dexs[1]["name"]), (&Value::Null, &json!("xyz")));
    let mids = sim.info(json!({ "type": "allMids" })).await;
    assert_eq!(
        mids,
        json!({ "BTC": "60000.0", "ETH": "3000.0", "SOL": "150.0", "PURR/USDC": "5.0" })
    );
    sim.set(
        "/market",
        json!({ "symbol": "ETH", "bid": "2990", "ask": "3010", "size": "2" }),
    )
    .await;
    sim.place(limit(1, true, "3000", "0.02", "Alo")).await;
    let book = sim.info(json!({ "type": "l2Book", "coin": "ETH" })).await;
    assert_eq!(
        book["levels"][0][0],
        json!({ "px": "3000.0", "sz": "0.02", "n": 1 })
    );
    assert_eq!(
        book["levels"][1][0],
        json!({ "px": "3010.0", "sz": "2.0", "n": 1 })
    );
    let status = sim.info(json!({ "type": "exchangeStatus" })).await;
    assert!(status["time"].is_u64());
    let both = sim.info(json!({ "type": "metaAndAssetCtxs" })).await;
    assert_eq!(len(&both[0]["universe"]), len(&both[1]));
}

/// The lists show an order for a while as it was; afterwards, and always to the control port, it is as it is.
#[tokio::test]
async fn lists_are_behind_for_as_long_as_they_are_told() {
    let sim = Sim::start().await;
    sim.place(resting(1)).await;
    let before = (sim.lookup(cloid(1)).await, sim.ask("openOrders").await);
    sim.set("/stale", json!({ "cl_ord_id": cloid(1), "ms": 1_000_000 }))
        .await;
    sim.set("/fill", json!({ "cl_ord_id": cloid(1), "qty": "0.02" }))
        .await;
    assert_eq!(sim.held(&cloid(1)).await[0]["status"], "filled");
    let shown = (sim.lookup(cloid(1)).await, sim.ask("openOrders").await);
    assert_eq!(shown, before);
    assert_eq!(sim.ask("userFills").await, json!([]));
    let history = sim.ask("historicalOrders").await;
    let words: Vec<&Value> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["status"])
        .collect();
    assert_eq!(words, ["open"]);
    sim.set("/clock", json!({ "advance_ms": 1_000_001 })).await;
    assert_eq!(sim.lookup(cloid(1)).await["order"]["status"], "filled");
    assert_eq!(sim.ask("openOrders").await, json!([]));
    assert_eq!(len(&sim.ask("userFills").await), 1);
}
