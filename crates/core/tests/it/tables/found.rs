//! I3, I4 and I11: fills, and what is the same order.

use surefill_core::{HaltCause, OrdState, OrdStatus, SeenTerms, Side, Step};

use super::{PLAIN, acked, doubt, looks};
use crate::kit::{BOUND, fill, filled_by, intent, qty, report};

#[test]
fn fills_owed_stay_unfinished() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Filled, "A", Some("3")));
    assert!(bench.row.fills_owed() && bench.row.unfinished());
    assert!(looks(&bench.resume()));
    let fills = [fill("A", "x1", "1"), fill("A", "x2", "2")];
    let step = bench.found(&[filled_by(report(OrdStatus::Filled, "A", Some("3")), &fills)]);
    assert_eq!(step, Step::Nothing);
    assert!(!bench.row.unfinished());
    assert!(bench.alarms.is_empty());
}

#[test]
fn late_fill_halts() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Canceled, "A", Some("1")));
    let late = [fill("A", "x1", "1"), fill("A", "x2", "1")];
    bench.reported(&filled_by(report(OrdStatus::NotShown, "A", None), &late));
    assert_eq!(bench.state(), OrdState::Canceled);
    assert_eq!(bench.row.booked_qty, qty("2"), "booked all the same");
    assert_eq!(bench.alarms, [HaltCause::LateFill { id: bench.row.id }]);
}

#[test]
fn a_fill_seen_twice_is_booked_once() {
    let mut bench = acked(PLAIN);
    let once = filled_by(
        report(OrdStatus::Open, "A", Some("1")),
        &[fill("A", "x1", "1")],
    );
    for _ in 0..3 {
        bench.reported(&once);
        bench.crash();
        bench.found(std::slice::from_ref(&once));
    }
    assert_eq!(bench.row.booked_qty, qty("1"));
    assert_eq!(bench.fills.len(), 1);
}

#[test]
fn second_venue_order_id_halts() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Open, "B", None));
    let second = HaltCause::SecondOrder { id: bench.row.id };
    assert_eq!(bench.alarms, [second]);
    assert_eq!(bench.row.order_ids.len(), 2, "both in the journal");
}

#[test]
fn two_order_ids_in_one_round_halt() {
    let mut bench = doubt(PLAIN, intent());
    bench.found(&[
        report(OrdStatus::Open, "A", None),
        report(OrdStatus::Open, "B", None),
    ]);
    bench.found(&[
        report(OrdStatus::Open, "A", None),
        report(OrdStatus::Open, "B", None),
    ]);
    assert_eq!(bench.row.order_ids.len(), 2);
    let second = HaltCause::SecondOrder { id: bench.row.id };
    assert!(bench.alarms.contains(&second));
    // With both in the journal, the first stands for the row.
    bench.found(&[
        report(OrdStatus::Open, "A", None),
        report(OrdStatus::Canceled, "B", None),
    ]);
    assert_eq!(bench.state(), OrdState::Acked);
}

#[test]
fn fills_of_a_second_order_are_booked() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Open, "B", None));
    let fills = [fill("B", "x1", "1")];
    bench.reported(&filled_by(report(OrdStatus::Open, "B", Some("1")), &fills));
    assert_eq!(bench.row.booked_qty, qty("1"));
    let both = [
        filled_by(
            report(OrdStatus::Open, "A", Some("1")),
            &[fill("A", "x1", "1")],
        ),
        filled_by(
            report(OrdStatus::Open, "B", Some("2")),
            &[fill("B", "x1", "1"), fill("B", "x2", "1")],
        ),
    ];
    bench.found(&both);
    bench.found(&both);
    assert_eq!(bench.row.booked_qty, qty("3"));
}

#[test]
fn a_successor_that_the_profile_names_is_the_same_order() {
    let mut bench = acked(PLAIN);
    bench.profile.successors = true;
    bench.reported(&report(OrdStatus::Open, "B", Some("1")));
    assert!(bench.alarms.is_empty());
    assert_eq!(bench.row.order_id().unwrap().as_str(), "B");
    assert_eq!(bench.state(), OrdState::Partial);
}

#[test]
fn the_end_of_a_predecessor_is_not_the_end_of_its_successor() {
    let mut bench = acked(PLAIN);
    bench.profile.successors = true;
    let fills = [fill("A", "x1", "1")];
    let both = [
        filled_by(report(OrdStatus::Canceled, "A", Some("1")), &fills),
        report(OrdStatus::Open, "B", Some("1")),
    ];
    bench.found(&both);
    bench.found(&both);
    assert_eq!(bench.state(), OrdState::Partial);
    bench.reported(&report(OrdStatus::Canceled, "A", Some("1")));
    assert_eq!(bench.state(), OrdState::Partial);
    assert_eq!(bench.row.booked_qty, qty("1"));
    bench.reported(&report(OrdStatus::Filled, "B", Some("3")));
    assert_eq!(bench.state(), OrdState::Filled);
    assert!(bench.alarms.is_empty());
}

#[test]
fn other_terms_are_not_adopted() {
    let seen = [
        SeenTerms {
            side: Some(Side::Sell),
            ..SeenTerms::default()
        },
        SeenTerms {
            symbol: Some("ETHUSDT".into()),
            ..SeenTerms::default()
        },
        SeenTerms {
            order_qty: Some(qty("4")),
            ..SeenTerms::default()
        },
        SeenTerms {
            price: Some("60001".parse().unwrap()),
            ..SeenTerms::default()
        },
    ];
    for seen in seen {
        let mut bench = doubt(PLAIN, intent());
        let mut other = report(OrdStatus::Open, "A", None);
        other.seen = seen;
        bench.found(&[other]);
        assert_eq!(bench.state(), OrdState::Reconciling);
        assert!(bench.row.order_ids.is_empty());
        assert_eq!(bench.alarms, [HaltCause::TermsDiffer { id: bench.row.id }]);
    }
}

/// What is strange was told, and says nothing of ours: our order's end counts, its cancel is repeated, and a row that has ended is done.
#[test]
fn a_strange_order_beside_ours_hides_nothing_of_it() {
    let mut strange = report(OrdStatus::Open, "B", None);
    strange.seen.price = Some("60001".parse().unwrap());
    let beside = |status| [report(status, "A", None), strange.clone()];
    let mut bench = acked(PLAIN);
    bench.found(&beside(OrdStatus::Open));
    assert_eq!(bench.alarms, [HaltCause::TermsDiffer { id: bench.row.id }]);
    assert_eq!(bench.ask_cancel(), Step::Cancel);
    for seen in [beside(OrdStatus::Open).to_vec(), vec![strange.clone()]] {
        bench.now += BOUND;
        assert_eq!(bench.found(&seen), Step::Cancel, "{seen:?}");
    }
    assert_eq!(bench.found(&beside(OrdStatus::Canceled)), Step::Nothing);
    assert_eq!(bench.state(), OrdState::Canceled);
    assert_eq!(bench.found(std::slice::from_ref(&strange)), Step::Nothing);
    // In doubt it keeps everything back.
    let mut bench = doubt(PLAIN, intent());
    bench.found(std::slice::from_ref(&strange));
    bench.now += BOUND;
    assert!(looks(&bench.found(std::slice::from_ref(&strange))));
    assert_eq!(bench.state(), OrdState::Reconciling);
}

#[test]
fn an_order_filled_beyond_what_was_ordered_halts_and_is_booked_all_the_same() {
    let mut bench = doubt(PLAIN, intent());
    let mut beyond = report(OrdStatus::Filled, "A", Some("4"));
    beyond.fills = vec![fill("A", "e1", "4")];
    bench.found(&[beyond.clone()]);
    assert_eq!(bench.alarms, [HaltCause::TermsDiffer { id: bench.row.id }]);
    assert_eq!(bench.row.booked_qty, qty("4"));
    bench.found(&[beyond]);
    assert_eq!(bench.state(), OrdState::Filled);
}

#[test]
fn terms_of_another_scale_agree() {
    let mut bench = doubt(PLAIN, intent());
    let mut same = report(OrdStatus::Open, "A", None);
    same.seen = SeenTerms {
        symbol: Some("BTCUSDT".into()),
        side: Some(Side::Buy),
        order_qty: Some(qty("3.000")),
        price: Some("60000.00".parse().unwrap()),
    };
    bench.found(&[same]);
    assert_eq!(bench.state(), OrdState::Acked);
}
