//! Beside a running engine: reads without the lock, and requests through the inbox.

use surefill_conformance::store::{Draft, ack, fill, filled};
use surefill_core::{
    Answer, Begun, Durability, Halt, HaltCause, Lift, OrderFilter, Request, Requested, Scope,
    SeenHalts, Store, StoreError, VenueTime,
};
use surefill_store_sqlite::{Inbox, SqliteReader, SqliteStore};
use tempfile::TempDir;

use crate::child::Process;
use crate::fixture::{file, image};

#[tokio::test]
async fn a_reader_sees_what_is_committed_without_the_lock() {
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(file(&dir)).unwrap();
    let reader = SqliteReader::open(file(&dir)).unwrap();
    assert_eq!(reader.orders(&OrderFilter::default()).unwrap(), []);
    let draft = Draft::new(1);
    let Begun::Inserted(row) = store.begin(draft.begin()).await.unwrap() else {
        panic!("it is new");
    };
    assert_eq!(reader.order(row.id).unwrap(), Some(row.clone()));
    assert_eq!(reader.unfinished().unwrap(), vec![row.clone()]);
    let change = ack(&row, &draft.order_id());
    let row = store.apply(change, Durability::Lazy).await.unwrap();
    let one = fill(&draft.symbol, &draft.order_id(), "e", "1");
    let row = store
        .apply(filled(&row, vec![one.clone()]), Durability::Lazy)
        .await
        .unwrap();
    let halt = Halt::new(Scope::venue("v"), HaltCause::Asked, row.updated_at, "");
    store.halt(&halt).await.unwrap();
    store.bind(&draft.venue, &draft.account).await.unwrap();
    store
        .set_cursor(&draft.venue, row.updated_at)
        .await
        .unwrap();
    assert_eq!(
        reader.orders(&OrderFilter::default()).unwrap(),
        vec![row.clone()]
    );
    assert_eq!(reader.unfinished().unwrap(), []);
    assert_eq!(reader.fills(row.id).unwrap(), [one]);
    assert_eq!(reader.history(row.id).unwrap().len(), 3);
    assert_eq!(reader.halts().unwrap(), [halt]);
    assert_eq!(reader.lifted().unwrap(), []);
    assert_eq!(reader.attempt(row.id, 1).unwrap(), Some(draft.attempt(1)));
    let key = draft.attempt(1).keys.pop().unwrap();
    assert_eq!(reader.by_key(&draft.venue, &key).unwrap(), Some(row.id));
    let found = reader.by_order_id(&draft.venue, &draft.order_id());
    assert_eq!(found.unwrap(), Some(row.id));
    let bound = (draft.venue.clone(), draft.account.clone());
    assert_eq!(reader.bindings().unwrap(), [bound]);
    assert_eq!(reader.cursor(&draft.venue).unwrap(), Some(row.updated_at));
    assert_eq!(reader.made_at().unwrap(), store.made_at().await.unwrap());
    // After the engine died, and after it is gone.
    let dead = image(&dir, None);
    let after = SqliteReader::open(file(&dead)).unwrap();
    assert_eq!(after.order(row.id).unwrap(), Some(row.clone()));
    store.close().await.unwrap();
    assert_eq!(reader.order(row.id).unwrap(), Some(row.clone()));
    let late = SqliteReader::open(file(&dir)).unwrap();
    assert_eq!(late.order(row.id).unwrap(), Some(row));
}

#[tokio::test]
async fn a_reader_reads_beside_another_process() {
    let dir = TempDir::new().unwrap();
    let mut process = Process::run("process::child_places", &file(&dir));
    for _ in 0..20 {
        let said = process.hears().unwrap();
        let (_, id) = said.split_once(' ').unwrap();
        let reader = SqliteReader::open(file(&dir)).unwrap();
        let row = reader.order(id.parse().unwrap()).unwrap();
        assert!(row.is_some(), "{said}");
        drop(reader);
    }
}

#[tokio::test]
async fn a_reader_of_nothing_makes_nothing() {
    let dir = TempDir::new().unwrap();
    let missing = SqliteReader::open(file(&dir));
    assert!(matches!(missing, Err(StoreError::Read(_))), "{missing:?}");
    assert!(!file(&dir).exists());
}

#[tokio::test]
async fn requests_reach_the_store_once_and_are_answered() {
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(file(&dir)).unwrap();
    let inbox = Inbox::open(file(&dir)).unwrap();
    assert_eq!(store.requests().await.unwrap(), []);
    let requests = [
        Request::Halt {
            scope: Scope::venue("v"),
            who: "me".into(),
            reason: "smoke".into(),
            at: VenueTime::from_ms(7),
        },
        Request::Cancel {
            id: Draft::new(1).id(),
        },
    ];
    let numbers: Vec<i64> = requests.iter().map(|r| inbox.post(r).unwrap()).collect();
    let waiting = store.requests().await.unwrap();
    let seen: Vec<_> = waiting.iter().map(|r| (r.n, r.request.clone())).collect();
    let expected: Vec<_> = numbers.iter().copied().zip(requests).collect();
    assert_eq!(seen, expected);
    assert_eq!(inbox.answer(numbers[0]).unwrap(), None);
    store.answer(numbers[0], &Answer::Halted).await.unwrap();
    let twice = Answer::Refused {
        text: "twice".into(),
    };
    store.answer(numbers[0], &twice).await.unwrap();
    assert_eq!(inbox.answer(numbers[0]).unwrap(), Some(Answer::Halted));
    assert_eq!(store.requests().await.unwrap().len(), 1);
    // A request outlives an engine that did not get to it.
    store.close().await.unwrap();
    let next = SqliteStore::open(file(&dir)).unwrap();
    assert_eq!(next.requests().await.unwrap()[0].n, numbers[1]);
}

#[tokio::test]
async fn a_resume_is_done_and_answered_in_one_commit_and_never_again() {
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(file(&dir)).unwrap();
    let inbox = Inbox::open(file(&dir)).unwrap();
    let scope = Scope::venue("v");
    let halt = Halt::new(scope.clone(), HaltCause::Asked, VenueTime::from_ms(1), "");
    store.halt(&halt).await.unwrap();
    let request = Request::Resume {
        scope: scope.clone(),
        who: "me".into(),
        reason: "looked".into(),
        at: VenueTime::from_ms(2),
        seen: SeenHalts::default(),
    };
    let n = inbox.post(&request).unwrap();
    // Nobody who asked has seen what was declared since.
    let newer = Halt::new(
        scope.clone(),
        HaltCause::JournalWentBack,
        VenueTime::from_ms(2),
        "",
    );
    store.halt(&newer).await.unwrap();
    let [
        Requested {
            request: Request::Resume { seen, .. },
            ..
        },
    ] = &*store.requests().await.unwrap()
    else {
        panic!("one resume")
    };
    let seen = seen.clone();
    let lift = Lift::Asked { n, scope, seen };
    let at = VenueTime::from_ms(2);
    let lifted = store.lift(&lift, "me", "looked", at).await.unwrap();
    assert_eq!(lifted, std::slice::from_ref(&halt));
    let answer = Answer::Resumed { lifted };
    assert_eq!(inbox.answer(n).unwrap(), Some(answer.clone()));
    assert_eq!(store.requests().await.unwrap(), []);
    // What was declared since then stands, whoever does the request again.
    store.halt(&halt).await.unwrap();
    assert_eq!(store.lift(&lift, "me", "looked", at).await.unwrap(), []);
    assert_eq!(store.halts().await.unwrap(), [newer, halt]);
    assert_eq!(inbox.answer(n).unwrap(), Some(answer));
}

#[tokio::test]
async fn a_request_of_a_later_version_holds_up_no_other_one() {
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(file(&dir)).unwrap();
    let db = rusqlite::Connection::open(file(&dir)).unwrap();
    let sql = "INSERT INTO inbox (request) VALUES ('{\"flatten\":{\"scope\":\"v\"}}')";
    db.execute(sql, ()).unwrap();
    drop(db);
    let waiting = store.requests().await.unwrap();
    assert_eq!(waiting[0].request, Request::Unreadable);
}

/// The engine looks several times a second, and answered requests stay: a look costs as much as what waits.
#[tokio::test]
async fn what_was_answered_costs_the_inbox_nothing() {
    let dir = TempDir::new().unwrap();
    drop(SqliteStore::open(file(&dir)).unwrap());
    let db = rusqlite::Connection::open(file(&dir)).unwrap();
    let sql = "EXPLAIN QUERY PLAN SELECT n, request FROM inbox WHERE answer IS NULL ORDER BY n";
    let plan: String = db.query_row(sql, (), |row| row.get(3)).unwrap();
    assert!(plan.contains("inbox_waiting"), "{plan}");
}
