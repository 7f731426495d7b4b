//! Nonces: never twice, whatever restarts, whichever way the clock goes, and few syncs.

use std::sync::Arc;

use surefill_core::{Journal, MemoryStore, NonceScope, Nonces, Store, VenueTime};

fn scope() -> NonceScope {
    NonceScope("v:test:signer".into())
}

fn nonces(store: &Arc<MemoryStore>) -> Nonces {
    let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(store);
    Nonces::new(Journal::new(store), scope())
}

fn at(ms: u64) -> VenueTime {
    VenueTime::from_ms(ms)
}

#[tokio::test]
async fn they_grow_across_restarts_and_steps_of_the_clock() {
    let store = Arc::new(MemoryStore::new(at(1)));
    let mut last = 0;
    let mut now = 1_000_000_u64;
    for process in 0..6 {
        let nonces = nonces(&store);
        for step in [0_i64, 0, 1, 700, -5_000, 3, 4_000] {
            now = now.saturating_add_signed(step);
            let nonce = nonces.next(at(now)).await.expect("a nonce");
            assert!(nonce > last, "{nonce} after {last} in process {process}");
            assert!(nonce >= now);
            last = nonce;
        }
    }
}

#[tokio::test]
async fn they_are_reserved_a_second_ahead_at_most() {
    let store = Arc::new(MemoryStore::new(at(1)));
    let now = 1_000_000;
    let mut used = 0;
    for _ in 0..5 {
        let nonces = nonces(&store);
        for _ in 0..50 {
            nonces.next(at(now)).await.expect("a nonce");
            used += 1;
        }
        // What a process leaves of its block is lost, so the next one goes on at the mark, one by one, and reserves no block there.
        let mark = store.reserve(&scope(), 0, 0).await.expect("the mark").end;
        assert!(mark <= now + 1_000 + used, "{}", mark - now);
    }
}

#[tokio::test]
async fn a_block_is_reserved_with_one_write() {
    let store = Arc::new(MemoryStore::new(at(1)));
    let nonces = nonces(&store);
    nonces.next(at(1_000)).await.expect("a nonce");
    let mark = || async { store.reserve(&scope(), 0, 0).await.expect("the mark").end };
    nonces.next(at(1_000)).await.expect("a nonce");
    let reserved = mark().await;
    for ms in 0..900 {
        nonces.next(at(1_000 + ms)).await.expect("a nonce");
    }
    assert_eq!(mark().await, reserved, "the block was enough");
}

#[tokio::test]
async fn tasks_that_race_get_different_ones() {
    let store = Arc::new(MemoryStore::new(at(1)));
    let nonces = Arc::new(nonces(&store));
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let nonces = Arc::clone(&nonces);
            tokio::spawn(async move { nonces.next(at(7)).await.expect("a nonce") })
        })
        .collect();
    let mut all = std::collections::HashSet::new();
    for task in tasks {
        assert!(all.insert(task.await.expect("ended")), "given out twice");
    }
}

#[tokio::test]
async fn without_the_journal_they_still_grow_for_cancels_and_orders_get_none() {
    let store = Arc::new(MemoryStore::new(at(1)));
    let nonces = nonces(&store);
    let mut last = nonces.next(at(1_000)).await.expect("a nonce");
    store.close().await.expect("closed");
    for now in [1_000, 1_000, 900, 5_000] {
        let nonce = nonces.next_even_unjournaled(at(now)).await;
        assert!(nonce > last);
        last = nonce;
    }
    nonces
        .next(at(9_000))
        .await
        .expect_err("no order without the journal");
}
