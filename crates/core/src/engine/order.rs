//! A placed order in the caller's hand.

use tokio::sync::watch;

use super::shared::{Published, row_when};
use crate::{ClOrdId, OrdState, OrderRecord};

/// What became of a placement, as far as it is known now.
#[derive(Clone, Debug)]
#[must_use = "an order may live or be in doubt"]
pub enum Placement {
    /// The venue named it and it works.
    Live(Order),
    /// It ended: filled, canceled or rejected.
    Done(Order),
    /// Its fate is not known yet and is being pursued: [`Order::settled`] waits for the verdict.
    Unknown(Order),
}

impl Placement {
    pub(crate) fn of(order: Order) -> Self {
        match order.record().state {
            OrdState::Acked | OrdState::Partial => Self::Live(order),
            OrdState::Filled | OrdState::Canceled | OrdState::Rejected => Self::Done(order),
            OrdState::Pending | OrdState::Submitted | OrdState::Unknown | OrdState::Reconciling => {
                Self::Unknown(order)
            }
        }
    }

    /// The order, whatever became of it.
    pub const fn order(&self) -> &Order {
        match self {
            Self::Live(order) | Self::Done(order) | Self::Unknown(order) => order,
        }
    }
}

/// A placed order: the row as it was when it was handed out, and how to wait for more.
#[derive(Clone, Debug)]
pub struct Order {
    row: OrderRecord,
    published: Option<watch::Receiver<Published>>,
}

impl Order {
    pub(crate) const fn new(
        row: OrderRecord,
        published: Option<watch::Receiver<Published>>,
    ) -> Self {
        Self { row, published }
    }

    /// The client order id.
    pub const fn id(&self) -> ClOrdId {
        self.row.id
    }

    /// The row as it was when this was handed out.
    pub const fn record(&self) -> &OrderRecord {
        &self.row
    }

    /// The row as it is now.
    pub fn latest(&self) -> OrderRecord {
        let published = self
            .published
            .as_ref()
            .and_then(|published| published.borrow().row.clone());
        published.unwrap_or_else(|| self.row.clone())
    }

    /// Waits until the fate is known: the order works, or has ended. Returns the row as it is when the engine lets go first.
    pub async fn settled(&self) -> OrderRecord {
        self.wait(|row| row.state.is_working() || row.state.is_terminal())
            .await
    }

    /// Waits until the order has ended and every fill is booked. Returns the row as it is when the engine lets go first.
    pub async fn done(&self) -> OrderRecord {
        self.wait(|row| row.state.is_terminal() && !row.fills_owed())
            .await
    }

    async fn wait(&self, until: impl Fn(&OrderRecord) -> bool + Send + Sync) -> OrderRecord {
        let Some(mut published) = self.published.clone() else {
            return self.row.clone();
        };
        let reached = |published: &Published| published.row.as_ref().is_some_and(&until);
        let row = row_when(&mut published, reached).await;
        row.unwrap_or_else(|| self.row.clone())
    }
}
