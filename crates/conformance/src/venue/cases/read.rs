//! Lookups and lists: what is there is found, what could not be read proves nothing, and a round says when it looked.

use std::collections::BTreeSet;
use std::time::Duration;

use rust_decimal::Decimal;
use surefill_core::{AsOf, ExecReport, Lookup, OrdStatus, OrderRecord, Qty, VenueTime};

use crate::venue::desk::Desk;
use crate::venue::fixture::Start;
use crate::venue::stage::{Stage, each, on};
use crate::venue::words::{Act, Fate, Fault, List, Op};

/// Long enough that nothing in a case outlasts it.
const LONG: Duration = Duration::from_secs(3_600);

/// The only report about an order, which agrees with its terms.
fn the_report(found: &Lookup, order: &OrderRecord) -> ExecReport {
    let Lookup::Found(reports) = found else {
        panic!("not found: {found:?}")
    };
    assert_eq!(reports.len(), 1, "not one report: {reports:?}");
    let report = reports[0].clone();
    let differs = report.seen.disagreement(&order.intent);
    assert_eq!(differs, None, "{report:?}");
    report
}

/// An order whose request never left.
async fn never_sent(stage: &Stage, desk: &Desk) -> OrderRecord {
    let order = desk.write(&stage.intent(Fate::Rests).await, 1).await.0;
    stage.fenced(&order).await;
    order
}

/// C40.
pub async fn c40_a_lookup_finds_exactly_its_order(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let mut orders = Vec::new();
        for fate in [Fate::Rests, Fate::Fills, Fate::Rests] {
            orders.push(desk.place(&stage.intent(fate).await).await);
        }
        let ended = desk.venue.cancel(&orders[2]).await;
        drop(ended);
        stage.pass(stage.lag()).await;
        let there = stage.orders().await;
        assert_eq!(there.len(), 3);
        let statuses = [OrdStatus::Open, OrdStatus::Filled, OrdStatus::Canceled];
        for ((order, there), status) in orders.iter().zip(&there).zip(statuses) {
            let found = desk.venue.lookup(order).await;
            let report = the_report(&found, order);
            assert_eq!(report.handle.order_id.as_ref(), Some(&there.order_id));
            assert_eq!(report.status, status, "{report:?}");
        }
    })
    .await;
}

/// C41.
pub async fn c41_what_does_not_show_yet_is_absent_then_found(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let intent = stage.intent(Fate::Rests).await;
        let order = desk.place(&intent).await;
        stage.fenced(&order).await;
        let id = stage.id(&intent);
        stage.sim.hide(id, &List::ALL, LONG).await;
        let first = desk.venue.lookup(&order).await;
        assert!(matches!(first, Lookup::Absent { .. }), "{first:?}");
        stage.sim.hide(id, &List::ALL, Duration::ZERO).await;
        the_report(&desk.venue.lookup(&order).await, &order);
    })
    .await;
}

/// C42.
pub async fn c42_between_two_lists_a_fill_shows_it(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let intent = stage.intent(Fate::Fills).await;
        let gap = [List::Open, List::Closed];
        stage.sim.hide(stage.id(&intent), &gap, LONG).await;
        let order = desk.place(&intent).await;
        stage.pass(stage.lag()).await;
        stage.fenced(&order).await;
        let found = desk.venue.lookup(&order).await;
        let Lookup::Found(reports) = &found else {
            panic!("its fills were not read: {found:?}")
        };
        assert!(
            reports.iter().any(|report| !report.fills.is_empty()),
            "{reports:?}"
        );
    })
    .await;
}

/// C43.
pub async fn c43_a_failed_read_is_no_absence(start: Start) {
    let acts = [
        Act::Status(502),
        Act::Status(404),
        Act::ResetBefore,
        Act::Truncate,
        Act::Garbage,
        Act::Throttle,
        Act::DropAnswer,
    ];
    each(start, acts, async |stage, act| {
        let desk = stage.desk().await;
        let order = never_sent(stage, &desk).await;
        let mut reads = 0;
        // Each read of a round fails once, until a round has fewer reads than that.
        loop {
            stage.sim.clear_faults().await;
            stage.sim.fault(Fault::any(act).nth(reads + 1)).await;
            let round = desk.venue.lookup(&order).await;
            if stage.sim.faults_left().await > 0 {
                assert!(matches!(round, Lookup::Absent { .. }), "{act:?}: {round:?}");
                break;
            }
            assert!(
                matches!(round, Lookup::Inconclusive(_)),
                "read {} of a round failed by {act:?}: {round:?}",
                reads + 1
            );
            reads += 1;
            assert!(reads < 50, "no round ends");
        }
        assert!(reads > 0, "a round reads nothing");
    })
    .await;
}

/// C44.
pub async fn c44_a_round_says_when_it_began_and_ended(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let order = never_sent(stage, &desk).await;
        let before = stage.requests().await.len();
        // The last read is slow: the round has not ended before it is answered. A signed read keeps within its own window.
        let slow = Duration::from_millis(150);
        stage.sim.fault(Fault::on(Op::Fills, Act::Hold(slow))).await;
        let round = desk.venue.lookup(&order).await;
        let Lookup::Absent { begun, ended } = round else {
            panic!("{round:?}")
        };
        let reads: Vec<VenueTime> = stage.requests().await[before..]
            .iter()
            .map(|request| request.at)
            .collect();
        let (Some(first), Some(last)) = (reads.iter().min(), reads.iter().max()) else {
            panic!("nothing was read")
        };
        if let (AsOf::Clock(begun), AsOf::Clock(ended)) = (begun, ended) {
            assert!(
                begun <= *first,
                "begun {begun:?} after its first read came at {first:?}"
            );
            assert!(
                ended >= *last,
                "ended {ended:?} before its last read came at {last:?}"
            );
            if stage.sim.faults_left().await == 0 {
                let answered = first.after(slow);
                assert!(
                    ended >= answered,
                    "ended {ended:?} before the answer at {answered:?}"
                );
            }
        } else {
            assert!(same_kind(begun, ended), "two kinds: {begun:?}, {ended:?}");
        }
    })
    .await;
}

/// C45.
pub async fn c45_what_was_never_sent_is_absent(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        desk.place(&stage.intent(Fate::Rests).await).await;
        let order = never_sent(stage, &desk).await;
        let round = desk.venue.lookup(&order).await;
        assert!(matches!(round, Lookup::Absent { .. }), "{round:?}");
    })
    .await;
}

/// C46.
pub async fn c46_every_page_is_read(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let many = stage.sim.more_than_a_page();
        let mut orders = Vec::new();
        for _ in 0..many {
            orders.push(desk.place(&stage.intent(Fate::Rests).await).await);
        }
        stage.pass(stage.lag()).await;
        let there: BTreeSet<_> = stage
            .orders()
            .await
            .into_iter()
            .map(|order| order.order_id)
            .collect();
        assert_eq!(there.len(), many);
        let list = desk.venue.open_orders(None).await.expect("open orders");
        assert_eq!(list.rows.len(), many, "rows of the list");
        let listed: BTreeSet<_> = list
            .rows
            .iter()
            .filter_map(|report| report.handle.order_id.clone())
            .collect();
        assert_eq!(listed, there);
        // The list of one symbol is the same here.
        let symbol = orders[0].intent.symbol.clone();
        let list = desk.venue.open_orders(Some(&symbol)).await;
        assert_eq!(list.expect("open orders").rows.len(), many);
    })
    .await;
}

/// C47.
pub async fn c47_fills_add_up_to_what_was_executed(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let since = stage.sim.now().await.before(Duration::from_secs(60));
        let resting = stage.intent(Fate::Rests).await;
        let part = desk.place(&resting).await;
        stage.sim.fill(part.id, stage.sim.part()).await;
        stage.sim.fill(part.id, stage.sim.part()).await;
        let whole = desk.place(&stage.intent(Fate::Fills).await).await;
        stage.pass(stage.lag()).await;
        let there = stage.orders().await;
        let made = stage.sim.fills().await;
        for (order, there) in [&part, &whole].into_iter().zip(&there) {
            let report = the_report(&desk.venue.lookup(order).await, order);
            let sum: Decimal = report.fills.iter().map(|fill| fill.last_qty.value()).sum();
            assert_eq!(sum, there.cum_qty, "{report:?}");
            assert_eq!(report.cum_qty.map(Qty::value), Some(there.cum_qty));
            let ours: BTreeSet<_> = report
                .fills
                .iter()
                .map(|fill| fill.exec_id.as_str())
                .collect();
            let theirs: BTreeSet<_> = made
                .iter()
                .filter(|fill| fill.order_id == there.order_id)
                .map(|fill| &*fill.exec_id)
                .collect();
            assert_eq!(ours, theirs);
        }
        // The list of fills says the same, and each is known by its order.
        let list = desk.venue.fills_since(None, since).await.expect("fills");
        let listed: BTreeSet<_> = list
            .rows
            .iter()
            .map(|(handle, fill)| (handle.order_id.clone(), fill.exec_id.as_str()))
            .collect();
        let theirs: BTreeSet<_> = made
            .iter()
            .map(|fill| (Some(fill.order_id.clone()), &*fill.exec_id))
            .collect();
        assert_eq!(listed, theirs);
    })
    .await;
}

/// C48.
pub async fn c48_what_closed_is_in_the_list_of_closed_orders(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let since = stage.sim.now().await.before(Duration::from_secs(1));
        let open = desk.place(&stage.intent(Fate::Rests).await).await;
        desk.place(&stage.intent(Fate::Fills).await).await;
        let canceled = desk.place(&stage.intent(Fate::Rests).await).await;
        drop(desk.venue.cancel(&canceled).await);
        stage.pass(stage.lag()).await;
        let there = stage.orders().await;
        let list = desk.venue.closed_since(None, since).await.expect("closed");
        let listed: BTreeSet<_> = list
            .rows
            .iter()
            .filter_map(|report| report.handle.order_id.clone())
            .collect();
        let closed: BTreeSet<_> = there[1..]
            .iter()
            .map(|order| order.order_id.clone())
            .collect();
        assert_eq!(listed, closed, "of {}", open.id);
        assert!(same_kind(list.begun, list.ended), "two kinds");
    })
    .await;
}

/// Whether two instants are of one kind.
const fn same_kind(one: AsOf, other: AsOf) -> bool {
    matches!(
        (one, other),
        (AsOf::Clock(_), AsOf::Clock(_)) | (AsOf::Height(_), AsOf::Height(_))
    )
}
