//! A disk that fails, and one that is full: nothing is placed, cancels still go out, and the next start reads back.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use surefill_core::{
    CancelError, Halt, HaltCause, OrdState, PlaceError, Scope, Store, StoreError, VenueTime,
};
use surefill_referee::{judge, settled};
use surefill_store_sqlite::SqliteStore;
use surefill_store_sqlite::tap::{Options, Tap};

use crate::stage::{Fate, Stage, id_of, until};

/// Fails the next sync once it is armed; what it was of is on disk all the same, or not.
#[derive(Clone, Debug)]
struct Fails {
    armed: Arc<AtomicBool>,
    landed: bool,
}

impl Fails {
    fn due(&self, sync: bool) -> bool {
        sync && self.armed.swap(false, Ordering::AcqRel)
    }
}

impl Tap for Fails {
    fn before(&self, sync: bool) -> io::Result<()> {
        if !self.landed && self.due(sync) {
            return Err(io::Error::other("no commit"));
        }
        Ok(())
    }

    fn after(&self, sync: bool, _: u64) -> io::Result<()> {
        if self.landed && self.due(sync) {
            return Err(io::Error::other("no sync"));
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_failed_sync_closes_the_journal() {
    let runs = [false, true].map(|landed| async move {
        let stage = Stage::new().await;
        let tap = Fails {
            armed: Arc::default(),
            landed,
        };
        let store = stage
            .open_with(|| Options {
                tap: Some(Box::new(tap.clone())),
                ..Options::default()
            })
            .await;
        let bot = stage.bot_over(store).await;
        let resting = stage.intent("resting", Fate::Rests).await;
        let id = id_of(&resting);
        settled(&bot.order(resting).await).await;
        tap.armed.store(true, Ordering::Release);
        let failed = stage.intent("failed", Fate::Rests).await;
        let undecided = bot.place(failed.clone()).await;
        assert!(
            matches!(undecided, Err(PlaceError::Undecided(_))),
            "{undecided:?}"
        );
        let closed = bot.place(stage.intent("closed", Fate::Rests).await).await;
        assert!(
            matches!(closed, Err(PlaceError::Journal(StoreError::Closed))),
            "{closed:?}"
        );
        assert_eq!(stage.creates().await, 1);
        let canceled = bot.cancel(id).await;
        assert!(
            matches!(canceled, Err(CancelError::NotJournaled { .. })),
            "{canceled:?}"
        );
        let orders = stage.rows("/orders").await;
        assert_eq!(orders[0]["status"], "canceled");
        assert_eq!(stage.creates().await, 1);
        bot.crash();
        let bot = stage.bot().await;
        assert_eq!(
            bot.engine()
                .order(id_of(&failed))
                .await
                .expect("read")
                .is_some(),
            landed
        );
        // Asked again with the same decision, as the error said.
        let again = bot.order(failed).await;
        settled(&again).await;
        let ledger = judge(&stage, bot).await;
        assert_eq!(ledger.one_order("resting").state, OrdState::Canceled);
        assert_eq!(ledger.one_order("failed").state, OrdState::Acked);
        assert_eq!(stage.orders().await, 2);
    });
    futures_util::future::join_all(runs).await;
}

/// Takes what room there is, under another venue's name.
async fn fill_up(store: &SqliteStore) {
    for n in 0..10_000 {
        let text = "x".repeat(if n < 5_000 { 1_000 } else { 1 });
        let scope = Scope::venue(format!("elsewhere-{n}").as_str());
        let halt = Halt::new(scope, HaltCause::Asked, VenueTime::default(), text);
        match store.halt(&halt).await {
            Ok(()) => {}
            Err(StoreError::Full) => return,
            Err(error) => panic!("{error}"),
        }
    }
    panic!("it never fills up");
}

#[tokio::test]
async fn a_full_disk_places_nothing() {
    let stage = Stage::new().await;
    let store = stage
        .open_with(|| Options {
            tap: None,
            max_pages: Some(80),
            ..Options::default()
        })
        .await;
    let bot = stage.bot_over(store.clone()).await;
    let resting = stage.intent("resting", Fate::Rests).await;
    let id = id_of(&resting);
    settled(&bot.order(resting).await).await;
    fill_up(&store).await;
    // A page may still have room for a row or two.
    let refused = until("no room", async || {
        let name = format!("s-{}", stage.creates().await);
        let before = stage.creates().await;
        match bot.place(stage.intent(&name, Fate::Rests).await).await {
            Ok(_) => None,
            Err(error) => {
                assert_eq!(stage.creates().await, before, "sent without a journal");
                Some(error)
            }
        }
    })
    .await;
    assert!(
        matches!(refused, PlaceError::Journal(StoreError::Full)),
        "{refused:?}"
    );
    assert_eq!(
        refused.to_string(),
        "nothing sent: the disk is full: nothing is placed, cancels still go out"
    );
    match bot.cancel(id).await {
        Ok(_) | Err(CancelError::NotJournaled { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    until("canceled at the venue", async || {
        let orders = stage.rows("/orders").await;
        (orders[0]["status"] == "canceled").then_some(())
    })
    .await;
    drop(store);
    bot.crash();
    // With room, it goes on.
    let bot = stage.bot().await;
    settled(&bot.order(stage.intent("later", Fate::Rests).await).await).await;
    let ledger = judge(&stage, bot).await;
    assert_eq!(ledger.one_order("resting").state, OrdState::Canceled);
    ledger.one_order("later");
}
