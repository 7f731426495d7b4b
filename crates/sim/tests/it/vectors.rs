//! The wire by its vectors: signatures, the clock rule, spellings, and the shape of each row.

use serde_json::{Value, json};
use surefill_sim::bybit::{cl_ord_id, in_window, signature, signed_text};

use crate::support::{Sim, resting};

pub(crate) fn cases() -> Value {
    serde_json::from_str(include_str!("../vectors/bybit.json")).unwrap()
}

/// The frame of a `ws` vector.
pub(crate) fn frame_of(id: &str) -> Value {
    let all = of_kind("ws");
    let case = all.iter().find(|case| case["id"] == id);
    case.unwrap()["input"]["frame"].clone()
}

pub(crate) fn of_kind(kind: &str) -> Vec<Value> {
    let all = cases();
    all["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["kind"] == kind)
        .cloned()
        .collect()
}

pub(crate) fn body_of(id: &str) -> Value {
    let all = cases();
    let case = all["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .find(|case| case["id"] == id)
        .cloned()
        .unwrap();
    case["input"]["response"]["body"].clone()
}

#[test]
fn signatures_are_those_of_the_official_clients() {
    let secret = cases()["keys"]["hmac"]["api_secret"]
        .as_str()
        .unwrap()
        .to_owned();
    let key = cases()["keys"]["hmac"]["api_key"]
        .as_str()
        .unwrap()
        .to_owned();
    // What an RSA key signs is verified by the venue: `private::rsa_keys_of_the_vectors_are_let_in`.
    let mut signed = of_kind("rest_sign");
    signed.retain(|case| case["input"]["key_ref"] == "hmac");
    assert!(signed.len() >= 18, "all HMAC cases are here");
    for case in signed {
        let (input, expect) = (&case["input"], &case["expect"]);
        let at = input["timestamp_ms"].to_string();
        let window = input["recv_window_ms"].to_string();
        let text = signed_text(
            &at,
            &key,
            &window,
            input["payload"].as_str().unwrap().as_bytes(),
        );
        assert_eq!(
            String::from_utf8(text.clone()).unwrap(),
            expect["prehash"].as_str().unwrap(),
            "{}",
            case["id"]
        );
        assert_eq!(
            signature(&secret, &text),
            expect["signature"].as_str().unwrap(),
            "{}",
            case["id"]
        );
    }
}

#[test]
fn the_clock_rule_is_exact_to_the_millisecond() {
    let clock = of_kind("clock");
    assert_eq!(clock.len(), 6);
    for case in clock {
        let number = |name: &str| case["input"][name].as_u64().unwrap();
        let accepted = in_window(
            number("server_ms"),
            number("timestamp_ms"),
            number("recv_window_ms"),
        );
        assert_eq!(
            accepted,
            case["expect"]["gateway_accepts"].as_bool().unwrap(),
            "{}",
            case["id"]
        );
    }
}

#[tokio::test]
async fn the_gate_keeps_the_clock_rule() {
    let sim = Sim::start().await;
    sim.set("/clock", json!({ "rate": 0 })).await;
    let server_ms = sim.now_ms().await;
    for (index, case) in of_kind("clock").into_iter().enumerate() {
        let number = |name: &str| case["input"][name].as_i64().unwrap();
        let at_ms = server_ms
            .checked_add_signed(number("timestamp_ms") - number("server_ms"))
            .unwrap();
        let body = resting(&format!("clock-{index}")).to_string();
        let window = u64::try_from(number("recv_window_ms")).unwrap();
        let bytes = sim.signed("POST", "/v5/order/create", "", &body, at_ms, window);
        let answer = crate::support::send(sim.addr(), bytes).await.unwrap();
        assert_eq!(
            answer.code(),
            case["expect"]["retCode"].as_i64().unwrap(),
            "{}",
            case["id"]
        );
    }
}

#[test]
fn ids_of_ours_are_read_back() {
    let ids: Value = serde_json::from_str(include_str!("../vectors/ids.json")).unwrap();
    let ids = ids["cases"].as_array().unwrap();
    assert!(!ids.is_empty());
    for id in ids {
        assert_eq!(
            cl_ord_id(id["bybit"].as_str().unwrap()).as_deref(),
            id["cl_ord_id"].as_str()
        );
    }
    for not_ours in [
        "",
        "sf1-",
        "someone-elses-id",
        "sf1-3f9c1e0a7b5d42869c0e1f2a3b4c5d6e",
        "sf1-uuuuuuuuuuuuuuuuuuuuuuuuuu",
    ] {
        assert_eq!(cl_ord_id(not_ours), None, "{not_ours}");
    }
}

/// Each field of `want` is in `got`, with the same JSON type.
pub(crate) fn same_shape(path: &str, got: &Value, want: &Value) {
    match (got, want) {
        (Value::Object(got), Value::Object(want)) => {
            for (name, want) in want {
                let got = got
                    .get(name)
                    .unwrap_or_else(|| panic!("{path}.{name} is missing"));
                if name != "cumFeeDetail" && name != "symbolId" {
                    same_shape(&format!("{path}.{name}"), got, want);
                }
            }
        }
        (Value::Array(got), Value::Array(want)) => {
            if let Some(want) = want.first() {
                same_shape(
                    &format!("{path}[0]"),
                    got.first().unwrap_or_else(|| panic!("{path} is empty")),
                    want,
                );
            }
        }
        _ => assert_eq!(
            std::mem::discriminant(got),
            std::mem::discriminant(want),
            "{path}: {got} against {want}"
        ),
    }
}

#[tokio::test]
async fn rows_have_the_shapes_of_the_vectors() {
    let sim = Sim::start().await;
    assert_eq!(sim.create("shape-1").await.unwrap().code(), 0);
    let by_id = "category=linear&symbol=BTCUSDT&orderLinkId=shape-1";
    same_shape(
        "realtime",
        &sim.get("/v5/order/realtime", by_id).await.json(),
        &body_of("http-look-01"),
    );
    sim.set(
        "/fill",
        json!({ "cl_ord_id": "shape-1", "qty": "0.01", "price": "60000" }),
    )
    .await;
    sim.set(
        "/fill",
        json!({ "cl_ord_id": "shape-1", "qty": "0.02", "price": "60000" }),
    )
    .await;
    same_shape(
        "history",
        &sim.get("/v5/order/history", by_id).await.json(),
        &body_of("http-look-11"),
    );
    same_shape(
        "executions",
        &sim.get("/v5/execution/list", by_id).await.json(),
        &body_of("http-exec-01"),
    );
    let symbol = "category=linear&symbol=BTCUSDT";
    same_shape(
        "positions",
        &sim.get("/v5/position/list", symbol).await.json(),
        &body_of("http-pos-01"),
    );
    same_shape(
        "time",
        &sim.get("/v5/market/time", "").await.json(),
        &body_of("http-mkt-01"),
    );
    let mut wanted = body_of("http-mkt-02");
    wanted["result"]["list"][0]
        .as_object_mut()
        .unwrap()
        .remove("symbolId");
    let got = sim.get("/v5/market/instruments-info", symbol).await.json();
    same_shape("instruments", &got, &wanted);
    for part in [
        "tickSize",
        "qtyStep",
        "minOrderQty",
        "minNotionalValue",
        "maxOrderQty",
        "maxMktOrderQty",
    ] {
        let find = |body: &Value| {
            let row = body["result"]["list"][0].clone();
            [&row["priceFilter"][part], &row["lotSizeFilter"][part]]
                .into_iter()
                .find(|v| !v.is_null())
                .cloned()
        };
        assert_eq!(find(&got), find(&wanted), "{part}");
    }
}
