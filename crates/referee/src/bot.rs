//! A bot with a runtime of its own, so that it can die at any moment: its tasks end where they wait.

use std::time::Duration;

use surefill_core::{
    AmendError, AmendOutcome, CancelError, ClOrdId, Cold, Engine, Halt, OrdState, Order,
    OrderIntent, OrderRecord, PlaceError, Placement, RecoverError, RecoveryReport, StoreError,
};
use tokio::runtime::{Builder, Runtime};

use crate::stage::{BOUND, until};

/// An engine that has recovered, and its runtime.
#[derive(Debug)]
pub struct Bot {
    rt: Option<Runtime>,
    engine: Option<Engine>,
    /// What it found when it started.
    pub report: RecoveryReport,
}

impl Bot {
    /// Recovers in a runtime of its own.
    ///
    /// # Errors
    /// As [`Cold::recover`].
    pub async fn start(cold: Cold) -> Result<Self, RecoverError> {
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

    /// The engine.
    pub fn engine(&self) -> Engine {
        self.engine.clone().expect("alive")
    }

    /// Places.
    ///
    /// # Errors
    /// As [`Engine::place`].
    pub async fn place(&self, intent: OrderIntent) -> Result<Placement, PlaceError> {
        let engine = self.engine();
        self.inside(async move { engine.place(intent).await }).await
    }

    /// Places, and waits for no answer.
    pub fn begin(&self, intent: OrderIntent) {
        let engine = self.engine();
        let placing = async move { drop(engine.place(intent).await) };
        drop(self.rt.as_ref().expect("alive").spawn(placing));
    }

    /// Places what must not be refused.
    pub async fn order(&self, intent: OrderIntent) -> Order {
        let placed = self.place(intent).await;
        placed.expect("placed").order().clone()
    }

    /// Places in spite of halts.
    ///
    /// # Errors
    /// As [`Engine::place_despite_halt`].
    pub async fn place_despite_halt(
        &self,
        intent: OrderIntent,
        who: &'static str,
    ) -> Result<Placement, PlaceError> {
        let engine = self.engine();
        self.inside(async move { engine.place_despite_halt(intent, who).await })
            .await
    }

    /// Asks for a cancel.
    ///
    /// # Errors
    /// As [`Engine::cancel`].
    pub async fn cancel(&self, id: ClOrdId) -> Result<OrderRecord, CancelError> {
        let engine = self.engine();
        self.inside(async move { engine.cancel(id).await }).await
    }

    /// Asks for other terms.
    ///
    /// # Errors
    /// As [`Engine::amend`].
    pub async fn amend(
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
    pub fn begin_amend(&self, id: ClOrdId, qty: Option<&str>, price: Option<&str>) {
        let engine = self.engine();
        let qty = qty.map(|qty| qty.parse().expect("qty"));
        let price = price.map(|price| price.parse().expect("price"));
        let amending = async move { drop(engine.amend(id, qty, price).await) };
        drop(self.rt.as_ref().expect("alive").spawn(amending));
    }

    /// The halts that stand.
    pub fn halts(&self) -> Vec<Halt> {
        self.engine().halts()
    }

    /// Waits until exactly that many fills of the order are booked.
    pub async fn booked(&self, id: ClOrdId, times: usize) {
        let engine = self.engine();
        until(&format!("{times} fills"), async || {
            let fills = engine.fills(id).await.expect("fills");
            assert!(fills.len() <= times, "{fills:?}");
            (fills.len() == times).then_some(())
        })
        .await;
    }

    /// Dies: nothing is finished, nothing is said. What the kernel holds is on its way all the same.
    pub fn crash(self) {
        drop(self);
    }

    /// Stops in order.
    ///
    /// # Errors
    /// As [`Engine::shutdown`].
    pub async fn shutdown(mut self) -> Result<(), StoreError> {
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
pub async fn settled(order: &Order) -> OrderRecord {
    let settled = tokio::time::timeout(BOUND, order.settled());
    settled.await.expect("a verdict within the bound")
}

/// What a strategy does: a refusal by doubt or by its halt sent nothing, so it is asked again.
pub async fn insist(engine: Engine, intent: OrderIntent) -> Order {
    loop {
        match engine.place(intent.clone()).await {
            Ok(placed) => return placed.order().clone(),
            Err(PlaceError::Doubt { .. } | PlaceError::Halted(_)) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            // The instruments could not be read, or the clock.
            Err(PlaceError::Venue { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Waits for a state and lets none of the others come before it that would be an end.
pub async fn becomes(order: &Order, state: OrdState) {
    until(&format!("{state}"), async || {
        let now = order.latest().state;
        assert!(now == state || !now.is_terminal(), "{now}");
        (now == state).then_some(())
    })
    .await;
}
