//! A store in memory whose calls fail as they are told to.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use surefill_conformance::{Hook, Hooked, StoreCall};
use surefill_core::*;
use tokio::sync::Notify;

use crate::engine::within;
use crate::fake_venue::FakeVenue;

type Fails = Box<dyn Fn(&Change) -> Option<StoreError> + Send>;

/// What is to fail.
#[derive(Default)]
pub(crate) struct Script {
    /// What is inside.
    pub(crate) memory: MemoryStore,
    /// Each is asked of every change until it has failed one.
    pub(crate) applies: Mutex<VecDeque<Fails>>,
    /// So many of the next reads of a row fail.
    pub(crate) order_reads: AtomicU32,
    /// So many of the next reads of stored bytes fail.
    pub(crate) attempt_reads: AtomicU32,
    /// Stored bytes are read, and the answer waits for this.
    pub(crate) attempt_wait: Mutex<Option<Arc<Notify>>>,
    /// The next entry fails in its commit.
    pub(crate) begin: AtomicBool,
    /// No halt can be lifted.
    pub(crate) lifts: AtomicBool,
    /// No halt can be made durable.
    pub(crate) halts_fail: AtomicBool,
    /// No answer to a request can be written.
    pub(crate) answers_fail: AtomicBool,
    /// A halt is durable, and its answer waits for this.
    pub(crate) halt_answer: Mutex<Option<Arc<Notify>>>,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

pub(crate) type FlakyStore = Hooked<Script>;

/// A store over this one that does as its script says; without, it fails nothing.
pub(crate) fn flaky(memory: &MemoryStore) -> FlakyStore {
    let script = Script {
        memory: memory.clone(),
        ..Script::default()
    };
    Hooked::over(Arc::new(memory.clone()), script)
}

impl Script {
    /// The next change that the test takes fails with what it returns.
    pub(crate) fn fail_apply(
        &self,
        fails: impl Fn(&Change) -> Option<StoreError> + Send + 'static,
    ) {
        let mut applies = self.applies.lock().unwrap();
        applies.push_back(Box::new(fails));
    }
}

/// Starts an engine over it; each send is checked against what it holds.
pub(crate) async fn start_over(store: &FlakyStore, venue: &FakeVenue) -> Engine {
    *venue.0.journal.lock().unwrap() = Some(store.hook().memory.clone());
    let cold = Cold::new(store.clone()).venue("v", venue.clone());
    within(cold.recover()).await.expect("recovered").0
}

fn unread() -> StoreError {
    StoreError::Read("scripted".into())
}

fn fails(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| {
        left.checked_sub(1)
    })
    .is_ok()
}

impl Hook for Script {
    async fn around<T: Send>(
        &self,
        call: StoreCall<'_>,
        inner: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        match call {
            StoreCall::Begin if self.begin.swap(false, Ordering::AcqRel) => {
                Err(StoreError::Commit("scripted".into()))
            }
            StoreCall::Apply(change) => {
                let failed = {
                    let mut applies = self.applies.lock().unwrap();
                    let failed = applies.front().and_then(|fails| fails(change));
                    if failed.is_some() {
                        applies.pop_front();
                    }
                    failed
                };
                match failed {
                    Some(error) => Err(error),
                    None => inner.await,
                }
            }
            StoreCall::Order if fails(&self.order_reads) => Err(unread()),
            StoreCall::Attempt if fails(&self.attempt_reads) => Err(unread()),
            StoreCall::Attempt => {
                let read = inner.await;
                wait_for(&self.attempt_wait).await;
                read
            }
            StoreCall::Halt if self.halts_fail.load(Ordering::Acquire) => Err(StoreError::Full),
            StoreCall::Answer if self.answers_fail.load(Ordering::Acquire) => Err(StoreError::Full),
            StoreCall::Halt => {
                let durable = inner.await;
                wait_for(&self.halt_answer).await;
                durable
            }
            StoreCall::Lift if self.lifts.load(Ordering::Acquire) => Err(StoreError::Full),
            _ => inner.await,
        }
    }
}

/// Waits where the script says so, once.
async fn wait_for(wait: &Mutex<Option<Arc<Notify>>>) {
    let wait = wait.lock().unwrap().take();
    if let Some(wait) = wait {
        wait.notified().await;
    }
}
