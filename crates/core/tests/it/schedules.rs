//! Thousands of schedules against the model venue; a failing seed replays.

use std::collections::BTreeMap;

use crate::sim_world::{Lie, World};

/// Runs a seed and hands out how it ended.
fn run(seed: u64) -> (String, bool, usize) {
    let mut world = World::new(seed);
    if let Err(broken) = world.run() {
        panic!("seed {seed}: {broken}\n{}", world.story());
    }
    let (state, halted, orders) = world.outcome();
    (state.to_string(), halted, orders)
}

const SCHEDULES: u64 = 20_000;

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

/// The first seed whose schedule breaks that promise under the lie.
fn found_out(lie: Lie, promise: &str) -> u64 {
    let breaks = |seed: &u64| {
        let mut world = World::lying(*seed, lie);
        world.run().is_err_and(|broken| broken.starts_with(promise))
    };
    let found = (0..60_000).find(breaks);
    found.unwrap_or_else(|| panic!("no schedule finds {lie:?} out"))
}

#[test]
fn every_lie_of_a_venue_ends_in_two_orders() {
    for lie in [
        Lie::Unique,
        Lie::Fence,
        Lie::Drain,
        Lie::Lag,
        Lie::Memory,
        Lie::Revocation,
    ] {
        println!("{lie:?}: seed {}", found_out(lie, "P1"));
    }
}

#[test]
fn a_store_that_is_not_durable_loses_an_attempt_or_the_word_that_was_told() {
    found_out(Lie::Store, "an attempt was lost");
    found_out(Lie::Store, "a rejected row came back");
}
