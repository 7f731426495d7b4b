//! The store that fails a chosen commit.

use std::sync::Arc;

use surefill_conformance::store::Draft;
use surefill_conformance::{Faulty, Landing};
use surefill_core::{Begun, MemoryStore, Store, StoreError};

#[tokio::test]
async fn the_chosen_commit_fails_and_closes_the_store() {
    for (landing, there) in [(Landing::Lost, 1), (Landing::Landed, 2)] {
        let inner = MemoryStore::default();
        let store = Faulty::new(Arc::new(inner.clone()), 2, landing);
        let first = store.begin(Draft::new(1).begin()).await.unwrap();
        assert!(matches!(first, Begun::Inserted(_)));
        let second = store.begin(Draft::new(2).begin()).await;
        assert!(matches!(second, Err(StoreError::Commit(_))), "{second:?}");
        let third = store.begin(Draft::new(3).begin()).await;
        assert!(matches!(third, Err(StoreError::Closed)), "{third:?}");
        assert_eq!(inner.unfinished().await.unwrap().len(), there);
        assert_eq!(store.commits(), 2);
    }
}
