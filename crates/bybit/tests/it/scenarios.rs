//! Faults that other bots met in public, each as one scenario over the wire; the number is its row in the list of reports. Lags of
//! seconds and minutes are scaled to the short timing of these tests, past what the adapter assumes.
//!
//! Each ends with the referee: one order for a decision at most, the venue's state, fills booked once each, and no send under a halt.

use std::time::Duration;

use surefill_core::{ClOrdId, OrdState, Order, PlaceError};

use crate::bot::Bot;
use crate::stage::{Fate, Stage, until};

mod cancels;
mod channels;
mod lost_answers;
mod restarts;

/// A bot that has many orders: asked for as often as one or two, they would use up the venue's rate.
async fn calm(stage: &Stage) -> Bot {
    stage.bot_at(stage.venue().with_poll(CALM)).await
}

/// How often each of many orders is asked for.
const CALM: Duration = Duration::from_millis(500);

/// All the lists in which an order can show.
const LISTS: [&str; 3] = ["open", "closed", "fills"];

/// Waits for a state and lets none of the others come before it that would be an end.
async fn becomes(order: &Order, state: OrdState) {
    until(&format!("{state}"), async || {
        let now = order.latest().state;
        assert!(now == state || !now.is_terminal(), "{now}");
        (now == state).then_some(())
    })
    .await;
}

/// Waits until that many fills of the order are booked.
async fn booked(bot: &Bot, id: ClOrdId, times: usize) {
    let engine = bot.engine();
    until(&format!("{times} fills"), async || {
        let fills = engine.fills(id).await.expect("fills");
        (fills.len() == times).then_some(())
    })
    .await;
}

/// A new decision in the same symbol is refused, because of doubt or of its halt, and nothing leaves.
async fn blocked(stage: &Stage, bot: &Bot, strategy: &str) {
    let before = stage.creates().await;
    let refused = bot.place(stage.intent(strategy, Fate::Rests).await).await;
    assert!(
        matches!(
            refused,
            Err(PlaceError::Doubt { .. } | PlaceError::Halted(_))
        ),
        "{refused:?}"
    );
    assert_eq!(stage.creates().await, before);
}

/// That many creates were taken by the venue, and none came after the last of them. One that a busy machine delivered past its window
/// is refused, and does not count.
async fn taken(stage: &Stage, times: usize) {
    let creates = stage.requests("create").await;
    let taken = creates.iter().filter(|row| row["acted"] == true);
    assert_eq!(taken.count(), times, "{creates:?}");
    let last = creates.last().expect("a create");
    assert_eq!(last["acted"], true, "sent again: {creates:?}");
}
