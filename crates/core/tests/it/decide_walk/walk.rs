//! One camp's walk over rows, stands and observations.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use surefill_core::{
    AsOf, Cause, Change, GiveUp, Lookup, Observation, OrdState, OrderRecord, Pursuit, Reading,
    Resubmit, RevocationState, Situation, Step, Submission, VenueProfile, VenueTime, Watch, decide,
};

use super::evidence::Evidence;
use super::sights::Sights;
use super::stands::{STANDS, Stand};
use super::taken::Taken;
use crate::kit::{BOUND, Camp, T0, at, height_at, intent, key, placed, qty};

/// One camp's part of the walk.
pub(super) struct Walk<'s> {
    pub(super) camp: Camp,
    pub(super) profile: VenueProfile,
    pub(super) sights: &'s Sights,
    pub(super) pairs: u64,
    pub(super) steps: BTreeMap<&'static str, u64>,
    pub(super) faults: BTreeMap<String, String>,
}

/// What holds while one row is walked.
pub(super) struct Here<'a> {
    pub(super) row: &'a OrderRecord,
    pub(super) pursuit: &'a Pursuit,
    pub(super) stand: Stand,
    pub(super) situation: &'a Situation,
}

impl Walk<'_> {
    pub(super) fn camp(&mut self, resubmit: Resubmit, give_up: GiveUp) {
        for state in OrdState::ALL {
            for evidence in Evidence::ALL {
                if evidence.occurs_in(state, self.camp) {
                    self.rows(state, evidence, resubmit, give_up);
                }
            }
        }
    }

    pub(super) fn rows(
        &mut self,
        state: OrdState,
        evidence: Evidence,
        resubmit: Resubmit,
        give_up: GiveUp,
    ) {
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

    pub(super) fn stand(&mut self, row: &OrderRecord, stand: Stand, index: usize) {
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

    pub(super) fn observations(&mut self, here: &Here<'_>, stand: usize) {
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

    pub(super) fn pair(&mut self, here: &Here<'_>, seen: &Observation<'_>) {
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
    pub(super) fn follow(&mut self, here: &Here<'_>, seen: &Observation<'_>) -> Result<(), String> {
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

    pub(super) fn count(&mut self, step: &Step) {
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
pub(super) const fn watches_cancel(state: OrdState) -> bool {
    matches!(state, OrdState::Canceled)
}

/// The kind of an observation, for grouping faults.
pub(super) fn name(seen: &Observation<'_>) -> String {
    let text = match seen {
        Observation::Sent { answer, first, .. } => format!("Sent first={first} {answer:?}"),
        Observation::Looked(look) => format!("Looked {look:?}"),
        other => format!("{other:?}"),
    };
    let end = text.find(['(', '{']).unwrap_or(text.len());
    text[..end].trim().to_owned()
}
