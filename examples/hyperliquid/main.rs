//! Places one order on Hyperliquid, follows it, and cancels it.
//!
//! On a simulated venue that it starts itself, or on the one at `--url`; with `--testnet` on the testnet, with the key from `HYPERLIQUID_KEY`,
//! and the account that it trades for from `HYPERLIQUID_ACCOUNT` where the key is an agent's. `--dry-run` sends no order and prints the signed
//! request.
//!
//! Exit code 0 when the order ended, 2 for what is wrong from the start (flags, keys, terms), 7 where the venue cannot be reached, 5 under a
//! halt, 1 otherwise.
#![allow(
    clippy::print_stdout,
    reason = "a program that shows what becomes of its order"
)]

use std::process::ExitCode;

use clap::Parser;
use surefill_examples::{
    Failed, HYPERLIQUID_SHORT, HYPERLIQUID_SIMULATED_KEY, Terms, exit, trade, unsent, variable,
};
use surefill_hyperliquid::{Hyperliquid, Keys, id};

#[derive(Debug, Parser)]
#[command(about = "Places one order on Hyperliquid, follows it, and cancels it.")]
struct Args {
    /// Trade on the testnet, with the key from HYPERLIQUID_KEY, and the account from HYPERLIQUID_ACCOUNT where it is an agent's.
    #[arg(long, conflicts_with = "url")]
    testnet: bool,
    /// Trade on the simulated venue at this address, such as http://127.0.0.1:7001, instead of starting one.
    #[arg(long)]
    url: Option<String>,
    /// Print the signed request and send no order. What must be known of the venue is read.
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
async fn main() -> ExitCode {
    exit(run(&Args::parse()).await)
}

async fn run(args: &Args) -> Result<(), Failed> {
    if args.testnet {
        let mut keys = Keys::new(&variable("HYPERLIQUID_KEY")?)
            .map_err(|error| Failed::Usage(format!("HYPERLIQUID_KEY: {error}")))?;
        if let Ok(account) = variable("HYPERLIQUID_ACCOUNT") {
            let named = keys.for_account(&account);
            keys = named.map_err(|error| Failed::Usage(format!("HYPERLIQUID_ACCOUNT: {error}")))?;
        }
        return with(args, Hyperliquid::testnet(keys)).await;
    }
    let keys = Keys::new(HYPERLIQUID_SIMULATED_KEY).map_err(Failed::usage)?;
    if let Some(url) = &args.url {
        return with(args, Hyperliquid::simulator(url, keys)).await;
    }
    let config = surefill_sim::hyperliquid::Config::default();
    let simulator = surefill_sim::hyperliquid::start(config).await;
    let simulator = simulator.map_err(Failed::other)?;
    let venue = Hyperliquid::simulator(&simulator.url(), keys).with_timing(HYPERLIQUID_SHORT);
    let ended = with(args, venue).await;
    simulator.shutdown().await;
    ended
}

async fn with(args: &Args, mut venue: Hyperliquid) -> Result<(), Failed> {
    let terms = Terms {
        venue: "hyperliquid",
        symbol: args.symbol.clone(),
        qty: args.qty.clone(),
        price: args.price.clone(),
    };
    if args.no_stream {
        venue = venue.without_stream();
    }
    if args.dry_run {
        return dry_run(&terms, venue).await;
    }
    trade(&terms, venue).await
}

/// Prints the request that would be sent. A signature is no secret, and until it expires it is as good as the order.
async fn dry_run(terms: &Terms, venue: Hyperliquid) -> Result<(), Failed> {
    let unsent = unsent(terms, venue).await?;
    let wire = String::from_utf8(unsent.attempt.wire).map_err(Failed::other)?;
    let mut lines = wire.splitn(3, '\n');
    let (signer, account) = (lines.next(), lines.next());
    println!(
        "order {}, at the venue {}",
        unsent.id,
        id::spell(&unsent.id)
    );
    println!("signer {}", signer.unwrap_or_default());
    println!("account {}", account.unwrap_or_default());
    println!("POST /exchange");
    println!("Content-Type: application/json");
    println!("\n{}", lines.next().unwrap_or_default());
    println!("\nfence {:?}: nothing was sent", unsent.attempt.fence);
    Ok(())
}
