//! The cases, one function each. Numbers are never reused.

mod begin;
mod change;
mod durable;
mod halt;
mod marks;
mod read;

pub use begin::*;
pub use change::*;
pub use durable::*;
pub use halt::*;
pub use marks::*;
pub use read::*;

use std::sync::Arc;

use surefill_core::{
    Begun, Change, ClOrdId, Durability, Fill, Gate, Halt, OrdState, OrderRecord, Store, StoreError,
    Transition,
};

use super::{Draft, doubt};

/// Journals a draft that must be taken.
async fn inserted(store: &Arc<dyn Store>, draft: &Draft) -> OrderRecord {
    match store.begin(draft.begin()).await.unwrap() {
        Begun::Inserted(row) => row,
        other => panic!("{other:?}"),
    }
}

/// Journals a draft that must be refused.
async fn refused(store: &Arc<dyn Store>, draft: &Draft) -> Gate {
    let gate = match store.begin(draft.begin()).await.unwrap() {
        Begun::Refused(gate) => gate,
        other => panic!("{other:?}"),
    };
    assert_eq!(store.order(draft.id()).await.unwrap(), None);
    assert_eq!(store.history(draft.id()).await.unwrap(), []);
    gate
}

/// Commits a change, lazily or not as it needs.
async fn apply(store: &Arc<dyn Store>, change: Change) -> OrderRecord {
    try_apply(store, change).await.unwrap()
}

async fn try_apply(store: &Arc<dyn Store>, change: Change) -> Result<OrderRecord, StoreError> {
    let durability = change.durability();
    store.apply(change, durability).await
}

/// Journals a draft and loses its answer.
async fn in_doubt(store: &Arc<dyn Store>, draft: &Draft) -> OrderRecord {
    let row = inserted(store, draft).await;
    apply(store, doubt(&row)).await
}

type All = (Option<OrderRecord>, Vec<Transition>, Vec<Fill>, Vec<Halt>);

/// What the journal holds of one order, and every halt.
async fn all_of(store: &Arc<dyn Store>, id: ClOrdId) -> All {
    (
        store.order(id).await.unwrap(),
        store.history(id).await.unwrap(),
        store.fills(id).await.unwrap(),
        store.halts().await.unwrap(),
    )
}

async fn ids(store: &Arc<dyn Store>) -> Vec<ClOrdId> {
    let rows = store.unfinished().await.unwrap();
    rows.iter().map(|row| row.id).collect()
}

fn lazy(change: Change) -> (Change, Durability) {
    assert_eq!(change.durability(), Durability::Lazy);
    (change, Durability::Lazy)
}

fn states(rows: &[OrderRecord]) -> Vec<OrdState> {
    rows.iter().map(|row| row.state).collect()
}
