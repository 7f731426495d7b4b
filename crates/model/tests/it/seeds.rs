//! The seeded simulation: ten thousand schedules, everything in them, the same again.

use surefill_model::sim::{Script, run, run_seeds, shrink};

fn seeds() -> u64 {
    let given = std::env::var("SUREFILL_SEEDS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

#[test]
fn ten_thousand_schedules_hold() {
    let tally = run_seeds(1, seeds(), None, 2, None);
    println!("{tally}");
    if let Some((seed, broken)) = &tally.failed {
        let shrunk = shrink(&Script::of(*seed), None, 2_000);
        let shrunk = shrunk.map(|shrunk| format!("{}\n{}", shrunk.broken, shrunk.script));
        panic!(
            "seed {seed}: {broken}\nshrunk: {}",
            shrunk.unwrap_or_default()
        );
    }
    assert!(tally.orders > tally.schedules / 2, "orders came to be");
    assert!(tally.halted > 0, "and some could not be settled");
    if tally.schedules >= 10_000 {
        assert_eq!(tally.missing(), [], "of what can happen");
    }
}

#[test]
fn a_seed_replays_exactly() {
    for seed in 1..100 {
        let script = Script::of(seed);
        assert_eq!(script, Script::of(seed));
        let (one, other) = (run(&script, None).log, run(&script, None).log);
        assert_eq!(one, other, "seed {seed}");
    }
}

/// Neither what ran before in a thread nor the order of seeds changes what happens.
#[test]
fn many_seeds_leave_the_same_trace_whatever_the_threads() {
    let (one, three) = (
        run_seeds(1, 600, None, 1, None),
        run_seeds(1, 600, None, 3, None),
    );
    assert_eq!(one.trace, three.trace);
    assert_eq!(one.events, three.events);
    assert_ne!(one.trace, run_seeds(2, 600, None, 1, None).trace);
}
