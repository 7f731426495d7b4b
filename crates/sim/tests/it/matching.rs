//! What the core does with orders: each rule by example, and the whole against a naive matcher.

use proptest::prelude::*;
use rust_decimal::Decimal;
use surefill_sim::core::{
    DuplicateRule, Ended, Flat, Happening, NewOrder, OrdStatus, OrdType, OrderNo, SelfTrade, Side,
    TimeInForce, What,
};

use crate::desk::{Desk, KEY, limit};

fn dec(number: i64) -> Decimal {
    Decimal::new(number, 0)
}

fn desk(size: i64) -> Desk {
    Desk::new(DuplicateRule::RefusedForever, size)
}

fn of(account: &str, new: NewOrder) -> NewOrder {
    NewOrder {
        account: account.to_owned(),
        ..new
    }
}

#[test]
fn a_taker_walks_the_flat_book_and_the_book_is_full_again() {
    let mut desk = desk(1);
    for round in 1..=2 {
        let no = desk.place(limit(Side::Buy, 3, 110)).unwrap();
        let order = desk.core.order(no).unwrap();
        assert_eq!(
            (order.status, order.cum_value),
            (OrdStatus::Filled, dec(101 + 102 + 103)),
            "round {round}"
        );
        assert_eq!(order.cum_fee, Decimal::new(306 * 55, 5));
    }
    assert_eq!(desk.core.accounts()["a"].positions[KEY].qty, dec(6));
}

#[test]
fn resting_orders_trade_before_the_flat_book_at_their_price_and_better_ones_first() {
    let mut desk = desk(1);
    let early = desk.place(of("b", limit(Side::Sell, 1, 101))).unwrap();
    let late = desk.place(of("b", limit(Side::Sell, 1, 101))).unwrap();
    let better = desk.place(of("b", limit(Side::Sell, 1, 100))).unwrap();
    let taker = desk.place(limit(Side::Buy, 3, 101)).unwrap();
    let makers: Vec<OrderNo> = desk
        .core
        .fills()
        .iter()
        .filter(|fill| fill.maker)
        .map(|fill| fill.order)
        .collect();
    assert_eq!(makers, [better, early, late]);
    assert_eq!(
        desk.core.order(taker).unwrap().cum_value,
        dec(100 + 101 + 101)
    );
}

#[test]
fn time_in_force_decides_what_happens_to_the_rest() {
    let placed = |time_in_force, qty, price| {
        let mut desk = desk(1);
        desk.apply(What::SetMarket {
            instrument: KEY.to_owned(),
            flat: Flat {
                bid: dec(99),
                ask: dec(101),
                size: dec(1),
                levels: 2,
            },
        });
        let no = desk
            .place(NewOrder {
                time_in_force,
                ..limit(Side::Buy, qty, price)
            })
            .unwrap();
        let order = desk.core.order(no).unwrap();
        (order.status, order.cum_qty, order.ended)
    };
    let canceled = |cum, why| (OrdStatus::Canceled, dec(cum), Some(why));
    assert_eq!(
        placed(TimeInForce::Gtc, 5, 110),
        (OrdStatus::PartiallyFilled, dec(2), None)
    );
    assert_eq!(
        placed(TimeInForce::Ioc, 5, 110),
        canceled(2, Ended::NoImmediate)
    );
    assert_eq!(
        placed(TimeInForce::Fok, 5, 110),
        canceled(0, Ended::NotEnough)
    );
    assert_eq!(
        placed(TimeInForce::Fok, 2, 110),
        (OrdStatus::Filled, dec(2), Some(Ended::Filled))
    );
    assert_eq!(
        placed(TimeInForce::PostOnly, 1, 101),
        canceled(0, Ended::WouldTake)
    );
    assert_eq!(
        placed(TimeInForce::PostOnly, 1, 100),
        (OrdStatus::New, dec(0), None)
    );
}

#[test]
fn a_market_order_ends_with_what_its_protection_price_allows() {
    let mut desk = desk(1);
    let market = NewOrder {
        ord_type: OrdType::Market,
        time_in_force: TimeInForce::Ioc,
        ..limit(Side::Sell, 5, 98)
    };
    let no = desk.place(market).unwrap();
    let order = desk.core.order(no).unwrap();
    assert_eq!(
        (order.cum_qty, order.cum_value, order.ended),
        (dec(2), dec(99 + 98), Some(Ended::NoImmediate))
    );
}

#[test]
fn reduce_only_never_turns_a_position() {
    let mut desk = desk(10);
    desk.place(limit(Side::Buy, 3, 101)).unwrap();
    let reducing = |qty, price| NewOrder {
        reduce_only: true,
        ..limit(Side::Sell, qty, price)
    };
    let waiting = desk.place(reducing(1, 120)).unwrap();
    let no = desk.place(reducing(5, 99)).unwrap();
    let order = desk.core.order(no).unwrap();
    assert_eq!(
        (order.cum_qty, order.ended),
        (dec(3), Some(Ended::ReduceOnly))
    );
    assert_eq!(desk.core.accounts()["a"].positions[KEY].qty, dec(0));
    assert_eq!(
        desk.core.order(waiting).unwrap().ended,
        Some(Ended::ReduceOnly),
        "nothing is left to reduce"
    );
}

#[test]
fn the_self_trade_rule_of_the_incoming_order_counts() {
    let met = |self_trade| {
        let mut desk = desk(0);
        let maker = desk.place(limit(Side::Sell, 2, 100)).unwrap();
        let taker = desk
            .place(NewOrder {
                self_trade,
                ..limit(Side::Buy, 2, 100)
            })
            .unwrap();
        let ended = |no| desk.core.order(no).unwrap().ended;
        (ended(maker), ended(taker))
    };
    assert_eq!(
        met(SelfTrade::None),
        (Some(Ended::Filled), Some(Ended::Filled))
    );
    assert_eq!(met(SelfTrade::CancelMaker), (Some(Ended::SelfTrade), None));
    assert_eq!(met(SelfTrade::CancelTaker), (None, Some(Ended::SelfTrade)));
    assert_eq!(
        met(SelfTrade::CancelBoth),
        (Some(Ended::SelfTrade), Some(Ended::SelfTrade))
    );
}

#[test]
fn a_market_that_moves_through_a_resting_order_fills_it_by_what_it_holds() {
    let mut desk = desk(1);
    let no = desk.place(limit(Side::Buy, 5, 100)).unwrap();
    let flat = Flat {
        bid: dec(97),
        ask: dec(99),
        size: dec(2),
        levels: 1,
    };
    desk.apply(What::SetMarket {
        instrument: KEY.to_owned(),
        flat,
    });
    let order = desk.core.order(no).unwrap();
    assert_eq!(
        (order.cum_qty, order.cum_value, order.status),
        (dec(2), dec(200), OrdStatus::PartiallyFilled)
    );
}

#[test]
fn a_fill_by_hand_and_an_amend_keep_within_the_order() {
    let mut desk = desk(1);
    let no = desk.place(limit(Side::Buy, 5, 90)).unwrap();
    let fill = |desk: &mut Desk, qty| {
        desk.apply(What::Fill {
            order: no,
            qty: dec(qty),
            price: None,
        })
    };
    assert!(matches!(
        fill(&mut desk, 6)[0].what,
        Happening::Refused { .. }
    ));
    fill(&mut desk, 2);
    let amend = |desk: &mut Desk, qty| {
        desk.apply(What::Amend {
            order: no,
            order_qty: Some(dec(qty)),
            price: None,
        })[0]
            .what
            .clone()
    };
    assert!(
        matches!(amend(&mut desk, 2), Happening::Refused { .. }),
        "not below what is filled"
    );
    assert!(matches!(amend(&mut desk, 3), Happening::Amended { .. }));
    fill(&mut desk, 1);
    assert_eq!(desk.core.order(no).unwrap().status, OrdStatus::Filled);
    assert!(
        matches!(fill(&mut desk, 1)[0].what, Happening::Refused { .. }),
        "an ended order is final"
    );
}

/// One step of a random day.
#[derive(Debug, Clone)]
enum Step {
    Place {
        account: bool,
        buy: bool,
        qty: i64,
        price: i64,
        kind: u8,
    },
    Cancel(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = (any::<bool>(), any::<bool>(), 1_i64..6, 95_i64..106, 0_u8..4).prop_map(
        |(account, buy, qty, price, kind)| Step::Place {
            account,
            buy,
            qty,
            price,
            kind,
        },
    );
    prop::collection::vec(
        prop_oneof![4 => place, 1 => any::<usize>().prop_map(Step::Cancel)],
        1..60,
    )
}

/// A matcher that sorts everything before each trade.
#[derive(Debug, Default)]
struct Naive {
    /// Number, account, buy, price, left; in order of arrival.
    book: Vec<(u64, bool, bool, i64, i64)>,
    /// Number to what traded.
    cum: Vec<i64>,
}

impl Naive {
    fn place(&mut self, account: bool, buy: bool, qty: i64, price: i64, kind: u8) {
        let no = u64::try_from(self.cum.len()).unwrap() + 1;
        self.cum.push(0);
        let mut makers: Vec<usize> = (0..self.book.len())
            .filter(|&i| {
                let (_, _, other_buy, other_price, _) = self.book[i];
                other_buy != buy
                    && if buy {
                        other_price <= price
                    } else {
                        other_price >= price
                    }
            })
            .collect();
        makers.sort_by_key(|&i| {
            let (no, _, _, price, _) = self.book[i];
            (if buy { price } else { -price }, no)
        });
        let there: i64 = makers.iter().map(|&i| self.book[i].4).sum();
        if (kind == 2 && there < qty) || (kind == 3 && there > 0) {
            return;
        }
        let mut left = qty;
        for i in makers {
            let traded = left.min(self.book[i].4);
            self.book[i].4 -= traded;
            left -= traded;
            let maker = usize::try_from(self.book[i].0).unwrap() - 1;
            self.cum[maker] += traded;
        }
        *self.cum.last_mut().unwrap() += qty - left;
        self.book.retain(|order| order.4 > 0);
        if left > 0 && (kind == 0 || kind == 3) {
            self.book.push((no, account, buy, price, left));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_core_matches_like_the_naive_one_and_its_sums_agree(steps in steps()) {
        let mut desk = desk(0);
        let mut naive = Naive::default();
        for step in steps {
            match step {
                Step::Place { account, buy, qty, price, kind } => {
                    let time_in_force = [TimeInForce::Gtc, TimeInForce::Ioc, TimeInForce::Fok, TimeInForce::PostOnly]
                        [usize::from(kind)];
                    let side = if buy { Side::Buy } else { Side::Sell };
                    let new = NewOrder { time_in_force, ..limit(side, qty, price) };
                    desk.place(of(if account { "a" } else { "b" }, new)).unwrap();
                    naive.place(account, buy, qty, price, kind);
                }
                Step::Cancel(which) => {
                    let open: Vec<OrderNo> =
                        desk.core.orders().iter().filter(|o| o.status.is_open()).map(|o| o.no).collect();
                    if let Some(no) = open.get(which % open.len().max(1)) {
                        desk.apply(What::Cancel { order: *no });
                        naive.book.retain(|order| order.0 != no.0);
                    }
                }
            }
        }
        for (order, cum) in desk.core.orders().iter().zip(&naive.cum) {
            prop_assert_eq!(order.cum_qty, dec(*cum), "order {:?}", order);
            if order.status.is_open() {
                prop_assert_eq!(order.cum_qty + order.leaves_qty(), order.order_qty);
            } else {
                prop_assert_eq!(order.leaves_qty(), dec(0));
            }
            let of_order: Decimal = desk.core.fills_of(order.no).map(|fill| fill.qty).sum();
            prop_assert_eq!(of_order, order.cum_qty);
        }
        for account in ["a", "b"] {
            let signed: Decimal = desk.core.fills().iter()
                .filter(|fill| fill.account == account)
                .map(|fill| fill.side.signed(fill.qty))
                .sum();
            let held = desk.core.accounts()[account].positions.get(KEY).copied().unwrap_or_default();
            prop_assert_eq!(held.qty, signed);
        }
        let open: Vec<u64> = desk.core.orders().iter().filter(|o| o.status.is_open()).map(|o| o.no.0).collect();
        let mut resting: Vec<u64> = naive.book.iter().map(|order| order.0).collect();
        resting.sort_unstable();
        prop_assert_eq!(open, resting);
    }
}
