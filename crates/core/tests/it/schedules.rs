//! Thousands of schedules against the model venue; a failing seed replays.

use std::collections::BTreeMap;

use crate::sim_world::World;

/// Runs a seed and hands out how it ended.
fn run(seed: u64) -> (String, bool, usize) {
    let mut world = World::new(seed);
    if let Err(broken) = world.run() {
        panic!("seed {seed}: {broken}\n{}", world.story());
    }
    let (state, halted, orders) = world.outcome();
    (state.to_string(), halted, orders)
}

const SCHEDULES: u64 = 6_000;

#[test]
fn every_schedule_keeps_the_promises() {
    let halves: Vec<BTreeMap<_, u64>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|half| {
                scope.spawn(move || {
                    let mut ends = BTreeMap::new();
                    for seed in (half..SCHEDULES).step_by(2) {
                        *ends.entry(run(seed)).or_default() += 1;
                    }
                    ends
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a half"))
            .collect()
    });
    let mut ends: BTreeMap<_, u64> = BTreeMap::new();
    for (end, count) in halves.into_iter().flatten() {
        *ends.entry(end).or_default() += count;
    }
    println!("{SCHEDULES} schedules (state, halted, orders): {ends:#?}");
    let with = |state: &str| {
        let of = |((other, ..), count): (&(String, bool, usize), &u64)| {
            if other == state { *count } else { 0 }
        };
        ends.iter().map(of).sum::<u64>()
    };
    for state in ["filled", "canceled", "rejected"] {
        assert!(with(state) > SCHEDULES / 20, "{state}: {}", with(state));
    }
}
