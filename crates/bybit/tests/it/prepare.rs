//! From an intent to a request: what is refused, with which nearest values, and how numbers are written.

use serde_json::{Value, json};
use surefill_bybit::{Bybit, BybitParams};
use surefill_core::{
    Amount, Attempt, Connect, Facts, GiveUp, OrdType, OrderIntent, Params, PrepareError, Resubmit,
    TimeInForce, VenueTime,
};

use crate::server::{Asked, Reply, Server, keys};
use crate::world::{World, cl_ord_id, intent, listing, page, timing};

async fn world() -> World {
    let server = Server::start(|_: &Asked| Reply::Ok(listing())).await;
    World::new(&server.url)
}

async fn prepare(intent: &OrderIntent) -> Result<Attempt, PrepareError> {
    let world = world().await;
    let facts = world.venue.facts(intent).await.expect("facts");
    world
        .venue
        .prepare(&cl_ord_id(), intent, &world.ticket(facts))
}

fn body(attempt: &Attempt) -> Value {
    let wire = std::str::from_utf8(&attempt.wire).expect("text");
    serde_json::from_str(wire.splitn(3, '\n').nth(2).expect("a body")).expect("JSON")
}

fn with(qty: &str, price: &str) -> OrderIntent {
    OrderIntent {
        amount: Amount::Base(qty.parse().expect("qty")),
        ord_type: OrdType::Limit {
            price: price.parse().expect("px"),
        },
        ..intent()
    }
}

fn market(qty: &str) -> OrderIntent {
    OrderIntent {
        ord_type: OrdType::Market,
        time_in_force: TimeInForce::Ioc,
        ..with(qty, "1")
    }
}

async fn refusal(intent: &OrderIntent) -> String {
    prepare(intent).await.expect_err("refused").to_string()
}

#[tokio::test]
async fn values_off_their_step_name_their_neighbors() {
    assert_eq!(
        refusal(&with("0.0305", "60000")).await,
        "quantity 0.0305 is no multiple of 0.001: the nearest are 0.03 and 0.031"
    );
    assert_eq!(
        refusal(&with("0.030", "60000.05")).await,
        "price 60000.05 is no multiple of 0.10: the nearest are 60000 and 60000.1"
    );
}

#[tokio::test]
async fn values_out_of_range_name_the_bound() {
    let cases = [
        (
            with("0", "60000"),
            "quantity 0 is below the minimum of 0.001",
        ),
        (
            with("0.0005", "60000"),
            "quantity 0.0005 is below the minimum of 0.001",
        ),
        (with("0.030", "0"), "price 0 is below the minimum of 0.10"),
        (
            with("0.030", "2000000"),
            "price 2000000 is above the maximum of 1999999.80",
        ),
        (
            with("1000.001", "60000"),
            "quantity 1000.001 is above the maximum of 1000.000",
        ),
        (
            market("400.001"),
            "quantity 400.001 is above the maximum of 400.000",
        ),
        (
            with("0.001", "4999.9"),
            "notional 4.9999 is below the minimum of 5",
        ),
    ];
    for (intent, expected) in cases {
        assert_eq!(refusal(&intent).await, expected);
    }
    let above = OrderIntent {
        reduce_only: true,
        ..with("1000.001", "60000")
    };
    assert!(
        refusal(&above).await.contains("above the maximum"),
        "the venue would split it"
    );
}

#[tokio::test]
async fn a_small_order_that_only_reduces_is_for_the_venue_to_judge() {
    let small = OrderIntent {
        reduce_only: true,
        ..with("0.001", "4999.9")
    };
    let attempt = prepare(&small).await.expect("prepared");
    assert_eq!(body(&attempt)["reduceOnly"], json!(true));
}

#[tokio::test]
async fn what_there_is_not_is_refused() {
    let gtd = OrderIntent {
        time_in_force: TimeInForce::Gtd(VenueTime::from_ms(1)),
        ..intent()
    };
    let quote = OrderIntent {
        amount: Amount::Quote("100".parse().expect("qty")),
        ..intent()
    };
    let resting_market = OrderIntent {
        time_in_force: TimeInForce::Gtc,
        ..market("0.030")
    };
    for intent in [gtd, quote, resting_market] {
        let refused = prepare(&intent).await;
        assert!(
            matches!(refused, Err(PrepareError::Unsupported { .. })),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn parameters_are_ours_and_cannot_attach_orders() {
    let hedge = intent()
        .with_params(&BybitParams { position_idx: 1 })
        .expect("JSON");
    assert_eq!(
        body(&prepare(&hedge).await.expect("prepared"))["positionIdx"],
        json!(1)
    );
    for (kind, text) in [
        ("bybit", "{\"position_idx\":3}"),
        ("bybit", "{\"take_profit\":\"61000\"}"),
        ("bybit", "{\"position_idx\":0,\"stopLoss\":\"1\"}"),
        ("binance", "{}"),
    ] {
        let params = Params {
            kind: kind.into(),
            json: text.into(),
        };
        let refused = prepare(&OrderIntent {
            params: Some(params),
            ..intent()
        })
        .await;
        assert!(
            matches!(refused, Err(PrepareError::Invalid { .. })),
            "{text}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn numbers_are_plain_decimals_with_no_more_digits_than_the_step() {
    for (qty, price, sent_qty, sent_price) in [
        ("0.030", "60000.0", "0.030", "60000.0"),
        ("0.0300000", "60000.00000", "0.03", "60000"),
        ("100.000", "0.10", "100.000", "0.10"),
        ("1000", "1999999.8", "1000", "1999999.8"),
    ] {
        let body = body(&prepare(&with(qty, price)).await.expect("prepared"));
        assert_eq!(body["qty"], json!(sent_qty));
        assert_eq!(body["price"], json!(sent_price));
    }
}

#[tokio::test]
async fn each_kind_of_order_has_its_words() {
    for (tif, word) in [
        (TimeInForce::Gtc, "GTC"),
        (TimeInForce::Ioc, "IOC"),
        (TimeInForce::Fok, "FOK"),
        (TimeInForce::PostOnly, "PostOnly"),
    ] {
        let intent = OrderIntent {
            time_in_force: tif,
            ..intent()
        };
        assert_eq!(
            body(&prepare(&intent).await.expect("prepared"))["timeInForce"],
            json!(word)
        );
    }
    let body = body(&prepare(&market("0.030")).await.expect("prepared"));
    assert_eq!(body["orderType"], json!("Market"));
    assert_eq!(body.get("price"), None);
    assert_eq!(body.get("timeInForce"), None);
    assert_eq!(body.get("reduceOnly"), None);
}

/// Two attempts of one intent differ in nothing but the time.
#[tokio::test]
async fn how_long_an_intent_is_pursued_is_not_in_the_request() {
    let other = OrderIntent {
        resubmit: Resubmit::AfterAbsence,
        give_up: GiveUp::Strict,
        ttl: std::time::Duration::from_secs(1),
        ..intent()
    };
    let (one, other) = (prepare(&intent()).await, prepare(&other).await);
    assert_eq!(one.expect("prepared").wire, other.expect("prepared").wire);
}

#[tokio::test]
async fn facts_of_something_else_are_refused() {
    let world = world().await;
    let refused = world
        .venue
        .prepare(&cl_ord_id(), &intent(), &world.ticket(Facts::new(1)));
    assert!(
        matches!(refused, Err(PrepareError::Invalid { .. })),
        "{refused:?}"
    );
    let mut usdc = listing()["list"][0].clone();
    usdc["settleCoin"] = json!("USDC");
    let server = Server::start(move |_: &Asked| Reply::Ok(page([usdc.clone()], ""))).await;
    let world = World::new(&server.url);
    let facts = world.venue.facts(&intent()).await.expect("facts");
    let refused = world
        .venue
        .prepare(&cl_ord_id(), &intent(), &world.ticket(facts));
    assert!(
        matches!(refused, Err(PrepareError::Unsupported { .. })),
        "{refused:?}"
    );
}

#[test]
fn timing_is_for_simulators_only() {
    let profile = Bybit::simulator("http://127.0.0.1:1/", keys())
        .with_timing(timing())
        .profile();
    assert_eq!(profile.absence.spacing.as_millis(), 100);
    assert_eq!(profile.watch.as_millis(), 1_000);
    assert_eq!(profile.cap.as_millis(), 6_500);
    assert_eq!(profile.poll.as_millis(), 100);
    let real = Bybit::mainnet(keys()).profile();
    assert_eq!(real.absence.margin.as_secs(), 2);
    assert_eq!(real.fence, Bybit::testnet(keys()).profile().fence);
}
