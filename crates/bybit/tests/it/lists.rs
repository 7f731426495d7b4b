//! Lookups and lists: what is asked, in which order, and what it proves.

use std::sync::Mutex;

use serde_json::{Value, json};
use surefill_core::{AsOf, Lookup, OrdStatus, PrepareError, Qty, Symbol, VenueError, VenueTime};

use crate::server::{Asked, NOW, Reply, Server};
use crate::world::{World, cl_ord_id, fill_row, intent, key, listing, order_row, page};

const OPEN: &str = "/v5/order/realtime";
const CLOSED: &str = "/v5/order/history";
const FILLS: &str = "/v5/execution/list";
const DAY: u64 = 24 * 60 * 60 * 1000;

/// A server that lists BTCUSDT and answers the three lists with these replies.
async fn listing_server(open: Reply, closed: Reply, fills: Reply) -> Server {
    Server::start(move |asked: &Asked| match asked.path.as_str() {
        OPEN => open.clone(),
        CLOSED => closed.clone(),
        FILLS => fills.clone(),
        _ => Reply::Ok(listing()),
    })
    .await
}

fn rows(rows: impl IntoIterator<Item = Value>) -> Reply {
    Reply::Ok(page(rows, ""))
}

async fn lookup(open: Reply, closed: Reply, fills: Reply) -> (Lookup, Vec<String>) {
    let server = listing_server(open, closed, fills).await;
    let world = World::new(&server.url);
    let (order, _) = world.order().await;
    let found = world.venue.lookup(&order).await;
    (found, server.lines().split_off(1))
}

fn qty(text: &str) -> Qty {
    text.parse().expect("a quantity")
}

#[tokio::test]
async fn three_clean_lists_in_order_prove_a_miss() {
    let (found, lines) = lookup(rows([]), rows([]), rows([])).await;
    let Lookup::Absent { begun, ended } = found else {
        panic!("{found:?}")
    };
    // The clock stands still, and is a millisecond wrong at most.
    assert_eq!(begun, AsOf::Clock(VenueTime::from_ms(NOW - 1)));
    assert_eq!(ended, AsOf::Clock(VenueTime::from_ms(NOW + 1)));
    assert_eq!(
        lines,
        [OPEN, CLOSED, FILLS].map(|path| format!("GET {path}"))
    );
}

#[tokio::test]
async fn a_lookup_asks_for_our_id_in_our_category_and_symbol() {
    let server = listing_server(rows([]), rows([]), rows([])).await;
    let world = World::new(&server.url);
    let (order, _) = world.order().await;
    assert!(matches!(
        world.venue.lookup(&order).await,
        Lookup::Absent { .. }
    ));
    let asked = server.asked();
    let by_key = format!("category=linear&symbol=BTCUSDT&orderLinkId={}", key());
    assert_eq!(asked[1].query, format!("{by_key}&limit=50"));
    assert_eq!(asked[2].query, format!("{by_key}&limit=50"));
    assert_eq!(asked[3].query, format!("{by_key}&limit=100"));
    for asked in &asked[1..] {
        // Rather behind than ahead: the clock may be a millisecond wrong.
        assert_eq!(asked.headers["x-bapi-timestamp"], (NOW - 1).to_string());
    }
}

#[tokio::test]
async fn any_failed_read_makes_a_round_inconclusive() {
    let faults = [
        Reply::Code(10_000, "Server Timeout"),
        Reply::Code(10_006, "Too many visits"),
        Reply::Code(10_003, "API key is invalid."),
        Reply::Raw(502, "<html>"),
        Reply::Raw(403, "<html>"),
        Reply::Raw(200, "{\"retCode\":0}"),
        Reply::Raw(500, "{\"retCode\":0,\"result\":{\"list\":[]}}"),
        Reply::Ok(json!({})),
        Reply::Cut,
        Reply::Reset,
    ];
    let none = || rows([]);
    for fault in faults {
        for (open, closed, fills) in [
            (fault.clone(), none(), none()),
            (none(), fault.clone(), none()),
            (none(), none(), fault.clone()),
        ] {
            let (found, _) = lookup(open, closed, fills).await;
            assert!(
                matches!(found, Lookup::Inconclusive(_)),
                "{fault:?}: {found:?}"
            );
        }
    }
}

/// Found already, but fills that could not be read are not "no fills".
#[tokio::test]
async fn a_found_order_without_its_fills_is_inconclusive() {
    let open = rows([order_row("o-1", &key(), "PartiallyFilled", "0.010")]);
    let (found, _) = lookup(open, rows([]), Reply::Raw(502, "")).await;
    assert!(matches!(found, Lookup::Inconclusive(_)), "{found:?}");
}

#[tokio::test]
async fn rows_that_say_nothing_are_inconclusive() {
    let mut no_qty = order_row("o-1", &key(), "New", "0");
    no_qty["cumExecQty"] = json!("");
    let mut exponent = order_row("o-1", &key(), "New", "0");
    exponent["qty"] = json!("3e-2");
    let mut null_price = order_row("o-1", &key(), "New", "0");
    null_price["price"] = json!(null);
    let bad = [
        order_row("o-1", &key(), "Paused", "0"),
        order_row("o-1", "sf1-another", "New", "0"),
        order_row("o-1", "", "New", "0"),
        order_row("", &key(), "New", "0"),
        no_qty,
        exponent,
        null_price,
    ];
    for row in bad {
        let (found, _) = lookup(rows([row.clone()]), rows([]), rows([])).await;
        assert!(matches!(found, Lookup::Inconclusive(_)), "{row}: {found:?}");
        let (found, _) = lookup(rows([]), rows([row.clone()]), rows([])).await;
        assert!(matches!(found, Lookup::Inconclusive(_)), "{row}: {found:?}");
    }
    let bad = [
        fill_row("o-1", "sf1-another", "e-1", "0.010"),
        fill_row("o-1", "", "e-1", "0.010"),
        fill_row("", &key(), "e-1", "0.010"),
        fill_row("o-1", &key(), "", "0.010"),
        fill_row("o-1", &key(), "e-1", "?"),
    ];
    for row in bad {
        let (found, _) = lookup(rows([]), rows([]), rows([row.clone()])).await;
        assert!(matches!(found, Lookup::Inconclusive(_)), "{row}: {found:?}");
    }
}

#[tokio::test]
async fn each_status_means_what_the_notes_say() {
    let cases = [
        ("New", OrdStatus::Open),
        ("PartiallyFilled", OrdStatus::Open),
        ("Untriggered", OrdStatus::Open),
        ("Triggered", OrdStatus::Open),
        ("Filled", OrdStatus::Filled),
        ("Cancelled", OrdStatus::Canceled),
        ("PartiallyFilledCanceled", OrdStatus::Canceled),
        ("Deactivated", OrdStatus::Canceled),
        ("Rejected", OrdStatus::Rejected),
    ];
    for (status, expected) in cases {
        let row = order_row("o-1", &key(), status, "0.010");
        let (found, _) = lookup(rows([row]), rows([]), rows([])).await;
        let Lookup::Found(reports) = found else {
            panic!("{status}: {found:?}")
        };
        assert_eq!(reports[0].status, expected, "{status}");
        assert_eq!(reports[0].cum_qty, Some(qty("0.010")));
        assert_eq!(reports[0].seen.disagreement(&intent()), None);
    }
}

#[tokio::test]
async fn an_order_comes_with_its_fills_and_a_second_order_is_a_second_report() {
    let open = rows([order_row("o-1", &key(), "PartiallyFilled", "0.020")]);
    let closed = rows([order_row("o-2", &key(), "Filled", "0.030")]);
    let mut funding = fill_row("o-1", "", "f-1", "0.030");
    funding["execType"] = json!("Funding");
    let fills = rows([
        fill_row("o-1", &key(), "e-1", "0.010"),
        fill_row("o-1", &key(), "e-2", "0.010"),
        fill_row("o-2", &key(), "e-3", "0.030"),
        fill_row("o-3", &key(), "e-4", "0.005"),
        funding,
    ]);
    let (found, _) = lookup(open, closed, fills).await;
    let Lookup::Found(reports) = found else {
        panic!("{found:?}")
    };
    let seen: Vec<_> = reports
        .iter()
        .map(|report| {
            let id = report.handle.order_id.as_ref().expect("an id").to_string();
            (id, report.status, report.cum_qty, report.fills.len())
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("o-1".into(), OrdStatus::Open, Some(qty("0.020")), 2),
            ("o-2".into(), OrdStatus::Filled, Some(qty("0.030")), 1),
            ("o-3".into(), OrdStatus::NotShown, Some(qty("0.005")), 1),
        ]
    );
}

/// The same order in both lists of one round is one report, as the newer row has it.
#[tokio::test]
async fn an_order_that_moves_between_the_lists_is_one_report() {
    let mut closed = order_row("o-1", &key(), "Filled", "0.030");
    closed["updatedTime"] = json!((NOW + 5).to_string());
    let open = rows([order_row("o-1", &key(), "New", "0")]);
    let (found, _) = lookup(open, rows([closed]), rows([])).await;
    let Lookup::Found(reports) = found else {
        panic!("{found:?}")
    };
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].status, OrdStatus::Filled);
}

/// A market order is shown with its protection price, which nobody asked for.
#[tokio::test]
async fn the_price_of_a_market_order_is_not_compared() {
    let mut row = order_row("o-1", &key(), "Filled", "0.030");
    row["orderType"] = json!("Market");
    row["price"] = json!("61204.5");
    let (found, _) = lookup(rows([row]), rows([]), rows([])).await;
    let Lookup::Found(reports) = found else {
        panic!("{found:?}")
    };
    assert_eq!(reports[0].seen.price, None);
}

#[tokio::test]
async fn a_second_attempt_refused_as_a_duplicate_is_never_the_live_order() {
    let mut refused = order_row("o-2", &key(), "Rejected", "0");
    refused["rejectReason"] = json!("EC_DuplicatedClOrdID");
    let live = order_row("o-1", &key(), "New", "0");
    let (found, _) = lookup(rows([refused.clone(), live]), rows([]), rows([])).await;
    let Lookup::Found(reports) = found else {
        panic!("{found:?}")
    };
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].handle.order_id, Some("o-1".into()));
    let (found, _) = lookup(rows([]), rows([refused.clone()]), rows([])).await;
    assert!(matches!(found, Lookup::Inconclusive(_)), "{found:?}");
    let server = listing_server(rows([]), rows([refused]), rows([])).await;
    let since = VenueTime::from_ms(NOW - 1000);
    let closed = World::new(&server.url)
        .venue
        .closed_since(None, since)
        .await
        .expect("a list");
    assert_eq!(closed.rows, []);
}

/// The cursor goes back as it came; an empty page ends the list although it carries a cursor.
#[tokio::test]
async fn all_pages_are_read_and_a_cursor_goes_back_unchanged() {
    let server = Server::start(|asked: &Asked| match asked.path.as_str() {
        FILLS => Reply::Ok(match asked.param("cursor") {
            None => page(
                [fill_row("o-1", &key(), "e-2", "0.010")],
                "9112000117%3A1%2C9%3A1",
            ),
            // Pages overlap.
            Some("9112000117%3A1%2C9%3A1") => page(
                [
                    fill_row("o-1", &key(), "e-2", "0.010"),
                    fill_row("o-1", &key(), "e-1", "0.020"),
                ],
                "last%3D",
            ),
            Some("last%3D") => page([], "last%3D"),
            Some(other) => panic!("cursor {other}"),
        }),
        OPEN => Reply::Ok(page(
            [order_row("o-1", &key(), "Filled", "0.030")],
            "same%3A1",
        )),
        CLOSED => Reply::Ok(page([], "")),
        _ => Reply::Ok(listing()),
    })
    .await;
    let world = World::new(&server.url);
    let (order, _) = world.order().await;
    let found = world.venue.lookup(&order).await;
    let Lookup::Found(reports) = found else {
        panic!("{found:?}")
    };
    assert_eq!(reports[0].fills.len(), 2);
    // The page that repeats the one row adds nothing new, and is the last.
    assert_eq!(server.count(&format!("GET {OPEN}")), 2);
    assert_eq!(server.count(&format!("GET {FILLS}")), 3);
}

/// A list whose every page is new is given up in the end.
#[tokio::test]
async fn a_list_without_end_is_an_error() {
    let count = Mutex::new(0);
    let server = Server::start(move |_: &Asked| {
        let mut count = count.lock().expect("lock");
        *count += 1;
        let mut row = listing()["list"][0].clone();
        row["symbol"] = json!(format!("S{count}USDT"));
        Reply::Ok(page([row], &format!("c{count}")))
    })
    .await;
    let config = surefill_bybit::Bybit::simulator(&server.url, crate::server::keys());
    let mut rates = surefill_core::Connect::profile(&config).rates;
    rates.lookup = std::num::NonZeroU32::new(1_000_000).expect("not zero");
    let ctx = surefill_core::VenueCtx {
        alias: "v".into(),
        clock: World::new(&server.url).clock,
        nonces: None,
        rate: std::sync::Arc::new(surefill_core::Rate::new(rates)),
    };
    let venue = surefill_core::Connect::connect(Box::new(config), ctx).expect("connected");
    let endless = venue.instruments().await;
    assert!(
        matches!(endless, Err(VenueError::Unreadable(_))),
        "{endless:?}"
    );
    assert_eq!(server.asked().len(), 1_000);
}

/// Whether an id lifts the default window is not documented: an old order is looked for around its own time, too.
#[tokio::test]
async fn an_old_order_is_looked_for_in_every_window_since() {
    let server = listing_server(rows([]), rows([]), rows([])).await;
    let young = World::new(&server.url);
    let (mut order, _) = young.order().await;
    order.created_at = VenueTime::from_ms(NOW - 20 * DAY);
    // Answers say `NOW`, so the clock does.
    assert!(matches!(
        young.venue.lookup(&order).await,
        Lookup::Absent { .. }
    ));
    for path in [CLOSED, FILLS] {
        let asked: Vec<Asked> = server
            .asked()
            .into_iter()
            .filter(|asked| asked.path == path)
            .collect();
        let spans: Vec<_> = asked
            .iter()
            .map(|asked| {
                let ms = |name| asked.param(name).map(|ms| ms.parse::<u64>().expect("ms"));
                (ms("startTime"), ms("endTime"))
            })
            .collect();
        assert_eq!(spans[0], (None, None));
        assert_eq!(spans.len(), 4, "{spans:?}");
        assert_eq!(spans[1].0, Some(NOW - 20 * DAY - 60_000));
        for pair in spans[1..].windows(2) {
            assert_eq!(pair[0].1, pair[1].0, "no gap");
        }
        for (start, end) in &spans[1..] {
            assert!(end.expect("end") - start.expect("start") <= 7 * DAY);
        }
        assert!(spans[3].1.expect("end") >= NOW);
    }
}

#[tokio::test]
async fn a_clock_that_was_not_heard_is_asked_for_first() {
    let server = Server::start(|asked: &Asked| match asked.path.as_str() {
        "/v5/market/time" => {
            Reply::Ok(json!({"timeSecond": "1767225600", "timeNano": "1767225600123456789"}))
        }
        "/v5/account/info" => Reply::Ok(json!({"unifiedMarginStatus": 5})),
        _ => Reply::Ok(json!({"userID": 4711, "readOnly": 0})),
    })
    .await;
    let world = World::unheard(&server.url);
    let account = world.venue.account().await.expect("an account");
    assert_eq!(account.as_str(), "bybit:simulator:4711");
    assert_eq!(
        server.lines(),
        [
            "GET /v5/market/time",
            "GET /v5/user/query-api",
            "GET /v5/account/info"
        ]
    );
    let time = world.venue.venue_time().await.expect("a time");
    assert_eq!(time, VenueTime::from_ms(1_767_225_600_123));
    let silent = Server::start(|_: &Asked| Reply::Raw(502, "")).await;
    let world = World::unheard(&silent.url);
    let lost = world.venue.account().await;
    assert!(matches!(lost, Err(VenueError::Unreachable(_))), "{lost:?}");
    assert_eq!(silent.lines(), ["GET /v5/market/time"]);
}

#[tokio::test]
async fn an_account_of_another_kind_is_refused() {
    for (status, says) in [
        (json!(5), None),
        (json!("6"), None),
        (
            json!(3),
            Some("unifiedMarginStatus 3: only UTA 2.0 (5 and 6)"),
        ),
        (json!(4), Some("unifiedMarginStatus 4")),
        (json!(1), Some("unifiedMarginStatus 1")),
        (json!(null), Some("kind is not said")),
    ] {
        let shown = status.clone();
        let server = Server::start(move |asked: &Asked| match asked.path.as_str() {
            "/v5/account/info" => Reply::Ok(json!({"unifiedMarginStatus": status})),
            _ => Reply::Ok(json!({"userID": 4711, "readOnly": 0})),
        })
        .await;
        match (World::new(&server.url).venue.account().await, says) {
            (Ok(_), None) => {}
            (Err(error), Some(says)) => assert!(error.to_string().contains(says), "{error}"),
            other => panic!("{shown}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn keys_that_are_refused_are_named_as_such() {
    for code in [10_003, 10_004, 10_005, 10_010, 33_004] {
        let server = Server::start(move |_: &Asked| Reply::Code(code, "no")).await;
        let refused = World::new(&server.url).venue.account().await;
        let Err(VenueError::Keys(reason)) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(*reason.code, *code.to_string());
    }
    for (answer, keys) in [
        (json!({"userID": "4711", "readOnly": 1}), true),
        (json!({"userID": ""}), false),
        (json!({}), false),
    ] {
        let server = Server::start(move |_: &Asked| Reply::Ok(answer.clone())).await;
        let refused = World::new(&server.url).venue.account().await;
        match refused {
            Err(VenueError::Keys(_)) => assert!(keys),
            Err(VenueError::Unreadable(_)) => assert!(!keys),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn an_unknown_symbol_is_named_and_nothing_is_sent() {
    for reply in [
        rows([]),
        Reply::Code(10_001, "params error: symbol invalid"),
    ] {
        let server = Server::start(move |_: &Asked| reply.clone()).await;
        let world = World::new(&server.url);
        let facts = world.venue.facts(&intent()).await.expect("facts");
        let refused = world
            .venue
            .prepare(&cl_ord_id(), &intent(), &world.ticket(facts));
        let symbol = Symbol::from("BTCUSDT");
        assert_eq!(refused, Err(PrepareError::UnknownSymbol { symbol }));
        assert_eq!(server.lines(), ["GET /v5/market/instruments-info"]);
    }
    // A read that failed says nothing about the symbol.
    let server = Server::start(|_: &Asked| Reply::Raw(502, "")).await;
    let lost = World::new(&server.url).venue.facts(&intent()).await;
    assert!(matches!(lost, Err(VenueError::Unreachable(_))), "{lost:?}");
}

#[tokio::test]
async fn bulk_lists_name_ours_and_others_and_pass_over_only_what_is_foreign() {
    let mut strange = order_row("o-3", "grid-1", "Paused", "0");
    strange["cumExecQty"] = json!("0");
    let open = rows([
        order_row("o-1", &key(), "New", "0"),
        order_row("o-2", "", "PartiallyFilled", "0.010"),
        strange,
    ]);
    let server = listing_server(open, rows([]), rows([fill_row("o-1", "", "e-1", "0.010")])).await;
    let world = World::new(&server.url);
    let list = world.venue.open_orders(None).await.expect("a list");
    let keys: Vec<_> = list
        .rows
        .iter()
        .map(|report| report.handle.key.clone())
        .collect();
    assert_eq!(keys, [Some(key().into()), None]);
    assert_eq!(list.begun, AsOf::Clock(VenueTime::from_ms(NOW - 1)));
    assert_eq!(
        server.asked()[0].query,
        "category=linear&settleCoin=USDT&openOnly=0&limit=50"
    );
    let spelled = list.rows[0].handle.key.as_ref().expect("a key");
    assert_eq!(world.venue.spelled_id(spelled), Some(cl_ord_id()));

    let since = VenueTime::from_ms(NOW - 8 * DAY);
    let fills = world
        .venue
        .fills_since(Some(&"BTCUSDT".into()), since)
        .await
        .expect("fills");
    assert_eq!(
        fills.rows.len(),
        2,
        "one in each window; the journal counts it once"
    );
    assert_eq!(fills.rows[0].0.key, None);
    assert_eq!(fills.rows[0].0.order_id, Some("o-1".into()));

    let ours = rows([order_row("o-1", &key(), "Paused", "0")]);
    let server = listing_server(ours, rows([]), rows([])).await;
    let lost = World::new(&server.url).venue.open_orders(None).await;
    assert!(matches!(lost, Err(VenueError::Unreadable(_))), "{lost:?}");
}

#[tokio::test]
async fn positions_are_signed_and_net_and_flat_ones_are_left_out() {
    let server = Server::start(|_: &Asked| {
        Reply::Ok(page(
            [
                json!({"symbol": "BTCUSDT", "side": "Sell", "size": "0.030", "positionIdx": 2, "seq": -1}),
                json!({"symbol": "BTCUSDT", "side": "Buy", "size": "0.010", "positionIdx": 1}),
                json!({"symbol": "ETHUSDT", "side": "", "size": "0", "positionIdx": 0}),
            ],
            "",
        ))
    })
    .await;
    let positions = World::new(&server.url)
        .venue
        .positions()
        .await
        .expect("positions");
    assert_eq!(positions.rows.len(), 1);
    assert_eq!(positions.rows[0].signed_qty.to_string(), "-0.020");
    let server = Server::start(|_: &Asked| {
        Reply::Ok(page(
            [json!({"symbol": "BTCUSDT", "side": "", "size": "0.030"})],
            "",
        ))
    })
    .await;
    let lost = World::new(&server.url).venue.positions().await;
    assert!(matches!(lost, Err(VenueError::Unreadable(_))), "{lost:?}");
}
