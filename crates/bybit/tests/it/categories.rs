//! Spot and inverse beside linear: what is written down, asked for and read.

use serde_json::{Value, json};
use surefill_bybit::{Bybit, BybitParams, Category, batch, id, rows};
use surefill_core::{
    Amount, Attempt, CancelAllOutcome, Connect, Lookup, Money, OrdType, OrderIntent, PrepareError,
    Symbol, TimeInForce,
};
use surefill_transport::Answer;

use crate::server::{Asked, NOW, Reply, Server, keys};
use crate::world::{World, cl_ord_id, fill_row, intent, key, order_row, page, record, timing};

fn listing(category: &str) -> Value {
    match category {
        "spot" => json!({"category": "spot", "list": [{"symbol": "BTCUSDT", "status": "Trading",
            "baseCoin": "BTC", "quoteCoin": "USDT", "priceFilter": {"tickSize": "0.01"},
            "lotSizeFilter": {"basePrecision": "0.000001", "quotePrecision": "0.0000001", "minOrderQty": "0.000011",
                "minOrderAmt": "5", "maxLimitOrderQty": "83", "maxMarketOrderQty": "41.5"}}]}),
        "inverse" => {
            json!({"category": "inverse", "nextPageCursor": "", "list": [{"symbol": "BTCUSD",
            "status": "Trading", "settleCoin": "BTC", "priceFilter": {"minPrice": "0.10", "maxPrice": "1999999.80", "tickSize": "0.10"},
            "lotSizeFilter": {"maxOrderQty": "25000000", "minOrderQty": "1", "qtyStep": "1", "maxMktOrderQty": "5000000",
                "minNotionalValue": ""}}]})
        }
        other => panic!("{other}"),
    }
}

async fn world(category: Category) -> (Server, World) {
    let server = Server::start(|asked: &Asked| {
        let category = asked.param("category");
        match asked.line().as_str() {
            "GET /v5/market/instruments-info" => Reply::Ok(listing(category.expect("a category"))),
            "GET /v5/order/realtime" => {
                Reply::Ok(json!({"category": category, "nextPageCursor": "", "list": [
                order_row("o-1", "a-man", "New", "0"), order_row("o-2", "a-woman", "New", "0")]}))
            }
            "GET /v5/order/history" | "GET /v5/execution/list" => {
                Reply::Ok(json!({"category": category, "nextPageCursor": "", "list": []}))
            }
            "POST /v5/order/cancel-all" => {
                Reply::Ok(json!({"list": [{"orderId": "o-1", "orderLinkId": ""}], "success": "1"}))
            }
            "GET /v5/account/wallet-balance" => {
                Reply::Ok(json!({"list": [{"totalAvailableBalance": "10", "coin": [
                {"coin": "BTC", "walletBalance": "0.5"}, {"coin": "ETH", "walletBalance": "0"},
                {"coin": "USDT", "walletBalance": "-3.25"}]}]}))
            }
            other => panic!("not asked for: {other}"),
        }
    })
    .await;
    let config = Bybit::simulator(&server.url, keys())
        .with_timing(timing())
        .without_stream()
        .with_category(category);
    let world = World::with(config);
    (server, world)
}

async fn prepare(category: Category, intent: &OrderIntent) -> Result<Attempt, PrepareError> {
    let (_server, world) = world(category).await;
    let facts = world.venue.facts(intent).await.expect("facts");
    world
        .venue
        .prepare(&cl_ord_id(), intent, &world.ticket(facts))
}

fn body(attempt: &Attempt) -> String {
    let wire = std::str::from_utf8(&attempt.wire).expect("text");
    wire.splitn(3, '\n').nth(2).expect("a body").to_owned()
}

fn market(amount: Amount) -> OrderIntent {
    OrderIntent {
        amount,
        ord_type: OrdType::Market,
        time_in_force: TimeInForce::Ioc,
        ..intent()
    }
}

fn base(qty: &str) -> Amount {
    Amount::Base(qty.parse().expect("qty"))
}

fn quote(qty: &str) -> Amount {
    Amount::Quote(qty.parse().expect("qty"))
}

#[tokio::test]
async fn a_spot_order_has_no_slot_and_always_says_what_a_market_quantity_counts() {
    let head = "{\"category\":\"spot\",\"symbol\":\"BTCUSDT\",\"side\":\"Buy\",\"orderType\"";
    let limit = prepare(Category::Spot, &intent()).await.expect("prepared");
    let tail = format!("\"orderLinkId\":\"{}\"}}", key());
    assert_eq!(
        body(&limit),
        format!(
            "{head}:\"Limit\",\"qty\":\"0.030\",\"price\":\"60000.0\",\"timeInForce\":\"GTC\",{tail}"
        )
    );
    let in_base = prepare(Category::Spot, &market(base("0.03")))
        .await
        .expect("prepared");
    assert_eq!(
        body(&in_base),
        format!("{head}:\"Market\",\"qty\":\"0.03\",\"marketUnit\":\"baseCoin\",{tail}")
    );
    let in_quote = prepare(Category::Spot, &market(quote("100.50")))
        .await
        .expect("prepared");
    assert_eq!(
        body(&in_quote),
        format!("{head}:\"Market\",\"qty\":\"100.50\",\"marketUnit\":\"quoteCoin\",{tail}")
    );
}

#[tokio::test]
async fn what_spot_has_not_is_refused() {
    let reduces = OrderIntent {
        reduce_only: true,
        ..intent()
    };
    let hedges = intent()
        .with_params(&BybitParams { position_idx: 1 })
        .expect("params");
    let limit_in_quote = OrderIntent {
        amount: quote("100"),
        ..intent()
    };
    for intent in [reduces, hedges, limit_in_quote] {
        let error = prepare(Category::Spot, &intent).await.expect_err("refused");
        assert!(matches!(error, PrepareError::Unsupported { .. }), "{error}");
    }
    let small = prepare(Category::Spot, &market(quote("4.99")))
        .await
        .expect_err("refused");
    assert_eq!(small.to_string(), "amount 4.99 is below the minimum of 5");
    let off = prepare(Category::Spot, &market(quote("5.00000001")))
        .await
        .expect_err("refused");
    assert!(
        matches!(off, PrepareError::OffStep { what: "amount", .. }),
        "{off}"
    );
    let large = prepare(Category::Spot, &market(base("42")))
        .await
        .expect_err("refused");
    assert!(
        matches!(large, PrepareError::AboveMaximum { .. }),
        "{large}"
    );
}

#[tokio::test]
async fn an_inverse_order_counts_contracts() {
    let contracts = OrderIntent {
        symbol: "BTCUSD".into(),
        amount: base("100"),
        ..intent()
    };
    let attempt = prepare(Category::Inverse, &contracts)
        .await
        .expect("prepared");
    let body: Value = serde_json::from_str(&body(&attempt)).expect("JSON");
    assert_eq!(body["category"], "inverse");
    assert_eq!(
        (&body["qty"], &body["positionIdx"]),
        (&json!("100"), &json!(0))
    );
    let too_many = OrderIntent {
        reduce_only: true,
        amount: base("25000001"),
        ..contracts.clone()
    };
    let error = prepare(Category::Inverse, &too_many)
        .await
        .expect_err("refused");
    assert!(
        matches!(error, PrepareError::AboveMaximum { .. }),
        "{error}"
    );
    let hedges = contracts
        .with_params(&BybitParams { position_idx: 2 })
        .expect("params");
    let error = prepare(Category::Inverse, &hedges)
        .await
        .expect_err("refused");
    assert!(matches!(error, PrepareError::Unsupported { .. }), "{error}");
    assert!(
        !Bybit::mainnet(keys())
            .with_category(Category::Spot)
            .profile()
            .reduce_only
    );
}

#[tokio::test]
async fn each_list_is_of_the_category_and_one_of_another_proves_nothing() {
    for category in [Category::Spot, Category::Inverse] {
        let (server, world) = world(category).await;
        world.venue.open_orders(None).await.expect("read");
        let asked = server.asked().pop().expect("asked");
        assert_eq!(asked.param("category"), Some(category.as_str()));
        assert_eq!(asked.param("settleCoin"), None);
        let attempt = prepare(Category::Spot, &intent()).await.expect("prepared");
        let order = record(&attempt, surefill_core::VenueTime::from_ms(NOW));
        drop(world.venue.lookup(&order).await);
        assert!(
            server
                .asked()
                .iter()
                .all(|asked| asked.param("category") == Some(category.as_str()))
        );
    }
    // An empty list of another category than was asked for.
    let server = Server::start(|_: &Asked| Reply::Ok(page([], ""))).await;
    let config = Bybit::simulator(&server.url, keys())
        .with_timing(timing())
        .without_stream();
    let world = World::with(config.with_category(Category::Spot));
    let attempt = prepare(Category::Spot, &intent()).await.expect("prepared");
    let order = record(&attempt, surefill_core::VenueTime::from_ms(NOW));
    let Lookup::Inconclusive(why) = world.venue.lookup(&order).await else {
        panic!("a list of linear orders is no proof about spot")
    };
    assert!(why.0.contains("a list of linear, not of spot"), "{why}");
}

#[tokio::test]
async fn what_is_held_on_spot_are_balances() {
    let (_server, world) = world(Category::Spot).await;
    let held = world.venue.positions().await.expect("read").rows;
    let words: Vec<String> = held
        .iter()
        .map(|p| format!("{} {}", p.symbol, p.signed_qty))
        .collect();
    assert_eq!(words, ["BTC 0.5", "USDT -3.25"]);
}

#[tokio::test]
async fn a_cancel_of_all_has_the_reach_that_the_category_wants() {
    let (server, spot) = world(Category::Spot).await;
    let taken = spot.venue.cancel_all(None).await.expect("taken");
    assert!(matches!(taken, CancelAllOutcome::Taken(_)));
    assert_eq!(
        server.asked().pop().expect("asked").body,
        "{\"category\":\"spot\"}"
    );
    // Inverse contracts are settled in many coins: symbol by symbol.
    let (server, inverse) = world(Category::Inverse).await;
    let taken = inverse.venue.cancel_all(None).await.expect("taken");
    assert!(matches!(taken, CancelAllOutcome::Taken(_)));
    assert_eq!(server.count("POST /v5/order/cancel-all"), 1);
    let body = server.asked().pop().expect("asked").body;
    assert_eq!(body, "{\"category\":\"inverse\",\"symbol\":\"BTCUSDT\"}");
}

#[test]
fn a_fee_is_in_the_coin_that_the_fill_names() {
    let read = |category: &str, edit: &dyn Fn(&mut Value)| {
        let mut row = fill_row("o-1", &key(), "e-1", "0.010");
        edit(&mut row);
        let body =
            json!({"retCode": 0, "result": {"category": category, "list": [row]}, "time": NOW});
        rows::fills(&Ok(Answer::new(200, [("", "")], body.to_string()))).expect("a list")
    };
    let spot = read("spot", &|row| row["feeCurrency"] = json!("BTC"));
    assert_eq!(spot.rows[0].fill.fee_currency, "BTC".into());
    let linear = read("linear", &|row| row["feeCurrency"] = json!(""));
    assert_eq!(linear.rows[0].fill.fee_currency, "USDT".into());
    for category in ["spot", "inverse"] {
        let nameless = read(category, &|row| row["feeCurrency"] = json!(""));
        assert_eq!((nameless.rows.len(), nameless.unreadable.len()), (0, 1));
        let free = read(category, &|row| {
            row["feeCurrency"] = json!("");
            row["execFee"] = json!("0");
        });
        assert_eq!(free.rows[0].fill.fee, Money::ZERO);
    }
}

#[test]
fn a_batch_of_cancels_names_each_order_once_and_by_one_id() {
    let (symbol, id) = (Symbol::from("BTCUSDT"), cl_ord_id());
    let body = batch::cancels(Category::Linear, &[(&symbol, id)]).expect("a body");
    let want = format!(
        "{{\"category\":\"linear\",\"request\":[{{\"symbol\":\"BTCUSDT\",\"orderLinkId\":\"{}\"}}]}}",
        id::spell(&id)
    );
    assert_eq!(body, want);
    let many = vec![(&symbol, id); batch::MAX + 1];
    for orders in [&[][..], &[(&symbol, id), (&symbol, id)], &many] {
        batch::cancels(Category::Linear, orders).expect_err("refused");
    }
}
