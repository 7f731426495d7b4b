//! Random flows with ids from a small pool, against a matcher that is naive on purpose; and a core that lies, which has
//! to be found out.

use std::collections::BTreeMap;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use rust_decimal::Decimal;
use surefill_sim::core::{
    Command, Core, DuplicateRule, Ended, Event, Fill, Happening, NewOrder, OrdStatus, OrdType,
    Order, OrderNo, Refusal, SelfTrade, Side, TimeInForce, What,
};

use crate::desk::{KEY, instrument, limit, named};

/// Whatever takes commands.
trait Subject {
    fn apply(&mut self, command: Command) -> Vec<Event>;
}

impl Subject for Core {
    fn apply(&mut self, command: Command) -> Vec<Event> {
        Self::apply(self, command)
    }
}

/// A core that says that it closes the day, and remembers the day's ids all the same.
#[derive(Debug)]
struct Liar {
    core: Core,
    rule: DuplicateRule,
    day: Vec<(String, String)>,
}

impl Subject for Liar {
    fn apply(&mut self, command: Command) -> Vec<Event> {
        if let What::SetRules { duplicate, .. } = &command.what {
            self.rule = *duplicate;
        }
        let What::Place(new) = &command.what else {
            return self.core.apply(command);
        };
        let key = new.wire_id.clone().map(|id| (new.account.clone(), id));
        let seen = key.as_ref().is_some_and(|key| self.day.contains(key));
        if seen && self.rule == DuplicateRule::RefusedDay {
            let nobody = What::Cancel {
                order: OrderNo(u64::MAX),
            };
            let mut events = self.core.apply(Command {
                what: nobody,
                ..command
            });
            events[0].what = Happening::Refused {
                refusal: Refusal::Duplicate,
            };
            return events;
        }
        let events = self.core.apply(command);
        if matches!(&events[0].what, Happening::Accepted(_)) {
            self.day.extend(key);
        }
        events
    }
}

/// Lists that are walked from the start, every time.
#[derive(Debug)]
struct Reference {
    rule: DuplicateRule,
    window: usize,
    orders: Vec<Order>,
    /// Account and id of the accepted orders of the day, oldest first.
    day: Vec<(String, String)>,
    fills: u64,
    commands: u64,
    seq: u64,
    at_ms: u64,
    said: Vec<Event>,
}

impl Reference {
    fn say(&mut self, what: Happening) {
        self.seq += 1;
        self.said.push(Event {
            seq: self.seq,
            at_ms: self.at_ms,
            what,
        });
    }

    fn index(&self, no: OrderNo) -> Option<usize> {
        self.orders.iter().position(|order| order.no == no)
    }

    fn close(&mut self, index: usize, ended: Ended) {
        let order = &mut self.orders[index];
        order.status = match ended {
            Ended::Filled => OrdStatus::Filled,
            _ => OrdStatus::Canceled,
        };
        let order = order.no;
        self.say(Happening::Closed { order, ended });
    }

    fn forget(&mut self) {
        for account in ["a", "b"] {
            while self.day.iter().filter(|(of, _)| of == account).count() > self.window {
                let oldest = self.day.iter().position(|(of, _)| of == account).unwrap();
                self.day.remove(oldest);
            }
        }
    }

    fn fill(&mut self, index: usize, qty: Decimal, price: Decimal, maker: bool) {
        self.fills += 1;
        let order = &mut self.orders[index];
        order.cum_qty += qty;
        order.status = OrdStatus::PartiallyFilled;
        let leaves_qty = order.order_qty - order.cum_qty;
        let fee_rate = if maker {
            Decimal::new(2, 4)
        } else {
            Decimal::new(55, 5)
        };
        let fill = Fill {
            no: self.fills,
            order: order.no,
            account: order.account.clone(),
            instrument: KEY.to_owned(),
            side: order.side,
            qty,
            price,
            fee: qty * price * fee_rate,
            fee_rate,
            leaves_qty,
            maker,
            sweep: self.commands,
            at_ms: self.at_ms,
            held_before: Decimal::ZERO,
            realized: Decimal::ZERO,
        };
        self.say(Happening::Filled(Box::new(fill)));
        if leaves_qty.is_zero() {
            self.close(index, Ended::Filled);
        }
    }

    /// The resting order that trades first with this one.
    fn best(&self, taker: usize) -> Option<usize> {
        let side = self.orders[taker].side;
        let limit = self.orders[taker].price;
        let mut best: Option<usize> = None;
        for (index, order) in self.orders.iter().enumerate() {
            let meets = index != taker
                && order.status.is_open()
                && order.side != side
                && side.accepts(limit, order.price);
            let better = best.is_none_or(|best| {
                let than = self.orders[best].price;
                match side {
                    Side::Buy => order.price < than,
                    Side::Sell => order.price > than,
                }
            });
            if meets && better {
                best = Some(index);
            }
        }
        best
    }

    fn place(&mut self, new: NewOrder) {
        if let Some(id) = &new.wire_id {
            let mut same = self
                .orders
                .iter()
                .filter(|order| order.account == new.account && order.wire_id.as_ref() == Some(id));
            let key = (new.account.clone(), id.clone());
            let taken = match self.rule {
                DuplicateRule::RefusedForever => same.next().is_some(),
                DuplicateRule::RefusedDay => self.day.contains(&key),
                DuplicateRule::WhileOpen => same.any(|order| order.status.is_open()),
                DuplicateRule::Accepted => false,
                DuplicateRule::ReturnsExisting => {
                    if let Some(first) = same.next() {
                        let order = first.no;
                        return self.say(Happening::Existing { order });
                    }
                    false
                }
            };
            if taken {
                return self.say(Happening::Refused {
                    refusal: Refusal::Duplicate,
                });
            }
            self.day.push(key);
            self.forget();
        }
        let order = Order {
            no: OrderNo(u64::try_from(self.orders.len()).unwrap() + 1),
            account: new.account,
            instrument: new.instrument,
            wire_id: new.wire_id,
            side: new.side,
            ord_type: OrdType::Limit,
            time_in_force: new.time_in_force,
            price: new.price,
            order_qty: new.order_qty,
            quote_qty: None,
            cum_qty: Decimal::ZERO,
            cum_value: Decimal::ZERO,
            cum_fee: Decimal::ZERO,
            reduce_only: false,
            self_trade: SelfTrade::None,
            status: OrdStatus::New,
            ended: None,
            accepted_at_ms: self.at_ms,
            updated_at_ms: self.at_ms,
            updated_seq: self.seq + 1,
        };
        self.orders.push(order.clone());
        self.say(Happening::Accepted(Box::new(order)));
        let taker = self.orders.len() - 1;
        let (side, limit) = (new.side, new.price);
        let there: Decimal = self
            .orders
            .iter()
            .take(taker)
            .filter(|order| {
                order.status.is_open() && order.side != side && side.accepts(limit, order.price)
            })
            .map(|order| order.order_qty - order.cum_qty)
            .sum();
        match new.time_in_force {
            TimeInForce::PostOnly if !there.is_zero() => {
                return self.close(taker, Ended::WouldTake);
            }
            TimeInForce::Fok if there < new.order_qty => {
                return self.close(taker, Ended::NotEnough);
            }
            _ => {}
        }
        while self.orders[taker].status.is_open()
            && let Some(maker) = self.best(taker)
        {
            let left = |order: &Order| order.order_qty - order.cum_qty;
            let qty = left(&self.orders[taker]).min(left(&self.orders[maker]));
            let price = self.orders[maker].price;
            self.fill(maker, qty, price, true);
            self.fill(taker, qty, price, false);
        }
        let ends = matches!(new.time_in_force, TimeInForce::Ioc | TimeInForce::Fok);
        if self.orders[taker].status.is_open() && ends {
            self.close(taker, Ended::NoImmediate);
        }
    }
}

impl Subject for Reference {
    fn apply(&mut self, command: Command) -> Vec<Event> {
        self.commands += 1;
        self.at_ms = command.at_ms;
        match command.what {
            What::Place(new) => self.place(*new),
            What::Cancel { order } => match self.index(order) {
                Some(index) if self.orders[index].status.is_open() => {
                    self.close(index, Ended::ByRequest);
                }
                Some(_) => self.say(Happening::Refused {
                    refusal: Refusal::NotOpen,
                }),
                None => self.say(Happening::Refused {
                    refusal: Refusal::UnknownOrder,
                }),
            },
            What::SetRules { duplicate, window } => {
                self.rule = duplicate;
                self.window = usize::try_from(window).unwrap();
                self.forget();
                self.say(Happening::RulesSet { duplicate, window });
            }
            What::CloseDay => {
                self.day.clear();
                self.say(Happening::DayClosed);
            }
            other => panic!("not in the flow: {other:?}"),
        }
        std::mem::take(&mut self.said)
    }
}

/// An empty book, two rich accounts, and the rule of the day with a window of three ids.
fn core() -> Core {
    let mut core = Core::new(DuplicateRule::RefusedDay, 3);
    let list = What::List(Box::new(instrument(0)));
    let open = ["a", "b"].map(|account| What::OpenAccount {
        account: account.to_owned(),
        balances: BTreeMap::from([("USDT".to_owned(), "1000000000".to_owned())]),
    });
    for what in [list].into_iter().chain(open) {
        core.apply(Command { at_ms: 1, what });
    }
    core
}

fn liar() -> Liar {
    Liar {
        core: core(),
        rule: DuplicateRule::RefusedDay,
        day: Vec::new(),
    }
}

fn reference() -> Reference {
    Reference {
        rule: DuplicateRule::RefusedDay,
        window: 3,
        orders: Vec::new(),
        day: Vec::new(),
        fills: 0,
        commands: 3,
        seq: 3,
        at_ms: 1,
        said: Vec::new(),
    }
}

fn flow() -> impl Strategy<Value = Vec<What>> {
    let place = (
        any::<bool>(),
        0_u8..6,
        any::<bool>(),
        1_i64..6,
        95_i64..106,
        0_usize..4,
    )
        .prop_map(|(first, id, buy, qty, price, kind)| {
            let side = if buy { Side::Buy } else { Side::Sell };
            let kinds = [
                TimeInForce::Gtc,
                TimeInForce::Ioc,
                TimeInForce::Fok,
                TimeInForce::PostOnly,
            ];
            What::Place(Box::new(NewOrder {
                account: if first { "a" } else { "b" }.to_owned(),
                wire_id: (id > 0).then(|| format!("id-{id}")),
                time_in_force: kinds[kind],
                ..limit(side, qty, price)
            }))
        });
    let cancel = (1_u64..60).prop_map(|no| What::Cancel { order: OrderNo(no) });
    let rules = (0_usize..5, 1_u32..5).prop_map(|(rule, window)| What::SetRules {
        duplicate: DuplicateRule::ALL[rule],
        window,
    });
    let step = prop_oneof![
        14 => place, 4 => cancel, 1 => rules, 2 => Just(What::CloseDay),
    ];
    proptest::collection::vec(step, 1..80)
}

/// The example: an id that was refused during the day is free after the close.
fn example(mut subject: impl Subject) -> Result<(), String> {
    let mut at_ms = 1;
    let mut place = |subject: &mut dyn Subject, what| {
        at_ms += 1;
        let events = subject.apply(Command { at_ms, what });
        matches!(&events[0].what, Happening::Accepted(_))
    };
    let order = || What::Place(Box::new(named("x")));
    let taken = place(&mut subject, order());
    let again = place(&mut subject, order());
    place(&mut subject, What::CloseDay);
    let after = place(&mut subject, order());
    if (taken, again, after) == (true, false, true) {
        Ok(())
    } else {
        Err(format!("{taken} {again} {after}"))
    }
}

/// The property: the same events as the naive matcher, byte for byte.
fn property(cases: u32, subject: impl Fn() -> Box<dyn Subject>) -> Result<(), String> {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let ran = runner.run(&flow(), |steps| {
        let (mut subject, mut naive) = (subject(), reference());
        for (at_ms, what) in (2..).zip(steps) {
            let command = Command { at_ms, what };
            let (got, want) = (subject.apply(command.clone()), naive.apply(command));
            prop_assert_eq!(
                serde_json::to_string(&got).unwrap(),
                serde_json::to_string(&want).unwrap()
            );
        }
        Ok(())
    });
    ran.map_err(|failed| failed.to_string())
}

#[test]
fn an_id_is_free_again_after_the_close() {
    example(core()).unwrap();
}

#[test]
fn a_random_flow_gives_the_events_of_the_naive_matcher() {
    property(400, || Box::new(core())).unwrap();
}

#[test]
fn a_core_that_does_not_clear_at_the_close_is_caught_by_the_example() {
    example(liar()).unwrap_err();
}

#[test]
fn a_core_that_does_not_clear_at_the_close_is_caught_by_the_property() {
    property(4_000, || Box::new(liar())).unwrap_err();
}
