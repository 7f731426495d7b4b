//! Nonces: one for each signature, whoever asks at once, and in whatever process.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use surefill_core::{
    Cold, Connect, ManualTime, NonceScope, OrdState, Rates, TimeSource, Venue, VenueCtx,
    VenueError, VenueProfile,
};
use surefill_evm::SecretKey;
use surefill_hyperliquid::Hyperliquid;
use surefill_hyperliquid::action::Noop;
use surefill_hyperliquid::sign::{self, Source, Terms};
use surefill_referee::{Bot, Fate, insist, judge, settled};
use surefill_transport::{HttpClient, HttpConfig, Method, Request};
use tokio::task::JoinSet;

use super::{becomes, sent, signed};
use crate::book::KEY;
use crate::stage::{ALIAS, Stage};

/// A hundred sends while neither clock moves, by two bots one after the other: no two share a nonce, so that none is refused.
#[tokio::test]
async fn scenario_21_a_hundred_sends_in_one_millisecond() {
    let stage = Stage::without_stream().await;
    stage.post("/clock", json!({"rate": "0"})).await;
    let time: Arc<ManualTime> = Arc::default();
    let mut names = Vec::new();
    for process in 0..2 {
        let bot = frozen(&stage, &time).await;
        let mut placing = JoinSet::new();
        for n in 0..50 {
            let name = format!("{process}-{n}");
            let intent = stage.intent(&name, Fate::Rests).await;
            placing.spawn(insist(bot.engine(), intent));
            names.push(name);
        }
        for order in placing.join_all().await {
            assert_eq!(settled(&order).await.state, OrdState::Acked);
        }
        bot.crash();
    }
    let ledger = judge(&stage, frozen(&stage, &time).await).await;
    for name in &names {
        assert_eq!(ledger.one_order(name).attempts.len(), 1);
    }
    let at: Vec<Value> = stage.requests("create").await;
    assert!(
        at.iter().all(|row| row["at_ms"] == at[0]["at_ms"]),
        "{at:?}"
    );
    assert_eq!(stage.orders().await, 100);
    sent(&stage, 100).await;
    ledger.never_halted();
}

/// A bot whose clock stands still.
async fn frozen(stage: &Stage, time: &Arc<ManualTime>) -> Bot {
    let time: Arc<dyn TimeSource> = Arc::<ManualTime>::clone(time);
    let cold = Cold::new(stage.open().await)
        .venue(ALIAS, Unmetered(stage.venue()))
        .time(time);
    Bot::start(cold).await.expect("recovered")
}

/// The adapter with a profile that admits as many creates as come.
#[derive(Debug)]
struct Unmetered(Hyperliquid);

impl Connect for Unmetered {
    fn nonce_scope(&self) -> Option<NonceScope> {
        self.0.nonce_scope()
    }

    fn profile(&self) -> VenueProfile {
        let profile = self.0.profile();
        let rates = Rates {
            create: NonZeroU32::new(1_000).expect("not zero"),
            ..profile.rates
        };
        VenueProfile { rates, ..profile }
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        Box::new(self.0).connect(ctx)
    }
}

/// Another program with the same key used up the nonces of the moment. What the venue says then is also what it says of a copy, so the
/// order is neither failed at once nor signed again: it ends as rejected once nothing can show it any more, and the next one is placed.
#[tokio::test]
async fn scenario_21_a_nonce_that_another_used() {
    let stage = Stage::without_stream().await;
    stage.post("/clock", json!({"rate": "0"})).await;
    let time: Arc<ManualTime> = Arc::default();
    let bot = frozen(&stage, &time).await;
    let now = stage.now_ms().await;
    for nonce in now..now + 20 {
        use_up(&stage, nonce).await;
    }
    let order = bot.order(stage.intent("first", Fate::Rests).await).await;
    assert!(order.latest().state.is_doubt(), "{:?}", order.latest());
    assert!(
        order.latest().attempts[0].bytes_known,
        "{:?}",
        order.latest()
    );
    // Both clocks go on.
    stage.post("/clock", json!({"rate": "1"})).await;
    let going = tokio::spawn(async move {
        loop {
            tokio::time::sleep(STEP).await;
            time.advance(STEP);
        }
    });
    becomes(&order, OrdState::Rejected).await;
    signed(&stage, 1).await;
    let next = insist(bot.engine(), stage.intent("next", Fate::Rests).await).await;
    assert_eq!(settled(&next).await.state, OrdState::Acked);
    let ledger = judge(&stage, bot).await;
    going.abort();
    ledger.no_order("first", OrdState::Rejected);
    ledger.one_order("next");
    assert_eq!(stage.orders().await, 1);
    signed(&stage, 2).await;
    ledger.never_halted();
}

/// In such steps the clock goes on.
const STEP: Duration = Duration::from_millis(10);

/// Signs a noop with the bot's key.
async fn use_up(stage: &Stage, nonce: u64) {
    let key = hex::decode(&KEY[2..]).expect("hex");
    let key = SecretKey::from_bytes(&key).expect("a key");
    let terms = Terms {
        nonce,
        vault: None,
        expires_after: None,
    };
    let body = sign::signed_body(&key, Source::Testnet, &Noop::NEW, &terms).expect("signed");
    let http = HttpClient::new(HttpConfig::default()).expect("a client");
    let request = Request::new(Method::Post, format!("{}/exchange", stage.sim.url()))
        .header("content-type", "application/json")
        .body(body);
    let answer = http.send(request, None).await.expect("answered");
    let answer = String::from_utf8_lossy(answer.body()).into_owned();
    assert!(answer.contains("\"ok\""), "{answer}");
}
