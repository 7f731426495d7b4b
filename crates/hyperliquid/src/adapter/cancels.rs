//! Cancels: of one order, of several, of whatever is open.

use serde::Serialize;
use surefill_core::{
    CancelAllOutcome, CancelOutcome, Handle, Key, OrderId, OrderRecord, Symbol, UnknownCause,
};

use super::{Adapter, unknown};
use crate::action::{Cancel, CancelByCloid, CancelItem, CloidItem};
use crate::error::ReadFailure;
use crate::list::Owner;
use crate::{id, outcome};

/// What of an open order is needed to cancel it.
struct Named {
    coin: Option<Symbol>,
    order_id: Option<OrderId>,
    key: Option<Key>,
}

/// The items that cancel one order.
enum Cancels {
    Named(Vec<CancelItem>),
    Ours(CloidItem),
}

/// How one order of several is canceled.
enum Plan {
    /// By so many items with the venue's ids.
    Named(usize),
    Ours,
    Not(UnknownCause),
}

fn oid(order_id: &OrderId) -> Result<u64, ReadFailure> {
    let oid = order_id.as_str().parse();
    oid.map_err(|_| ReadFailure::unreadable(format!("order id {order_id} is no number")))
}

impl Adapter {
    /// Cancels under every id that the venue has named, and under ours where it has named none: a request for each of the two, at most.
    /// What keeps one order from being canceled does not keep the others.
    pub(super) async fn cancel_each(&self, orders: &[&OrderRecord]) -> Vec<CancelOutcome> {
        let (mut by_oid, mut by_cloid, mut plans) = (Vec::new(), Vec::new(), Vec::new());
        for order in orders {
            plans.push(match self.cancels_of(order).await {
                Ok(Cancels::Named(items)) => {
                    let n = items.len();
                    by_oid.extend(items);
                    Plan::Named(n)
                }
                Ok(Cancels::Ours(item)) => {
                    by_cloid.push(item);
                    Plan::Ours
                }
                Err(failure) => Plan::Not(unknown(&failure)),
            });
        }
        let (oids, cloids) = (by_oid.len(), by_cloid.len());
        let mut named = Vec::new();
        if oids > 0 {
            named = self.canceled(&Cancel::new(by_oid), oids).await;
        }
        let mut ours = Vec::new();
        if cloids > 0 {
            ours = self.canceled(&CancelByCloid::new(by_cloid), cloids).await;
        }
        let (mut named, mut ours) = (named.into_iter(), ours.into_iter());
        let each = plans.into_iter().map(|plan| match plan {
            Plan::Named(n) => outcome::canceled(named.by_ref().take(n).collect()),
            Plan::Ours => outcome::canceled(ours.by_ref().take(1).collect()),
            Plan::Not(cause) => CancelOutcome::Unknown(cause),
        });
        each.collect()
    }

    /// What cancels an order.
    async fn cancels_of(&self, order: &OrderRecord) -> Result<Cancels, ReadFailure> {
        let asset = self.asset(order.symbol()).await?;
        if order.order_ids.is_empty() {
            let cloid = id::spell(&order.id);
            return Ok(Cancels::Ours(CloidItem { asset, cloid }));
        }
        let items = order.order_ids.iter().map(|order_id| {
            let o = oid(order_id)?;
            Ok(CancelItem { a: asset, o })
        });
        items.collect::<Result<_, _>>().map(Cancels::Named)
    }

    /// The answer to one request of cancels, item by item.
    async fn canceled(&self, action: &(impl Serialize + Sync), n: usize) -> Vec<CancelOutcome> {
        match self.act(action).await {
            Ok(sent) => outcome::cancels(&sent, n),
            Err(failure) => vec![CancelOutcome::Unknown(unknown(&failure)); n],
        }
    }

    /// Cancels what the list shows, in batches, also rows that cannot be read in full. What cannot be canceled does not keep the rest.
    pub(super) async fn cancel_listed(
        &self,
        symbol: Option<&Symbol>,
    ) -> Result<CancelAllOutcome, ReadFailure> {
        let open = self.reader.open_orders().await?;
        let read = open.rows.into_iter().map(|row| Named {
            coin: row.seen.symbol,
            order_id: Some(row.order_id),
            key: row.key,
        });
        let unread = open.unread.into_iter().map(|row| Named {
            coin: row.coin,
            order_id: row.order_id,
            key: match row.owner {
                Owner::Key(key) => Some(key),
                Owner::Nobody | Owner::Hidden => None,
            },
        });
        let wanted = |row: &Named| {
            let coin = row.coin.as_ref();
            symbol.is_none_or(|symbol| coin.is_none_or(|coin| coin == symbol))
        };
        let (mut items, mut handles, mut doubt) = (Vec::new(), Vec::new(), None);
        for row in read.chain(unread).filter(wanted) {
            match self.cancel_of(&row).await {
                Ok(item) => {
                    items.push(item);
                    handles.push(Handle {
                        key: row.key,
                        order_id: row.order_id,
                    });
                }
                Err(failure) => doubt = Some(unknown(&failure)),
            }
        }
        let mut outcomes = Vec::with_capacity(items.len());
        for batch in items.chunks(self.profile.cancel_batch.max(1)) {
            let action = Cancel::new(batch.to_vec());
            outcomes.extend(self.canceled(&action, batch.len()).await);
        }
        let mut taken = Vec::new();
        for (handle, outcome) in handles.into_iter().zip(outcomes) {
            match outcome {
                CancelOutcome::Taken | CancelOutcome::Canceled(_) => taken.push(handle),
                CancelOutcome::NotOpen | CancelOutcome::NotYet => {}
                CancelOutcome::Unknown(cause) => doubt = Some(cause),
            }
        }
        Ok(doubt.map_or(CancelAllOutcome::Taken(taken), CancelAllOutcome::Unknown))
    }

    async fn cancel_of(&self, row: &Named) -> Result<CancelItem, ReadFailure> {
        let (Some(coin), Some(order_id)) = (&row.coin, &row.order_id) else {
            return Err(ReadFailure::unreadable("an order without a coin or an id"));
        };
        let (a, o) = (self.asset(coin).await?, oid(order_id)?);
        Ok(CancelItem { a, o })
    }
}
