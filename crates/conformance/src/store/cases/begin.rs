//! Entering: once per id, and never past a halt or doubt that is seen inside the commit.

use surefill_core::{
    Begun, Cause, Change, ChangeError, Entry, Gate, Halt, HaltCause, Mark, OrdState, Scope,
    StoreError,
};
use tokio::task::JoinSet;

use super::{apply, in_doubt, inserted, refused, try_apply};
use crate::store::{Draft, StoreFixture, T0, ack, doubt, found, next_attempt, rejected};

/// The second time an id comes, the row is handed back as it stands and nothing is written.
pub async fn s01_begin_is_once_per_id<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let begin = draft.begin();
    let row = inserted(&store, &draft).await;
    assert_eq!(row, begin.order);
    let acked = apply(&store, ack(&row, &draft.order_id())).await;
    match store.begin(begin).await.unwrap() {
        Begun::Exists(found) => assert_eq!(found, acked),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.order(row.id).await.unwrap(), Some(acked));
    assert_eq!(store.history(row.id).await.unwrap().len(), 2);
}

/// However many tasks race for one id, one inserts and all others find.
pub async fn s02_of_racing_tasks_exactly_one_inserts<F: StoreFixture>() {
    let f = F::fresh().await;
    for n in 0..8 {
        let mut tasks = JoinSet::new();
        for _ in 0..32 {
            let store = f.store();
            tasks.spawn(async move { store.begin(Draft::new(n).begin()).await.unwrap() });
        }
        let mut took = 0;
        for begun in tasks.join_all().await {
            match begun {
                Begun::Inserted(_) => took += 1,
                Begun::Exists(row) => assert_eq!(row, Draft::new(n).begin().order),
                Begun::Refused(gate) => panic!("{gate:?}"),
            }
        }
        assert_eq!(took, 1);
    }
    assert_eq!(f.store().unfinished().await.unwrap().len(), 8);
}

/// Existence is tested before halts and doubt.
pub async fn s03_a_known_id_is_found_under_a_halt<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let row = inserted(&store, &Draft::new(1)).await;
    let row = apply(&store, doubt(&row)).await;
    let halt = Halt::new(row.symbol_scope(), HaltCause::Asked, T0, "stop");
    store.halt(&halt).await.unwrap();
    match store.begin(Draft::new(1).begin()).await.unwrap() {
        Begun::Exists(found) => assert_eq!(found, row),
        other => panic!("{other:?}"),
    }
}

/// A halt of the venue, the account or the symbol refuses new risk there, and nowhere else.
pub async fn s04_a_halt_refuses_new_risk_in_its_scope<F: StoreFixture>() {
    let draft = Draft::new(1);
    let scopes = [
        Scope::venue("v"),
        Scope::account("v", draft.account.clone()),
        Scope::symbol("v", draft.account.clone(), draft.symbol.clone()),
    ];
    for (scope, elsewhere) in scopes.into_iter().zip([
        Draft::new(2).venue("w"),
        Draft::new(2).venue("w"),
        Draft::new(2).symbol("ETHUSDT"),
    ]) {
        let f = F::fresh().await;
        let store = f.store();
        let halt = Halt::new(scope, HaltCause::Unreachable, T0, "silence");
        store.halt(&halt).await.unwrap();
        for doubt_blocks in [true, false] {
            let draft = draft.clone().entry(Entry::Risk { doubt_blocks });
            assert_eq!(refused(&store, &draft).await, Gate::Halted(halt.clone()));
        }
        inserted(&store, &elsewhere).await;
    }
}

/// Another order's doubt refuses new risk in its symbol until its fate is known, where the policy says so.
pub async fn s05_doubt_refuses_new_risk_in_its_symbol<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let first = Draft::new(1);
    let row = in_doubt(&store, &first).await;
    assert_eq!(refused(&store, &Draft::new(2)).await, Gate::Doubt(row.id));
    let row = apply(
        &store,
        surefill_core::Change::of(&row, row.updated_at, surefill_core::Cause::Claimed, "")
            .to(OrdState::Reconciling),
    )
    .await;
    assert_eq!(refused(&store, &Draft::new(2)).await, Gate::Doubt(row.id));
    let lenient = Draft::new(3).entry(Entry::Risk {
        doubt_blocks: false,
    });
    inserted(&store, &lenient).await;
    inserted(&store, &Draft::new(4).symbol("ETHUSDT")).await;
    inserted(&store, &Draft::new(5).venue("w")).await;
    apply(&store, found(&row, &first.order_id())).await;
    inserted(&store, &Draft::new(2)).await;
}

/// Doubt is seen also after the journal was opened anew, and ends with the order.
pub async fn s06_doubt_is_seen_after_a_restart<F: StoreFixture>() {
    let f = F::fresh().await;
    let row = in_doubt(&f.store(), &Draft::new(1)).await;
    let f = f.crash().await;
    let store = f.store();
    assert_eq!(refused(&store, &Draft::new(2)).await, Gate::Doubt(row.id));
    apply(&store, rejected(&row)).await;
    inserted(&store, &Draft::new(2)).await;
}

/// A further attempt is no verdict: its order stays in doubt, in every state, and after a restart.
pub async fn s18_a_further_attempt_ends_no_doubt<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let first = Draft::new(1);
    let row = in_doubt(&store, &first).await;
    let since = row.doubt_since;
    assert_eq!(since, Some(row.updated_at));
    let claimed = Change::of(&row, row.updated_at, Cause::Claimed, "");
    let row = apply(&store, claimed.to(OrdState::Reconciling)).await;
    let revoked = Change::of(&row, row.updated_at, Cause::RevokeAnswer, "revoked");
    let row = apply(&store, revoked.mark(1, Mark::Revoked)).await;
    let row = apply(&store, next_attempt(&row, &first.attempt(2))).await;
    assert_eq!((row.state, row.doubt_since), (OrdState::Submitted, since));
    assert_eq!(refused(&store, &Draft::new(2)).await, Gate::Doubt(row.id));
    let turned = Change::of(&row, row.updated_at, Cause::Answer, "not sent");
    let turned = turned.to(OrdState::Pending).mark(2, Mark::NoneLeft);
    let row = apply(&store, turned).await;
    assert_eq!((row.state, row.doubt_since), (OrdState::Pending, since));
    assert_eq!(refused(&store, &Draft::new(2)).await, Gate::Doubt(row.id));
    let f = f.crash().await;
    let store = f.store();
    assert_eq!(store.order(row.id).await.unwrap(), Some(row.clone()));
    assert_eq!(refused(&store, &Draft::new(2)).await, Gate::Doubt(row.id));
    inserted(&store, &Draft::new(3).symbol("ETHUSDT")).await;
    let again = Change::of(&row, row.updated_at, Cause::Replayed, "again");
    let again = again.to(OrdState::Submitted).mark(2, Mark::Loose);
    let row = apply(&store, again).await;
    assert_eq!(refused(&store, &Draft::new(2)).await, Gate::Doubt(row.id));
    let row = apply(&store, ack(&row, &first.order_id())).await;
    assert_eq!(row.doubt_since, None);
    inserted(&store, &Draft::new(2)).await;
    // A first attempt under way is no doubt.
    inserted(&store, &Draft::new(4)).await;
}

/// Reduce-only passes a halt and doubt.
pub async fn s07_an_exit_passes<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    in_doubt(&store, &Draft::new(1)).await;
    let halt = Halt::new(Scope::venue("v"), HaltCause::Asked, T0, "");
    store.halt(&halt).await.unwrap();
    inserted(&store, &Draft::new(2).entry(Entry::Exit)).await;
}

/// An entry in spite of a halt passes, and who took the responsibility is in the log.
pub async fn s08_an_entry_despite_a_halt_is_journaled<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    in_doubt(&store, &Draft::new(1)).await;
    let halt = Halt::new(Scope::venue("v"), HaltCause::Asked, T0, "");
    store.halt(&halt).await.unwrap();
    let draft = Draft::new(2).entry(Entry::DespiteHalt {
        who: "night-desk".into(),
    });
    inserted(&store, &draft).await;
    let f = f.reopen().await;
    let log = f.store().history(draft.id()).await.unwrap();
    assert!(log[0].evidence.contains("night-desk"), "{log:?}");
}

/// A change of an order that the journal lacks is refused by name.
pub async fn s09_a_change_of_an_unknown_order_is_refused<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let row = Draft::new(1).begin().order;
    match try_apply(&store, doubt(&row)).await {
        Err(StoreError::NoSuchOrder { id }) => assert_eq!(id, row.id),
        other => panic!("{other:?}"),
    }
    let row = inserted(&store, &Draft::new(1)).await;
    let error = try_apply(
        &store,
        surefill_core::Change {
            expected: 9,
            ..doubt(&row)
        },
    )
    .await
    .unwrap_err();
    assert!(error.is_conflict());
    assert!(matches!(
        error,
        StoreError::Change(ChangeError::Conflict {
            expected: 9,
            found: 1,
            ..
        })
    ));
}
