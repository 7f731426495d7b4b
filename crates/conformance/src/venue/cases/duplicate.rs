//! A second order under the id of a first one, and a second copy of the same bytes.

use std::time::Duration;

use surefill_core::{AttemptState, CancelOutcome, DuplicateOf, Lookup, OrderRecord, Submission};

use crate::venue::desk::Desk;
use crate::venue::fixture::Start;
use crate::venue::stage::{Second, Stage, on};
use crate::venue::words::{Act, Fate, Fault, Op};

/// Checks the answer to a second one, and that the venue holds as many orders as the profile makes of it.
async fn judged(
    stage: &Stage,
    desk: &Desk,
    order: &OrderRecord,
    answer: &Submission,
    second: Second,
) {
    let first = stage
        .orders()
        .await
        .first()
        .map(|order| order.order_id.clone());
    match second {
        Second::Refused => {
            assert!(matches!(answer, Submission::Duplicate(_)), "{answer:?}");
            stage.only_order().await;
        }
        Second::Existing => {
            let existing = match answer {
                Submission::Acked(report) => report.handle.order_id == first,
                Submission::Duplicate(_) | Submission::Received(_) => true,
                _ => false,
            };
            assert!(existing, "{answer:?}");
            stage.only_order().await;
        }
        Second::Placed => {
            let taken = matches!(answer, Submission::Acked(_) | Submission::Received(_));
            assert!(taken, "{answer:?}");
            let orders = stage.orders().await;
            assert_eq!(
                orders.len(),
                2,
                "the venue refused what it is said to take: {orders:?}"
            );
            // Two orders for one intent must come to light, also where a lookup by id shows the newest only.
            stage.pass(stage.lag()).await;
            let Lookup::Found(reports) = desk.venue.lookup(order).await else {
                panic!("neither is found")
            };
            let mut ids: Vec<_> = reports
                .iter()
                .map(|report| report.handle.order_id.clone())
                .collect();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), 2, "a second order is hidden: {reports:?}");
        }
    }
    assert_eq!(stage.creates().await, 2);
}

/// Sends a second attempt of the same intent, built anew.
async fn again(stage: &Stage, desk: &Desk, first: &OrderRecord, first_is_open: bool) {
    let (second, attempt) = desk.write(&first.intent, 2).await;
    let answer = desk.submit(&attempt).await;
    let mut order = first.clone();
    order.attempts.extend(
        second
            .attempts
            .iter()
            .cloned()
            .map(|state| AttemptState { no: 2, ..state }),
    );
    judged(stage, desk, &order, &answer, stage.second(first_is_open)).await;
}

/// C20.
pub async fn c20_a_duplicate_while_the_first_is_open(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let order = desk.place(&stage.intent(Fate::Rests).await).await;
        again(stage, &desk, &order, true).await;
    })
    .await;
}

/// C21.
pub async fn c21_a_duplicate_after_the_first_filled(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let order = desk.place(&stage.intent(Fate::Fills).await).await;
        again(stage, &desk, &order, false).await;
    })
    .await;
}

/// C22.
pub async fn c22_a_duplicate_after_the_first_was_canceled(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let order = desk.place(&stage.intent(Fate::Rests).await).await;
        let canceled = desk.venue.cancel(&order).await;
        assert!(
            matches!(canceled, CancelOutcome::Taken | CancelOutcome::Canceled(_)),
            "{canceled:?}"
        );
        again(stage, &desk, &order, false).await;
    })
    .await;
}

/// Sends the same bytes twice.
async fn replayed(stage: &Stage, fate: Fate) {
    let desk = stage.desk().await;
    let intent = stage.intent(fate).await;
    let (order, attempt) = desk.write(&intent, 1).await;
    let first = desk.submit(&attempt).await;
    let taken = matches!(first, Submission::Acked(_) | Submission::Received(_));
    assert!(taken, "{first:?}");
    let second = desk.submit(&attempt).await;
    let (creates, copies) = (stage.requests().await, stage.copy(fate == Fate::Rests));
    let bodies: Vec<_> = creates
        .iter()
        .filter(|request| request.op == Op::Create)
        .map(|request| request.body.clone())
        .collect();
    assert_eq!(bodies[0], bodies[1], "not the same bytes");
    if attempt.replayable {
        let known = matches!(
            second,
            Submission::Duplicate(DuplicateOf::Bytes | DuplicateOf::Id)
        );
        assert!(known, "{second:?}");
    }
    judged(stage, &desk, &order, &second, copies).await;
}

/// C23.
pub async fn c23_a_replay_of_the_same_bytes(start: Start) {
    on(start, async |stage| replayed(stage, Fate::Rests).await).await;
}

/// C24.
pub async fn c24_a_replay_after_the_first_filled(start: Start) {
    on(start, async |stage| replayed(stage, Fate::Fills).await).await;
}

/// C25.
pub async fn c25_a_request_doubled_on_the_way(start: Start) {
    on(start, async |stage| {
        let desk = stage.desk().await;
        let (order, attempt) = desk.write(&stage.intent(Fate::Rests).await, 1).await;
        stage
            .sim
            .fault(Fault::on(Op::Create, Act::Duplicate(Duration::ZERO)))
            .await;
        let answer = desk.submit(&attempt).await;
        let taken = matches!(answer, Submission::Acked(_) | Submission::Received(_));
        assert!(taken, "{answer:?}");
        stage.asked(Op::Create, 2).await;
        match stage.copy(true) {
            Second::Refused | Second::Existing => {
                // The copy acts at once; what it would have done shows.
                stage.pass(stage.drain() + stage.lag()).await;
                stage.only_order().await;
            }
            Second::Placed => {
                stage.placed(2).await;
                judged(stage, &desk, &order, &answer, Second::Placed).await;
            }
        }
    })
    .await;
}
