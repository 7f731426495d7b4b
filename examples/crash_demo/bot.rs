//! The bot that trades through surefill. It runs on one thread, so that a moment stops all of it.

use std::path::Path;
use std::time::Duration;

use surefill_core::{Amount, Cold, Decision, OrderIntent, Side};
use surefill_store_sqlite::SqliteStore;

use crate::control::{Control, until};
use crate::moment::{Moment, say, wait_to_be_killed};
use crate::stop_at::StopAt;
use crate::venue::At;
use crate::{Failure, QTY};

/// The venue's name in the bot's configuration.
pub(crate) const VENUE: &str = "venue-sim";

/// The strategy's name: with the signal's time it makes the decision.
const STRATEGY: &str = "crash-demo";

/// What the parent tells a bot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orders<'a> {
    pub(crate) at: At,
    pub(crate) url: &'a str,
    pub(crate) control: &'a str,
    pub(crate) journal: &'a Path,
    /// When the signal came: part of the data that the strategy trades on, the same after a restart.
    pub(crate) signal_ms: u64,
    /// Where to die, if anywhere.
    pub(crate) die: Option<Moment>,
    /// At which price to trade.
    pub(crate) price: &'a str,
}

/// Recovers, places its one decision, and waits until it has filled.
pub(crate) async fn run(orders: Orders<'_>) -> Result<(), Failure> {
    let control = Control::new(orders.control)?;
    let store = SqliteStore::open(orders.journal)?;
    let venue = StopAt {
        inner: orders.at.adapter(orders.url)?,
        moment: orders.die,
        control: control.clone(),
    };
    let (engine, _report) = Cold::new(store).venue(VENUE, venue).recover().await?;

    let decision = Decision::new(STRATEGY, orders.signal_ms);
    let amount = Amount::Base(QTY.parse()?);
    let intent = OrderIntent::limit(
        decision,
        VENUE,
        orders.at.symbol(),
        Side::Buy,
        amount,
        orders.price.parse()?,
    );
    let placed = engine.place(intent).await?;
    let order = placed.order();
    order.settled().await;

    if orders.die == Some(Moment::Partial) {
        let wire_id = orders.at.spell(&order.id());
        control.fill(&wire_id, "0.01", orders.price).await?;
        until("the first fill is booked", || async {
            Ok(!order.latest().booked_qty.is_zero())
        })
        .await?;
        wait_to_be_killed(Moment::Partial);
    }
    let row = order.done().await;
    say(&format!("DONE {} {}", row.id, row.state));
    engine.shutdown(Duration::from_secs(5)).await?;
    Ok(())
}
