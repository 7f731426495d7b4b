//! A second order of one intent: told, halted, and canceled once nobody wants it.

use surefill_core::{
    CancelOutcome, ExecReport, HaltCause, Observation, OrdState, OrdStatus, Step, Watch,
};

use super::{PLAIN, acked, doubt, looks};
use crate::kit::{BOUND, Bench, fill, filled_by, intent, qty, report};

/// Each order, and how the venue reports it.
fn shown(orders: &[(&str, OrdStatus)]) -> Vec<ExecReport> {
    let each = orders.iter().map(|(id, status)| report(*status, id, None));
    each.collect()
}

/// A row that ended by the venue's word, as it stands in the journal; nobody remembers more of it.
fn ended(status: OrdStatus) -> Bench {
    let mut bench = acked(PLAIN);
    let cum_qty = (status == OrdStatus::Filled).then_some("3");
    assert_eq!(
        bench.reported(&filled_by(
            report(status, "A", cum_qty),
            &cum_qty.map_or_else(Vec::new, |qty| vec![fill("A", "x1", qty)])
        )),
        Step::Nothing
    );
    bench.crash();
    bench
}

/// Two orders known, both open, and a person asks for the cancel of what the row stands for.
fn two_and_a_cancel() -> Bench {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Open, "B", None));
    assert_eq!(bench.ask_cancel(), Step::Cancel);
    bench
}

#[test]
fn a_second_order_of_a_row_that_has_ended_is_canceled_until_the_venue_says_it_ended() {
    for status in [OrdStatus::Canceled, OrdStatus::Filled] {
        let mut bench = ended(status);
        let (state, row) = (bench.state(), bench.row.id);
        let step = bench.reported(&report(OrdStatus::Open, "B", None));
        assert_eq!(step, Step::Cancel);
        assert_eq!(bench.alarms, [HaltCause::SecondOrder { id: row }]);
        assert_eq!(bench.row.watch, Some(Watch::Surfaced));
        assert!(bench.row.unfinished(), "found again after a restart");
        bench.now += BOUND;
        assert_eq!(
            bench.absent_at(bench.now),
            Step::Cancel,
            "absence is no word"
        );
        bench.now += BOUND;
        let step = bench.found(&shown(&[("A", status), ("B", OrdStatus::Open)]));
        assert_eq!(step, Step::Cancel);
        let step = bench.found(&shown(&[("A", status), ("B", OrdStatus::Canceled)]));
        assert_eq!(step, Step::Nothing);
        assert_eq!((bench.state(), bench.row.watch), (state, None));
    }
}

/// A cancel that names the id ends one of the two; the row ends with the first one, and the cancels go on.
#[test]
fn the_cancel_of_an_order_with_a_second_goes_on_until_both_ended() {
    let mut bench = two_and_a_cancel();
    bench.now += BOUND;
    let step = bench.found(&shown(&[
        ("A", OrdStatus::Canceled),
        ("B", OrdStatus::Open),
    ]));
    assert_eq!(step, Step::Cancel);
    assert_eq!(bench.state(), OrdState::Canceled);
    assert_eq!(bench.row.watch, Some(Watch::Surfaced));
    bench.now += BOUND;
    assert!(looks(
        &bench.see(&Observation::CancelAnswer(&CancelOutcome::Taken))
    ));
    let step = bench.reported(&report(OrdStatus::Canceled, "B", None));
    assert_eq!(step, Step::Nothing);
    assert_eq!(bench.row.watch, None);
}

/// The other way round: the second one ends first, and nothing is left when the first one does.
#[test]
fn a_second_order_that_ended_before_is_not_looked_for() {
    let mut bench = two_and_a_cancel();
    bench.reported(&report(OrdStatus::Canceled, "B", None));
    assert_eq!(bench.state(), OrdState::Acked);
    assert_eq!(
        bench.reported(&report(OrdStatus::Canceled, "A", None)),
        Step::Nothing
    );
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Canceled, None));
    // An older report of it is no sign of life.
    assert_eq!(
        bench.reported(&report(OrdStatus::Open, "B", None)),
        Step::Nothing
    );
    assert_eq!(bench.row.watch, None);
}

#[test]
fn two_orders_that_end_in_one_round_leave_nothing_to_watch() {
    let mut bench = two_and_a_cancel();
    let both = shown(&[("A", OrdStatus::Canceled), ("B", OrdStatus::Canceled)]);
    assert_eq!(bench.found(&both), Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Canceled, None));
}

/// What this process heard is lost in a crash: what the row says is not, and the venue is asked about both.
#[test]
fn a_second_order_is_canceled_across_a_restart() {
    let mut bench = two_and_a_cancel();
    bench.reported(&report(OrdStatus::Canceled, "A", None));
    assert_eq!(bench.row.watch, Some(Watch::Surfaced));
    bench.crash();
    assert_eq!(bench.resume(), Step::Cancel);
    bench.now += BOUND;
    let only = filled_by(
        report(OrdStatus::Filled, "B", Some("3")),
        &[fill("B", "x1", "3")],
    );
    // That it is filled is booked, and the first one is asked about.
    assert_ne!(bench.found(std::slice::from_ref(&only)), Step::Nothing);
    assert_eq!(bench.row.booked_qty, qty("3"));
    let step = bench.found(&shown(&[("A", OrdStatus::Canceled)]));
    assert_eq!(step, Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Canceled, None));
}

/// Nobody asked for a cancel, and the first order is executed: the intent is done, and the second one is not wanted.
#[test]
fn the_end_of_the_first_order_cancels_the_second() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Open, "B", None));
    let filled = filled_by(
        report(OrdStatus::Filled, "A", Some("3")),
        &[fill("A", "x1", "3")],
    );
    assert_eq!(bench.reported(&filled), Step::Cancel);
    assert_eq!(bench.state(), OrdState::Filled);
    assert_eq!(bench.row.watch, Some(Watch::Surfaced));
}

#[test]
fn a_successor_is_no_second_order() {
    let mut bench = acked(PLAIN);
    bench.profile.successors = true;
    bench.reported(&report(OrdStatus::Open, "B", None));
    let step = bench.reported(&report(OrdStatus::Canceled, "B", None));
    assert_eq!(step, Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Canceled, None));
}

/// A person lifted the halt, and both ended: what the second one executes beyond the row is told anew.
#[test]
fn a_late_fill_of_a_second_order_halts() {
    let mut bench = ended(OrdStatus::Canceled);
    bench.reported(&report(OrdStatus::Open, "B", None));
    let both = shown(&[("A", OrdStatus::Canceled), ("B", OrdStatus::Canceled)]);
    assert_eq!(bench.found(&both), Step::Nothing);
    bench.alarms.clear();
    let late = filled_by(
        report(OrdStatus::NotShown, "B", None),
        &[fill("B", "x1", "1")],
    );
    bench.reported(&late);
    assert_eq!(bench.row.booked_qty, qty("1"));
    assert_eq!(bench.alarms, [HaltCause::LateFill { id: bench.row.id }]);
}

/// The venue named no id while the order lived; an older report with one is of that order.
#[test]
fn an_older_report_that_names_the_only_order_is_no_surprise() {
    let mut bench = doubt(PLAIN, intent());
    bench.found(&shown(&[("", OrdStatus::Open)]));
    bench.found(&shown(&[("", OrdStatus::Canceled)]));
    assert_eq!(bench.state(), OrdState::Canceled);
    bench.reported(&report(OrdStatus::Open, "A", None));
    assert!(bench.alarms.is_empty(), "{:?}", bench.alarms);
    assert_eq!(bench.row.watch, None);
    assert_eq!(bench.row.order_ids.len(), 1);
}
