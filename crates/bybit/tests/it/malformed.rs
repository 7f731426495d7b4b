//! What a venue, or whoever answers in its place, can say wrongly over REST: each is doubt, bounded, and no panic.
//!
//! The same over the sockets: `stream::what_cannot_be_read_ends_it_and_tells_nothing`,
//! `trade::whatever_is_no_answer_to_it_leaves_a_create_in_doubt`. A cursor without end: `lists::a_list_without_end_is_an_error`.

use std::time::Duration;

use serde_json::{Value, json};
use surefill_core::{
    Amend, AmendOutcome, AmendRecord, AmendState, CancelOutcome, Cause, Change, Entry, Fence,
    Journal, Lookup, MemoryStore, OrdState, OrderId, Submission, Terms, VenueError, VenueTime,
};

use crate::server::{Asked, NOW, Reply, Server};
use crate::world::{World, fill_row, key, listing, order_row, page};

/// No answer is waited for longer.
const BOUND: Duration = Duration::from_secs(30);

/// Answers that are none.
fn answers() -> Vec<Reply> {
    let texts = [
        "",
        "<html>502 Bad Gateway</html>",
        "{",
        "{\"retCode\":0,\"retMsg\":\"OK\",\"result\":{\"orderId\":\"o-1",
        "[]",
        "null",
        "7",
        "{}",
        "{\"retCode\":\"zero\",\"result\":{}}",
        "{\"retCode\":0.5,\"result\":{}}",
        "{\"retCode\":[],\"result\":{}}",
        "{\"retCode\":0}",
        "{\"retCode\":0,\"result\":null}",
        "{\"retCode\":0,\"result\":[]}",
        "{\"retCode\":0,\"result\":\"list\"}",
        "{\"retCode\":0,\"result\":{\"list\":{}}}",
        "{\"retCode\":0,\"result\":{\"list\":[7]}}",
        "{\"retCode\":0,\"retCode\":110072,\"result\":{}}",
    ];
    let deep: &'static str = Box::leak("[".repeat(200_000).into_boxed_str());
    let texts = texts.into_iter().chain([deep]);
    let mut all: Vec<Reply> = texts.map(|text| Reply::Raw(200, text)).collect();
    // Yes, and another status; 100 MB; half an answer; none.
    all.push(Reply::Status(
        502,
        json!({"orderId": "o-1", "orderLinkId": key()}),
    ));
    all.push(Reply::Flood(100 << 20));
    all.push(Reply::Cut);
    all.push(Reply::Reset);
    all
}

/// Everything but the list of instruments is answered so.
async fn server(reply: Reply) -> Server {
    Server::start(move |asked: &Asked| match asked.path.as_str() {
        "/v5/market/instruments-info" => Reply::Ok(listing()),
        _ => reply.clone(),
    })
    .await
}

async fn within<T>(shown: &str, call: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(BOUND, call).await;
    ended.unwrap_or_else(|_| panic!("{shown}: no end"))
}

#[tokio::test]
async fn an_answer_that_is_none_leaves_everything_in_doubt() {
    let runs = answers().into_iter().map(|reply| async move {
        let shown = format!("{reply:?}").chars().take(120).collect::<String>();
        let server = server(reply).await;
        let world = World::new(&server.url);
        let (order, attempt) = world.order().await;
        let go = world.go(attempt.fence);
        let sent = within(&shown, world.venue.submit(&attempt, &go)).await;
        assert!(matches!(sent, Submission::Unknown(_)), "{shown}: {sent:?}");
        let cancel = within(&shown, world.venue.cancel(&order)).await;
        assert!(
            matches!(cancel, CancelOutcome::Unknown(_)),
            "{shown}: {cancel:?}"
        );
        let two = [order.clone(), other(&order)];
        let cancels = within(&shown, world.venue.cancel_batch(&two)).await;
        assert_eq!(cancels.len(), 2, "{shown}");
        for cancel in cancels {
            assert!(
                matches!(cancel, CancelOutcome::Unknown(_)),
                "{shown}: {cancel:?}"
            );
        }
        let amend = amend().await;
        let amended = within(&shown, world.venue.amend(&amend, &go)).await;
        assert!(
            matches!(amended, AmendOutcome::Unknown(_)),
            "{shown}: {amended:?}"
        );
        let looked = within(&shown, world.venue.lookup(&order)).await;
        assert!(
            matches!(looked, Lookup::Inconclusive(_)),
            "{shown}: {looked:?}"
        );
        let account = within(&shown, world.venue.account()).await;
        let doubt = matches!(
            account,
            Err(VenueError::Unreadable(_) | VenueError::Unreachable(_))
        );
        assert!(doubt, "{shown}: {account:?}");
        for line in [
            "POST /v5/order/create",
            "POST /v5/order/cancel",
            "POST /v5/order/amend",
        ] {
            assert_eq!(server.count(line), 1, "{shown}: {line} again");
        }
    });
    futures_util::future::join_all(runs).await;
}

fn other(order: &surefill_core::OrderRecord) -> surefill_core::OrderRecord {
    let mut other = order.clone();
    let mut bytes = *order.id.as_bytes();
    bytes[15] ^= 1;
    other.id = surefill_core::ClOrdId::from_bytes(bytes).expect("an id");
    other
}

/// An amend that is durable.
async fn amend() -> surefill_core::Journaled<Amend> {
    // Any server will do: nothing is sent here.
    let server = server(Reply::Reset).await;
    let world = World::new(&server.url);
    let (order, attempt) = world.order().await;
    let now = VenueTime::from_ms(NOW);
    let journal = Journal::new(std::sync::Arc::new(MemoryStore::new(now)));
    let begin = surefill_core::Begin {
        order,
        attempt: (*attempt).clone(),
        entry: Entry::Risk { doubt_blocks: true },
    };
    let surefill_core::Entered::Inserted(row, _) = journal.begin(begin).await.expect("journaled")
    else {
        panic!("not new");
    };
    let mut acked = Change::of(&row, now, Cause::Answer, "acked").to(OrdState::Acked);
    acked.order_id = Some(OrderId::from("o-1"));
    let row = journal.apply(acked).await.expect("acked");
    let price = "60000.5".parse().expect("px");
    let asked = AmendRecord {
        no: 1,
        terms: Terms {
            order_qty: "0.030".parse().expect("qty"),
            price,
        },
        asked_at: now,
        fence: Fence::None,
        state: AmendState::Asked,
    };
    let request = Amend {
        id: row.id,
        symbol: row.symbol().clone(),
        order_qty: None,
        price: Some(price),
        at: now,
    };
    let change = Change::of(&row, now, Cause::AmendAsked, "amend 1");
    let done = journal.apply_amend(change, asked, request).await;
    done.expect("journaled").1
}

/// One list is as it should be but for this.
#[tokio::test]
async fn a_row_that_cannot_be_read_is_no_miss_and_no_order() {
    let order = |field: &str, value: Value| {
        let mut row = order_row("o-1", &key(), "New", "0");
        row[field] = value;
        page([row], "")
    };
    let fill = |field: &str, value: Value| {
        let mut row = fill_row("o-1", &key(), "e-1", "0.010");
        row[field] = value;
        page([row], "")
    };
    let mut wrong_category = page([], "");
    wrong_category["category"] = json!("spot");
    let cases = [
        (
            "/v5/order/realtime",
            order("orderStatus", json!("Levitating")),
        ),
        ("/v5/order/realtime", order("orderStatus", json!(7))),
        ("/v5/order/realtime", order("qty", json!("many"))),
        ("/v5/order/realtime", order("cumExecQty", json!({}))),
        ("/v5/order/realtime", order("orderId", json!(""))),
        ("/v5/order/realtime", order("orderLinkId", json!("another"))),
        ("/v5/order/realtime", wrong_category.clone()),
        ("/v5/order/history", order("side", json!("Both"))),
        ("/v5/order/history", wrong_category.clone()),
        ("/v5/execution/list", fill("execQty", json!("NaN"))),
        ("/v5/execution/list", fill("execId", json!(null))),
        ("/v5/execution/list", fill("execTime", json!("soon"))),
        ("/v5/execution/list", wrong_category),
    ];
    for (path, result) in cases {
        let shown = format!("{path} {result}");
        let server = Server::start(move |asked: &Asked| match asked.path.as_str() {
            "/v5/market/instruments-info" => Reply::Ok(listing()),
            asked if asked == path => Reply::Ok(result.clone()),
            _ => Reply::Ok(page([], "")),
        })
        .await;
        let world = World::new(&server.url);
        let (order, _) = world.order().await;
        let looked = within(&shown, world.venue.lookup(&order)).await;
        assert!(
            matches!(looked, Lookup::Inconclusive(_)),
            "{shown}: {looked:?}"
        );
    }
}

/// Numbers as strings and strings as numbers, unknown fields, empty fields: the venue writes them so at times.
#[tokio::test]
async fn numbers_as_strings_and_strings_as_numbers_are_read() {
    let mut order = order_row("o-1", &key(), "PartiallyFilled", "0.010");
    order["updatedTime"] = json!(NOW);
    order["smpGroup"] = json!("0");
    order["leavesQty"] = json!("");
    let mut fill = fill_row("o-1", &key(), "e-1", "0.010");
    fill["execTime"] = json!(NOW);
    fill["seq"] = json!("1");
    fill["isMaker"] = json!("false");
    let server = Server::start(move |asked: &Asked| match asked.path.as_str() {
        "/v5/market/instruments-info" => Reply::Ok(listing()),
        "/v5/order/realtime" => Reply::Ok(page([order.clone()], "")),
        "/v5/execution/list" => Reply::Ok(page([fill.clone()], "")),
        _ => Reply::Ok(page([], "")),
    })
    .await;
    let world = World::new(&server.url);
    let (order, _) = world.order().await;
    let Lookup::Found(reports) = world.venue.lookup(&order).await else {
        panic!("not found");
    };
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].cum_qty.expect("executed").to_string(), "0.010");
    assert_eq!(reports[0].fills.len(), 1);
}

/// A limit that is used up holds back the next request of its kind, and no other.
#[tokio::test]
async fn what_the_headers_say_of_the_limit_is_heeded() {
    let server = Server::start(|asked: &Asked| match asked.path.as_str() {
        "/v5/market/instruments-info" => Reply::Ok(listing()),
        "/v5/order/cancel" => Reply::UsedUp(json!({"orderId": "o-1", "orderLinkId": key()}), 700),
        _ => Reply::Ok(page([], "")),
    })
    .await;
    let world = World::new(&server.url);
    let (order, _) = world.order().await;
    let begun = tokio::time::Instant::now();
    assert_eq!(world.venue.cancel(&order).await, CancelOutcome::Taken);
    let looked = world.venue.lookup(&order).await;
    assert!(matches!(looked, Lookup::Absent { .. }), "{looked:?}");
    let before = server.count("POST /v5/order/cancel");
    assert_eq!(world.venue.cancel(&order).await, CancelOutcome::Taken);
    assert_eq!(before, 1);
    assert!(begun.elapsed() >= Duration::from_millis(600));
}
