//! The quickstart of the README: one order on a simulated Bybit, placed exactly once.

use std::time::Duration;

use surefill_bybit::Bybit;
use surefill_core::{Amount, Cold, Decision, OrderIntent, OrderRecord, Placement, Side};
use surefill_examples::{now_at, simulated_keys};
use surefill_store_sqlite::SqliteStore;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let simulator = surefill_sim::bybit::start(surefill_sim::bybit::Config::default()).await?;
    let url = simulator.url();
    let folder = tempfile::tempdir()?;
    let journal = folder.path().join("orders.db");
    // A real signal carries its own time. This one comes now.
    let signal_ms = now_at(&simulator).await?;

    // README: begin
    let store = SqliteStore::open(&journal)?;
    let venue = Bybit::simulator(&url, simulated_keys()?); // or Bybit::testnet(keys)
    let (engine, _) = Cold::new(store).venue("bybit", venue).recover().await?;

    let decision = Decision::new("grid-7", signal_ms); // the same decision is the same order
    let (qty, px) = (Amount::Base("0.03".parse()?), "60100".parse()?);
    let intent = OrderIntent::limit(decision, "bybit", "BTCUSDT", Side::Buy, qty, px);
    match engine.place(intent).await? {
        Placement::Live(order) => show("worked", &order.done().await),
        Placement::Done(order) => show("done at once", order.record()),
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
fn show(what: &str, row: &OrderRecord) {
    println!(
        "{what}: {} is {}, {} filled",
        row.id, row.state, row.cum_qty
    );
}
