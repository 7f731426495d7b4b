//! One order's driver: the only writer of its row. It takes the steps that `decide` names, and nothing else.

mod amend;
mod cancel;
mod closed;
mod listen;
mod send;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::Alert;
use super::desk::{Desk, Driven};
use super::shared::{DriverHandle, Message, Phase, Published, Shared};
use crate::{
    Alias, Attempt, AttemptNo, CancelOutcome, Change, ExecReport, Halt, HaltCause, Journaled, Lift,
    Lookup, Observation, OrderRecord, Pursuit, Reading, Revocation, Scope, Step, Stop, StoreError,
    Submission, Transition, VenueTime, Watch, decide,
};

/// What was just seen, owned.
#[derive(Debug)]
pub(crate) enum Seen {
    Resume,
    Sent {
        no: AttemptNo,
        answer: Submission,
        first: bool,
    },
    Looked(Lookup),
    Report(Box<ExecReport>),
    CancelAnswer(CancelOutcome),
    Revoked {
        no: AttemptNo,
        answer: Revocation,
    },
}

impl Seen {
    const fn as_observation(&self) -> Observation<'_> {
        match self {
            Self::Resume => Observation::Resume,
            Self::Sent { no, answer, first } => Observation::Sent {
                no: *no,
                answer,
                first: *first,
            },
            Self::Looked(lookup) => Observation::Looked(lookup),
            Self::Report(report) => Observation::Report(report),
            Self::CancelAnswer(outcome) => Observation::CancelAnswer(outcome),
            Self::Revoked { no, answer } => Observation::Revoked { no: *no, answer },
        }
    }
}

/// The engine lets the order go, or the journal is closed.
#[derive(Debug)]
enum LetGo {
    /// The engine stops; the next start goes on from the row.
    Stopping,
    /// The journal is closed: only cancels still go out.
    JournalClosed,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Committed {
    /// It stands.
    Yes,
    /// Someone else was first; the row was read again, and what was seen must be decided about again.
    Overtaken,
    /// A rule of the row refuses it, or a halt.
    Refused,
}

/// How long to wait before a commit is tried again while the disk is full.
const FULL_DISK_WAIT: Duration = Duration::from_millis(500);

/// How long before an order's driver that panicked is replaced, at first and at most.
const REPLACE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

pub(crate) struct Driver {
    shared: Arc<Shared>,
    desk: Arc<Desk>,
    row: OrderRecord,
    pursuit: Pursuit,
    inbox: mpsc::UnboundedReceiver<Message>,
    published: watch::Sender<Published>,
    phase: watch::Receiver<Phase>,
    stop: Arc<Stop>,
    /// When the next look is due: what is heard meanwhile brings it forward, and never puts it off.
    due: Option<Instant>,
    /// A cancel was asked that the journal could not hold.
    cancel_owed: bool,
    /// The row with the change at which the journal closed.
    unkept: Option<OrderRecord>,
    /// A halt that the journal could not hold.
    halt_owed: Option<Halt>,
    /// The answer to a request that cancels this order with others.
    together: Option<oneshot::Receiver<CancelOutcome>>,
    _driven: Driven,
}

/// With what a driver starts.
#[derive(Debug)]
pub(crate) enum Start {
    /// A freshly journaled order: its first attempt is to be sent.
    Placed(Journaled<Attempt>),
    /// An order that the journal holds, and what lists or streams said of it.
    Known(Vec<ExecReport>),
}

impl Shared {
    /// Runs an order's driver. One that panics, as an adapter may over a venue's bytes, is replaced: the row says where the order stands.
    pub(crate) fn drive(
        self: &Arc<Self>,
        desk: &Arc<Desk>,
        row: OrderRecord,
        line: Line,
        start: Start,
    ) {
        let (shared, desk) = (Arc::clone(self), Arc::clone(desk));
        self.spawn(async move {
            let (id, published) = (row.id, line.published.clone());
            let mut next = (row, line, start);
            let (mut wait, longest) = REPLACE;
            loop {
                let (row, line, start) = next;
                let driver = Driver::new(Arc::clone(&shared), Arc::clone(&desk), row, line);
                let driven = AssertUnwindSafe(driver.go(start)).catch_unwind();
                if driven.await.is_ok() {
                    return;
                }
                shared.alert(&Alert::Driver {
                    id,
                    text: "its driver panicked and is replaced".into(),
                });
                // From here on messages wait for the next one.
                let line = Line::again(published.clone());
                shared.replace_driver(id, &line.handle);
                let goes_on = shared.pause(wait).await;
                wait = wait.saturating_mul(2).min(longest);
                let known = published.borrow().row.clone();
                let row = shared.journal.store().order(id).await.ok().flatten();
                let Some(row) = row.or(known).filter(|_| goes_on) else {
                    shared.forget_driver(id, &published);
                    return;
                };
                published.send_modify(|published| {
                    published.row = Some(row.clone());
                    published.answered = true;
                });
                next = (row, line, Start::Known(Vec::new()));
            }
        });
    }
}

/// A cancel holds back every send, but for bytes that must land so that they can be canceled.
fn heed(stop: &Stop, row: &OrderRecord) {
    if row.cancel_requested {
        stop.cancel.store(!row.land, Ordering::Release);
    }
}

/// Both ends of what connects a driver with the rest of the engine.
#[derive(Debug)]
pub(crate) struct Line {
    inbox: mpsc::UnboundedReceiver<Message>,
    published: watch::Sender<Published>,
    pub(crate) handle: DriverHandle,
}

impl Line {
    pub(crate) fn new(row: Option<OrderRecord>, answered: bool) -> Self {
        Self::again(watch::Sender::new(Published {
            row,
            answered,
            entering: None,
        }))
    }

    /// A line to another driver of the same order: who watches it goes on watching.
    fn again(published: watch::Sender<Published>) -> Self {
        let (send, inbox) = mpsc::unbounded_channel();
        let handle = DriverHandle {
            inbox: send,
            published: published.subscribe(),
        };
        Self {
            inbox,
            published,
            handle,
        }
    }

    /// Says where the order enters that has no row yet.
    pub(crate) fn enters(&self, alias: Alias) {
        self.published
            .send_modify(|published| published.entering = Some(alias));
    }
}

impl Driver {
    fn new(shared: Arc<Shared>, desk: Arc<Desk>, row: OrderRecord, line: Line) -> Self {
        let phase = shared.phase.subscribe();
        let stop = Arc::new(Stop {
            journal_closed: shared.journal.closed_flag(),
            ..Stop::default()
        });
        heed(&stop, &row);
        let driven = Driven::at(&desk);
        let Line {
            inbox,
            published,
            handle: _,
        } = line;
        Self {
            shared,
            desk,
            row,
            pursuit: Pursuit::default(),
            inbox,
            published,
            phase,
            stop,
            due: None,
            cancel_owed: false,
            unkept: None,
            halt_owed: None,
            together: None,
            _driven: driven,
        }
    }

    async fn go(self, start: Start) {
        match start {
            Start::Placed(attempt) => self.start(attempt).await,
            Start::Known(reports) => self.resume(reports).await,
        }
    }

    /// Drives a freshly journaled order: sends its first attempt, then goes on.
    async fn start(mut self, attempt: Journaled<Attempt>) {
        self.publish(false);
        let seen = self.send(attempt, true).await;
        self.run(seen).await;
    }

    /// Drives an order that the journal holds, from what lists or streams said of it: one report per venue order id.
    async fn resume(mut self, reports: Vec<ExecReport>) {
        match self.shared.journal.store().fills(self.row.id).await {
            Ok(fills) => self.pursuit.booked(&fills),
            // Fills that are booked already would be offered again, and the store books each once.
            Err(error) => tracing::warn!(id = %self.row.id, %error, "the fills could not be read"),
        }
        let said = !reports.is_empty();
        self.run(if said {
            Seen::Looked(Lookup::Found(reports))
        } else {
            Seen::Resume
        })
        .await;
    }

    async fn run(mut self, mut seen: Seen) {
        loop {
            match self.drive(seen).await {
                Ok(()) => {}
                Err(LetGo::Stopping) => break,
                Err(LetGo::JournalClosed) => {
                    self.cancels_only().await;
                    break;
                }
            }
            let Some(message) = self.last_message() else {
                break;
            };
            match self.hear(message).await {
                Ok(next) => seen = next,
                Err(_) => break,
            }
        }
        self.inbox.close();
        self.shared.forget_driver(self.row.id, &self.published);
    }

    /// A message that came while the last step was taken. When there is none the line is closed, under the lock that senders
    /// look drivers up by: what comes later fails to be sent, and its sender starts another driver.
    fn last_message(&mut self) -> Option<Message> {
        let mut drivers = self
            .shared
            .drivers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let message = self.inbox.try_recv().ok();
        if message.is_none() {
            drivers.remove(&self.row.id);
            self.inbox.close();
        }
        message
    }

    async fn drive(&mut self, mut seen: Seen) -> Result<(), LetGo> {
        loop {
            if self.cancel_owed {
                self.pay_cancel().await?;
            }
            if let Some(halt) = self.halt_owed.take() {
                self.pay_halt(halt).await?;
            }
            let Some(at) = self.shared.situation(&self.desk, &self.row) else {
                self.hear_time().await?;
                continue;
            };
            let observation = seen.as_observation();
            let step = decide(
                &self.row,
                &self.pursuit,
                &self.desk.profile,
                &observation,
                &at,
            );
            self.pursuit
                .note(&self.row, &self.desk.profile, &observation, &step, &at);
            tracing::trace!(id = %self.row.id, state = %self.row.state, ?step, "decided");
            if let Seen::Sent { .. } = seen
                && !matches!(step, Step::Advance(_))
            {
                self.publish(true);
            }
            let answered = matches!(seen, Seen::Sent { .. });
            seen = match step {
                Step::Advance(change) => match self.commit(*change, answered).await? {
                    Committed::Yes => {
                        self.publish(answered);
                        Seen::Resume
                    }
                    Committed::Overtaken => continue,
                    Committed::Refused => {
                        self.publish(answered);
                        self.wait(FULL_DISK_WAIT).await?.unwrap_or(Seen::Resume)
                    }
                },
                Step::Replay { .. } | Step::NewAttempt if self.shared.is_stopping() => {
                    return Err(LetGo::Stopping);
                }
                Step::LookAgain { after } => self.look(after).await?,
                Step::Wait { after } => self.wait(after).await?.unwrap_or(Seen::Resume),
                Step::Replay { no } => self.replay(no).await?,
                Step::NewAttempt => self.new_attempt().await?,
                Step::Revoke { no } => self.revoke(no).await?,
                Step::Cancel => Seen::CancelAnswer(self.cancel().await?),
                Step::Halt { scope, cause } => self.halt(scope, cause, at.now).await?,
                Step::Nothing if self.row.unfinished() => {
                    self.wait(Duration::MAX).await?.unwrap_or(Seen::Resume)
                }
                Step::Nothing if self.halt_owed.is_some() => {
                    self.wait(FULL_DISK_WAIT).await?.unwrap_or(Seen::Resume)
                }
                Step::Nothing => return Ok(()),
            };
        }
    }

    /// Tells place() and the handles what the row is now. Once answered, always answered.
    fn publish(&self, answered: bool) {
        self.published.send_modify(|published| {
            published.row = Some(self.row.clone());
            published.answered |= answered;
        });
    }

    async fn hear_time(&mut self) -> Result<(), LetGo> {
        if let Err(error) = self.desk.venue.venue_time().await {
            tracing::debug!(alias = %self.desk.alias, %error, "the venue's time was not heard");
            if let Some(Seen::Report(_)) = self.wait(Duration::from_millis(500)).await? {
                tracing::debug!(id = %self.row.id, "a report came before the venue's time; it comes again");
            }
        }
        Ok(())
    }

    /// Commits a change, as soon as the journal takes it. Who waits for an answer to a send waits no longer than for the first try.
    async fn commit(&mut self, change: Change, answered: bool) -> Result<Committed, LetGo> {
        let mut told = false;
        let mut cancels = Instant::now();
        loop {
            match self.shared.apply(&change).await {
                Ok(row) => {
                    self.committed(row, &change).await;
                    return Ok(Committed::Yes);
                }
                Err(error) if error.closes() => {
                    self.keep_in_mind(&change);
                    return Err(self.closed(&error));
                }
                Err(error) if error.refuses() => {
                    tracing::debug!(id = %self.row.id, %error, "decided again");
                    self.pursuit.not_booked(&change.fills);
                    while !self.read_again().await? {
                        self.serve_meanwhile().await?;
                    }
                    return Ok(if error.is_conflict() {
                        Committed::Overtaken
                    } else {
                        Committed::Refused
                    });
                }
                Err(error) => {
                    if !std::mem::replace(&mut told, true) {
                        self.shared.alert(&Alert::Journal(error.to_string().into()));
                        self.publish(answered);
                    }
                    if Instant::now() >= cancels
                        && (self.unwanted() || change.watch == Some(Some(Watch::Surfaced)))
                    {
                        let outcome = self.desk.venue.cancel(&self.row).await;
                        tracing::info!(id = %self.row.id, ?outcome, "a cancel went out while the journal takes nothing");
                        cancels = Instant::now() + self.between_cancels();
                    }
                    self.serve_meanwhile().await?;
                }
            }
        }
    }

    /// What follows a commit: doubt that ended lifts its halts, watchers are told.
    async fn committed(&mut self, row: OrderRecord, change: &Change) {
        let before = std::mem::replace(&mut self.row, row);
        heed(&self.stop, &self.row);
        // A further attempt is no verdict, so a halt from doubt stays in force between attempts.
        if !before.state.is_known() && self.row.state.is_known() {
            self.lift_doubts(change.at).await;
        }
        let transition = Transition::of(&before, &self.row, change);
        self.shared.tell_transition(&before, &self.row, transition);
    }

    /// A halt from doubt lifts by itself when the truth arrives.
    async fn lift_doubts(&self, at: VenueTime) {
        for (scope, cause) in self.shared.doubts(self.row.id) {
            let lift = Lift::One(scope, cause);
            if let Err(error) = self
                .shared
                .lift(&lift, "surefill", "the truth arrived", at)
                .await
            {
                tracing::error!(id = %self.row.id, %error, "a halt could not be lifted");
            }
        }
    }

    /// Reads the row again; `false` when it could not be read.
    async fn read_again(&mut self) -> Result<bool, LetGo> {
        match self.shared.journal.store().order(self.row.id).await {
            Ok(Some(row)) => {
                heed(&self.stop, &row);
                self.row = row;
                self.publish(false);
                Ok(true)
            }
            Ok(None) => Err(self.closed(&StoreError::NoSuchOrder { id: self.row.id })),
            Err(error) if error.closes() => Err(self.closed(&error)),
            Err(error) => {
                tracing::warn!(id = %self.row.id, %error, "the row could not be read again");
                Ok(false)
            }
        }
    }

    fn closed(&self, error: &StoreError) -> LetGo {
        self.shared.alert(&Alert::Driver {
            id: self.row.id,
            text: error.to_string().into(),
        });
        self.publish(true);
        LetGo::JournalClosed
    }

    /// Waits, or until something is heard. `None` when the wait ended.
    async fn wait(&mut self, after: Duration) -> Result<Option<Seen>, LetGo> {
        self.wait_until(Instant::now() + self.jittered(after)).await
    }

    async fn wait_until(&mut self, instant: Instant) -> Result<Option<Seen>, LetGo> {
        let timer = tokio::time::sleep_until(instant);
        tokio::pin!(timer);
        let message = tokio::select! {
            biased;
            message = self.inbox.recv() => message,
            _ = self.phase.wait_for(|phase| *phase != Phase::Running) => None,
            () = &mut timer => return Ok(None),
        };
        match message {
            Some(message) => self.hear(message).await.map(Some),
            None => Err(LetGo::Stopping),
        }
    }

    /// Adds up to a quarter, by the order's own id, so that many orders do not look at one moment.
    fn jittered(&self, after: Duration) -> Duration {
        let spread = self.row.id.as_bytes().last().copied().unwrap_or(0);
        after
            .saturating_add(after / 1024 * u32::from(spread))
            .min(Duration::from_secs(86_400))
    }

    /// Takes in a message; a cancel is made durable here.
    async fn hear(&mut self, message: Message) -> Result<Seen, LetGo> {
        match message {
            Message::Report(report) => Ok(Seen::Report(report)),
            Message::Amend(asked) => {
                self.ask_amend(*asked).await?;
                Ok(Seen::Resume)
            }
            Message::Amended(answered) => {
                self.take_amended(*answered).await?;
                Ok(Seen::Resume)
            }
            Message::Wake => Ok(Seen::Resume),
            Message::Look => {
                self.look_within(self.desk.profile.absence.lag.value());
                Ok(Seen::Resume)
            }
            Message::Cancel(asked) => {
                self.ask_cancel(asked).await?;
                Ok(Seen::Resume)
            }
        }
    }

    /// Waits until the journal may take something again, with an ear for cancels.
    async fn serve_meanwhile(&mut self) -> Result<(), LetGo> {
        if let Some(Seen::Report(_)) = self.wait(FULL_DISK_WAIT).await? {
            tracing::debug!(id = %self.row.id, "a report came while the journal takes nothing; the next look finds it");
        }
        Ok(())
    }

    async fn look(&mut self, after: Duration) -> Result<Seen, LetGo> {
        let due = self.look_within(after);
        if due > Instant::now()
            && let Some(seen) = self.wait_until(due).await?
        {
            return Ok(seen);
        }
        self.due = None;
        metrics::counter!("surefill_lookups_total").increment(1);
        if let Some(reading) = self.desk.clock.read() {
            self.pursuit.looking(reading.earliest());
        }
        let venue = Arc::clone(&self.desk.venue);
        let row = self.row.clone();
        let lookup = self
            .listening(async move { venue.lookup(&row).await })
            .await?;
        Ok(Seen::Looked(lookup))
    }

    /// When the next look is due, if not later than this.
    fn look_within(&mut self, after: Duration) -> Instant {
        let within = self.jittered(self.desk.pace(&self.row, after));
        let due = Instant::now() + within;
        *self.due.insert(self.due.map_or(due, |set| set.min(due)))
    }

    async fn halt(&mut self, scope: Scope, cause: HaltCause, now: Reading) -> Result<Seen, LetGo> {
        let halt = Halt::new(scope, cause, now.now, "");
        match self.shared.halt(halt).await {
            Ok(()) => Ok(Seen::Resume),
            Err(error) if error.closes() => Err(self.closed(&error)),
            Err(error) => {
                tracing::error!(id = %self.row.id, %error, "a halt could not be made durable");
                match self.wait(FULL_DISK_WAIT).await? {
                    Some(seen) => Ok(seen),
                    // The halt comes before all else, so that a cancel would wait for the disk, too.
                    None if self.row.cancel_requested => {
                        Ok(Seen::CancelAnswer(self.cancel().await?))
                    }
                    None => Ok(Seen::Resume),
                }
            }
        }
    }
}
