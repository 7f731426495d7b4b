//! What the engine's tasks share: the journal, the desks, the drivers, the halts in force.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinSet;

use super::desk::Desk;
use super::driver::Line;
use super::requests::Progress;
use super::{Alert, Alerts, AmendError, CancelError, Event, LimitError};
use crate::{
    Alias, AmendNo, AmendOutcome, CancelOutcome, Change, ClOrdId, ExecReport, Halt, HaltCause,
    Journal, Lift, OrderIntent, OrderRecord, Scope, Situation, StoreError, Terms, Transition,
    VenueTime,
};

/// What a driver can be told.
#[derive(Debug)]
pub(crate) enum Message {
    /// A list or a stream spoke of the order.
    Report(Box<ExecReport>),
    /// A cancel is asked.
    Cancel(AskedCancel),
    /// Other terms are asked.
    Amend(Box<AskedAmend>),
    /// The venue answered an amend.
    Amended(Box<AmendAnswer>),
    /// Something around the order changed: decide again.
    Wake,
    /// The venue may have said something that nobody heard: look soon.
    Look,
}

/// An amend on its way to an order's driver, checked but for what only the commit can tell.
#[derive(Debug)]
pub(crate) struct AskedAmend {
    /// The terms that stood when it was checked.
    pub(crate) from: Terms,
    /// The terms asked.
    pub(crate) to: Terms,
    /// It takes no new risk: halts do not refuse it.
    pub(crate) exit: bool,
    /// The venue's time when it was checked.
    pub(crate) at: VenueTime,
    /// Answered once the venue has, or when nothing was sent.
    pub(crate) reply: oneshot::Sender<Result<AmendOutcome, AmendError>>,
}

/// The venue's answer to an amend, and who waits for it.
#[derive(Debug)]
pub(crate) struct AmendAnswer {
    pub(crate) no: AmendNo,
    pub(crate) answer: AmendOutcome,
    pub(crate) reply: oneshot::Sender<Result<AmendOutcome, AmendError>>,
}

/// A cancel on its way to an order's driver.
#[derive(Debug)]
pub(crate) struct AskedCancel {
    /// Answered once it is durable.
    pub(crate) reply: oneshot::Sender<Result<OrderRecord, CancelError>>,
    /// What the venue answers to a request that cancels several orders, where a working order's cancel goes out with others. One that
    /// is dropped says that it did not: then the driver asks the venue itself.
    pub(crate) together: Option<oneshot::Receiver<CancelOutcome>>,
}

/// The row as its driver knows it, and whether the first send of this process has been answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Published {
    pub(crate) row: Option<OrderRecord>,
    pub(crate) answered: bool,
    /// Where it enters, from the check of the limits until there is a row.
    pub(crate) entering: Option<Alias>,
}

/// The row once it is as asked, or as it is when its driver lets go first.
pub(crate) async fn row_when(
    published: &mut watch::Receiver<Published>,
    reached: impl FnMut(&Published) -> bool + Send,
) -> Option<OrderRecord> {
    let row = published
        .wait_for(reached)
        .await
        .map(|published| published.row.clone());
    row.unwrap_or_else(|_| published.borrow().row.clone())
}

/// How to reach an order's driver.
#[derive(Clone, Debug)]
pub(crate) struct DriverHandle {
    pub(crate) inbox: mpsc::UnboundedSender<Message>,
    pub(crate) published: watch::Receiver<Published>,
}

/// Whether the engine runs, lets go, or is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Running,
    /// No new entries; what is in flight is classified.
    Stopping,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) journal: Journal,
    pub(crate) desks: HashMap<Alias, Arc<Desk>>,
    /// Sorted, so that they are told in the same order in every run.
    pub(crate) drivers: Mutex<BTreeMap<ClOrdId, DriverHandle>>,
    halts: RwLock<Vec<Halt>>,
    /// Held from a halt's or a lift's commit until it is in force here, so that engine and journal see them in one order.
    pub(crate) halting: tokio::sync::Mutex<()>,
    /// Intents of which nobody knows whether they are on disk.
    pub(crate) undecided: Mutex<HashSet<ClOrdId>>,
    pub(crate) events: broadcast::Sender<Event>,
    pub(crate) phase: watch::Sender<Phase>,
    pub(crate) tasks: Mutex<JoinSet<()>>,
    /// A cancel was flagged in the row of an order that nobody drove.
    pub(crate) flagged: AtomicBool,
    /// How far the requests have come that the journal's inbox lists, by number.
    pub(crate) requests: Mutex<HashMap<i64, Progress>>,
    alerts: Arc<dyn Alerts>,
    pub(crate) doubt_blocks: bool,
}

impl Shared {
    pub(crate) fn new(
        journal: Journal,
        desks: HashMap<Alias, Arc<Desk>>,
        halts: Vec<Halt>,
        alerts: Arc<dyn Alerts>,
        doubt_blocks: bool,
    ) -> Self {
        Self {
            journal,
            desks,
            drivers: Mutex::default(),
            halts: RwLock::new(halts),
            halting: tokio::sync::Mutex::default(),
            undecided: Mutex::default(),
            events: broadcast::channel(4096).0,
            phase: watch::channel(Phase::Running).0,
            tasks: Mutex::default(),
            flagged: AtomicBool::new(false),
            requests: Mutex::default(),
            alerts,
            doubt_blocks,
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.phase.borrow() != Phase::Running
    }

    /// Runs a task that belongs to the engine.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // Finished tasks are taken out so that the set does not grow with history.
        while let Some(ended) = tasks.try_join_next() {
            if let Err(error) = ended {
                tracing::error!(%error, "a task of the engine ended badly");
            }
        }
        tasks.spawn(task);
    }

    pub(crate) fn take_tasks(&self) -> JoinSet<()> {
        std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs a task of the engine that never ends by itself. One that panics, as an adapter may over a venue's bytes, is started anew.
    pub(crate) fn keep<F>(
        self: &Arc<Self>,
        what: &'static str,
        task: impl Fn() -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let shared = Arc::clone(self);
        self.spawn(async move {
            while AssertUnwindSafe(task()).catch_unwind().await.is_err() {
                tracing::error!("{what} panicked and is started anew");
                if !shared.pause(Duration::from_secs(1)).await {
                    return;
                }
            }
        });
    }

    /// Waits; `false` once the engine stops.
    pub(crate) async fn pause(&self, wait: Duration) -> bool {
        let mut phase = self.phase.subscribe();
        tokio::select! {
            biased;
            _ = phase.wait_for(|phase| *phase != Phase::Running) => false,
            () = tokio::time::sleep(wait) => true,
        }
    }

    pub(crate) fn driver(&self, id: ClOrdId) -> Option<DriverHandle> {
        self.drivers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned()
    }

    /// Leads messages to the next driver of an order.
    pub(crate) fn replace_driver(&self, id: ClOrdId, handle: &DriverHandle) {
        let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        drivers.insert(id, handle.clone());
    }

    /// Forgets a driver that has ended; one that another task has started since stays.
    pub(crate) fn forget_driver(&self, id: ClOrdId, ended: &watch::Sender<Published>) {
        let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        if drivers
            .get(&id)
            .is_some_and(|driver| ended.subscribe().same_channel(&driver.published))
        {
            drivers.remove(&id);
        }
    }

    /// Forgets a line that was taken for an order which was not journaled after all.
    pub(crate) fn release(&self, id: ClOrdId) {
        self.drivers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id);
    }

    pub(crate) fn halts(&self) -> Vec<Halt> {
        self.halts
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What `decide` is told of the world around the order; `None` until the venue's time has been heard.
    pub(crate) fn situation(&self, desk: &Desk, order: &OrderRecord) -> Option<Situation> {
        let now = desk.clock.read()?;
        let halts = self.halts.read().unwrap_or_else(PoisonError::into_inner);
        let covers = |halt: &&Halt| {
            halt.scope
                .covers(order.alias(), &order.account, order.symbol())
        };
        let declared = halts
            .iter()
            .filter(covers)
            .any(|halt| halt.cause.needs_person());
        let alarms = halts
            .iter()
            .filter(|halt| halt.cause.order() == Some(order.id));
        Some(Situation {
            now,
            height: None,
            lease: true,
            entries_halted: declared && !desk.is_exit(&order.intent),
            alarms: alarms.map(|halt| halt.cause.clone()).collect(),
        })
    }

    pub(crate) fn alert(&self, alert: &Alert) {
        self.alerts.alert(alert);
    }

    /// Takes in a halt that is durable: from here on it is announced and in force everywhere.
    pub(crate) fn announce(&self, halt: &Halt) {
        let new = {
            let mut halts = self.halts.write().unwrap_or_else(PoisonError::into_inner);
            let known = halts
                .iter()
                .any(|other| other.scope == halt.scope && other.cause == halt.cause);
            if !known {
                halts.push(halt.clone());
            }
            !known
        };
        if new {
            metrics::counter!("surefill_halts_total").increment(1);
            self.alert(&Alert::Halted(halt.clone()));
            self.tell(Event::Halted(halt.clone()));
        }
    }

    /// Makes a halt durable, then announces it.
    pub(crate) async fn halt(&self, halt: Halt) -> Result<(), StoreError> {
        let _halting = self.halting.lock().await;
        self.journal.write(self.journal.store().halt(&halt)).await?;
        self.announce(&halt);
        Ok(())
    }

    /// Commits a change; a halt that it carries is announced with it.
    pub(crate) async fn apply(&self, change: &Change) -> Result<OrderRecord, StoreError> {
        let _halting = match &change.halt {
            Some(_) => Some(self.halting.lock().await),
            None => None,
        };
        let row = self.journal.apply(change.clone()).await?;
        if let Some(halt) = &change.halt {
            self.announce(halt);
        }
        Ok(row)
    }

    /// Lifts halts durably, then lets the orders under them go on.
    pub(crate) async fn lift(
        &self,
        lift: &Lift,
        who: &str,
        reason: &str,
        at: VenueTime,
    ) -> Result<Vec<Halt>, StoreError> {
        let _halting = self.halting.lock().await;
        let lifted = self
            .journal
            .write(self.journal.store().lift(lift, who, reason, at))
            .await?;
        {
            let mut halts = self.halts.write().unwrap_or_else(PoisonError::into_inner);
            let gone = |halt: &Halt| {
                lifted
                    .iter()
                    .any(|l| l.scope == halt.scope && l.cause == halt.cause)
            };
            halts.retain(|halt| !gone(halt));
        }
        for halt in &lifted {
            self.alert(&Alert::Lifted(halt.clone()));
            self.tell(Event::Lifted(halt.clone()));
        }
        if !lifted.is_empty() {
            let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
            // A driver that is gone needs no waking.
            drivers
                .values()
                .for_each(|driver| drop(driver.inbox.send(Message::Wake)));
        }
        Ok(lifted)
    }

    /// The halts from doubt about this order.
    pub(crate) fn doubts(&self, id: ClOrdId) -> Vec<(Scope, HaltCause)> {
        let halts = self.halts.read().unwrap_or_else(PoisonError::into_inner);
        let of_order = halts.iter().filter(
            |halt| matches!(&halt.cause, HaltCause::Doubt { id: other, .. } if *other == id),
        );
        of_order
            .map(|halt| (halt.scope.clone(), halt.cause.clone()))
            .collect()
    }

    /// Lifts the halts from doubt at a venue whose orders are settled: a crash or a full disk may have come between the truth and the lift.
    pub(crate) async fn lift_settled(&self, desk: &Desk, at: VenueTime) -> Result<(), StoreError> {
        for halt in self.halts() {
            let HaltCause::Doubt { id, .. } = halt.cause else {
                continue;
            };
            if halt.scope.venue != desk.alias {
                continue;
            }
            let row = self.journal.store().order(id).await?;
            if row.is_some_and(|row| row.state.is_known()) {
                let lift = Lift::One(halt.scope, halt.cause);
                self.lift(&lift, "surefill", "the truth arrived", at)
                    .await?;
            }
        }
        Ok(())
    }

    /// Tells those who watch; nobody may.
    pub(crate) fn tell(&self, event: Event) {
        drop(self.events.send(event));
    }

    /// Tells of a committed change.
    pub(crate) fn tell_transition(
        &self,
        before: &OrderRecord,
        after: &OrderRecord,
        transition: Transition,
    ) {
        if before.state != after.state {
            metrics::counter!("surefill_transitions_total", "to" => after.state.as_str())
                .increment(1);
        }
        self.tell(Event::Transition {
            order: Box::new(after.clone()),
            transition: Box::new(transition),
        });
    }

    /// Checks an intent against the limits; when it passes, it counts among the open orders from here on.
    pub(crate) fn admit(
        &self,
        desk: &Desk,
        intent: &OrderIntent,
        line: &Line,
    ) -> Result<(), LimitError> {
        // Racing entries count each other, because each is counted before the next is checked.
        let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |driver: &&DriverHandle| {
            let published = driver.published.borrow();
            match &published.row {
                Some(row) => *row.alias() == desk.alias && !row.state.is_terminal(),
                None => published.entering.as_ref() == Some(&desk.alias),
            }
        };
        let limited = desk.limits.max_open_orders.is_some();
        let open = if limited {
            drivers.values().filter(is_open).count()
        } else {
            0
        };
        desk.limits.check(intent, open)?;
        line.enters(desk.alias.clone());
        Ok(())
    }
}
