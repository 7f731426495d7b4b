//! What is refused before anything is sent, and what is built of the rest.

use std::collections::HashMap;

use rust_decimal::Decimal;
use serde_json::{Value, json};
use surefill_core::{
    Amount, OrderFilter, OrderIntent, PlaceError, PrepareError, RecoverError, Side, TimeInForce,
    VenueError, VenueTime,
};
use surefill_evm::Address;
use surefill_hyperliquid::{Hyperliquid, HyperliquidParams, KeyError, Keys, Network, Timing};

use crate::book::{KEY, Venue, keys};
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

/// One row for each way in which an order is wrong: nothing is sent, and the text says what.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_wrong_with_an_order_is_named_before_anything_is_sent() {
    let venue = Venue::start().await;
    let engine = engine(&venue, &store()).await;
    let altered = |change: fn(&mut OrderIntent)| {
        let mut intent = intent(0);
        change(&mut intent);
        intent
    };
    for (name, intent, parts) in [
        (
            "six figures",
            limit("BTC", "0.03", "60000.5"),
            vec!["price 60000.5", "60000", "60001"],
        ),
        (
            "six figures below one",
            limit("ETH", "100", "0.123456"),
            vec!["price 0.123456", "0.12"],
        ),
        (
            "decimals of a perpetual",
            limit("BTC", "900", "0.15"),
            vec!["price 0.15", "0.1", "0.2"],
        ),
        (
            "decimals of a pair",
            limit("@107", "90000", "0.0012345"),
            vec!["0.0012345", "0.001234"],
        ),
        (
            "a fine size",
            limit("BTC", "0.0300001", "60000"),
            vec!["quantity 0.0300001", "0.03001"],
        ),
        (
            "a part of a whole",
            limit("PURR/USDC", "150.5", "0.2"),
            vec!["quantity 150.5", "150", "151"],
        ),
        (
            "a tiny size",
            limit("BTC", "0.000001", "60000"),
            vec!["quantity", "minimum of 0.00001"],
        ),
        (
            "a small value",
            limit("BTC", "0.0001", "60000"),
            vec!["notional 6", "minimum of 10"],
        ),
        (
            "an unknown coin",
            limit("NOCOIN", "1", "60000"),
            vec!["NOCOIN", "not traded"],
        ),
        (
            "a name of elsewhere",
            limit("HYPE/USDC", "1", "60000"),
            vec!["HYPE/USDC", "not traded"],
        ),
        (
            "a coin in lower case",
            limit("btc", "1", "60000"),
            vec!["btc", "not traded"],
        ),
        (
            "a delisted coin",
            limit("OLD", "1", "60000"),
            vec!["OLD is delisted"],
        ),
        (
            "a dex that is not listed",
            limit("test:COIN", "1", "60000"),
            vec!["test:COIN"],
        ),
        (
            "a huge value",
            limit("BTC", "79228162514264337593543950335", "60000"),
            vec!["does not fit"],
        ),
        (
            "fill or kill",
            altered(|intent| intent.time_in_force = TimeInForce::Fok),
            vec!["fok"],
        ),
        (
            "good till date",
            altered(|intent| intent.time_in_force = TimeInForce::Gtd(VenueTime::from_ms(1))),
            vec!["gtd"],
        ),
        (
            "quote money",
            altered(|intent| intent.amount = Amount::Quote("20".parse().expect("qty"))),
            vec!["quote money"],
        ),
        (
            "reduce-only on spot",
            OrderIntent {
                reduce_only: true,
                ..limit("PURR/USDC", "100", "0.2")
            },
            vec!["reduce-only on spot"],
        ),
    ] {
        let refused = engine.place(intent).await.expect_err(name);
        let PlaceError::Prepare(error) = &refused else {
            panic!("{name}: {refused:?}");
        };
        for part in parts {
            let shown = error.to_string();
            assert!(shown.contains(part), "{name}: {part} is not in {shown:?}");
        }
    }
    assert!(venue.posted("order").is_empty(), "nothing is sent");
    let orders = engine.orders(&OrderFilter::default()).await;
    assert!(orders.expect("orders").is_empty(), "and nothing journaled");
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

/// One row for each way in which keys and addresses are wrong: the start fails, and the text says what.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_wrong_with_keys_and_addresses_is_named_at_the_start() {
    let venue = Venue::start().await;
    let (signer, master) = (keys().signer(), Address::from_bytes([7; 20]));
    let (vault, text) = (
        Address::from_bytes([0xab; 20]),
        Address::from_bytes([0xab; 20]).to_string(),
    );
    let role = |role: &str| json!({"role": role});
    let agent = json!({"role": "agent", "data": {"user": master.to_string()}});
    let sub = |of: Address| json!({"role": "subAccount", "data": {"master": of.to_string()}});
    let for_account = |account: Address| keys().for_account(&account.to_string()).expect("keys");
    let for_vault = || keys().for_vault(&text).expect("keys");
    for (name, roles, keys, part) in [
        (
            "an agent that nobody approved",
            vec![(signer, role("missing"))],
            keys(),
            "no account has approved it",
        ),
        (
            "the agent for the account",
            vec![(signer, agent.clone())],
            for_account(signer),
            "is the address of an agent",
        ),
        (
            "an agent of another",
            vec![(signer, agent.clone())],
            for_account(vault),
            "the configuration names",
        ),
        (
            "another's account",
            vec![(signer, role("user"))],
            for_account(master),
            "the configuration names",
        ),
        (
            "a vault's address for a key",
            vec![(signer, role("vault"))],
            keys(),
            "has no key",
        ),
        (
            "a vault that is none",
            vec![(vault, role("missing"))],
            for_vault(),
            "neither a vault nor a sub-account",
        ),
        (
            "an account for a vault",
            vec![(vault, role("user"))],
            for_vault(),
            "neither a vault nor a sub-account",
        ),
        (
            "an agent for a vault",
            vec![(vault, agent.clone())],
            for_vault(),
            "is the address of an agent",
        ),
        (
            "another's sub-account",
            vec![(vault, sub(master))],
            for_vault(),
            "is a sub-account of",
        ),
        (
            "a role that nobody knows",
            vec![(signer, role("deity"))],
            keys(),
            "deity",
        ),
    ] {
        venue.book().roles = HashMap::from_iter(roles);
        let config = Hyperliquid::simulator(&venue.url, keys).without_stream();
        let shown = match surefill_core::Cold::over(store())
            .venue("v", config)
            .recover()
            .await
        {
            Err(RecoverError::Venue { error, .. }) => error.to_string(),
            // A role that cannot be read may be read later: the venue is halted until then.
            Ok((engine, _)) => format!("{:?}", engine.halts()),
            Err(other) => panic!("{name}: {other:?}"),
        };
        assert!(shown.contains(part), "{name}: {part} is not in {shown:?}");
    }
    assert!(venue.book().posted.is_empty(), "nothing is sent");
    for text in ["0x12", "", "main", &"ab".repeat(20)[1..]] {
        keys().for_account(text).expect_err(text);
        keys().for_vault(text).expect_err(text);
    }
}

#[test]
fn keys_that_are_none_are_refused_and_never_shown() {
    let short = &KEY[..40];
    assert_eq!(Keys::new(short).expect_err("short"), KeyError::Length(19));
    assert_eq!(Keys::new("zz").expect_err("no hex"), KeyError::NotHex);
    let long = format!("{KEY}00");
    assert_eq!(Keys::new(&long).expect_err("long"), KeyError::Length(33));
    Keys::new(&"00".repeat(32)).expect_err("zero is no key");
    Keys::new("").expect_err("nothing");
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
