//! Where a probe may run.

use surefill_bybit::{Bybit, Category};
use surefill_probe::{Network, Options, ProbeError, probe};
use tokio_util::sync::CancellationToken;

use crate::liar::{Liar, Lie};
use crate::world::{World, keys};

#[tokio::test]
async fn a_mainnet_is_refused_before_anything_is_sent() {
    let options = Options {
        yes: true,
        ..Options::new("real", Network::Mainnet)
    };
    let connect = Box::new(Bybit::mainnet(keys()));
    let error = probe(connect, options, &CancellationToken::new()).await;
    assert!(matches!(error, Err(ProbeError::Mainnet(name)) if name == "real"));
}

#[tokio::test]
async fn a_testnet_asks_first() {
    let options = Options::new("test", Network::Testnet);
    let connect = Box::new(Bybit::testnet(keys()));
    let error = probe(connect, options, &CancellationToken::new()).await;
    assert!(matches!(error, Err(ProbeError::NotConfirmed(name)) if name == "test"));
}

/// The configuration may be wrong: the account's name has the last word.
#[tokio::test]
async fn an_account_on_a_mainnet_is_refused_before_anything_is_placed() {
    let world = World::new().await;
    let inner = world.bybit(Category::Linear);
    let lie = Lie {
        network: Some("mainnet"),
        ..Lie::NONE
    };
    let error = world.probe(Liar { inner, lie }).await;
    assert!(matches!(error, Err(ProbeError::Mainnet(_))));
    assert_eq!(world.creates().await, 0);
}

#[tokio::test]
async fn a_symbol_that_is_not_listed_is_named() {
    let world = World::new().await;
    let options = Options {
        symbol: Some("NOPEUSDT".into()),
        ..world.options()
    };
    let connect = Box::new(world.bybit(Category::Linear));
    let error = probe(connect, options, &CancellationToken::new()).await;
    assert!(matches!(error, Err(ProbeError::NotListed(name)) if name == "NOPEUSDT"));
}
