//! Everything outside of the process: time, what is on its way, what befalls whom; and the watch over it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use futures_util::FutureExt;
use surefill_core::{
    AmendOutcome, Begin, ClOrdId, ExecReport, Fence, Key, MemoryStore, Qty, Reason, Submission,
    TermsDigest, VenueEvent, VenueTime,
};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use super::book::{Gate, Held};
use super::camp::Camp;
use super::event::Event;
use super::lie::Lie;
use super::promise::Watched;
use super::script::At;
use super::shadow::Shadow;
use super::wire::Wire;

/// The venue's time when a schedule begins.
pub(super) const BASE_MS: u64 = 1_796_040_000_000;

/// A create on its way.
#[derive(Clone, Debug)]
pub(super) struct Create {
    pub(super) send: u64,
    pub(super) wire: Wire,
    pub(super) fence: Fence,
    pub(super) act: Act,
}

/// What the venue does with a request that reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Takes,
    Fills,
    Refuses,
    RefusesKeys,
}

/// An amend on its way.
#[derive(Clone, Debug)]
pub(super) struct AmendMessage {
    pub(super) send: u64,
    pub(super) key: Key,
    pub(super) fence: Fence,
    pub(super) qty: Option<u32>,
    pub(super) px: Option<u32>,
    pub(super) refused: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Message {
    Gate(Create),
    Book(Create),
    AmendGate(AmendMessage),
    AmendBook(AmendMessage),
    Cancel { send: u64, keys: Vec<Key> },
    Revoke { send: u64, key: Key, no: u32 },
}

/// What the venue answered.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Created(Submission),
    Amended(AmendOutcome),
    Canceled(Option<ExecReport>),
    Revoked(bool),
}

/// What is to go wrong.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) create: VecDeque<At>,
    pub(super) amend: VecDeque<At>,
    pub(super) cancel: VecDeque<At>,
    pub(super) revoke: VecDeque<At>,
    pub(super) looks: u32,
    pub(super) lists: u32,
    pub(super) down_until: u64,
    pub(super) mute: u32,
    pub(super) twice: bool,
    pub(super) swap: bool,
    pub(super) full_until: u64,
    /// After so many more writes one fails, kept all the same or not.
    pub(super) commit: Option<(u32, bool)>,
    /// After so many more writes and sends it befalls the process.
    pub(super) armed: Option<(u32, Blow)>,
}

/// What befalls a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blow {
    Dies,
    Stands(u64),
    TakenOver(u64),
}

/// Within so many milliseconds a process that stood still has taken in what it waited for.
const WAKING: u64 = 2;

/// Whether a process goes on now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Goes,
    /// For so many milliseconds.
    Stands(u64),
    Gone,
}

/// Everything outside of the process, and the watch over it.
#[derive(Debug)]
pub(super) struct World {
    pub(super) camp: Camp,
    pub(super) lie: Option<Lie>,
    seed: u64,
    started: Instant,
    queue: BTreeMap<(u64, u64), Message>,
    count: u64,
    pub(super) orders: Vec<Held>,
    pub(super) gates: BTreeMap<(Key, u32), Gate>,
    pub(super) answers: BTreeMap<u64, Answer>,
    pub(super) faults: Faults,
    /// The venue tells its time so much too early, ms.
    pub(super) time_behind: u64,
    pub(super) streams: BTreeMap<u64, UnboundedSender<VenueEvent>>,
    /// An event of the stream that comes after the next one.
    pub(super) held_back: Option<ExecReport>,
    /// The newest process.
    pub(super) life: u64,
    /// The process whose writes the store takes.
    pub(super) holder: u64,
    pub(super) alive: BTreeSet<u64>,
    paused: BTreeMap<u64, u64>,
    /// Whoever holds the journal died, or may not go on.
    pub(super) died: bool,
    /// Another process is to take the holder's place.
    pub(super) succeeded: bool,
    /// Processes whose journal is closed by a failed commit.
    pub(super) closed: BTreeSet<u64>,
    /// Orders that worked, as the journal says, when the newest process started.
    pub(super) worked: BTreeSet<ClOrdId>,
    /// Processes that have recovered.
    pub(super) recovered: BTreeSet<u64>,
    pub(super) store: MemoryStore,
    pub(super) shadow: Shadow,
    /// What a lying store has not written yet.
    pub(super) unkept: Vec<Begin>,
    pub(super) watched: Watched,
    /// The terms that were asked for last, for a store that lies about them.
    pub(super) asked_digest: Option<TermsDigest>,
    /// Faults have stopped.
    pub(super) quiet: bool,
    pub(super) events: BTreeSet<Event>,
    pub(super) broken: Option<String>,
    pub(super) log: Vec<String>,
}

impl World {
    pub(super) fn new(camp: Camp, lie: Option<Lie>, seed: u64) -> Self {
        let made_at = VenueTime::from_ms(BASE_MS);
        Self {
            camp: camp.truth(lie),
            lie,
            seed,
            started: Instant::now(),
            queue: BTreeMap::new(),
            count: 0,
            orders: Vec::new(),
            gates: BTreeMap::new(),
            answers: BTreeMap::new(),
            faults: Faults::default(),
            time_behind: 0,
            streams: BTreeMap::new(),
            held_back: None,
            life: 0,
            holder: 0,
            alive: BTreeSet::new(),
            paused: BTreeMap::new(),
            died: false,
            succeeded: false,
            closed: BTreeSet::new(),
            worked: BTreeSet::new(),
            recovered: BTreeSet::new(),
            store: MemoryStore::new(made_at),
            shadow: Shadow::new(made_at),
            unkept: Vec::new(),
            watched: Watched::default(),
            asked_digest: None,
            quiet: false,
            events: BTreeSet::new(),
            broken: None,
            log: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> u64 {
        BASE_MS + u64::try_from(self.started.elapsed().as_millis()).unwrap_or(0)
    }

    pub(super) fn note(&mut self, what: impl std::fmt::Display) {
        let at = self.now() - BASE_MS;
        self.log.push(format!("{at:>6} {what}"));
    }

    pub(super) fn saw(&mut self, event: Event) {
        self.events.insert(event);
    }

    pub(super) fn lies(&self, lie: Lie) -> bool {
        self.lie == Some(lie)
    }

    /// The first promise that breaks is kept.
    pub(super) fn breaks(&mut self, what: String) {
        self.note(format_args!("BROKEN: {what}"));
        self.broken.get_or_insert(what);
    }

    pub(super) fn breaks_if(&mut self, what: Option<String>) {
        if let Some(what) = what {
            self.breaks(what);
        }
    }

    /// A process starts on the journal. One that holds it is the only one whose writes it takes.
    pub(super) fn begin_life(&mut self, holds: bool) -> u64 {
        self.life += 1;
        self.alive.insert(self.life);
        if holds {
            self.holder = self.life;
            self.died = false;
            self.succeeded = false;
            self.faults.armed = None;
            self.unkept.clear();
            let ids = self.shadow.ids().into_iter();
            let works = |id: &ClOrdId| {
                self.shadow
                    .row(*id)
                    .is_some_and(|row| row.state.is_working())
            };
            self.worked = ids.filter(works).collect();
        }
        self.life
    }

    /// Only the process that holds the journal is left.
    pub(super) fn end_the_past(&mut self) {
        let holder = self.holder;
        self.alive.retain(|life| *life == holder);
        self.streams.retain(|life, _| *life == holder);
        // One that stands still does so as a whole, to the end.
        self.paused.retain(|life, _| *life == holder);
    }

    /// Whoever holds the journal is gone.
    pub(super) fn kill(&mut self) {
        self.alive.remove(&self.holder);
        self.streams.remove(&self.holder);
        self.died = true;
    }

    /// Whether the process that holds the journal stands still, or did a moment ago: what it has to take in may be ahead of it.
    pub(super) fn stood_still(&self) -> bool {
        let until = self.paused.get(&self.holder);
        until.is_some_and(|until| until + WAKING >= self.now())
    }

    pub(super) fn turn(&self, life: u64) -> Turn {
        // Nothing goes on once a promise is broken.
        if !self.alive.contains(&life) || self.broken.is_some() {
            return Turn::Gone;
        }
        let until = self.paused.get(&life).copied().unwrap_or(0);
        match until.saturating_sub(self.now()) {
            0 => Turn::Goes,
            left => Turn::Stands(left),
        }
    }

    /// One more write or send of a process; something may befall it.
    pub(super) fn tick(&mut self, life: u64) {
        if life != self.holder || !self.alive.contains(&life) {
            return;
        }
        let blow = match &mut self.faults.armed {
            Some((0, blow)) => *blow,
            Some((left, _)) => {
                *left -= 1;
                return;
            }
            None => return,
        };
        self.faults.armed = None;
        let until = match blow {
            Blow::Dies => return self.kill(),
            Blow::Stands(ms) => self.now() + ms,
            Blow::TakenOver(ms) => {
                self.succeeded = true;
                self.now() + ms
            }
        };
        self.note(format_args!("process {life} stands still"));
        self.saw(Event::Paused);
        self.paused.insert(life, until);
    }

    /// A number below `below`, the same in every run: by the seed and what it is for.
    pub(super) fn draw(&self, what: u64, which: u64, below: u64) -> u64 {
        let mut z = self
            .seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(what.wrapping_mul(0xd1b5_4a32_d192_ed03))
            .wrapping_add(which);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }

    pub(super) const fn next_send(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    pub(super) fn post(&mut self, at: u64, message: Message) {
        self.count += 1;
        self.queue.insert((at, self.count), message);
    }

    /// When something happens next.
    pub(super) fn next_at(&self) -> Option<u64> {
        self.queue.keys().next().map(|(at, _)| *at)
    }

    /// Lets everything happen that is due.
    pub(super) fn settle(&mut self) {
        let now = self.now();
        while let Some((&(at, count), _)) = self.queue.first_key_value()
            && at <= now
        {
            if let Some(message) = self.queue.remove(&(at, count)) {
                self.arrive(at, message);
            }
        }
    }

    pub(super) fn is_down(&self) -> bool {
        self.now() < self.faults.down_until
    }

    pub(super) fn is_full(&self) -> bool {
        self.now() < self.faults.full_until
    }

    pub(super) fn row(&self, id: ClOrdId) -> Option<surefill_core::OrderRecord> {
        use surefill_core::Store as _;
        now(self.store.order(id)).ok().flatten()
    }
}

pub(super) fn turned(why: &str) -> Submission {
    Submission::NotTaken {
        cause: Reason::new("10002", why),
        retry_after: None,
    }
}

pub(super) fn quantity(n: u32) -> Qty {
    n.to_string().parse().expect("a quantity")
}

/// The result of a call of the memory store, which never waits.
pub(super) fn now<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().expect("memory does not wait")
}
