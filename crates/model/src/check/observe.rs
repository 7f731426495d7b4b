//! What was seen, in the words that `decide` takes.

use surefill_core::AsOf;
use surefill_core::{
    CancelOutcome, DuplicateOf, ExecReport, Handle, Lookup, NotSent, Observation, Reason, Reject,
    Revocation, SeenTerms, Submission, UnknownCause,
};

use super::bot::{Answer, CancelSaid, RevokeSaid, Seen, Shown};
use super::camp::at;
use super::model::Check;
use super::venue::fill_bit;

impl Check {
    fn report(&self, shown: &Shown) -> ExecReport {
        let mut fills = Vec::new();
        for (index, fill) in (0_u8..).zip(&self.fills[usize::from(shown.order)]) {
            if shown.fills & fill_bit(shown.order, index) != 0 {
                fills.push(fill.clone());
            }
        }
        ExecReport {
            handle: Handle {
                key: Some(self.key.clone()),
                order_id: Some(self.fills[usize::from(shown.order)][0].order_id.clone()),
            },
            status: shown.status.word(),
            cum_qty: Some(self.units[usize::from(shown.cum)]),
            avg_px: None,
            reason: None,
            fills,
            seen: SeenTerms::default(),
            transact_time: None,
        }
    }

    pub(super) fn observe<R>(&self, seen: &Seen, with: impl FnOnce(&Observation<'_>) -> R) -> R {
        match seen {
            Seen::Resume => with(&Observation::Resume),
            Seen::Sent { no, answer, first } => {
                let answer = match answer {
                    Answer::Acked(shown) => Submission::Acked(self.report(shown)),
                    Answer::Rejected => Submission::Rejected(Reject {
                        reason: Reason::new("1", "refused"),
                        halts_account: false,
                        leaves_bytes: false,
                    }),
                    Answer::DuplicateId => Submission::Duplicate(DuplicateOf::Id),
                    Answer::DuplicateBytes => Submission::Duplicate(DuplicateOf::Bytes),
                    Answer::NotTaken => Submission::NotTaken {
                        cause: Reason::new("2", "not taken"),
                        retry_after: None,
                    },
                    Answer::NoConnect => Submission::NotSent(NotSent::Connect("refused".into())),
                    Answer::HeldBack(why) => Submission::NotSent(NotSent::HeldBack(why.word())),
                    Answer::Unknown => Submission::Unknown(UnknownCause::new("timed out")),
                };
                with(&Observation::Sent {
                    no: u32::from(*no),
                    answer: &answer,
                    first: *first,
                })
            }
            Seen::Found(shown) => {
                let reports = shown.iter().map(|shown| self.report(shown)).collect();
                with(&Observation::Looked(&Lookup::Found(reports)))
            }
            Seen::Absent { begun, ended } => with(&Observation::Looked(&Lookup::Absent {
                begun: AsOf::Clock(at(*begun)),
                ended: AsOf::Clock(at(*ended)),
            })),
            Seen::Failed => with(&Observation::Looked(&Lookup::Inconclusive(
                UnknownCause::new("502"),
            ))),
            Seen::Report(shown) => with(&Observation::Report(&self.report(shown))),
            Seen::Cancel(said) => with(&Observation::CancelAnswer(&match said {
                CancelSaid::Canceled(shown) => CancelOutcome::Canceled(self.report(shown)),
                CancelSaid::Taken => CancelOutcome::Taken,
                CancelSaid::NotOpen => CancelOutcome::NotOpen,
                CancelSaid::Unknown => CancelOutcome::Unknown(UnknownCause::new("502")),
            })),
            Seen::Revoked { no, said } => with(&Observation::Revoked {
                no: u32::from(*no),
                answer: &match said {
                    RevokeSaid::Revoked => Revocation::Revoked,
                    RevokeSaid::Used => Revocation::Used,
                    RevokeSaid::Inconclusive => Revocation::Inconclusive(UnknownCause::new("502")),
                },
            }),
        }
    }
}
