//! A commit or a sync that fails: nobody is told that it is durable, and nothing more is taken.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use surefill_conformance::store::Draft;
use surefill_core::{Begun, NonceScope, Store, StoreError};
use surefill_store_sqlite::SqliteStore;
use surefill_store_sqlite::tap::{Options, Tap};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::fixture::{file, image};

/// Fails the commit of a chosen number.
#[derive(Debug)]
struct Fails {
    no: u64,
    landed: bool,
    commits: AtomicU64,
}

impl Tap for Fails {
    fn before(&self, _: bool) -> io::Result<()> {
        let no = 1 + self.commits.fetch_add(1, Ordering::Relaxed);
        if no == self.no && !self.landed {
            return Err(io::Error::other("no commit"));
        }
        Ok(())
    }

    fn after(&self, _: bool, _: u64) -> io::Result<()> {
        if self.commits.load(Ordering::Relaxed) == self.no {
            return Err(io::Error::other("no sync"));
        }
        Ok(())
    }
}

fn tapped(dir: &TempDir, tap: impl Tap) -> SqliteStore {
    let options = Options {
        tap: Some(Box::new(tap)),
        ..Options::default()
    };
    SqliteStore::open_with(file(dir), options).unwrap()
}

#[tokio::test]
async fn a_failed_commit_closes_the_journal() {
    for landed in [false, true] {
        let dir = TempDir::new().unwrap();
        let store = tapped(
            &dir,
            Fails {
                no: 2,
                landed,
                commits: AtomicU64::new(0),
            },
        );
        store.begin(Draft::new(1).begin()).await.unwrap();
        let failed = store.begin(Draft::new(2).begin()).await;
        assert!(matches!(failed, Err(StoreError::Commit(_))), "{failed:?}");
        let later = store.begin(Draft::new(3).begin()).await;
        assert!(matches!(later, Err(StoreError::Closed)), "{later:?}");
        let lease = store.reserve(&NonceScope("s".into()), 0, 1).await;
        assert!(matches!(lease, Err(StoreError::Closed)), "{lease:?}");
        // Cancels still go out, and their orders are read from here.
        let known = store.order(Draft::new(1).id()).await.unwrap();
        assert!(known.is_some());
        // The process holds its journal until it ends.
        let second = SqliteStore::open(file(&dir));
        assert!(matches!(second, Err(StoreError::Held { .. })));
        let closed = store.close().await;
        assert!(matches!(closed, Err(StoreError::Closed)), "{closed:?}");
        // The next start reads back what is there.
        let next = SqliteStore::open(file(&dir)).unwrap();
        let found = next.order(Draft::new(2).id()).await.unwrap();
        assert_eq!(found.is_some(), landed);
        let begun = next.begin(Draft::new(3).begin()).await.unwrap();
        assert!(matches!(begun, Begun::Inserted(_)));
    }
}

/// Holds the first commit until it may go on, then fails the next.
#[derive(Debug)]
struct Holds {
    entered: mpsc::Sender<()>,
    held: Mutex<mpsc::Receiver<()>>,
    commits: AtomicU64,
}

impl Tap for Holds {
    fn before(&self, _: bool) -> io::Result<()> {
        if self.commits.fetch_add(1, Ordering::Relaxed) == 0 {
            self.entered.send(()).unwrap();
            self.held.lock().unwrap().recv().unwrap();
            return Ok(());
        }
        Err(io::Error::other("no commit"))
    }

    fn after(&self, _: bool, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Everyone who shared the failed commit is told so, those too whom a rule would have refused.
#[tokio::test]
async fn all_of_a_failed_group_are_told() {
    let dir = TempDir::new().unwrap();
    let (go, held) = mpsc::channel();
    let (entered, in_commit) = mpsc::channel();
    let store = Arc::new(tapped(
        &dir,
        Holds {
            entered,
            held: Mutex::new(held),
            commits: AtomicU64::new(0),
        },
    ));
    let mut first = JoinSet::new();
    let mut group = JoinSet::new();
    let one = Arc::clone(&store);
    first.spawn(async move { one.begin(Draft::new(0).begin()).await });
    // On one thread each task runs up to its wait in turn: the first is in its commit before the others are queued.
    tokio::task::yield_now().await;
    in_commit.recv().unwrap();
    for n in [1, 2, 3, 3] {
        let one = Arc::clone(&store);
        group.spawn(async move { one.begin(Draft::new(n).begin()).await });
    }
    tokio::task::yield_now().await;
    go.send(()).unwrap();
    assert!(first.join_all().await[0].is_ok());
    let told = group.join_all().await;
    assert_eq!(told.len(), 4);
    for told in told {
        assert!(matches!(told, Err(StoreError::Commit(_))), "{told:?}");
    }
    let next = SqliteStore::open(file(&image(&dir, None))).unwrap();
    assert_eq!(next.unfinished().await.unwrap().len(), 1);
}

/// A stopped process that holds the write lock must not keep a hundred cancels waiting one after the other.
#[tokio::test]
async fn a_lock_that_is_held_holds_up_a_group_once() {
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(file(&dir)).unwrap();
    store.begin(Draft::new(0).begin()).await.unwrap();
    let other = rusqlite::Connection::open(file(&dir)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut group = JoinSet::new();
    for n in 1..=8 {
        let one = store.clone();
        group.spawn(async move { one.begin(Draft::new(n).begin()).await });
    }
    // At most two waits of five seconds: the first may have been alone in its group.
    let told = tokio::time::timeout(Duration::from_secs(20), group.join_all());
    for told in told.await.expect("told in time") {
        assert!(
            matches!(told, Err(StoreError::NotWritable { .. })),
            "{told:?}"
        );
    }
    other.execute_batch("ROLLBACK").unwrap();
    let begun = store.begin(Draft::new(1).begin()).await.unwrap();
    assert!(matches!(begun, Begun::Inserted(_)), "{begun:?}");
}

/// What comes between the end of the writer and the end of its queue was never begun: nobody is told that it may be on disk.
#[tokio::test]
async fn what_comes_right_after_the_close_finds_it_closed() {
    let dir = TempDir::new().unwrap();
    for n in 0..300 {
        let store = SqliteStore::open(dir.path().join(format!("{}.db", n % 3))).unwrap();
        store.close().await.unwrap();
        let begun = store.begin(Draft::new(1000 + n).begin()).await;
        assert!(matches!(begun, Err(StoreError::Closed)), "{begun:?}");
    }
}
