//! The seeded simulation: ten thousand schedules, the same again, and lies that it must find.

use surefill_model::sim::{Lie, Script, Shrunk, Tally, run, run_seeds, shrink};

fn seeds() -> u64 {
    let given = std::env::var("SUREFILL_SEEDS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

/// The first seed at which a lie shows, made short.
fn found(lie: Lie) -> Shrunk {
    let Tally { failed, .. } = run_seeds(1, 5_000, None, 1, Some(lie));
    let (seed, broken) = failed.expect("a seed at which the lie shows");
    let shrunk = shrink(&Script::of(seed), Some(lie), 600).expect("a seed that fails");
    println!(
        "{lie:?}: seed {seed}, {broken}\nshrunk in {} runs to: {}\n{}",
        shrunk.runs, shrunk.broken, shrunk.script
    );
    let again: Script = shrunk.script.to_string().parse().expect("a script");
    assert_eq!(again, shrunk.script, "it reads back");
    assert_eq!(run(&again, Some(lie)).broken.as_ref(), Some(&shrunk.broken));
    assert_eq!(run(&again, None).broken, None, "without the lie it holds");
    assert!(
        again.steps.len() <= 8,
        "what shows it is short: {} steps",
        again.steps.len()
    );
    shrunk
}

#[test]
fn ten_thousand_schedules_hold() {
    let tally = run_seeds(1, seeds(), None, 2, None);
    println!(
        "{} schedules in {:?}, {} a second, {} orders, {} ended halted",
        tally.schedules,
        tally.took,
        tally.per_second(),
        tally.orders,
        tally.halted
    );
    if let Some((seed, broken)) = tally.failed {
        let shrunk = shrink(&Script::of(seed), None, 2_000);
        let shrunk = shrunk.map(|shrunk| format!("{}\n{}", shrunk.broken, shrunk.script));
        panic!(
            "seed {seed}: {broken}\nshrunk: {}",
            shrunk.unwrap_or_default()
        );
    }
    assert!(tally.orders > tally.schedules / 2, "orders came to be");
    assert!(tally.halted > 0, "and some could not be settled");
}

#[test]
fn a_seed_replays_exactly() {
    for seed in 1..200 {
        let script = Script::of(seed);
        assert_eq!(script, Script::of(seed));
        let (one, other) = (run(&script, None).log, run(&script, None).log);
        assert_eq!(one, other, "seed {seed}");
    }
}

#[test]
fn a_store_that_answers_before_it_writes_is_found() {
    found(Lie::BeginNotKept);
}

#[test]
fn ids_that_are_not_unique_are_found() {
    assert!(found(Lie::IdsNotUnique).broken.starts_with("P1"));
}

#[test]
fn a_longer_way_to_the_book_is_found() {
    found(Lie::LongerDrain);
}

#[test]
fn bytes_that_are_forgotten_are_found() {
    found(Lie::BytesForgotten);
}
