//! What a power cut leaves: images of the file with its log cut anywhere.

use std::fs;
use std::os::unix::fs::FileExt;

use surefill_conformance::store::{
    Draft, StoreFixture, ack, doubt, fill, filled, next_attempt, rejected,
};
use surefill_core::{
    Begun, Cause, Change, Durability, Halt, HaltCause, OrdState, OrderFilter, OrderRecord, Store,
};
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

/// Everything that a journal says of these orders.
async fn told(store: &SqliteStore, drafts: &[Draft]) -> String {
    let mut told = format!(
        "{:?} {:?} {:?}",
        store.orders(&OrderFilter::default()).await.unwrap(),
        store.unfinished().await.unwrap(),
        store.halts().await.unwrap(),
    );
    for draft in drafts {
        let id = draft.id();
        for no in [1, 2] {
            let attempt = store.attempt(id, no).await.unwrap();
            told += &format!(" {:?}", attempt.map(|attempt| (attempt.wire, attempt.keys)));
            let key = draft.attempt(no).keys.pop().unwrap();
            told += &format!(" {:?}", store.by_key(&draft.venue, &key).await.unwrap());
        }
        told += &format!(
            " {:?} {:?} {:?}",
            store.history(id).await.unwrap(),
            store.fills(id).await.unwrap(),
            store
                .by_order_id(&draft.venue, &draft.order_id())
                .await
                .unwrap(),
        );
    }
    told
}

/// The log of `dir` cut there; what would be behind the cut is missing, zeros, or what an older log left.
fn cut_at(dir: &TempDir, bytes: u64, behind: Option<u8>) -> TempDir {
    let cut = image(dir, None);
    let path = wal(&file(&cut));
    let whole = fs::metadata(&path).unwrap().len();
    let log = fs::OpenOptions::new().write(true).open(&path).unwrap();
    log.set_len(bytes).unwrap();
    if let Some(byte) = behind {
        let rest = usize::try_from(whole - bytes).unwrap();
        log.write_all_at(&vec![byte; rest], bytes).unwrap();
    }
    cut
}

/// Wherever the log is cut, the journal is what it was after one of its commits: the last one that is whole. Nothing is half-made.
#[tokio::test]
async fn every_image_is_the_journal_after_one_commit() {
    let dir = TempDir::new().unwrap();
    let (store, commits) = open(&file(&dir));
    let drafts: Vec<Draft> = (0..3)
        .map(|n| Draft::new(n).symbol(&n.to_string()))
        .collect();
    let mut after = vec![(0, told(&store, &drafts).await)];
    let mut note = async || {
        let frames = commits.left(0);
        after.push((frames, told(&store, &drafts).await));
    };
    // One life each: filled, sent again after doubt, refused under a halt.
    let row = inserted(&store, &drafts[0]).await;
    note().await;
    let order_id = drafts[0].order_id();
    let row = store
        .apply(ack(&row, &order_id), Durability::Lazy)
        .await
        .unwrap();
    note().await;
    let fills = ["0.4", "0.6"].map(|qty| fill(&drafts[0].symbol, &order_id, qty, qty));
    store
        .apply(filled(&row, fills.to_vec()), Durability::Lazy)
        .await
        .unwrap();
    note().await;
    let row = inserted(&store, &drafts[1]).await;
    note().await;
    let row = store.apply(doubt(&row), Durability::Lazy).await.unwrap();
    note().await;
    let claim = Change::of(&row, row.updated_at, Cause::Claimed, "claimed");
    let row = store
        .apply(claim.to(OrdState::Reconciling), Durability::Lazy)
        .await
        .unwrap();
    note().await;
    store
        .apply(next_attempt(&row, &drafts[1].attempt(2)), Durability::Sync)
        .await
        .unwrap();
    note().await;
    let row = inserted(&store, &drafts[2]).await;
    note().await;
    let scope = row.symbol_scope();
    let halt = Halt::new(scope, HaltCause::Asked, row.created_at, "the test");
    store.halt(&halt).await.unwrap();
    note().await;
    store.apply(rejected(&row), Durability::Sync).await.unwrap();
    note().await;

    let frames = commits.left(0);
    assert!(frames >= 10, "{frames} frames");
    let middle = (log_bytes(2) - log_bytes(1)) / 2;
    let mut differ = 0;
    for frame in 0..frames {
        for bytes in [log_bytes(frame), log_bytes(frame) + middle] {
            for behind in [None, Some(0), Some(0xa5)] {
                let found = SqliteStore::open(file(&cut_at(&dir, bytes, behind))).unwrap();
                let is = told(&found, &drafts).await;
                let whole = after.iter().rev().find(|(at, _)| log_bytes(*at) <= bytes);
                let (at, was) = whole.unwrap();
                assert_eq!(is, *was, "cut at {bytes} bytes, {at} frames are whole");
                // The twin: it is not the journal as it was left, so that the comparison can fail.
                differ += usize::from(is != after[after.len() - 1].1);
                found.close().await.unwrap();
            }
        }
    }
    assert!(differ > 50, "{differ} images differ from the newest");
}
