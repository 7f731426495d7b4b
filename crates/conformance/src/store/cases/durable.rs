//! What survives a crash and a power cut, and what a closed store takes.

use surefill_core::{Durability, OrdState, StoreError};

use super::{all_of, apply, ids, inserted, lazy};
use crate::store::{Draft, StoreFixture, T0, ack, doubt, fill, filled, rejected};

/// An intent whose commit returned is there after a power cut, and so is everything committed before it.
pub async fn s50_a_sync_makes_everything_before_it_durable<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let drafts = [Draft::new(1), Draft::new(2)];
    let row = inserted(&store, &drafts[0]).await;
    let (change, durability) = lazy(ack(&row, &drafts[0].order_id()));
    let row = store.apply(change, durability).await.unwrap();
    store.set_cursor(&"v".into(), T0).await.unwrap();
    let fills = vec![fill(&row.intent.symbol, &drafts[0].order_id(), "e", "1")];
    let (change, durability) = lazy(filled(&row, fills));
    store.apply(change, durability).await.unwrap();
    inserted(&store, &drafts[1]).await;
    let before = [
        all_of(&store, drafts[0].id()).await,
        all_of(&store, drafts[1].id()).await,
    ];
    let f = f.power_cut(usize::MAX).await;
    let store = f.store();
    let after = [
        all_of(&store, drafts[0].id()).await,
        all_of(&store, drafts[1].id()).await,
    ];
    assert_eq!(after, before);
    assert_eq!(store.cursor(&"v".into()).await.unwrap(), Some(T0));
    assert_eq!(ids(&store).await, [drafts[1].id()]);
}

/// The twin: without the sync the power takes the lazy commits, so the cut is a real one.
pub async fn s51_without_a_sync_lazy_commits_are_lost<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = inserted(&store, &draft).await;
    let mut change = ack(&row, &draft.order_id());
    change.fills = vec![fill(&draft.symbol, &draft.order_id(), "e", "0.5")];
    store.apply(change, Durability::Lazy).await.unwrap();
    store.set_cursor(&draft.venue, T0).await.unwrap();
    let f = f.power_cut(usize::MAX).await;
    let store = f.store();
    assert_eq!(store.order(row.id).await.unwrap(), Some(row.clone()));
    assert_eq!(store.fills(row.id).await.unwrap(), []);
    assert_eq!(store.history(row.id).await.unwrap().len(), 1);
    assert_eq!(store.cursor(&draft.venue).await.unwrap(), None);
    let found = store.by_order_id(&draft.venue, &draft.order_id()).await;
    assert_eq!(found.unwrap(), None);
    // The journal goes on from there, and the same change takes again.
    apply(&store, ack(&row, &draft.order_id())).await;
}

/// The same change under `Sync` is not lost.
pub async fn s52_a_sync_change_is_not_lost<F: StoreFixture>() {
    let f = F::fresh().await;
    let draft = Draft::new(1);
    let row = inserted(&f.store(), &draft).await;
    let change = ack(&row, &draft.order_id());
    let row = f.store().apply(change, Durability::Sync).await.unwrap();
    let f = f.power_cut(usize::MAX).await;
    assert_eq!(f.store().order(row.id).await.unwrap(), Some(row));
}

/// A power cut takes a suffix: never a commit from before one that stays.
pub async fn s53_a_power_cut_takes_a_suffix<F: StoreFixture>() {
    let steps = [
        OrdState::Unknown,
        OrdState::Reconciling,
        OrdState::Unknown,
        OrdState::Reconciling,
    ];
    for lose in 0..=steps.len() + 1 {
        let f = F::fresh().await;
        let store = f.store();
        let mut rows = vec![inserted(&store, &Draft::new(1)).await];
        for to in steps {
            let row = &rows[rows.len() - 1];
            let (change, durability) = lazy(doubt(row).to(to));
            rows.push(store.apply(change, durability).await.unwrap());
        }
        let f = f.power_cut(lose).await;
        let left = steps.len().saturating_sub(lose);
        let found = f.store().order(rows[0].id).await.unwrap();
        assert_eq!(found.as_ref(), Some(&rows[left]), "lost {lose}");
        let log = f.store().history(rows[0].id).await.unwrap();
        assert_eq!(log.len(), left + 1);
    }
}

/// A process that ends without a word loses nothing that was committed.
pub async fn s54_a_crash_loses_nothing<F: StoreFixture>() {
    let mut f = F::fresh().await;
    for n in 0..5 {
        let draft = Draft::new(n);
        let row = inserted(&f.store(), &draft).await;
        let (change, durability) = lazy(ack(&row, &draft.order_id()));
        let row = f.store().apply(change, durability).await.unwrap();
        f.store()
            .set_cursor(&"v".into(), row.updated_at)
            .await
            .unwrap();
        f = f.crash().await;
        assert_eq!(f.store().order(row.id).await.unwrap(), Some(row.clone()));
        let cursor = f.store().cursor(&"v".into()).await.unwrap();
        assert_eq!(cursor, Some(row.updated_at));
    }
    assert_eq!(f.store().unfinished().await.unwrap().len(), 5);
}

/// A closed store takes nothing more, and what it took is durable.
pub async fn s55_a_closed_store_takes_nothing<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = inserted(&store, &draft).await;
    let (change, durability) = lazy(ack(&row, &draft.order_id()));
    let row = store.apply(change, durability).await.unwrap();
    store.close().await.unwrap();
    let begun = store.begin(Draft::new(2).begin()).await;
    assert!(matches!(begun, Err(StoreError::Closed)), "{begun:?}");
    let applied = store.apply(rejected(&row), Durability::Sync).await;
    assert!(matches!(applied, Err(StoreError::Closed)), "{applied:?}");
    let leased = store.lease("v").await;
    assert!(matches!(leased, Err(StoreError::Closed)), "{leased:?}");
    let f = f.power_cut(usize::MAX).await;
    assert_eq!(f.store().unfinished().await.unwrap(), [row]);
}

/// Everything is there after a clean close.
pub async fn s56_a_reopened_journal_is_the_same<F: StoreFixture>() {
    let f = F::fresh().await;
    let drafts: Vec<Draft> = (1..=3).map(Draft::new).collect();
    let mut before = Vec::new();
    for draft in &drafts {
        let row = inserted(&f.store(), draft).await;
        apply(&f.store(), ack(&row, &draft.order_id())).await;
        before.push(all_of(&f.store(), row.id).await);
    }
    let f = f.reopen().await;
    for (draft, before) in drafts.iter().zip(before) {
        assert_eq!(all_of(&f.store(), draft.id()).await, before);
    }
}

/// A crash makes nothing durable: what was lazy before it goes in a power cut after it, unless a sync came between.
pub async fn s57_a_crash_leaves_lazy_commits_at_stake<F: StoreFixture>() {
    for synced in [false, true] {
        let f = F::fresh().await;
        let draft = Draft::new(1);
        let row = inserted(&f.store(), &draft).await;
        let (change, durability) = lazy(ack(&row, &draft.order_id()));
        let acked = f.store().apply(change, durability).await.unwrap();
        let f = f.crash().await;
        let found = f.store().order(row.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(&acked));
        if synced {
            inserted(&f.store(), &Draft::new(2)).await;
        }
        let f = f.power_cut(usize::MAX).await;
        let found = f.store().order(row.id).await.unwrap();
        assert_eq!(found, Some(if synced { acked } else { row }));
    }
}
