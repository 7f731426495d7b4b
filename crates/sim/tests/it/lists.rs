//! What the lists show, and what they hide or forget.

use serde_json::{Value, json};

use crate::support::{Sim, but, resting};

const HOUR_MS: u64 = 3_600_000;

async fn counts(sim: &Sim, id: &str) -> [usize; 3] {
    let query = format!("category=linear&symbol=BTCUSDT&orderLinkId={id}");
    [
        sim.get("/v5/order/realtime", &query).await.list().len(),
        sim.get("/v5/order/history", &query).await.list().len(),
        sim.get("/v5/execution/list", &query).await.list().len(),
    ]
}

async fn cancel(sim: &Sim, id: &str) {
    let body = json!({ "category": "linear", "symbol": "BTCUSDT", "orderLinkId": id });
    assert_eq!(sim.post("/v5/order/cancel", &body).await.code(), 0);
}

#[tokio::test]
async fn an_order_moves_from_the_open_list_to_the_history() {
    let sim = Sim::start().await;
    assert_eq!(counts(&sim, "x").await, [0, 0, 0]);
    sim.create("x").await.unwrap();
    assert_eq!(
        counts(&sim, "x").await,
        [1, 0, 0],
        "history holds closed orders only"
    );
    sim.set("/fill", json!({ "cl_ord_id": "x", "qty": "0.01" }))
        .await;
    assert_eq!(counts(&sim, "x").await, [1, 0, 1]);
    let symbol = "category=linear&symbol=BTCUSDT";
    assert_eq!(sim.get("/v5/order/realtime", symbol).await.list().len(), 1);
    cancel(&sim, "x").await;
    assert_eq!(
        counts(&sim, "x").await,
        [1, 1, 1],
        "with an id realtime shows recent closed orders too"
    );
    assert_eq!(
        sim.get("/v5/order/realtime", symbol).await.list().len(),
        0,
        "without an id it does not"
    );
    assert_eq!(
        sim.get("/v5/order/realtime", &format!("{symbol}&openOnly=1"))
            .await
            .list()
            .len(),
        1
    );
    let row = sim.get("/v5/order/history", symbol).await.list().remove(0);
    assert_eq!(
        (&row["orderStatus"], &row["cancelType"]),
        (&json!("Cancelled"), &json!("CancelByUser"))
    );
    assert_eq!(
        (&row["cumExecQty"], &row["avgPrice"]),
        (&json!("0.010"), &json!("60000"))
    );
}

#[tokio::test]
async fn another_category_is_an_empty_list_and_a_wrong_question_is_an_error() {
    let sim = Sim::start().await;
    sim.create("x").await.unwrap();
    for category in ["spot", "inverse", "option"] {
        for path in [
            "/v5/order/realtime",
            "/v5/order/history",
            "/v5/execution/list",
        ] {
            let list = sim
                .get(
                    path,
                    &format!("category={category}&symbol=BTCUSDT&orderLinkId=x"),
                )
                .await
                .list();
            assert_eq!(list.len(), 0, "{path} {category}");
        }
    }
    let errors = [
        ("/v5/order/realtime", "category=linear", 10_001),
        ("/v5/order/realtime", "symbol=BTCUSDT", 10_001),
        (
            "/v5/order/realtime",
            "category=linear&symbol=BTCUSDT&limit=51",
            10_001,
        ),
        (
            "/v5/order/realtime",
            "category=linear&symbol=BTCUSDT&limit=0",
            10_001,
        ),
        (
            "/v5/order/history",
            "category=linear&orderStatus=New",
            181_017,
        ),
        (
            "/v5/order/history",
            "category=linear&startTime=1&endTime=700000000",
            10_001,
        ),
        ("/v5/execution/list", "category=linear&limit=101", 10_001),
        ("/v5/position/list", "category=linear", 10_001),
    ];
    for (path, query, code) in errors {
        assert_eq!(sim.get(path, query).await.code(), code, "{path} {query}");
    }
}

#[tokio::test]
async fn hide_takes_an_order_out_of_the_lists_for_a_while() {
    let sim = Sim::start().await;
    sim.set(
        "/hide",
        json!({ "cl_ord_id": "x", "ms": 5_000, "from": ["open", "closed"] }),
    )
    .await;
    sim.create("x").await.unwrap();
    sim.set("/fill", json!({ "cl_ord_id": "x", "qty": "0.03" }))
        .await;
    assert_eq!(counts(&sim, "x").await, [0, 0, 1], "in neither list");
    sim.set(
        "/hide",
        json!({ "cl_ord_id": "x", "ms": 9_000, "from": ["fills"] }),
    )
    .await;
    assert_eq!(counts(&sim, "x").await, [0, 0, 0]);
    sim.set("/clock", json!({ "advance_ms": 5_000 })).await;
    assert_eq!(counts(&sim, "x").await, [1, 1, 0]);
    sim.set("/clock", json!({ "advance_ms": 5_000 })).await;
    assert_eq!(counts(&sim, "x").await, [1, 1, 1]);
    assert_eq!(sim.held("x").await.len(), 1, "the referee always sees it");
}

#[tokio::test]
async fn the_history_forgets_an_unfilled_order_after_a_day() {
    let sim = Sim::start().await;
    for id in ["unfilled", "filled"] {
        sim.create(id).await.unwrap();
    }
    sim.set("/fill", json!({ "cl_ord_id": "filled", "qty": "0.01" }))
        .await;
    for id in ["unfilled", "filled"] {
        cancel(&sim, id).await;
    }
    sim.set("/clock", json!({ "advance_ms": 23 * HOUR_MS }))
        .await;
    assert_eq!(counts(&sim, "unfilled").await[1], 1);
    sim.set("/clock", json!({ "advance_ms": 2 * HOUR_MS }))
        .await;
    assert_eq!(
        [
            counts(&sim, "unfilled").await[1],
            counts(&sim, "filled").await[1]
        ],
        [0, 1]
    );
    sim.set("/clock", json!({ "advance_ms": 7 * 24 * HOUR_MS }))
        .await;
    assert_eq!(
        counts(&sim, "filled").await[1..],
        [0, 1],
        "without a window history shows seven days"
    );
    let held = sim.held("filled").await.remove(0);
    let query = format!(
        "category=linear&symbol=BTCUSDT&startTime={}",
        held["accepted_at_ms"]
    );
    assert_eq!(sim.get("/v5/order/history", &query).await.list().len(), 1);
}

#[tokio::test]
async fn realtime_keeps_the_newest_500_closed_orders() {
    let sim = Sim::start().await;
    let ioc = json!({ "timeInForce": "IOC" });
    for index in 0..501 {
        sim.post(
            "/v5/order/create",
            &but(resting(&format!("x{index}")), ioc.clone()),
        )
        .await;
    }
    assert_eq!(counts(&sim, "x0").await, [0, 1, 0], "pushed out");
    assert_eq!(counts(&sim, "x1").await, [1, 1, 0]);
}

#[tokio::test]
async fn pages_hold_every_row_once_whichever_way_the_cursor_is_sent() {
    let sim = Sim::start().await;
    for index in 0..7 {
        sim.create(&format!("x{index}")).await.unwrap();
    }
    let walk = async |path: &str, key: &str, again: bool| {
        let mut seen: Vec<Value> = Vec::new();
        let mut cursor = String::new();
        loop {
            let more = if cursor.is_empty() {
                String::new()
            } else {
                format!("&cursor={cursor}")
            };
            let page = sim
                .get(
                    path,
                    &format!("category=linear&symbol=BTCUSDT&limit=3{more}"),
                )
                .await;
            let list = page.list();
            seen.extend(list.iter().map(|row| row[key].clone()));
            cursor = page.json()["result"]["nextPageCursor"]
                .as_str()
                .unwrap()
                .to_owned();
            if again {
                cursor = cursor.replace('%', "%25");
            }
            if cursor.is_empty() || list.is_empty() {
                return seen;
            }
        }
    };
    let all: Vec<Value> = (0..7)
        .rev()
        .map(|index| json!(format!("x{index}")))
        .collect();
    for again in [false, true] {
        assert_eq!(
            walk("/v5/order/realtime", "orderLinkId", again).await,
            all,
            "newest first"
        );
    }
    let one = sim
        .get("/v5/order/realtime", "category=linear&orderLinkId=x3")
        .await
        .json();
    assert_ne!(
        one["result"]["nextPageCursor"], "",
        "also with the last page"
    );
    for index in 0..7 {
        sim.set(
            "/fill",
            json!({ "cl_ord_id": format!("x{index}"), "qty": "0.03" }),
        )
        .await;
    }
    for again in [false, true] {
        assert_eq!(walk("/v5/order/history", "orderLinkId", again).await, all);
        assert_eq!(walk("/v5/execution/list", "orderLinkId", again).await, all);
    }
}

#[tokio::test]
async fn positions_show_a_flat_slot_by_symbol_only() {
    let sim = Sim::start().await;
    let flat = sim
        .get("/v5/position/list", "category=linear&symbol=BTCUSDT")
        .await
        .list()
        .remove(0);
    assert_eq!(
        (&flat["side"], &flat["size"], &flat["seq"]),
        (&json!(""), &json!("0"), &json!(-1))
    );
    assert_eq!(
        sim.get("/v5/position/list", "category=linear&settleCoin=USDT")
            .await
            .list()
            .len(),
        0
    );
    sim.post(
        "/v5/order/create",
        &but(resting("s"), json!({ "side": "Sell", "price": "59999.9" })),
    )
    .await;
    let short = sim
        .get("/v5/position/list", "category=linear&settleCoin=USDT")
        .await
        .list()
        .remove(0);
    assert_eq!(
        (&short["side"], &short["size"], &short["avgPrice"]),
        (&json!("Sell"), &json!("0.03"), &json!("59999.9"))
    );
    let fill = sim
        .get("/v5/execution/list", "category=linear&symbol=BTCUSDT")
        .await
        .list()
        .remove(0);
    assert_eq!(
        (&fill["execFee"], &fill["isMaker"]),
        (&json!("0.98999835"), &json!(false))
    );
}

#[tokio::test]
async fn the_history_keeps_fills_for_two_years_and_shows_a_week_unless_asked() {
    let sim = Sim::start().await;
    for id in ["filled", "partly", "unfilled"] {
        sim.create(id).await.unwrap();
    }
    sim.set("/fill", json!({ "cl_ord_id": "filled", "qty": "0.03" }))
        .await;
    sim.set("/fill", json!({ "cl_ord_id": "partly", "qty": "0.01" }))
        .await;
    cancel(&sim, "partly").await;
    cancel(&sim, "unfilled").await;
    let at_ms = sim.now_ms().await;
    let found = async |query: String| {
        let list = sim.get("/v5/order/history", &query).await.list();
        let mut ids: Vec<String> = list
            .iter()
            .map(|row| row["orderLinkId"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids
    };
    let (plain, asked) = (
        "category=linear".to_owned(),
        format!(
            "category=linear&startTime={}&endTime={}",
            at_ms - 60_000,
            at_ms + 60_000
        ),
    );
    let hours = async |hours: u64| {
        sim.set("/clock", json!({ "advance_ms": hours * 3_600_000 }))
            .await;
    };
    hours(23).await;
    assert_eq!(found(plain.clone()).await, ["filled", "partly", "unfilled"]);
    hours(2).await;
    assert_eq!(found(plain.clone()).await, ["filled", "partly"]);
    assert_eq!(found(asked.clone()).await, ["filled", "partly"]);
    hours(6 * 24).await;
    assert!(found(plain.clone()).await.is_empty(), "a week is over");
    assert_eq!(found(asked.clone()).await, ["filled", "partly"]);
    let fills = "category=linear&orderLinkId=partly";
    hours(720 * 24).await;
    assert_eq!(found(asked.clone()).await, ["filled", "partly"]);
    assert_eq!(sim.get("/v5/execution/list", fills).await.list().len(), 1);
    hours(4 * 24).await;
    assert!(found(asked).await.is_empty(), "two years are over");
    assert_eq!(sim.get("/v5/execution/list", fills).await.list().len(), 0);
}

#[tokio::test]
async fn the_closed_store_is_per_category_and_wiped_by_a_restart() {
    let sim = Sim::start().await;
    let spot = json!({ "category": "spot", "symbol": "ETHUSDT", "side": "Buy", "orderType": "Limit",
        "qty": "1", "price": "3000.01", "orderLinkId": "spot" });
    assert_eq!(sim.post("/v5/order/create", &spot).await.code(), 0);
    sim.create("first").await.unwrap();
    cancel(&sim, "first").await;
    let seen = async |category: &str, id: &str| {
        let query = format!("category={category}&orderLinkId={id}");
        sim.get("/v5/order/realtime", &query).await.list().len()
    };
    for index in 0..500 {
        assert_eq!(seen("linear", "first").await, 1, "{index}");
        let id = format!("n{index}");
        sim.create(&id).await.unwrap();
        cancel(&sim, &id).await;
    }
    assert_eq!(seen("linear", "first").await, 0, "pushed out by the 500th");
    assert_eq!(seen("spot", "spot").await, 1, "another category");
    let closed = sim
        .get("/v5/order/realtime", "category=spot&openOnly=1")
        .await;
    assert_eq!(closed.list().len(), 1);
    sim.set("/restart", json!({ "down_ms": 1 })).await;
    let back = async {
        while tokio::net::TcpStream::connect(sim.addr()).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::support::BOUND, back)
        .await
        .unwrap();
    assert_eq!(seen("spot", "spot").await, 0, "wiped");
    let kept = sim
        .get("/v5/order/history", "category=spot&orderLinkId=spot")
        .await;
    assert_eq!(kept.list().len(), 1, "history is not");
}
