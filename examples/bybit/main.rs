//! Places one order on Bybit, follows it, and cancels it.
//!
//! On a simulated venue that it starts itself; with `--testnet` on the testnet, with keys from `BYBIT_API_KEY` and
//! `BYBIT_API_SECRET`. `--dry-run` sends no order and prints the request that would be sent, without what is secret.
#![allow(
    clippy::print_stdout,
    reason = "a program that shows what becomes of its order"
)]

use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use surefill_bybit::{Bybit, Category, Keys, id};
use surefill_core::{
    Alias, Amount, BootTime, ClOrdId, Cold, Connect, Decision, MemoryStore, OrderIntent, Placement,
    Rate, Side, Ticket, VenueClock, VenueCtx, VenueTime,
};
use surefill_examples::{SHORT, simulated_keys};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const VENUE: &str = "bybit";

#[derive(Debug, Parser)]
#[command(about = "Places one order on Bybit, follows it, and cancels it.")]
struct Args {
    /// Trade on the testnet, with keys from BYBIT_API_KEY and BYBIT_API_SECRET.
    #[arg(long)]
    testnet: bool,
    /// Print the signed request, without what is secret, and send no order.
    #[arg(long)]
    dry_run: bool,
    /// Trade spot instead of linear contracts.
    #[arg(long)]
    spot: bool,
    /// Send creates and cancels over the trade socket.
    #[arg(long)]
    trade_socket: bool,
    /// Ask for the order instead of following the private stream.
    #[arg(long)]
    no_stream: bool,
    /// The instrument.
    #[arg(long, default_value = "BTCUSDT")]
    symbol: String,
    /// How much.
    #[arg(long, default_value = "0.03")]
    qty: String,
    /// The limit price: far from the market, so that there is something to cancel.
    #[arg(long, default_value = "50000")]
    price: String,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let args = Args::parse();
    if args.testnet {
        let secret = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
        let keys = Keys::hmac(secret("BYBIT_API_KEY")?, secret("BYBIT_API_SECRET")?)?;
        return trade(&args, Bybit::testnet(keys)).await;
    }
    let simulator = surefill_sim::bybit::start(surefill_sim::bybit::Config::default()).await?;
    let venue = Bybit::simulator(&simulator.url(), simulated_keys()?).with_timing(SHORT);
    trade(&args, venue).await?;
    simulator.shutdown().await;
    Ok(())
}

async fn trade(args: &Args, mut venue: Bybit) -> Result<(), Failure> {
    if args.spot {
        venue = venue.with_category(Category::Spot);
    }
    if args.trade_socket {
        venue = venue.with_trade_socket();
    }
    if args.no_stream {
        venue = venue.without_stream();
    }
    if args.dry_run {
        return dry_run(args, venue).await;
    }
    let store = MemoryStore::new(VenueTime::from_ms(0));
    let cold = Cold::new(store).venue(VENUE, venue);
    let (engine, _report) = cold.recover().await?;
    let now = engine.venue_time(&VENUE.into());
    let intent = intent(args, now.ok_or("the venue was not heard")?)?;
    match engine.place(intent).await? {
        Placement::Live(order) => {
            show("works", order.record());
            let row = engine.cancel(order.id()).await?;
            show("cancel asked", &row);
            show("ended", &order.done().await);
        }
        Placement::Done(order) => show("done", order.record()),
        Placement::Unknown(order) => show("was in doubt", &order.settled().await),
    }
    engine.shutdown(Duration::from_secs(5)).await?;
    Ok(())
}

fn intent(args: &Args, now: VenueTime) -> Result<OrderIntent, Failure> {
    Ok(OrderIntent::limit(
        Decision::new("example", now.as_ms()),
        VENUE,
        &*args.symbol,
        Side::Buy,
        Amount::Base(args.qty.parse()?),
        args.price.parse()?,
    ))
}

/// Builds the request as the engine would, and prints it.
async fn dry_run(args: &Args, venue: Bybit) -> Result<(), Failure> {
    let clock = Arc::new(VenueClock::new(Arc::new(BootTime)));
    let ctx = VenueCtx {
        alias: Alias::from(VENUE),
        clock: Arc::clone(&clock),
        nonces: None,
        rate: Arc::new(Rate::new(venue.profile().rates)),
    };
    let venue = Box::new(venue).connect(ctx)?;
    let now = venue.venue_time().await?;
    let intent = intent(args, now)?;
    let facts = venue.facts(&intent).await?;
    let ticket = Ticket {
        no: 1,
        now,
        nonce: None,
        facts,
    };
    let account = venue.account().await?;
    let order_id = ClOrdId::derive(&intent.decision, &account, &intent.symbol, intent.side);
    let attempt = venue.prepare(&order_id, &intent, &ticket)?;
    let wire = String::from_utf8(attempt.wire.clone())?;
    let mut lines = wire.splitn(3, '\n');
    let (at, window) = (lines.next(), lines.next());
    println!("order {order_id}, at the venue {}", id::spell(&order_id));
    println!("POST /v5/order/create");
    println!("X-BAPI-API-KEY: [redacted]");
    println!("X-BAPI-TIMESTAMP: {}", at.unwrap_or_default());
    println!("X-BAPI-RECV-WINDOW: {}", window.unwrap_or_default());
    println!("X-BAPI-SIGN: [redacted]");
    println!("Content-Type: application/json");
    println!("\n{}", lines.next().unwrap_or_default());
    println!("\nfence {:?}: nothing was sent", attempt.fence);
    Ok(())
}

fn show(what: &str, row: &surefill_core::OrderRecord) {
    println!(
        "{what}: {} is {}, {} filled",
        row.id, row.state, row.cum_qty
    );
}
