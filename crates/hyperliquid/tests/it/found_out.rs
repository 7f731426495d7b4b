//! The referee can fail: each lie of an adapter, and each wrong of a bot, is found.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use surefill_core::Scope;
use surefill_referee::{BOUND, Bot, Fate, judge_within, settled};

use crate::liar::{Liar, Lie};
use crate::stage::{ALIAS, Stage, id_of};

/// How long the referee waits for an agreement that never comes.
const SHORT: Duration = Duration::from_secs(2);

/// What the referee said when it ended the test.
async fn outcry(stage: &Stage, bot: Bot, bound: Duration) -> String {
    let judged = AssertUnwindSafe(judge_within(stage, bot, bound)).catch_unwind();
    let said = judged.await.expect_err("the referee believes it");
    let text = said.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| said.downcast_ref::<&str>().copied());
    text.expect("words").to_owned()
}

async fn liar(stage: &Stage, lie: Lie) -> Bot {
    stage.bot_at(Liar::new(stage.venue(), lie)).await
}

/// A second order for the decision is found, also when its answer is believed.
#[tokio::test]
async fn two_orders_for_a_decision() {
    let stage = Stage::without_stream().await;
    let bot = liar(&stage, Lie::LostIsNotSent).await;
    stage.fault("create", "reset_after", 0).await;
    bot.begin(stage.intent("first", Fate::Rests).await);
    stage.placed(2).await;
    let text = outcry(&stage, bot, BOUND).await;
    assert!(text.contains("two orders for"), "{text}");
}

#[tokio::test]
async fn a_state_that_is_not_the_venues() {
    let stage = Stage::without_stream().await;
    let bot = liar(&stage, Lie::LostIsRejected).await;
    stage.fault("create", "reset_after", 0).await;
    let order = bot.order(stage.intent("first", Fate::Rests).await).await;
    settled(&order).await;
    let text = outcry(&stage, bot, SHORT).await;
    assert!(text.contains("the venue"), "{text}");
}

#[tokio::test]
async fn an_end_that_never_came() {
    let stage = Stage::without_stream().await;
    let bot = liar(&stage, Lie::NotOpenIsCanceled).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let id = id_of(&intent);
    settled(&bot.order(intent).await).await;
    stage.hide(id, &surefill_referee::LISTS, 5_000).await;
    stage.fill(id, "0.010").await;
    bot.cancel(id).await.expect("asked");
    let text = outcry(&stage, bot, SHORT).await;
    assert!(text.contains("the venue says \"filled\""), "{text}");
}

#[tokio::test]
async fn fills_that_are_booked_twice_or_not_at_all() {
    for (lie, words) in [
        (Lie::FillsAreNew, "the venue executed"),
        (Lie::NoFills, "at the venue {"),
    ] {
        let stage = Stage::without_stream().await;
        let bot = liar(&stage, lie).await;
        let intent = stage.intent("first", Fate::Rests).await;
        let id = id_of(&intent);
        settled(&bot.order(intent).await).await;
        stage.fill(id, "0.004").await;
        let text = outcry(&stage, bot, SHORT).await;
        assert!(text.contains(words), "{lie:?}: {text}");
    }
}

#[tokio::test]
async fn a_send_under_a_halt() {
    let stage = Stage::without_stream().await;
    let bot = stage.bot().await;
    let halted = bot.engine().halt(Scope::venue(ALIAS), "breaker").await;
    halted.expect("halted");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let intent = stage.intent("first", Fate::Rests).await;
    let placed = bot.place_despite_halt(intent, "the tests").await;
    settled(placed.expect("placed").order()).await;
    let text = outcry(&stage, bot, BOUND).await;
    assert!(text.contains("sent under"), "{text}");
}

/// The journal of one bot knows nothing of what another one sent.
#[tokio::test]
async fn an_order_that_was_not_journaled() {
    let stage = Stage::without_stream().await;
    let other = Stage::without_stream().await;
    let bot = stage.bot().await;
    let stranger = other.bot_at(stage.venue()).await;
    settled(
        &stranger
            .order(stage.intent("first", Fate::Rests).await)
            .await,
    )
    .await;
    stranger.shutdown().await.expect("stopped");
    let text = outcry(&stage, bot, SHORT).await;
    assert!(text.contains("that the journal lacks"), "{text}");
}
