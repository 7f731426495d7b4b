//! An order's row in the journal.

use serde::{Deserialize, Serialize};

use crate::{
    AccountId, Alias, AmendRecord, AttemptNo, AttemptState, ClOrdId, Fence, OrdState, OrderId,
    OrderIntent, Px, Qty, Reason, Scope, Symbol, TermsDigest, VenueTime,
};

/// Counts the changes of a row, from 1; every change is a compare-and-set on it.
pub type Version = u64;

/// Looking on, after a row is terminal, for an order that must not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Watch {
    /// Until absence is complete.
    UntilAbsent,
    /// Until this instant, and one clean round begun after it.
    Until(VenueTime),
    /// It came to light: canceled until the venue says that it ended.
    Surfaced,
}

/// An order's row: the intent and everything known of its fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderRecord {
    /// The client order id.
    pub id: ClOrdId,
    /// The account, as the venue names it.
    pub account: AccountId,
    /// What the strategy wants.
    pub intent: OrderIntent,
    /// The digest of its terms.
    pub digest: TermsDigest,
    /// Where it stands.
    pub state: OrdState,
    /// How often it changed.
    pub version: Version,
    /// A cancel is asked: durable, and ends creates.
    pub cancel_requested: bool,
    /// The stored bytes are sent until the venue knows them, then what landed is canceled.
    pub land: bool,
    /// The order that replaces it.
    pub replaced_by: Option<ClOrdId>,
    /// Every venue order id seen for it; more than one breaches "at most one" unless the venue names successors.
    pub order_ids: Vec<OrderId>,
    /// Executed (FIX 14), gross. Never shrinks.
    pub cum_qty: Qty,
    /// The sum of the fills booked.
    pub booked_qty: Qty,
    /// Average price (FIX 6), as the venue said last.
    pub avg_px: Option<Px>,
    /// Why it ended other than by execution.
    pub reason: Option<Reason>,
    /// Its attempts, by number.
    pub attempts: Vec<AttemptState>,
    /// Its newest amends, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amends: Vec<AmendRecord>,
    /// Looking on after the end.
    pub watch: Option<Watch>,
    /// When it was journaled, venue time.
    pub created_at: VenueTime,
    /// When it last changed, venue time.
    pub updated_at: VenueTime,
    /// When the venue last spoke of it, venue time.
    pub seen_at: Option<VenueTime>,
    /// Since when its fate is not known, venue time: from the first moment of doubt, through every further attempt, to the verdict.
    pub doubt_since: Option<VenueTime>,
}

impl OrderRecord {
    /// A row that is about to be journaled together with its first attempt: Submitted, because from its commit on a copy may be out.
    pub fn new(
        id: ClOrdId,
        account: AccountId,
        intent: OrderIntent,
        first: AttemptState,
        at: VenueTime,
    ) -> Self {
        let digest = intent.digest();
        Self {
            id,
            account,
            intent,
            digest,
            state: OrdState::Submitted,
            version: 1,
            cancel_requested: false,
            land: false,
            replaced_by: None,
            order_ids: Vec::new(),
            cum_qty: Qty::ZERO,
            booked_qty: Qty::ZERO,
            avg_px: None,
            reason: None,
            attempts: vec![first],
            amends: Vec::new(),
            watch: None,
            created_at: at,
            updated_at: at,
            seen_at: None,
            doubt_since: None,
        }
    }

    /// The venue's name in the configuration.
    pub const fn alias(&self) -> &Alias {
        &self.intent.venue
    }

    /// The instrument.
    pub const fn symbol(&self) -> &Symbol {
        &self.intent.symbol
    }

    /// The symbol's scope.
    pub fn symbol_scope(&self) -> Scope {
        Scope::symbol(
            self.intent.venue.clone(),
            self.account.clone(),
            self.intent.symbol.clone(),
        )
    }

    /// The account's scope.
    pub fn account_scope(&self) -> Scope {
        Scope::account(self.intent.venue.clone(), self.account.clone())
    }

    /// The newest venue order id.
    pub fn order_id(&self) -> Option<&OrderId> {
        self.order_ids.last()
    }

    /// The attempt of that number.
    pub fn attempt(&self, no: AttemptNo) -> Option<&AttemptState> {
        self.attempts.iter().find(|attempt| attempt.no == no)
    }

    /// The newest attempt.
    pub fn last_attempt(&self) -> Option<&AttemptState> {
        self.attempts.last()
    }

    /// The last fence of all attempts whose copies may still land; [`Fence::None`] when one of them has none.
    ///
    /// Clock and height do not mix in one order; should they, there is no fence.
    pub fn last_fence(&self) -> Option<Fence> {
        let mut last: Option<Fence> = None;
        for attempt in self
            .attempts
            .iter()
            .filter(|attempt| !attempt.out_of_reach())
        {
            last = Some(match (last, attempt.fence) {
                (None, fence) => fence,
                (Some(Fence::Clock(a)), Fence::Clock(b)) => Fence::Clock(a.max(b)),
                (Some(Fence::Height(a)), Fence::Height(b)) => Fence::Height(a.max(b)),
                (Some(_), _) => Fence::None,
            });
        }
        last
    }

    /// Whether the venue has spoken of the order in a way that makes its absence never final.
    pub fn admitted(&self) -> bool {
        !self.order_ids.is_empty() || self.attempts.iter().any(|attempt| attempt.admitted)
    }

    /// Whether its fate is not known. A further attempt ends no doubt: that the first one is out of the way says nothing of the next.
    pub const fn in_doubt(&self) -> bool {
        self.doubt_since.is_some()
    }

    /// Whether the venue ended it with more executed than is booked.
    pub fn fills_owed(&self) -> bool {
        self.state.is_terminal() && self.booked_qty < self.cum_qty
    }

    /// Whether it must be found again after a restart: open, with fills owed, or watched.
    pub fn unfinished(&self) -> bool {
        !self.state.is_terminal() || self.fills_owed() || self.watch.is_some()
    }
}

impl AttemptState {
    /// Whether no copy can land, whatever the clock: revoked, or none ever left.
    ///
    /// Unlike [`AttemptState::settled`] a refusal or a turn-away does not count: a copy doubled below us may wait.
    pub fn out_of_reach(&self) -> bool {
        self.revocation == crate::RevocationState::Revoked || self.copies == crate::Copies::None
    }
}
