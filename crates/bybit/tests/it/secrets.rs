//! What is secret never shows.

use std::sync::Arc;

use surefill_bybit::{Bybit, KeyError, Keys};
use surefill_core::{
    Alias, Connect, ManualTime, Rate, Submission, VenueClock, VenueCtx, VenueError,
};

use crate::server::{Asked, Reply, Server, keys};
use crate::world::{World, listing, timing};

const SECRETS: [&str; 2] = ["SUREFILLFAKEKEY001", "fakefakefakefakefakefakefakefake0001"];

fn assert_hidden(text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn neither_key_nor_signature_shows_in_what_is_printed() {
    assert_hidden(&format!("{:?}", keys()));
    assert!(format!("{:?}", keys()).contains("[redacted]"));
    assert_hidden(&format!(
        "{:?} {:#?}",
        Bybit::mainnet(keys()),
        Bybit::testnet(keys())
    ));
    let server = Server::start(|asked: &Asked| match asked.method.as_str() {
        "GET" => Reply::Ok(listing()),
        _ => Reply::Cut,
    })
    .await;
    let world = World::new(&server.url);
    assert_hidden(&format!("{:?}", world.venue));
    let (order, attempt) = world.order().await;
    assert_hidden(&format!(
        "{:?} {}",
        attempt,
        String::from_utf8_lossy(&attempt.wire)
    ));
    let outcome = world.venue.submit(&attempt, &world.go(attempt.fence)).await;
    assert!(matches!(outcome, Submission::Unknown(_)), "{outcome:?}");
    let signature = server.asked().pop().expect("asked").headers["x-bapi-sign"].clone();
    let printed = format!("{outcome:?} {:?}", world.venue.cancel(&order).await);
    assert_hidden(&printed);
    assert!(!printed.contains(&signature));
}

#[test]
fn keys_that_cannot_be_used_are_refused_without_being_shown() {
    let cases = [
        Keys::hmac("", SECRETS[1]),
        Keys::hmac(SECRETS[0], ""),
        Keys::hmac("SUREFILLFAKEKEY001\n", SECRETS[1]),
        Keys::rsa(SECRETS[0], "fakefakefakefakefakefakefakefake0001"),
    ];
    let expected = [
        KeyError::Empty("API key"),
        KeyError::Empty("API secret"),
        KeyError::ApiKey,
        KeyError::Pem,
    ];
    for (keys, expected) in cases.into_iter().zip(expected) {
        let error = keys.expect_err("refused");
        assert_hidden(&format!("{error:?} {error}"));
        assert_eq!(error, expected);
    }
}

#[test]
fn a_config_that_cannot_be_used_is_refused() {
    let ctx = |config: &Bybit| VenueCtx {
        alias: Alias::from("v"),
        clock: Arc::new(VenueClock::new(Arc::new(ManualTime::default()))),
        nonces: None,
        rate: Arc::new(Rate::new(config.profile().rates)),
    };
    let none = surefill_bybit::Timing {
        receive_window_ms: 0,
        ..timing()
    };
    for config in [
        Bybit::mainnet(keys()).with_timing(timing()),
        Bybit::testnet(keys()).with_poll(std::time::Duration::from_millis(1)),
        Bybit::simulator("127.0.0.1:7001", keys()),
        Bybit::simulator("http://127.0.0.1:7001", keys()).with_ws_url("http://127.0.0.1:7001"),
        Bybit::mainnet(keys()).with_ws_url("wss://stream.bybit.com.example.org"),
        Bybit::demo(keys()).with_trade_socket(),
        Bybit::simulator("http://127.0.0.1:7001", keys()).with_timing(none),
    ] {
        let ctx = ctx(&config);
        let refused = Box::new(config).connect(ctx);
        assert!(matches!(refused, Err(VenueError::Config(_))), "{refused:?}");
    }
}
