//! The adapter alone: its own clock and nonces, and attempts that are journaled one by one.

use std::sync::Arc;

use surefill_core::{
    AccountId, Attempt, AttemptNo, AttemptState, Begin, BootTime, ClOrdId, Connect, Entered, Entry,
    Go, Journal, Journaled, MemoryStore, Nonces, OrderIntent, OrderRecord, Rate, Stop, Submission,
    Ticket, Venue, VenueClock, VenueCtx, VenueTime,
};

use super::stage::ALIAS;

/// A connected adapter.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) venue: Arc<dyn Venue>,
    pub(super) account: AccountId,
    pub(super) stop: Arc<Stop>,
    clock: Arc<VenueClock>,
    nonces: Option<Arc<Nonces>>,
}

impl Desk {
    /// Connects, asks for the time and the account. Nonces come out of this journal, which bots use as well.
    pub(super) async fn open(connect: Box<dyn Connect>, store: &MemoryStore) -> Self {
        let (venue, clock, nonces) = connected(connect, store);
        venue.venue_time().await.expect("the venue's time");
        let account = venue.account().await.expect("the account");
        Self {
            venue,
            account,
            stop: Arc::default(),
            clock,
            nonces,
        }
    }

    /// Builds attempt `no` of an intent.
    pub(super) async fn prepare(
        &self,
        intent: &OrderIntent,
        no: AttemptNo,
    ) -> (ClOrdId, VenueTime, Attempt) {
        let ticket = self.ticket(intent, no).await;
        let id = ClOrdId::derive(&intent.decision, &self.account, &intent.symbol, intent.side);
        let attempt = self.venue.prepare(&id, intent, &ticket).expect("prepared");
        assert_eq!(attempt.no, no, "the number of the ticket");
        (id, ticket.now, attempt)
    }

    pub(super) async fn ticket(&self, intent: &OrderIntent, no: AttemptNo) -> Ticket {
        let facts = self.venue.facts(intent).await.expect("facts");
        let now = self.now();
        let nonce = match &self.nonces {
            Some(nonces) => Some(nonces.next(now).await.expect("a nonce")),
            None => None,
        };
        Ticket {
            no,
            now: self.now(),
            nonce,
            facts,
        }
    }

    /// Builds and journals attempt `no` of an intent: it may be sent.
    pub(super) async fn write(
        &self,
        intent: &OrderIntent,
        no: AttemptNo,
    ) -> (OrderRecord, Journaled<Attempt>) {
        let (id, at, attempt) = self.prepare(intent, no).await;
        let first = AttemptState::new(&attempt, at);
        let order = OrderRecord::new(id, self.account.clone(), intent.clone(), first, at);
        let journal = Journal::new(Arc::new(MemoryStore::new(at)));
        let begin = Begin {
            order,
            attempt,
            entry: Entry::Risk { doubt_blocks: true },
        };
        match journal.begin(begin).await.expect("journaled") {
            Entered::Inserted(order, attempt) => (order, attempt),
            other => panic!("{other:?}"),
        }
    }

    /// Sends an attempt once, under the check that the engine makes.
    pub(super) async fn submit(&self, attempt: &Journaled<Attempt>) -> Submission {
        self.venue.submit(attempt, &self.go(attempt)).await
    }

    /// The check that the engine makes before the first byte.
    pub(super) fn go(&self, attempt: &Attempt) -> Go {
        let stop = Arc::clone(&self.stop);
        Go::new(Arc::clone(&self.clock), attempt.fence, None, stop)
    }

    /// Builds, journals and sends the first attempt of an intent, which must be taken.
    pub(super) async fn place(&self, intent: &OrderIntent) -> OrderRecord {
        let (order, attempt) = self.write(intent, 1).await;
        let answer = self.submit(&attempt).await;
        assert!(
            matches!(answer, Submission::Acked(_) | Submission::Received(_)),
            "not taken: {answer:?}"
        );
        order
    }

    /// The venue's time as it is known here.
    pub(super) fn now(&self) -> VenueTime {
        self.clock.read().expect("the venue's time").now
    }
}

/// An adapter that has asked for nothing yet.
pub(super) fn connected(
    connect: Box<dyn Connect>,
    store: &MemoryStore,
) -> (Arc<dyn Venue>, Arc<VenueClock>, Option<Arc<Nonces>>) {
    let clock = Arc::new(VenueClock::new(Arc::new(BootTime)));
    let journal = Journal::new(Arc::new(store.clone()));
    let nonces = connect
        .nonce_scope()
        .map(|scope| Arc::new(Nonces::new(journal, scope)));
    let ctx = VenueCtx {
        alias: ALIAS.into(),
        clock: Arc::clone(&clock),
        nonces: nonces.clone(),
        rate: Arc::new(Rate::new(connect.profile().rates)),
    };
    let venue = connect.connect(ctx).expect("connected");
    (venue, clock, nonces)
}
