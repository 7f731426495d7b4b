//! Acts over a real socket: what is sent, how often, and what the answer is taken for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use surefill_core::{
    CancelAllOutcome, CancelOutcome, DuplicateOf, Fence, HeldBack, NotSent, OrdStatus, Revocation,
    Submission, Symbol, VenueError, VenueTime,
};
use tokio::net::TcpListener;

use crate::server::{Asked, NOW, Reply, Server, keys};
use crate::world::{World, key, listing};

const CREATE: &str = "POST /v5/order/create";

/// A server that lists BTCUSDT and does `reply` with a create.
async fn creating(reply: Reply) -> Server {
    Server::start(move |asked: &Asked| match asked.line().as_str() {
        "GET /v5/market/instruments-info" => Reply::Ok(listing()),
        CREATE => reply.clone(),
        other => panic!("not asked for: {other}"),
    })
    .await
}

async fn submit(server: &Server) -> Submission {
    let world = World::new(&server.url);
    let (_, attempt) = world.order().await;
    let go = world.go(attempt.fence);
    world.venue.submit(&attempt, &go).await
}

fn ids(order_id: &str) -> Value {
    json!({"orderId": order_id, "orderLinkId": key()})
}

#[tokio::test]
async fn a_create_is_one_request_with_the_journaled_bytes() {
    let server = creating(Reply::Ok(ids("o-1"))).await;
    let Submission::Acked(report) = submit(&server).await else {
        panic!("acked")
    };
    assert_eq!(report.handle.order_id, Some("o-1".into()));
    assert_eq!(report.handle.key, Some(key().into()));
    assert_eq!(report.status, OrdStatus::Open);
    assert_eq!(server.count(CREATE), 1);
    let asked = server.asked().pop().expect("asked");
    let body = format!(
        "{{\"category\":\"linear\",\"symbol\":\"BTCUSDT\",\"side\":\"Buy\",\"orderType\":\"Limit\",\"qty\":\"0.030\",\
         \"price\":\"60000.0\",\"timeInForce\":\"GTC\",\"positionIdx\":0,\"orderLinkId\":\"{}\"}}",
        key()
    );
    assert_eq!(asked.body, body);
    assert_eq!(asked.headers["x-bapi-timestamp"], NOW.to_string());
    assert_eq!(asked.headers["x-bapi-recv-window"], "300");
    assert_eq!(asked.headers["x-bapi-api-key"], "SUREFILLFAKEKEY001");
    let at = VenueTime::from_ms(NOW);
    let signature = keys()
        .sign(at, Duration::from_millis(300), &body)
        .expect("signed");
    assert_eq!(asked.headers["x-bapi-sign"], signature);
    let names: Vec<&str> = asked.headers.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "accept",
            "content-length",
            "content-type",
            "host",
            "user-agent",
            "x-bapi-api-key",
            "x-bapi-recv-window",
            "x-bapi-sign",
            "x-bapi-sign-type",
            "x-bapi-timestamp"
        ]
    );
}

/// The wire alone decides what is sent: nothing of it changes when the same attempt is sent later.
#[tokio::test]
async fn a_replay_is_the_same_bytes_to_the_last() {
    let server = creating(Reply::Code(10_000, "Server Timeout")).await;
    let world = World::new(&server.url);
    let (_, attempt) = world.order().await;
    let wire = String::from_utf8(attempt.wire.clone()).expect("text");
    assert!(wire.starts_with(&format!("{NOW}\n300\n{{")), "{wire}");
    assert_eq!(attempt.fence, Fence::Clock(VenueTime::from_ms(NOW + 300)));
    assert_eq!(&*attempt.format, "bybit.create.1");
    assert!(!attempt.replayable && !attempt.revocable && attempt.rebuildable);
    for _ in 0..2 {
        let outcome = world.venue.submit(&attempt, &world.go(attempt.fence)).await;
        assert!(matches!(outcome, Submission::Unknown(_)), "{outcome:?}");
    }
    let asked: Vec<Asked> = server
        .asked()
        .into_iter()
        .filter(|a| a.line() == CREATE)
        .collect();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].body, asked[1].body);
    assert_eq!(asked[0].headers, asked[1].headers);
}

#[tokio::test]
async fn what_is_held_back_sends_nothing() {
    let server = creating(Reply::Ok(ids("o-1"))).await;
    let world = World::new(&server.url);
    let (_, attempt) = world.order().await;
    world.stop.cancel.store(true, Ordering::Release);
    let outcome = world.venue.submit(&attempt, &world.go(attempt.fence)).await;
    let held = Submission::NotSent(NotSent::HeldBack(HeldBack::CancelAsked));
    assert_eq!(outcome, held);
    assert_eq!(server.count(CREATE), 0);
}

/// Also when the last check knows of no fence: the gateway would refuse it, so it is not sent.
#[tokio::test]
async fn a_create_past_its_window_is_not_sent() {
    let server = creating(Reply::Ok(ids("o-1"))).await;
    let world = World::new(&server.url);
    let (_, attempt) = world.order().await;
    world
        .clock
        .observe(world.clock.mark(), VenueTime::from_ms(NOW + 301));
    let outcome = world.venue.submit(&attempt, &world.go(Fence::None)).await;
    assert_eq!(
        outcome,
        Submission::NotSent(NotSent::HeldBack(HeldBack::Fence))
    );
    assert_eq!(server.count(CREATE), 0);
}

#[tokio::test]
async fn each_fault_of_the_way_is_doubt_and_is_sent_once() {
    let faults = [
        Reply::Reset,
        Reply::Silence,
        Reply::Cut,
        Reply::Raw(502, "<html>502</html>"),
        Reply::Raw(504, "<html>504</html>"),
        Reply::Raw(500, ""),
        Reply::Raw(403, "<html>403</html>"),
        Reply::Raw(429, "Too Many Requests"),
        Reply::Raw(404, "not here"),
        Reply::Raw(401, "who"),
        Reply::Raw(200, ""),
        Reply::Raw(200, "null"),
        Reply::Raw(200, "[]"),
        Reply::Raw(200, "{}"),
        Reply::Status(502, ids("o-1")),
        Reply::Status(201, ids("o-1")),
        Reply::Raw(307, ""),
        Reply::Code(987_654, "something new"),
        Reply::Ok(json!({})),
        Reply::Ok(json!(null)),
        Reply::Ok(json!({"orderId": "", "orderLinkId": key()})),
        Reply::Ok(json!({"orderId": "o-1", "orderLinkId": "another"})),
        Reply::Ok(json!({"orderId": "o-1"})),
    ];
    for fault in faults {
        let server = creating(fault.clone()).await;
        let outcome = submit(&server).await;
        assert!(
            matches!(outcome, Submission::Unknown(_)),
            "{fault:?}: {outcome:?}"
        );
        assert_eq!(server.count(CREATE), 1, "{fault:?}");
    }
}

#[tokio::test]
async fn a_refused_connect_is_not_sent() {
    let server = creating(Reply::Ok(json!({}))).await;
    let (_, attempt) = World::new(&server.url).order().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let world = World::new(&url);
    let outcome = world.venue.submit(&attempt, &world.go(attempt.fence)).await;
    assert!(
        matches!(outcome, Submission::NotSent(NotSent::Connect(_))),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_code_on_a_list_is_taken_at_its_word() {
    let server = creating(Reply::Code(110_072, "OrderLinkedID is duplicate")).await;
    assert_eq!(
        submit(&server).await,
        Submission::Duplicate(DuplicateOf::Id)
    );
    let server = creating(Reply::Code(110_007, "no money")).await;
    let Submission::Rejected(reject) = submit(&server).await else {
        panic!("rejected")
    };
    assert_eq!(
        (&*reject.reason.code, &*reject.reason.text),
        ("110007", "no money")
    );
    assert!(!reject.halts_account);
    let server = creating(Reply::Code(10_003, "API key is invalid.")).await;
    let Submission::Rejected(reject) = submit(&server).await else {
        panic!("rejected")
    };
    assert!(reject.halts_account);
    let server = creating(Reply::Code(10_002, "window")).await;
    let outcome = submit(&server).await;
    assert!(
        matches!(
            outcome,
            Submission::NotTaken {
                retry_after: None,
                ..
            }
        ),
        "{outcome:?}"
    );
    let server = creating(Reply::Raw(
        401,
        "{\"retCode\":10004,\"retMsg\":\"sign\",\"result\":{},\"time\":1}",
    ))
    .await;
    let outcome = submit(&server).await;
    assert!(
        matches!(outcome, Submission::Rejected(_)),
        "a known code wins: {outcome:?}"
    );
}

/// A refusal of parameters may come from filters that have changed: they are asked for again.
#[tokio::test]
async fn facts_are_kept_until_parameters_are_refused() {
    let server = creating(Reply::Code(10_001, "Qty invalid")).await;
    let world = World::new(&server.url);
    let (_, attempt) = world.order().await;
    let listed = || server.count("GET /v5/market/instruments-info");
    world.order().await;
    assert_eq!(listed(), 1);
    let outcome = world.venue.submit(&attempt, &world.go(attempt.fence)).await;
    assert!(matches!(outcome, Submission::Rejected(_)));
    world.order().await;
    assert_eq!(listed(), 2);
}

#[tokio::test]
async fn a_cancel_names_one_id_and_proves_only_what_was_said() {
    let cases = [
        (Reply::Ok(ids("o-1")), Some(CancelOutcome::Taken)),
        (
            Reply::Code(110_001, "order not exists"),
            Some(CancelOutcome::NotOpen),
        ),
        (
            Reply::Code(110_079, "processing"),
            Some(CancelOutcome::NotYet),
        ),
        (
            Reply::Ok(json!({"orderId": "o-2", "orderLinkId": "another"})),
            None,
        ),
        (Reply::Status(502, ids("o-1")), None),
        (Reply::Code(10_006, "Too many visits"), None),
        (Reply::Code(10_003, "API key is invalid."), None),
        (Reply::Reset, None),
    ];
    for (reply, expected) in cases {
        let told = reply.clone();
        let server = Server::start(move |asked: &Asked| match asked.path.as_str() {
            "/v5/order/cancel" => told.clone(),
            _ => Reply::Ok(listing()),
        })
        .await;
        let world = World::new(&server.url);
        let (order, _) = world.order().await;
        let outcome = world.venue.cancel(&order).await;
        match expected {
            Some(expected) => assert_eq!(outcome, expected),
            None => assert!(
                matches!(outcome, CancelOutcome::Unknown(_)),
                "{reply:?}: {outcome:?}"
            ),
        }
        assert_eq!(server.count("POST /v5/order/cancel"), 1);
        let body: Value = serde_json::from_str(&server.asked()[1].body).expect("JSON");
        let expected = json!({"category": "linear", "symbol": "BTCUSDT", "orderLinkId": key()});
        assert_eq!(body, expected);
    }
}

#[tokio::test]
async fn a_cancel_of_all_is_one_request_of_the_right_reach() {
    let server = Server::start(|_: &Asked| {
        Reply::Ok(json!({"list": [{"orderId": "o-1", "orderLinkId": ""}], "success": "1"}))
    })
    .await;
    let world = World::new(&server.url);
    let outcome = world.venue.cancel_all(None).await.expect("taken");
    let CancelAllOutcome::Taken(handles) = outcome else {
        panic!("taken")
    };
    assert_eq!(
        (handles[0].key.clone(), handles[0].order_id.clone()),
        (None, Some("o-1".into()))
    );
    let symbol = Symbol::from("BTCUSDT");
    let outcome = world.venue.cancel_all(Some(&symbol)).await;
    assert!(matches!(outcome, Ok(CancelAllOutcome::Taken(_))));
    let bodies: Vec<String> = server.asked().into_iter().map(|asked| asked.body).collect();
    assert_eq!(
        bodies,
        [
            "{\"category\":\"linear\",\"settleCoin\":\"USDT\"}",
            "{\"category\":\"linear\",\"symbol\":\"BTCUSDT\"}"
        ]
    );
    let server = Server::start(|_: &Asked| Reply::Code(10_005, "Permission denied")).await;
    let refused = World::new(&server.url).venue.cancel_all(None).await;
    assert!(matches!(refused, Err(VenueError::Keys(_))), "{refused:?}");
}

#[tokio::test]
async fn there_is_no_revocation_and_where_it_is_switched_off_no_stream() {
    let server = creating(Reply::Ok(json!({}))).await;
    let world = World::new(&server.url);
    let (_, attempt) = world.order().await;
    assert_eq!(world.venue.revoke(&attempt).await, Revocation::Unsupported);
    assert!(matches!(
        world.venue.follow().await,
        Err(VenueError::Unsupported(_))
    ));
}
