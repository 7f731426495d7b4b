//! The quickstart of the README: one order on a simulated Bybit, placed exactly once.

use std::time::Duration;

use surefill_bybit::Bybit;
use surefill_core::{Amount, Cold, Decision, OrderIntent, Placement, Side};
use surefill_examples::simulated_keys;
use surefill_store_sqlite::SqliteStore;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let simulator = surefill_sim::bybit::start(surefill_sim::bybit::Config::default()).await?;
    let folder = tempfile::tempdir()?;
    let journal = folder.path().join("orders.db");

    // README: begin
    let store = SqliteStore::open(&journal)?;
    let venue = Bybit::simulator(&simulator.url(), simulated_keys()?); // or Bybit::testnet(keys)
    let (engine, _report) = Cold::new(store)
        .venue("bybit-main", venue)
        .recover()
        .await?;

    let signal_ms = engine
        .venue_time(&"bybit-main".into())
        .ok_or("the venue was not heard")?
        .as_ms();
    let decision = Decision::new("grid-7", signal_ms); // keep signal_ms: a retry passes it again
    let amount = Amount::Base("0.03".parse()?);
    let intent = OrderIntent::limit(
        decision,
        "bybit-main",
        "BTCUSDT",
        Side::Buy,
        amount,
        "60100".parse()?,
    );
    match engine.place(intent).await? {
        Placement::Live(order) => show("works", &order.done().await),
        Placement::Done(order) => show("done", order.record()),
        Placement::Unknown(order) => show("was in doubt", &order.settled().await),
    }
    engine.shutdown(Duration::from_secs(5)).await?;
    // README: end

    simulator.shutdown().await;
    Ok(())
}

#[allow(
    clippy::print_stdout,
    reason = "a program that shows what became of its order"
)]
fn show(what: &str, row: &surefill_core::OrderRecord) {
    println!(
        "{what}: {} is {}, {} filled",
        row.id, row.state, row.cum_qty
    );
}
