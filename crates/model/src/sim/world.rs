//! The venue's truth: a gate, a way, a book, lists that lag; and what the simulation notes while it runs.

use std::collections::{BTreeMap, VecDeque};

use futures_util::FutureExt;
use surefill_core::{
    Attempt, Begin, ClOrdId, DuplicateOf, ExecReport, Fence, Fill, Halt, Handle, Key, MemoryStore,
    OrdStatus, OrderId, OrderRecord, Qty, Reason, Reject, SeenTerms, Settlement, Store, Submission,
    VenueEvent, VenueTime,
};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use super::camp::{Camp, DRAIN, DRAIN_MORE, FenceKind, LAG, Lie};
use super::script::At;

/// The venue's time when a schedule begins.
pub(super) const BASE_MS: u64 = 1_796_040_000_000;

/// An order at the venue.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) key: Key,
    /// Which send made it.
    pub(super) send: u64,
    pub(super) order_id: OrderId,
    pub(super) status: OrdStatus,
    qty: u32,
    pub(super) cum: u32,
    /// Fills, and from when on lists show them.
    pub(super) fills: Vec<(Fill, u64)>,
    opened: u64,
    shown_open: u64,
    hidden_open: u64,
    shown_closed: u64,
}

/// A create on its way.
#[derive(Clone, Debug)]
pub(super) struct Create {
    pub(super) send: u64,
    pub(super) key: Key,
    pub(super) no: u32,
    pub(super) fence: Fence,
    pub(super) refused: bool,
    pub(super) fills: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Message {
    Gate(Create),
    Book(Create),
    Cancel { send: u64, keys: Vec<Key> },
    Revoke { send: u64, key: Key, no: u32 },
}

/// What the venue answered.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Created(Submission),
    Canceled(Option<ExecReport>),
    Revoked(bool),
}

#[derive(Clone, Copy, Debug, Default)]
struct Gate {
    passed: bool,
    revoked: bool,
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
    gates: BTreeMap<(Key, u32), Gate>,
    pub(super) answers: BTreeMap<u64, Answer>,
    pub(super) on_create: VecDeque<At>,
    pub(super) on_cancel: VecDeque<At>,
    pub(super) on_revoke: VecDeque<At>,
    pub(super) looks_fail: u32,
    pub(super) lists_fail: u32,
    pub(super) down_until: u64,
    pub(super) stream: Option<UnboundedSender<VenueEvent>>,
    pub(super) mute: u32,
    pub(super) twice: bool,
    /// Which life of the process is the present one.
    pub(super) life: u64,
    /// After so many more writes and sends it dies.
    pub(super) armed: Option<u32>,
    pub(super) died: bool,
    pub(super) store: MemoryStore,
    /// What a lying store has not written yet.
    pub(super) unkept: Vec<Begin>,
    /// Halts that only a person lifts, as they stood at the last look.
    pub(super) seen_halts: Vec<Halt>,
    pub(super) broken: Option<String>,
    pub(super) log: Vec<String>,
}

impl World {
    pub(super) fn new(camp: Camp, lie: Option<Lie>, seed: u64) -> Self {
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
            on_create: VecDeque::new(),
            on_cancel: VecDeque::new(),
            on_revoke: VecDeque::new(),
            looks_fail: 0,
            lists_fail: 0,
            down_until: 0,
            stream: None,
            mute: 0,
            twice: false,
            life: 0,
            armed: None,
            died: false,
            store: MemoryStore::new(VenueTime::from_ms(BASE_MS)),
            unkept: Vec::new(),
            seen_halts: Vec::new(),
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

    /// The first promise that breaks is kept.
    pub(super) fn breaks(&mut self, what: String) {
        self.note(format_args!("BROKEN: {what}"));
        self.broken.get_or_insert(what);
    }

    /// Whether that life goes on.
    pub(super) const fn lives(&self, life: u64) -> bool {
        self.life == life && !self.died
    }

    /// One more write or send; the process may die of it. Says whether it goes on.
    pub(super) fn tick(&mut self, life: u64) -> bool {
        if !self.lives(life) {
            return false;
        }
        match &mut self.armed {
            Some(0) => {
                self.died = true;
                false
            }
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        }
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

    fn arrive(&mut self, at: u64, message: Message) {
        match message {
            Message::Gate(create) => self.gate(at, create),
            Message::Book(create) => {
                let answer = self.book(at, &create);
                self.answer(create.send, Answer::Created(answer));
            }
            Message::Cancel { send, keys } => {
                // Of two orders under one id a request ends one.
                let open = self.open_under(&keys).first().copied();
                if let Some(index) = open {
                    self.end(index, at, OrdStatus::Canceled);
                }
                let report = open.map(|index| self.truth(index));
                self.answer(send, Answer::Canceled(report));
            }
            Message::Revoke { send, key, no } => {
                let gate = self.gates.entry((key, no)).or_default();
                let free = !gate.passed && !gate.revoked;
                gate.revoked = true;
                self.answer(send, Answer::Revoked(free));
            }
        }
    }

    fn answer(&mut self, send: u64, answer: Answer) {
        self.note(format_args!("venue: send {send} {answer:?}"));
        // Of two copies the first is answered.
        self.answers.entry(send).or_insert(answer);
    }

    fn gate(&mut self, at: u64, create: Create) {
        if let Fence::Clock(fence) = create.fence
            && at >= fence.as_ms()
        {
            let turned = turned("expired");
            return self.answer(create.send, Answer::Created(turned));
        }
        let remembered = self.camp.remembered && self.lie != Some(Lie::BytesForgotten);
        let revocable = self.camp.revocable;
        let gate = self
            .gates
            .entry((create.key.clone(), create.no))
            .or_default();
        if (remembered && gate.passed) || (revocable && gate.revoked) {
            let known = Submission::Duplicate(DuplicateOf::Bytes);
            return self.answer(create.send, Answer::Created(known));
        }
        gate.passed = true;
        let drawn = self.draw(1, create.send, 1_000);
        let drain = match self.camp.fence {
            FenceKind::None | FenceKind::Book => 0,
            _ if self.lie == Some(Lie::LongerDrain) => drawn * 6,
            FenceKind::Documented => drawn * DRAIN / 1_000,
            FenceKind::Assumed => drawn * (DRAIN + DRAIN_MORE) / 1_000,
        };
        self.post(at + drain, Message::Book(create));
    }

    fn book(&mut self, at: u64, create: &Create) -> Submission {
        use super::camp::Ids;
        if create.refused {
            return Submission::Rejected(Reject {
                reason: Reason::new("7", "not enough of it"),
                halts_account: false,
                leaves_bytes: false,
            });
        }
        let same = |held: &&Held| held.key == create.key;
        let open = |held: &&Held| held.status == OrdStatus::Open;
        let known = self.orders.iter().position(|held| held.key == create.key);
        match (self.camp.ids, known) {
            (Ids::Forever | Ids::Within, Some(_)) => {
                return Submission::Duplicate(DuplicateOf::Id);
            }
            (Ids::WhileOpen, Some(_))
                if self.orders.iter().filter(same).any(|held| open(&held)) =>
            {
                return Submission::Duplicate(DuplicateOf::Id);
            }
            (Ids::Existing, Some(index)) => return Submission::Acked(self.truth(index)),
            _ => {}
        }
        let index = self.orders.len();
        let which = u64::try_from(index).unwrap_or(0);
        self.orders.push(Held {
            key: create.key.clone(),
            send: create.send,
            order_id: format!("o{index}").into(),
            status: OrdStatus::Open,
            qty: 3,
            cum: 0,
            fills: Vec::new(),
            opened: at,
            shown_open: at + self.draw(2, which, LAG),
            hidden_open: u64::MAX,
            shown_closed: u64::MAX,
        });
        self.note(format_args!(
            "venue: order o{index} of send {}",
            create.send
        ));
        if create.fills {
            self.fill(index, 3, at);
        } else {
            self.tell(index);
        }
        Submission::Acked(self.truth(index))
    }

    /// The open orders under these keys.
    pub(super) fn open_under(&self, keys: &[Key]) -> Vec<usize> {
        let held = self.orders.iter().enumerate();
        held.filter(|(_, held)| keys.contains(&held.key) && held.status == OrdStatus::Open)
            .map(|(index, _)| index)
            .collect()
    }

    /// Executes so much of an open order, or what is left of it.
    pub(super) fn fill(&mut self, index: usize, qty: u32, at: u64) {
        let count = self.next_send();
        let shown = at + self.draw(3, count, LAG);
        let held = &mut self.orders[index];
        let qty = qty.min(held.qty - held.cum);
        let fill = Fill {
            symbol: "S".into(),
            order_id: held.order_id.clone(),
            exec_id: format!("x{count}").into(),
            last_qty: quantity(qty),
            last_px: "100".parse().expect("a price"),
            fee: surefill_core::Money::ZERO,
            fee_currency: "USD".into(),
            transact_time: VenueTime::from_ms(at),
            settlement: Settlement::Final,
        };
        held.cum += qty;
        held.fills.push((fill, shown));
        let id = held.order_id.clone();
        self.note(format_args!("venue: {id} fills {qty}"));
        if self.orders[index].cum == self.orders[index].qty {
            self.end(index, at, OrdStatus::Filled);
        } else {
            self.tell(index);
        }
    }

    pub(super) fn end(&mut self, index: usize, at: u64, status: OrdStatus) {
        let which = u64::try_from(index).unwrap_or(0);
        let (hidden, shown) = (self.draw(4, which, LAG), self.draw(5, which, LAG));
        let held = &mut self.orders[index];
        held.status = status;
        held.hidden_open = at + hidden;
        held.shown_closed = at + shown;
        let id = held.order_id.clone();
        self.note(format_args!("venue: {id} ends, {status:?}"));
        self.tell(index);
    }

    /// What the stream says of an order.
    fn tell(&mut self, index: usize) {
        if self.mute > 0 {
            self.mute -= 1;
            return;
        }
        let report = self.truth(index);
        let times = 1 + u32::from(std::mem::take(&mut self.twice));
        if let Some(stream) = &self.stream {
            for _ in 0..times {
                // A process that is gone hears nothing.
                drop(stream.send(VenueEvent::Report(report.clone())));
            }
        }
    }

    fn report(held: &Held, status: OrdStatus, cum: Option<u32>, fills: Vec<Fill>) -> ExecReport {
        ExecReport {
            handle: Handle {
                key: Some(held.key.clone()),
                order_id: Some(held.order_id.clone()),
            },
            status,
            cum_qty: cum.map(quantity),
            avg_px: None,
            reason: None,
            fills,
            seen: SeenTerms {
                order_qty: (status != OrdStatus::NotShown).then(|| quantity(held.qty)),
                ..SeenTerms::default()
            },
            transact_time: Some(VenueTime::from_ms(held.opened)),
        }
    }

    fn truth(&self, index: usize) -> ExecReport {
        let held = &self.orders[index];
        let fills = held.fills.iter().map(|(fill, _)| fill.clone()).collect();
        Self::report(held, held.status, Some(held.cum), fills)
    }

    /// What the list of open orders shows now.
    pub(super) fn list_open(&self) -> Vec<ExecReport> {
        let now = self.now();
        let shown = |held: &&Held| held.shown_open <= now && now < held.hidden_open;
        let report = |held: &Held| {
            let fills = visible(held, now);
            let cum = held.fills.iter().filter(|(_, at)| *at <= now);
            let cum = cum.fold(Qty::ZERO, |sum, (fill, _)| {
                sum.checked_add(fill.last_qty).expect("a sum")
            });
            let mut report = Self::report(held, OrdStatus::Open, None, fills);
            report.cum_qty = Some(cum);
            report
        };
        self.orders.iter().filter(shown).map(report).collect()
    }

    /// What the list of closed orders shows now: the end may show before the fills.
    pub(super) fn list_closed(&self) -> Vec<ExecReport> {
        let now = self.now();
        let shown = self.orders.iter().filter(|held| held.shown_closed <= now);
        shown
            .map(|held| Self::report(held, held.status, Some(held.cum), visible(held, now)))
            .collect()
    }

    /// What the list of fills shows now, one report per order.
    pub(super) fn list_fills(&self) -> Vec<ExecReport> {
        let now = self.now();
        let reports = self
            .orders
            .iter()
            .map(|held| Self::report(held, OrdStatus::NotShown, None, visible(held, now)));
        reports.filter(|report| !report.fills.is_empty()).collect()
    }

    /// What is looked at when a create is about to leave.
    pub(super) fn check_send(&mut self, attempt: &Attempt) {
        let Some(row) = self.row_of(&attempt.keys[0]) else {
            return;
        };
        if row.state.is_terminal() {
            self.breaks(format!("{} is sent although it is {}", row.id, row.state));
        }
        let halts = now(self.store.halts()).unwrap_or_default();
        let old = |halt: &&Halt| {
            let known = halts
                .iter()
                .any(|other| other.scope == halt.scope && other.cause == halt.cause);
            known && halt.scope.covers(row.alias(), &row.account, row.symbol())
        };
        let halted = self.seen_halts.iter().find(old).cloned();
        if let Some(halt) = halted
            && !row.intent.reduce_only
            && !row.land
        {
            self.breaks(format!(
                "P4: {} is sent under a halt: {}",
                row.id, halt.text
            ));
        }
    }

    fn row_of(&self, key: &Key) -> Option<OrderRecord> {
        let id: ClOrdId = key.as_str().parse().ok()?;
        now(self.store.order(id)).ok().flatten()
    }

    /// What holds after each step.
    pub(super) fn check(&mut self) {
        self.settle();
        if self.died {
            return;
        }
        let halts = now(self.store.halts()).unwrap_or_default();
        self.seen_halts = halts
            .into_iter()
            .filter(|halt| halt.cause.needs_person())
            .collect();
        for index in 0..self.orders.len() {
            let held = self.orders[index].clone();
            let same: Vec<&Held> = self
                .orders
                .iter()
                .filter(|other| other.key == held.key)
                .collect();
            let several = same.len() > 1;
            let sends = same.iter().any(|other| other.send != held.send);
            let doubled = several && !sends && !self.camp.copies_meet();
            if several && !doubled {
                let count = same.len();
                self.breaks(format!("P1: {count} orders for {}", held.key.as_str()));
                return;
            }
            if held.status == OrdStatus::Open
                && !several
                && let Some(row) = self.row_of(&held.key)
                && !row.unfinished()
            {
                self.breaks(format!(
                    "{} lives as {} and its row is {}, not watched",
                    row.id, held.order_id, row.state
                ));
                return;
            }
        }
    }
}

fn visible(held: &Held, now: u64) -> Vec<Fill> {
    let shown = held.fills.iter().filter(|(_, at)| *at <= now);
    shown.map(|(fill, _)| fill.clone()).collect()
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
