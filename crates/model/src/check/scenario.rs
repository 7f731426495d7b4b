//! What goes wrong, beside what the venue is: the scenarios that every camp is checked in.

use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Budget, Camp, Check, Report};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scenario {
    /// A crash at any step, with or without lazy writes, and a message that is lost or held.
    Crash,
    /// A message that is lost or held, an order that trades, a slow round of lookups.
    Lists,
    /// A process that stands still at any step, and another one that takes over.
    Takeover,
    /// A request that is doubled below the client, one that is lost or held, a refusal.
    Doubled,
    /// A cancel at any moment, and a message that is lost or held.
    Cancel,
    /// A request that is doubled below the client, and a cancel at any moment, or an order that trades.
    Second,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Crash,
        Self::Lists,
        Self::Takeover,
        Self::Doubled,
        Self::Cancel,
        Self::Second,
    ];

    /// How much of what goes wrong; `deeper` adds as many faults, and at the first step trades or refusals where there are none.
    pub const fn budget(self, deeper: u8) -> Budget {
        let more = if deeper > 0 { 1 } else { 0 };
        let plain = Budget {
            faults: 1 + deeper,
            crashes: 0,
            doubles: 0,
            refusals: more,
            trades: more,
            cancels: 0,
            halts: 0,
            pushes: 0,
            slow: 0,
            pauses: 0,
            takeovers: 0,
        };
        match self {
            Self::Crash => Budget {
                crashes: 1,
                ..plain
            },
            Self::Lists => Budget {
                trades: 1 + more,
                slow: 1,
                ..plain
            },
            Self::Takeover => Budget {
                pauses: 1,
                takeovers: 1,
                ..plain
            },
            Self::Doubled => Budget {
                doubles: 1,
                refusals: 1,
                ..plain
            },
            Self::Cancel => Budget {
                cancels: 1,
                ..plain
            },
            Self::Second => Budget {
                faults: deeper,
                doubles: 1,
                cancels: 1,
                trades: 1 + more,
                ..plain
            },
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crash => "crash",
            Self::Lists => "lists",
            Self::Takeover => "takeover",
            Self::Doubled => "doubled",
            Self::Cancel => "cancel",
            Self::Second => "second",
        })
    }
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = |scenario: &Self| scenario.to_string() == text;
        let words = || Self::ALL.map(|scenario| scenario.to_string()).join(", ");
        let found = Self::ALL.into_iter().find(named);
        found.ok_or_else(|| format!("{text:?} is none of {}", words()))
    }
}

/// Checks every camp in every one of the scenarios, on as many threads as asked, each until the end or the limit of generated worlds.
pub fn check_all(
    scenarios: &[Scenario],
    threads: usize,
    limit: usize,
    make: impl Fn(Camp, Scenario) -> Check + Sync,
    done: impl Fn(&Camp, Scenario, &Report) + Sync,
) -> Vec<(Camp, Scenario, Report)> {
    let mut jobs = Vec::new();
    for camp in Camp::all() {
        jobs.extend(scenarios.iter().map(|scenario| (camp, *scenario)));
    }
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some((camp, scenario)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = make(*camp, *scenario).run(limit);
                    done(camp, *scenario, &report);
                    let mut reports = reports.lock().unwrap();
                    reports.push((*camp, *scenario, report));
                }
            });
        }
    });
    let mut reports = reports.into_inner().unwrap();
    let place = |camp: &Camp| Camp::all().iter().position(|other| other == camp);
    reports.sort_by_key(|(camp, scenario, _)| (place(camp), *scenario));
    reports
}
