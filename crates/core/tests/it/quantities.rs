//! Quantities: whatever order reports and fills come in, they are gross, never shrink, and are booked once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use surefill_core::{
    Begin, Entry, ExecReport, Fill, HaltCause, Lookup, MemoryStore, Observation, OrdState,
    OrdStatus, OrderRecord, Pursuit, Qty, Step, Store, Submission, decide,
};

use crate::kit::{
    Bench, Camp, H0, LAG, T0, at, done, fill, filled_by, intent, no_answer, placed, qty, report,
};

/// One thing that a venue says, with the fills it lists.
#[derive(Clone, Debug)]
struct Said {
    status: OrdStatus,
    order: u8,
    cum: Option<u8>,
    fills: Vec<u8>,
    by_lookup: bool,
    crash: bool,
    cut: Option<usize>,
}

fn said(orders: u8) -> impl Strategy<Value = Said> {
    let status = prop_oneof![
        6 => Just(OrdStatus::Open),
        3 => Just(OrdStatus::NotShown),
        1 => Just(OrdStatus::Filled),
        1 => Just(OrdStatus::Canceled),
        1 => Just(OrdStatus::Rejected),
    ];
    let cut = prop_oneof![8 => Just(None), 1 => (0..4_usize).prop_map(Some)];
    (
        status,
        0..orders,
        proptest::option::of(0..=32_u8),
        proptest::collection::vec(0..8_u8, 0..4),
        any::<bool>(),
        proptest::bool::weighted(0.1),
        cut,
    )
        .prop_map(|(status, order, cum, fills, by_lookup, crash, cut)| Said {
            status,
            order,
            cum,
            fills,
            by_lookup,
            crash,
            cut,
        })
}

/// Executions 0 to 7 of an order, each with a quantity of its own.
fn execution(order: u8, n: u8) -> Fill {
    let name = order_name(order);
    fill(&name, &format!("x{n}"), &format!("0.{}", n % 3 + 1))
}

fn order_name(order: u8) -> String {
    char::from(b'A' + order).to_string()
}

impl Said {
    fn report(&self) -> ExecReport {
        let cum = self.cum.map(|cum| format!("{}.{}", cum / 10, cum % 10));
        let fills: Vec<Fill> = self
            .fills
            .iter()
            .map(|n| execution(self.order, *n))
            .collect();
        let report = report(self.status, &order_name(self.order), cum.as_deref());
        filled_by(report, &fills)
    }
}

/// A process over the journal: decides, notes, commits.
struct Process {
    store: MemoryStore,
    camp: Camp,
    row: OrderRecord,
    pursuit: Pursuit,
    alarms: Vec<HaltCause>,
    now: u64,
}

impl Process {
    fn over(store: MemoryStore, camp: Camp, id: surefill_core::ClOrdId, now: u64) -> Self {
        let row = done(store.order(id)).unwrap().unwrap();
        let mut pursuit = Pursuit::default();
        pursuit.booked(&done(store.fills(id)).unwrap());
        let halts = done(store.halts()).unwrap();
        Self {
            store,
            camp,
            row,
            pursuit,
            alarms: halts.into_iter().map(|halt| halt.cause).collect(),
            now,
        }
    }

    fn see(&mut self, seen: &Observation<'_>) {
        let mut now = *seen;
        for _ in 0..12 {
            let mut bench = Bench::restarted(self.camp, self.row.clone(), self.now);
            bench.alarms.clone_from(&self.alarms);
            let situation = bench.situation();
            let step = decide(&self.row, &self.pursuit, &bench.profile, &now, &situation);
            self.pursuit
                .note(&self.row, &bench.profile, &now, &step, &situation);
            let Step::Advance(change) = step else { return };
            if let Some(halt) = &change.halt {
                self.alarms.push(halt.cause.clone());
            }
            let durability = change.durability();
            let after = done(self.store.apply(*change, durability)).expect("a legal change");
            held(&self.row, &after);
            self.row = after;
            now = Observation::Resume;
        }
        panic!("no rest: {:?}", self.row);
    }
}

/// What no change may break.
fn held(before: &OrderRecord, after: &OrderRecord) {
    assert!(after.cum_qty >= before.cum_qty, "I4");
    assert!(after.booked_qty >= before.booked_qty, "I4");
    if before.state.is_terminal() {
        assert_eq!(after.state, before.state, "I3");
    } else {
        assert!(after.cum_qty >= after.booked_qty, "booked is executed");
    }
    assert!(
        after.state != OrdState::Rejected || before.state.is_terminal() || after.cum_qty.is_zero()
    );
    assert_eq!(
        after.fills_owed(),
        after.state.is_terminal() && after.booked_qty < after.cum_qty
    );
}

fn sum<'f>(fills: impl IntoIterator<Item = &'f Fill>) -> Qty {
    fills.into_iter().fold(Qty::ZERO, |sum, fill| {
        sum.checked_add(fill.last_qty).unwrap()
    })
}

fn play(stream: &[Said], answered: bool) {
    let camp = Camp::PLAIN;
    let order = placed(camp, intent());
    let store = MemoryStore::new(at(T0));
    let begin = Begin {
        order: order.clone(),
        attempt: camp.attempt(1, T0, H0),
        entry: Entry::Risk { doubt_blocks: true },
    };
    let _begun = done(store.begin(begin)).unwrap();
    let mut process = Process::over(store, camp, order.id, T0);
    process.pursuit.sending();
    let answer = if answered {
        Submission::Acked(report(OrdStatus::Open, "A", None))
    } else {
        no_answer()
    };
    process.see(&Observation::Sent {
        no: 1,
        answer: &answer,
        first: true,
    });
    let mut told: BTreeMap<(String, String), Fill> = BTreeMap::new();
    for said in stream {
        process.now += LAG / 10;
        let report = said.report();
        if said.crash || said.cut.is_some() {
            let store = process.store.crash();
            let store = said.cut.map_or(store.clone(), |lose| store.power_cut(lose));
            process = Process::over(store, camp, order.id, process.now);
            // The next process reads the fills back from its cursor, with overlap.
            if said.cut.is_some() {
                told.clear();
                for fill in done(process.store.fills(order.id)).unwrap() {
                    told.insert(name(&fill), fill);
                }
            }
        }
        let ours = report.cum_qty.is_none_or(|cum_qty| cum_qty <= qty("3"));
        let known = process.row.order_ids.len();
        let reports = vec![report.clone()];
        if said.by_lookup {
            process.see(&Observation::Looked(&Lookup::Found(reports)));
        } else {
            process.see(&Observation::Report(&report));
        }
        for fill in &report.fills {
            told.insert(name(fill), fill.clone());
        }
        // A quantity beyond what was ordered halts, and is booked all the same.
        assert!(ours || !process.alarms.is_empty(), "{said:?}");
        let booked = done(process.store.fills(order.id)).unwrap();
        let names: Vec<_> = booked.iter().map(name).collect();
        let told_names: Vec<_> = told.keys().cloned().collect();
        let mut sorted = names.clone();
        sorted.sort();
        assert_eq!(sorted, told_names, "each fill once, after {said:?}");
        assert_eq!(process.row.booked_qty, sum(&booked));
        let row = &process.row;
        let second = HaltCause::SecondOrder { id: row.id };
        assert_eq!(
            row.order_ids.len() > 1,
            process.alarms.contains(&second),
            "{known} known before"
        );
        if row.state.is_terminal() && row.booked_qty > row.cum_qty {
            let late = HaltCause::LateFill { id: row.id };
            assert!(
                process.alarms.contains(&late) || process.alarms.contains(&second),
                "a late fill in silence: {row:?}"
            );
        }
    }
}

fn name(fill: &Fill) -> (String, String) {
    (fill.order_id.to_string(), fill.exec_id.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fills_of_one_order_are_booked_once_in_whatever_order_they_come(
        stream in proptest::collection::vec(said(1), 1..24),
        answered: bool,
    ) {
        play(&stream, answered);
    }

    #[test]
    fn fills_of_several_orders_are_booked_once_and_halt(
        stream in proptest::collection::vec(said(3), 1..24),
        answered: bool,
    ) {
        play(&stream, answered);
    }
}
