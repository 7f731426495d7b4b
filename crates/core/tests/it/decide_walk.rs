//! Every pair of a row and an observation, in every camp: what `decide` may never do.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use surefill_core::{
    AsOf, AttemptState, CancelOutcome, Cause, Change, Copies, DuplicateOf, DuplicateRule,
    Durability, ExecReport, Fence, FenceRule, GiveUp, HeldBack, Lookup, NotSent, Observation,
    OrdState, OrdStatus, OrderRecord, Pursuit, Reading, Reason, Reject, Resubmit, Revocation,
    RevocationState, SeenTerms, Side, Situation, Step, Submission, UnknownCause, VenueProfile,
    VenueTime, Watch, decide,
};

use crate::kit::{
    BOUND, CLOSED_KEPT, Camp, DRAIN, FILLS_KEPT, FenceKind, H_DRAIN, H_LAG, LAG, MARGIN, T0, TTL,
    at, fill, filled_by, height_at, intent, key, no_answer, not_taken, placed, qty, refusal,
    report,
};

/// What is known of the attempts of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    Loose,
    NoneLeft,
    Turned,
    TurnedAdmitted,
    TurnedBytesKnown,
    TurnedAsked,
    Admitted,
    BytesKnown,
    Refused,
    Asked,
    Revoked,
    Used,
    SecondAfterRevoked,
    SecondBesideLoose,
    SecondBesideTurned,
}

impl Evidence {
    const ALL: [Self; 15] = [
        Self::Loose,
        Self::NoneLeft,
        Self::Turned,
        Self::TurnedAdmitted,
        Self::TurnedBytesKnown,
        Self::TurnedAsked,
        Self::Admitted,
        Self::BytesKnown,
        Self::Refused,
        Self::Asked,
        Self::Revoked,
        Self::Used,
        Self::SecondAfterRevoked,
        Self::SecondBesideLoose,
        Self::SecondBesideTurned,
    ];

    fn occurs_in(self, state: OrdState, camp: Camp) -> bool {
        // Where bytes are remembered or revoked, the first attempt is out of the way before there is a second.
        let in_the_way = camp.replayable || camp.revocable;
        if state == OrdState::Pending && self == Self::SecondBesideTurned && in_the_way {
            return false;
        }
        match state {
            // No copy may be on its way; an answer that comes late may have said more.
            OrdState::Pending => matches!(
                self,
                Self::NoneLeft
                    | Self::Turned
                    | Self::TurnedAdmitted
                    | Self::TurnedBytesKnown
                    | Self::TurnedAsked
                    | Self::Revoked
                    | Self::SecondBesideTurned
            ),
            OrdState::Submitted => matches!(
                self,
                Self::Loose
                    | Self::SecondAfterRevoked
                    | Self::SecondBesideLoose
                    | Self::SecondBesideTurned
            ),
            OrdState::Unknown | OrdState::Reconciling | OrdState::Acked | OrdState::Partial => true,
            OrdState::Filled | OrdState::Canceled | OrdState::Rejected => matches!(
                self,
                Self::Loose
                    | Self::NoneLeft
                    | Self::Turned
                    | Self::Admitted
                    | Self::Refused
                    | Self::Revoked
                    | Self::SecondBesideLoose
            ),
        }
    }

    fn mark(self, camp: Camp, row: &mut OrderRecord) {
        let first = row.attempts.first_mut().unwrap();
        match self {
            Self::Loose => {}
            Self::NoneLeft => first.copies = Copies::None,
            Self::Turned => first.copies = Copies::Turned,
            Self::TurnedAdmitted => {
                first.copies = Copies::Turned;
                first.admitted = true;
            }
            Self::TurnedBytesKnown => {
                first.copies = Copies::Turned;
                first.bytes_known = true;
            }
            Self::TurnedAsked => {
                first.copies = Copies::Turned;
                first.revocation = RevocationState::Asked;
            }
            Self::Admitted => first.admitted = true,
            Self::BytesKnown => first.bytes_known = true,
            Self::Refused => first.refused = true,
            Self::Asked => first.revocation = RevocationState::Asked,
            Self::Revoked | Self::SecondAfterRevoked => first.revocation = RevocationState::Revoked,
            Self::Used => {
                let used = if camp.height() {
                    AsOf::Height(height_at(T0 + 1_000))
                } else {
                    AsOf::Clock(at(T0 + 1_000))
                };
                first.revocation = RevocationState::Used(used);
            }
            Self::SecondBesideLoose => {}
            Self::SecondBesideTurned => first.copies = Copies::Turned,
        }
        let second = matches!(
            self,
            Self::SecondAfterRevoked | Self::SecondBesideLoose | Self::SecondBesideTurned
        );
        if second {
            let attempt = camp.attempt(2, T0, height_at(T0));
            let mut state = AttemptState::new(&attempt, at(T0));
            if row.state == OrdState::Pending {
                state.copies = Copies::None;
            }
            row.attempts.push(state);
        }
    }
}

impl Camp {
    const fn height(self) -> bool {
        matches!(self.fence, FenceKind::Height | FenceKind::AssumedHeight)
    }
}

/// Where the world stands around the row.
#[derive(Clone, Copy, Debug)]
struct Stand {
    now: u64,
    rounds: &'static [(u64, u64)],
    lease: bool,
    halted: bool,
}

/// Fresh, before the fence, after a round that proves nothing yet.
const EARLY: Stand = Stand {
    now: T0 + 2_000,
    rounds: &[(T0 + 1_000, T0 + 1_100)],
    lease: true,
    halted: false,
};
/// Fresh, after two rounds that make absence complete.
const PROVEN: Stand = Stand {
    now: BOUND + 3_000,
    rounds: &[(BOUND, BOUND + 100), (BOUND + 2_000, BOUND + 2_100)],
    lease: true,
    halted: false,
};
const STALE: Stand = Stand {
    now: T0 + TTL + 5_000,
    ..PROVEN
};
/// Stale, after two rounds of which the first began too early.
const UNPROVEN: Stand = Stand {
    now: T0 + TTL + 5_000,
    rounds: &[(T0 + 3_000, T0 + 3_100), (BOUND, BOUND + 100)],
    lease: true,
    halted: false,
};
const FORGOTTEN: Stand = Stand {
    now: T0 + CLOSED_KEPT + 5_000,
    rounds: &[
        (T0 + CLOSED_KEPT + 1_000, T0 + CLOSED_KEPT + 1_100),
        (T0 + CLOSED_KEPT + 3_000, T0 + CLOSED_KEPT + 3_100),
    ],
    lease: true,
    halted: false,
};
const STANDS: [Stand; 8] = [
    EARLY,
    Stand {
        halted: true,
        ..EARLY
    },
    PROVEN,
    Stand {
        halted: true,
        ..PROVEN
    },
    Stand {
        lease: false,
        ..PROVEN
    },
    UNPROVEN,
    STALE,
    FORGOTTEN,
];

fn answers() -> Vec<Submission> {
    let open = report(OrdStatus::Open, "A", None);
    vec![
        Submission::Acked(open),
        Submission::Acked(report(OrdStatus::Filled, "A", Some("3"))),
        Submission::Received(key()),
        Submission::Received("bundle-1".into()),
        refusal(),
        Submission::Rejected(Reject {
            reason: Reason::new("10003", "invalid key"),
            halts_account: true,
            leaves_bytes: false,
        }),
        Submission::Duplicate(DuplicateOf::Id),
        Submission::Duplicate(DuplicateOf::Bytes),
        not_taken(),
        Submission::NotTaken {
            cause: Reason::new("429", ""),
            retry_after: Some(Duration::from_secs(3)),
        },
        Submission::NotSent(NotSent::Connect("refused".into())),
        Submission::NotSent(NotSent::HeldBack(HeldBack::CancelAsked)),
        no_answer(),
    ]
}

fn looks(camp: Camp, now: u64) -> Vec<Lookup> {
    let mut other = report(OrdStatus::Open, "A", None);
    other.seen = SeenTerms {
        side: Some(Side::Sell),
        ..SeenTerms::default()
    };
    let fills = filled_by(
        report(OrdStatus::NotShown, "A", None),
        &[fill("A", "x1", "1")],
    );
    vec![
        Lookup::Found(vec![report(OrdStatus::Open, "A", Some("0"))]),
        Lookup::Found(vec![report(OrdStatus::Open, "A", Some("2"))]),
        Lookup::Found(vec![report(OrdStatus::Filled, "A", Some("3"))]),
        Lookup::Found(vec![report(OrdStatus::Canceled, "A", Some("1"))]),
        Lookup::Found(vec![report(OrdStatus::Rejected, "A", None)]),
        Lookup::Found(vec![fills]),
        Lookup::Found(vec![report(OrdStatus::Open, "", None)]),
        Lookup::Found(vec![
            report(OrdStatus::Canceled, "A", None),
            report(OrdStatus::Open, "B", None),
        ]),
        Lookup::Found(vec![other]),
        Lookup::Found(vec![]),
        camp.round(now - 100, now),
        camp.round(T0 + 500, now),
        Lookup::Inconclusive(UnknownCause::new("502")),
    ]
}

fn reports() -> Vec<ExecReport> {
    vec![
        report(OrdStatus::Open, "A", None),
        report(OrdStatus::Open, "B", None),
        filled_by(
            report(OrdStatus::Open, "A", Some("2")),
            &[fill("A", "x1", "1"), fill("A", "x2", "1")],
        ),
        report(OrdStatus::Filled, "A", Some("3")),
        report(OrdStatus::Canceled, "A", Some("0")),
        report(OrdStatus::Rejected, "A", None),
        report(OrdStatus::Rejected, "A", Some("1")),
        report(OrdStatus::Open, "A", Some("9")),
    ]
}

fn cancels() -> Vec<CancelOutcome> {
    vec![
        CancelOutcome::Canceled(report(OrdStatus::Canceled, "A", Some("1"))),
        CancelOutcome::Taken,
        CancelOutcome::NotOpen,
        CancelOutcome::NotYet,
        CancelOutcome::Unknown(UnknownCause::new("502")),
    ]
}

fn revocations() -> Vec<Revocation> {
    vec![
        Revocation::Revoked,
        Revocation::Used,
        Revocation::Inconclusive(UnknownCause::new("502")),
        Revocation::Unsupported,
    ]
}

/// All that can be seen in one camp; the lists stand for every variant.
struct Sights {
    answers: Vec<Submission>,
    /// By stand.
    looks: Vec<Vec<Lookup>>,
    reports: Vec<ExecReport>,
    cancels: Vec<CancelOutcome>,
    revocations: Vec<Revocation>,
}

impl Sights {
    fn of(camp: Camp) -> Self {
        Self {
            answers: answers(),
            looks: STANDS.iter().map(|stand| looks(camp, stand.now)).collect(),
            reports: reports(),
            cancels: cancels(),
            revocations: revocations(),
        }
    }
}

/// One camp's part of the walk.
struct Walk<'s> {
    camp: Camp,
    profile: VenueProfile,
    sights: &'s Sights,
    pairs: u64,
    steps: BTreeMap<&'static str, u64>,
    faults: BTreeMap<String, String>,
}

/// What holds while one row is walked.
struct Here<'a> {
    row: &'a OrderRecord,
    pursuit: &'a Pursuit,
    stand: Stand,
    situation: &'a Situation,
}

impl Walk<'_> {
    fn camp(&mut self, resubmit: Resubmit, give_up: GiveUp) {
        for state in OrdState::ALL {
            for evidence in Evidence::ALL {
                if evidence.occurs_in(state, self.camp) {
                    self.rows(state, evidence, resubmit, give_up);
                }
            }
        }
    }

    fn rows(&mut self, state: OrdState, evidence: Evidence, resubmit: Resubmit, give_up: GiveUp) {
        let mut intent = intent();
        intent.resubmit = resubmit;
        intent.give_up = give_up;
        let mut row = placed(self.camp, intent);
        row.state = state;
        evidence.mark(self.camp, &mut row);
        let named = state.is_working()
            || state == OrdState::Filled
            || (evidence == Evidence::Admitted && state != OrdState::Rejected);
        if named {
            row.order_ids.push("A".into());
            row.seen_at = Some(at(T0 + 500));
        }
        match state {
            OrdState::Partial => (row.cum_qty, row.booked_qty) = (qty("1"), qty("1")),
            OrdState::Filled => (row.cum_qty, row.booked_qty) = (qty("3"), qty("2")),
            OrdState::Unknown | OrdState::Reconciling => row.doubt_since = Some(at(T0 + 600)),
            OrdState::Pending
            | OrdState::Submitted
            | OrdState::Acked
            | OrdState::Canceled
            | OrdState::Rejected => {}
        }
        let watches: &[Option<Watch>] = if state.is_terminal() {
            &[
                None,
                Some(Watch::UntilAbsent),
                Some(Watch::Until(VenueTime::from_ms(BOUND + 1_000))),
                Some(Watch::Surfaced),
            ]
        } else {
            &[None]
        };
        let asked: &[(bool, bool)] = if state.is_terminal() {
            // A cancel asked before the end changes nothing after it.
            &[(watches_cancel(state), false)]
        } else if give_up == GiveUp::Land {
            &[(false, false), (true, false), (true, true)]
        } else {
            &[(false, false), (true, false)]
        };
        for &watch in watches {
            for &(cancel, land) in asked {
                row.watch = watch;
                row.cancel_requested = cancel;
                row.land = land;
                for (index, stand) in STANDS.into_iter().enumerate() {
                    self.stand(&row, stand, index);
                }
            }
        }
    }

    fn stand(&mut self, row: &OrderRecord, stand: Stand, index: usize) {
        let situation = Situation {
            now: Reading {
                now: at(stand.now),
                error: Duration::ZERO,
            },
            height: self.camp.height().then(|| height_at(stand.now)),
            lease: stand.lease,
            entries_halted: stand.halted,
            alarms: Vec::new(),
        };
        let mut pursuit = Pursuit::default();
        if row.state == OrdState::Reconciling {
            let change = Change::of(row, at(T0), Cause::Claimed, "").to(OrdState::Reconciling);
            let step = Step::Advance(Box::new(change));
            pursuit.note(row, &self.profile, &Observation::Resume, &step, &situation);
        }
        for &(begun, ended) in stand.rounds {
            let round = self.camp.round(begun, ended);
            let seen = Observation::Looked(&round);
            pursuit.note(row, &self.profile, &seen, &Step::Nothing, &situation);
        }
        let mut memories = vec![pursuit.clone()];
        if row.state == OrdState::Submitted {
            let mut sending = pursuit.clone();
            sending.sending();
            memories.push(sending);
            let answer = Submission::Received(key());
            let seen = Observation::Sent {
                no: 1,
                answer: &answer,
                first: true,
            };
            pursuit.note(row, &self.profile, &seen, &Step::Nothing, &situation);
            memories.push(pursuit);
        }
        for pursuit in &memories {
            let here = Here {
                row,
                pursuit,
                stand,
                situation: &situation,
            };
            self.observations(&here, index);
        }
    }

    fn observations(&mut self, here: &Here<'_>, stand: usize) {
        let no = here.row.last_attempt().unwrap().no;
        let sights = self.sights;
        for first in [true, false] {
            for answer in &sights.answers {
                self.pair(here, &Observation::Sent { no, answer, first });
            }
        }
        for look in &sights.looks[stand] {
            self.pair(here, &Observation::Looked(look));
        }
        for report in &sights.reports {
            self.pair(here, &Observation::Report(report));
        }
        for answer in &sights.cancels {
            self.pair(here, &Observation::CancelAnswer(answer));
        }
        for answer in &sights.revocations {
            self.pair(here, &Observation::Revoked { no, answer });
        }
        self.pair(here, &Observation::Resume);
    }

    fn pair(&mut self, here: &Here<'_>, seen: &Observation<'_>) {
        self.pairs += 1;
        if let Err(fault) = self.follow(here, seen) {
            let story = || {
                format!(
                    "{:?}\nrow {:#?}\nstand {:?}\nseen {seen:?}\nmemory {:?}",
                    self.camp, here.row, here.stand, here.pursuit
                )
            };
            self.faults.entry(fault).or_insert_with(story);
        }
    }

    /// Takes the step and those after it, as the driver does, and holds each against the rules.
    fn follow(&mut self, here: &Here<'_>, seen: &Observation<'_>) -> Result<(), String> {
        let mut row = Cow::Borrowed(here.row);
        let mut pursuit = here.pursuit.clone();
        let mut situation = here.situation.clone();
        let mut rounds = here.stand.rounds.to_vec();
        if let Observation::Looked(Lookup::Absent { begun, .. }) = seen {
            let begun = match begun {
                AsOf::Clock(begun) => begun.as_ms(),
                AsOf::Height(height) if *height == height_at(T0 + 500) => T0 + 500,
                AsOf::Height(_) => here.stand.now - 100,
            };
            rounds.push((begun, here.stand.now));
        }
        let mut now = *seen;
        for _ in 0..12 {
            let step = decide(&row, &pursuit, &self.profile, &now, &situation);
            self.count(&step);
            pursuit.note(&row, &self.profile, &now, &step, &situation);
            let case = Taken {
                walk: self,
                row: &row,
                seen: &now,
                situation: &situation,
                rounds: &rounds,
            };
            match &step {
                Step::Advance(change) => {
                    let after = row
                        .apply(change, &change.fills)
                        .map_err(|error| format!("{} + {}: {error}", row.state, name(&now)))?;
                    case.changed(change, &after)?;
                    if let Some(halt) = &change.halt {
                        situation.alarms.push(halt.cause.clone());
                    }
                    row = Cow::Owned(after);
                }
                Step::Replay { no } => return case.replayed(*no),
                Step::NewAttempt => return case.resent(),
                Step::Revoke { no } => {
                    let asked = row.attempt(*no).unwrap().revocation == RevocationState::Asked;
                    return case.demand(asked, "revoked before it was durably asked");
                }
                Step::Cancel => {
                    let asked = row.cancel_requested || row.watch == Some(Watch::Surfaced);
                    case.demand(asked, "canceled and nobody asked")?;
                    case.demand(situation.lease, "canceled without the lease")?;
                }
                Step::Halt { cause, .. } => {
                    case.demand(!situation.alarms.contains(cause), "halted twice")?;
                    situation.alarms.push(cause.clone());
                }
                Step::LookAgain { .. } | Step::Wait { .. } | Step::Nothing => {
                    return case.demand(
                        !(matches!(step, Step::Nothing)
                            && situation.lease
                            && row.unfinished()
                            && row.state != OrdState::Submitted),
                        "left alone while unfinished",
                    );
                }
            }
            now = Observation::Resume;
        }
        Err(format!("livelock from {} + {}", here.row.state, name(seen)))
    }

    fn count(&mut self, step: &Step) {
        let name = match step {
            Step::Advance(_) => "advance",
            Step::LookAgain { .. } => "look again",
            Step::Wait { .. } => "wait",
            Step::Replay { .. } => "replay",
            Step::NewAttempt => "new attempt",
            Step::Revoke { .. } => "revoke",
            Step::Cancel => "cancel",
            Step::Halt { .. } => "halt",
            Step::Nothing => "nothing",
        };
        *self.steps.entry(name).or_default() += 1;
    }
}

/// Canceled rows stand for those whose cancel was asked.
const fn watches_cancel(state: OrdState) -> bool {
    matches!(state, OrdState::Canceled)
}

/// The kind of an observation, for grouping faults.
fn name(seen: &Observation<'_>) -> String {
    let text = match seen {
        Observation::Sent { answer, first, .. } => format!("Sent first={first} {answer:?}"),
        Observation::Looked(look) => format!("Looked {look:?}"),
        other => format!("{other:?}"),
    };
    let end = text.find(['(', '{']).unwrap_or(text.len());
    text[..end].trim().to_owned()
}

/// A step that was taken, and all that it must agree with.
struct Taken<'a> {
    walk: &'a Walk<'a>,
    row: &'a OrderRecord,
    seen: &'a Observation<'a>,
    situation: &'a Situation,
    rounds: &'a [(u64, u64)],
}

impl Taken<'_> {
    fn demand(&self, holds: bool, rule: &str) -> Result<(), String> {
        if holds {
            Ok(())
        } else {
            Err(format!("{rule}: {} + {}", self.row.state, name(self.seen)))
        }
    }

    fn changed(&self, change: &Change, after: &OrderRecord) -> Result<(), String> {
        let before = self.row;
        let ended = after.state.is_terminal() && !before.state.is_terminal();
        self.demand(
            !before.state.is_terminal() || after.state == before.state,
            "I3 terminal is final",
        )?;
        self.demand(after.cum_qty >= before.cum_qty, "I4 cum_qty shrank")?;
        self.demand(
            after.booked_qty >= before.booked_qty,
            "I4 booked_qty shrank",
        )?;
        for (old, new) in before.attempts.iter().zip(&after.attempts) {
            let sticky = new.admitted >= old.admitted && new.bytes_known >= old.bytes_known;
            self.demand(sticky, "I13 evidence was dropped")?;
            let asked =
                old.revocation == RevocationState::None || new.revocation != RevocationState::None;
            self.demand(asked, "I12 a revocation was dropped")?;
        }
        if after.land && !before.land {
            let stale = self.situation.now.now >= before.intent.stale_at();
            self.demand(
                before.cancel_requested || stale,
                "landed to cancel what is still wanted",
            )?;
        }
        let must_sync = after.state == OrdState::Rejected && ended
            || after.watch.is_some() && after.watch != before.watch
            || after.cancel_requested && !before.cancel_requested
            || after.land && !before.land
            || change.halt.is_some()
            || after.attempts.iter().zip(&before.attempts).any(|(a, b)| {
                a.revocation == RevocationState::Asked && b.revocation == RevocationState::None
            });
        self.demand(
            !must_sync || change.durability() == Durability::Sync,
            "a promise is not durable",
        )?;
        if ended {
            self.ended(after)?;
        }
        if before.watch.is_some() && after.watch.is_none() {
            let spoken = !statuses(self.seen).is_empty();
            let nothing_out = before.attempts.iter().all(AttemptState::out_of_reach);
            let looked = self.complete()
                || matches!(before.watch, Some(Watch::Until(_))) && !self.rounds.is_empty();
            let surfaced = before.watch == Some(Watch::Surfaced);
            self.demand(
                spoken || (!surfaced && (nothing_out || looked)),
                "a watch ended without a word of the venue",
            )?;
        }
        Ok(())
    }

    fn ended(&self, after: &OrderRecord) -> Result<(), String> {
        let before = self.row;
        let said = statuses(self.seen);
        if said.iter().any(|status| {
            matches!(
                status,
                OrdStatus::Filled | OrdStatus::Canceled | OrdStatus::Rejected
            )
        }) {
            return Ok(());
        }
        self.demand(after.state != OrdState::Filled, "filled without a word")?;
        if let Observation::Sent {
            no,
            answer: Submission::Rejected(_),
            first,
        } = self.seen
            && before.state == OrdState::Submitted
        {
            self.demand(*first, "I10 the refusal of a replay ended the order")?;
            let mut others = before.attempts.iter().filter(|other| other.no != *no);
            self.demand(
                others.all(AttemptState::settled),
                "I10 a refusal spoke for another copy",
            )?;
            let watched = after.watch == Some(Watch::UntilAbsent);
            return self.demand(
                watched || self.walk.profile.refusal_uses_up_bytes,
                "I10 a refusal that uses up nothing is not watched",
            );
        }
        // Whatever else was seen proves nothing by itself: the row and the rounds must.
        let settled = before.attempts.iter().all(AttemptState::settled);
        let out = before.attempts.iter().all(AttemptState::out_of_reach);
        match before.state {
            OrdState::Pending => {
                self.demand(settled && !self.known(), "ended while pending")?;
                self.demand(
                    out || after.watch == Some(Watch::UntilAbsent),
                    "turned away, ended and not watched",
                )
            }
            OrdState::Reconciling if before.admitted() => {
                let now = self.situation.now.now.as_ms();
                let seen = before.seen_at.unwrap_or(before.created_at).as_ms();
                let lawful = now >= seen + CLOSED_KEPT
                    && now < T0 + FILLS_KEPT
                    && self.rounds.len() >= 2
                    && after.state == OrdState::Canceled;
                self.demand(lawful, "I13 absence ended an admitted order")
            }
            OrdState::Reconciling => {
                let in_reach = self.situation.now.now.as_ms() < T0 + CLOSED_KEPT;
                let absent = self.complete() && in_reach;
                self.demand(out || settled || absent, "ended without proof")?;
                let assumed = self.walk.profile.fence.drain_assumed() || self.bytes_known();
                let number = !out && !settled && assumed;
                let strict = before.intent.give_up == GiveUp::Strict;
                self.demand(
                    !(number && strict),
                    "strict, and ended on an assumed number",
                )?;
                self.demand(
                    !number || after.watch.is_some(),
                    "ended on an assumed number and not watched",
                )?;
                let wanted = if before.cancel_requested {
                    OrdState::Canceled
                } else {
                    OrdState::Rejected
                };
                self.demand(after.state == wanted, "ended under the wrong name")
            }
            _ => self.demand(false, "ended from a state that proves nothing"),
        }
    }

    fn known(&self) -> bool {
        self.row.admitted() || self.bytes_known()
    }

    fn bytes_known(&self) -> bool {
        self.row.attempts.iter().any(|a| a.bytes_known)
    }

    /// What bars every send.
    fn may_send(&self) -> Result<(), String> {
        let pending_or_claimed =
            matches!(self.row.state, OrdState::Pending | OrdState::Reconciling);
        self.demand(pending_or_claimed, "sent from another state")?;
        self.demand(self.situation.lease, "sent without the lease")?;
        self.demand(!self.situation.entries_halted, "sent under a halt")?;
        self.demand(
            !self.row.admitted(),
            "I13 sent although the venue spoke of it",
        )?;
        self.demand(
            !self.bytes_known(),
            "I13 sent although the venue knows the bytes",
        )?;
        let land = self.row.land && self.row.intent.give_up == GiveUp::Land;
        if land {
            return Ok(());
        }
        let now = self.situation.now.now;
        self.demand(now < self.row.intent.stale_at(), "sent although stale")?;
        self.demand(
            !self.row.cancel_requested,
            "I7 sent although a cancel is asked",
        )?;
        self.demand(
            self.row.intent.resubmit != Resubmit::Never,
            "sent again although never",
        )
    }

    fn replayed(&self, no: u32) -> Result<(), String> {
        self.may_send()?;
        let attempt = self.row.attempt(no).unwrap();
        self.demand(
            attempt.revocation == RevocationState::None,
            "I12 replayed after a revocation was asked",
        )?;
        self.demand(!attempt.refused, "replayed what was refused")?;
        self.demand(
            attempt.replayable || attempt.copies == Copies::None,
            "replayed bytes that the venue forgets",
        )?;
        let before = match attempt.fence {
            Fence::None => true,
            Fence::Clock(fence) => self.situation.now.now < fence,
            Fence::Height(fence) => self.situation.height.unwrap() < fence,
        };
        self.demand(before, "replayed past the fence")
    }

    fn resent(&self) -> Result<(), String> {
        self.may_send()?;
        self.demand(
            !self.row.cancel_requested,
            "I7 a new attempt after a cancel",
        )?;
        let profile = &self.walk.profile;
        for attempt in &self.row.attempts {
            if attempt.out_of_reach() {
                continue;
            }
            let neither = !attempt.replayable && !attempt.revocable;
            let unique = match profile.duplicate {
                DuplicateRule::RefusedForever | DuplicateRule::ReturnsExisting => true,
                // A day: every stand but the last is inside of it, and that one is past the ttl.
                DuplicateRule::RefusedWithin(_) => profile.fence != FenceRule::None,
                DuplicateRule::RefusedWhileOpen | DuplicateRule::Accepted => false,
            };
            if attempt.copies == Copies::Turned && neither {
                continue;
            }
            let pending = self.row.state == OrdState::Pending;
            if attempt.copies == Copies::Turned && pending && unique {
                continue;
            }
            let used = matches!(attempt.revocation, RevocationState::Used(_));
            self.demand(
                !attempt.revocable || used,
                "a revocation is required before a new attempt",
            )?;
            if unique {
                continue;
            }
            let by_absence = self.row.intent.resubmit == Resubmit::AfterAbsence
                && self.row.attempts.len() < 2
                && self.complete()
                && !profile.fence.drain_assumed();
            self.demand(by_absence, "a new attempt beside one that may land")?;
        }
        Ok(())
    }

    /// Whether two rounds make absence complete, by the words of the contract and nothing else.
    fn complete(&self) -> bool {
        let height = self.walk.camp.height();
        let unit = |ms: u64| if height { height_at(ms) } else { ms };
        let (lag, margin, drain) = if height {
            (H_LAG, 0, H_DRAIN)
        } else {
            (LAG, MARGIN, DRAIN)
        };
        let mut bound = 0;
        for attempt in self.row.attempts.iter().filter(|a| !a.out_of_reach()) {
            let from = match (attempt.revocation, attempt.fence) {
                // What used the nonce at the gate may be on its way to the book.
                (RevocationState::Used(AsOf::Clock(used)), _) => {
                    let drain = if self.walk.camp.fence == FenceKind::None {
                        0
                    } else {
                        drain
                    };
                    used.as_ms() + drain + lag + margin
                }
                (RevocationState::Used(AsOf::Height(used)), _) => used + drain + lag,
                (_, Fence::Clock(fence)) => fence.as_ms() + drain + lag + margin,
                (_, Fence::Height(fence)) => fence + drain + lag,
                (_, Fence::None) if attempt.settled() => 0,
                (_, Fence::None) => return false,
            };
            bound = bound.max(from);
        }
        let counted: Vec<(u64, u64)> = self
            .rounds
            .iter()
            .map(|(begun, ended)| (unit(*begun), unit(*ended)))
            .filter(|(begun, _)| *begun >= bound)
            .collect();
        counted
            .iter()
            .any(|first| counted.iter().any(|second| second.0 >= first.1 + lag))
    }
}

/// What the venue says of the order's status in an observation.
fn statuses(seen: &Observation<'_>) -> Vec<OrdStatus> {
    match *seen {
        Observation::Sent {
            answer: Submission::Acked(report),
            ..
        }
        | Observation::Report(report)
        | Observation::CancelAnswer(CancelOutcome::Canceled(report)) => vec![report.status],
        Observation::Looked(Lookup::Found(reports)) => {
            reports.iter().map(|report| report.status).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn no_pair_of_row_and_observation_breaks_a_rule_in_any_camp() {
    let policies = [
        (Resubmit::AfterProof, GiveUp::Accept),
        (Resubmit::AfterAbsence, GiveUp::Strict),
        (Resubmit::AfterAbsence, GiveUp::Land),
        (Resubmit::Never, GiveUp::Land),
    ];
    let duplicates = [
        DuplicateRule::RefusedForever,
        DuplicateRule::RefusedWithin(Duration::from_secs(86_400)),
        DuplicateRule::RefusedWhileOpen,
        DuplicateRule::ReturnsExisting,
        DuplicateRule::Accepted,
    ];
    let fences = [
        FenceKind::None,
        FenceKind::Documented,
        FenceKind::Assumed,
        FenceKind::Height,
    ];
    let mut camps = Vec::new();
    for duplicate in duplicates {
        for mut fence in fences {
            // Two rules are read as another is: one fence each will do.
            let alike = match duplicate {
                DuplicateRule::ReturnsExisting | DuplicateRule::RefusedWhileOpen => true,
                DuplicateRule::RefusedForever
                | DuplicateRule::RefusedWithin(_)
                | DuplicateRule::Accepted => false,
            };
            if alike && fence != FenceKind::Height {
                continue;
            }
            if alike {
                fence = FenceKind::AssumedHeight;
            }
            for kind in 0..4_u8 {
                camps.push(Camp {
                    duplicate,
                    fence,
                    replayable: kind & 1 != 0,
                    revocable: kind & 2 != 0,
                    uses_up: camps.len() % 3 == 0,
                });
            }
        }
    }
    // Every camp meets every row and observation; the policies take turns over the camps.
    let sights: Vec<Sights> = camps.iter().map(|camp| Sights::of(*camp)).collect();
    let camps: Vec<(Camp, &Sights)> = camps.into_iter().zip(&sights).collect();
    let walked: Vec<Walk<'_>> = std::thread::scope(|scope| {
        let halves = camps.chunks(camps.len().div_ceil(2)).enumerate();
        let workers: Vec<_> = halves
            .map(|(half, camps)| {
                scope.spawn(move || {
                    let mut walks = Vec::new();
                    for (turn, (camp, sights)) in camps.iter().enumerate() {
                        let mut walk = Walk {
                            camp: *camp,
                            profile: camp.profile(),
                            sights,
                            pairs: 0,
                            steps: BTreeMap::new(),
                            faults: BTreeMap::new(),
                        };
                        let (resubmit, give_up) = policies[(turn / 4 + turn + half) % 4];
                        walk.camp(resubmit, give_up);
                        walks.push(walk);
                    }
                    walks
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a walk"))
            .collect()
    });
    let pairs: u64 = walked.iter().map(|walk| walk.pairs).sum();
    let mut steps: BTreeMap<&str, u64> = BTreeMap::new();
    let mut faults: BTreeMap<&str, &str> = BTreeMap::new();
    for walk in &walked {
        for (name, count) in &walk.steps {
            *steps.entry(name).or_default() += count;
        }
        for (fault, story) in &walk.faults {
            faults.entry(fault).or_insert(story);
        }
    }
    println!("{pairs} pairs walked, {} camps: {steps:?}", walked.len());
    if let Some((_, story)) = faults.iter().next() {
        let all: Vec<_> = faults.keys().collect();
        panic!("{} kinds of fault: {all:#?}\nthe first: {story}", all.len());
    }
    assert_eq!(walked.len(), 56);
    assert!(pairs > 2_000_000, "{pairs}");
    assert_eq!(steps.len(), 9, "every step occurs: {steps:?}");
}
