//! The seeded simulation: the real engine over a store that loses lazy writes, a venue of a random camp, virtual time.

mod camp;
mod host;
mod run;
mod script;
mod shrink;
mod store;
mod venue;
mod world;

pub use camp::{Camp, FenceKind, Ids, Lie};
pub use run::{Outcome, run};
pub use script::{At, Script, Step, Unread};
pub use shrink::{Shrunk, shrink};

use std::time::{Duration, Instant};

/// What many seeds came to.
#[derive(Debug, Default)]
pub struct Tally {
    /// Schedules that were run.
    pub schedules: u64,
    /// Orders that came to be at a venue.
    pub orders: u64,
    /// Schedules that ended under a halt which a promise of the venue's lack explains.
    pub halted: u64,
    /// The first that failed: its seed and what it broke.
    pub failed: Option<(u64, String)>,
    /// How long it took.
    pub took: Duration,
}

impl Tally {
    /// Schedules per second.
    pub fn per_second(&self) -> u64 {
        let ms = self.took.as_millis().max(1);
        u64::try_from(u128::from(self.schedules) * 1_000 / ms).unwrap_or(u64::MAX)
    }
}

/// Runs seeds from `from` on, on so many threads, each with runtimes of its own, until `seeds` are done, `until` has passed, or one fails.
#[allow(
    clippy::disallowed_methods,
    reason = "how long it takes is what it measures"
)]
pub fn run_seeds(
    from: u64,
    seeds: u64,
    until: Option<Duration>,
    threads: u64,
    lie: Option<Lie>,
) -> Tally {
    let begun = Instant::now();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let one = |thread: u64| {
        let mut tally = Tally::default();
        let mut seed = from + thread;
        while seed - from < seeds
            && until.is_none_or(|until| begun.elapsed() < until)
            && !stop.load(std::sync::atomic::Ordering::Acquire)
        {
            let outcome = run(&Script::of(seed), lie);
            tally.schedules += 1;
            tally.orders += outcome.orders;
            tally.halted += u64::from(outcome.halted);
            if let Some(broken) = outcome.broken {
                tally.failed = Some((seed, broken));
                stop.store(true, std::sync::atomic::Ordering::Release);
                break;
            }
            seed += threads;
        }
        tally
    };
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let one = &one;
        let running: Vec<_> = (0..threads)
            .map(|no| scope.spawn(move || one(no)))
            .collect();
        for thread in running {
            let tally = thread.join().expect("a thread of the simulation");
            all.schedules += tally.schedules;
            all.orders += tally.orders;
            all.halted += tally.halted;
            all.failed = all.failed.take().or(tally.failed);
        }
    });
    all.took = begun.elapsed();
    all
}
