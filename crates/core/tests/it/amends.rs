//! Amends in the tables: the terms follow only what the venue shows, and an order keeps its identity whichever it shows.

use surefill_core::{
    AmendOutcome, AmendRecord, AmendState, Amount, Cause, Change, ChangeError, Durability,
    ExecReport, Fence, HaltCause, Lookup, NotSent, Observation, OrdState, OrdStatus, Px, Reason,
    Reject, SeenTerms, Step, Submission, Terms, UnknownCause,
};

use crate::kit::{
    Bench, Camp, DRAIN, FenceKind, LAG, MARGIN, T0, at, fill, filled_by, intent, qty, report,
};

const OLD: (&str, &str) = ("3", "60000");
const NEW: (&str, &str) = ("5", "60010");

fn terms((order_qty, price): (&str, &str)) -> Terms {
    Terms {
        order_qty: qty(order_qty),
        price: price.parse().unwrap(),
    }
}

fn camp() -> Camp {
    Camp {
        fence: FenceKind::Documented,
        ..Camp::PLAIN
    }
}

/// A working order.
fn working() -> Bench {
    let mut bench = Bench::placed(camp(), intent());
    bench.answered(&Submission::Acked(report(OrdStatus::Open, "A", None)));
    assert_eq!(bench.state(), OrdState::Acked);
    bench
}

fn asking(bench: &Bench, no: u32, to: (&str, &str)) -> Change {
    let mut change = bench.change(Cause::AmendAsked);
    change.amend = Some(AmendRecord {
        no,
        terms: terms(to),
        asked_at: at(bench.now),
        fence: Fence::Clock(at(bench.now + 1_000)),
        state: AmendState::Asked,
    });
    change
}

/// A working order whose amend is on its way.
fn amending() -> Bench {
    let mut bench = working();
    let change = asking(&bench, 1, NEW);
    assert_eq!(change.durability(), Durability::Sync);
    bench.commit(change);
    bench
}

fn showing(to: (&str, &str)) -> ExecReport {
    let mut report = report(OrdStatus::Open, "A", None);
    let Terms { order_qty, price } = terms(to);
    report.seen = SeenTerms {
        order_qty: Some(order_qty),
        price: Some(price),
        ..SeenTerms::default()
    };
    report
}

fn at_ms(mut report: ExecReport, ms: u64) -> ExecReport {
    report.transact_time = Some(at(ms));
    report
}

fn answer(bench: &mut Bench, answer: &AmendOutcome) -> Step {
    bench.see(&Observation::Amended { no: 1, answer })
}

fn stands(bench: &Bench, to: (&str, &str)) {
    assert_eq!(bench.row.terms(), Some(terms(to)), "{:?}", bench.row.amends);
    assert!(bench.alarms.is_empty(), "{:?}", bench.alarms);
    assert_eq!(bench.state(), OrdState::Acked);
}

#[test]
fn the_terms_stand_once_the_venue_shows_them_and_not_before() {
    let mut bench = amending();
    stands(&bench, OLD);
    answer(&mut bench, &AmendOutcome::Taken);
    stands(&bench, OLD);
    bench.reported(&showing(OLD));
    stands(&bench, OLD);
    assert!(
        bench.row.amending().is_some(),
        "an older report settles nothing"
    );
    bench.found(&[showing(NEW)]);
    stands(&bench, NEW);
    assert!(bench.row.amending().is_none());
}

#[test]
fn a_lost_answer_is_doubt_about_the_terms_and_not_about_the_order() {
    for lost in [
        AmendOutcome::Unknown(UnknownCause::new("504")),
        AmendOutcome::NotOpen,
    ] {
        let mut bench = amending();
        let step = answer(&mut bench, &lost);
        assert!(matches!(step, Step::LookAgain { .. }), "{step:?}");
        stands(&bench, OLD);
        bench.crash();
        bench.found(&[showing(NEW)]);
        stands(&bench, NEW);
    }
}

#[test]
fn what_was_refused_or_never_left_is_settled() {
    let reject = Reject {
        reason: Reason::new("110007", "too little"),
        halts_account: false,
        leaves_bytes: false,
    };
    for refused in [
        AmendOutcome::Rejected(reject),
        AmendOutcome::NotSent(NotSent::Connect("refused".into())),
        AmendOutcome::Unsupported,
    ] {
        let mut bench = amending();
        answer(&mut bench, &refused);
        stands(&bench, OLD);
        assert!(bench.row.amending().is_none(), "{refused:?}");
        // A copy doubled on the way was taken all the same: it is our order with our terms.
        bench.found(&[showing(NEW)]);
        stands(&bench, NEW);
    }
}

#[test]
fn an_amend_that_was_lost_lapses_past_its_fence_and_only_by_a_look() {
    let mut bench = amending();
    bench.found(&[showing(OLD)]);
    assert!(bench.row.amending().is_some());
    bench.now += 3_600_000;
    bench.reported(&showing(OLD));
    assert!(bench.row.amending().is_some(), "a push may be old");
    bench.found(&[showing(OLD)]);
    assert!(bench.row.amending().is_none());
    stands(&bench, OLD);
    assert_eq!(bench.row.amends[0].state, AmendState::Lapsed);
}

#[test]
fn a_look_that_began_before_a_copy_could_be_out_of_the_way_settles_nothing() {
    let mut bench = amending();
    let fence = bench.now + 1_000;
    let settled = fence + DRAIN + LAG + MARGIN;
    // However late it is answered: what it read may be from before the amend arrived.
    for begun in [None, Some(T0), Some(fence), Some(settled - 1)] {
        bench.now = settled + 3_600_000;
        if let Some(begun) = begun {
            bench.pursuit.looking(at(begun));
        }
        let shown = Lookup::Found(vec![showing(OLD)]);
        bench.see(&Observation::Looked(&shown));
        assert!(bench.row.amending().is_some(), "{begun:?}");
    }
    bench.pursuit.looking(at(settled));
    bench.see(&Observation::Looked(&Lookup::Found(vec![showing(OLD)])));
    assert_eq!(bench.row.amends[0].state, AmendState::Lapsed);
    stands(&bench, OLD);
}

/// Where nothing bounds how long a copy may be held on its way, only the venue's word settles an amend: the old terms never do.
#[test]
fn without_a_fence_an_amend_never_lapses() {
    for fence in [FenceKind::None, FenceKind::Height, FenceKind::Documented] {
        let unsettled = || {
            let mut bench = Bench::placed(Camp { fence, ..camp() }, intent());
            bench.answered(&Submission::Acked(report(OrdStatus::Open, "A", None)));
            let mut change = asking(&bench, 1, NEW);
            change.amend.as_mut().unwrap().fence = Fence::None;
            bench.commit(change);
            answer(&mut bench, &AmendOutcome::Unknown(UnknownCause::new("504")));
            for _ in 0..100 {
                bench.now += 3_600_000;
                bench.found(&[showing(OLD)]);
                assert!(bench.row.amending().is_some(), "{fence:?}");
            }
            let another = bench.row.apply(&asking(&bench, 2, NEW), &[]);
            assert!(
                matches!(another, Err(ChangeError::NoAmend { .. })),
                "{fence:?}: {another:?}"
            );
            stands(&bench, OLD);
            bench
        };
        // It was held back all that time.
        let mut bench = unsettled();
        bench.found(&[showing(NEW)]);
        stands(&bench, NEW);
        assert!(bench.row.amending().is_none(), "{fence:?}");
        // The answer came at last.
        let mut bench = unsettled();
        answer(&mut bench, &AmendOutcome::Unsupported);
        assert!(bench.row.amending().is_none(), "{fence:?}");
        // A cancel passes, and with the order the question ends.
        let mut bench = unsettled();
        assert_eq!(bench.ask_cancel(), Step::Cancel, "{fence:?}");
        bench.found(&[report(OrdStatus::Canceled, "A", None)]);
        assert!(bench.row.amending().is_none(), "{fence:?}");
    }
}

#[test]
fn an_amend_refused_for_its_keys_halts_the_account() {
    let refused = AmendOutcome::Rejected(Reject {
        reason: Reason::new("10003", "the key is not valid"),
        halts_account: true,
        leaves_bytes: false,
    });
    let mut bench = amending();
    answer(&mut bench, &refused);
    let alarm = HaltCause::Refused { id: bench.row.id };
    assert_eq!(bench.alarms, std::slice::from_ref(&alarm));
    assert!(bench.row.amending().is_none());
    let halt = bench.log.last().unwrap().halt.clone().unwrap();
    assert_eq!(halt.scope, bench.row.account_scope());
    assert_eq!(bench.log.last().unwrap().durability(), Durability::Sync);
    // Once is enough.
    let log = bench.log.len();
    answer(&mut bench, &refused);
    assert_eq!((bench.alarms.len(), bench.log.len()), (1, log));
    // A report was first and settled the amend: what is said of the keys stands.
    let mut bench = amending();
    bench.found(&[showing(NEW)]);
    answer(&mut bench, &refused);
    assert_eq!(bench.alarms, [alarm]);
    assert_eq!(bench.row.terms(), Some(terms(NEW)));
}

#[test]
fn terms_that_are_neither_halt() {
    for other in [
        ("4", "60000"),
        ("3", "60010"),
        ("5", "60000"),
        ("5", "60011"),
    ] {
        let mut bench = amending();
        bench.found(&[showing(other)]);
        let alarm = HaltCause::TermsDiffer { id: bench.row.id };
        assert_eq!(bench.alarms, [alarm], "{other:?}");
        assert_eq!(bench.row.terms(), Some(terms(OLD)));
    }
}

/// Two amends of different terms may leave a mixture that nobody asked for. It halts once, and the order that the row knows by its id is
/// followed all the same: no terms are adopted; fills, cancels and its end are.
#[test]
fn an_order_whose_terms_differ_is_followed_to_its_end() {
    for ended in [OrdStatus::Canceled, OrdStatus::Filled] {
        let mut bench = amending();
        let mixed = showing(("5", "60000"));
        bench.found(std::slice::from_ref(&mixed));
        let alarm = HaltCause::TermsDiffer { id: bench.row.id };
        assert_eq!(bench.alarms, std::slice::from_ref(&alarm));

        let mut executed = filled_by(mixed.clone(), &[fill("A", "f1", "2")]);
        executed.cum_qty = Some(qty("2"));
        bench.found(std::slice::from_ref(&executed));
        assert_eq!(bench.state(), OrdState::Partial);
        assert_eq!(bench.row.booked_qty, qty("2"));
        assert_eq!(bench.row.terms(), Some(terms(OLD)));

        let mut end = executed;
        end.status = ended;
        bench.found(std::slice::from_ref(&end));
        assert!(bench.state().is_terminal(), "{ended:?}");
        assert_eq!(bench.row.terms(), Some(terms(OLD)));
        assert_eq!(bench.alarms, [alarm], "once");
    }
}

/// What else shows up with other terms is no order that the row knows: neither another id, nor none, nor another instrument or side.
#[test]
fn an_end_with_other_terms_is_adopted_only_of_the_order_that_is_known() {
    let mut mixed = showing(("5", "60000"));
    mixed.status = OrdStatus::Canceled;
    let mut other_id = mixed.clone();
    other_id.handle.order_id = Some("B".into());
    let mut no_id = mixed.clone();
    no_id.handle.order_id = None;
    let mut other_symbol = mixed;
    other_symbol.seen.symbol = Some("ETHUSDT".into());
    for strange in [other_id, no_id, other_symbol] {
        let mut bench = amending();
        for _ in 0..2 {
            bench.found(std::slice::from_ref(&strange));
        }
        let alarm = HaltCause::TermsDiffer { id: bench.row.id };
        assert_eq!(bench.alarms, [alarm], "{strange:?}");
        assert_eq!(bench.state(), OrdState::Acked, "{strange:?}");
        assert_eq!(bench.row.order_ids.len(), 1, "{strange:?}");
    }
}

#[test]
fn an_older_report_takes_no_terms_back() {
    let mut bench = amending();
    bench.found(&[at_ms(showing(NEW), bench.now + 50)]);
    stands(&bench, NEW);
    bench.reported(&at_ms(showing(OLD), bench.now + 20));
    stands(&bench, NEW);
    // Back to the first terms: a report from before the first amend does not show the second.
    let change = asking(&bench, 2, OLD);
    bench.commit(change);
    bench.reported(&at_ms(showing(OLD), bench.now + 20));
    stands(&bench, NEW);
    assert!(bench.row.amending().is_some());
    bench.reported(&at_ms(showing(OLD), bench.now + 90));
    stands(&bench, OLD);
    assert!(bench.row.amending().is_none());
}

/// The request of the first amend was doubled on its way, and its copy is taken after the second amend.
#[test]
fn terms_that_came_back_after_the_newest_amend_stand() {
    let mut bench = amending();
    bench.found(&[at_ms(showing(NEW), bench.now + 50)]);
    let change = asking(&bench, 2, OLD);
    bench.commit(change);
    bench.found(&[at_ms(showing(OLD), bench.now + 90)]);
    stands(&bench, OLD);
    bench.reported(&at_ms(showing(NEW), bench.now + 50));
    stands(&bench, OLD);
    bench.reported(&at_ms(showing(NEW), bench.now + 120));
    stands(&bench, NEW);
    bench.reported(&at_ms(showing(OLD), bench.now + 90));
    stands(&bench, NEW);
    bench.reported(&at_ms(showing(OLD), bench.now + 150));
    stands(&bench, OLD);
    assert!(bench.alarms.is_empty(), "{:?}", bench.alarms);
}

#[test]
fn a_report_without_the_amended_term_says_nothing() {
    let mut bench = working();
    let change = asking(&bench, 1, ("5", "60000"));
    bench.commit(change);
    let mut price_only = showing(OLD);
    price_only.seen.order_qty = None;
    bench.found(std::slice::from_ref(&price_only));
    stands(&bench, OLD);
    assert!(bench.row.amending().is_some());
}

#[test]
fn more_executed_than_first_ordered_is_no_breach_after_an_amend() {
    let mut bench = amending();
    let mut filled = showing(NEW);
    filled.status = OrdStatus::Filled;
    filled.cum_qty = Some(qty("5"));
    bench.found(&[filled]);
    assert_eq!(bench.state(), OrdState::Filled);
    assert!(bench.alarms.is_empty(), "{:?}", bench.alarms);
    assert_eq!(bench.row.terms(), Some(terms(NEW)));

    let mut bench = amending();
    let mut beyond = showing(NEW);
    beyond.cum_qty = Some(qty("6"));
    bench.found(&[beyond]);
    assert_eq!(bench.alarms, [HaltCause::TermsDiffer { id: bench.row.id }]);
}

#[test]
fn only_a_working_order_is_amended_and_one_at_a_time() {
    let refuses = |bench: &Bench, change: &Change| {
        let done = bench.row.apply(change, &[]);
        assert!(matches!(done, Err(ChangeError::NoAmend { .. })), "{done:?}");
    };
    let bench = Bench::placed(camp(), intent());
    refuses(&bench, &asking(&bench, 1, NEW));
    let bench = amending();
    refuses(&bench, &asking(&bench, 2, OLD));
    let mut bench = working();
    refuses(&bench, &asking(&bench, 2, NEW));
    bench.ask_cancel();
    refuses(&bench, &asking(&bench, 1, NEW));
    bench.found(&[report(OrdStatus::Canceled, "A", None)]);
    refuses(&bench, &asking(&bench, 1, NEW));
    let mut market = intent();
    market.amount = Amount::Quote(qty("100"));
    let mut bench = Bench::placed(camp(), market);
    bench.answered(&Submission::Acked(report(OrdStatus::Open, "A", None)));
    refuses(&bench, &asking(&bench, 1, NEW));
}

#[test]
fn a_row_keeps_the_newest_amends_and_the_one_that_stands() {
    let mut bench = working();
    let reject = AmendOutcome::Unsupported;
    for no in 1..=20_u32 {
        let price: Px = (60_000 + no).to_string().parse().unwrap();
        let mut change = asking(&bench, no, NEW);
        change.amend.as_mut().unwrap().terms.price = price;
        bench.commit(change);
        if no == 1 {
            bench.found(&[showing(("5", "60001"))]);
        } else {
            bench.see(&Observation::Amended {
                no,
                answer: &reject,
            });
        }
    }
    stands(&bench, ("5", "60001"));
    let kept: Vec<u32> = bench.row.amends.iter().map(|amend| amend.no).collect();
    assert_eq!(kept, [1, 14, 15, 16, 17, 18, 19, 20]);
}
