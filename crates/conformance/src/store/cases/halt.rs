//! Halts: durable, once per scope and cause, and lifted with a name and a reason.

use surefill_core::{Durability, Halt, HaltCause, Lacking, Lift, Scope, VenueTime};

use super::{inserted, refused};
use crate::store::doubt;
use crate::store::{Draft, StoreFixture, T0};

/// A halt stands until it is lifted, over every restart; the same scope and cause again changes nothing.
pub async fn s30_a_halt_stands_until_lifted<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let draft = Draft::new(1);
    let scope = Scope::account("v", draft.account.clone());
    let halts = [
        Halt::new(scope.clone(), HaltCause::Asked, T0, "first"),
        Halt::new(scope.clone(), HaltCause::Unreachable, T0, ""),
        Halt::new(Scope::venue("v"), HaltCause::Asked, T0, ""),
    ];
    for halt in &halts {
        store.halt(halt).await.unwrap();
    }
    let later = VenueTime::from_ms(T0.as_ms() + 5);
    let again = Halt::new(scope.clone(), HaltCause::Asked, later, "second");
    store.halt(&again).await.unwrap();
    assert_eq!(store.halts().await.unwrap(), halts);
    let f = f.power_cut(usize::MAX).await;
    let store = f.store();
    assert_eq!(store.halts().await.unwrap(), halts);
    refused(&store, &draft).await;
    let lifted = store.lift(&Lift::All(scope), "me", "looked", T0).await;
    assert_eq!(lifted.unwrap(), halts[..2]);
    refused(&store, &draft).await;
    let venue = Lift::All(Scope::venue("v"));
    let lifted = store.lift(&venue, "me", "looked", T0).await.unwrap();
    assert_eq!(lifted, halts[2..]);
    inserted(&store, &draft).await;
    assert_eq!(store.lift(&venue, "me", "looked", T0).await.unwrap(), []);
}

/// One halt is lifted by its exact scope and cause; the others stay.
pub async fn s31_one_halt_is_lifted_by_its_cause<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let scope = Scope::venue("v");
    let doubt = |n| HaltCause::Doubt {
        id: Draft::new(n).id(),
        lacking: Lacking::Answer,
    };
    let halts: Vec<Halt> = [doubt(1), doubt(2), HaltCause::Asked]
        .map(|cause| Halt::new(scope.clone(), cause, T0, ""))
        .into();
    for halt in &halts {
        store.halt(halt).await.unwrap();
    }
    let other = Lift::One(Scope::venue("w"), doubt(2));
    assert_eq!(store.lift(&other, "me", "", T0).await.unwrap(), []);
    let one = Lift::One(scope, doubt(2));
    let lifted = store.lift(&one, "engine", "found", T0).await.unwrap();
    assert_eq!(lifted, halts[1..2]);
    let left = [halts[0].clone(), halts[2].clone()];
    assert_eq!(store.halts().await.unwrap(), left);
    let f = f.reopen().await;
    assert_eq!(f.store().halts().await.unwrap(), left);
}

/// Who lifted a halt, why and when is kept, over a power cut too.
pub async fn s32_who_lifted_and_why_is_kept<F: StoreFixture>() {
    let f = F::fresh().await;
    let store = f.store();
    let halt = Halt::new(Scope::venue("v"), HaltCause::Asked, T0, "stop");
    let at = VenueTime::from_ms(T0.as_ms() + 9);
    for reason in ["looked", "looked again"] {
        store.halt(&halt).await.unwrap();
        let lift = Lift::All(Scope::venue("v"));
        store.lift(&lift, "night-desk", reason, at).await.unwrap();
    }
    let f = f.power_cut(usize::MAX).await;
    assert_eq!(f.store().halts().await.unwrap(), []);
    let entry = |reason: &str| (halt.clone(), "night-desk".into(), reason.into(), at);
    assert_eq!(f.lifted().await, [entry("looked"), entry("looked again")]);
}

/// A halt is durable once its call returned, also when a lazy commit had brought it before.
pub async fn s33_a_halt_is_durable_once_told<F: StoreFixture>() {
    for told in [false, true] {
        let f = F::fresh().await;
        let store = f.store();
        let row = inserted(&store, &Draft::new(1)).await;
        let halt = Halt::new(row.symbol_scope(), HaltCause::Unreachable, T0, "");
        let change = doubt(&row).halting(halt.clone());
        store.apply(change, Durability::Lazy).await.unwrap();
        if told {
            store.halt(&halt).await.unwrap();
        }
        let f = f.power_cut(usize::MAX).await;
        let expected = if told { vec![halt] } else { vec![] };
        assert_eq!(f.store().halts().await.unwrap(), expected);
    }
}
