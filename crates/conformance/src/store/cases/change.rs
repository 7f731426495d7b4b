//! Changing: a compare-and-set, with everything that belongs to it or nothing at all.

use surefill_core::{
    AmendRecord, AmendState, Cause, Change, ChangeError, Durability, Fence, Halt, HaltCause, Key,
    Mark, OrdState, OrderRecord, Scope, StoreError, Terms, Transition,
};
use tokio::task::JoinSet;

use super::{all_of, apply, in_doubt, inserted, try_apply};
use crate::store::{Draft, StoreFixture, T0, ack, doubt, fill, filled, next_attempt};

/// Someone else was first: nothing is written.
pub async fn s10_a_stale_version_writes_nothing<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = inserted(&store, &draft).await;
    let acked = apply(&store, ack(&row, &draft.order_id())).await;
    let before = all_of(&store, row.id).await;
    let fills = vec![fill(&draft.symbol, &draft.order_id(), "e1", "1")];
    let halt = Halt::new(row.symbol_scope(), HaltCause::Asked, T0, "");
    let error = try_apply(&store, filled(&row, fills).halting(halt)).await;
    match error {
        Err(StoreError::Change(ChangeError::Conflict {
            id,
            expected,
            found,
        })) => assert_eq!((id, expected, found), (row.id, 1, acked.version)),
        other => panic!("{other:?}"),
    }
    assert_eq!(all_of(&store, row.id).await, before);
}

/// A step that the table does not hold writes nothing, and the next commit is not spoiled.
pub async fn s11_an_illegal_step_writes_nothing<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = inserted(&store, &draft).await;
    let before = all_of(&store, row.id).await;
    let mut change = Change::of(&row, T0, Cause::Claimed, "").to(OrdState::Reconciling);
    change.fills = vec![fill(&draft.symbol, &draft.order_id(), "e1", "1")];
    change.order_id = Some(draft.order_id());
    let change = change
        .mark(1, Mark::Receipt("never".into()))
        .halting(Halt::new(row.symbol_scope(), HaltCause::Asked, T0, ""));
    assert!(matches!(
        try_apply(&store, change).await,
        Err(StoreError::Change(ChangeError::Illegal(_)))
    ));
    assert_eq!(all_of(&store, row.id).await, before);
    let venue = &draft.venue;
    assert_eq!(store.by_key(venue, &"never".into()).await.unwrap(), None);
    let found = store.by_order_id(venue, &draft.order_id()).await.unwrap();
    assert_eq!(found, None);
    apply(&store, ack(&row, &draft.order_id())).await;
}

/// Row, log, fills, next attempt, keys and halt are there together, as the row's own rule makes them.
pub async fn s12_a_change_commits_all_its_parts<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = in_doubt(&store, &draft).await;
    let claim = Change::of(&row, row.updated_at, Cause::Claimed, "").to(OrdState::Reconciling);
    let row = apply(&store, claim).await;
    let halt = Halt::new(row.account_scope(), HaltCause::Unreachable, T0, "look");
    let attempt = draft.attempt(2);
    let change = next_attempt(&row, &attempt)
        .mark(1, Mark::Revoked)
        .mark(1, Mark::Receipt("bundle".into()))
        .halting(halt.clone());
    let after = apply(&store, change.clone()).await;
    assert_eq!(after, row.apply(&change, &[]).unwrap());
    assert_eq!(store.order(row.id).await.unwrap(), Some(after.clone()));
    let log = store.history(row.id).await.unwrap();
    assert_eq!(log.last(), Some(&Transition::of(&row, &after, &change)));
    assert_eq!(store.attempt(row.id, 2).await.unwrap(), Some(attempt));
    assert_eq!(store.halts().await.unwrap(), std::slice::from_ref(&halt));
    for key in ["bundle".into(), Key::from(format!("{}-hash-2", row.id))] {
        let found = store.by_key(&draft.venue, &key).await.unwrap();
        assert_eq!(found, Some(row.id), "{key:?}");
    }
    // The same halt comes with another change: it is there once.
    let again = apply(&store, doubt(&after).halting(halt)).await;
    assert_eq!(again.state, OrdState::Unknown);
    assert_eq!(store.halts().await.unwrap().len(), 1);
}

/// A fill is booked once: twice in one change, again in a later one, or after the end.
pub async fn s13_a_fill_is_booked_once<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = inserted(&store, &draft).await;
    let one = fill(&draft.symbol, &draft.order_id(), "e1", "0.25");
    let mut change = ack(&row, &draft.order_id());
    change.fills = vec![one.clone(), one.clone()];
    let row = apply(&store, change).await;
    assert_eq!(row.booked_qty, "0.25".parse().unwrap());
    let two = fill(&draft.symbol, &draft.order_id(), "e2", "0.75");
    let row = apply(&store, filled(&row, vec![one.clone(), two.clone()])).await;
    assert_eq!(row.booked_qty, "1".parse().unwrap());
    assert!(!row.unfinished());
    let f = f.reopen().await;
    let store = f.store();
    let mut again = Change::of(&row, T0, Cause::Fills, "read back");
    again.fills = vec![two.clone(), one.clone()];
    let row = apply(&store, again).await;
    assert_eq!(row.booked_qty, "1".parse().unwrap());
    assert_eq!(store.fills(row.id).await.unwrap(), [one, two]);
}

/// Account, symbol, order id and execution id together make a fill, not the execution id alone.
pub async fn s14_an_exec_id_alone_is_no_fill<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let drafts = [
        Draft::new(1),
        Draft::new(2).symbol("ETHUSDT"),
        Draft::new(3),
    ];
    for draft in &drafts {
        let row = inserted(&store, draft).await;
        let one = fill(&draft.symbol, &draft.order_id(), "7", "1");
        let row = apply(&store, filled(&row, vec![one.clone()])).await;
        assert_eq!(row.booked_qty, "1".parse().unwrap());
        assert_eq!(store.fills(row.id).await.unwrap(), [one]);
    }
    // One trade under the same order number in two symbols, and in two accounts.
    for (n, account) in [(4, "1"), (5, "2")] {
        let mut draft = Draft::new(n).symbol("X");
        draft.account = surefill_core::AccountId::new("sim", "simulator", account);
        let row = inserted(&store, &draft).await;
        let fills = ["X", "Y"].map(|symbol| fill(&symbol.into(), &"9".into(), "7", "0.5"));
        let row = apply(&store, filled(&row, fills.to_vec())).await;
        assert_eq!(row.booked_qty, "1".parse().unwrap());
        assert_eq!(store.fills(row.id).await.unwrap(), fills);
    }
}

/// Of changes that race from one version, one wins.
pub async fn s15_of_racing_changes_exactly_one_wins<F: StoreFixture>() {
    let f = F::fresh().await;
    let row = inserted(&f.store(), &Draft::new(1)).await;
    let mut tasks = JoinSet::new();
    for n in 0..32_u32 {
        let store = f.store();
        let change = Change {
            evidence: n.to_string().into(),
            ..doubt(&row)
        };
        tasks.spawn(async move { store.apply(change, Durability::Lazy).await });
    }
    let results = tasks.join_all().await;
    let won: Vec<_> = results
        .iter()
        .filter_map(|done| done.as_ref().ok())
        .collect();
    assert_eq!(won.len(), 1);
    assert!(
        results
            .iter()
            .filter_map(|done| done.as_ref().err())
            .all(StoreError::is_conflict)
    );
    assert_eq!(
        f.store().order(row.id).await.unwrap().as_ref(),
        won.first().copied()
    );
    assert_eq!(f.store().history(row.id).await.unwrap().len(), 2);
}

/// A declared halt that came first holds a change back; a halt out of doubt does not.
pub async fn s16_unless_halted_is_tested_in_the_commit<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = in_doubt(&store, &draft).await;
    let claim = Change::of(&row, row.updated_at, Cause::Claimed, "").to(OrdState::Reconciling);
    let row = apply(&store, claim).await;
    let next = Change {
        unless_halted: true,
        ..next_attempt(&row, &draft.attempt(2))
    };
    let lacking = surefill_core::Lacking::Answer;
    let out_of_doubt = HaltCause::Doubt {
        id: row.id,
        lacking,
    };
    let soft = Halt::new(row.symbol_scope(), out_of_doubt, T0, "");
    let elsewhere = Halt::new(Scope::venue("w"), HaltCause::Asked, T0, "");
    let declared = Halt::new(row.account_scope(), HaltCause::Asked, T0, "stop");
    store.halt(&soft).await.unwrap();
    store.halt(&elsewhere).await.unwrap();
    store.halt(&declared).await.unwrap();
    let before = all_of(&store, row.id).await;
    match try_apply(&store, next.clone()).await {
        Err(StoreError::Halted(halt)) => assert_eq!(halt, declared),
        other => panic!("{other:?}"),
    }
    assert_eq!(all_of(&store, row.id).await, before);
    let lift = surefill_core::Lift::One(declared.scope.clone(), HaltCause::Asked);
    assert_eq!(
        store.lift(&lift, "me", "looked", T0).await.unwrap(),
        [declared]
    );
    assert_eq!(apply(&store, next).await.state, OrdState::Submitted);
}

/// An amend is there after a crash with its terms and what was learned of it, and a second one is refused while it is not settled.
pub async fn s17_an_amend_is_kept_with_its_fate<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = inserted(&store, &draft).await;
    let asked = |no, price: &str| AmendRecord {
        no,
        terms: Terms {
            order_qty: "2".parse().unwrap(),
            price: price.parse().unwrap(),
        },
        asked_at: T0,
        fence: Fence::Clock(T0),
        state: AmendState::Asked,
    };
    let amend = |row: &OrderRecord, asked| {
        let mut change = Change::of(row, T0, Cause::AmendAsked, "amend 1");
        change.amend = Some(asked);
        change
    };
    let refused = |done: Result<OrderRecord, StoreError>| {
        let refused = matches!(done, Err(StoreError::Change(ChangeError::NoAmend { .. })));
        assert!(refused, "{done:?}");
    };
    refused(try_apply(&store, amend(&row, asked(1, "11"))).await);
    let row = apply(&store, ack(&row, &draft.order_id())).await;
    let change = amend(&row, asked(1, "11"));
    assert_eq!(change.durability(), Durability::Sync);
    let row = apply(&store, change).await;
    refused(try_apply(&store, amend(&row, asked(2, "12"))).await);
    let mut learned = Change::of(&row, T0, Cause::Report, "shown");
    learned.amended = Some((1, AmendState::Shown(Some(T0))));
    let row = apply(&store, learned).await;
    let row = apply(&store, amend(&row, asked(2, "12"))).await;
    let fates: Vec<AmendState> = row.amends.iter().map(|amend| amend.state).collect();
    assert_eq!(fates, [AmendState::Shown(Some(T0)), AmendState::Asked]);
    assert_eq!(row.terms(), Some(asked(1, "11").terms));
    let before = all_of(&store, row.id).await;
    let f = f.crash().await;
    assert_eq!(all_of(&f.store(), row.id).await, before);
}
