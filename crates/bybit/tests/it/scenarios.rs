//! Faults that other bots met in public, each as one scenario over the wire; the number is its row in the list of reports. Lags of
//! seconds and minutes are scaled to the short timing of these tests, past what the adapter assumes.
//!
//! Each ends with the referee: one order for a decision at most, the venue's state, fills booked once each, and no send under a halt.

use std::time::Duration;

use surefill_referee::{Bot, LISTS, becomes};

use crate::stage::Stage;

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

/// That many creates were taken by the venue, and none came after the last of them. One that a busy machine delivered past its window
/// is refused, and does not count.
async fn taken(stage: &Stage, times: usize) {
    let creates = stage.requests("create").await;
    let taken = creates.iter().filter(|row| row["acted"] == true);
    assert_eq!(taken.count(), times, "{creates:?}");
    let last = creates.last().expect("a create");
    assert_eq!(last["acted"], true, "sent again: {creates:?}");
}
