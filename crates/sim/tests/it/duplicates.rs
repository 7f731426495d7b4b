//! When a client id is taken, under each rule.

use rust_decimal::Decimal;
use surefill_sim::core::{DuplicateRule, OrderNo, Refusal, Side, TimeInForce, What};

use crate::desk::{Desk, limit, named};

/// An order with this id that has been filled, and one that was canceled.
fn ended(rule: DuplicateRule) -> Desk {
    let mut desk = Desk::new(rule, 1);
    let filled = desk.place(named("filled")).unwrap();
    desk.apply(What::Fill {
        order: filled,
        qty: Decimal::ONE,
        price: None,
    });
    let canceled = desk.place(named("canceled")).unwrap();
    desk.apply(What::Cancel { order: canceled });
    assert!(
        desk.core
            .orders()
            .iter()
            .all(|order| !order.status.is_open())
    );
    desk
}

#[test]
fn refused_forever_holds_after_fill_and_cancel() {
    let mut desk = ended(DuplicateRule::RefusedForever);
    for id in ["filled", "canceled"] {
        assert_eq!(desk.place(named(id)), Err(Refusal::Duplicate), "{id}");
    }
    desk.apply(What::CloseDay);
    assert_eq!(desk.place(named("filled")), Err(Refusal::Duplicate));
    assert_eq!(desk.core.orders().len(), 2);
}

#[test]
fn refused_day_holds_after_fill_and_cancel_until_the_day_ends() {
    let mut desk = ended(DuplicateRule::RefusedDay);
    for id in ["filled", "canceled"] {
        assert_eq!(desk.place(named(id)), Err(Refusal::Duplicate), "{id}");
    }
    desk.apply(What::CloseDay);
    assert_eq!(desk.place(named("filled")), Ok(OrderNo(3)));
    assert_eq!(
        desk.core.by_wire_id("a", "filled"),
        [OrderNo(1), OrderNo(3)],
        "two orders are two rows"
    );
}

#[test]
fn refused_day_forgets_the_oldest_first() {
    let mut desk = Desk::new(DuplicateRule::RefusedDay, 1);
    desk.apply(What::SetRules {
        duplicate: DuplicateRule::RefusedDay,
        window: 3,
    });
    for id in ["1", "2", "3"] {
        desk.place(named(id)).unwrap();
    }
    assert_eq!(
        desk.place(named("1")),
        Err(Refusal::Duplicate),
        "three are remembered"
    );
    desk.place(named("4")).unwrap();
    for id in ["2", "3", "4"] {
        assert_eq!(desk.place(named(id)), Err(Refusal::Duplicate), "{id}");
    }
    desk.place(named("1")).expect("the oldest has left");
    desk.place(named("2"))
        .expect("and the one after it, pushed out by the first");
    let other = surefill_sim::core::NewOrder {
        account: "b".to_owned(),
        ..named("4")
    };
    desk.place(other).expect("ids are per account");
}

#[test]
fn only_an_accepted_order_takes_an_id() {
    for rule in DuplicateRule::ALL {
        let mut desk = Desk::new(rule, 1);
        let beyond = surefill_sim::core::NewOrder {
            order_qty: Decimal::new(1_000_000_000_000, 0),
            ..named("x")
        };
        assert_eq!(desk.place(beyond), Err(Refusal::Funds), "{rule:?}");
        let reducing = surefill_sim::core::NewOrder {
            reduce_only: true,
            ..named("x")
        };
        assert_eq!(
            desk.place(reducing),
            Err(Refusal::NothingToReduce),
            "{rule:?}"
        );
        assert_eq!(desk.place(named("x")), Ok(OrderNo(1)), "{rule:?}");
    }
    // An order that is accepted and ends at once has taken its id.
    let mut desk = Desk::new(DuplicateRule::RefusedForever, 0);
    let killed = surefill_sim::core::NewOrder {
        time_in_force: TimeInForce::Ioc,
        ..named("x")
    };
    desk.place(killed).unwrap();
    assert_eq!(desk.place(named("x")), Err(Refusal::Duplicate));
}

#[test]
fn while_open_frees_the_id_when_the_order_ends() {
    let mut desk = ended(DuplicateRule::WhileOpen);
    desk.place(named("filled")).unwrap();
    assert_eq!(
        desk.place(named("filled")),
        Err(Refusal::Duplicate),
        "open again"
    );
    desk.place(named("canceled")).unwrap();
    assert_eq!(desk.core.orders().len(), 4);
}

#[test]
fn returns_existing_answers_with_the_first_order() {
    let mut desk = ended(DuplicateRule::ReturnsExisting);
    assert_eq!(desk.place(named("filled")), Ok(OrderNo(1)));
    assert_eq!(desk.place(named("canceled")), Ok(OrderNo(2)));
    assert_eq!(desk.core.orders().len(), 2);
}

#[test]
fn accepted_makes_two_orders() {
    let mut desk = Desk::new(DuplicateRule::Accepted, 1);
    desk.place(named("x")).unwrap();
    desk.place(named("x")).unwrap();
    assert_eq!(desk.core.by_wire_id("a", "x"), [OrderNo(1), OrderNo(2)]);
}

#[test]
fn a_change_of_rules_does_not_reach_back() {
    let mut desk = Desk::new(DuplicateRule::Accepted, 1);
    desk.place(named("x")).unwrap();
    desk.place(named("x")).unwrap();
    desk.apply(What::SetRules {
        duplicate: DuplicateRule::RefusedForever,
        window: 10_000,
    });
    assert_eq!(
        desk.core.by_wire_id("a", "x").len(),
        2,
        "what was accepted stays"
    );
    assert!(
        desk.core
            .orders()
            .iter()
            .all(|order| order.status.is_open())
    );
    assert_eq!(
        desk.place(named("x")),
        Err(Refusal::Duplicate),
        "from now on"
    );
    desk.apply(What::SetRules {
        duplicate: DuplicateRule::Accepted,
        window: 10_000,
    });
    desk.place(named("x")).unwrap();
    assert_eq!(desk.core.by_wire_id("a", "x").len(), 3);
}

#[test]
fn orders_without_an_id_are_never_duplicates() {
    let mut desk = Desk::new(DuplicateRule::RefusedForever, 1);
    desk.place(limit(Side::Buy, 1, 50)).unwrap();
    desk.place(limit(Side::Buy, 1, 50)).unwrap();
    assert_eq!(desk.core.orders().len(), 2);
}
