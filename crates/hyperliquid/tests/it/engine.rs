//! The engine over the adapter over a socket: whatever is lost on the way, one order.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rust_decimal::Decimal;
use serde_json::json;
use surefill_core::{
    HaltCause, OrdState, OrderIntent, PlaceError, Placement, Resubmit, RevocationState, Side,
    TimeInForce, Watch,
};
use surefill_hyperliquid::{Hyperliquid, Keys, Leverage};

use crate::book::{Fault, Venue, keys};
use crate::server::{Reply, now};
use crate::world::{
    TIMING, config, engine, engine_with, intent, once, row, store, until, until_state,
};

fn size(text: &str) -> Decimal {
    text.parse().expect("a size")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_one_signed_request_and_is_followed_to_its_end() {
    let (venue, store) = (Venue::start().await, store());
    let engine = engine(&venue, &store).await;
    let placed = engine.place(intent(0)).await.expect("placed");
    let Placement::Live(_) = placed else {
        panic!("{placed:?}");
    };
    let placed = row(&placed);
    assert_eq!(venue.posted("order").len(), 1);
    let oid = venue.book().orders[0].oid;
    venue.book().execute(oid, size("0.01"), "open");
    until_state(&engine, &placed, OrdState::Partial).await;
    venue.book().execute(oid, size("0.02"), "filled");
    let done = until(&engine, &placed, "filled and booked", |row| {
        row.state == OrdState::Filled && !row.fills_owed()
    })
    .await;
    assert_eq!(done.booked_qty.to_string(), "0.03");
    assert_eq!(engine.fills(done.id).await.expect("fills").len(), 2);
    assert!(engine.halts().is_empty());
}

/// The answer is lost in each way that leaves the order live: it is found, and nothing else is signed.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_leaves_one_order() {
    let cut = Reply::Raw(200, "{\"status\":\"ok\",\"resp");
    for then in [
        Reply::Reset,
        Reply::Raw(502, "<html>"),
        Reply::Raw(429, "null"),
        cut,
    ] {
        let (venue, store) = (Venue::start().await, store());
        venue.faulty([Fault::TakenThen(then.clone())]);
        let engine = engine(&venue, &store).await;
        let placed = row(&engine.place(intent(0)).await.expect("placed"));
        until_state(&engine, &placed, OrdState::Acked).await;
        assert_eq!(venue.placed(), 1, "{then:?}");
        let bodies: HashSet<String> = venue
            .posted("order")
            .into_iter()
            .map(|(_, body)| body)
            .collect();
        assert_eq!(bodies.len(), 1, "one signature, whatever was sent again");
        assert!(engine.halts().is_empty());
    }
}

/// The request is lost: its very bytes are sent again, and the first of them that arrives is the order.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_lost_is_replayed_byte_for_byte() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty([Fault::Lost(Reply::Reset), Fault::Lost(Reply::Raw(503, ""))]);
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    until_state(&engine, &placed, OrdState::Acked).await;
    let posted = venue.posted("order");
    assert!(posted.len() >= 3, "{}", posted.len());
    assert!(posted.iter().all(|each| *each == posted[0]));
    assert_eq!(venue.placed(), 1);
    assert!(venue.posted("noop").is_empty());
}

/// Past the fence no byte of the first attempt goes out again: a noop with its nonce makes it unlandable, and only then another is signed.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_attempt_follows_the_noop_that_revoked_the_first() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty((0..50).map(|_| Fault::Lost(Reply::Reset)));
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    until(&engine, &placed, "revoked", |row| {
        row.attempts[0].revocation == RevocationState::Revoked
    })
    .await;
    venue.book().faults.clear();
    let live = until_state(&engine, &placed, OrdState::Acked).await;
    assert!(live.attempts.len() >= 2);
    assert_eq!(venue.placed(), 1);
    let (first, noops) = (venue.posted("order")[0].0, venue.posted("noop"));
    assert_eq!(
        noops[0].0, first,
        "the noop has the nonce of what it revokes"
    );
    let kinds = venue.book().posted.clone();
    let at = |part: &str| {
        kinds
            .iter()
            .position(|body| body.contains(part))
            .expect("posted")
    };
    let second = kinds.iter().position(|body| {
        body.contains("\"type\":\"order\"") && !body.contains(&format!("\"nonce\":{first}"))
    });
    assert!(at("\"type\":\"noop\"") < second.expect("a second attempt"));
}

/// The first copy waits on the way until after the noop: the venue has seen its nonce, and it never lands.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_arrives_after_its_revocation_does_not_land() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty((0..50).map(|_| Fault::Held));
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    until(&engine, &placed, "revoked", |row| {
        row.attempts[0].revocation == RevocationState::Revoked
    })
    .await;
    venue.book().faults.clear();
    until_state(&engine, &placed, OrdState::Acked).await;
    assert!(venue.held_arrive() > 0);
    assert_eq!(venue.placed(), 1);
}

/// A success that an HTTP library turns into "duplicate nonce": never refused, never placed, looked up.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_doubled_below_us_is_one_order() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty([Fault::Doubled]);
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    until_state(&engine, &placed, OrdState::Acked).await;
    assert_eq!(venue.placed(), 1);
    assert!(venue.posted("noop").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_inside_a_yes_is_a_refusal_and_final() {
    let (venue, store) = (Venue::start().await, store());
    let text = "Post only order would have immediately matched, bbo was 1@2. asset=0";
    let error = json!([{"error": text}]);
    venue.book().refuses =
        Some(json!({"status": "ok", "response": {"type": "order", "data": {"statuses": error}}}));
    let engine = engine(&venue, &store).await;
    let refused = row(&engine.place(intent(0)).await.expect("placed"));
    assert_eq!(refused.state, OrdState::Rejected);
    assert_eq!(
        refused.reason.expect("a reason").text.as_ref(),
        text,
        "as it came"
    );
    assert_eq!(refused.watch, None, "its nonce is used up");
    assert_eq!(venue.posted("order").len(), 1);
}

/// Keys are refused before the nonce is looked at, so a copy could still land: the account halts, and the row is watched.
#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_refused_halt_the_account() {
    let (venue, store) = (Venue::start().await, store());
    let text = "User or API Wallet 0x14791697260e4c9a71f18484c9f997b308e59325 does not exist.";
    let answer = Reply::Json(json!({"status": "err", "response": text}));
    venue.faulty([Fault::Lost(answer)]);
    let engine = engine(&venue, &store).await;
    let refused = row(&engine.place(intent(0)).await.expect("placed"));
    assert_eq!(refused.state, OrdState::Rejected);
    assert!(refused.watch.is_some());
    let next = engine.place(intent(1)).await.expect_err("halted");
    assert!(matches!(next, PlaceError::Halted(_)), "{next:?}");
    assert_eq!(venue.posted("order").len(), 1);
}

/// A text that is not known proves nothing: the order is looked for, its nonce is found to be used, and it ends without another.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_is_not_known_is_looked_up() {
    let (venue, store) = (Venue::start().await, store());
    let error = json!([{"error": "Something about this cloid"}]);
    venue.book().refuses =
        Some(json!({"status": "ok", "response": {"type": "order", "data": {"statuses": error}}}));
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    assert_ne!(placed.state, OrdState::Rejected);
    let ended = until_state(&engine, &placed, OrdState::Rejected).await;
    assert_eq!(ended.attempts.len(), 1, "known bytes bar another attempt");
    assert_eq!(venue.placed(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_in_doubt_revokes() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty((0..50).map(|_| Fault::Lost(Reply::Reset)));
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    engine.cancel(placed.id).await.expect("asked");
    let ended = until_state(&engine, &placed, OrdState::Canceled).await;
    assert_eq!(ended.attempts[0].revocation, RevocationState::Revoked);
    assert_eq!(ended.watch, None, "the venue's own word");
    assert_eq!(venue.placed(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_working_order_is_canceled_by_its_order_id() {
    let (venue, store) = (Venue::start().await, store());
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    engine.cancel(placed.id).await.expect("asked");
    until_state(&engine, &placed, OrdState::Canceled).await;
    assert_eq!(venue.posted("cancelByCloid").len(), 0);
    assert!(!venue.posted("cancel").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn several_are_canceled_in_one_request() {
    let (venue, store) = (Venue::start().await, store());
    let engine = engine(&venue, &store).await;
    let mut rows = Vec::new();
    for leg in 0..3 {
        rows.push(row(&engine.place(intent(leg)).await.expect("placed")));
    }
    let scope = rows[0].account_scope();
    engine.cancel_all(&scope).await.expect("asked");
    for row in &rows {
        until_state(&engine, row, OrdState::Canceled).await;
    }
    let (_, first) = venue.posted("cancel")[0].clone();
    assert_eq!(first.matches("\"o\":").count(), 3, "{first}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_fills_in_part_and_does_not_rest_is_filled_with_what_it_got() {
    let (venue, store) = (Venue::start().await, store());
    venue.book().executes = Some(size("0.02"));
    let engine = engine(&venue, &store).await;
    let ioc = OrderIntent {
        time_in_force: TimeInForce::Ioc,
        ..intent(0)
    };
    let placed = row(&engine.place(ioc).await.expect("placed"));
    let done = until(&engine, &placed, "booked", |row| !row.fills_owed()).await;
    assert_eq!(done.state, OrdState::Filled);
    assert_eq!(done.cum_qty.to_string(), "0.02");
    assert_eq!(done.booked_qty.to_string(), "0.02");
    assert!(engine.halts().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_fills_in_part_and_rests_is_not_filled() {
    let (venue, store) = (Venue::start().await, store());
    venue.book().executes = Some(size("0.02"));
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    assert_eq!(placed.state, OrdState::Partial);
}

/// A lookup by client order id shows the newest order only: a second one is found by counting.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_order_under_the_same_id_halts() {
    let (venue, store) = (Venue::start().await, store());
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    let oid = venue.book().orders[0].oid;
    venue.book().double(oid);
    for _ in 0..6_000 {
        if !engine.halts().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let halts = engine.halts();
    let second =
        |halt: &surefill_core::Halt| halt.cause == HaltCause::SecondOrder { id: placed.id };
    assert!(halts.iter().any(second), "{halts:?}");
}

/// A process dies with its request on the way: the next one sends the stored bytes, and signs nothing anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_replays_what_the_journal_holds() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty([Fault::Lost(Reply::Reset)]);
    let first = engine(&venue, &store).await;
    venue.book().blind = HashSet::from(["openOrders"]);
    let placed = first.place(intent(0)).await;
    drop(placed);
    drop(first);
    venue.book().blind.clear();
    let (_, body) = venue.posted("order")[0].clone();
    let second = engine(&venue, &Arc::new(store.crash())).await;
    let orders = second
        .orders(&surefill_core::OrderFilter::default())
        .await
        .expect("orders");
    until_state(&second, &orders[0], OrdState::Acked).await;
    assert!(
        venue
            .posted("order")
            .iter()
            .all(|(_, again)| *again == body)
    );
    assert_eq!(venue.placed(), 1);
}

/// Whatever is signed has a nonce of its own, above all before it: across orders, cancels and restarts.
#[tokio::test(flavor = "multi_thread")]
async fn nonces_grow_across_restarts() {
    let (venue, mut store) = (Venue::start().await, store());
    for process in 0..3 {
        let engine = engine(&venue, &store).await;
        for leg in 0..3 {
            let placed = row(&engine
                .place(intent(10 * process + leg))
                .await
                .expect("placed"));
            engine.cancel(placed.id).await.expect("asked");
            until_state(&engine, &placed, OrdState::Canceled).await;
        }
        // Whatever of the old process still runs finds its journal gone.
        store = Arc::new(store.crash());
        drop(engine);
    }
    let mut last = 0;
    for body in venue.book().posted.clone() {
        let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        let nonce = body["nonce"].as_u64().expect("a nonce");
        assert!(nonce > last, "{nonce} after {last}");
        last = nonce;
    }
}

/// Without a further attempt the end comes by the venue's word, and what was never there is not watched.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_may_not_be_sent_again_ends_by_the_noop() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty([Fault::Lost(Reply::Reset)]);
    let engine = engine(&venue, &store).await;
    let placed = row(&engine.place(once(0)).await.expect("placed"));
    let ended = until_state(&engine, &placed, OrdState::Rejected).await;
    assert_eq!(ended.attempts[0].revocation, RevocationState::Revoked);
    assert_eq!(ended.watch, None::<Watch>);
    assert_eq!(venue.posted("order").len(), 1);
}

/// A sell of the same decision is another order: sides are compared, and so are the terms that lists show.
#[tokio::test(flavor = "multi_thread")]
async fn two_orders_of_one_account_do_not_mix() {
    let (venue, store) = (Venue::start().await, store());
    let engine = engine(&venue, &store).await;
    let buy = row(&engine.place(intent(0)).await.expect("placed"));
    let sell = OrderIntent {
        side: Side::Sell,
        ..intent(1)
    };
    let sell = row(&engine.place(sell).await.expect("placed"));
    let oid = venue.book().orders[1].oid;
    venue.book().execute(oid, size("0.03"), "filled");
    until(&engine, &sell, "booked", |row| {
        row.state == OrdState::Filled && !row.fills_owed()
    })
    .await;
    let buy = until_state(&engine, &buy, OrdState::Acked).await;
    assert!(buy.cum_qty.is_zero());
    assert!(engine.halts().is_empty());
}

/// Leverage is set once, before the first order; without the venue's yes no order leaves.
#[tokio::test(flavor = "multi_thread")]
async fn leverage_is_set_before_the_first_order() {
    let (venue, store) = (Venue::start().await, store());
    let levered = config(&venue).with_leverage("BTC", Leverage::Cross(5));
    let engine = engine_with(levered, &store).await;
    let text = "Cannot switch leverage type with open position.";
    venue.book().refuses = Some(json!({"status": "err", "response": text}));
    let refused = engine.place(intent(0)).await.expect_err("refused");
    let PlaceError::Venue { error, .. } = refused else {
        panic!("{refused:?}");
    };
    assert!(error.to_string().contains(text), "{error}");
    assert!(venue.posted("order").is_empty());
    // An exit does not wait for a setting: closing the position may be what ends its refusal.
    let exit = OrderIntent {
        side: Side::Sell,
        reduce_only: true,
        ..intent(7)
    };
    drop(engine.place(exit).await.expect("placed"));
    let exits = venue.posted("order").len();
    assert_eq!(exits, 1);
    assert_eq!(venue.posted("updateLeverage").len(), 1);
    for leg in 1..3 {
        let placed = row(&engine.place(intent(leg)).await.expect("placed"));
        assert_eq!(placed.state, OrdState::Acked);
    }
    let set = venue.posted("updateLeverage");
    assert_eq!(
        set.len(),
        2,
        "the one that was refused, and the one that was taken"
    );
    let action = "{\"type\":\"updateLeverage\",\"asset\":0,\"isCross\":true,\"leverage\":5}";
    assert!(set[1].1.contains(action), "{}", set[1].1);
    assert!(set[1].0 < venue.posted("order")[1].0, "before the order");
}

/// What the venue remembers of a signer that was replaced may be gone: its bytes are neither sent nor revoked, and time decides.
#[tokio::test(flavor = "multi_thread")]
async fn bytes_of_another_signer_are_left_alone() {
    let (venue, store) = (Venue::start().await, store());
    venue.faulty((0..50).map(|_| Fault::Lost(Reply::Reset)));
    let account = keys().signer().to_string();
    let placed = {
        let engine = engine(&venue, &store).await;
        row(&engine.place(intent(0)).await.expect("placed"))
    };
    let other = Keys::new(&format!("0x{}", "2b".repeat(32))).expect("a key");
    let role = json!({"role": "agent", "data": {"user": account}});
    venue.book().roles.insert(other.signer(), role);
    let config = Hyperliquid::simulator(&venue.url, other)
        .with_timing(TIMING)
        .without_stream();
    let next = Arc::new(store.crash());
    let (first, sent) = (
        venue.posted("order")[0].1.clone(),
        venue.posted("order").len(),
    );
    let engine = engine_with(config, &next).await;
    let ended = until_state(&engine, &placed, OrdState::Rejected).await;
    assert_eq!(ended.account, placed.account);
    assert!(
        ended.watch.is_some(),
        "the end rests on numbers that are assumed"
    );
    assert!(venue.posted("noop").is_empty());
    let by_other = |(_, body): &(u64, String)| *body != first;
    assert!(
        !venue.posted("order").iter().any(by_other),
        "nothing is signed anew"
    );
    // The old process may have had one on its way when its journal was taken.
    assert!(
        venue.posted("order").len() <= sent + 1,
        "and nothing is sent again"
    );
    assert_eq!(venue.placed(), 0);
}

/// Traded for a sub-account: it is named and signed in each order, its lists are read, and the noop is the signer's own.
#[tokio::test(flavor = "multi_thread")]
async fn a_sub_account_is_traded_for() {
    let (venue, store) = (Venue::start().await, store());
    let vault = format!("0x{}", "ab".repeat(20));
    let role = json!({"role": "subAccount", "data": {"master": keys().signer().to_string()}});
    let address = vault.parse().expect("an address");
    venue.book().roles.insert(address, role);
    let config = Hyperliquid::simulator(&venue.url, keys().for_vault(&vault).expect("an address"))
        .with_timing(TIMING)
        .without_stream();
    let engine = engine_with(config, &store).await;
    let placed = row(&engine.place(intent(0)).await.expect("placed"));
    assert_eq!(
        placed.state,
        OrdState::Acked,
        "the signature holds with the vault in it"
    );
    assert_eq!(
        placed.account.as_str(),
        format!("hyperliquid:simulator:{vault}")
    );
    let (_, body) = venue.posted("order")[0].clone();
    assert!(
        body.contains(&format!("\"vaultAddress\":\"{vault}\"")),
        "{body}"
    );
    venue.faulty([Fault::Lost(Reply::Reset)]);
    let lost = row(&engine.place(once(1)).await.expect("placed"));
    until_state(&engine, &lost, OrdState::Rejected).await;
    let (_, noop) = venue.posted("noop")[0].clone();
    assert!(noop.contains("\"vaultAddress\":null"), "{noop}");
}

/// The yes to a noop is lost, and the next one says that the nonce is used: by the order or by our own noop, which nobody can tell. Nothing is
/// signed anew on that; time and two rounds end it, and it is watched.
#[tokio::test(flavor = "multi_thread")]
async fn a_noop_whose_yes_is_lost_ends_the_order_and_signs_nothing_anew() {
    for resubmit in [Resubmit::AfterProof, Resubmit::AfterAbsence] {
        let (venue, store) = (Venue::start().await, store());
        venue.faulty((0..50).map(|_| Fault::Lost(Reply::Reset)));
        venue.book().noop_faults = VecDeque::from([Fault::TakenThen(Reply::Reset)]);
        let engine = engine(&venue, &store).await;
        let lost = OrderIntent {
            resubmit,
            ..intent(0)
        };
        let placed = row(&engine.place(lost).await.expect("placed"));
        let ended = until_state(&engine, &placed, OrdState::Rejected).await;
        assert!(
            matches!(ended.attempts[0].revocation, RevocationState::Used(_)),
            "{:?}",
            ended.attempts[0].revocation
        );
        assert_eq!(ended.attempts.len(), 1, "{resubmit:?}");
        assert!(ended.watch.is_some(), "the drain is assumed");
        let noops = venue.posted("noop");
        assert_eq!(noops.len(), 2);
        assert!(noops.iter().all(|(nonce, _)| *nonce == noops[0].0));
        assert_eq!(venue.placed(), 0);
    }
}

/// A refusal of the whole action may come before its nonce is used up: it is told at once, and the order is looked after until no copy of its
/// bytes can land.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_may_have_left_the_nonce_is_told_and_watched() {
    let limit =
        "Too many cumulative requests sent (10001 > 10000) for cumulative volume traded $1.";
    let limit = Reply::Json(json!({"status": "err", "response": limit}));
    let unread = Reply::Raw(
        422,
        "Failed to deserialize the JSON body into the target type",
    );
    for (answer, part) in [
        (limit, "Too many cumulative requests"),
        (unread, "deserialize"),
    ] {
        let (venue, store) = (Venue::start().await, store());
        venue.faulty([Fault::Lost(answer)]);
        let engine = engine(&venue, &store).await;
        let refused = row(&engine.place(intent(0)).await.expect("placed"));
        assert_eq!(refused.state, OrdState::Rejected);
        let reason = refused.reason.as_ref().expect("a reason");
        assert!(reason.text.contains(part), "{reason}");
        assert!(refused.watch.is_some(), "{part}");
        assert!(engine.halts().is_empty(), "{part}");
        let over = until(&engine, &refused, "watched", |row| row.watch.is_none()).await;
        assert_eq!(over.state, OrdState::Rejected);
        assert_eq!(venue.posted("order").len(), 1);
    }
}

/// A copy of bytes that were refused before their nonce was used lands all the same: it is canceled, and the account halts.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_lands_after_its_refusal_is_found() {
    let (venue, store) = (Venue::start().await, store());
    let limit =
        "Too many cumulative requests sent (10001 > 10000) for cumulative volume traded $1.";
    let limit = Reply::Json(json!({"status": "err", "response": limit}));
    venue.faulty([Fault::TakenThen(limit)]);
    let engine = engine(&venue, &store).await;
    let refused = row(&engine.place(intent(0)).await.expect("placed"));
    assert_eq!(refused.state, OrdState::Rejected);
    until(&engine, &refused, "found and done with", |row| {
        !row.order_ids.is_empty() && row.watch.is_none()
    })
    .await;
    assert!(!venue.book().orders[0].is_open(), "canceled");
    let surprise =
        |halt: &surefill_core::Halt| halt.cause == HaltCause::Surprise { id: refused.id };
    assert!(engine.halts().iter().any(surprise), "{:?}", engine.halts());
}

/// An address over its limit is taken one request in ten seconds: entries are refused here meanwhile, and exits are tried.
#[tokio::test(flavor = "multi_thread")]
async fn an_address_over_its_limit_sends_no_entries_for_a_while() {
    let (venue, store) = (Venue::start().await, store());
    let limit =
        "Too many cumulative requests sent (10001 > 10000) for cumulative volume traded $1.";
    let limit = Reply::Json(json!({"status": "err", "response": limit}));
    venue.faulty([Fault::Lost(limit)]);
    let engine = engine(&venue, &store).await;
    let refused = row(&engine.place(intent(0)).await.expect("placed"));
    assert_eq!(refused.state, OrdState::Rejected);
    let held = engine.place(intent(1)).await.expect_err("held back");
    let PlaceError::Venue { error, .. } = held else {
        panic!("{held:?}");
    };
    assert!(error.to_string().contains("over its limit"), "{error}");
    assert_eq!(venue.posted("order").len(), 1, "nothing is sent");
    let exit = OrderIntent {
        reduce_only: true,
        ..intent(2)
    };
    let exit = row(&engine.place(exit).await.expect("placed"));
    assert_eq!(exit.state, OrdState::Acked);
    let mut entries = 0;
    for leg in 3..1_000 {
        if let Ok(placed) = engine.place(intent(leg)).await {
            assert_eq!(row(&placed).state, OrdState::Acked);
            entries += 1;
            break;
        }
    }
    assert_eq!(entries, 1, "the address may send again");
}

/// What is kept of the assets is asked for again when the venue refuses what fits it.
#[tokio::test(flavor = "multi_thread")]
async fn assets_are_read_again_when_the_venue_refuses_what_fits_them() {
    let (venue, store) = (Venue::start().await, store());
    let engine = engine(&venue, &store).await;
    drop(engine.place(intent(0)).await.expect("placed"));
    let reads = |venue: &Venue| venue.book().reads["meta"];
    let before = reads(&venue);
    let status = |text: &str| json!({"status": "ok", "response": {"type": "order", "data": {"statuses": [{"error": text}]}}});
    venue.book().refuses = Some(status("Insufficient margin to place order. asset=0"));
    drop(engine.place(intent(1)).await.expect("placed"));
    drop(engine.place(intent(2)).await.expect("placed"));
    assert_eq!(reads(&venue), before, "this says nothing of the asset");
    venue.book().refuses = Some(status("Price must be divisible by tick size. asset=0"));
    drop(engine.place(intent(3)).await.expect("placed"));
    let placed = row(&engine.place(intent(4)).await.expect("placed"));
    assert_eq!((placed.state, reads(&venue)), (OrdState::Acked, before + 1));
}

/// Orders close together share a block of nonces, so each waits for one sync. One that comes after a second alone waits for two today: the
/// block of nonces is reserved first, and then the intent is committed.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_waits_for_one_sync_and_a_lone_one_for_two() {
    let (venue, store) = (Venue::start().await, store());
    let engine = engine(&venue, &store).await;
    // The first shows where the journal's mark is, the second reserves a block from there.
    for leg in 0..2 {
        drop(engine.place(intent(leg)).await.expect("placed"));
    }
    let mut syncs = store.syncs();
    let mut last = venue.posted("order").last().expect("posted").0;
    let mut alone = 0;
    for leg in 2..40 {
        drop(engine.place(intent(leg)).await.expect("placed"));
        let nonce = venue.posted("order").last().expect("posted").0;
        let took = store.syncs() - syncs;
        assert!((1..=2).contains(&took), "{took} syncs");
        // Whether the block was used up is told by the nonces: it ends within a second of its begin.
        if took == 2 {
            alone += 1;
        } else {
            assert!(nonce - last <= 1_001, "{nonce} after {last}");
        }
        (syncs, last) = (store.syncs(), nonce);
        if leg % 13 == 0 {
            // Past the end, a second away at most, of any block that was reserved by now; our clock may be some milliseconds behind.
            let past = now() + 1_100;
            while now() < past {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    assert!(alone >= 2, "{alone} waited for two");
}
