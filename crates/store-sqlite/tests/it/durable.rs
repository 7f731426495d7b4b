//! What a power cut leaves: images of the file with its log cut anywhere.

use std::fs;

use surefill_conformance::store::{Draft, StoreFixture, ack, doubt, filled};
use surefill_core::{Begun, Durability, OrderRecord, Store};
use surefill_store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::fixture::{SqliteFixture, file, image, log_bytes, open, wal};

async fn inserted(store: &SqliteStore, draft: &Draft) -> OrderRecord {
    match store.begin(draft.begin()).await.unwrap() {
        Begun::Inserted(row) => row,
        other => panic!("{other:?}"),
    }
}

/// Wherever the log is cut, at a frame or within one: each intent is there whose commit had returned by then, and nothing is
/// damaged.
#[tokio::test]
async fn every_intent_that_returned_is_in_every_later_image() {
    let dir = TempDir::new().unwrap();
    let (store, commits) = open(&file(&dir));
    let mut durable = Vec::new();
    for n in 0..12 {
        let draft = Draft::new(n).symbol(&n.to_string());
        let row = inserted(&store, &draft).await;
        durable.push((row.id, commits.left(usize::MAX)));
        store.apply(doubt(&row), Durability::Lazy).await.unwrap();
    }
    let frames = commits.left(0);
    let cuts = (0..=frames).flat_map(|frame| [log_bytes(frame), log_bytes(frame) + 700]);
    for bytes in cuts {
        let cut = image(&dir, None);
        let log = fs::OpenOptions::new().write(true).open(wal(&file(&cut)));
        log.unwrap().set_len(bytes).unwrap();
        let found = SqliteStore::open(file(&cut)).unwrap();
        let rows = found.unfinished().await.unwrap();
        let held = durable.iter().filter(|(_, at)| log_bytes(*at) <= bytes);
        let expected: Vec<_> = held.map(|(id, _)| *id).collect();
        let there: Vec<_> = rows.iter().map(|row| row.id).collect();
        assert_eq!(there, expected, "cut at {bytes} bytes");
        found.close().await.unwrap();
    }
}

/// The twin: an image from before the commit lacks the intent.
#[tokio::test]
async fn an_image_from_before_the_commit_lacks_the_intent() {
    let dir = TempDir::new().unwrap();
    let (store, commits) = open(&file(&dir));
    inserted(&store, &Draft::new(1)).await;
    let before = commits.left(0);
    inserted(&store, &Draft::new(2)).await;
    let cut = SqliteStore::open(file(&image(&dir, Some(before)))).unwrap();
    assert_eq!(cut.unfinished().await.unwrap().len(), 1);
    let whole = SqliteStore::open(file(&image(&dir, Some(commits.left(0))))).unwrap();
    assert_eq!(whole.unfinished().await.unwrap().len(), 2);
}

/// A lazy commit shares the sync of the next intent, and waits for no sync of its own.
#[tokio::test]
async fn lazy_commits_wait_for_no_disk() {
    let f = SqliteFixture::fresh().await;
    let draft = Draft::new(1);
    let row = inserted(&f.store, &draft).await;
    let syncs = f.store.syncs();
    let row = f
        .store
        .apply(ack(&row, &draft.order_id()), Durability::Lazy)
        .await
        .unwrap();
    f.store
        .apply(filled(&row, vec![]), Durability::Lazy)
        .await
        .unwrap();
    assert_eq!(f.store.syncs(), syncs);
    let made: Vec<bool> = f.commits.all().iter().map(|(sync, _)| *sync).collect();
    assert_eq!(made, [true, false, false]);
}

/// An existing id and a refusal write nothing, so they sync nothing.
#[tokio::test]
async fn what_writes_nothing_syncs_nothing() {
    let f = SqliteFixture::fresh().await;
    let row = inserted(&f.store, &Draft::new(1)).await;
    f.store.apply(doubt(&row), Durability::Sync).await.unwrap();
    let (syncs, commits) = (f.store.syncs(), f.store.commits());
    for n in [1, 2] {
        let begun = f.store.begin(Draft::new(n).begin()).await.unwrap();
        assert!(!matches!(begun, Begun::Inserted(_)));
    }
    assert_eq!((f.store.syncs(), f.store.commits()), (syncs, commits));
}

/// A close makes the last lazy commits durable: in the file, with no log left behind.
#[tokio::test]
async fn a_close_leaves_one_whole_file() {
    let f = SqliteFixture::fresh().await;
    let row = inserted(&f.store, &Draft::new(1)).await;
    let row = f.store.apply(doubt(&row), Durability::Lazy).await.unwrap();
    f.store.close().await.unwrap();
    assert_eq!(f.commits.all().last().map(|(sync, _)| *sync), Some(true));
    assert!(!wal(&file(&f.dir)).exists());
    let next = SqliteStore::open(file(&image(&f.dir, None))).unwrap();
    assert_eq!(next.order(row.id).await.unwrap(), Some(row));
}
