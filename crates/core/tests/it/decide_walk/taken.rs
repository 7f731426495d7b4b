//! A step that was taken, and the rules that it must keep.

use surefill_core::{
    AsOf, AttemptState, CancelOutcome, Change, Copies, DuplicateRule, Durability, Fence, FenceRule,
    GiveUp, Lookup, Observation, OrdState, OrdStatus, OrderRecord, Resubmit, RevocationState,
    Situation, Submission, Watch,
};

use super::walk::{Walk, name};
use crate::kit::{
    CLOSED_KEPT, DRAIN, FILLS_KEPT, FenceKind, H_DRAIN, H_LAG, LAG, MARGIN, T0, height_at,
};

/// A step that was taken, and all that it must agree with.
pub(super) struct Taken<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) row: &'a OrderRecord,
    pub(super) seen: &'a Observation<'a>,
    pub(super) situation: &'a Situation,
    pub(super) rounds: &'a [(u64, u64)],
}

impl Taken<'_> {
    pub(super) fn demand(&self, holds: bool, rule: &str) -> Result<(), String> {
        if holds {
            Ok(())
        } else {
            Err(format!("{rule}: {} + {}", self.row.state, name(self.seen)))
        }
    }

    pub(super) fn changed(&self, change: &Change, after: &OrderRecord) -> Result<(), String> {
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

    pub(super) fn ended(&self, after: &OrderRecord) -> Result<(), String> {
        let before = self.row;
        let said = statuses(self.seen);
        if said.iter().any(|status| status.is_ended()) {
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

    pub(super) fn known(&self) -> bool {
        self.row.admitted() || self.bytes_known()
    }

    pub(super) fn bytes_known(&self) -> bool {
        self.row.attempts.iter().any(|a| a.bytes_known)
    }

    /// What bars every send.
    pub(super) fn may_send(&self) -> Result<(), String> {
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

    pub(super) fn replayed(&self, no: u32) -> Result<(), String> {
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

    pub(super) fn resent(&self) -> Result<(), String> {
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
    pub(super) fn complete(&self) -> bool {
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
pub(super) fn statuses(seen: &Observation<'_>) -> Vec<OrdStatus> {
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
