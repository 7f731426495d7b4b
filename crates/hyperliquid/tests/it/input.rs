//! What is refused before anything is sent, and what is built of the rest.

use std::collections::HashMap;

use rust_decimal::Decimal;
use serde_json::{Value, json};
use surefill_core::{
    Amount, Connect, OrderIntent, PlaceError, PrepareError, RecoverError, Side, Store, TimeInForce,
    VenueError,
};
use surefill_evm::Address;
use surefill_hyperliquid::{Hyperliquid, HyperliquidParams, KeyError, Keys, Network, Timing};

use crate::book::{KEY, Venue, keys};
use crate::server::now;
use crate::world::{config, engine, engine_with, intent, store};

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a decimal")
}

fn limit(symbol: &str, qty: &str, price: &str) -> OrderIntent {
    let base = intent(0);
    OrderIntent::limit(
        base.decision,
        "v",
        symbol,
        Side::Buy,
        Amount::Base(qty.parse().expect("qty")),
        price.parse().expect("px"),
    )
}

async fn refusal(venue: &Venue, intent: OrderIntent) -> PrepareError {
    let engine = engine(venue, &store()).await;
    let refused = engine.place(intent).await.expect_err("refused");
    assert!(venue.posted("order").is_empty(), "nothing is sent");
    match refused {
        PlaceError::Prepare(error) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_and_sizes_name_the_nearest_that_are_taken() {
    let venue = Venue::start().await;
    for (price, below, above, step) in [
        ("60000.5", "60000", "60001", "1"),
        ("9999.95", "9999.9", "10000", "0.1"),
        ("0.15", "0.1", "0.2", "0.1"),
    ] {
        let refused = refusal(&venue, limit("BTC", "900", price)).await;
        let expected = PrepareError::OffStep {
            what: "price",
            value: decimal(price),
            step: decimal(step),
            below: decimal(below),
            above: decimal(above),
        };
        assert_eq!(refused, expected);
    }
    let refused = refusal(&venue, limit("BTC", "0.0300001", "60000")).await;
    let expected = PrepareError::OffStep {
        what: "quantity",
        value: decimal("0.0300001"),
        step: decimal("0.00001"),
        below: decimal("0.03"),
        above: decimal("0.03001"),
    };
    assert_eq!(refused, expected);
    let refused = refusal(&venue, limit("BTC", "0.000001", "60000")).await;
    assert!(matches!(
        refused,
        PrepareError::BelowMinimum {
            what: "quantity",
            ..
        }
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_traded_or_not_had_is_refused() {
    let venue = Venue::start().await;
    let refused = refusal(&venue, limit("BTC", "0.0001", "60000")).await;
    assert!(
        matches!(
            refused,
            PrepareError::BelowMinimum {
                what: "notional",
                ..
            }
        ),
        "{refused}"
    );
    let refused = refusal(&venue, limit("NOCOIN", "1", "60000")).await;
    assert!(
        matches!(refused, PrepareError::UnknownSymbol { .. }),
        "{refused}"
    );
    let refused = refusal(&venue, limit("OLD", "1", "60000")).await;
    assert!(refused.to_string().contains("OLD is delisted"), "{refused}");
    for (altered, part) in [
        (
            OrderIntent {
                time_in_force: TimeInForce::Fok,
                ..intent(0)
            },
            "fok",
        ),
        (
            OrderIntent {
                amount: Amount::Quote("20".parse().expect("qty")),
                ..intent(0)
            },
            "quote money",
        ),
        (
            OrderIntent {
                reduce_only: true,
                ..limit("PURR/USDC", "100", "0.2")
            },
            "reduce-only on spot",
        ),
    ] {
        let refused = refusal(&venue, altered).await;
        assert!(refused.to_string().contains(part), "{refused}");
    }
}

/// The posted order of an intent.
async fn posted(intent: OrderIntent) -> Value {
    let venue = Venue::start().await;
    venue.book().executes = Some(match intent.amount {
        Amount::Base(qty) | Amount::Quote(qty) => qty.value(),
    });
    let engine = engine(&venue, &store()).await;
    let placed = engine.place(intent).await.expect("placed");
    assert_eq!(crate::world::row(&placed).attempts.len(), 1);
    let (_, body) = venue.posted("order").pop().expect("posted");
    serde_json::from_str::<Value>(&body).expect("JSON")["action"]["orders"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_posted_by_number_and_without_trailing_zeros() {
    let order = posted(limit("ETH", "0.5000", "3000.10")).await;
    assert_eq!(order["a"], 2, "a delisted asset keeps its number");
    assert_eq!(
        (&order["p"], &order["s"]),
        (&json!("3000.1"), &json!("0.5"))
    );
    assert_eq!(order["t"], json!({"limit": {"tif": "Gtc"}}));
    let spot = posted(OrderIntent {
        time_in_force: TimeInForce::PostOnly,
        ..limit("@107", "1.25", "82.848")
    })
    .await;
    assert_eq!(
        (&spot["a"], &spot["t"]["limit"]["tif"]),
        (&json!(10_107), &json!("Alo"))
    );
    let purr = posted(limit("PURR/USDC", "150", "0.11107")).await;
    assert_eq!(purr["a"], 10_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_market_order_is_limited_by_its_slippage_rounded_towards_the_middle() {
    let market = |side, bps: Option<u32>| {
        let base = intent(0);
        let amount = Amount::Base("0.03".parse().expect("qty"));
        let market = OrderIntent::market(base.decision, "v", "BTC", side, amount);
        match bps {
            None => market,
            Some(slippage_bps) => market
                .with_params(&HyperliquidParams { slippage_bps })
                .expect("params"),
        }
    };
    // The middle is 60000.5.
    let buy = posted(market(Side::Buy, None)).await;
    assert_eq!(
        (&buy["p"], &buy["t"]["limit"]["tif"]),
        (&json!("63000"), &json!("Ioc"))
    );
    let sell = posted(market(Side::Sell, Some(1))).await;
    assert_eq!(sell["p"], "59995");
    let venue = Venue::start().await;
    let refused = refusal(&venue, market(Side::Buy, Some(0))).await;
    assert!(refused.to_string().contains("slippage_bps"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dex_of_a_builder_is_listed_and_not_traded() {
    let venue = Venue::start().await;
    let refused = refusal(&venue, limit("test:COIN", "1", "60000")).await;
    assert!(
        matches!(refused, PrepareError::UnknownSymbol { .. }),
        "it was not asked for"
    );
}

async fn start(venue: &Venue, config: Hyperliquid) -> VenueError {
    let store = store();
    let recovered = surefill_core::Cold::over(store)
        .venue("v", config)
        .recover()
        .await;
    assert!(venue.posted("order").is_empty());
    match recovered.expect_err("refused") {
        RecoverError::Venue { error, .. } => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_known_by_its_account_and_never_by_itself() {
    let venue = Venue::start().await;
    let agent = keys().signer();
    let master = Address::from_bytes([7; 20]);
    let role = json!({"role": "agent", "data": {"user": master.to_string()}});
    venue.book().roles = HashMap::from([(agent, role)]);
    let named = |account: &str| {
        let keys = keys().for_account(account).expect("an address");
        Hyperliquid::simulator(&venue.url, keys).without_stream()
    };
    let refused = start(&venue, named(&agent.to_string())).await;
    assert!(
        refused.to_string().contains("is the address of an agent"),
        "{refused}"
    );
    let engine = engine_with(config(&venue), &store()).await;
    let placed = engine.place(intent(0)).await.expect("placed");
    let account = crate::world::row(&placed).account;
    assert_eq!(account.as_str(), format!("hyperliquid:simulator:{master}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_nobody_approved_and_a_vault_that_is_none_are_refused() {
    let venue = Venue::start().await;
    venue.book().roles = HashMap::from([(keys().signer(), json!({"role": "missing"}))]);
    let refused = start(&venue, config(&venue)).await;
    assert!(
        refused.to_string().contains("no account has approved it"),
        "{refused}"
    );
    venue.book().roles.clear();
    let vault = keys()
        .for_vault(&format!("0x{}", "ab".repeat(20)))
        .expect("an address");
    let refused = start(&venue, Hyperliquid::simulator(&venue.url, vault)).await;
    assert!(
        refused
            .to_string()
            .contains("neither a vault nor a sub-account"),
        "{refused}"
    );
}

/// A clock that was two days ahead has moved the journal's mark: the venue would refuse each nonce, so none is sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_nonce_too_far_ahead_is_not_sent() {
    let (venue, store) = (Venue::start().await, store());
    let scope = config(&venue).nonce_scope().expect("a scope");
    let ahead = now() + 2 * 24 * 60 * 60 * 1_000;
    store.reserve(&scope, ahead, 1).await.expect("reserved");
    let engine = engine(&venue, &store).await;
    let refused = engine.place(intent(0)).await.expect_err("refused");
    let PlaceError::Prepare(why) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.to_string().contains("too far ahead"), "{why}");
    assert!(venue.posted("order").is_empty());
}

#[test]
fn keys_that_are_none_are_refused_and_never_shown() {
    let short = &KEY[..40];
    assert_eq!(Keys::new(short).expect_err("short"), KeyError::Length(19));
    assert_eq!(Keys::new("zz").expect_err("no hex"), KeyError::NotHex);
    let shown = format!("{:?}", Hyperliquid::testnet(keys()));
    assert!(!shown.contains(&KEY[2..20]), "{shown}");
    assert!(shown.contains("[redacted]"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_real_networks_keep_their_numbers_and_addresses() {
    let venue = Venue::start().await;
    assert_eq!(Hyperliquid::mainnet(keys()).network(), Network::Mainnet);
    for config in [
        Hyperliquid::mainnet(keys()).with_timing(Timing {
            drain_ms: 1,
            ..Timing::default()
        }),
        Hyperliquid::testnet(keys()).with_ws_url("ws://127.0.0.1:1/ws"),
        Hyperliquid::simulator("ftp://x", keys()),
    ] {
        let refused = start(&venue, config).await;
        assert!(matches!(refused, VenueError::Config(_)), "{refused}");
    }
}
