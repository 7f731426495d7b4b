//! One process holds a journal, and a process that is killed loses nothing.

use surefill_conformance::store::{Draft, doubt};
use surefill_core::{Begun, ClOrdId, Durability, Store, StoreError};
use surefill_store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::child::{Process, journal, say, wait};
use crate::fixture::file;

/// Hidden: opens the journal, says so, waits, closes.
#[tokio::test]
async fn child_holds() {
    let Some(path) = journal() else { return };
    let store = SqliteStore::open(path).unwrap();
    say("open");
    wait();
    store.close().await.unwrap();
}

/// Hidden: journals intents and lazy changes for ever and names each once it returned.
#[tokio::test]
async fn child_places() {
    let Some(path) = journal() else { return };
    let store = SqliteStore::open(path).unwrap();
    for n in 0.. {
        let draft = Draft::new(n).symbol(&n.to_string());
        let Begun::Inserted(row) = store.begin(draft.begin()).await.unwrap() else {
            panic!("it is new");
        };
        say(&format!("begun {}", row.id));
        store.apply(doubt(&row), Durability::Lazy).await.unwrap();
        say(&format!("doubt {}", row.id));
    }
}

#[tokio::test]
async fn a_second_process_is_refused_and_told_by_whom() {
    let dir = TempDir::new().unwrap();
    let path = file(&dir);
    let mut process = Process::run("process::child_holds", &path);
    assert_eq!(process.hears().as_deref(), Some("open"));
    match SqliteStore::open(&path) {
        Err(StoreError::Held { path: held, pid }) => {
            assert_eq!(pid, process.pid());
            assert_eq!(held, path.canonicalize().unwrap());
        }
        other => panic!("{other:?}"),
    }
    process.release();
    SqliteStore::open(&path).unwrap().close().await.unwrap();
}

#[tokio::test]
async fn the_lock_ends_with_a_killed_process() {
    let dir = TempDir::new().unwrap();
    let mut process = Process::run("process::child_holds", &file(&dir));
    assert_eq!(process.hears().as_deref(), Some("open"));
    process.kill();
    SqliteStore::open(file(&dir)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_leads_to_the_same_lock() {
    let dir = TempDir::new().unwrap();
    let link = dir.path().join("link.db");
    let store = SqliteStore::open(file(&dir)).unwrap();
    std::os::unix::fs::symlink(file(&dir), &link).unwrap();
    match SqliteStore::open(&link) {
        Err(StoreError::Held { pid, .. }) => assert_eq!(pid, std::process::id().to_string()),
        other => panic!("{other:?}"),
    }
    store.close().await.unwrap();
    SqliteStore::open(&link).unwrap();
}

#[tokio::test]
async fn a_killed_process_has_lost_nothing_that_returned() {
    let dir = TempDir::new().unwrap();
    let mut process = Process::run("process::child_places", &file(&dir));
    let mut said: Vec<String> = (0..120).map(|_| process.hears().unwrap()).collect();
    said.extend(process.kill());
    let store = SqliteStore::open(file(&dir)).unwrap();
    for line in said {
        let (what, id) = line.split_once(' ').unwrap();
        let id: ClOrdId = id.parse().unwrap();
        let row = store.order(id).await.unwrap().expect("it was journaled");
        if what == "doubt" {
            assert!(row.state.is_doubt(), "the lazy change of {id} is lost");
        }
    }
}
