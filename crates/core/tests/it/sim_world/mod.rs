//! A model venue of any camp in virtual time, with a driver that loses messages, its memory and its power: one seed, one schedule.

mod judge;
mod lie;
mod sends;
mod venue;

use std::collections::BTreeSet;
use std::time::Duration;

use surefill_core::{
    Begin, Cause, Change, ClOrdId, DuplicateRule, Durability, Entry, GiveUp, Halt, HaltCause,
    MemoryStore, Observation, OrdState, OrdStatus, OrderRecord, Pursuit, Reading, Resubmit,
    Situation, Step, Store, VenueProfile, decide,
};

use crate::kit::{Camp, FenceKind, H0, T0, TTL, at, done, height_at, intent, ms, placed, qty};
pub(crate) use lie::Lie;
use venue::Venue;

/// SplitMix64: every choice of a schedule comes from its seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let n = self.below(u64::try_from(of.len()).unwrap());
        of[usize::try_from(n).unwrap()]
    }
}

/// Faults happen until then; afterwards every message arrives.
const CALM: u64 = T0 + 45_000;

/// By then everything must be settled or halted.
const END: u64 = T0 + 300_000;

/// How long the driver waits for an answer.
const TIME_OUT: u64 = 1_500;

/// One schedule: the venue, the journal and the process that drives one order.
#[derive(Debug)]
pub(crate) struct World {
    venue: Venue,
    store: MemoryStore,
    profile: VenueProfile,
    camp: Camp,
    dice: Dice,
    id: ClOrdId,
    row: OrderRecord,
    pursuit: Pursuit,
    alarms: Vec<HaltCause>,
    /// How far the clock that the process reads is from the venue's, at most [`CLOCK_ERROR`] to either side.
    clock: i64,
    /// A request may be doubled below the client.
    doubles: bool,
    doubled: bool,
    cancel_at: Option<u64>,
    told: Option<OrdState>,
    broken: Option<String>,
    log: Vec<String>,
}

const CLOCK_ERROR: u64 = 40;

impl World {
    /// The schedule of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let camp = Camp {
            duplicate: dice.pick(&[
                DuplicateRule::RefusedForever,
                DuplicateRule::RefusedWithin(Duration::from_secs(20)),
                DuplicateRule::RefusedWithin(Duration::from_secs(86_400)),
                DuplicateRule::RefusedWhileOpen,
                DuplicateRule::ReturnsExisting,
                DuplicateRule::Accepted,
            ]),
            fence: dice.pick(&[
                FenceKind::None,
                FenceKind::Documented,
                FenceKind::Documented,
                FenceKind::Assumed,
                FenceKind::Height,
                FenceKind::AssumedHeight,
            ]),
            replayable: dice.percent(40),
            revocable: dice.percent(40),
            uses_up: dice.percent(30),
        };
        let mut intent = intent();
        intent.resubmit = dice.pick(&[
            Resubmit::AfterProof,
            Resubmit::AfterAbsence,
            Resubmit::AfterAbsence,
            Resubmit::Never,
        ]);
        intent.give_up = dice.pick(&[GiveUp::Accept, GiveUp::Accept, GiveUp::Strict, GiveUp::Land]);
        let cancel_at = dice.percent(30).then(|| T0 + dice.below(TTL));
        let first = camp.attempt(1, T0, H0);
        let row = placed(camp, intent);
        let store = MemoryStore::new(at(T0));
        let begin = Begin {
            order: row.clone(),
            attempt: first.clone(),
            entry: Entry::Risk { doubt_blocks: true },
        };
        let _begun = done(store.begin(begin)).unwrap();
        let clock = i64::try_from(dice.below(2 * CLOCK_ERROR + 1)).unwrap();
        Self {
            venue: Venue {
                camp,
                dice: Dice::new(seed ^ 0xabcd),
                now: T0,
                events: Vec::new(),
                fences: vec![first.fence],
                remembered: BTreeSet::new(),
                revoked: BTreeSet::new(),
                taken_at: None,
                orders: Vec::new(),
                lie: None,
                answers: Vec::new(),
            },
            store,
            profile: camp.profile(),
            camp,
            id: row.id,
            row,
            pursuit: Pursuit::default(),
            alarms: Vec::new(),
            clock: clock - i64::try_from(CLOCK_ERROR).unwrap(),
            doubles: dice.percent(25),
            doubled: false,
            cancel_at,
            told: None,
            broken: None,
            log: Vec::new(),
            dice,
        }
    }

    /// The schedule of a seed in a world where something is not what it claims to be.
    pub(crate) fn lying(seed: u64, lie: Lie) -> Self {
        let mut world = Self::new(seed);
        lie.tell(&mut world);
        world
    }

    /// Runs to the end, or to the first broken promise.
    pub(crate) fn run(&mut self) -> Result<(), String> {
        let mut step = self.send(1);
        let mut idle = 0;
        while self.venue.now < END {
            if let Some(broken) = self.broken.take() {
                return Err(broken);
            }
            if self.faults() && self.dice.percent(4) {
                step = self.crash();
            }
            step = match step {
                Step::Advance(_) => unreachable!("followed"),
                Step::LookAgain { after } => {
                    self.pass(after);
                    self.events();
                    self.look()
                }
                Step::Wait { after } => {
                    self.pass(after);
                    self.events();
                    self.see(&Observation::Resume)
                }
                Step::Replay { no } => self.replay(no)?,
                Step::NewAttempt => self.new_attempt()?,
                Step::Revoke { no } => self.revoke(no),
                Step::Cancel => self.cancel(),
                Step::Halt { scope, cause } => {
                    let halt = Halt::new(scope, cause.clone(), at(self.reading()), "");
                    done(self.store.halt(&halt)).unwrap();
                    self.alarms.push(cause);
                    self.see(&Observation::Resume)
                }
                Step::Nothing => {
                    if self.row.unfinished() {
                        return Err("left alone while unfinished".to_owned());
                    }
                    idle += 1;
                    if idle > 40 {
                        break;
                    }
                    // The stream goes on.
                    self.pass(ms(5_000));
                    self.events();
                    self.see(&Observation::Resume)
                }
            };
        }
        self.judge()
    }

    fn faults(&self) -> bool {
        self.venue.now < CALM
    }

    fn reading(&self) -> u64 {
        self.venue.now.saturating_add_signed(self.clock)
    }

    fn situation(&self) -> Situation {
        let height = matches!(
            self.camp.fence,
            FenceKind::Height | FenceKind::AssumedHeight
        );
        Situation {
            now: Reading {
                now: at(self.reading()),
                error: ms(CLOCK_ERROR),
            },
            height: height.then(|| height_at(self.venue.now)),
            lease: true,
            entries_halted: self.alarms.iter().any(HaltCause::needs_person),
            alarms: self.alarms.clone(),
        }
    }

    fn see(&mut self, seen: &Observation<'_>) -> Step {
        let mut now = *seen;
        for _ in 0..12 {
            let situation = self.situation();
            let step = decide(&self.row, &self.pursuit, &self.profile, &now, &situation);
            self.pursuit
                .note(&self.row, &self.profile, &now, &step, &situation);
            self.log.push(format!(
                "{} {} {now:?} -> {step:?}",
                self.venue.now, self.row.state
            ));
            let Step::Advance(change) = step else {
                return step;
            };
            self.commit(*change);
            if self.faults() && self.dice.percent(2) {
                return self.crash();
            }
            now = Observation::Resume;
        }
        panic!("no rest\n{}", self.log.join("\n"));
    }

    fn commit(&mut self, change: Change) {
        if let Some(halt) = &change.halt {
            self.alarms.push(halt.cause.clone());
        }
        let durability = self.durability(&change);
        match done(self.store.apply(change, durability)) {
            Ok(row) => self.row = row,
            Err(error) => panic!("{error}\n{}", self.log.join("\n")),
        }
        if self.row.state.is_terminal() && self.told.is_none() {
            self.told = Some(self.row.state);
        }
        if !self.row.state.is_doubt() {
            let own = |cause: &HaltCause| matches!(cause, HaltCause::Doubt { .. });
            self.alarms.retain(|cause| !own(cause));
        }
    }

    fn durability(&self, change: &Change) -> Durability {
        if self.venue.lie == Some(Lie::Store) {
            Durability::Lazy
        } else {
            change.durability()
        }
    }

    /// The process dies, alone or with the power; the next one recovers.
    fn crash(&mut self) -> Step {
        let power = self.dice.percent(40);
        let lose = usize::try_from(self.dice.below(5)).unwrap();
        self.store = if power {
            self.store.power_cut(lose)
        } else {
            self.store.crash()
        };
        self.log.push(format!(
            "{} crash, power cut: {power}, lose {lose}",
            self.venue.now
        ));
        self.row = done(self.store.order(self.id)).unwrap().unwrap();
        if !self.row.state.is_terminal() {
            // A lazy end was lost with the power; Rejected is never lazy.
            if self.told == Some(OrdState::Rejected) {
                self.broken = Some("a rejected row came back".to_owned());
            }
            self.told = None;
        }
        self.pursuit = Pursuit::default();
        self.pursuit
            .booked(&done(self.store.fills(self.id)).unwrap());
        let halts = done(self.store.halts()).unwrap();
        self.alarms = halts.into_iter().map(|halt| halt.cause).collect();
        if !self.row.state.is_doubt() {
            self.alarms.retain(HaltCause::needs_person);
        }
        let down = self.dice.below(4_000);
        self.pass(ms(down));
        self.see(&Observation::Resume)
    }

    fn pass(&mut self, after: Duration) {
        let until = at(self.venue.now).after(after).as_ms() + 1;
        self.venue.run(until.min(END));
    }

    /// What comes from outside: a cancel is asked, the stream speaks, late or twice.
    fn events(&mut self) {
        if self.cancel_at.is_some_and(|time| self.venue.now >= time) {
            self.cancel_at = None;
            if !self.row.state.is_terminal() {
                let mut change =
                    Change::of(&self.row, at(self.reading()), Cause::CancelAsked, "the bot");
                change.cancel_requested = true;
                self.commit(change);
            }
        }
        let speaks = !self.faults() || self.dice.percent(20);
        let count = u64::try_from(self.venue.orders.len()).unwrap();
        if speaks && count > 0 {
            let index = usize::try_from(self.dice.below(count)).unwrap();
            let late = self.dice.below(3_000);
            let mut report = self.venue.orders[index].report(self.venue.now);
            if self.faults() && self.dice.percent(30) {
                // An older message of the same order.
                report.status = OrdStatus::Open;
                report.cum_qty = Some(qty("0"));
                report.fills.truncate(1);
            }
            if self.faults() {
                self.pass(ms(late / 10));
            }
            for _ in 0..=self.dice.below(2) {
                self.see(&Observation::Report(&report));
            }
        }
    }
}
