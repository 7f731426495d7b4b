//! I10: what is watched after the end, and what surfaces.

use surefill_core::{
    CancelOutcome, Copies, HaltCause, Observation, OrdState, OrdStatus, Revocation, Step, Watch,
};

use super::refusals::refused;
use super::{ASSUMED, PLAIN, REVOCABLE, UNFENCED, acked, by_absence, doubt, looks};
use crate::kit::{
    BOUND, Bench, Camp, FenceKind, H_BOUND, H0, LAG, MARGIN, T0, WATCH, at, fill, filled_by,
    intent, no_answer, qty, refusal, report,
};

#[test]
fn watched_row_that_surfaces_is_canceled_until_the_venue_says_it_ended() {
    let mut bench = refused(PLAIN);
    let step = bench.found(&[report(OrdStatus::Open, "A", None)]);
    assert_eq!(step, Step::Cancel);
    assert_eq!(bench.row.watch, Some(Watch::Surfaced));
    let surprise = HaltCause::Surprise { id: bench.row.id };
    assert_eq!(bench.alarms, [surprise]);
    for _ in 0..3 {
        bench.now += BOUND;
        let not_open = Observation::CancelAnswer(&CancelOutcome::NotOpen);
        assert!(looks(&bench.see(&not_open)));
        assert_eq!(
            bench.absent_at(bench.now),
            Step::Cancel,
            "absence is no word"
        );
    }
    let ended = report(OrdStatus::Canceled, "A", Some("1"));
    let ended = filled_by(ended, &[fill("A", "x1", "1")]);
    assert_eq!(bench.found(&[ended]), Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Rejected, None));
    assert_eq!(bench.row.booked_qty, qty("1"));
}

#[test]
fn a_rejected_row_that_is_not_watched_and_surfaces_is_canceled_and_halts() {
    let camp = Camp {
        uses_up: true,
        ..PLAIN
    };
    let mut bench = Bench::placed(camp, intent());
    bench.answered(&refusal());
    assert_eq!(bench.row.watch, None);
    let step = bench.reported(&report(OrdStatus::Open, "A", None));
    assert_eq!(step, Step::Cancel);
    assert_eq!(bench.state(), OrdState::Rejected);
    assert_eq!(bench.row.watch, Some(Watch::Surfaced));
    assert_eq!(bench.alarms, [HaltCause::Surprise { id: bench.row.id }]);
}

#[test]
fn the_venues_record_of_its_refusal_is_no_surprise() {
    for camp in [
        PLAIN,
        Camp {
            uses_up: true,
            ..PLAIN
        },
    ] {
        let mut bench = Bench::placed(camp, intent());
        bench.answered(&refusal());
        assert_eq!(
            bench.reported(&report(OrdStatus::Rejected, "A", None)),
            Step::Nothing
        );
        assert!(bench.alarms.is_empty());
        assert_eq!(bench.row.watch, None);
    }
}

#[test]
fn an_older_report_of_a_canceled_order_is_no_surprise() {
    let mut bench = acked(PLAIN);
    bench.reported(&report(OrdStatus::Canceled, "A", None));
    bench.reported(&report(OrdStatus::Open, "A", None));
    assert!(bench.alarms.is_empty());
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Canceled, None));
}

#[test]
fn a_watch_goes_on_where_the_drain_is_assumed() {
    let mut bench = refused(ASSUMED);
    bench.absent_at(BOUND);
    assert!(looks(&bench.absent_at(BOUND + LAG)));
    let until = BOUND + LAG + WATCH;
    assert_eq!(bench.row.watch, Some(Watch::Until(at(until))));
    assert!(looks(&bench.absent_at(until - 1)));
    assert!(
        looks(&bench.absent(until - 1, until + 50)),
        "begun too early"
    );
    assert_eq!(bench.absent_at(until + 60), Step::Nothing);
    assert_eq!(bench.row.watch, None);
}

#[test]
fn a_watch_without_a_fence_lasts_as_long_as_the_profile_says() {
    let mut bench = Bench::placed(UNFENCED, intent());
    assert!(looks(&bench.answered(&refusal())));
    let until = T0 + WATCH;
    assert_eq!(bench.row.watch, Some(Watch::Until(at(until))));
    assert!(looks(&bench.absent_at(until - 1)));
    assert_eq!(bench.absent_at(until), Step::Nothing);
}

/// Without a fence: the nonce of the first attempt is used, and a second one is on its way.
fn second_unfenced() -> Bench {
    let camp = Camp {
        fence: FenceKind::None,
        ..REVOCABLE
    };
    let mut bench = doubt(camp, by_absence());
    assert_eq!(bench.absent_at(T0 + 500), Step::Revoke { no: 1 });
    bench.now = T0 + 600;
    let used = Observation::Revoked {
        no: 1,
        answer: &Revocation::Used,
    };
    assert!(looks(&bench.see(&used)));
    let bound = T0 + 600 + LAG + MARGIN;
    assert!(looks(&bench.absent_at(bound)));
    assert_eq!(bench.absent_at(bound + LAG), Step::NewAttempt);
    bench.resend();
    bench
}

/// That the first attempt is bounded says nothing of the second: below us it may be doubled as any other.
#[test]
fn a_refused_attempt_without_a_fence_is_watched_beside_one_that_is_bounded() {
    let mut bench = second_unfenced();
    // The first was turned away; what used its nonce was a copy below us.
    bench.row.attempts[0].copies = Copies::Turned;
    assert!(looks(&bench.answered(&refusal())));
    assert_eq!(bench.row.watch, Some(Watch::UntilAbsent));
    let made = bench.now;
    bench.absent_at(made + 2 * LAG);
    assert!(looks(&bench.absent_at(made + 4 * LAG)));
    let Some(Watch::Until(until)) = bench.row.watch else {
        panic!("{:?}", bench.row.watch)
    };
    assert!(until >= at(made + WATCH));
    assert!(looks(&bench.absent_at(until.as_ms() - 1)));
    assert_eq!(bench.absent_at(until.as_ms()), Step::Nothing);
    assert_eq!((bench.state(), bench.row.watch), (OrdState::Rejected, None));
}

/// The same where the second attempt was turned away, and the order ends by the absence of the first.
#[test]
fn a_turned_attempt_without_a_fence_is_watched_beside_one_that_is_bounded() {
    let mut bench = second_unfenced();
    bench.answered(&no_answer());
    bench.row.attempts[1].copies = Copies::Turned;
    bench.ask_cancel();
    for _ in 0..4 {
        bench.absent_at(bench.now + 2 * LAG);
    }
    assert_eq!(bench.state(), OrdState::Canceled, "{:?}", bench.row);
    assert!(matches!(bench.row.watch, Some(Watch::Until(_))));
}

#[test]
fn a_watch_by_height_needs_a_round_after_its_end() {
    let camp = Camp {
        fence: FenceKind::AssumedHeight,
        ..PLAIN
    };
    let mut bench = refused(camp);
    let bound = T0 + (H_BOUND - H0) * 1_000;
    bench.absent_at(bound);
    bench.absent_at(bound + 2_000);
    let Some(Watch::Until(until)) = bench.row.watch else {
        panic!("{:?}", bench.row.watch)
    };
    bench.absent_at(bound + 3_000);
    bench.now = until.as_ms() + 1;
    assert!(looks(&bench.resume()), "no round began after its end yet");
    assert!(bench.row.watch.is_some());
    bench.absent_at(until.as_ms() + 3 * LAG);
    assert_eq!(bench.row.watch, None);
}
