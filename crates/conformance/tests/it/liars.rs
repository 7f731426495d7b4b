//! The kit can fail: each lie of an adapter, and each property that a profile claims and the venue lacks, fails the cases that are for it.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::stream::BoxStream;
use surefill_conformance::venue::{Start, cases, start};
use surefill_core::*;

use crate::camps::{Bare, Forever, Nonces, WhileOpen};
use crate::fake::{Camp, Configured, Fake, Traits};

/// What an adapter says that is not so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    /// A lost answer is a refusal.
    LostIsRejected,
    /// A lost answer is a connect that failed.
    LostIsNotSent,
    /// What could not be read is absent.
    UnreadIsAbsent,
    /// It sends again by itself when no answer comes.
    Retries,
    /// It sends twice.
    SendsTwice,
    /// It does not ask before the first byte.
    AsksNobody,
    /// A cancel that met nothing open has ended the order.
    NotOpenIsCanceled,
    /// A throttled request is refused for good.
    ThrottledIsRejected,
    /// A duplicate is refused for good.
    DuplicateIsRejected,
    /// It revokes nothing, and says that it has.
    RevokesInWords,
    /// The round began when it ended.
    BegunLate,
    /// The round ended when it began.
    EndedEarly,
    /// The list of open orders ends with its first page.
    OnePage,
    /// It reads no fills.
    NoFills,
    /// It shows one order of two.
    OneOfTwo,
    /// A price is rounded.
    Rounds,
    /// Every account has the same name.
    OneName,
    /// It sends nothing, and says that nothing is known.
    Mute,
    /// It sends no cancel, and says that it was taken.
    NoCancel,
    /// It sends no cancel, and says that nothing open was met.
    CancelsNothing,
}

/// An adapter in the hands of a liar.
#[derive(Debug)]
struct Lying<T> {
    inner: T,
    lie: Lie,
}

impl Connect for Lying<Configured> {
    fn nonce_scope(&self) -> Option<NonceScope> {
        self.inner.nonce_scope()
    }

    fn profile(&self) -> VenueProfile {
        self.inner.profile()
    }

    fn connect(self: Box<Self>, ctx: VenueCtx) -> Result<Arc<dyn Venue>, VenueError> {
        let Self { inner, lie } = *self;
        let inner = Box::new(inner).connect(ctx)?;
        Ok(Arc::new(Lying { inner, lie }))
    }
}

fn rejected() -> Submission {
    Submission::Rejected(Reject {
        reason: Reason::new("", "said the liar"),
        halts_account: false,
        leaves_bytes: false,
    })
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Venue for Lying<Arc<dyn Venue>> {
    fn profile(&self) -> &VenueProfile {
        self.inner.profile()
    }

    async fn account(&self) -> Result<AccountId, VenueError> {
        let account = self.inner.account().await?;
        if self.lie == Lie::OneName {
            return Ok(AccountId::new("fake", "test", "everybody"));
        }
        Ok(account)
    }

    fn spelled_id(&self, key: &Key) -> Option<ClOrdId> {
        self.inner.spelled_id(key)
    }

    async fn facts(&self, intent: &OrderIntent) -> Result<Facts, VenueError> {
        self.inner.facts(intent).await
    }

    fn prepare(
        &self,
        id: &ClOrdId,
        intent: &OrderIntent,
        ticket: &Ticket,
    ) -> Result<Attempt, PrepareError> {
        match self.inner.prepare(id, intent, ticket) {
            Err(PrepareError::OffStep { below, .. }) if self.lie == Lie::Rounds => {
                let mut rounded = intent.clone();
                rounded.ord_type = OrdType::Limit {
                    price: Px::new(below).unwrap(),
                };
                self.inner.prepare(id, &rounded, ticket)
            }
            built => built,
        }
    }

    async fn submit(&self, attempt: &Journaled<Attempt>, go: &Go) -> Submission {
        if self.lie == Lie::Mute {
            return Submission::Unknown(UnknownCause::new("said the liar"));
        }
        if self.lie == Lie::AsksNobody {
            let clock = Arc::new(VenueClock::new(Arc::new(BootTime)));
            let nothing = Go::new(clock, Fence::None, None, Arc::default());
            return self.inner.submit(attempt, &nothing).await;
        }
        let answer = self.inner.submit(attempt, go).await;
        match (self.lie, &answer) {
            (Lie::LostIsRejected, Submission::Unknown(_))
            | (Lie::ThrottledIsRejected, Submission::NotTaken { .. })
            | (Lie::DuplicateIsRejected, Submission::Duplicate(_)) => rejected(),
            (Lie::LostIsNotSent, Submission::Unknown(_)) => {
                Submission::NotSent(NotSent::Connect("said the liar".into()))
            }
            (Lie::Retries, Submission::Unknown(_)) => self.inner.submit(attempt, go).await,
            (Lie::SendsTwice, Submission::Acked(_)) => {
                drop(self.inner.submit(attempt, go).await);
                answer
            }
            _ => answer,
        }
    }

    async fn lookup(&self, order: &OrderRecord) -> Lookup {
        let found = self.inner.lookup(order).await;
        match (self.lie, found) {
            (Lie::UnreadIsAbsent, Lookup::Inconclusive(_)) => {
                let at = AsOf::Clock(order.created_at.after(std::time::Duration::from_secs(60)));
                Lookup::Absent {
                    begun: at,
                    ended: at,
                }
            }
            (Lie::BegunLate, Lookup::Absent { ended, .. }) => Lookup::Absent {
                begun: ended,
                ended,
            },
            (Lie::EndedEarly, Lookup::Absent { begun, .. }) => Lookup::Absent {
                begun,
                ended: begun,
            },
            (Lie::NoFills, Lookup::Found(mut reports)) => {
                reports.iter_mut().for_each(|report| report.fills.clear());
                Lookup::Found(reports)
            }
            (Lie::OneOfTwo, Lookup::Found(mut reports)) => {
                reports.truncate(1);
                Lookup::Found(reports)
            }
            (_, found) => found,
        }
    }

    async fn revoke(&self, attempt: &Journaled<Attempt>) -> Revocation {
        if self.lie == Lie::RevokesInWords {
            return Revocation::Revoked;
        }
        self.inner.revoke(attempt).await
    }

    async fn cancel(&self, order: &OrderRecord) -> CancelOutcome {
        match self.lie {
            Lie::NoCancel => return CancelOutcome::Taken,
            Lie::CancelsNothing => return CancelOutcome::NotOpen,
            _ => {}
        }
        let outcome = self.inner.cancel(order).await;
        match (self.lie, &outcome) {
            (Lie::NotOpenIsCanceled, CancelOutcome::NotOpen) => {
                let key = order.attempts[0].keys[0].clone();
                CancelOutcome::Canceled(ExecReport {
                    status: OrdStatus::Canceled,
                    ..ExecReport::ack(key, OrderId::from("o-1"))
                })
            }
            _ => outcome,
        }
    }

    async fn cancel_batch(&self, orders: &[OrderRecord]) -> Vec<CancelOutcome> {
        let mut outcomes = Vec::new();
        for order in orders {
            outcomes.push(self.cancel(order).await);
        }
        outcomes
    }

    async fn cancel_all(&self, symbol: Option<&Symbol>) -> Result<CancelAllOutcome, VenueError> {
        self.inner.cancel_all(symbol).await
    }

    async fn amend(&self, request: &Journaled<Amend>, go: &Go) -> AmendOutcome {
        self.inner.amend(request, go).await
    }

    async fn open_orders(
        &self,
        symbol: Option<&Symbol>,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        let mut list = self.inner.open_orders(symbol).await?;
        if self.lie == Lie::OnePage {
            list.rows.truncate(crate::fake::PAGE);
        }
        Ok(list)
    }

    async fn closed_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<ExecReport>, VenueError> {
        self.inner.closed_since(symbol, since).await
    }

    async fn fills_since(
        &self,
        symbol: Option<&Symbol>,
        since: VenueTime,
    ) -> Result<Snapshot<(Handle, Fill)>, VenueError> {
        let mut list = self.inner.fills_since(symbol, since).await?;
        if self.lie == Lie::NoFills {
            list.rows.clear();
        }
        Ok(list)
    }

    async fn positions(&self) -> Result<Snapshot<Position>, VenueError> {
        self.inner.positions().await
    }

    async fn follow(&self) -> Result<BoxStream<'static, VenueEvent>, VenueError> {
        self.inner.follow().await
    }

    async fn instruments(&self) -> Result<Vec<Instrument>, VenueError> {
        self.inner.instruments().await
    }

    async fn venue_time(&self) -> Result<VenueTime, VenueError> {
        self.inner.venue_time().await
    }
}

/// Whether a case fails at this venue.
fn fails<Fut: Future<Output = ()>>(case: impl FnOnce(Start) -> Fut, at: Start) -> bool {
    let rt = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    rt.block_on(AssertUnwindSafe(case(at)).catch_unwind())
        .is_err()
}

/// An honest camp with one lie.
macro_rules! liar {
    ($name:ident, $camp:ty, $lie:ident, [$($case:ident),+ $(,)?]) => {
        mod $name {
            use super::*;

            struct Liar;

            impl Camp for Liar {
                fn truth() -> Traits {
                    <$camp>::truth()
                }

                fn adapter(honest: Configured) -> Box<dyn Connect> {
                    Box::new(Lying { inner: honest, lie: Lie::$lie })
                }
            }

            #[test]
            fn is_found() {
                $(
                    assert!(!fails(cases::$case, start::<Fake<$camp>>), "{} fails an honest one", stringify!($case));
                    assert!(fails(cases::$case, start::<Fake<Liar>>), "{} believes it", stringify!($case));
                )+
            }
        }
    };
}

liar!(
    lost_is_rejected,
    Forever,
    LostIsRejected,
    [
        c02_a_lost_answer_is_unknown_not_rejected,
        c03_a_lost_request_is_unknown,
        c06_a_5xx_before_acting_is_unknown,
        c07_a_5xx_after_acting_is_unknown,
        c08_an_unreadable_answer_is_unknown,
    ]
);
liar!(
    lost_is_not_sent,
    WhileOpen,
    LostIsNotSent,
    [
        c02_a_lost_answer_is_unknown_not_rejected,
        c07_a_5xx_after_acting_is_unknown,
    ]
);
liar!(
    unread_is_absent,
    Forever,
    UnreadIsAbsent,
    [c43_a_failed_read_is_no_absence]
);
liar!(
    retries,
    Forever,
    Retries,
    [
        c02_a_lost_answer_is_unknown_not_rejected,
        c03_a_lost_request_is_unknown
    ]
);
liar!(
    sends_twice,
    Forever,
    SendsTwice,
    [c01_an_order_arrives_as_it_was_meant]
);
liar!(
    asks_nobody,
    Forever,
    AsksNobody,
    [
        c11_what_is_held_back_never_leaves,
        c32_past_its_fence_it_is_not_sent,
    ]
);
liar!(
    not_open_is_canceled,
    Forever,
    NotOpenIsCanceled,
    [
        c51_a_cancel_of_what_filled_proves_nothing,
        c52_a_cancel_of_what_never_was_proves_nothing,
    ]
);
liar!(
    throttled_is_rejected,
    Forever,
    ThrottledIsRejected,
    [c09_throttled_is_not_taken]
);
liar!(
    duplicate_is_rejected,
    Forever,
    DuplicateIsRejected,
    [
        c20_a_duplicate_while_the_first_is_open,
        c21_a_duplicate_after_the_first_filled,
        c22_a_duplicate_after_the_first_was_canceled,
        c23_a_replay_of_the_same_bytes,
    ]
);
liar!(
    revokes_in_words,
    Nonces,
    RevokesInWords,
    [
        c35_what_is_revoked_never_lands,
        c36_what_has_landed_is_used_not_revoked,
    ]
);
liar!(
    begun_late,
    Forever,
    BegunLate,
    [c44_a_round_says_when_it_began_and_ended]
);
liar!(
    ended_early,
    Forever,
    EndedEarly,
    [c44_a_round_says_when_it_began_and_ended]
);
liar!(one_page, Forever, OnePage, [c46_every_page_is_read]);
liar!(
    no_fills,
    Forever,
    NoFills,
    [
        c42_between_two_lists_a_fill_shows_it,
        c47_fills_add_up_to_what_was_executed,
    ]
);
liar!(
    one_of_two,
    Bare,
    OneOfTwo,
    [
        c20_a_duplicate_while_the_first_is_open,
        c25_a_request_doubled_on_the_way,
    ]
);
liar!(
    rounds,
    Forever,
    Rounds,
    [c12_a_price_off_the_tick_is_no_request]
);
liar!(
    one_name,
    Forever,
    OneName,
    [
        c14_wrong_keys_place_nothing,
        c78_another_accounts_keys_are_refused
    ]
);
liar!(
    mute,
    Forever,
    Mute,
    [
        c01_an_order_arrives_as_it_was_meant,
        c03_a_lost_request_is_unknown
    ]
);
liar!(
    no_cancel,
    Forever,
    NoCancel,
    [c50_a_cancel_ends_the_order, c53_a_lost_cancel_is_unknown]
);
// The answer is right, and the venue was not asked.
liar!(
    cancels_nothing,
    Forever,
    CancelsNothing,
    [c52_a_cancel_of_what_never_was_proves_nothing,]
);

/// A profile that claims what the venue lacks, or denies what it has.
macro_rules! claims {
    ($name:ident, $truth:ty, $claims:expr, [$($case:ident),+ $(,)?]) => {
        mod $name {
            use super::*;

            struct Liar;

            impl Camp for Liar {
                fn truth() -> Traits {
                    <$truth>::truth()
                }

                fn claims() -> Traits {
                    $claims
                }
            }

            #[test]
            fn is_found() {
                $(assert!(fails(cases::$case, start::<Fake<Liar>>), "{} believes it", stringify!($case));)+
            }
        }
    };
}

claims!(
    an_id_that_is_not_refused,
    WhileOpen,
    Forever::truth(),
    [
        c21_a_duplicate_after_the_first_filled,
        c22_a_duplicate_after_the_first_was_canceled,
    ]
);
claims!(
    an_id_that_means_nothing,
    Bare,
    Traits {
        fence: false,
        tagged: false,
        ..Forever::truth()
    },
    [
        c20_a_duplicate_while_the_first_is_open,
        c23_a_replay_of_the_same_bytes,
        c25_a_request_doubled_on_the_way,
    ]
);
claims!(
    an_id_that_is_refused_after_all,
    Forever,
    Traits {
        duplicate: DuplicateRule::Accepted,
        ..Forever::truth()
    },
    [
        c20_a_duplicate_while_the_first_is_open,
        c25_a_request_doubled_on_the_way,
    ]
);
claims!(
    a_fence_that_is_none,
    Bare,
    Traits {
        fence: true,
        ..Bare::truth()
    },
    [c30_held_past_its_fence_it_never_lands,]
);
claims!(
    bytes_that_are_forgotten,
    WhileOpen,
    Traits {
        remembers: true,
        ..WhileOpen::truth()
    },
    [
        c24_a_replay_after_the_first_filled,
        c35_what_is_revoked_never_lands,
    ]
);
