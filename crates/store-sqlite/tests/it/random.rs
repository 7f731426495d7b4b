//! Random sequences: the store in memory and the one in a file hold equal rows and give equal answers.

use std::fmt::Debug;
use std::time::Duration;

use proptest::prelude::*;
use surefill_conformance::store::{Draft, fill};
use surefill_core::{
    Cause, Change, Durability, Entry, Halt, HaltCause, Lift, Mark, MemoryStore, OrdState,
    OrderFilter, OrderRecord, Store, Watch,
};

use surefill_conformance::store::StoreFixture;

use crate::fixture::SqliteFixture;

const ORDERS: u32 = 6;

#[derive(Clone, Debug)]
enum Step {
    Begin(u32, Entry),
    Change {
        n: u32,
        stale: bool,
        to: Option<usize>,
        fills: Vec<u8>,
        cum: Option<u8>,
        mark: Option<u8>,
        next: bool,
        watch: Option<bool>,
        cancel: bool,
        halt: bool,
        unless_halted: bool,
        sync: bool,
    },
    Lift,
    Crash,
    PowerCut(usize),
    Reopen,
}

fn entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        4 => any::<bool>().prop_map(|doubt_blocks| Entry::Risk { doubt_blocks }),
        1 => Just(Entry::Exit),
        1 => Just(Entry::DespiteHalt { who: "me".into() }),
    ]
}

fn change() -> impl Strategy<Value = Step> {
    let what = (
        0..ORDERS,
        prop::bool::weighted(0.05),
        prop::option::weighted(0.8, 0..OrdState::ALL.len()),
        prop::collection::vec(0..4_u8, 0..3),
        prop::option::of(0..8_u8),
        prop::option::of(0..6_u8),
    );
    let with = (
        prop::bool::weighted(0.2),
        prop::option::weighted(0.2, any::<bool>()),
        prop::bool::weighted(0.05),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.2),
        any::<bool>(),
    );
    (what, with).prop_map(|((n, stale, to, fills, cum, mark), with)| {
        let (next, watch, cancel, halt, unless_halted, sync) = with;
        Step::Change {
            n,
            stale,
            to,
            fills,
            cum,
            mark,
            next,
            watch,
            cancel,
            halt,
            unless_halted,
            sync,
        }
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..ORDERS, entry()).prop_map(|(n, entry)| Step::Begin(n, entry)),
        20 => change(),
        2 => Just(Step::Lift),
        1 => Just(Step::Crash),
        1 => (0..4_usize).prop_map(Step::PowerCut),
        1 => Just(Step::Reopen),
    ]
}

/// Two orders a symbol, so that doubt of one is seen by the other.
fn draft(n: u32) -> Draft {
    Draft::new(n).symbol(&format!("S{}", n / 2))
}

fn of(step: &Step, row: Option<OrderRecord>) -> Option<(Change, Durability)> {
    let Step::Change {
        n,
        stale,
        to,
        fills,
        cum,
        mark,
        next,
        watch,
        cancel,
        halt,
        unless_halted,
        sync,
    } = step
    else {
        return None;
    };
    let draft = draft(*n);
    let row = row.unwrap_or_else(|| draft.begin().order);
    let at = row.updated_at.after(Duration::from_millis(1));
    let mut change = Change::of(&row, at, Cause::Report, format_args!("step {to:?}"));
    change.expected += u64::from(*stale);
    change.to = to.map(|at| OrdState::ALL[at]);
    let one = |exec: &u8| fill(&draft.symbol, &draft.order_id(), &exec.to_string(), "0.25");
    change.fills = fills.iter().map(one).collect();
    change.cum_qty = cum.map(|quarters| {
        let text = format!("{}", u32::from(quarters) * 25);
        let hundredths: rust_decimal::Decimal = text.parse().unwrap();
        surefill_core::Qty::new(hundredths / rust_decimal::Decimal::ONE_HUNDRED).unwrap()
    });
    change.order_id = cum.map(|_| draft.order_id());
    let last = row.last_attempt().map_or(1, |attempt| attempt.no);
    if let Some(mark) = mark {
        let mark = match mark {
            0 => Mark::NoneLeft,
            1 => Mark::Loose,
            2 => Mark::Admitted,
            3 => Mark::Receipt(format!("{}-r{last}", draft.id()).into()),
            4 => Mark::Revoked,
            _ => Mark::RevokeAsked,
        };
        change.marks.push((last, mark));
    }
    change.next_attempt = next.then(|| draft.attempt(last + 1));
    change.watch = watch.map(|on| on.then_some(Watch::UntilAbsent));
    change.cancel_requested = *cancel;
    change.halt = halt.then(|| {
        Halt::new(
            row.symbol_scope(),
            HaltCause::Surprise { id: row.id },
            at,
            "",
        )
    });
    change.unless_halted = *unless_halted;
    let durability = if *sync {
        Durability::Sync
    } else {
        Durability::Lazy
    };
    Some((change, durability))
}

/// An answer, or an error in words.
fn told<T: Debug, E: Debug>(result: Result<T, E>) -> String {
    format!("{result:?}")
}

/// Everything that a store tells of its orders.
async fn held(store: &dyn Store) -> Vec<String> {
    let mut all = vec![
        told(store.unfinished().await),
        told(store.orders(&OrderFilter::default()).await),
        told(store.halts().await),
    ];
    for n in 0..ORDERS {
        let draft = draft(n);
        let id = draft.id();
        all.push(told(store.order(id).await));
        all.push(told(store.history(id).await));
        all.push(told(store.fills(id).await));
        let found = store.by_order_id(&draft.venue, &draft.order_id()).await;
        all.push(told(found));
        for no in 1..4 {
            all.push(told(store.attempt(id, no).await));
            for key in draft.attempt(no).keys {
                all.push(told(store.by_key(&draft.venue, &key).await));
            }
            let receipt = format!("{id}-r{no}").into();
            all.push(told(store.by_key(&draft.venue, &receipt).await));
        }
    }
    all
}

async fn play(steps: Vec<Step>) {
    let mut memory = MemoryStore::default();
    let mut file = SqliteFixture::fresh().await;
    for step in steps {
        let store = file.store();
        match &step {
            Step::Begin(n, entry) => {
                let begin = draft(*n).entry(entry.clone()).begin();
                let expected = told(memory.begin(begin.clone()).await);
                assert_eq!(told(store.begin(begin).await), expected);
            }
            Step::Change { n, .. } => {
                let row = memory.order(draft(*n).id()).await.unwrap();
                let (change, durability) = of(&step, row).unwrap();
                let expected = told(memory.apply(change.clone(), durability).await);
                assert_eq!(told(store.apply(change, durability).await), expected);
            }
            Step::Lift => {
                let lift = Lift::All(draft(0).begin().order.symbol_scope());
                let at = draft(0).at();
                let expected = told(memory.lift(&lift, "me", "", at).await);
                assert_eq!(told(store.lift(&lift, "me", "", at).await), expected);
            }
            Step::Crash => {
                memory = memory.crash();
                file = file.crash().await;
            }
            Step::Reopen => {
                memory.close().await.unwrap();
                memory = memory.crash();
                file = file.reopen().await;
            }
            Step::PowerCut(lose) => {
                memory = memory.power_cut(*lose);
                file = file.power_cut(*lose).await;
            }
        }
        assert_eq!(held(&*file.store()).await, held(&memory).await, "{step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_file_hold_equal_rows(steps in prop::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(play(steps));
    }
}
