//! Spot and inverse beside linear: amounts, money, fees, codes and spellings.

use serde_json::{Value, json};

use crate::{
    socket::Socket,
    support::{Sim, but},
    vectors::{body_of, same_shape},
};

fn spot(id: &str, change: Value) -> Value {
    but(
        json!({
            "category": "spot", "symbol": "ETHUSDT", "side": "Buy", "orderType": "Limit", "qty": "0.40",
            "price": "2500.00", "timeInForce": "GTC", "orderLinkId": id,
        }),
        change,
    )
}

async fn place(sim: &Sim, body: &Value) -> i64 {
    sim.post("/v5/order/create", body).await.code()
}

async fn row(sim: &Sim, category: &str, id: &str) -> Value {
    let query = format!("category={category}&orderLinkId={id}");
    let list = sim.get("/v5/order/realtime", &query).await.list();
    assert_eq!(list.len(), 1, "{id}");
    list[0].clone()
}

async fn balance(sim: &Sim, coin: &str) -> String {
    let query = format!("accountType=UNIFIED&coin={coin}");
    let wallet = sim.get("/v5/account/wallet-balance", &query).await.list();
    wallet[0]["coin"][0]["walletBalance"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn spot_rows_and_instruments_have_the_shapes_of_the_vectors() {
    let sim = Sim::start().await;
    let created = sim.post("/v5/order/create", &spot("x", json!({}))).await;
    let id = created.json()["result"]["orderId"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        id.len() == 19 && id.bytes().all(|byte| byte.is_ascii_digit()),
        "{id}"
    );
    sim.set("/fill", json!({ "cl_ord_id": "x", "qty": "0.25" }))
        .await;
    let cancel = json!({ "category": "spot", "symbol": "ETHUSDT", "orderId": id });
    assert_eq!(sim.post("/v5/order/cancel", &cancel).await.code(), 0);
    let found = sim
        .get("/v5/order/realtime", "category=spot&orderLinkId=x")
        .await
        .json();
    same_shape("spot", &found, &body_of("http-look-08"));
    let order = &found["result"]["list"][0];
    assert_eq!(order["orderStatus"], "PartiallyFilledCanceled");
    assert_eq!(order["cumExecQty"], "0.25000");
    assert_eq!(order["cumFeeDetail"], json!({ "ETH": "0.00025" }));
    assert!(order.get("createType").is_none());
    let mut wanted = body_of("http-mkt-03");
    wanted["result"]["list"][0]
        .as_object_mut()
        .unwrap()
        .remove("symbolId");
    let got = sim
        .get(
            "/v5/market/instruments-info",
            "category=spot&symbol=ETHUSDT",
        )
        .await
        .json();
    same_shape("instruments", &got, &wanted);
    let lot = |body: &Value| body["result"]["list"][0]["lotSizeFilter"].clone();
    for part in ["basePrecision", "minOrderQty", "minOrderAmt"] {
        assert_eq!(lot(&got)[part], lot(&wanted)[part], "{part}");
    }
    assert!(lot(&got).get("qtyStep").is_none());
}

#[tokio::test]
async fn spot_coins_change_hands_and_pay_the_fee_in_what_comes_in() {
    let sim = Sim::start().await;
    let buy = spot("b", json!({ "qty": "1", "price": "3000.01" }));
    assert_eq!(place(&sim, &buy).await, 0);
    assert_eq!(balance(&sim, "ETH").await, "100.999");
    assert_eq!(balance(&sim, "USDT").await, "996999.99");
    let sell = spot(
        "s",
        json!({ "side": "Sell", "qty": "1", "price": "2999.99" }),
    );
    assert_eq!(place(&sim, &sell).await, 0);
    assert_eq!(balance(&sim, "ETH").await, "99.999");
    assert_eq!(balance(&sim, "USDT").await, "999996.98001");
    let fills = sim
        .get("/v5/execution/list", "category=spot&symbol=ETHUSDT")
        .await
        .list();
    let coins: Vec<&Value> = fills.iter().map(|fill| &fill["feeCurrency"]).collect();
    assert_eq!(coins, ["USDT", "ETH"]);
    // No position comes of it, and what an open order needs is locked.
    assert_eq!(place(&sim, &spot("o", json!({}))).await, 0);
    let wallet = sim
        .get(
            "/v5/account/wallet-balance",
            "accountType=UNIFIED&coin=USDT",
        )
        .await
        .list();
    assert_eq!(wallet[0]["coin"][0]["locked"], "1000");
    same_shape(
        "wallet",
        &wallet[0],
        &body_of("http-wal-01")["result"]["list"][0],
    );
    let positions = sim.get_control("/positions").await;
    assert_eq!(positions.as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn a_spot_market_buy_spends_quote_money_unless_it_says_otherwise() {
    let sim = Sim::start().await;
    let market = |id: &str, change: Value| {
        but(
            spot(id, json!({ "orderType": "Market", "price": null })),
            change,
        )
    };
    let plain = market("plain", json!({ "qty": "1000" }));
    assert_eq!(place(&sim, &plain).await, 0);
    let order = row(&sim, "spot", "plain").await;
    assert_eq!(order["orderStatus"], "PartiallyFilledCanceled");
    assert_eq!(
        [&order["qty"], &order["cumExecQty"], &order["marketUnit"]],
        ["1000", "0.33333", "quoteCoin"]
    );
    assert_eq!(order["timeInForce"], "IOC");
    let exact = market("exact", json!({ "qty": "3000.01" }));
    assert_eq!(place(&sim, &exact).await, 0);
    assert_eq!(row(&sim, "spot", "exact").await["orderStatus"], "Filled");
    let based = market("based", json!({ "qty": "0.5", "marketUnit": "baseCoin" }));
    assert_eq!(place(&sim, &based).await, 0);
    let order = row(&sim, "spot", "based").await;
    assert_eq!(
        [&order["orderStatus"], &order["cumExecQty"]],
        ["Filled", "0.50000"]
    );
    let sold = market("sold", json!({ "side": "Sell", "qty": "0.5" }));
    assert_eq!(place(&sim, &sold).await, 0);
    assert_eq!(row(&sim, "spot", "sold").await["cumExecQty"], "0.50000");
    // It walks the levels with what is left of the money.
    sim.set(
        "/market",
        json!({ "symbol": "spot/ETHUSDT", "size": "0.1" }),
    )
    .await;
    let walk = market("walk", json!({ "qty": "1000" }));
    assert_eq!(place(&sim, &walk).await, 0);
    let fills = sim
        .get("/v5/execution/list", "category=spot&orderLinkId=walk")
        .await
        .list();
    assert_eq!(fills.len(), 4);
}

#[tokio::test]
async fn spot_refuses_with_its_own_codes() {
    let sim = Sim::start().await;
    assert_eq!(place(&sim, &spot("x", json!({}))).await, 0);
    for (change, code) in [
        (json!({ "orderLinkId": "x" }), 170_141),
        (json!({ "qty": "500" }), 170_131),
        (json!({ "side": "Sell", "qty": "101" }), 170_131),
        (json!({ "qty": "0.001", "price": "100.00" }), 170_140),
        (json!({ "qty": "0.400001" }), 170_137),
        (json!({ "qty": "0.00001" }), 170_136),
        (json!({ "price": "2500.001" }), 170_134),
        (json!({ "symbol": "NOUSDT" }), 170_121),
        (json!({ "reduceOnly": true }), 10_001),
        (json!({ "isLeverage": 1 }), 10_001),
        (json!({ "isLeverage": 0, "orderFilter": "Order" }), 0),
    ] {
        let change = but(json!({ "orderLinkId": "y" }), change);
        assert_eq!(
            place(&sim, &spot("y", change.clone())).await,
            code,
            "{change}"
        );
    }
    sim.set("/venue", json!({ "spot_duplicate": 110_072 }))
        .await;
    assert_eq!(place(&sim, &spot("x", json!({}))).await, 110_072);
    let gone = json!({ "category": "spot", "symbol": "ETHUSDT", "orderLinkId": "nobody" });
    assert_eq!(sim.post("/v5/order/cancel", &gone).await.code(), 170_213);
    // An id is taken over all categories, and a wrong category is an empty list.
    let linear = json!({ "category": "linear", "symbol": "ETHUSDT", "side": "Buy", "orderType": "Limit",
        "qty": "0.1", "price": "2900.00", "orderLinkId": "x" });
    assert_eq!(place(&sim, &linear).await, 110_072);
    let wrong = sim
        .get("/v5/order/realtime", "category=linear&orderLinkId=x")
        .await;
    assert_eq!(wrong.list().len(), 0);
    let all = json!({ "category": "spot" });
    let ended = sim.post("/v5/order/cancel-all", &all).await.json();
    assert_eq!(ended["result"]["list"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn inverse_contracts_are_dollars_settled_in_coins() {
    let sim = Sim::start().await;
    let order = |id: &str, side: &str, qty: &str, price: &str| {
        json!({
            "category": "inverse", "symbol": "BTCUSD", "side": side, "orderType": "Limit", "qty": qty,
            "price": price, "timeInForce": "IOC", "orderLinkId": id,
        })
    };
    sim.set(
        "/market",
        json!({ "symbol": "BTCUSD", "bid": "49999.9", "ask": "50000" }),
    )
    .await;
    assert_eq!(place(&sim, &order("in", "Buy", "50000", "50000")).await, 0);
    let found = row(&sim, "inverse", "in").await;
    assert_eq!(
        [
            &found["orderStatus"],
            &found["cumExecValue"],
            &found["avgPrice"]
        ],
        ["Filled", "1", "50000"]
    );
    assert_eq!(found["cumFeeDetail"], json!({ "BTC": "0.00055" }));
    assert_eq!(balance(&sim, "BTC").await, "99.99945");
    let held = sim
        .get("/v5/position/list", "category=inverse&symbol=BTCUSD")
        .await
        .list();
    assert_eq!(
        [&held[0]["size"], &held[0]["avgPrice"], &held[0]["side"]],
        ["50000", "50000", "Buy"]
    );
    // The coin doubles: half a coin is won, and half a coin is the value that pays the fee.
    sim.set(
        "/market",
        json!({ "symbol": "BTCUSD", "bid": "100000", "ask": "100000.1" }),
    )
    .await;
    assert_eq!(
        place(&sim, &order("out", "Sell", "50000", "100000")).await,
        0
    );
    assert_eq!(balance(&sim, "BTC").await, "100.499175");
    assert_eq!(balance(&sim, "USDT").await, "1000000");
    assert_eq!(
        place(&sim, &order("part", "Sell", "0.5", "100000")).await,
        10_001
    );
    let much = order("much", "Buy", "25000000", "10000");
    assert_eq!(place(&sim, &much).await, 110_007, "margin is in coins");
    let info = sim
        .get("/v5/market/instruments-info", "category=inverse")
        .await
        .list();
    assert_eq!(
        [&info[0]["contractType"], &info[0]["settleCoin"]],
        ["InversePerpetual", "BTC"]
    );
}

#[tokio::test]
async fn each_category_has_topics_of_its_own() {
    let sim = Sim::start().await;
    let mut socket =
        Socket::listening(&sim, &["order.spot", "execution.spot", "position.linear"]).await;
    sim.create("linear").await.unwrap();
    assert_eq!(socket.next().await["topic"], "position.linear");
    let buy = spot("b", json!({ "qty": "1", "price": "3000.01" }));
    assert_eq!(place(&sim, &buy).await, 0);
    let (fill, order) = (socket.next().await, socket.next().await);
    assert_eq!(fill["topic"], "execution.spot");
    assert_eq!(fill["data"][0]["feeCurrency"], "ETH");
    assert_eq!(order["topic"], "order.spot");
    assert_eq!(order["data"][0]["category"], "spot");
    assert!(socket.is_silent().await, "spot has no positions");
}
