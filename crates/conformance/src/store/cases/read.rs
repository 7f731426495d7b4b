//! Reading: everything is found again, and what a restart must find costs nothing for history.

use std::time::Duration;

use surefill_core::{
    Cause, Change, Key, Mark, OrdState, OrderFilter, OrderRecord, VenueTime, Watch,
};

use super::{apply, ids, in_doubt, inserted, states};
use crate::store::{Draft, StoreFixture, T0, ack, doubt, fill, filled, next_attempt, rejected};

/// The bytes of every attempt read back as they were, keys and properties too.
pub async fn s20_every_attempt_reads_back<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let mut row = in_doubt(&store, &draft).await;
    for no in 2..=4 {
        let claim = Change::of(&row, row.updated_at, Cause::Claimed, "").to(OrdState::Reconciling);
        row = apply(&store, claim).await;
        row = apply(&store, next_attempt(&row, &draft.attempt(no))).await;
        row = apply(
            &store,
            doubt(&row).mark(no, Mark::Receipt(format!("r{no}").into())),
        )
        .await;
    }
    let f = f.reopen().await;
    let store = f.store();
    for no in 1..=4 {
        let attempt = store.attempt(row.id, no).await.unwrap();
        assert_eq!(attempt, Some(draft.attempt(no)));
    }
    apply(&store, rejected(&row)).await;
    for no in 1..=4 {
        let attempt = store.attempt(row.id, no).await.unwrap();
        assert_eq!(attempt, Some(draft.attempt(no)));
    }
    assert_eq!(store.attempt(row.id, 5).await.unwrap(), None);
    assert_eq!(store.attempt(Draft::new(2).id(), 1).await.unwrap(), None);
}

/// Open orders, those with fills owed and those watched are found by a restart, and no others.
pub async fn s21_unfinished_rows_are_open_owed_or_watched<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let d: Vec<Draft> = (1..=7).map(Draft::new).collect();
    let one = |draft: &Draft| fill(&draft.symbol, &draft.order_id(), "e", "1");
    let mut rows = Vec::new();
    for draft in &d {
        rows.push(inserted(&store, draft).await);
    }
    apply(&store, ack(&rows[1], &d[1].order_id())).await;
    let owed = apply(&store, filled(&rows[2], vec![])).await;
    assert!(owed.fills_owed());
    let watched = apply(&store, rejected(&rows[3]).watched(Watch::UntilAbsent)).await;
    apply(&store, filled(&rows[4], vec![one(&d[4])])).await;
    apply(&store, rejected(&rows[5])).await;
    apply(&store, doubt(&rows[6])).await;
    let expected = [0, 1, 2, 3, 6].map(|i: usize| d[i].id());
    assert_eq!(ids(&store).await, expected);
    let f = f.crash().await;
    let store = f.store();
    assert_eq!(ids(&store).await, expected);
    for row in store.unfinished().await.unwrap() {
        assert_eq!(store.order(row.id).await.unwrap(), Some(row));
    }
    // The fill arrives, the watch ends: both are done.
    let mut late = Change::of(&owed, T0, Cause::Fills, "");
    late.fills = vec![one(&d[2])];
    apply(&store, late).await;
    let mut ends = Change::of(&watched, T0, Cause::WatchEnded, "");
    ends.watch = Some(None);
    apply(&store, ends).await;
    assert_eq!(ids(&store).await, [0, 1, 6].map(|i: usize| d[i].id()));
}

/// A finished row is found by id, by key and by order id, with its log, fills and attempts.
pub async fn s22_a_finished_row_is_found_everywhere<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = inserted(&store, &draft).await;
    let row = apply(&store, ack(&row, &draft.order_id())).await;
    let one = fill(&draft.symbol, &draft.order_id(), "e", "1");
    let row = apply(&store, filled(&row, vec![one.clone()])).await;
    let f = f.reopen().await;
    let store = f.store();
    assert_eq!(ids(&store).await, []);
    let (id, venue) = (row.id, &draft.venue);
    assert_eq!(store.order(id).await.unwrap(), Some(row.clone()));
    assert_eq!(store.fills(id).await.unwrap(), [one]);
    let log = store.history(id).await.unwrap();
    let steps: Vec<_> = log.iter().map(|entry| entry.to).collect();
    assert_eq!(
        steps,
        [OrdState::Submitted, OrdState::Acked, OrdState::Filled]
    );
    for key in &draft.attempt(1).keys {
        assert_eq!(store.by_key(venue, key).await.unwrap(), Some(id));
    }
    let found = store.by_order_id(venue, &draft.order_id()).await.unwrap();
    assert_eq!(found, Some(id));
    let attempt = store.attempt(id, 1).await.unwrap();
    assert_eq!(attempt, Some(draft.attempt(1)));
    let listed = store.orders(&OrderFilter::default()).await.unwrap();
    assert_eq!(listed, [row]);
}

/// Every key of every attempt, and every receipt, finds its order: at its venue only.
pub async fn s23_every_key_finds_its_order<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    inserted(&store, &Draft::new(2)).await;
    inserted(&store, &Draft::new(3).venue("w")).await;
    let row = in_doubt(&store, &draft.clone().entry(surefill_core::Entry::Exit)).await;
    let claim = Change::of(&row, row.updated_at, Cause::Claimed, "").to(OrdState::Reconciling);
    let row = apply(&store, claim).await;
    let row = apply(&store, next_attempt(&row, &draft.attempt(2))).await;
    let mut change = ack(&row, &draft.order_id()).mark(2, Mark::Receipt("bundle-2".into()));
    change.order_id = Some("first".into());
    let row = apply(&store, change).await;
    let mut successor = Change::of(&row, row.updated_at, Cause::Report, "");
    successor.order_id = Some("second".into());
    let row = apply(&store, successor).await;
    let f = f.crash().await;
    let store = f.store();
    let mut keys: Vec<Key> = vec!["bundle-2".into()];
    keys.extend(draft.attempt(1).keys);
    keys.extend(draft.attempt(2).keys);
    for key in keys {
        let found = store.by_key(&draft.venue, &key).await.unwrap();
        assert_eq!(found, Some(row.id), "{key:?}");
        assert_eq!(store.by_key(&"w".into(), &key).await.unwrap(), None);
    }
    for order_id in ["first", "second"] {
        let order_id = order_id.into();
        let found = store.by_order_id(&draft.venue, &order_id).await.unwrap();
        assert_eq!(found, Some(row.id), "{order_id:?}");
        let found = store.by_order_id(&"w".into(), &order_id).await.unwrap();
        assert_eq!(found, None);
    }
    // A key is no order id and an order id is no key.
    assert_eq!(
        store.by_key(&draft.venue, &"first".into()).await.unwrap(),
        None
    );
}

/// The log of an order holds every change once, in order, with what it rests on.
pub async fn s24_history_is_complete_and_ordered<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let mut row = inserted(&store, &draft).await;
    let mut expected = vec![surefill_core::Transition::first(&row, &draft.entry)];
    for n in 0..20_u32 {
        let to = if row.state == OrdState::Unknown {
            OrdState::Reconciling
        } else {
            OrdState::Unknown
        };
        let at = row.updated_at.after(Duration::from_millis(1));
        let change = Change::of(&row, at, Cause::NotShown, format_args!("round {n} ✓")).to(to);
        let after = apply(&store, change.clone()).await;
        expected.push(surefill_core::Transition::of(&row, &after, &change));
        row = after;
    }
    let f = f.reopen().await;
    assert_eq!(f.store().history(row.id).await.unwrap(), expected);
    let versions: Vec<u64> = expected.iter().map(|entry| entry.version).collect();
    assert_eq!(versions, (1..=21).collect::<Vec<u64>>());
}

/// Orders are listed by what the filter asks for, oldest first, open and finished ones together.
pub async fn s25_orders_are_listed_by_filter<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let drafts = [
        Draft::new(1),
        Draft::new(2).venue("w"),
        Draft::new(3).symbol("ETHUSDT"),
        Draft::new(4).strategy("other"),
        Draft::new(5),
        Draft::new(6),
    ];
    let mut rows = Vec::new();
    for draft in &drafts {
        rows.push(inserted(&store, draft).await);
    }
    rows[0] = apply(&store, rejected(&rows[0])).await;
    rows[2] = apply(&store, rejected(&rows[2])).await;
    rows[4] = apply(&store, ack(&rows[4], &drafts[4].order_id())).await;
    let f = f.reopen().await;
    let store = f.store();
    let all = OrderFilter::default();
    let filters = [
        all.clone(),
        OrderFilter {
            venue: Some("w".into()),
            ..all.clone()
        },
        OrderFilter {
            symbol: Some("ETHUSDT".into()),
            ..all.clone()
        },
        OrderFilter {
            strategy: Some("suite".into()),
            ..all.clone()
        },
        OrderFilter {
            state: Some(OrdState::Rejected),
            ..all.clone()
        },
        OrderFilter {
            open: true,
            ..all.clone()
        },
        OrderFilter {
            since: Some(rows[3].created_at),
            ..all.clone()
        },
        OrderFilter {
            venue: Some("v".into()),
            symbol: Some("BTCUSDT".into()),
            strategy: Some("suite".into()),
            state: Some(OrdState::Acked),
            open: true,
            since: Some(T0),
        },
        OrderFilter {
            venue: Some("nowhere".into()),
            ..all.clone()
        },
        OrderFilter {
            since: Some(VenueTime::from_ms(u64::MAX)),
            ..all
        },
    ];
    for (filter, count) in filters.iter().zip([6, 1, 1, 5, 2, 4, 3, 1, 0, 0]) {
        let listed = store.orders(filter).await.unwrap();
        let expected: Vec<OrderRecord> = rows.iter().filter(|r| filter.takes(r)).cloned().collect();
        assert_eq!(listed, expected, "{filter:?}");
        assert_eq!(listed.len(), count, "{filter:?}: {:?}", states(&listed));
    }
}

/// A finished row that is watched again, or whose end is reported with more than is booked, is found by a restart again.
pub async fn s26_a_finished_row_can_come_back<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let row = inserted(&store, &draft).await;
    inserted(&store, &Draft::new(2)).await;
    let row = apply(&store, rejected(&row)).await;
    assert_eq!(ids(&store).await, [Draft::new(2).id()]);
    let mut surfaced = Change::of(&row, T0, Cause::Report, "it came to light");
    surfaced.order_id = Some(draft.order_id());
    let row = apply(&store, surfaced.watched(Watch::Surfaced)).await;
    assert_eq!(row.state, OrdState::Rejected);
    let f = f.crash().await;
    let store = f.store();
    assert_eq!(ids(&store).await, [draft.id(), Draft::new(2).id()]);
    assert_eq!(store.order(row.id).await.unwrap(), Some(row.clone()));
    assert_eq!(store.history(row.id).await.unwrap().len(), 3);
    let attempt = store.attempt(row.id, 1).await.unwrap();
    assert_eq!(attempt, Some(draft.attempt(1)));
    let mut ends = Change::of(&row, T0, Cause::WatchEnded, "");
    ends.watch = Some(None);
    ends.cum_qty = Some("0.5".parse().unwrap());
    ends.fills = vec![fill(&draft.symbol, &draft.order_id(), "e", "0.5")];
    let row = apply(&store, ends).await;
    assert!(!row.unfinished());
    assert_eq!(ids(&store).await, [Draft::new(2).id()]);
    assert_eq!(store.order(row.id).await.unwrap(), Some(row));
}

/// Nothing is found of an order that was never journaled.
pub async fn s27_an_empty_journal_holds_nothing<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let id = draft.id();
    assert_eq!(store.order(id).await.unwrap(), None);
    assert_eq!(store.attempt(id, 1).await.unwrap(), None);
    assert_eq!(store.unfinished().await.unwrap(), []);
    assert_eq!(store.orders(&OrderFilter::default()).await.unwrap(), []);
    assert_eq!(store.fills(id).await.unwrap(), []);
    assert_eq!(store.history(id).await.unwrap(), []);
    assert_eq!(store.halts().await.unwrap(), []);
    assert_eq!(store.cursor(&draft.venue).await.unwrap(), None);
    let key = Key::from(id.to_string());
    assert_eq!(store.by_key(&draft.venue, &key).await.unwrap(), None);
    let order_id = draft.order_id();
    let found = store.by_order_id(&draft.venue, &order_id).await.unwrap();
    assert_eq!(found, None);
}
