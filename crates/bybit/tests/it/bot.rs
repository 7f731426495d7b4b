//! A bot with a runtime of its own, so that it can die at any moment: its tasks end where they wait.

use std::time::Duration;

use surefill_core::{
    AmendError, AmendOutcome, CancelError, ClOrdId, Cold, Engine, Halt, Order, OrderIntent,
    OrderRecord, PlaceError, Placement, RecoverError, RecoveryReport, StoreError,
};
use tokio::runtime::{Builder, Runtime};

use crate::stage::BOUND;

pub(crate) struct Bot {
    rt: Option<Runtime>,
    engine: Option<Engine>,
    pub(crate) report: RecoveryReport,
}

impl Bot {
    /// Recovers in a runtime of its own.
    pub(crate) async fn start(cold: Cold) -> Result<Self, RecoverError> {
        let mut bot = Self {
            rt: Some(
                Builder::new_multi_thread()
                    .worker_threads(1)
                    .enable_all()
                    .build()
                    .expect("a runtime"),
            ),
            engine: None,
            report: RecoveryReport::default(),
        };
        let (engine, report) = bot.inside(cold.recover()).await?;
        (bot.engine, bot.report) = (Some(engine), report);
        Ok(bot)
    }

    /// Runs a task among the bot's own, with a bound against hanging.
    async fn inside<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> T {
        let task = self.rt.as_ref().expect("alive").spawn(task);
        let ended = tokio::time::timeout(BOUND, task).await.expect("an end");
        ended.expect("no panic")
    }

    pub(crate) fn engine(&self) -> Engine {
        self.engine.clone().expect("alive")
    }

    pub(crate) async fn place(&self, intent: OrderIntent) -> Result<Placement, PlaceError> {
        let engine = self.engine();
        self.inside(async move { engine.place(intent).await }).await
    }

    /// Places, and waits for no answer.
    pub(crate) fn begin(&self, intent: OrderIntent) {
        let engine = self.engine();
        let placing = async move { drop(engine.place(intent).await) };
        drop(self.rt.as_ref().expect("alive").spawn(placing));
    }

    /// Places what must not be refused.
    pub(crate) async fn order(&self, intent: OrderIntent) -> Order {
        let placed = self.place(intent).await;
        placed.expect("placed").order().clone()
    }

    pub(crate) async fn cancel(&self, id: ClOrdId) -> Result<OrderRecord, CancelError> {
        let engine = self.engine();
        self.inside(async move { engine.cancel(id).await }).await
    }

    /// Asks for other terms.
    pub(crate) async fn amend(
        &self,
        id: ClOrdId,
        qty: Option<&str>,
        price: Option<&str>,
    ) -> Result<AmendOutcome, AmendError> {
        let engine = self.engine();
        let qty = qty.map(|qty| qty.parse().expect("qty"));
        let price = price.map(|price| price.parse().expect("price"));
        self.inside(async move { engine.amend(id, qty, price).await })
            .await
    }

    /// Asks for other terms, and waits for no answer.
    pub(crate) fn begin_amend(&self, id: ClOrdId, qty: Option<&str>, price: Option<&str>) {
        let engine = self.engine();
        let qty = qty.map(|qty| qty.parse().expect("qty"));
        let price = price.map(|price| price.parse().expect("price"));
        let amending = async move { drop(engine.amend(id, qty, price).await) };
        drop(self.rt.as_ref().expect("alive").spawn(amending));
    }

    pub(crate) fn halts(&self) -> Vec<Halt> {
        self.engine().halts()
    }

    /// Dies: nothing is finished, nothing is said. What the kernel holds is on its way all the same.
    pub(crate) fn crash(self) {
        drop(self);
    }

    /// Stops in order.
    pub(crate) async fn shutdown(mut self) -> Result<(), StoreError> {
        let engine = self.engine.take().expect("alive");
        let stopping = engine.shutdown(Duration::from_secs(10));
        self.inside(stopping).await
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        if let Some(rt) = self.rt.take() {
            rt.shutdown_background();
        }
    }
}

/// The order once its fate is known.
pub(crate) async fn settled(order: &Order) -> OrderRecord {
    let settled = tokio::time::timeout(BOUND, order.settled());
    settled.await.expect("a verdict within the bound")
}
