//! A bot with a runtime of its own, so that it can die at any moment: its tasks end where they wait.

use std::sync::Arc;
use std::time::Duration;

use surefill_core::{
    CancelError, ClOrdId, Cold, Connect, Engine, Halt, MemoryStore, Order, OrderIntent,
    OrderRecord, PlaceError, Placement, RecoverError, RecoveryReport, Store, StoreError,
};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::stage::{ALIAS, BOUND};
use crate::crash_at::{CrashAt, World};
use crate::hooked::Hooked;

/// An engine over this journal and this venue, in one world.
pub(super) fn cold(connect: Box<dyn Connect>, store: MemoryStore, world: &World) -> Cold {
    let store: Arc<dyn Store> = Arc::new(store);
    Cold::new(Hooked::over(store, world.clone())).venue(ALIAS, CrashAt::new(connect, world.clone()))
}

/// The tasks of one process.
#[derive(Debug)]
pub(super) struct Process {
    rt: Option<Runtime>,
    world: World,
}

impl Process {
    pub(super) fn new(world: World) -> Self {
        let rt = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        Self {
            rt: Some(rt),
            world,
        }
    }

    pub(super) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.rt.as_ref().expect("alive").spawn(task)
    }

    /// Runs a task of its own, with a bound against hanging.
    async fn inside<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> T {
        let ended = tokio::time::timeout(BOUND, self.spawn(task)).await;
        ended.expect("an end within the bound").expect("no panic")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.world.stop();
        if let Some(rt) = self.rt.take() {
            rt.shutdown_background();
        }
    }
}

/// A process whose engine has recovered.
#[derive(Debug)]
pub(super) struct Bot {
    process: Process,
    engine: Option<Engine>,
    pub(super) report: RecoveryReport,
}

impl Bot {
    pub(super) async fn start(cold: Cold, world: World) -> Result<Self, RecoverError> {
        let process = Process::new(world);
        let (engine, report) = process.inside(cold.recover()).await?;
        Ok(Self {
            process,
            engine: Some(engine),
            report,
        })
    }

    pub(super) fn engine(&self) -> Engine {
        self.engine.clone().expect("alive")
    }

    pub(super) async fn place(&self, intent: OrderIntent) -> Result<Placement, PlaceError> {
        let engine = self.engine();
        self.process
            .inside(async move { engine.place(intent).await })
            .await
    }

    /// Places, and waits for no answer.
    pub(super) fn begin(&self, intent: OrderIntent) {
        let engine = self.engine();
        let placing = async move { drop(engine.place(intent).await) };
        drop(self.process.spawn(placing));
    }

    /// Places what must not be refused.
    pub(super) async fn order(&self, intent: OrderIntent) -> Order {
        let placed = self.place(intent).await;
        placed.expect("placed").order().clone()
    }

    /// Places an order and waits for its fate.
    pub(super) async fn settled(&self, intent: OrderIntent) -> OrderRecord {
        settled(&self.order(intent).await).await
    }

    pub(super) async fn cancel(&self, id: ClOrdId) -> Result<OrderRecord, CancelError> {
        let engine = self.engine();
        self.process
            .inside(async move { engine.cancel(id).await })
            .await
    }

    pub(super) async fn row(&self, id: ClOrdId) -> Option<OrderRecord> {
        let order = self.engine().order(id).await.expect("readable");
        order.map(|order| order.latest())
    }

    pub(super) fn halts(&self) -> Vec<Halt> {
        self.engine().halts()
    }

    pub(super) fn die(self) {
        drop(self);
    }

    /// Stops in order.
    pub(super) async fn shutdown(mut self) -> Result<(), StoreError> {
        let engine = self.engine.take().expect("alive");
        let stopping = engine.shutdown(Duration::from_secs(10));
        self.process.inside(stopping).await
    }
}

/// The order once its fate is known.
pub(super) async fn settled(order: &Order) -> OrderRecord {
    let settled = tokio::time::timeout(BOUND, order.settled());
    settled.await.expect("a verdict within the bound")
}

/// The order once it has ended and every fill is booked.
pub(super) async fn done(order: &Order) -> OrderRecord {
    let done = tokio::time::timeout(BOUND, order.done());
    done.await.expect("an end within the bound")
}
