//! Many orders at once, with faults by seed.

use std::time::{Duration, SystemTime};

use surefill_core::{Cold, OrdState};
use surefill_referee::{Bot, insist, judge, settled};
use tokio::task::JoinSet;

use crate::stage::{ALIAS, Fate, Stage};

const ORDERS: usize = 20;

/// Splitmix64: enough to choose faults by.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        let n = u64::try_from(all.len()).expect("few");
        all[usize::try_from(self.next() % n).expect("few")]
    }
}

const CREATES: [(&str, u64); 12] = [
    ("refuse", 0),
    ("reset_before", 0),
    ("reset_after", 0),
    ("reset_after", 900),
    ("hold", 150),
    ("hold", 900),
    ("drop_answer", 0),
    ("status:504", 0),
    ("act_then_status:504", 0),
    ("truncate", 0),
    ("throttle", 0),
    ("duplicate", 100),
];

const LOOKUPS: [&str; 5] = [
    "status:502",
    "reset_before",
    "garbage",
    "throttle",
    "truncate",
];

#[tokio::test]
async fn each_of_many_is_placed_once() {
    let by_clock = SystemTime::UNIX_EPOCH.elapsed().expect("a clock");
    let seed = u64::from(by_clock.subsec_nanos());
    // Whichever fails prints its seed; put it here to see it again.
    eprintln!("seeds 7 and {seed}");
    tokio::join!(run(7, false), run(seed, true));
}

async fn run(seed: u64, streams: bool) {
    let mut dice = Dice(seed);
    let stage = Stage::with_stream(streams).await;
    let venue = stage.venue().with_poll(Duration::from_millis(500));
    let cold = Cold::new(stage.open().await)
        .venue(ALIAS, venue)
        .doubt_blocks_at_the_cap();
    let bot = Bot::start(cold).await.expect("recovered");
    let mut placing = JoinSet::new();
    for n in 0..ORDERS {
        let fate = dice.of(&[Fate::Rests, Fate::Fills]);
        let mut intent = stage.intent(&format!("s-{n}"), fate).await;
        intent.decision.nonce = u32::try_from(n).expect("few");
        if dice.next().is_multiple_of(2) {
            let (doing, ms) = dice.of(&CREATES);
            stage.fault("create", doing, ms).await;
        }
        if dice.next().is_multiple_of(3) {
            stage.fault("lookup", dice.of(&LOOKUPS), 0).await;
        }
        placing.spawn(insist(bot.engine(), intent));
    }
    for order in placing.join_all().await {
        settled(&order).await;
    }
    stage.no_more_faults().await;
    let last = stage.requests("create").await;
    let at = last.last().expect("creates")["at_ms"].as_u64().expect("ms");
    stage.reach(at + 1_250).await;
    let ledger = judge(&stage, bot).await;
    for n in 0..ORDERS {
        let row = ledger.one_order(&format!("s-{n}"));
        assert!(
            matches!(row.state, OrdState::Acked | OrdState::Filled),
            "{row:?}"
        );
    }
    assert_eq!(stage.orders().await, ORDERS, "seed {seed}");
}
