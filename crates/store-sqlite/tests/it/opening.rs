//! What is refused at the door, with what to do about it.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use surefill_conformance::store::Draft;
use surefill_core::{Store, StoreError};
use surefill_store_sqlite::{SqliteReader, SqliteStore};
use tempfile::TempDir;

use crate::fixture::{file, image, wal};

async fn made(orders: u32) -> TempDir {
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(file(&dir)).unwrap();
    for n in 0..orders {
        store.begin(Draft::new(n).begin()).await.unwrap();
    }
    store.close().await.unwrap();
    dir
}

#[tokio::test]
async fn a_newer_journal_is_refused() {
    let dir = made(1).await;
    let db = Connection::open(file(&dir)).unwrap();
    db.execute_batch("PRAGMA user_version=2").unwrap();
    drop(db);
    let store = SqliteStore::open(file(&dir)).map(drop);
    let reader = SqliteReader::open(file(&dir)).map(drop);
    for refused in [store, reader] {
        match refused {
            Err(StoreError::Newer { found, known }) => assert_eq!((found, known), (2, 1)),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_file_that_is_no_journal_is_refused_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let texts = dir.path().join("text.db");
    fs::write(&texts, "a letter\n".repeat(1_000)).unwrap();
    let foreign = dir.path().join("foreign.db");
    let db = Connection::open(&foreign).unwrap();
    db.execute_batch("CREATE TABLE other (x)").unwrap();
    drop(db);
    for path in [texts, foreign] {
        let before = fs::read(&path).unwrap();
        let refused = SqliteStore::open(&path);
        assert!(
            matches!(refused, Err(StoreError::Damaged { .. })),
            "{refused:?}"
        );
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

/// A page of the live orders is overwritten: opening or the first read says so.
#[tokio::test]
async fn a_damaged_page_is_found_by_the_restart() {
    let dir = made(200).await;
    let whole = fs::read(file(&dir)).unwrap();
    let pages = whole.len() / 2_048;
    assert!(pages > 100, "{pages}");
    let mut found = 0;
    for page in 0..pages {
        let mut bytes = whole.clone();
        bytes[page * 2_048..][..2_048].fill(0xa5);
        fs::write(file(&dir), bytes).unwrap();
        let outcome = match SqliteStore::open(file(&dir)) {
            Err(error) => Err(error),
            Ok(store) => {
                let rows = store.unfinished().await;
                // A journal that is damaged need not close well.
                drop(store.close().await);
                rows
            }
        };
        match outcome {
            Err(StoreError::Damaged { .. }) => found += 1,
            // Pages of indexes that a restart does not read.
            Ok(rows) => assert_eq!(rows.len(), 200),
            Err(other) => panic!("page {page}: {other:?}"),
        }
    }
    assert!(found >= 100, "{found} of {pages}");
}

#[tokio::test]
async fn a_file_cut_short_is_refused() {
    let dir = made(200).await;
    let whole = fs::read(file(&dir)).unwrap();
    for keep in [1, 100, 2_047, 2_048, whole.len() / 2] {
        fs::write(file(&dir), &whole[..keep]).unwrap();
        let outcome = match SqliteStore::open(file(&dir)) {
            Err(error) => Err(error),
            Ok(store) => store.unfinished().await,
        };
        assert!(
            matches!(outcome, Err(StoreError::Damaged { .. })),
            "{keep}: {outcome:?}"
        );
        fs::remove_file(file(&dir)).unwrap();
    }
}

/// An empty file is a new journal; one with a log beside it has lost what the log belongs to.
#[tokio::test]
async fn a_log_without_its_file_is_refused() {
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(file(&dir)).unwrap();
    store.begin(Draft::new(1).begin()).await.unwrap();
    let dead = image(&dir, None);
    fs::write(file(&dead), "").unwrap();
    let refused = SqliteStore::open(file(&dead));
    assert!(
        matches!(refused, Err(StoreError::Damaged { .. })),
        "{refused:?}"
    );
    fs::remove_file(wal(&file(&dead))).unwrap();
    SqliteStore::open(file(&dead)).unwrap();
}

/// A folder that is missing, one that takes no files (also of root), a file in its place, a folder in the journal's place.
#[tokio::test]
async fn a_place_that_cannot_be_written_is_refused() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let mut places = vec![
        dir.path().join("missing/orders.db"),
        dir.path().join("file/orders.db"),
        dir.path().to_owned(),
    ];
    if cfg!(target_os = "linux") {
        places.push(Path::new("/proc/self/orders.db").to_owned());
    }
    for place in places {
        match SqliteStore::open(&place) {
            Err(StoreError::NotWritable { path, what }) => {
                assert!(path.ends_with(place.file_name().unwrap()), "{path:?}");
                assert!(!what.is_empty());
            }
            other => panic!("{place:?}: {other:?}"),
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn every_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(file(&dir)).unwrap();
    store.begin(Draft::new(1).begin()).await.unwrap();
    let mut names = Vec::new();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    let expected = [
        "orders.db",
        "orders.db-shm",
        "orders.db-wal",
        "orders.db.lock",
    ];
    assert_eq!(names, expected);
}

/// The process may die between any two steps of making a journal.
#[tokio::test]
async fn a_journal_half_made_is_made() {
    let dir = TempDir::new().unwrap();
    fs::write(file(&dir), "").unwrap();
    SqliteStore::open(file(&dir))
        .unwrap()
        .close()
        .await
        .unwrap();

    let dir = TempDir::new().unwrap();
    let db = Connection::open(file(&dir)).unwrap();
    db.execute_batch("PRAGMA page_size=2048; PRAGMA journal_mode=WAL;")
        .unwrap_or(());
    drop(db);
    let store = SqliteStore::open(file(&dir)).unwrap();
    store.begin(Draft::new(1).begin()).await.unwrap();
    store.close().await.unwrap();
    let db = Connection::open(file(&dir)).unwrap();
    let size: i64 = db
        .query_row("PRAGMA page_size", (), |row| row.get(0))
        .unwrap();
    assert_eq!(size, 2_048);
}
