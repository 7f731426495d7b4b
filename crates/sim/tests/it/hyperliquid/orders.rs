//! New orders and cancels: elements of answers, records, client ids, statuses.

use serde_json::{Value, json};

use super::client::{Sim, cancel, cloid, limit, orders, resting, statuses};

fn error(status: &Value) -> &str {
    status["error"]
        .as_str()
        .unwrap_or_else(|| panic!("{status}"))
}

async fn word(sim: &Sim, number: u32) -> String {
    let found = sim.lookup(cloid(number)).await;
    match found["status"].as_str().unwrap() {
        "order" => found["order"]["status"].as_str().unwrap().to_owned(),
        other => other.to_owned(),
    }
}

#[tokio::test]
async fn a_cloid_of_an_order_that_ended_makes_a_new_order_and_hides_the_old_one() {
    let sim = Sim::start().await;
    let ioc = limit(1, true, "3000.1", "0.02", "Ioc");
    let (first, second) = (sim.place(ioc.clone()).await, sim.place(ioc).await);
    let oid = |status: &Value| status["filled"]["oid"].as_u64().unwrap();
    assert_ne!(oid(&first), oid(&second));
    assert_eq!(sim.held(&cloid(1)).await.len(), 2, "both were filled");
    let found = sim.lookup(cloid(1)).await;
    assert_eq!(
        found["order"]["order"]["oid"],
        oid(&second),
        "only the latest is found"
    );
    let old = sim.lookup(oid(&first)).await;
    assert_eq!(old["order"]["order"]["cloid"], cloid(1));
    let fills = sim.ask("userFills").await;
    let oids: Vec<&Value> = fills
        .as_array()
        .unwrap()
        .iter()
        .map(|fill| &fill["oid"])
        .collect();
    assert_eq!(oids, [&json!(oid(&second)), &json!(oid(&first))]);
    // Two that rest, too.
    for _ in 0..2 {
        assert!(sim.place(resting(2)).await["resting"]["oid"].is_u64());
    }
    assert_eq!(sim.ask("openOrders").await.as_array().unwrap().len(), 2);
    // A cancel by the id takes the newest that is open.
    for left in [1, 0] {
        assert_eq!(sim.statuses(cancel(2)).await, [json!("success")]);
        assert_eq!(sim.ask("openOrders").await.as_array().unwrap().len(), left);
    }
}

#[tokio::test]
async fn the_other_rules_for_cloids_can_be_chosen() {
    let sim = Sim::start().await;
    assert_eq!(
        sim.control("/rules").await,
        json!({ "duplicate": "accepted", "window": 100 })
    );
    sim.place(resting(1)).await;
    for rule in ["while_open", "refused_forever", "refused_day"] {
        sim.set("/rules", json!({ "duplicate": rule })).await;
        assert!(
            error(&sim.place(resting(1)).await).contains("cloid"),
            "{rule}"
        );
    }
    sim.statuses(cancel(1)).await;
    assert!(error(&sim.place(resting(1)).await).contains("cloid"));
    assert_eq!(sim.held(&cloid(1)).await.len(), 1, "it left no record");
    sim.set("/rules", json!({ "duplicate": "returns_existing" }))
        .await;
    let existing = sim.place(resting(2)).await["resting"]["oid"].clone();
    assert_eq!(sim.place(resting(2)).await["resting"]["oid"], existing);
    sim.set("/rules", json!({ "duplicate": "while_open" }))
        .await;
    assert!(sim.place(resting(1)).await["resting"]["oid"].is_u64());
}

#[tokio::test]
async fn what_the_payload_alone_decides_is_one_error_for_all_and_leaves_no_record() {
    let sim = Sim::start().await;
    let but = |changes: Value| {
        let mut order = resting(2);
        for (name, value) in changes.as_object().unwrap() {
            order[name] = value.clone();
        }
        order
    };
    let trigger = json!({ "trigger": { "isMarket": true, "triggerPx": "2000", "tpsl": "sl" } });
    for (changes, text) in [
        (json!({ "s": "0" }), "Order has zero size."),
        (json!({ "s": "0.00001" }), "Order has invalid size."),
        (json!({ "p": "0" }), "Order has invalid price."),
        (
            json!({ "p": "2400.55" }),
            "Price must be divisible by tick size.",
        ),
        (
            json!({ "p": "600" }),
            "Order price cannot be more than 80% away from the reference price",
        ),
        (
            json!({ "p": "15001" }),
            "Order price cannot be more than 80% away from the reference price",
        ),
        (
            json!({ "a": 10000, "p": "5", "s": "20", "r": true }),
            "Reduce-only is invalid for spot trading.",
        ),
        (json!({ "a": 3 }), "Trading is halted."),
        (
            json!({ "t": trigger, "r": true }),
            "Trigger orders are not simulated.",
        ),
    ] {
        let wrong = but(changes);
        let found = sim.statuses(orders(&[resting(1), wrong, resting(3)])).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(error(&found[0]).starts_with(text), "{found:?}");
    }
    assert_eq!(
        sim.statuses(orders(&[])).await,
        [json!({ "error": "Orders are empty." })]
    );
    let mut lonely = orders(&[resting(1)]);
    lonely["grouping"] = json!("normalTpsl");
    assert_eq!(
        sim.statuses(lonely).await,
        [json!({ "error": "Unexpected number of trigger orders" })]
    );
    for asset in [10_001, 7, 110_001] {
        let answer = sim.act(orders(&[but(json!({ "a": asset }))])).await;
        assert_eq!(answer["status"], "err", "{answer}");
    }
    assert_eq!(sim.control("/orders").await, json!([]));
    for number in 1..=3 {
        assert_eq!(word(&sim, number).await, "unknownOid");
    }
}

#[tokio::test]
async fn refusals_of_the_engine_stand_alone_and_are_recorded() {
    let sim = Sim::start().await;
    let mut reducing = limit(4, false, "2990", "0.02", "Gtc");
    reducing["r"] = json!(true);
    let spot = json!({ "a": 10000, "b": false, "p": "6", "s": "101", "r": false, "t": { "limit": { "tif": "Gtc" } },
        "c": cloid(6) });
    let found = sim
        .statuses(orders(&[
            limit(1, true, "2400", "0.001", "Gtc"),
            limit(2, true, "3000.1", "0.02", "Alo"),
            limit(3, true, "2999", "0.02", "Ioc"),
            reducing,
            limit(5, true, "2400", "10000", "Gtc"),
            spot,
            resting(7),
        ]))
        .await;
    let expected = [
        (
            "Order must have minimum value of $10. asset=1",
            "minTradeNtlRejected",
        ),
        (
            "Post only order would have immediately matched, bbo was 2999.9@3000.1. asset=1",
            "badAloPxRejected",
        ),
        (
            "Order could not immediately match against any resting orders. asset=1",
            "iocCancelRejected",
        ),
        (
            "Reduce only order would increase position. asset=1",
            "reduceOnlyRejected",
        ),
        (
            "Insufficient margin to place order. asset=1",
            "perpMarginRejected",
        ),
        (
            "Insufficient spot balance asset=10000",
            "insufficientSpotBalanceRejected",
        ),
    ];
    assert_eq!(found.len(), 7);
    assert!(found[6]["resting"]["oid"].is_u64());
    for ((status, (text, recorded)), number) in found.iter().zip(expected).zip(1..) {
        assert_eq!(error(status), text);
        assert_eq!(word(&sim, number).await, recorded);
    }
    // A record takes no client id, under whatever rule.
    sim.set("/rules", json!({ "duplicate": "refused_forever" }))
        .await;
    assert!(sim.place(resting(1)).await["resting"]["oid"].is_u64());
    assert_eq!(word(&sim, 1).await, "open");
}

#[tokio::test]
async fn an_ioc_that_is_filled_in_part_says_filled_with_what_it_got() {
    let sim = Sim::start().await;
    let status = sim.place(limit(1, true, "3000.2", "5", "Ioc")).await;
    let filled = &status["filled"];
    assert_eq!(
        (&filled["totalSz"], &filled["avgPx"]),
        (&json!("2.0"), &json!("3000.15"))
    );
    assert_eq!(filled["cloid"], cloid(1));
    let order = sim.lookup(cloid(1)).await["order"].clone();
    assert_eq!(order["status"], "filled");
    let (sz, orig) = (&order["order"]["sz"], &order["order"]["origSz"]);
    assert_eq!((sz, orig), (&json!("3.0"), &json!("5.0")));
    assert_eq!(order["order"]["tif"], "Ioc");
    // A limit order that trades in part rests with the remainder.
    let status = sim.place(limit(2, false, "2999.8", "5", "Gtc")).await;
    assert!(status["resting"]["oid"].is_u64(), "{status}");
    let order = sim.lookup(cloid(2)).await["order"].clone();
    assert_eq!(
        (&order["status"], &order["order"]["sz"]),
        (&json!("open"), &json!("3.0"))
    );
    sim.set("/fill", json!({ "cl_ord_id": &cloid(2)[2..], "qty": "3" }))
        .await;
    let order = sim.lookup(cloid(2)).await["order"].clone();
    assert_eq!(
        (&order["status"], &order["order"]["sz"]),
        (&json!("filled"), &json!("0.0"))
    );
}

#[tokio::test]
async fn cancels_say_success_or_which_of_three_it_does_not_say() {
    let sim = Sim::start().await;
    let status = sim.place(resting(1)).await;
    let oid = status["resting"]["oid"].clone();
    let by_oid = |asset: u32, oid: &Value| json!({ "type": "cancel", "cancels": [{ "a": asset, "o": oid }] });
    let gone = |asset: u32| {
        let text = "Order was never placed, already canceled, or filled.";
        json!({ "error": format!("{text} asset={asset}") })
    };
    assert_eq!(
        sim.statuses(by_oid(0, &oid)).await,
        [gone(0)],
        "another market"
    );
    assert_eq!(sim.statuses(by_oid(1, &json!(1))).await, [gone(1)]);
    // Another account does not reach it.
    let stranger = super::client::Key::new(super::client::SECOND);
    let answer = sim.act_by(&stranger, None, by_oid(1, &oid)).await;
    assert_eq!(statuses(&answer), [gone(1)]);
    let fast = json!({ "type": "cancel", "cancels": [{ "a": 1, "o": oid }], "f": true });
    assert_eq!(sim.statuses(fast).await, [json!("success")]);
    assert_eq!(sim.statuses(by_oid(1, &oid)).await, [gone(1)]);
    sim.place(resting(2)).await;
    let both = json!({ "type": "cancelByCloid", "cancels": [
        { "asset": 1, "cloid": cloid(3) }, { "asset": 1, "cloid": cloid(2) },
    ] });
    assert_eq!(sim.statuses(both).await, [gone(1), json!("success")]);
    // An unknown market refuses all of them, before anything is canceled.
    sim.place(resting(4)).await;
    let unknown = json!({ "type": "cancelByCloid", "cancels": [
        { "asset": 1, "cloid": cloid(4) }, { "asset": 77, "cloid": cloid(4) },
    ] });
    assert_eq!(sim.act(unknown).await["status"], "err");
    assert_eq!(word(&sim, 4).await, "open");
    assert_eq!(word(&sim, 2).await, "canceled");
}

#[tokio::test]
async fn own_orders_do_not_trade_with_each_other() {
    let sim = Sim::start().await;
    sim.place(limit(1, true, "3000", "0.02", "Alo")).await;
    let status = sim.place(limit(2, false, "3000", "0.02", "Gtc")).await;
    assert!(status["resting"]["oid"].is_u64());
    assert_eq!(word(&sim, 1).await, "selfTradeCanceled");
    assert_eq!(sim.control("/fills").await, json!([]));
}

#[tokio::test]
async fn positions_fills_and_balances_add_up() {
    let sim = Sim::start().await;
    let mut close = limit(3, false, "2999.8", "5", "Ioc");
    close["r"] = json!(true);
    sim.place(limit(1, true, "3000.1", "1", "Ioc")).await;
    sim.place(limit(2, false, "2999.8", "1.5", "Ioc")).await;
    let fills = sim.ask("userFills").await;
    let shown: Vec<(&Value, &Value, &Value, &Value)> = fills
        .as_array()
        .unwrap()
        .iter()
        .map(|fill| {
            (
                &fill["dir"],
                &fill["startPosition"],
                &fill["sz"],
                &fill["closedPnl"],
            )
        })
        .collect();
    let (zero, one, half) = (json!("0.0"), json!("1.0"), json!("0.5"));
    assert_eq!(
        shown,
        [
            (&json!("Open Short"), &zero, &half, &zero),
            (&json!("Close Long"), &one, &one, &json!("-0.2")),
            (&json!("Open Long"), &zero, &one, &zero),
        ]
    );
    assert_eq!(fills[0]["fee"], "0.674955");
    let state = sim.ask("clearinghouseState").await;
    let position = &state["assetPositions"][0]["position"];
    assert_eq!(
        (&position["coin"], &position["szi"]),
        (&json!("ETH"), &json!("-0.5"))
    );
    assert_eq!(position["entryPx"], "2999.8");
    // A reduce-only order that finds nothing to reduce is refused; a close takes no more than there is.
    assert!(error(&sim.place(close.clone()).await).starts_with("Reduce only"));
    close["b"] = json!(true);
    close["p"] = json!("3000.1");
    assert_eq!(sim.place(close).await["filled"]["totalSz"], "0.5");
    assert_eq!(
        sim.ask("clearinghouseState").await["assetPositions"],
        json!([])
    );
    let rows = sim.control("/positions").await;
    assert_eq!(rows[0]["qty"], "0");
}
