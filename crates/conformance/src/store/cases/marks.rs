//! Marks that only go forward: nonces, bindings, cursors, leases, the journal's own age.

use std::collections::HashSet;

use surefill_core::{AccountId, NonceScope, StoreError, VenueTime};
use tokio::task::JoinSet;

use crate::store::{Draft, StoreFixture, T0};

/// No number is ever handed out twice, whatever happens between, and none is below the floor.
pub async fn s40_no_number_is_reserved_twice<F: StoreFixture>() {
    let f = F::fresh().await;
    let scope = NonceScope("signer".into());
    let mut seen = HashSet::new();
    let mut f = f;
    for round in 0..4_u64 {
        let store = f.store();
        let floor = if round == 2 { 1_000_000 } else { 10 };
        let range = store.reserve(&scope, floor, 3).await.unwrap();
        assert!(range.start >= floor);
        assert_eq!(range.end - range.start, 3);
        assert!(range.into_iter().all(|no| seen.insert(no)));
        f = match round {
            0 => f.reopen().await,
            1 => f.crash().await,
            _ => f.power_cut(usize::MAX).await,
        };
    }
    let other = f.store().reserve(&NonceScope("other".into()), 0, 1).await;
    assert_eq!(other.unwrap(), 0..1);
    let none = f.store().reserve(&scope, 0, 0).await.unwrap();
    assert!(none.is_empty());
}

/// Tasks that race for numbers get different ones.
pub async fn s41_racing_tasks_get_different_numbers<F: StoreFixture>() {
    let f = F::fresh().await;
    let mut tasks = JoinSet::new();
    for _ in 0..32 {
        let store = f.store();
        tasks.spawn(async move { store.reserve(&NonceScope("s".into()), 7, 2).await.unwrap() });
    }
    let numbers: Vec<u64> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(numbers.len(), 64);
    assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 64);
    assert!(numbers.iter().all(|no| *no >= 7));
}

/// An alias is bound to its account for ever.
pub async fn s42_an_alias_keeps_its_account<F: StoreFixture>() {
    let f = F::fresh().await;
    let alias = Draft::new(1).venue;
    let (mine, other) = (AccountId::from("a:t:1"), AccountId::from("a:t:2"));
    f.store().bind(&alias, &mine).await.unwrap();
    f.store().bind(&alias, &mine).await.unwrap();
    f.store().bind(&"w".into(), &other).await.unwrap();
    let f = f.power_cut(usize::MAX).await;
    match f.store().bind(&alias, &other).await {
        Err(StoreError::OtherAccount {
            alias: named,
            bound,
            found,
        }) => assert_eq!((named, bound, found), (alias.clone(), mine.clone(), other)),
        outcome => panic!("{outcome:?}"),
    }
    f.store().bind(&alias, &mine).await.unwrap();
}

/// A cursor never goes back, and is kept per venue.
pub async fn s43_a_cursor_never_goes_back<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let (v, w) = ("v".into(), "w".into());
    assert_eq!(store.cursor(&v).await.unwrap(), None);
    let at = |ms| VenueTime::from_ms(T0.as_ms() + ms);
    for ms in [5, 9, 7] {
        store.set_cursor(&v, at(ms)).await.unwrap();
    }
    store.set_cursor(&w, at(1)).await.unwrap();
    assert_eq!(store.cursor(&v).await.unwrap(), Some(at(9)));
    let f = f.reopen().await;
    f.store().set_cursor(&v, at(8)).await.unwrap();
    assert_eq!(f.store().cursor(&v).await.unwrap(), Some(at(9)));
    assert_eq!(f.store().cursor(&w).await.unwrap(), Some(at(1)));
}

/// The epoch of a lease only grows, over a power cut too.
pub async fn s44_the_epoch_of_a_lease_only_grows<F: StoreFixture>() {
    let f = F::fresh().await;
    let first = f.store().lease("v/a").await.unwrap();
    let f = f.power_cut(usize::MAX).await;
    let second = f.store().lease("v/a").await.unwrap();
    assert!(second > first, "{first} {second}");
    let f = f.reopen().await;
    assert!(f.store().lease("v/a").await.unwrap() > second);
    assert_eq!(f.store().lease("v/b").await.unwrap(), first);
}

/// When the journal was made does not change.
pub async fn s45_made_at_stays<F: StoreFixture>() {
    let f = F::fresh().await;
    let made_at = f.store().made_at().await.unwrap();
    assert!(made_at > VenueTime::from_ms(1_600_000_000_000));
    let f = f.reopen().await;
    assert_eq!(f.store().made_at().await.unwrap(), made_at);
    let f = f.crash().await;
    assert_eq!(f.store().made_at().await.unwrap(), made_at);
}
