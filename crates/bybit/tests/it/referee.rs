//! The referee: what the venue holds and what the journal says must be one story, also after a clean stop.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rust_decimal::Decimal;
use serde_json::Value;
use surefill_core::{
    Cause, ClOrdId, Fill, Halt, OrdState, OrderFilter, OrderRecord, PlaceError, Store, Transition,
    VenueTime,
};
use surefill_store_sqlite::SqliteStore;

use crate::bot::Bot;
use crate::stage::{ALIAS, BOUND, Fate, Stage};

/// What became of the decisions, by strategy.
#[derive(Debug)]
pub(crate) struct Ledger(BTreeMap<String, OrderRecord>);

impl Ledger {
    pub(crate) fn of(&self, strategy: &str) -> &OrderRecord {
        self.0
            .get(strategy)
            .unwrap_or_else(|| panic!("no decision of {strategy}: {self:?}"))
    }

    /// The decision ended as one order, which lives or has lived. The promise P2, where a venue can be reached.
    pub(crate) fn one_order(&self, strategy: &str) -> &OrderRecord {
        let row = self.of(strategy);
        assert_eq!(row.order_ids.len(), 1, "not exactly one order: {row:?}");
        row
    }

    /// No order came of the decision.
    pub(crate) fn no_order(&self, strategy: &str, state: OrdState) -> &OrderRecord {
        let row = self.of(strategy);
        assert!(row.order_ids.is_empty(), "an order: {row:?}");
        assert_eq!(row.state, state, "{row:?}");
        row
    }
}

/// Waits until journal and venue agree and every halt of doubt is lifted, stops the bot in order, and reads the journal back from the
/// disk.
pub(crate) async fn judge(stage: &Stage, bot: Bot) -> Ledger {
    let deadline = tokio::time::Instant::now() + BOUND;
    while let Err(why) = agree_now(stage, &bot).await {
        if tokio::time::Instant::now() >= deadline {
            panic!("{why}\n{}", story(stage, &bot).await);
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    if bot
        .halts()
        .iter()
        .any(|halt| halt.scope.venue == ALIAS.into())
    {
        nothing_passes(stage, &bot).await;
    }
    bot.shutdown().await.expect("a clean stop");
    let store = stage.open().await;
    let (rows, fills) = read(&store).await;
    let said = compare(&Truth::of(stage).await, &rows, &fills);
    said.unwrap_or_else(|why| panic!("on disk: {why}"));
    no_send_under_a_halt(&store, &rows).await;
    each_create_was_journaled(stage, &store, &rows).await;
    store.close().await.expect("closed");
    let named = |row: OrderRecord| (row.intent.decision.strategy.to_string(), row);
    Ledger(rows.into_iter().map(named).collect())
}

async fn agree_now(stage: &Stage, bot: &Bot) -> Result<(), String> {
    let engine = bot.engine();
    let rows = engine.orders(&OrderFilter::default()).await;
    let rows = rows.expect("rows");
    let mut fills = BTreeMap::new();
    for row in &rows {
        fills.insert(row.id, engine.fills(row.id).await.expect("fills"));
    }
    compare(&Truth::of(stage).await, &rows, &fills)?;
    // A cancel that is asked may act at any moment, also while the bot stops: the story is not over.
    let asked = |row: &&OrderRecord| row.cancel_requested && !row.state.is_terminal();
    if let Some(row) = rows.iter().find(asked) {
        return Err(format!("a cancel is on its way: {row:?}"));
    }
    let mut halts = bot.halts().into_iter();
    match halts.find(|halt| !halt.cause.needs_person()) {
        None => Ok(()),
        Some(halt) => Err(format!("still halted: {halt:?}")),
    }
}

/// A halt that was decided while an entry was on its way into the journal may be older than it.
const RACE: Duration = Duration::from_millis(100);

/// Over the whole of the log: nothing was placed under a halt of its scope, and nothing sent again under one that needs a person.
async fn no_send_under_a_halt(store: &SqliteStore, rows: &[OrderRecord]) {
    let lifted = store.lifted().await.expect("lifted halts");
    let ended = lifted
        .into_iter()
        .map(|lifted| (lifted.halt, Some(lifted.at)));
    let stands = store.halts().await.expect("halts").into_iter();
    let halts: Vec<(Halt, Option<VenueTime>)> =
        ended.chain(stands.map(|halt| (halt, None))).collect();
    for row in rows {
        for step in store.history(row.id).await.expect("a log") {
            let covers = |(halt, until): &&(Halt, Option<VenueTime>)| {
                let scope = &halt.scope;
                scope.covers(row.alias(), &row.account, row.symbol())
                    && step.at > halt.since.after(RACE)
                    && until.is_none_or(|until| step.at < until)
            };
            let under = match step.cause {
                Cause::Placed | Cause::AmendAsked => halts.iter().find(covers),
                Cause::Resent | Cause::Replayed => {
                    let declared = halts.iter().filter(|(halt, _)| halt.cause.needs_person());
                    declared.clone().find(covers)
                }
                _ => None,
            };
            let passes = step.cause == Cause::AmendAsked && keeps_its_price(&step.evidence);
            assert!(under.is_none() || passes, "sent under {under:?}: {step:?}");
        }
    }
}

/// Whether an amend, as the log words it, asks for another quantity only: less of it passes halts.
fn keeps_its_price(evidence: &str) -> bool {
    let price = |terms: &str| terms.rsplit(" at ").next().map(str::to_owned);
    let both = evidence.split_once(" instead of ");
    both.is_some_and(|(to, from)| price(to) == price(from))
}

/// The bytes of every create that the venue was asked for are those of an attempt in the journal.
async fn each_create_was_journaled(stage: &Stage, store: &SqliteStore, rows: &[OrderRecord]) {
    let mut journaled = BTreeSet::new();
    for row in rows {
        for attempt in &row.attempts {
            let stored = store.attempt(row.id, attempt.no).await.expect("read");
            let wire = stored.expect("an attempt").wire;
            let wire = String::from_utf8(wire).expect("text");
            let body = wire.splitn(3, '\n').nth(2).expect("a body");
            journaled.insert(sha256(body.as_bytes()));
        }
    }
    for request in stage.requests("create").await {
        // A connection that is refused brings no bytes, and a frame of the trade socket holds more than the body.
        if let (Some("POST"), Some(sent)) =
            (request["method"].as_str(), request["body_sha256"].as_str())
        {
            assert!(journaled.contains(sent), "not journaled: {request}");
        }
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Under a halt a new decision is refused with the halt's words, and no create leaves.
async fn nothing_passes(stage: &Stage, bot: &Bot) {
    let before = stage.creates().await;
    let refused = bot
        .place(stage.intent("under-a-halt", Fate::Rests).await)
        .await;
    assert!(matches!(refused, Err(PlaceError::Halted(_))), "{refused:?}");
    assert_eq!(stage.creates().await, before);
}

async fn read(store: &impl Store) -> (Vec<OrderRecord>, BTreeMap<ClOrdId, Vec<Fill>>) {
    let rows = store.orders(&OrderFilter::default()).await.expect("rows");
    let mut fills = BTreeMap::new();
    for row in &rows {
        fills.insert(row.id, store.fills(row.id).await.expect("fills"));
    }
    (rows, fills)
}

/// What the venue holds.
struct Truth {
    orders: Vec<Value>,
    fills: Vec<Value>,
    positions: Vec<Value>,
}

impl Truth {
    async fn of(stage: &Stage) -> Self {
        let ours = |mut rows: Vec<Value>| {
            rows.retain(|row| row["account"] == "1001");
            rows
        };
        Self {
            orders: ours(stage.rows("/orders").await),
            fills: ours(stage.rows("/fills").await),
            positions: ours(stage.rows("/positions").await),
        }
    }
}

/// Whether journal and venue tell one story. More than one order for a decision ends the test at once.
fn compare(
    truth: &Truth,
    rows: &[OrderRecord],
    fills: &BTreeMap<ClOrdId, Vec<Fill>>,
) -> Result<(), String> {
    let mut booked_in_all = Decimal::ZERO;
    for row in rows {
        let id = row.id.to_string();
        let there: Vec<&Value> = truth
            .orders
            .iter()
            .filter(|order| order["cl_ord_id"] == id.as_str())
            .collect();
        assert!(there.len() <= 1, "two orders for {id}: {there:?}");
        let booked = fills.get(&row.id).map(Vec::as_slice).unwrap_or_default();
        one_story(row, booked, there.first().copied(), &truth.fills)
            .map_err(|why| format!("{}: {why}: {row:?}", row.intent.decision.strategy))?;
        booked_in_all += row.booked_qty.value();
    }
    for order in &truth.orders {
        let known = rows
            .iter()
            .any(|row| order["cl_ord_id"] == row.id.to_string().as_str());
        if !known {
            return Err(format!("an order that the journal lacks: {order}"));
        }
    }
    // Every order of these tests buys, so that the position is the sum of the fills.
    let position: Decimal = truth.positions.iter().map(|row| decimal(&row["qty"])).sum();
    if position != booked_in_all {
        return Err(format!(
            "{booked_in_all} booked, and the position is {position}"
        ));
    }
    Ok(())
}

fn one_story(
    row: &OrderRecord,
    booked: &[Fill],
    there: Option<&Value>,
    fills: &[Value],
) -> Result<(), String> {
    if row.watch.is_some() {
        return Err("watched on".to_owned());
    }
    if row.cancel_requested && !row.state.is_terminal() {
        return Err("its cancel has not ended".to_owned());
    }
    let Some(there) = there else {
        return match row.state {
            OrdState::Canceled | OrdState::Rejected if row.order_ids.is_empty() => Ok(()),
            state => Err(format!("{state} without an order")),
        };
    };
    let order_id = there["order_id"].as_str().expect("an order id");
    if row.order_ids.len() != 1 || row.order_ids[0].as_str() != order_id {
        return Err(format!("the venue's order is {order_id}"));
    }
    let filled = !decimal(&there["cum_qty"]).is_zero();
    let state = match there["status"].as_str().expect("a status") {
        "new" => OrdState::Acked,
        "partially_filled" => OrdState::Partial,
        "filled" => OrdState::Filled,
        "canceled" => OrdState::Canceled,
        other => panic!("{other}"),
    };
    if row.state != state || (row.state == OrdState::Acked && filled) {
        return Err(format!("the venue says {}", there["status"]));
    }
    if row.amending().is_some() {
        return Err("the terms after an amend are not known".to_owned());
    }
    if let Some(terms) = row.terms() {
        let theirs = (decimal(&there["order_qty"]), decimal(&there["price"]));
        if (terms.order_qty.value(), terms.price.value()) != theirs {
            return Err(format!("the venue's terms are {theirs:?}"));
        }
    }
    if row.cum_qty.value() != decimal(&there["cum_qty"]) {
        return Err(format!("the venue executed {}", there["cum_qty"]));
    }
    let ours: BTreeSet<&str> = booked.iter().map(|fill| fill.exec_id.as_str()).collect();
    assert_eq!(
        ours.len(),
        booked.len(),
        "a fill is booked twice: {booked:?}"
    );
    let theirs: BTreeSet<&str> = fills
        .iter()
        .filter(|fill| fill["order_id"] == order_id)
        .map(|fill| fill["exec_id"].as_str().expect("an exec id"))
        .collect();
    let sum: Decimal = booked.iter().map(|fill| fill.last_qty.value()).sum();
    if ours != theirs || sum != row.booked_qty.value() || sum != row.cum_qty.value() {
        return Err(format!("booked {ours:?}, at the venue {theirs:?}"));
    }
    Ok(())
}

fn decimal(value: &Value) -> Decimal {
    value
        .as_str()
        .expect("a decimal")
        .parse()
        .expect("a decimal")
}

/// What happened, for whoever reads a failure.
async fn story(stage: &Stage, bot: &Bot) -> String {
    let engine = bot.engine();
    let mut text = String::new();
    for row in engine.orders(&OrderFilter::default()).await.expect("rows") {
        let log: Vec<Transition> = engine.history(row.id).await.expect("a log");
        for step in log {
            text.push_str(&format!("{step:?}\n"));
        }
    }
    for halt in bot.halts() {
        text.push_str(&format!("{halt:?}\n"));
    }
    for request in stage.rows("/requests").await {
        let kind = request["op"].as_str().expect("a kind");
        if ["create", "cancel"].contains(&kind) {
            text.push_str(&format!("{request}\n"));
        }
    }
    for order in stage.rows("/orders").await {
        text.push_str(&format!("{order}\n"));
    }
    text
}
