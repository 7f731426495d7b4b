//! Faults that other bots met in public, each as one scenario over the wire; the number is its row in the list of reports. Lags of
//! seconds and minutes are scaled to the short timing of these tests, past what the adapter assumes.
//!
//! Each ends with the referee: one order for a decision at most, the venue's state, fills booked once each, and no send under a halt.

use std::time::Duration;

use surefill_referee::{Bot, LISTS, becomes};

use crate::stage::Stage;

mod cancels;
mod channels;
mod identity;
mod lookups;
mod lost_answers;
mod nonces;
mod restarts;

/// A bot that has many orders: asked for as often as one or two, they would use up the venue's rate.
async fn calm(stage: &Stage) -> Bot {
    stage.bot_at(stage.venue().with_poll(CALM)).await
}

/// How often each of many orders is asked for.
const CALM: Duration = Duration::from_millis(500);

/// So many attempts were signed and came to the venue, and none of them twice.
async fn sent(stage: &Stage, times: usize) {
    let creates = stage.requests("create").await;
    assert_eq!(creates.len(), times, "{creates:?}");
    assert_eq!(stage.bodies().await.len(), times, "{creates:?}");
}

/// So many attempts were signed and came to the venue; the bytes of one whose answer was lost may have come again.
async fn signed(stage: &Stage, times: usize) {
    let creates = stage.requests("create").await;
    assert_eq!(stage.bodies().await.len(), times, "{creates:?}");
}
