//! What lists and lookups say, row by row, and what a round of them proves.

use serde_json::{Value, json};
use surefill_core::{AsOf, ExecReport, Key, Lookup, OrdStatus, VenueTime};
use surefill_hyperliquid::coins::{self, Universe};
use surefill_hyperliquid::list::About;
use surefill_hyperliquid::number::Market;
use surefill_hyperliquid::outcome::Sent;
use surefill_hyperliquid::rows::{self, FillRow, OrderRow};
use surefill_transport::{Answer, SendFailure};

use crate::book::{meta, spot_meta};

const CLOID: &str = "0x5f015ede6b0095cb3688a42a28b7ec72";

fn answered(body: &Value) -> Sent {
    raw(200, &body.to_string())
}

fn raw(status: u16, body: &str) -> Sent {
    Ok(Answer::new(status, [("content-type", "x")], body))
}

fn row(oid: u64, cloid: Option<&str>, left: &str) -> Value {
    json!({"coin": "BTC", "side": "B", "limitPx": "60000.0", "sz": left, "oid": oid, "timestamp": 1_000,
        "triggerCondition": "N/A", "isTrigger": false, "triggerPx": "0.0", "children": [], "isPositionTpsl": false,
        "reduceOnly": false, "orderType": "Limit", "origSz": "0.03", "tif": "Gtc", "cloid": cloid})
}

fn change(oid: u64, cloid: Option<&str>, left: &str, status: &str, at: u64) -> Value {
    json!({"order": row(oid, cloid, left), "status": status, "statusTimestamp": at})
}

fn fill(oid: u64, cloid: Option<&str>, size: &str, tid: u64) -> Value {
    json!({"coin": "BTC", "px": "60000.0", "sz": size, "side": "B", "time": 1_500, "startPosition": "0.0",
        "dir": "Open Long", "closedPnl": "0.0", "hash": "0x0", "oid": oid, "crossed": true, "fee": "-0.01",
        "tid": tid, "cloid": cloid, "feeToken": "USDC", "twapId": null})
}

fn history(rows: &[Value]) -> Vec<OrderRow> {
    rows::history(&answered(&json!(rows))).expect("rows").rows
}

fn fills(rows: &[Value]) -> Vec<FillRow> {
    rows::fills(&answered(&json!(rows))).expect("rows").rows
}

fn round(rows: &[OrderRow], fills: Vec<FillRow>) -> Lookup {
    let at = |ms| AsOf::Clock(VenueTime::from_ms(ms));
    rows::lookup(&Key::from(CLOID), rows, fills, at(5), at(9))
}

fn found(lookup: Lookup) -> Vec<ExecReport> {
    match lookup {
        Lookup::Found(reports) => reports,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_order_that_is_not_known_is_no_error_and_no_proof() {
    let unknown = rows::order_status(&answered(&json!({"status": "unknownOid"})));
    assert_eq!(unknown, Ok(None));
    for sent in [
        answered(&json!({"status": "new"})),
        answered(&json!({"status": "order"})),
        answered(&json!(null)),
        raw(500, "null"),
        raw(429, "null"),
        raw(200, "{\"status\":\"unkn"),
        Err(SendFailure::Unknown(surefill_core::UnknownCause::new(
            "reset",
        ))),
    ] {
        rows::order_status(&sent).expect_err("no information");
        rows::history(&sent).expect_err("no information");
        rows::open_orders(&sent).expect_err("no information");
        rows::fills(&sent).expect_err("no information");
    }
}

#[test]
fn an_order_comes_with_what_was_executed_and_why_it_ended() {
    for (status, left, expected, executed, reason) in [
        ("open", "0.02", OrdStatus::Open, "0.01", None),
        ("triggered", "0.03", OrdStatus::Open, "0.00", None),
        ("filled", "0.0", OrdStatus::Filled, "0.03", None),
        // An order that does not rest ends as filled with what it got.
        ("filled", "0.01", OrdStatus::Filled, "0.02", None),
        (
            "canceled",
            "0.01",
            OrdStatus::Canceled,
            "0.02",
            Some("canceled"),
        ),
        (
            "selfTradeCanceled",
            "0.03",
            OrdStatus::Canceled,
            "0.00",
            Some("selfTradeCanceled"),
        ),
        (
            "scheduledCancel",
            "0.03",
            OrdStatus::Canceled,
            "0.00",
            Some("scheduledCancel"),
        ),
        (
            "iocCancelRejected",
            "0.03",
            OrdStatus::Rejected,
            "0",
            Some("iocCancelRejected"),
        ),
        (
            "badAloPxRejected",
            "0.0",
            OrdStatus::Rejected,
            "0",
            Some("badAloPxRejected"),
        ),
    ] {
        let body = json!({"status": "order", "order": change(7, Some(CLOID), left, status, 2_000)});
        let row = rows::order_status(&answered(&body))
            .expect("read")
            .expect("an order");
        let report = row.report().expect("known");
        assert_eq!(report.status, expected, "{status}");
        assert_eq!(
            report.cum_qty.expect("a size").to_string(),
            executed,
            "{status}"
        );
        assert_eq!(
            report.reason.as_ref().map(|reason| &*reason.code),
            reason,
            "{status}"
        );
        assert_eq!(report.transact_time, Some(VenueTime::from_ms(2_000)));
    }
}

#[test]
fn a_status_that_is_not_known_proves_nothing() {
    let rows = history(&[change(7, Some(CLOID), "0.03", "brandNewCanceled", 1)]);
    assert!(matches!(round(&rows, Vec::new()), Lookup::Inconclusive(_)));
    rows::told(&rows[0]).expect_err("a stream has to be read on by looking");
    // A list over the account finds the others.
    let both = history(&[
        change(7, Some(CLOID), "0.03", "brandNewCanceled", 1),
        change(8, Some(CLOID), "0.03", "open", 1),
    ]);
    assert_eq!(rows::reports(&both).len(), 1);
    let foreign = history(&[change(7, Some("0x01"), "0.03", "brandNewCanceled", 1)]);
    assert_eq!(rows::told(&foreign[0]), Ok(None));
}

/// What hides in a row that cannot be read, by what can be told of it: a list that finds, one that is booked, one that is asked about one
/// order.
#[test]
fn a_row_that_cannot_be_read_matters_where_it_may_be_ours() {
    const OTHER: &str = "0x5f010000000000000000000000000001";
    const THEIRS: &str = "0x0000000000000000000000000000dead";
    let broken = |cloid: Value, coin: &str, at: u64| {
        let mut row = row(7, None, "much");
        row["cloid"] = cloid;
        row["coin"] = json!(coin);
        row["timestamp"] = json!(at);
        row
    };
    let mut short = broken(json!(THEIRS), "BTC", 1_000);
    short.as_object_mut().expect("a row").remove("limitPx");
    let mut known = broken(json!(null), "BTC", 1_000);
    known["oid"] = json!(77);
    // The row; whether what is left of the list finds, is booked, and whether it proves that ours is not in it (none: it is ours).
    let cases = [
        (
            "ours",
            broken(json!(CLOID), "BTC", 1_000),
            false,
            false,
            None,
        ),
        (
            "ours, louder",
            broken(json!(CLOID.to_uppercase().replace('X', "x")), "BTC", 1_000),
            false,
            false,
            None,
        ),
        ("ours by its order id", known, true, false, None),
        (
            "another of ours",
            broken(json!(OTHER), "BTC", 1_000),
            false,
            false,
            Some(true),
        ),
        (
            "another's",
            broken(json!(THEIRS), "BTC", 1_000),
            true,
            true,
            Some(true),
        ),
        ("another's, and short", short, true, true, Some(true)),
        (
            "nobody's",
            broken(json!(null), "BTC", 1_000),
            true,
            false,
            Some(false),
        ),
        (
            "nobody's elsewhere",
            broken(json!(null), "ETH", 1_000),
            true,
            false,
            Some(true),
        ),
        (
            "nobody's before",
            broken(json!(null), "BTC", 899),
            true,
            false,
            Some(true),
        ),
        (
            "with a number",
            broken(json!(7), "BTC", 1_000),
            false,
            false,
            Some(false),
        ),
        (
            "with half an id",
            broken(json!("0x5f01"), "BTC", 1_000),
            false,
            false,
            Some(false),
        ),
        (
            "with half an id elsewhere",
            broken(json!("0x5f01"), "ETH", 1_000),
            false,
            false,
            Some(true),
        ),
        ("no row at all", json!(null), false, false, Some(false)),
        ("a number", json!(7), false, false, Some(false)),
    ];
    let key = Key::from(CLOID);
    let order_ids = ["77".into()];
    let about = About {
        key: &key,
        order_ids: &order_ids,
        symbol: &"BTC".into(),
        since: VenueTime::from_ms(900),
    };
    for (name, unread, finds, booked, proves) in cases {
        let whole = json!([unread, row(8, Some(CLOID), "0.03")]);
        let list = rows::open_orders(&answered(&whole)).expect("a list");
        assert_eq!((list.rows.len(), list.len()), (1, 2), "{name}");
        assert_eq!(list.clone().found().is_ok(), finds, "{name}");
        assert_eq!(list.clone().booked().is_ok(), booked, "{name}");
        let of_ours = list.about(&about).ok();
        assert_eq!(of_ours.map(|(_, doubt)| doubt.is_none()), proves, "{name}");
        // The same in a list whose rows hold the order.
        let whole = json!([{"order": unread, "status": "open", "statusTimestamp": 1_000}]);
        let list = rows::history(&answered(&whole)).expect("a list");
        let of_ours = list.about(&about).ok();
        assert_eq!(
            of_ours.map(|(_, doubt)| doubt.is_none()),
            proves,
            "{name}, changed"
        );
    }
    rows::open_orders(&answered(&json!({"rows": []}))).expect_err("no list");
}

/// Several rows of one order are one report: an end is never overruled, and what was executed never shrinks.
#[test]
fn rows_of_one_order_are_one_report() {
    let rows = history(&[
        change(7, Some(CLOID), "0.0", "filled", 3_000),
        change(7, Some(CLOID), "0.01", "open", 4_000),
        change(7, Some(CLOID), "0.03", "open", 1_000),
    ]);
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let shuffled: Vec<OrderRow> = order.iter().map(|at| rows[*at].clone()).collect();
        let reports = found(round(&shuffled, Vec::new()));
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].status, OrdStatus::Filled);
        assert_eq!(reports[0].cum_qty.expect("a size").to_string(), "0.03");
    }
}

#[test]
fn distinct_orders_under_one_id_are_counted_over_lists_and_fills() {
    let rows = history(&[
        change(8, Some(CLOID), "0.03", "open", 2_000),
        change(7, Some(CLOID), "0.03", "canceled", 1_000),
    ]);
    assert_eq!(found(round(&rows, Vec::new())).len(), 2);
    let hidden = fills(&[fill(9, Some(CLOID), "0.01", 1)]);
    let reports = found(round(&rows[..1], hidden));
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[1].status, OrdStatus::NotShown);
}

#[test]
fn fills_go_with_their_order_and_tell_more_than_its_row() {
    let rows = history(&[change(7, Some(CLOID), "0.03", "open", 2_000)]);
    let reports = found(round(
        &rows,
        fills(&[fill(7, Some(CLOID), "0.01", 1), fill(7, None, "0.01", 2)]),
    ));
    assert_eq!(reports[0].fills.len(), 2);
    assert_eq!(reports[0].cum_qty.expect("a size").to_string(), "0.02");
    assert_eq!(reports[0].fills[0].fee.to_string(), "-0.01");
    let foreign = fills(&[fill(99, None, "0.01", 1)]);
    assert!(matches!(round(&rows, foreign), Lookup::Inconclusive(_)));
}

#[test]
fn lists_without_the_order_are_a_clean_miss_and_anothers_row_is_none() {
    let Lookup::Absent { begun, ended } = round(&[], Vec::new()) else {
        panic!("absent")
    };
    assert_eq!(begun, AsOf::Clock(VenueTime::from_ms(5)));
    assert_eq!(ended, AsOf::Clock(VenueTime::from_ms(9)));
    let others = history(&[change(
        7,
        Some("0x5f010000000000000000000000000001"),
        "0.03",
        "open",
        1,
    )]);
    assert!(matches!(
        round(&others, Vec::new()),
        Lookup::Inconclusive(_)
    ));
}

/// Dust has the number 0 for each of its fills, and its time tells them apart.
#[test]
fn fills_are_told_apart_by_time_and_number() {
    let mut later = fill(7, Some(CLOID), "0.01", 0);
    later["time"] = json!(1_501);
    let two = fills(&[fill(7, Some(CLOID), "0.01", 0), later]);
    assert_ne!(two[0].fill.exec_id, two[1].fill.exec_id);
}

#[test]
fn assets_are_numbered_by_their_tables() {
    let mut all = coins::perps(&answered(&meta()), None).expect("perpetuals");
    let dex = json!({"universe": [{"name": "test:ABC", "szDecimals": 1}, {"name": "test:XYZ", "szDecimals": 2}]});
    all.extend(coins::perps(&answered(&dex), Some(1)).expect("a dex"));
    all.extend(coins::pairs(&answered(&spot_meta())).expect("pairs"));
    let universe = Universe::new(all);
    let of = |coin: &str| universe.get(&coin.into()).expect("listed");
    assert_eq!((of("BTC").id, of("OLD").id, of("ETH").id), (0, 1, 2));
    assert_eq!((of("PURR/USDC").id, of("@107").id), (10_000, 10_107));
    assert_eq!((of("test:ABC").id, of("test:XYZ").id), (110_000, 110_001));
    assert_eq!(
        (of("@107").sz_decimals, of("@107").market),
        (2, Market::Spot)
    );
    assert!(
        of("test:ABC")
            .tradable()
            .expect_err("refused")
            .to_string()
            .contains("builder's dex")
    );
    let named: Vec<String> = universe
        .instruments()
        .iter()
        .map(|i| i.symbol.to_string())
        .collect();
    assert_eq!(
        named,
        ["BTC", "ETH", "PURR/USDC", "@107", "test:ABC", "test:XYZ"]
    );
    let dexes = answered(&json!([null, {"name": "test", "fullName": "Test"}, {"name": "two"}]));
    assert_eq!(
        coins::dexes(&dexes).expect("dexes"),
        [(1, "test".to_owned()), (2, "two".to_owned())]
    );
}

#[test]
fn positions_and_balances_are_told_apart() {
    let state = json!({"assetPositions": [
        {"type": "oneWay", "position": {"coin": "BTC", "szi": "-0.5"}},
        {"type": "oneWay", "position": {"coin": "ETH", "szi": "0.0"}}], "time": 1});
    let positions = coins::positions(&answered(&state)).expect("read");
    assert_eq!(positions.len(), 1);
    assert_eq!(positions[0].signed_qty.to_string(), "-0.5");
    let state = json!({"balances": [{"coin": "HYPE", "token": 150, "total": "1.5", "hold": "0.0", "entryNtl": "0.0"}]});
    let balances = coins::balances(&answered(&state)).expect("read");
    assert_eq!(balances[0].symbol.as_str(), "spot:HYPE");
}
