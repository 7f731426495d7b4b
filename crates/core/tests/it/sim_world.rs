//! A model venue of any camp in virtual time, with a driver that loses messages, its memory and its power: one seed, one schedule.

use std::collections::BTreeSet;
use std::time::Duration;

use surefill_core::{
    Begin, CancelOutcome, Cause, Change, ClOrdId, Copies, DuplicateOf, DuplicateRule, Durability,
    Entry, ExecReport, Fence, Fill, GiveUp, Halt, HaltCause, Lacking, Lookup, Mark, MemoryStore,
    NotSent, Observation, OrdState, OrdStatus, OrderRecord, Pursuit, Reading, Reason, Resubmit,
    Revocation, Situation, Step, Store, StoreError, Submission, UnknownCause, VenueProfile, decide,
};

use crate::kit::{
    Camp, DRAIN, FenceKind, H0, LAG, T0, TTL, at, done, fill, filled_by, height_at, intent, ms,
    no_answer, placed, qty, refusal, report,
};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Open,
    Filled,
    Canceled,
}

/// An order in the book.
#[derive(Clone, Debug)]
struct Live {
    name: String,
    life: Life,
    /// From then on it shows in lists.
    shows: u64,
    /// While it moves from one list to the other it is in neither.
    gap: (u64, u64),
    /// With the instants from which they show.
    fills: Vec<(u64, Fill)>,
}

impl Live {
    fn report(&self, seen_at: u64) -> ExecReport {
        let status = match self.life {
            Life::Open => OrdStatus::Open,
            Life::Filled => OrdStatus::Filled,
            Life::Canceled => OrdStatus::Canceled,
        };
        let shown = self.fills.iter().filter(|(shows, _)| *shows <= seen_at);
        let shown: Vec<Fill> = shown.map(|(_, fill)| fill.clone()).collect();
        let cum = self.fills.len().to_string();
        filled_by(report(status, &self.name, Some(&cum)), &shown)
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A copy of an attempt reaches the gate.
    Gate { no: u32, copy: usize },
    /// It reaches the book.
    Book { no: u32, copy: usize },
    /// Something happens to an order.
    Trade { order: usize },
}

/// The venue: a gate with a fence, a way to a book, lists that lag.
#[derive(Debug)]
struct Venue {
    camp: Camp,
    dice: Dice,
    now: u64,
    events: Vec<(u64, Event)>,
    fences: Vec<Fence>,
    /// Attempts whose bytes are remembered, or used up.
    remembered: BTreeSet<u32>,
    revoked: BTreeSet<u32>,
    /// When an order with our id was last taken.
    taken_at: Option<u64>,
    orders: Vec<Live>,
    lie: Option<Lie>,
    /// What was answered to each copy, and when.
    answers: Vec<Option<(u64, Submission)>>,
}

impl Venue {
    /// A copy sets out and arrives after `delay`.
    fn send(&mut self, no: u32, delay: u64) -> usize {
        let copy = self.answers.len();
        self.answers.push(None);
        self.events
            .push((self.now + delay, Event::Gate { no, copy }));
        copy
    }

    fn run(&mut self, until: u64) {
        loop {
            let next = self
                .events
                .iter()
                .enumerate()
                .filter(|(_, (time, _))| *time <= until)
                .min_by_key(|(_, (time, _))| *time)
                .map(|(index, _)| index);
            let Some(index) = next else { break };
            let (time, event) = self.events.remove(index);
            self.now = self.now.max(time);
            match event {
                Event::Gate { no, copy } => self.gate(no, copy),
                Event::Book { no, copy } => self.book(no, copy),
                Event::Trade { order } => self.trade(order),
            }
        }
        self.now = self.now.max(until);
    }

    fn answer(&mut self, copy: usize, answer: Submission) {
        self.answers[copy] = Some((self.now, answer));
    }

    fn gate(&mut self, no: u32, copy: usize) {
        let passed = match self.fences[usize::try_from(no).unwrap() - 1] {
            Fence::None => false,
            Fence::Clock(fence) => at(self.now) > fence,
            Fence::Height(fence) => height_at(self.now) > fence,
        };
        if passed && self.lie != Some(Lie::Fence) {
            return self.answer(copy, not_taken("outside of the window"));
        }
        if self.revoked.contains(&no) || self.remembered.contains(&no) {
            return self.answer(copy, Submission::Duplicate(DuplicateOf::Bytes));
        }
        if self.now < CALM && self.dice.percent(10) {
            return self.answer(copy, not_taken("too many requests"));
        }
        if (self.camp.replayable || self.camp.revocable) && self.lie != Some(Lie::Memory) {
            self.remembered.insert(no);
        }
        let longest = if self.lie == Some(Lie::Drain) {
            5 * DRAIN
        } else {
            DRAIN
        };
        let drain = self.dice.below(longest);
        self.events
            .push((self.now + drain, Event::Book { no, copy }));
    }

    fn book(&mut self, no: u32, copy: usize) {
        let known = match self.camp.duplicate {
            DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => {
                self.taken_at.is_some()
            }
            DuplicateRule::RefusedWithin(window) => self
                .taken_at
                .is_some_and(|taken| at(self.now) < at(taken).after(window)),
            DuplicateRule::RefusedWhileOpen => {
                self.orders.iter().any(|order| order.life == Life::Open)
            }
            DuplicateRule::Accepted => false,
        };
        if known && self.camp.duplicate == DuplicateRule::ReturnsExisting {
            let existing = self.orders[0].report(self.now);
            return self.answer(copy, Submission::Acked(existing));
        }
        if known {
            return self.answer(copy, Submission::Duplicate(DuplicateOf::Id));
        }
        if self.dice.percent(15) {
            if self.camp.uses_up {
                self.remembered.insert(no);
            } else if !self.camp.revocable {
                self.remembered.remove(&no);
            }
            return self.answer(copy, refusal());
        }
        let order = self.orders.len();
        self.taken_at = Some(self.now);
        let longest = if self.lie == Some(Lie::Lag) {
            10 * LAG
        } else {
            LAG
        };
        let shows = self.now + self.dice.below(longest);
        self.orders.push(Live {
            name: format!("O{order}"),
            life: Life::Open,
            shows,
            gap: (0, 0),
            fills: Vec::new(),
        });
        if self.dice.percent(80) {
            self.trade(order);
        } else {
            self.events
                .push((self.now + 10_000, Event::Trade { order }));
        }
        let mut acked = self.orders[order].report(self.now);
        if self.dice.percent(30) {
            acked = report(
                OrdStatus::Open,
                &acked.handle.order_id.unwrap().to_string(),
                None,
            );
        }
        self.answer(copy, Submission::Acked(acked));
    }

    fn trade(&mut self, index: usize) {
        let now = self.now;
        let shows = now + self.dice.below(LAG);
        let gap = (now, now + self.dice.below(LAG));
        let kind = self.dice.below(10);
        let order = &mut self.orders[index];
        if order.life != Life::Open {
            return;
        }
        match kind {
            0..=4 if order.fills.len() < 3 => {
                let n = order.fills.len();
                let name = order.name.clone();
                order
                    .fills
                    .push((shows, fill(&name, &format!("x{n}"), "1")));
                if order.fills.len() == 3 {
                    (order.life, order.gap) = (Life::Filled, gap);
                }
            }
            5 => (order.life, order.gap) = (Life::Canceled, gap),
            _ => {}
        }
        let wait = 1 + self.dice.below(8_000);
        if now > CALM + 60_000 {
            let order = &mut self.orders[index];
            if order.life == Life::Open {
                (order.life, order.gap) = (Life::Canceled, gap);
            }
        }
        self.events
            .push((now + wait, Event::Trade { order: index }));
    }

    /// What the lists show in a round that begins now.
    fn shown(&self) -> Vec<ExecReport> {
        let visible = self.orders.iter().filter(|order| {
            let between = order.gap.0 <= self.now && self.now < order.gap.1;
            order.shows <= self.now && !between
        });
        visible.map(|order| order.report(self.now)).collect()
    }

    fn cancel(&mut self) -> CancelOutcome {
        let now = self.now;
        let gap = (now, now + self.dice.below(LAG));
        let open = self
            .orders
            .iter_mut()
            .find(|order| order.life == Life::Open);
        let Some(order) = open else {
            return CancelOutcome::NotOpen;
        };
        (order.life, order.gap) = (Life::Canceled, gap);
        let ended = order.report(now);
        match self.dice.below(3) {
            0 => CancelOutcome::Taken,
            _ => CancelOutcome::Canceled(ended),
        }
    }

    fn revoke(&mut self, no: u32) -> Revocation {
        if !self.camp.revocable {
            return Revocation::Unsupported;
        }
        if self.remembered.contains(&no) || self.revoked.contains(&no) {
            return Revocation::Used;
        }
        if self.lie != Some(Lie::Revocation) {
            self.revoked.insert(no);
        }
        Revocation::Revoked
    }
}

fn not_taken(text: &str) -> Submission {
    Submission::NotTaken {
        cause: Reason::new("", text),
        retry_after: None,
    }
}

/// A part of the world that is not what it claims to be: with it the promises must break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// The profile says that an id is unique for ever, and the venue takes it again.
    Unique,
    /// The venue takes what comes after the fence.
    Fence,
    /// The way from the gate to the book is longer than the profile says.
    Drain,
    /// Orders show later than the profile says.
    Lag,
    /// The venue forgets the bytes that it is said to remember.
    Memory,
    /// The venue says that it revoked, and did not.
    Revocation,
    /// The store says that a commit is durable, and it is not.
    Store,
}

impl Lie {
    /// Takes the world to where the lie matters.
    fn tell(self, world: &mut World) {
        let weak = Camp {
            fence: FenceKind::Documented,
            ..Camp::PLAIN
        };
        let camp = match self {
            Self::Unique | Self::Fence | Self::Drain | Self::Lag | Self::Store => weak,
            Self::Memory => Camp {
                replayable: true,
                ..weak
            },
            Self::Revocation => Camp {
                revocable: true,
                ..weak
            },
        };
        world.camp = camp;
        world.profile = camp.profile();
        world.venue.camp = camp;
        world.doubles = false;
        if self == Self::Unique {
            world.profile.duplicate = DuplicateRule::RefusedForever;
        }
        world.venue.lie = Some(self);
        let mut intent = world.row.intent.clone();
        intent.resubmit = Resubmit::AfterAbsence;
        intent.give_up = GiveUp::Accept;
        world.row = placed(camp, intent);
        let first = camp.attempt(1, T0, H0);
        world.venue.fences = vec![first.fence];
        world.store = MemoryStore::new(at(T0));
        let begin = Begin {
            order: world.row.clone(),
            attempt: first,
            entry: Entry::Risk { doubt_blocks: true },
        };
        let _begun = done(world.store.begin(begin)).unwrap();
        world.cancel_at = None;
    }
}

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

    fn look(&mut self) -> Step {
        if self.faults() && self.dice.percent(15) {
            self.pass(ms(100));
            let failed = Lookup::Inconclusive(UnknownCause::new("502"));
            return self.see(&Observation::Looked(&failed));
        }
        let begun = self.reading().saturating_sub(CLOCK_ERROR);
        let begun_height = self.venue.now;
        let mut shown = self.venue.shown();
        let slow = self.faults() && self.dice.percent(10);
        let reading = self.dice.below(if slow { 3_000 } else { 300 });
        self.pass(ms(reading));
        let ended = self.reading() + CLOCK_ERROR;
        let look = if shown.is_empty() {
            match self.camp.fence {
                FenceKind::Height | FenceKind::AssumedHeight => {
                    self.camp.round(begun_height, self.venue.now)
                }
                FenceKind::None | FenceKind::Documented | FenceKind::Assumed => {
                    self.camp.round(begun, ended)
                }
            }
        } else {
            if self.dice.percent(50) {
                shown.reverse();
            }
            Lookup::Found(shown)
        };
        self.see(&Observation::Looked(&look))
    }

    /// Sends the journaled bytes, and waits for the answer.
    fn send(&mut self, no: u32) -> Step {
        let first = self.row.attempt(no).unwrap().copies == Copies::Loose
            && !self.log.iter().any(|line| line.contains(&sent(no)));
        self.pursuit.sending();
        if self.faults() && self.dice.percent(5) {
            return self.crash();
        }
        if self.faults() && self.dice.percent(10) {
            let answer = Submission::NotSent(NotSent::Connect("refused".into()));
            return self.see(&Observation::Sent {
                no,
                answer: &answer,
                first,
            });
        }
        self.log.push(format!("{} {}", self.venue.now, sent(no)));
        let held = self.faults() && self.dice.percent(20);
        let delay = self.dice.below(if held { 20_000 } else { 200 });
        let copy = if self.faults() && self.dice.percent(15) {
            None
        } else {
            Some(self.venue.send(no, delay))
        };
        if self.faults() && self.doubles && self.dice.percent(40) {
            let later = self.dice.below(20_000);
            self.venue.send(no, later);
            self.doubled = true;
        }
        if self.faults() && self.dice.percent(8) {
            self.pass(ms(TIME_OUT / 2));
            return self.crash();
        }
        let until = self.venue.now + TIME_OUT;
        self.venue.run(until);
        let lost = self.faults() && self.dice.percent(25);
        let receipt = self.dice.percent(10);
        let answer = copy
            .and_then(|copy| self.venue.answers[copy].clone())
            .filter(|_| !lost)
            .map_or_else(no_answer, |(_, answer)| match answer {
                Submission::Acked(_) if receipt => Submission::Received("bundle-1".into()),
                answer => answer,
            });
        self.see(&Observation::Sent {
            no,
            answer: &answer,
            first,
        })
    }

    fn may_send(&self) -> Result<(), String> {
        match self.told {
            Some(told) => Err(format!("sent after {told} was told")),
            None => Ok(()),
        }
    }

    fn replay(&mut self, no: u32) -> Result<Step, String> {
        self.may_send()?;
        let mut change = Change::of(&self.row, at(self.reading()), Cause::Replayed, "");
        if self.row.state == OrdState::Pending {
            change = change.to(OrdState::Submitted);
        }
        if self.row.attempt(no).unwrap().copies != Copies::Loose {
            change = change.mark(no, Mark::Loose);
            self.commit(change);
        }
        Ok(self.send(no))
    }

    fn new_attempt(&mut self) -> Result<Step, String> {
        self.may_send()?;
        let no = self.row.last_attempt().unwrap().no + 1;
        // The adapter sets the fence from the time that it reads.
        let attempt = self
            .camp
            .attempt(no, self.reading(), height_at(self.venue.now));
        let mut change =
            Change::of(&self.row, at(self.reading()), Cause::Resent, "").to(OrdState::Submitted);
        change.next_attempt = Some(attempt.clone());
        change.unless_halted = true;
        let durability = self.durability(&change);
        match done(self.store.apply(change, durability)) {
            Ok(row) => self.row = row,
            Err(StoreError::Halted(halt)) => {
                self.alarms.push(halt.cause);
                return Ok(self.see(&Observation::Resume));
            }
            Err(error) => panic!("{error}\n{}", self.log.join("\n")),
        }
        // A number that a power cut took back would be given out again, for other bytes.
        if usize::try_from(no).unwrap() <= self.venue.fences.len() {
            return Err("an attempt was lost".to_owned());
        }
        self.venue.fences.push(attempt.fence);
        Ok(self.send(no))
    }

    fn revoke(&mut self, no: u32) -> Step {
        self.pass(ms(50));
        if self.faults() && self.dice.percent(20) {
            let lost = Revocation::Inconclusive(UnknownCause::new("lost"));
            return self.see(&Observation::Revoked { no, answer: &lost });
        }
        let mut answer = self.venue.revoke(no);
        if self.faults() && self.dice.percent(20) {
            answer = Revocation::Inconclusive(UnknownCause::new("lost"));
        }
        self.pass(ms(50));
        self.see(&Observation::Revoked {
            no,
            answer: &answer,
        })
    }

    fn cancel(&mut self) -> Step {
        self.pass(ms(50));
        let mut answer = if self.faults() && self.dice.percent(20) {
            CancelOutcome::Unknown(UnknownCause::new("lost"))
        } else {
            self.venue.cancel()
        };
        if self.faults() && self.dice.percent(20) {
            answer = CancelOutcome::Unknown(UnknownCause::new("lost"));
        }
        self.pass(ms(50));
        self.see(&Observation::CancelAnswer(&answer))
    }

    /// The promises, at the end.
    fn judge(&mut self) -> Result<(), String> {
        // Whatever lives is shown once more, as a bulk read of orders and fills does.
        let now = self.venue.now;
        for index in 0..self.venue.orders.len() {
            let report = self.venue.orders[index].report(now + LAG);
            self.see(&Observation::Report(&report));
            self.see(&Observation::Report(&report));
        }
        let orders = self.venue.orders.len();
        if orders > 1 {
            let remembers = self.camp.replayable || self.camp.revocable;
            let keeps_id = match self.camp.duplicate {
                DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => true,
                DuplicateRule::RefusedWithin(window) => at(T0).after(window) > at(END),
                DuplicateRule::RefusedWhileOpen | DuplicateRule::Accepted => false,
            };
            let documented = self.doubled && !remembers && !keeps_id;
            // A refusal that does not use up remembered bytes lets another copy of them through.
            let forgotten = self.doubled && !self.camp.uses_up && !keeps_id;
            let halted = self.alarms.iter().any(HaltCause::needs_person);
            if !((documented || forgotten) && halted) {
                return Err(format!("P1: {orders} orders"));
            }
        }
        let booked = done(self.store.fills(self.id)).unwrap();
        let mut names: Vec<_> = booked.iter().map(fill_name).collect();
        names.sort();
        let executed = self.venue.orders.iter().flat_map(|order| &order.fills);
        let mut truth: Vec<_> = executed.map(|(_, fill)| fill_name(fill)).collect();
        truth.sort();
        if names != truth {
            return Err(format!("P3: booked {names:?}, executed {truth:?}"));
        }
        if self.row.state == OrdState::Rejected && orders > 0 && !self.doubled {
            return Err("an order under a rejected row".to_owned());
        }
        for cause in &self.alarms {
            let lacks = match cause {
                HaltCause::Doubt { lacking, .. } => match lacking {
                    Lacking::Fence => self.camp.fence == FenceKind::None,
                    Lacking::DocumentedDrain => self.row.intent.give_up == GiveUp::Strict,
                    Lacking::Answer | Lacking::Sight | Lacking::Retention => false,
                },
                HaltCause::SecondOrder { .. } => orders > 1,
                HaltCause::Surprise { .. } | HaltCause::LateFill { .. } => self.doubled,
                _ => false,
            };
            if !lacks {
                return Err(format!("P2: halted without a reason: {cause:?}"));
            }
        }
        if !self.alarms.is_empty() {
            return Ok(());
        }
        if self.row.unfinished() {
            return Err(format!(
                "P2: {} and watch {:?} at the end, and no halt",
                self.row.state, self.row.watch
            ));
        }
        let agrees = match (self.row.state, self.venue.orders.first()) {
            (OrdState::Filled, Some(order)) => order.life == Life::Filled,
            (OrdState::Canceled, Some(order)) => order.life == Life::Canceled,
            (OrdState::Canceled | OrdState::Rejected, None) => true,
            _ => false,
        };
        if agrees {
            Ok(())
        } else {
            Err(format!("P5: {} is not the venue's word", self.row.state))
        }
    }

    /// The story, for a failing seed.
    pub(crate) fn story(&self) -> String {
        format!(
            "{:?} {:?} {:?}\n{}\n{:#?}\nalarms {:?}",
            self.camp,
            self.row.intent.resubmit,
            self.row.intent.give_up,
            self.log.join("\n"),
            self.venue.orders,
            self.alarms
        )
    }

    pub(crate) fn outcome(&self) -> (OrdState, bool, usize) {
        (
            self.row.state,
            !self.alarms.is_empty(),
            self.venue.orders.len(),
        )
    }
}

fn sent(no: u32) -> String {
    format!("sends attempt {no} of the journal")
}

fn fill_name(fill: &Fill) -> String {
    format!("{}/{}", fill.order_id, fill.exec_id)
}
