//! Every case of the shared file whose kind this crate speaks, through the functions that the adapter uses. Every normative leaf
//! counts: one that is left over fails.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};
use surefill_bybit::outcome::{self, Sent};
use surefill_bybit::rows::{self, FillRow, OrderRow, ReadFailure, Status, Totals};
use surefill_bybit::{Keys, id, market, sign};
use surefill_core::{
    AmendOutcome, AsOf, CancelAllOutcome, CancelOutcome, Lookup, NotSent, OrdStatus, Submission,
    UnknownCause, VenueTime,
};
use surefill_transport::{Answer, SendFailure};

const VECTORS: &str = include_str!("../vectors/bybit.json");

/// The normative leaves of a case, by path.
struct Leaves {
    case: String,
    open: BTreeMap<String, Value>,
}

impl Leaves {
    fn of(case: &Value, not_checked: &[Value]) -> Self {
        let mut open = BTreeMap::new();
        flatten("", &case["expect"], not_checked, &mut open);
        Self {
            case: case["id"].as_str().expect("an id").to_owned(),
            open,
        }
    }

    fn has(&self, path: &str) -> bool {
        self.open.contains_key(path)
    }

    fn take(&mut self, path: &str) -> Value {
        let leaf = self.open.remove(path);
        leaf.unwrap_or_else(|| panic!("{}: no leaf {path}", self.case))
    }

    /// The leaf must be there and equal.
    fn check(&mut self, path: &str, got: impl Into<Value>) {
        assert_eq!(got.into(), self.take(path), "{}: {path}", self.case);
    }

    /// The leaf must be equal if it is there.
    fn check_if(&mut self, path: &str, got: impl FnOnce() -> Value) {
        if self.has(path) {
            self.check(path, got());
        }
    }

    fn done(self) {
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

#[test]
fn every_vector_of_a_kind_that_is_spoken_holds() {
    let file: Value = serde_json::from_str(VECTORS).expect("JSON");
    let cases = file["vectors"].as_array().expect("cases");
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
            // Streams and the trade socket are not spoken yet; sequences are the engine's.
            "ws" | "ws_auth" | "ws_request" | "sequence" => continue,
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

fn ms(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("milliseconds: {value}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("text: {value}"))
}

fn rest_sign(file: &Value, input: &Value, leaves: &mut Leaves) {
    let named = &file["keys"][text(&input["key_ref"])];
    let api_key = text(&named["api_key"]);
    let keys = match text(&input["scheme"]) {
        "hmac-sha256-hex" => Keys::hmac(api_key, text(&named["api_secret"])),
        "rsa-pkcs1v15-sha256-base64" => Keys::rsa(api_key, &pem(named)),
        other => panic!("unknown scheme {other}"),
    }
    .expect("keys");
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
fn sent(input: &Value) -> Sent {
    let response = &input["response"];
    match response["transport_error"].as_str() {
        Some("connect refused") => {
            return Err(SendFailure::NotSent(NotSent::Connect(
                "connect refused".into(),
            )));
        }
        Some(other) => return Err(SendFailure::Unknown(UnknownCause::new(other))),
        None => {}
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
