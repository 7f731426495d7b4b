//! The judge: what the venue holds and what the journal says must be one story, also after a clean stop.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rust_decimal::Decimal;
use surefill_core::{ClOrdId, Fill, OrdState, OrderFilter, OrderIntent, OrderRecord, Store};

use super::bot::Bot;
use super::stage::{BOUND, Stage};
use super::words::{Login, SeenFill, SeenOrder, SeenStatus};

/// What became of each decision.
#[derive(Debug)]
pub(super) struct Ledger(BTreeMap<ClOrdId, OrderRecord>);

impl Ledger {
    /// The row of an intent.
    pub(super) fn of(&self, stage: &Stage, intent: &OrderIntent) -> &OrderRecord {
        let row = self.0.get(&stage.id(intent));
        row.unwrap_or_else(|| panic!("not journaled: {intent:?}"))
    }

    /// The intent ended as one order, in this state.
    pub(super) fn one_order(
        &self,
        stage: &Stage,
        intent: &OrderIntent,
        state: OrdState,
    ) -> &OrderRecord {
        let row = self.of(stage, intent);
        assert_eq!(row.order_ids.len(), 1, "not exactly one order: {row:?}");
        assert_eq!(row.state, state, "{row:?}");
        row
    }

    /// No order came of the intent, and the row says so.
    pub(super) fn no_order(&self, stage: &Stage, intent: &OrderIntent, state: OrdState) {
        let row = self.of(stage, intent);
        // Some venues give the record of a refusal an id; that the venue holds no order for it was judged before.
        let refusal = row.state == OrdState::Rejected && row.attempts.iter().any(|one| one.refused);
        assert!(row.order_ids.is_empty() || refusal, "an order: {row:?}");
        assert_eq!(row.state, state, "{row:?}");
    }
}

/// Waits until journal and venue agree and every halt of doubt is lifted, stops the bot in order, and reads the journal again.
///
/// More than one order for an intent ends it at once, whatever the venue is like.
pub(super) async fn judge(stage: &Stage, bot: Bot) -> Ledger {
    let deadline = tokio::time::Instant::now() + BOUND;
    while let Err(why) = agree_now(stage, &bot).await {
        if tokio::time::Instant::now() >= deadline {
            panic!("{why}\n{}", story(stage, &bot).await);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    bot.shutdown().await.expect("a clean stop");
    stage.handed_on();
    let store = stage.store();
    let rows = store.orders(&OrderFilter::default()).await.expect("rows");
    let mut fills = BTreeMap::new();
    for row in &rows {
        fills.insert(row.id, store.fills(row.id).await.expect("fills"));
    }
    let said = compare(stage, &Truth::of(stage).await, &rows, &fills);
    said.unwrap_or_else(|why| panic!("after the stop: {why}"));
    Ledger(rows.into_iter().map(|row| (row.id, row)).collect())
}

async fn agree_now(stage: &Stage, bot: &Bot) -> Result<(), String> {
    let engine = bot.engine();
    let rows = engine.orders(&OrderFilter::default()).await.expect("rows");
    let mut fills = BTreeMap::new();
    for row in &rows {
        fills.insert(row.id, engine.fills(row.id).await.expect("fills"));
    }
    compare(stage, &Truth::of(stage).await, &rows, &fills)?;
    match bot
        .halts()
        .into_iter()
        .find(|halt| !halt.cause.needs_person())
    {
        None => Ok(()),
        Some(halt) => Err(format!("still halted: {halt:?}")),
    }
}

/// What the venue holds of the main account.
struct Truth {
    orders: Vec<SeenOrder>,
    fills: Vec<SeenFill>,
}

impl Truth {
    async fn of(stage: &Stage) -> Self {
        let mut orders = stage.sim.orders().await;
        orders.retain(|order| stage.sim.is_account(Login::Main, &order.account));
        Self {
            orders,
            fills: stage.sim.fills().await,
        }
    }
}

fn compare(
    stage: &Stage,
    truth: &Truth,
    rows: &[OrderRecord],
    fills: &BTreeMap<ClOrdId, Vec<Fill>>,
) -> Result<(), String> {
    let belongs = |order: &SeenOrder, row: &OrderRecord| {
        order.cl_ord_id == Some(row.id) || row.order_ids.contains(&order.order_id)
    };
    for row in rows {
        assert_eq!(row.account, stage.account, "the account of {row:?}");
        let there: Vec<&SeenOrder> = truth
            .orders
            .iter()
            .filter(|order| belongs(order, row))
            .collect();
        assert!(
            there.len() <= 1,
            "two orders for one intent: {there:?} of {row:?}"
        );
        let booked = fills.get(&row.id).map(Vec::as_slice).unwrap_or_default();
        one_story(row, booked, there.first().copied(), &truth.fills)
            .map_err(|why| format!("{why}: {row:?}"))?;
    }
    let stray = truth
        .orders
        .iter()
        .find(|order| !rows.iter().any(|row| belongs(order, row)));
    stray.map_or(Ok(()), |order| {
        Err(format!("an order that the journal lacks: {order:?}"))
    })
}

fn one_story(
    row: &OrderRecord,
    booked: &[Fill],
    there: Option<&SeenOrder>,
    fills: &[SeenFill],
) -> Result<(), String> {
    if row.watch.is_some() {
        return Err("watched on".to_owned());
    }
    if row.cancel_requested && !row.state.is_terminal() {
        return Err("its cancel has not ended".to_owned());
    }
    let Some(there) = there else {
        return match row.state {
            OrdState::Canceled if row.order_ids.is_empty() => Ok(()),
            // A venue may keep a record of what it refused, with an id of its own, and tell of it.
            OrdState::Rejected if booked.is_empty() => Ok(()),
            state => Err(format!("{state} without an order")),
        };
    };
    if row.order_ids != [there.order_id.clone()] {
        return Err(format!("the venue's order is {}", there.order_id));
    }
    let state = match there.status {
        SeenStatus::New => OrdState::Acked,
        SeenStatus::Partial => OrdState::Partial,
        SeenStatus::Filled => OrdState::Filled,
        SeenStatus::Canceled => OrdState::Canceled,
    };
    if row.state != state {
        return Err(format!("the venue says {:?}", there.status));
    }
    if row.cum_qty.value() != there.cum_qty {
        return Err(format!("the venue executed {}", there.cum_qty));
    }
    let ours: BTreeSet<&str> = booked.iter().map(|fill| fill.exec_id.as_str()).collect();
    assert_eq!(
        ours.len(),
        booked.len(),
        "a fill is booked twice: {booked:?}"
    );
    let made = fills.iter().filter(|fill| fill.order_id == there.order_id);
    let theirs: BTreeSet<&str> = made.map(|fill| &*fill.exec_id).collect();
    let sum: Decimal = booked.iter().map(|fill| fill.last_qty.value()).sum();
    if ours != theirs || sum != row.booked_qty.value() || sum != row.cum_qty.value() {
        return Err(format!("booked {ours:?}, at the venue {theirs:?}"));
    }
    Ok(())
}

/// What happened, for whoever reads a failure.
pub(super) async fn story(stage: &Stage, bot: &Bot) -> String {
    let engine = bot.engine();
    let mut text = String::new();
    for row in engine.orders(&OrderFilter::default()).await.expect("rows") {
        for step in engine.history(row.id).await.expect("a log") {
            text.push_str(&format!("{step:?}\n"));
        }
    }
    for halt in bot.halts() {
        text.push_str(&format!("{halt:?}\n"));
    }
    for order in stage.sim.orders().await {
        text.push_str(&format!("{order:?}\n"));
    }
    for request in stage.requests().await {
        text.push_str(&format!("{request:?}\n"));
    }
    text
}
