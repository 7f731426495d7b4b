//! Places one order on Hyperliquid, follows it, and cancels it.
//!
//! On a simulated venue that it starts itself; with `--testnet` on the testnet, with the key from `HYPERLIQUID_KEY`, and the account that it trades
//! for from `HYPERLIQUID_ACCOUNT` where the key is an agent's. `--dry-run` sends no order and prints the signed request.
#![allow(
    clippy::print_stdout,
    reason = "a program that shows what becomes of its order"
)]

use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use surefill_core::{
    Alias, Amount, BootTime, ClOrdId, Cold, Connect, Decision, Journal, MemoryStore, Nonces,
    OrderIntent, Placement, Rate, Side, Ticket, VenueClock, VenueCtx, VenueTime,
};
use surefill_examples::{HYPERLIQUID_SHORT, HYPERLIQUID_SIMULATED_KEY};
use surefill_hyperliquid::{Hyperliquid, Keys, id};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const VENUE: &str = "hyperliquid";

#[derive(Debug, Parser)]
#[command(about = "Places one order on Hyperliquid, follows it, and cancels it.")]
struct Args {
    /// Trade on the testnet, with the key from HYPERLIQUID_KEY, and the account from HYPERLIQUID_ACCOUNT where it is an agent's.
    #[arg(long)]
    testnet: bool,
    /// Print the signed request and send no order.
    #[arg(long)]
    dry_run: bool,
    /// Ask for the order instead of following the stream.
    #[arg(long)]
    no_stream: bool,
    /// The instrument: a perpetual such as BTC, or a spot pair such as PURR/USDC.
    #[arg(long, default_value = "BTC")]
    symbol: String,
    /// How much.
    #[arg(long, default_value = "0.001")]
    qty: String,
    /// The limit price: far from the market, so that there is something to cancel.
    #[arg(long, default_value = "50000")]
    price: String,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let args = Args::parse();
    if args.testnet {
        let key = std::env::var("HYPERLIQUID_KEY").map_err(|_| "HYPERLIQUID_KEY is not set")?;
        let mut keys = Keys::new(&key)?;
        if let Ok(account) = std::env::var("HYPERLIQUID_ACCOUNT") {
            keys = keys.for_account(&account)?;
        }
        return trade(&args, Hyperliquid::testnet(keys)).await;
    }
    let config = surefill_sim::hyperliquid::Config::default();
    let simulator = surefill_sim::hyperliquid::start(config).await?;
    let keys = Keys::new(HYPERLIQUID_SIMULATED_KEY)?;
    let venue = Hyperliquid::simulator(&simulator.url(), keys).with_timing(HYPERLIQUID_SHORT);
    trade(&args, venue).await?;
    simulator.shutdown().await;
    Ok(())
}

async fn trade(args: &Args, mut venue: Hyperliquid) -> Result<(), Failure> {
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

/// Builds the request as the engine would, and prints it. A signature is no secret, and until it expires it is as good as the order.
async fn dry_run(args: &Args, venue: Hyperliquid) -> Result<(), Failure> {
    let clock = Arc::new(VenueClock::new(Arc::new(BootTime)));
    let store = Arc::new(MemoryStore::new(VenueTime::from_ms(0)));
    let scope = venue.nonce_scope().ok_or("there is no scope of nonces")?;
    let nonces = Arc::new(Nonces::new(Journal::new(store), scope));
    let ctx = VenueCtx {
        alias: Alias::from(VENUE),
        clock: Arc::clone(&clock),
        nonces: Some(Arc::clone(&nonces)),
        rate: Arc::new(Rate::new(venue.profile().rates)),
    };
    let venue = Box::new(venue).connect(ctx)?;
    let now = venue.venue_time().await?;
    let intent = intent(args, now)?;
    let account = venue.account().await?;
    let facts = venue.facts(&intent).await?;
    let ticket = Ticket {
        no: 1,
        now,
        nonce: Some(nonces.next(now).await?),
        facts,
    };
    let order_id = ClOrdId::derive(&intent.decision, &account, &intent.symbol, intent.side);
    let attempt = venue.prepare(&order_id, &intent, &ticket)?;
    let wire = String::from_utf8(attempt.wire.clone())?;
    let mut lines = wire.splitn(3, '\n');
    let (signer, account) = (lines.next(), lines.next());
    println!("order {order_id}, at the venue {}", id::spell(&order_id));
    println!("signer {}", signer.unwrap_or_default());
    println!("account {}", account.unwrap_or_default());
    println!("POST /exchange");
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
