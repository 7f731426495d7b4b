//! The seeded simulation: the real engine over a store that loses lazy writes, a venue of a random camp, virtual time.

mod book;
mod camp;
mod draw;
mod event;
mod host;
mod lie;
mod lists;
mod noted;
mod process;
mod promise;
mod run;
mod script;
mod shadow;
mod shrink;
mod store;
mod venue;
mod verdict;
mod wire;
mod world;

pub use camp::{Camp, FenceKind, Ids};
pub use event::Event;
pub use lie::Lie;
pub use run::{Last, Outcome, run};
pub use script::{At, Script, Step, Unread};
pub use shrink::{Shrunk, shrink};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// In how many schedules each of it happened.
    pub events: BTreeMap<Event, u64>,
    /// A hash of everything that happened in all of them, whatever the order in which they ran.
    pub trace: u64,
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

    /// What can happen and did not.
    pub fn missing(&self) -> Vec<Event> {
        let never = |event: &Event| !self.events.contains_key(event);
        Event::ALL.into_iter().filter(never).collect()
    }

    fn take(&mut self, seed: u64, outcome: Outcome) -> bool {
        self.schedules += 1;
        self.orders += outcome.orders;
        self.halted += u64::from(outcome.halted());
        self.trace = self
            .trace
            .wrapping_add(outcome.trace.wrapping_mul(seed | 1));
        for event in outcome.events {
            *self.events.entry(event).or_default() += 1;
        }
        self.failed = outcome.broken.map(|broken| (seed, broken));
        self.failed.is_some()
    }

    fn join(&mut self, other: Self) {
        self.schedules += other.schedules;
        self.orders += other.orders;
        self.halted += other.halted;
        self.trace = self.trace.wrapping_add(other.trace);
        for (event, count) in other.events {
            *self.events.entry(event).or_default() += count;
        }
        self.failed = self.failed.take().or(other.failed);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} schedules in {:?}, {} a second; {} orders, {} schedules ended halted, trace {:016x}",
            self.schedules,
            self.took,
            self.per_second(),
            self.orders,
            self.halted,
            self.trace
        )?;
        for (event, count) in &self.events {
            write!(f, "\n{count:>8} {event:?}")?;
        }
        Ok(())
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
    let stop = AtomicBool::new(false);
    let one = |thread: u64| {
        let mut tally = Tally::default();
        let mut seed = from + thread;
        while seed - from < seeds
            && until.is_none_or(|until| begun.elapsed() < until)
            && !stop.load(Ordering::Acquire)
        {
            if tally.take(seed, run(&Script::of(seed), lie)) {
                stop.store(true, Ordering::Release);
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
            all.join(thread.join().expect("a thread of the simulation"));
        }
    });
    all.took = begun.elapsed();
    all
}
