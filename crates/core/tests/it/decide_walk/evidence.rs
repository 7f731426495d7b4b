//! What a row may hold of its attempts.

use surefill_core::{AsOf, AttemptState, Copies, OrdState, OrderRecord, RevocationState};

use crate::kit::{Camp, T0, at, height_at};

/// What is known of the attempts of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
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
    pub(super) const ALL: [Self; 15] = [
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

    pub(super) fn occurs_in(self, state: OrdState, camp: Camp) -> bool {
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

    pub(super) fn mark(self, camp: Camp, row: &mut OrderRecord) {
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
