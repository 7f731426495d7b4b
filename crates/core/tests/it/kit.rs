//! What the tests share: a camp of venue, an order in it, and a bench that drives `decide` by hand.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::time::Duration;

use futures_util::FutureExt;

use surefill_core::{
    AbsenceRule, AccountId, AmendRule, Amount, AsOf, Attempt, AttemptState, CancelRule, Cause,
    Change, ClOrdId, Copies, Decision, DuplicateRule, ExecId, ExecReport, Fence, FenceRule, Fill,
    Halt, HaltCause, Handle, IdRule, Key, Lookup, Mark, Money, Observation, OrdState, OrdStatus,
    OrderId, OrderIntent, OrderRecord, Pursuit, Px, Qty, Rates, Reading, Reason, Reject, SeenTerms,
    Settlement, Side, Situation, Sourced, Step, Submission, UnknownCause, VenueProfile, VenueTime,
};

/// When the intent was decided and journaled, milliseconds.
pub(crate) const T0: u64 = 1_000_000;
pub(crate) const LAG: u64 = 1_000;
pub(crate) const MARGIN: u64 = 100;
/// From journaling to the fence.
pub(crate) const FENCE: u64 = 5_000;
pub(crate) const DRAIN: u64 = 2_000;
pub(crate) const TTL: u64 = 30_000;
/// From when on a round counts for an attempt made at [`T0`].
pub(crate) const BOUND: u64 = T0 + FENCE + DRAIN + LAG + MARGIN;
pub(crate) const CLOSED_KEPT: u64 = 3_600_000;
pub(crate) const FILLS_KEPT: u64 = 10 * CLOSED_KEPT;
pub(crate) const CAP: u64 = 60_000;
pub(crate) const WATCH: u64 = 20_000;
/// The height at [`T0`], and the fence of an attempt made then.
pub(crate) const H0: u64 = 500;
pub(crate) const H_FENCE: u64 = 510;
pub(crate) const H_DRAIN: u64 = 4;
pub(crate) const H_LAG: u64 = 2;
pub(crate) const H_BOUND: u64 = H_FENCE + H_DRAIN + H_LAG;

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) const fn at(ms: u64) -> VenueTime {
    VenueTime::from_ms(ms)
}

pub(crate) fn qty(text: &str) -> Qty {
    text.parse().unwrap()
}

/// The kinds of fence that a camp may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FenceKind {
    None,
    Documented,
    Assumed,
    Height,
    AssumedHeight,
}

/// A kind of venue: what decides which rules hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camp {
    pub(crate) duplicate: DuplicateRule,
    pub(crate) fence: FenceKind,
    pub(crate) replayable: bool,
    pub(crate) revocable: bool,
    pub(crate) uses_up: bool,
}

impl Camp {
    /// Nothing but a documented fence: ids mean nothing, bytes are forgotten, nothing can be revoked.
    pub(crate) const PLAIN: Self = Self {
        duplicate: DuplicateRule::Accepted,
        fence: FenceKind::Documented,
        replayable: false,
        revocable: false,
        uses_up: false,
    };

    pub(crate) fn profile(self) -> VenueProfile {
        let rate = NonZeroU32::new(100).unwrap();
        let fence = match self.fence {
            FenceKind::None => FenceRule::None,
            FenceKind::Documented => FenceRule::Clock {
                max: ms(FENCE),
                drain: Sourced::Documented(ms(DRAIN), "the model"),
            },
            FenceKind::Assumed => FenceRule::Clock {
                max: ms(FENCE),
                drain: Sourced::Assumed(ms(DRAIN)),
            },
            FenceKind::Height => FenceRule::Height {
                drain: Sourced::Documented(H_DRAIN, "the model"),
            },
            FenceKind::AssumedHeight => FenceRule::Height {
                drain: Sourced::Assumed(H_DRAIN),
            },
        };
        VenueProfile {
            name: "model".into(),
            id_rule: IdRule {
                alphabet: "0123456789abcdef",
                max_len: 32,
            },
            duplicate: self.duplicate,
            refusal_uses_up_bytes: self.uses_up,
            fence,
            absence: AbsenceRule {
                lag: Sourced::Documented(ms(LAG), "the model"),
                lag_blocks: H_LAG,
                spacing: ms(LAG),
                margin: ms(MARGIN),
                closed_retention: Sourced::Documented(ms(CLOSED_KEPT), "the model"),
                fills_retention: Sourced::Documented(ms(FILLS_KEPT), "the model"),
            },
            watch: ms(WATCH),
            cap: ms(CAP),
            rates: Rates {
                create: rate,
                cancel: rate,
                lookup: rate,
            },
            poll: ms(5_000),
            nonce_scope: None,
            reduce_only: true,
            successors: false,
            amend: AmendRule::None,
            cancel: CancelRule::Final,
            cancel_batch: 1,
        }
    }

    pub(crate) const fn fence_at(self, made_at: u64, height: u64) -> Fence {
        match self.fence {
            FenceKind::None => Fence::None,
            FenceKind::Documented | FenceKind::Assumed => Fence::Clock(at(made_at + FENCE)),
            FenceKind::Height | FenceKind::AssumedHeight => Fence::Height(height + (H_FENCE - H0)),
        }
    }

    pub(crate) fn attempt(self, no: u32, made_at: u64, height: u64) -> Attempt {
        Attempt {
            no,
            format: "model.create.1".into(),
            wire: no.to_be_bytes().to_vec(),
            keys: vec![key()],
            fence: self.fence_at(made_at, height),
            replayable: self.replayable,
            revocable: self.revocable,
            rebuildable: true,
        }
    }

    /// What a round that began and ended at these instants is called here; heights follow the clock, a block a second.
    pub(crate) const fn round(self, begun: u64, ended: u64) -> Lookup {
        let (begun, ended) = match self.fence {
            FenceKind::Height | FenceKind::AssumedHeight => (
                AsOf::Height(height_at(begun)),
                AsOf::Height(height_at(ended)),
            ),
            FenceKind::None | FenceKind::Documented | FenceKind::Assumed => {
                (AsOf::Clock(at(begun)), AsOf::Clock(at(ended)))
            }
        };
        Lookup::Absent { begun, ended }
    }
}

/// A block a second.
pub(crate) const fn height_at(ms: u64) -> u64 {
    H0 + ms.saturating_sub(T0) / 1_000
}

pub(crate) fn key() -> Key {
    "5f01".into()
}

pub(crate) fn intent() -> OrderIntent {
    OrderIntent {
        ttl: ms(TTL),
        ..OrderIntent::limit(
            Decision::new("grid", T0),
            "v",
            "BTCUSDT",
            Side::Buy,
            Amount::Base(qty("3")),
            "60000".parse().unwrap(),
        )
    }
}

pub(crate) fn account() -> AccountId {
    AccountId::new("model", "test", "1")
}

pub(crate) fn id_of(intent: &OrderIntent) -> ClOrdId {
    ClOrdId::derive(&intent.decision, &account(), &intent.symbol, intent.side)
}

/// A row as it is journaled: Submitted, one attempt, at [`T0`].
pub(crate) fn placed(camp: Camp, intent: OrderIntent) -> OrderRecord {
    let first = AttemptState::new(&camp.attempt(1, T0, H0), at(T0));
    OrderRecord::new(id_of(&intent), account(), intent, first, at(T0))
}

pub(crate) fn fill(order_id: &str, exec_id: &str, last_qty: &str) -> Fill {
    Fill {
        symbol: "BTCUSDT".into(),
        order_id: order_id.into(),
        exec_id: exec_id.into(),
        last_qty: qty(last_qty),
        last_px: "60000".parse::<Px>().unwrap(),
        fee: Money::ZERO,
        fee_currency: "USDT".into(),
        transact_time: at(T0),
        settlement: Settlement::Final,
    }
}

pub(crate) fn report(status: OrdStatus, order_id: &str, cum_qty: Option<&str>) -> ExecReport {
    ExecReport {
        handle: Handle {
            key: Some(key()),
            order_id: (!order_id.is_empty()).then(|| OrderId::from(order_id)),
        },
        status,
        cum_qty: cum_qty.map(qty),
        avg_px: None,
        reason: None,
        fills: Vec::new(),
        seen: SeenTerms::default(),
        transact_time: None,
    }
}

pub(crate) fn filled_by(mut report: ExecReport, fills: &[Fill]) -> ExecReport {
    report.fills = fills.to_vec();
    report
}

pub(crate) fn refusal() -> Submission {
    Submission::Rejected(Reject {
        reason: Reason::new("110007", "insufficient balance"),
        halts_account: false,
        leaves_bytes: false,
    })
}

pub(crate) fn no_answer() -> Submission {
    Submission::Unknown(UnknownCause::new("timed out"))
}

pub(crate) fn not_taken() -> Submission {
    Submission::NotTaken {
        cause: Reason::new("429", "too many requests"),
        retry_after: None,
    }
}

/// One order, driven by hand: sees, decides, notes, applies, and goes on with `Resume` after each change.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    pub(crate) camp: Camp,
    pub(crate) profile: VenueProfile,
    pub(crate) row: OrderRecord,
    pub(crate) pursuit: Pursuit,
    pub(crate) now: u64,
    pub(crate) lease: bool,
    pub(crate) halted: bool,
    pub(crate) alarms: Vec<HaltCause>,
    pub(crate) fills: Vec<Fill>,
    /// Every change that was committed, oldest first.
    pub(crate) log: Vec<Change>,
    booked: HashSet<(OrderId, ExecId)>,
}

impl Bench {
    /// An order that was just journaled, its first send under way.
    pub(crate) fn placed(camp: Camp, intent: OrderIntent) -> Self {
        let mut bench = Self::restarted(camp, placed(camp, intent), T0);
        bench.pursuit.sending();
        bench
    }

    /// A process that finds this row.
    pub(crate) fn restarted(camp: Camp, row: OrderRecord, now: u64) -> Self {
        Self {
            camp,
            profile: camp.profile(),
            row,
            pursuit: Pursuit::default(),
            now,
            lease: true,
            halted: false,
            alarms: Vec::new(),
            fills: Vec::new(),
            log: Vec::new(),
            booked: HashSet::new(),
        }
    }

    /// The next process, after a crash.
    pub(crate) fn crash(&mut self) {
        self.pursuit = Pursuit::default();
        self.pursuit.booked(&self.fills);
    }

    pub(crate) fn situation(&self) -> Situation {
        Situation {
            now: Reading {
                now: at(self.now),
                error: Duration::ZERO,
            },
            height: match self.camp.fence {
                FenceKind::Height | FenceKind::AssumedHeight => Some(height_at(self.now)),
                FenceKind::None | FenceKind::Documented | FenceKind::Assumed => None,
            },
            lease: self.lease,
            entries_halted: self.halted,
            alarms: self.alarms.clone(),
        }
    }

    /// Decides once, without taking the step.
    pub(crate) fn decide(&self, seen: &Observation<'_>) -> Step {
        surefill_core::decide(
            &self.row,
            &self.pursuit,
            &self.profile,
            seen,
            &self.situation(),
        )
    }

    /// Decides, notes and commits until there is something else to do than to commit.
    pub(crate) fn see(&mut self, seen: &Observation<'_>) -> Step {
        let mut step = self.once(seen);
        for _ in 0..12 {
            match step {
                Step::Advance(_) => step = self.once(&Observation::Resume),
                other => return other,
            }
        }
        panic!("still changing after twelve steps: {:#?}", self.log)
    }

    fn once(&mut self, seen: &Observation<'_>) -> Step {
        let step = self.decide(seen);
        let at = self.situation();
        self.pursuit
            .note(&self.row, &self.profile, seen, &step, &at);
        if let Step::Advance(change) = &step {
            self.commit((**change).clone());
        }
        step
    }

    pub(crate) fn commit(&mut self, change: Change) {
        let mut fresh = Vec::new();
        for fill in &change.fills {
            if self
                .booked
                .insert((fill.order_id.clone(), fill.exec_id.clone()))
            {
                fresh.push(fill.clone());
            }
        }
        self.row = self.row.apply(&change, &fresh).expect("a legal change");
        self.fills.extend(fresh);
        if let Some(Halt { cause, .. }) = &change.halt {
            self.alarms.push(cause.clone());
        }
        self.log.push(change);
    }

    pub(crate) fn resume(&mut self) -> Step {
        self.see(&Observation::Resume)
    }

    /// The answer to the newest attempt's first send.
    pub(crate) fn answered(&mut self, answer: &Submission) -> Step {
        self.answer(answer, true)
    }

    /// The answer to a later send of the newest attempt.
    pub(crate) fn replay_answered(&mut self, answer: &Submission) -> Step {
        self.answer(answer, false)
    }

    fn answer(&mut self, answer: &Submission, first: bool) -> Step {
        let no = self.row.last_attempt().unwrap().no;
        self.see(&Observation::Sent { no, answer, first })
    }

    /// A full round that showed nothing, begun and ended at these instants; it is now when it ended.
    pub(crate) fn absent(&mut self, begun: u64, ended: u64) -> Step {
        self.now = self.now.max(ended);
        let round = self.camp.round(begun, ended);
        self.see(&Observation::Looked(&round))
    }

    /// An instant round now.
    pub(crate) fn absent_at(&mut self, now: u64) -> Step {
        self.absent(now, now)
    }

    /// An instant round now that showed this.
    pub(crate) fn found(&mut self, reports: &[ExecReport]) -> Step {
        self.pursuit.looking(at(self.now));
        self.see(&Observation::Looked(&Lookup::Found(reports.to_vec())))
    }

    pub(crate) fn reported(&mut self, report: &ExecReport) -> Step {
        self.see(&Observation::Report(report))
    }

    /// What the driver commits before it sends the same bytes again.
    pub(crate) fn replay(&mut self) {
        let no = self.row.last_attempt().unwrap().no;
        let loose = self.row.last_attempt().unwrap().copies == Copies::Loose;
        let mut change = self.change(Cause::Replayed);
        if self.row.state == OrdState::Pending {
            change = change.to(OrdState::Submitted);
        }
        if !loose {
            change = change.mark(no, Mark::Loose);
            self.commit(change);
        }
        self.pursuit.sending();
    }

    /// What the driver commits before it sends a new attempt.
    pub(crate) fn resend(&mut self) {
        let no = self.row.last_attempt().unwrap().no + 1;
        let attempt = self.camp.attempt(no, self.now, height_at(self.now));
        let mut change = self.change(Cause::Resent).to(OrdState::Submitted);
        change.next_attempt = Some(attempt);
        self.commit(change);
        self.pursuit.sending();
    }

    pub(crate) fn ask_cancel(&mut self) -> Step {
        let mut change = self.change(Cause::CancelAsked);
        change.cancel_requested = true;
        self.commit(change);
        self.resume()
    }

    pub(crate) fn change(&self, cause: Cause) -> Change {
        Change::of(&self.row, at(self.now), cause, "the test")
    }

    pub(crate) fn state(&self) -> OrdState {
        self.row.state
    }
}

/// The result of a call of the memory store, which never waits.
pub(crate) fn done<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().expect("memory does not wait")
}
