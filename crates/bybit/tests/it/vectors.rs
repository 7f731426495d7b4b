//! Every case of the shared file whose kind this crate speaks, through the functions that the adapter uses. Every normative leaf
//! counts: one that is left over fails.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};
use surefill_bybit::outcome::{self, Sent};
use surefill_bybit::rows::{self, FillRow, OrderRow, ReadFailure, Status, Totals};
use surefill_bybit::stream::{self, Said};
use surefill_bybit::trade::{self, TradeSaid};
use surefill_bybit::{Category, Keys, id, market, sign};
use surefill_core::{
    AmendOutcome, AsOf, CancelAllOutcome, CancelOutcome, ExecReport, Key, Lookup, NotSent,
    OrdState, OrdStatus, Submission, UnknownCause, VenueEvent, VenueTime,
};
use surefill_transport::{Answer, SendFailure};

use crate::sequences::Driver;

const VECTORS: &str = include_str!("../vectors/bybit.json");

/// The normative leaves of a case, by path.
pub(crate) struct Leaves {
    pub(crate) case: String,
    open: BTreeMap<String, Value>,
}

impl Leaves {
    pub(crate) fn of(case: &Value, not_checked: &[Value]) -> Self {
        let mut open = BTreeMap::new();
        flatten("", &case["expect"], not_checked, &mut open);
        Self {
            case: case["id"].as_str().expect("an id").to_owned(),
            open,
        }
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.open.contains_key(path)
    }

    pub(crate) fn take(&mut self, path: &str) -> Value {
        let leaf = self.open.remove(path);
        leaf.unwrap_or_else(|| panic!("{}: no leaf {path}", self.case))
    }

    /// The leaf must be there and equal.
    pub(crate) fn check(&mut self, path: &str, got: impl Into<Value>) {
        assert_eq!(got.into(), self.take(path), "{}: {path}", self.case);
    }

    /// The leaf must be equal if it is there.
    pub(crate) fn check_if(&mut self, path: &str, got: impl FnOnce() -> Value) {
        if self.has(path) {
            self.check(path, got());
        }
    }

    pub(crate) fn done(self) {
        assert!(
            self.open.is_empty(),
            "{}: unknown {:?}",
            self.case,
            self.open
        );
    }
}

fn flatten(path: &str, value: &Value, skip: &[Value], into: &mut BTreeMap<String, Value>) {
    let Some(object) = value.as_object() else {
        into.insert(path.to_owned(), value.clone());
        return;
    };
    for (key, value) in object.iter().filter(|(key, _)| !skip.contains(&json!(key))) {
        let dot = if path.is_empty() { "" } else { "." };
        flatten(&format!("{path}{dot}{key}"), value, skip, into);
    }
}

pub(crate) fn file() -> Value {
    serde_json::from_str(VECTORS).expect("JSON")
}

pub(crate) fn cases(file: &Value) -> &[Value] {
    file["vectors"].as_array().expect("cases")
}

/// The README names each case that the venue has not confirmed.
#[test]
fn every_uncertain_case_is_in_the_readme() {
    let readme = include_str!("../../README.md");
    let file = file();
    for case in cases(&file)
        .iter()
        .filter(|case| case.get("uncertain").is_some())
    {
        let id = text(&case["id"]);
        assert!(readme.contains(&format!("| `{id}` |")), "{id}");
    }
}

#[test]
fn every_vector_holds() {
    let file = file();
    let cases = cases(&file);
    let not_checked = file["not_checked"].as_array().expect("names");
    assert_eq!(json!(cases.len()), file["count"]);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        let kind = case["kind"].as_str().expect("a kind");
        let mut leaves = Leaves::of(case, not_checked);
        *counts.entry(kind).or_default() += 1;
        match kind {
            "rest_sign" => rest_sign(&file, &case["input"], &mut leaves),
            "clock" => clock(&case["input"], &mut leaves),
            "id_rule" => id_rule(&case["input"], &mut leaves),
            "http" => http(cases, &case["input"], &mut leaves),
            "ws" => ws(&case["input"], &mut leaves),
            "ws_auth" => ws_auth(&file, &case["input"], &mut leaves),
            "ws_request" => ws_request(&case["input"], &mut leaves),
            // In sequences.rs.
            "sequence" => continue,
            other => panic!("unknown kind {other}"),
        }
        leaves.done();
    }
    let expected = [
        ("clock", 6),
        ("http", 82),
        ("id_rule", 8),
        ("rest_sign", 22),
        ("sequence", 13),
        ("ws", 26),
        ("ws_auth", 3),
        ("ws_request", 3),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
}

pub(crate) fn ms(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("milliseconds: {value}"))
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("text: {value}"))
}

fn rest_sign(file: &Value, input: &Value, leaves: &mut Leaves) {
    let keys = named_keys(file, input);
    let at = VenueTime::from_ms(ms(&input["timestamp_ms"]));
    let window = Duration::from_millis(ms(&input["recv_window_ms"]));
    let payload = text(&input["payload"]);
    let posts = text(&input["method"]) == "POST";
    leaves.check("prehash", keys.prehash(at, window, payload).as_str());
    leaves.check("signature", keys.sign(at, window, payload).expect("signed"));
    let headers = keys.headers(at, window, payload, posts).expect("signed");
    for (name, value) in headers {
        leaves.check(&format!("headers.{name}"), value);
    }
}

fn named_keys(file: &Value, input: &Value) -> Keys {
    let named = &file["keys"][text(&input["key_ref"])];
    let api_key = text(&named["api_key"]);
    match text(&input["scheme"]) {
        "hmac-sha256-hex" => Keys::hmac(api_key, text(&named["api_secret"])),
        "rsa-pkcs1v15-sha256-base64" => Keys::rsa(api_key, &pem(named)),
        other => panic!("unknown scheme {other}"),
    }
    .expect("keys")
}

fn ws_auth(file: &Value, input: &Value, leaves: &mut Leaves) {
    let keys = named_keys(file, input);
    let expires = VenueTime::from_ms(ms(&input["expires_ms"]));
    leaves.check("prehash", Keys::socket_prehash(expires));
    leaves.check("signature", keys.sign_socket(expires).expect("signed"));
    let frame = match text(&input["socket"]) {
        "private" => {
            let id = leaves.has("frame.req_id").then_some("auth-1");
            stream::auth(&keys, expires, id)
        }
        "trade" => trade::auth(&keys, expires, "auth-2"),
        other => panic!("unknown socket {other}"),
    };
    frame_is(&frame.expect("signed"), leaves);
}

/// The frame, leaf by leaf.
fn frame_is(frame: &str, leaves: &mut Leaves) {
    let frame: Value = serde_json::from_str(frame).expect("JSON");
    let mut got = BTreeMap::new();
    flatten("frame", &frame, &[], &mut got);
    for (path, value) in got {
        leaves.check(&path, value);
    }
}

fn ws_request(input: &Value, leaves: &mut Leaves) {
    if let Some(order) = input.get("order") {
        let at = VenueTime::from_ms(ms(&input["timestamp_ms"]));
        let window = Duration::from_millis(ms(&input["recv_window_ms"]));
        let id = text(&input["reqId"]);
        let frame = trade::request(id, trade::Op::Create, at, window, &order.to_string());
        return frame_is(&frame.expect("JSON"), leaves);
    }
    let op = leaves.open["frame.op"].clone();
    match text(&op) {
        "subscribe" => frame_is(&stream::subscribe("sub-1"), leaves),
        "ping" => frame_is(&stream::ping("p1"), leaves),
        other => panic!("unknown op {other}"),
    }
}

fn ws(input: &Value, leaves: &mut Leaves) {
    let frame = input["frame"].to_string();
    match text(&input["socket"]) {
        "private" => ws_private(&frame, leaves),
        "trade" => ws_trade(input, &frame, leaves),
        other => panic!("unknown socket {other}"),
    }
}

fn ws_private(frame: &str, leaves: &mut Leaves) {
    let said = stream::read(frame, Category::Linear).expect("read");
    match said.clone() {
        Said::Auth(Ok(())) => leaves.check("class", "AUTH_OK"),
        Said::Auth(Err(_)) => leaves.check("class", "AUTH_FAIL"),
        Said::Subscribed(Ok(())) => leaves.check("class", "SUB_OK"),
        Said::Pong => leaves.check("class", "PONG"),
        Said::Orders(page) => {
            assert_eq!((page.rows.len(), page.unreadable.len()), (1, 0));
            leaves.check("class", "ORDER");
            order_push(&page.rows[0], stream::events(said).expect("events"), leaves);
        }
        Said::Fills(page) => {
            assert!(page.unreadable.is_empty());
            leaves.check("class", "EXECUTION");
            execution_push(&page.rows, stream::events(said).expect("events"), leaves);
        }
        Said::Positions(page) => {
            leaves.check("class", "POSITION");
            leaves.check("signed_size", page.rows[0].signed_qty.to_string());
        }
        other @ (Said::Subscribed(Err(_)) | Said::Other(_)) => panic!("{other:?}"),
    }
}

fn order_push(row: &OrderRow, events: Vec<VenueEvent>, leaves: &mut Leaves) {
    let key = row.key.as_ref().expect("a key").as_str();
    // A report as an order of that state would have left it.
    let stored = |state| {
        let mut report = row.report().expect("a state");
        report.status = state;
        report.transact_time = None;
        report
    };
    if leaves.has("order.live_order_unchanged") {
        assert!(events.is_empty(), "{events:?}");
        assert!(row.is_refused_duplicate());
        leaves.check("order.applies_to_order_id", row.order_id.as_str());
        let live = leaves.take("order.live_order_unchanged");
        assert_ne!(live, row.order_id.as_str());
        return;
    }
    let [VenueEvent::Report(report)] = &events[..] else {
        panic!("{events:?}")
    };
    if leaves.has("given.stored_state") {
        assert_eq!(leaves.take("given.stored_state"), "FILLED");
        assert!(ms(&leaves.take("given.stored_updated_ms")) > row.updated.expect("a time").as_ms());
    }
    if leaves.has("idempotent") {
        leaves.check("idempotent", true);
        let mut filled = stored(OrdStatus::Filled);
        filled.cum_qty = Some("0.030".parse().expect("qty"));
        let mut driver = Driver::settled_by(key, &filled);
        let before = driver.order.clone();
        assert_eq!(before.state, OrdState::Filled);
        driver.report(report);
        let after = &driver.order;
        assert_eq!((after.state, after.cum_qty), (before.state, before.cum_qty));
        assert_eq!(
            (&after.order_ids, &after.watch),
            (&before.order_ids, &before.watch)
        );
        leaves.check("order.state", "FILLED");
    } else {
        leaves.check("order.state", state(row));
    }
    leaves.check_if("order.terminal", || json!(report.status != OrdStatus::Open));
    let cum_qty = report.cum_qty.expect("a quantity");
    leaves.check_if("order.filled", || json!(cum_qty.to_string()));
    leaves.check_if("order.order_id", || json!(row.order_id.as_str()));
    leaves.check_if("order.orderLinkId", || json!(key));
    if leaves.has("order.why") {
        let why = format!("CancelBy{}", text(&leaves.take("order.why")));
        assert_eq!(*report.reason.as_ref().expect("a reason").text, *why);
    }
}

fn execution_push(rows: &[FillRow], events: Vec<VenueEvent>, leaves: &mut Leaves) {
    let key = "sf1-3f9c1e0a7b5d42869c0e1f2a3b4c5d6e";
    let mut driver = Driver::new(key, VenueTime::from_ms(1_767_225_600_000));
    if leaves.has("given.seen_exec_ids") {
        let seen = leaves.take("given.seen_exec_ids");
        assert_eq!(seen, json!([rows[0].fill.exec_id.as_str()]));
        driver.booked(&rows[0].fill);
    }
    let before = driver.fills().len();
    for event in &events {
        let VenueEvent::Fill(handle, fill) = event else {
            panic!("{event:?}")
        };
        assert_eq!(handle.order_id.as_ref(), Some(&fill.order_id));
        leaves.check_if("match_by", || {
            json!(if handle.key.is_none() {
                "orderId"
            } else {
                "orderLinkId"
            })
        });
        driver.report(&ExecReport {
            handle: handle.clone(),
            status: OrdStatus::NotShown,
            fills: vec![fill.clone()],
            ..ExecReport::ack(Key::from(key), fill.order_id.clone())
        });
    }
    leaves.check("fills", driver.fills().len() - before);
    leaves.check_if("filled", || {
        let totals = Totals::of(driver.fills()).expect("sums");
        json!(totals.qty.to_string())
    });
}

fn ws_trade(input: &Value, frame: &str, leaves: &mut Leaves) {
    let answer = match trade::read(frame).expect("read") {
        TradeSaid::Auth(Ok(())) => return leaves.check("class", "AUTH_OK"),
        TradeSaid::Unnamed { op, .. } => {
            leaves.check("class", "UNKNOWN");
            let all = format!("every in-flight {op} of this connection");
            return leaves.check("applies_to", all);
        }
        TradeSaid::Answer {
            id,
            answer,
            restarting,
        } => {
            leaves.check_if("reqId", || json!(id));
            assert_eq!(restarting, input["frame"]["retCode"] == 10_019);
            answer
        }
        other @ (TradeSaid::Auth(Err(_)) | TradeSaid::Pong) => panic!("{other:?}"),
    };
    if leaves.has("items") {
        let keys = ["sf1-b1-0001", "sf1-b1-0002"];
        let outcomes = outcome::submissions(&Ok(answer), &keys);
        return batch(outcomes.iter().map(create_class).collect(), leaves);
    }
    let key = "sf1-3f9c1e0a7b5d42869c0e1f2a3b4c5d6e";
    let outcome = outcome::submission(&Ok(answer), key);
    leaves.check("class", create_class(&outcome));
    if let Submission::Acked(report) = &outcome {
        let order_id = report.handle.order_id.as_ref().expect("an order id");
        leaves.check("venue_order_id", order_id.as_str());
    }
}

fn pem(named: &Value) -> String {
    let body = text(&named["private_key_pkcs8_der_base64"]);
    format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
}

/// The vectors' key in the other spelling of private keys: what is inside of PKCS#8 is PKCS#1.
#[test]
fn an_rsa_key_is_read_in_pkcs1_too() {
    let file: Value = serde_json::from_str(VECTORS).expect("JSON");
    let engine = base64::engine::general_purpose::STANDARD;
    let pkcs8 = engine
        .decode(text(&file["keys"]["rsa"]["private_key_pkcs8_der_base64"]))
        .expect("base64");
    let pkcs1 = engine.encode(&pkcs8[26..]);
    let pem = format!("-----BEGIN RSA PRIVATE KEY-----\n{pkcs1}\n-----END RSA PRIVATE KEY-----\n");
    let at = VenueTime::from_ms(1_767_225_600_000);
    let window = Duration::from_secs(5);
    let one = Keys::rsa("k", &pem).expect("PKCS#1");
    let other = Keys::rsa("k", &self::pem(&file["keys"]["rsa"])).expect("PKCS#8");
    assert_eq!(one.sign(at, window, "x"), other.sign(at, window, "x"));
}

fn clock(input: &Value, leaves: &mut Leaves) {
    let server = VenueTime::from_ms(ms(&input["server_ms"]));
    let at = VenueTime::from_ms(ms(&input["timestamp_ms"]));
    let window = Duration::from_millis(ms(&input["recv_window_ms"]));
    let accepts = sign::gateway_accepts(server, at, window);
    leaves.check("gateway_accepts", accepts);
    let code = ms(&leaves.take("retCode"));
    assert_eq!(accepts, code == 0);
    if !accepts {
        let refused = outcome::submission(&said(code, "window"), "k");
        assert!(
            matches!(refused, Submission::NotTaken { .. }),
            "{refused:?}"
        );
    }
}

fn id_rule(input: &Value, leaves: &mut Leaves) {
    leaves.check("locally_valid", id::allowed(text(&input["orderLinkId"])));
    // What the server answers is met only by an id that got past us; it never reads as a yes, and its text is kept.
    if leaves.has("server_retCode") {
        let code = ms(&leaves.take("server_retCode"));
        let message = leaves.take("server_retMsg");
        match outcome::submission(&said(code, text(&message)), "k") {
            Submission::Rejected(reject) => assert_eq!(json!(reject.reason.text), message),
            Submission::Unknown(cause) => assert!(cause.0.contains(text(&message)), "{cause}"),
            other => panic!("{code}: {other:?}"),
        }
    }
    if leaves.has("server_answer") {
        assert!(text(&leaves.take("server_answer")).starts_with("UNSURE"));
    }
}

fn said(code: u64, message: &str) -> Sent {
    let body =
        json!({"retCode": code, "retMsg": message, "result": {}, "retExtInfo": {}, "time": 1});
    Ok(Answer::new(200, [("", "")], body.to_string()))
}

/// The response of a case as the transport would say it.
pub(crate) fn sent(input: &Value) -> Sent {
    let response = &input["response"];
    if let Some(error) = response["transport_error"].as_str() {
        return transport_error(error);
    }
    let status = u16::try_from(ms(&response["status"])).expect("a status");
    let body = match response.get("body_text") {
        Some(raw) => text(raw).to_owned(),
        None => response["body"].to_string(),
    };
    let headers: Vec<(&str, &str)> = response["headers"]
        .as_object()
        .expect("headers")
        .iter()
        .map(|(name, value)| (name.as_str(), text(value)))
        .collect();
    Ok(Answer::new(status, headers, body))
}

pub(crate) fn transport_error(words: &str) -> Sent {
    Err(match words {
        "connect refused" => SendFailure::NotSent(NotSent::Connect(words.into())),
        other => SendFailure::Unknown(UnknownCause::new(other)),
    })
}

fn http(cases: &[Value], input: &Value, leaves: &mut Leaves) {
    let (request, sent) = (&input["request"], sent(input));
    match text(&request["path"]) {
        "/v5/order/create" => create(input, &sent, leaves),
        "/v5/order/cancel" => {
            let outcome = outcome::cancel(&sent, text(&request["orderLinkId"]));
            leaves.check("class", cancel_class(&outcome));
            leaves.check_if("order_is_final", || {
                json!(matches!(outcome, CancelOutcome::Canceled(_)))
            });
        }
        "/v5/order/amend" => {
            let class = match outcome::amend(&sent, text(&request["orderLinkId"])) {
                AmendOutcome::Taken => "ACK",
                AmendOutcome::NotOpen => "NOT_OPEN",
                AmendOutcome::Rejected(_) => "REJECT",
                AmendOutcome::NotSent(_) => "RETRY_SAFE",
                AmendOutcome::Unknown(_) | AmendOutcome::Unsupported => "UNKNOWN",
            };
            leaves.check("class", class);
        }
        "/v5/order/cancel-all" => match outcome::cancel_all(&sent).expect("no refusal") {
            CancelAllOutcome::Taken(handles) => {
                leaves.check("class", "ACK");
                let ids: Vec<String> = handles
                    .iter()
                    .map(|handle| handle.order_id.as_ref().expect("an id").to_string())
                    .collect();
                leaves.check("accepted_ids", ids);
            }
            CancelAllOutcome::Unknown(_) => leaves.check("class", "UNKNOWN"),
        },
        "/v5/order/create-batch" => {
            let keys = items(request);
            let outcomes = outcome::submissions(&sent, &keys);
            batch(outcomes.iter().map(create_class).collect(), leaves);
        }
        "/v5/order/cancel-batch" => {
            let keys = items(request);
            let outcomes = outcome::cancels(&sent, &keys);
            batch(outcomes.iter().map(cancel_class).collect(), leaves);
        }
        "/v5/order/realtime" | "/v5/order/history" => lookup(request, &sent, leaves),
        "/v5/execution/list" => executions(cases, input, &sent, leaves),
        "/v5/market/time" => {
            leaves.check("class", "OK");
            leaves.check(
                "server_ms",
                market::server_time(&sent).expect("a time").as_ms(),
            );
        }
        "/v5/market/instruments-info" => instruments(&sent, leaves),
        "/v5/position/list" => {
            let page = market::positions(&sent).expect("positions");
            assert_eq!((page.rows.len(), page.unreadable.len()), (1, 0));
            leaves.check("class", "OK");
            leaves.check("position.signed_size", page.rows[0].signed_qty.to_string());
        }
        "/v5/account/wallet-balance" => {
            let wallet = market::wallet(&sent).expect("a wallet");
            leaves.check("class", "OK");
            leaves.check("usdt_wallet", wallet.coins[&"USDT".into()].to_string());
            leaves.check("available_usd", wallet.available_usd.to_string());
        }
        other => panic!("unknown path {other}"),
    }
}

fn create(input: &Value, sent: &Sent, leaves: &mut Leaves) {
    let key = text(&input["request"]["orderLinkId"]);
    let outcome = outcome::submission(sent, key);
    leaves.check("class", create_class(&outcome));
    if let Submission::Acked(report) = &outcome {
        assert_eq!(report.handle.key.as_ref().expect("a key").as_str(), key);
        let order_id = report.handle.order_id.as_ref().expect("an order id");
        leaves.check("venue_order_id", order_id.as_str());
        leaves.check("order_is_final", report.status != OrdStatus::Open);
    }
    if let Submission::Rejected(reject) = &outcome {
        // Absent means that only this order is concerned.
        let halts = reject.halts_account;
        assert_eq!(leaves.has("halt"), halts, "{}", leaves.case);
        leaves.check_if("halt", || json!(halts));
    }
    if leaves.has("wait_until_ms") {
        let Submission::NotTaken { retry_after, .. } = &outcome else {
            panic!("{outcome:?}")
        };
        let answered = outcome::answered_at(sent).expect("a time");
        let until = answered.after(retry_after.expect("a wait"));
        leaves.check("wait_until_ms", until.as_ms());
    }
}

fn create_class(outcome: &Submission) -> &'static str {
    match outcome {
        Submission::Acked(_) => "ACK",
        Submission::Rejected(_) => "REJECT",
        Submission::Duplicate(_) => "DUPLICATE",
        Submission::NotTaken { .. } | Submission::NotSent(_) => "RETRY_SAFE",
        Submission::Unknown(_) | Submission::Received(_) => "UNKNOWN",
    }
}

fn cancel_class(outcome: &CancelOutcome) -> &'static str {
    match outcome {
        CancelOutcome::Taken | CancelOutcome::Canceled(_) => "ACK",
        CancelOutcome::NotOpen => "NOT_OPEN",
        CancelOutcome::NotYet => "RETRY_SAFE",
        CancelOutcome::Unknown(_) => "UNKNOWN",
    }
}

fn items(request: &Value) -> Vec<&str> {
    request["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(text)
        .collect()
}

/// Either each item has a class of its own, or one holds for all of them.
fn batch(classes: Vec<&'static str>, leaves: &mut Leaves) {
    if leaves.has("items") {
        leaves.check("class", "BATCH");
        leaves.check("items", classes);
    } else {
        leaves.check("applies_to", "all items");
        let class = leaves.take("class");
        assert!(classes.iter().all(|one| *one == class), "{classes:?}");
    }
}

fn lookup(request: &Value, sent: &Sent, leaves: &mut Leaves) {
    let key = text(&request["query"]["orderLinkId"]);
    let page = match rows::orders(sent) {
        Ok(page) => page,
        Err(ReadFailure::Refused(_)) => return leaves.check("class", "LOOKUP_ERROR"),
        Err(other) => panic!("{}: {other}", leaves.case),
    };
    assert!(page.unreadable.is_empty(), "{:?}", page.unreadable);
    let at = AsOf::Clock(VenueTime::from_ms(1));
    let found = outcome::lookup(key, &page.rows, Vec::new(), at, at);
    let row = page
        .rows
        .iter()
        .find(|row| row.key.as_ref().map(|key| key.as_str()) == Some(key));
    match (&found, row) {
        (Lookup::Absent { .. }, None) => leaves.check("class", "MISS"),
        (Lookup::Inconclusive(_), None) => leaves.check("class", "LOOKUP_ERROR"),
        // Found, and in a state that says nothing.
        (Lookup::Inconclusive(_), Some(row)) if row.status.ord_status().is_none() => {
            leaves.check("class", "FOUND");
            leaves.check("order.state", state(row));
            leaves.check("order.terminal", Value::Null);
        }
        (Lookup::Found(reports), Some(row)) => {
            assert_eq!(reports.len(), 1);
            let report = &reports[0];
            leaves.check("class", "FOUND");
            leaves.check("order.state", state(row));
            leaves.check("order.terminal", report.status != OrdStatus::Open);
            let filled = report.cum_qty.expect("a quantity");
            leaves.check("order.filled", filled.to_string());
            leaves.check_if("order.order_id", || json!(row.order_id.as_str()));
            leaves.check_if("order.avg_price", || {
                json!(report.avg_px.expect("a price").to_string())
            });
        }
        other => panic!("{}: {other:?}", leaves.case),
    }
}

fn state(row: &OrderRow) -> &'static str {
    match row.status {
        Status::New => "OPEN",
        Status::PartiallyFilled => "PARTIAL",
        Status::Untriggered => "UNTRIGGERED",
        Status::Triggered => "TRIGGERED",
        Status::Filled => "FILLED",
        Status::Cancelled | Status::PartiallyFilledCanceled | Status::Deactivated => "CANCELLED",
        Status::Rejected => "REJECTED",
        Status::Other(_) => "UNRECOGNISED",
    }
}

fn executions(cases: &[Value], input: &Value, sent: &Sent, leaves: &mut Leaves) {
    let page = rows::fills(sent).expect("executions");
    assert!(page.unreadable.is_empty(), "{:?}", page.unreadable);
    leaves.check("class", "PAGE");
    leaves.check("fills", page.rows.len());
    leaves.check_if("next_cursor", || json!(page.next));
    leaves.check_if("ignored", || {
        let list = &input["response"]["body"]["result"]["list"];
        json!(list.as_array().expect("a list").len() - page.rows.len())
    });
    // The page before this one is that whose cursor was sent.
    let mut all: Vec<FillRow> = Vec::new();
    if let Some(cursor) = input["request"]["query"].get("cursor") {
        let next = |case: &&Value| {
            let result = &case["input"]["response"]["body"]["result"];
            text(&case["kind"]) == "http" && result["nextPageCursor"] == *cursor
        };
        let before = cases.iter().find(next).expect("the page before");
        all.extend(
            rows::fills(&self::sent(&before["input"]))
                .expect("executions")
                .rows,
        );
    }
    all.extend(page.rows);
    let totals = Totals::of(all.iter().map(|row| &row.fill)).expect("sums");
    leaves.check_if("after_both_pages.filled", || json!(totals.qty.to_string()));
    leaves.check_if("after_both_pages.value", || {
        json!(totals.value.normalize().to_string())
    });
    leaves.check_if("after_both_pages.avg_price", || {
        json!(
            totals
                .avg_px()
                .expect("a price")
                .value()
                .round_dp(18)
                .to_string()
        )
    });
    leaves.check_if("after_both_pages.exec_ids", || {
        let ids: std::collections::BTreeSet<_> = all.iter().map(|row| &row.fill.exec_id).collect();
        json!(ids.len())
    });
    for (currency, fee) in &totals.fees {
        leaves.check_if(&format!("after_both_pages.fee.{currency}"), || {
            json!(fee.to_string())
        });
    }
}

fn instruments(sent: &Sent, leaves: &mut Leaves) {
    let page = market::instruments(sent).expect("instruments");
    assert_eq!((page.rows.len(), page.unreadable.len()), (1, 0));
    let listed = &page.rows[0].instrument;
    leaves.check("class", "OK");
    leaves.check("filters.tick", listed.tick.to_string());
    leaves.check("filters.qty_step", listed.qty_step.to_string());
    leaves.check("filters.min_notional", listed.min_notional.to_string());
    leaves.check("filters.max_limit_qty", listed.max_limit_qty.to_string());
    leaves.check("filters.max_market_qty", listed.max_market_qty.to_string());
    leaves.check_if("filters.min_qty", || json!(listed.min_qty.to_string()));
}
