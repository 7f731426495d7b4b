//! Work that is counted, not timed.

use surefill_conformance::store::Draft;
use surefill_core::{Begun, Store};
use surefill_store_sqlite::SqliteStore;
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::fixture::{file, image, open};

/// With 64 placers waiting, at most one sync per eight intents.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn placers_share_syncs() {
    const PLACERS: u32 = 64;
    const EACH: u32 = 50;
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(file(&dir)).unwrap();
    let before = store.syncs();
    let mut placers = JoinSet::new();
    for placer in 0..PLACERS {
        let store = store.clone();
        placers.spawn(async move {
            for n in 0..EACH {
                let draft = Draft::new(placer * EACH + n);
                let begun = store.begin(draft.begin()).await.unwrap();
                assert!(matches!(begun, Begun::Inserted(_)));
            }
        });
    }
    placers.join_all().await;
    let syncs = store.syncs() - before;
    let intents = u64::from(PLACERS * EACH);
    assert!(syncs * 8 <= intents, "{syncs} syncs for {intents} intents");
    assert_eq!(store.unfinished().await.unwrap().len(), 3_200);
}

/// The log is moved into the file while the writer writes, and starts over; nothing is lost by it, also not in a power cut.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_starts_over_under_load() {
    let dir = TempDir::new().unwrap();
    let (store, commits) = open(&file(&dir));
    let mut placed = 0;
    let restarted = || {
        let all = commits.all();
        all.windows(2).any(|pair| pair[1].1 < pair[0].1)
    };
    while !restarted() {
        assert!(placed < 100_000, "the log never started over");
        let mut group = JoinSet::new();
        for n in placed..placed + 100 {
            let store = store.clone();
            group.spawn(async move { store.begin(Draft::new(n).begin()).await.unwrap() });
        }
        group.join_all().await;
        placed += 100;
    }
    let left = commits.left(usize::MAX);
    let cut = SqliteStore::open(file(&image(&dir, Some(left)))).unwrap();
    let rows = cut.unfinished().await.unwrap().len();
    assert_eq!(rows, usize::try_from(placed).unwrap());
}
