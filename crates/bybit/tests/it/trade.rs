//! Creates and cancels over the trade socket: one frame each, and what each answer, or none, proves.

use std::time::Duration;

use serde_json::{Value, json};
use surefill_bybit::Bybit;
use surefill_core::{
    Attempt, CancelOutcome, HeldBack, Journaled, NotSent, OrderRecord, Submission, VenueTime,
};

use crate::server::{Asked, NOW, Reply, Server, keys};
use crate::socket::{Act, Socket};
use crate::world::{World, key, listing, timing};

fn answer(frame: &Value, code: i64, data: Value) -> Act {
    Act::Say(
        json!({"reqId": frame["reqId"], "retCode": code, "retMsg": "m", "op": frame["op"], "data": data,
        "retExtInfo": {}, "header": {"X-Bapi-Limit": "10", "Timenow": NOW.to_string()}, "connId": "c"}),
    )
}

fn ids() -> Value {
    json!({"orderId": "o-1", "orderLinkId": key()})
}

/// A socket that authenticates everybody and answers creates so.
async fn creating(create: impl Fn(&Value) -> Vec<Act> + Send + Sync + 'static) -> Socket {
    Socket::start(move |_, frame| match frame["op"].as_str() {
        Some("auth") => vec![answer(frame, 0, json!({}))],
        Some("order.create") => create(frame),
        Some("order.cancel") => vec![answer(frame, 0, ids())],
        _ => Vec::new(),
    })
    .await
}

struct Bench {
    server: Server,
    world: World,
    order: OrderRecord,
    attempt: Journaled<Attempt>,
}

/// Over REST only facts are asked for.
async fn bench(socket: &Socket) -> Bench {
    let server = Server::start(|asked: &Asked| match asked.line().as_str() {
        "GET /v5/market/instruments-info" => Reply::Ok(listing()),
        other => panic!("not asked for: {other}"),
    })
    .await;
    let config = Bybit::simulator(&server.url, keys())
        .with_ws_url(&socket.url)
        .with_timing(timing())
        .without_stream()
        .with_trade_socket();
    let world = World::with(config);
    let (order, attempt) = world.order().await;
    Bench {
        server,
        world,
        order,
        attempt,
    }
}

impl Bench {
    async fn submit(&self) -> Submission {
        let go = self.world.go(self.attempt.fence);
        self.world.venue.submit(&self.attempt, &go).await
    }

    async fn cancel(&self) -> CancelOutcome {
        self.world.venue.cancel(&self.order).await
    }
}

#[tokio::test]
async fn a_create_is_one_frame_with_the_journaled_body() {
    let socket = creating(|frame| vec![answer(frame, 0, ids())]).await;
    let bench = bench(&socket).await;
    let Submission::Acked(report) = bench.submit().await else {
        panic!("acked")
    };
    assert_eq!(report.handle.order_id, Some("o-1".into()));
    let creates = socket.asked("order.create");
    let wire = std::str::from_utf8(&bench.attempt.wire).expect("text");
    let body: Value =
        serde_json::from_str(wire.splitn(3, '\n').nth(2).expect("a body")).expect("JSON");
    let frame = json!({"reqId": format!("{}-1", key()), "op": "order.create", "args": [body],
        "header": {"X-BAPI-TIMESTAMP": NOW.to_string(), "X-BAPI-RECV-WINDOW": "300"}});
    assert_eq!(creates, [(1, frame)]);
    assert!(creates[0].1["reqId"].as_str().expect("text").len() <= 36);
    let auth = &socket.asked("auth")[0].1;
    let expires = VenueTime::from_ms(NOW).after(Duration::from_secs(10));
    assert_eq!(
        auth["args"][2],
        keys().sign_socket(expires).expect("signed")
    );
    assert_eq!(bench.server.lines(), ["GET /v5/market/instruments-info"]);
}

#[tokio::test]
async fn a_cancel_goes_the_same_way_under_a_number_of_its_own() {
    let socket = creating(|_| Vec::new()).await;
    let bench = bench(&socket).await;
    assert_eq!(bench.cancel().await, CancelOutcome::Taken);
    assert_eq!(bench.cancel().await, CancelOutcome::Taken);
    let cancels = socket.asked("order.cancel");
    let numbers: Vec<&Value> = cancels.iter().map(|(_, frame)| &frame["reqId"]).collect();
    assert_ne!(numbers[0], numbers[1]);
    let args = json!([{"category": "linear", "symbol": "BTCUSDT", "orderLinkId": key()}]);
    assert_eq!(cancels[0].1["args"], args);
}

#[tokio::test]
async fn each_answer_proves_what_it_would_over_rest() {
    for (code, want) in [
        (110_072, "Duplicate"),
        (110_007, "Rejected"),
        (10_006, "NotTaken"),
        (10_403, "NotTaken"),
        (20_003, "NotTaken"),
        (10_016, "Unknown"),
        (20_006, "Unknown"),
        (10_429, "Unknown"),
        (987_654, "Unknown"),
    ] {
        let socket = creating(move |frame| vec![answer(frame, code, json!({}))]).await;
        let got = format!("{:?}", bench(&socket).await.submit().await);
        assert!(got.starts_with(want), "{code}: {got}");
    }
}

#[tokio::test]
async fn whatever_is_no_answer_to_it_leaves_a_create_in_doubt() {
    let unnamed = |op: &str| {
        Act::Say(json!({"success": false, "ret_msg": "Params Error", "op": op, "conn_id": "c"}))
    };
    for acts in [
        vec![Act::Close],
        vec![unnamed("order.create")],
        vec![unnamed("")],
        vec![Act::Text("{\"reqId\":".into())],
        vec![Act::Text("[]".into())],
        vec![Act::Bytes(
            [&[0x81, 127][..], &(100_u64 << 20).to_be_bytes()].concat(),
        )],
        vec![Act::Bytes(vec![0x81, 9, b'{'])],
        // Another's answer, and then silence until the answer is late.
        vec![Act::Say(
            json!({"reqId": "another", "retCode": 0, "op": "order.create", "data": ids()}),
        )],
        Vec::new(),
    ] {
        let shown = format!("{acts:?}");
        let socket = creating(move |_| acts.clone()).await;
        let got = bench(&socket).await.submit().await;
        assert!(matches!(got, Submission::Unknown(_)), "{shown}: {got:?}");
        assert_eq!(socket.asked("order.create").len(), 1, "{shown}");
    }
}

/// A failure without a number: all creates in flight are in doubt, and the cancel beside them is answered.
#[tokio::test]
async fn a_failure_that_names_no_request_is_of_its_kind_only() {
    let socket = Socket::start(|_, frame| match frame["op"].as_str() {
        Some("auth") => vec![answer(frame, 0, json!({}))],
        Some("order.cancel") => vec![
            Act::Say(json!({"success": false, "ret_msg": "Params Error", "op": "order.create"})),
            answer(frame, 0, ids()),
        ],
        _ => Vec::new(),
    })
    .await;
    let bench = bench(&socket).await;
    let cancel = async {
        while socket.asked("order.create").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bench.cancel().await
    };
    let (create, cancel) = tokio::join!(bench.submit(), cancel);
    let Submission::Unknown(cause) = create else {
        panic!("{create:?}")
    };
    assert!(cause.0.contains("Params Error"), "{cause}");
    assert_eq!(cancel, CancelOutcome::Taken);
}

#[tokio::test]
async fn a_restarting_service_answers_what_is_in_flight_and_is_left_for_a_new_connection() {
    let socket = Socket::start(|connection, frame| match frame["op"].as_str() {
        Some("auth") => vec![answer(frame, 0, json!({}))],
        Some("order.create") if connection == 1 => vec![answer(frame, 10_019, json!({}))],
        Some("order.create") => vec![answer(frame, 0, ids())],
        _ => Vec::new(),
    })
    .await;
    let bench = bench(&socket).await;
    let first = bench.submit().await;
    assert!(matches!(first, Submission::NotTaken { .. }), "{first:?}");
    assert!(matches!(bench.submit().await, Submission::Acked(_)));
    let over: Vec<usize> = socket
        .asked("order.create")
        .iter()
        .map(|(no, _)| *no)
        .collect();
    assert_eq!(over, [1, 2]);
}

#[tokio::test]
async fn without_a_connection_nothing_is_sent() {
    let mut nobody = creating(|_| Vec::new()).await;
    let url = std::mem::replace(&mut nobody.url, "ws://127.0.0.1:1".to_owned());
    let got = bench(&nobody).await.submit().await;
    assert!(
        matches!(got, Submission::NotSent(NotSent::Connect(_))),
        "{got:?}"
    );
    nobody.url = url;
    let refuses = Socket::start(|_, frame| vec![answer(frame, 10_004, json!({}))]).await;
    let got = bench(&refuses).await.submit().await;
    assert!(
        matches!(got, Submission::NotSent(NotSent::Connect(_))),
        "{got:?}"
    );
    assert!(refuses.asked("order.create").is_empty());
}

#[tokio::test]
async fn what_is_held_back_sends_no_frame() {
    let socket = creating(|frame| vec![answer(frame, 0, ids())]).await;
    let bench = bench(&socket).await;
    let cancel = &bench.world.stop.cancel;
    cancel.store(true, std::sync::atomic::Ordering::Release);
    let got = bench.submit().await;
    let held = Submission::NotSent(NotSent::HeldBack(HeldBack::CancelAsked));
    assert_eq!(got, held);
    assert!(socket.asked("order.create").is_empty());
}
