//! Places one order on Bybit, follows it, and cancels it.
//!
//! On a simulated venue that it starts itself; with `--testnet` on the testnet, with keys from `BYBIT_API_KEY` and
//! `BYBIT_API_SECRET`. `--dry-run` sends no order and prints the request that would be sent, without what is secret.
#![allow(
    clippy::print_stdout,
    reason = "a program that shows what becomes of its order"
)]

use std::process::ExitCode;

use clap::Parser;
use surefill_bybit::{Bybit, Category, Keys, id};
use surefill_examples::{Failed, SHORT, Terms, exit, simulated_keys, trade, unsent, variable};

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
async fn main() -> ExitCode {
    exit(run(&Args::parse()).await)
}

async fn run(args: &Args) -> Result<(), Failed> {
    if args.testnet {
        let (key, secret) = (variable("BYBIT_API_KEY")?, variable("BYBIT_API_SECRET")?);
        let keys = Keys::hmac(key, secret).map_err(Failed::usage)?;
        return with(args, Bybit::testnet(keys)).await;
    }
    let simulator = surefill_sim::bybit::start(surefill_sim::bybit::Config::default()).await;
    let simulator = simulator.map_err(Failed::other)?;
    let keys = simulated_keys().map_err(Failed::usage)?;
    let venue = Bybit::simulator(&simulator.url(), keys).with_timing(SHORT);
    let ended = with(args, venue).await;
    simulator.shutdown().await;
    ended
}

async fn with(args: &Args, mut venue: Bybit) -> Result<(), Failed> {
    let terms = Terms {
        venue: "bybit",
        symbol: args.symbol.clone(),
        qty: args.qty.clone(),
        price: args.price.clone(),
    };
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
        return dry_run(&terms, venue).await;
    }
    trade(&terms, venue).await
}

/// Prints the request that would be sent, without what is secret.
async fn dry_run(terms: &Terms, venue: Bybit) -> Result<(), Failed> {
    let unsent = unsent(terms, venue).await?;
    let wire = String::from_utf8(unsent.attempt.wire).map_err(Failed::other)?;
    let mut lines = wire.splitn(3, '\n');
    let (at, window) = (lines.next(), lines.next());
    println!(
        "order {}, at the venue {}",
        unsent.id,
        id::spell(&unsent.id)
    );
    println!("POST /v5/order/create");
    println!("X-BAPI-API-KEY: [redacted]");
    println!("X-BAPI-TIMESTAMP: {}", at.unwrap_or_default());
    println!("X-BAPI-RECV-WINDOW: {}", window.unwrap_or_default());
    println!("X-BAPI-SIGN: [redacted]");
    println!("Content-Type: application/json");
    println!("\n{}", lines.next().unwrap_or_default());
    println!("\nfence {:?}: nothing was sent", unsent.attempt.fence);
    Ok(())
}
