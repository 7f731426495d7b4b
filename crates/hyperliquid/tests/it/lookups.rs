//! What a round of lookups proves over the wire: lists with rows that cannot be read, lists that are full, two orders under one id, and the
//! right account.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use surefill_core::{
    Alias, AsOf, AttemptState, BootTime, CancelAllOutcome, ClOrdId, Connect, Journal, Lookup,
    Nonces, OrderRecord, Rate, RevocationState, Ticket, VenueClock, VenueCtx, VenueTime,
};
use surefill_evm::Address;
use surefill_hyperliquid::{Hyperliquid, id};

use crate::book::{Order, Venue, keys};
use crate::server::{Reply, now, serve};
use crate::world::{config, intent, store};

const THEIRS: &str = "0x0000000000000000000000000000dead";

/// The adapter, with what the engine would hand it.
struct Bench {
    adapter: Arc<dyn surefill_core::Venue>,
    nonces: Arc<Nonces>,
}

impl Bench {
    fn over(config: Hyperliquid) -> Self {
        let scope = config.nonce_scope().expect("a scope");
        let nonces = Arc::new(Nonces::new(Journal::new(store()), scope));
        let ctx = VenueCtx {
            alias: Alias::from("v"),
            clock: Arc::new(VenueClock::new(Arc::new(BootTime))),
            nonces: Some(Arc::clone(&nonces)),
            rate: Arc::new(Rate::new(config.profile().rates)),
        };
        let adapter = Box::new(config).connect(ctx).expect("connected");
        Self { adapter, nonces }
    }

    /// An order whose answer was lost, in doubt past all that bounds it.
    async fn doubtful(&self, leg: u32) -> OrderRecord {
        let intent = intent(leg);
        let account = self.adapter.account().await.expect("an account");
        let facts = self.adapter.facts(&intent).await.expect("facts");
        let now = self.adapter.venue_time().await.expect("the time");
        let ticket = Ticket {
            no: 1,
            now,
            nonce: Some(self.nonces.next(now).await.expect("a nonce")),
            facts,
        };
        let id = ClOrdId::derive(&intent.decision, &account, &intent.symbol, intent.side);
        let attempt = self.adapter.prepare(&id, &intent, &ticket).expect("built");
        let mut first = AttemptState::new(&attempt, now);
        first.revocation = RevocationState::Used(AsOf::Clock(now));
        OrderRecord::new(id, account, intent, first, now)
    }
}

/// A row of a list, of an order at the venue.
fn row(oid: u64, cloid: Option<&str>, coin: &str, left: &str) -> Value {
    json!({"coin": coin, "side": "B", "limitPx": "60000.0", "sz": left, "oid": oid, "timestamp": now(), "origSz": "0.03",
        "cloid": cloid})
}

fn change(oid: u64, cloid: Option<&str>, coin: &str, left: &str) -> Value {
    json!({"order": row(oid, cloid, coin, left), "status": "open", "statusTimestamp": now()})
}

fn fill(oid: u64, cloid: Option<&str>, coin: &str, size: &str) -> Value {
    json!({"coin": coin, "px": "60000.0", "sz": size, "side": "B", "time": now(), "oid": oid, "fee": "0.1", "tid": oid,
        "cloid": cloid, "feeToken": "USDC"})
}

fn is_absent(lookup: &Lookup) -> bool {
    matches!(lookup, Lookup::Absent { .. })
}

/// Another's row of a new shape leaves the round what it is; one that may be of the order asked about proves nothing.
#[tokio::test(flavor = "multi_thread")]
async fn one_row_that_cannot_be_read_is_no_doubt_for_every_order() {
    let venue = Venue::start().await;
    let bench = Bench::over(config(&venue));
    let order = bench.doubtful(0).await;
    let (ours, other) = (id::spell(&order.id), id::spell(&bench.doubtful(1).await.id));
    assert!(is_absent(&bench.adapter.lookup(&order).await));
    for (name, cloid, coin, absent) in [
        ("ours", Some(&*ours), "BTC", false),
        ("another of ours", Some(&*other), "BTC", true),
        ("another's", Some(THEIRS), "BTC", true),
        ("nobody's", None, "BTC", false),
        ("nobody's, of another coin", None, "@107", true),
        ("nobody's, of a dex", None, "xyz:BTC", true),
    ] {
        for (list, unread) in [
            ("openOrders", row(5, cloid, coin, "much")),
            ("historicalOrders", change(5, cloid, coin, "much")),
            ("userFillsByTime", fill(5, cloid, coin, "much")),
        ] {
            venue.book().also = HashMap::from([(list, vec![unread])]);
            let lookup = bench.adapter.lookup(&order).await;
            assert_eq!(is_absent(&lookup), absent, "{name} in {list}: {lookup:?}");
            assert!(!matches!(lookup, Lookup::Found(_)), "{name} in {list}");
        }
    }
    // What is found is found, whatever else cannot be read.
    venue.book().also = HashMap::from([
        (
            "openOrders",
            vec![row(5, Some(&ours), "BTC", "0.03"), json!(null)],
        ),
        ("historicalOrders", vec![change(6, None, "BTC", "much")]),
    ]);
    let lookup = bench.adapter.lookup(&order).await;
    assert!(
        matches!(&lookup, Lookup::Found(reports) if reports.len() == 1),
        "{lookup:?}"
    );
}

/// Lists that only find pass over what is certainly not ours; fills are booked, so they do not.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_over_the_account_finds_in_spite_of_anothers_row() {
    let venue = Venue::start().await;
    let bench = Bench::over(config(&venue));
    let ours = id::spell(&bench.doubtful(0).await.id);
    let since = VenueTime::from_ms(now() - 1_000);
    for (cloid, finds, books) in [
        (Some(THEIRS), true, true),
        (None, true, false),
        (Some(&*ours), false, false),
    ] {
        venue.book().also = HashMap::from([
            (
                "openOrders",
                vec![row(5, cloid, "BTC", "much"), row(6, None, "BTC", "0.03")],
            ),
            ("historicalOrders", vec![change(5, cloid, "BTC", "much")]),
            ("userFillsByTime", vec![fill(5, cloid, "BTC", "much")]),
        ]);
        let open = bench.adapter.open_orders(None).await;
        assert_eq!(
            open.map(|open| open.rows.len()).ok(),
            finds.then_some(1),
            "{cloid:?}"
        );
        let closed = bench.adapter.closed_since(None, since).await;
        assert_eq!(closed.is_ok(), finds, "{cloid:?}");
        let fills = bench.adapter.fills_since(None, since).await;
        assert_eq!(fills.is_ok(), books, "{cloid:?}");
    }
}

/// A row that cannot be read is one of the 2000 all the same: without it a full list would look as if it reached back.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_list_that_does_not_reach_back_proves_nothing() {
    let venue = Venue::start().await;
    let bench = Bench::over(config(&venue));
    let order = bench.doubtful(0).await;
    for (rows, absent) in [(1_998, true), (1_999, false)] {
        let mut all: Vec<Value> = (0..rows)
            .map(|oid| change(oid, Some(THEIRS), "BTC", "0.03"))
            .collect();
        all.push(change(9_000, Some(THEIRS), "BTC", "much"));
        venue.book().also = HashMap::from([("historicalOrders", all)]);
        let lookup = bench.adapter.lookup(&order).await;
        assert_eq!(is_absent(&lookup), absent, "{rows}: {lookup:?}");
    }
    // One that is older than the order is where the list reaches back to.
    let old =
        venue.book().also.get_mut("historicalOrders").expect("rows")[0]["statusTimestamp"].take();
    let old = json!(old.as_u64().expect("a time") - 3_600_000);
    venue.book().also.get_mut("historicalOrders").expect("rows")[0]["statusTimestamp"] = old;
    let lookup = bench.adapter.lookup(&order).await;
    assert!(is_absent(&lookup), "{lookup:?}");
}

/// A venue that always has another page, and one whose answer never ends: no proof, after a bounded number of reads.
#[tokio::test(flavor = "multi_thread")]
async fn answers_without_an_end_prove_nothing() {
    let venue = Venue::start().await;
    let bench = Bench::over(config(&venue));
    let order = bench.doubtful(0).await;
    let full = (0..2_000).map(|oid| fill(oid, Some(THEIRS), "BTC", "0.01"));
    venue.book().also = HashMap::from([("userFillsByTime", full.collect())]);
    let lookup = bench.adapter.lookup(&order).await;
    assert!(matches!(lookup, Lookup::Inconclusive(_)), "{lookup:?}");
    let reads = venue.book().reads["userFillsByTime"];
    assert!(reads < 40, "{reads} reads");
    let long: &'static str = Box::leak(" ".repeat(100 << 20).into_boxed_str());
    let url = serve(move |_, body| {
        if body.contains("openOrders") {
            return Reply::Raw(200, long);
        }
        Reply::Json(match body {
            body if body.contains("exchangeStatus") => json!({"time": now()}),
            body if body.contains("userRole") => json!({"role": "user"}),
            body if body.contains("spotMeta") => crate::book::spot_meta(),
            _ => crate::book::meta(),
        })
    })
    .await;
    let bench = Bench::over(Hyperliquid::simulator(&url, keys()).without_stream());
    let order = bench.doubtful(0).await;
    let lookup = bench.adapter.lookup(&order).await;
    let Lookup::Inconclusive(why) = lookup else {
        panic!("{lookup:?}")
    };
    assert!(why.to_string().contains("longer than"), "{why}");
}

/// A lookup by client order id shows the newest order under it only. One that the row knows nothing of is counted by the lists, whether the
/// order may still land, is in doubt, or is known by the newest.
#[tokio::test(flavor = "multi_thread")]
async fn an_older_order_does_not_hide_behind_the_newest() {
    let venue = Venue::start().await;
    let bench = Bench::over(config(&venue));
    let in_doubt = bench.doubtful(0).await;
    let cloid = id::spell(&in_doubt.id);
    venue.book().orders = vec![
        Order::of(keys().signer(), 71, &cloid),
        Order::of(keys().signer(), 72, &cloid),
    ];
    let mut may_land = in_doubt.clone();
    may_land.attempts[0].revocation = RevocationState::None;
    for (name, order) in [("in doubt", &in_doubt), ("may land", &may_land)] {
        let lookup = bench.adapter.lookup(order).await;
        let Lookup::Found(reports) = lookup else {
            panic!("{name}: {lookup:?}")
        };
        let mut ids: Vec<String> = reports
            .iter()
            .filter_map(|report| report.handle.order_id.as_ref().map(ToString::to_string))
            .collect();
        ids.sort();
        assert_eq!(ids, ["71", "72"], "{name}");
    }
}

/// Lists of an agent's own address are empty, and must never be taken for absence: what is asked for is the account's.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_looks_at_the_lists_of_its_account() {
    let venue = Venue::start().await;
    let (agent, master) = (keys().signer(), Address::from_bytes([7; 20]));
    let role = json!({"role": "agent", "data": {"user": master.to_string()}});
    venue.book().roles = HashMap::from([(agent, role)]);
    let vault = format!("0x{}", "ab".repeat(20));
    let of_master = json!({"role": "subAccount", "data": {"master": master.to_string()}});
    let sub: Address = vault.parse().expect("an address");
    venue.book().roles.insert(sub, of_master);
    let for_vault = Hyperliquid::simulator(&venue.url, keys().for_vault(&vault).expect("keys"))
        .without_stream();
    for (config, user) in [(config(&venue), master), (for_vault, sub)] {
        let bench = Bench::over(config);
        let order = bench.doubtful(0).await;
        assert!(order.account.as_str().ends_with(&user.to_string()));
        assert!(is_absent(&bench.adapter.lookup(&order).await));
        for (whose, found) in [(agent, false), (user, true)] {
            let cloid = id::spell(&order.id);
            venue.book().orders = vec![Order::of(whose, 71, &cloid)];
            let lookup = bench.adapter.lookup(&order).await;
            assert_eq!(
                matches!(lookup, Lookup::Found(_)),
                found,
                "{whose}: {lookup:?}"
            );
        }
        venue.book().orders.clear();
    }
}

/// What cannot be canceled keeps nothing else from it, is said, and one request holds no more than is known to be taken.
#[tokio::test(flavor = "multi_thread")]
async fn everything_is_canceled_but_what_cannot_be() {
    let venue = Venue::start().await;
    let bench = Bench::over(config(&venue));
    bench.adapter.account().await.expect("an account");
    let user = keys().signer();
    venue.book().orders = (0..45).map(|oid| Order::of(user, oid, THEIRS)).collect();
    let all = bench.adapter.cancel_all(None).await;
    assert!(
        matches!(&all, Ok(CancelAllOutcome::Taken(taken)) if taken.len() == 45),
        "{all:?}"
    );
    assert_eq!(venue.posted("cancel").len(), 3);
    // A row without a price has all that a cancel needs; one of a coin that nobody lists does not.
    venue.book().orders = (50..52).map(|oid| Order::of(user, oid, THEIRS)).collect();
    let also = vec![
        row(51, None, "BTC", "much"),
        row(53, None, "NOCOIN", "0.03"),
    ];
    venue.book().also = HashMap::from([("openOrders", also)]);
    let all = bench.adapter.cancel_all(None).await;
    assert!(matches!(&all, Ok(CancelAllOutcome::Unknown(_))), "{all:?}");
    let open = venue
        .book()
        .orders
        .iter()
        .filter(|order| order.is_open())
        .count();
    assert_eq!(open, 0, "the others are canceled");
}
