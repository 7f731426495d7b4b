//! No room: nothing is written, nothing is lost, and it goes on once there is room.

use surefill_conformance::store::{Draft, ack};
use surefill_core::{Begun, Durability, Store, StoreError};
use surefill_store_sqlite::SqliteStore;
use surefill_store_sqlite::tap::Options;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::fixture::file;

fn small(dir: &TempDir) -> SqliteStore {
    let options = Options {
        tap: None,
        max_pages: Some(60),
        ..Options::default()
    };
    SqliteStore::open_with(file(dir), options).unwrap()
}

#[tokio::test]
async fn a_full_disk_takes_nothing_and_loses_nothing() {
    let dir = TempDir::new().unwrap();
    let store = small(&dir);
    let mut taken = Vec::new();
    let refused = loop {
        let draft = Draft::new(u32::try_from(taken.len()).unwrap());
        match store.begin(draft.begin()).await {
            Ok(Begun::Inserted(row)) => taken.push(row),
            Ok(other) => panic!("{other:?}"),
            Err(error) => break (draft, error),
        }
        assert!(taken.len() < 1_000, "it never fills up");
    };
    let (draft, error) = refused;
    assert!(matches!(error, StoreError::Full), "{error:?}");
    assert!(!error.closes());
    assert_eq!(store.order(draft.id()).await.unwrap(), None);
    assert_eq!(store.unfinished().await.unwrap(), taken);
    // It is not closed: what needs no room is taken still.
    let known = store.begin(Draft::new(0).begin()).await.unwrap();
    assert!(matches!(known, Begun::Exists(_)));
    store.close().await.unwrap();
    let roomy = SqliteStore::open(file(&dir)).unwrap();
    assert_eq!(roomy.unfinished().await.unwrap(), taken);
    let begun = roomy.begin(draft.begin()).await.unwrap();
    assert!(matches!(begun, Begun::Inserted(_)));
}

/// In a group the jobs that fit are taken, one by one; each caller is told of its own.
#[tokio::test]
async fn a_group_that_does_not_fit_is_run_one_by_one() {
    let dir = TempDir::new().unwrap();
    let store = small(&dir);
    let mut tasks = JoinSet::new();
    for n in 0..200 {
        let store = store.clone();
        tasks.spawn(async move { (n, store.begin(Draft::new(n).begin()).await) });
    }
    let mut full = 0;
    for (n, told) in tasks.join_all().await {
        let there = store.order(Draft::new(n).id()).await.unwrap();
        match told {
            Ok(Begun::Inserted(row)) => assert_eq!(there, Some(row)),
            Err(StoreError::Full) => {
                assert_eq!(there, None);
                full += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!((1..200).contains(&full), "{full}");
    // A change that fits in the page of its row is taken.
    let row = store.unfinished().await.unwrap().pop().unwrap();
    let acked = store.apply(ack(&row, &"1".into()), Durability::Lazy).await;
    assert!(matches!(acked, Ok(_) | Err(StoreError::Full)), "{acked:?}");
}
