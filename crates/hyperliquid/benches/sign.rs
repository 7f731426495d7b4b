//! What it takes to sign an order beyond the signature itself: `cargo bench -p surefill-hyperliquid`.
//!
//! Both are timed in turns in one run, so that whatever else the machine does falls on both. It prints the median of each and their
//! ratio, and fails when the ratio is above the budget.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark: it shows what it measured with the system's clock, and panics where it cannot"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use surefill_evm::{Digest, SecretKey, keccak256};
use surefill_hyperliquid::action::{Limit, Order, OrderItem, Tif};
use surefill_hyperliquid::sign::{Source, Terms, signed_body};

const KEY: &str = "0x0123456789012345678901234567890123456789012345678901234567890123";
const TURNS: u64 = 4_000;
/// Budget of the ratio, in hundredths.
const BUDGET: u128 = 125;

fn order(n: u64) -> Order {
    Order::new(vec![OrderItem {
        a: 1,
        b: true,
        p: "2400.5".to_owned(),
        s: "0.02".to_owned(),
        r: false,
        t: Limit::new(Tif::Gtc),
        c: Some(format!("0x5f01{n:028x}")),
    }])
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed()
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn main() {
    let key = SecretKey::from_hex(KEY).expect("a key");
    let (mut bare, mut whole) = (Vec::new(), Vec::new());
    for n in 0..TURNS {
        let digest = Digest::from_bytes(keccak256(n.to_be_bytes()));
        let order = order(n);
        let terms = Terms {
            nonce: 1_791_480_000_000 + n,
            vault: None,
            expires_after: Some(1_791_480_015_000 + n),
        };
        let alone = || timed(|| key.sign(black_box(&digest)).expect("signed"));
        let with_order = || {
            timed(|| signed_body(&key, Source::Testnet, black_box(&order), &terms).expect("signed"))
        };
        // Whichever comes second finds warmer caches, so they take turns in that, too.
        let (one, other) = if n % 2 == 0 {
            let one = alone();
            (one, with_order())
        } else {
            let other = with_order();
            (alone(), other)
        };
        // The first tenth warms up.
        if n >= TURNS / 10 {
            bare.push(one);
            whole.push(other);
        }
    }
    let (bare, whole) = (median(bare), median(whole));
    let hundredths = whole.as_nanos() * 100 / bare.as_nanos().max(1);
    println!("the signature alone          {bare:?}");
    println!("an order with a cloid        {whole:?}");
    println!(
        "ratio                        {}.{:02}",
        hundredths / 100,
        hundredths % 100
    );
    assert!(
        hundredths <= BUDGET,
        "above the budget of {BUDGET} hundredths"
    );
}
