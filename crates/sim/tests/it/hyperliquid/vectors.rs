//! The wire by its vectors: each step of the hash, the recovered signer, and the rules for prices and sizes.

use rust_decimal::Decimal;
use serde_json::{Value, json};
use surefill_sim::hyperliquid::{hash_action, price_fits, recover_signer, size_fits};

use super::client::{FIRST, Key, Sim, bytes, cloid, orders, resting};

fn of_kinds(kinds: &[&str]) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../../vectors/hyperliquid.json")).unwrap();
    let all = all["vectors"].as_array().unwrap();
    let fits = |case: &&Value| kinds.iter().any(|kind| case["kind"] == *kind);
    all.iter().filter(fits).cloned().collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_step_of_every_hash_is_that_of_the_vectors_and_gives_the_signer() {
    let cases = of_kinds(&["l1_action", "user_signed"]);
    assert_eq!(cases.len(), 74);
    for case in cases {
        let (id, input, expect) = (&case["id"], &case["input"], &case["expect"]);
        let hashed = hash_action(
            input["action_json"].as_str().unwrap(),
            input["nonce"].as_u64().unwrap(),
            input["vault_address"].as_str(),
            input["expires_after"].as_u64(),
            input["is_mainnet"].as_bool().unwrap(),
        )
        .unwrap_or_else(|| panic!("{id} does not deserialize"));
        let mut steps = vec![
            ("eip712_domain_separator", hex(&hashed.domain_separator)),
            ("eip712_struct_hash", hex(&hashed.struct_hash)),
            ("eip712_digest", hex(&hashed.digest)),
        ];
        if case["kind"] == "l1_action" {
            steps.push(("action_msgpack_hex", hex(&hashed.packed)));
            steps.push(("hash_preimage_hex", hex(&hashed.preimage)));
            steps.push(("connection_id", hex(&hashed.connection_id)));
        }
        for (name, step) in steps {
            let expected = expect[name].as_str().unwrap();
            assert_eq!(step, expected.trim_start_matches("0x"), "{id}: {name}");
        }
        let (r, s) = (
            expect["r_padded"].as_str().unwrap(),
            expect["s_padded"].as_str().unwrap(),
        );
        let v = expect["v"].as_u64().unwrap();
        let stripped = |word: &str| format!("0x{}", word[2..].trim_start_matches('0'));
        for (r, s) in [(r.to_owned(), s.to_owned()), (stripped(r), stripped(s))] {
            let signer = recover_signer(&hashed.digest, &r, &s, v);
            assert_eq!(signer.as_deref(), expect["signer_address"].as_str(), "{id}");
        }
        let other = recover_signer(&hashed.digest, r, s, 55 - v);
        assert_ne!(other.as_deref(), expect["signer_address"].as_str(), "{id}");
    }
}

#[test]
fn prices_and_sizes_fit_as_the_vectors_say() {
    let decimal = |value: &Value| value.as_str().unwrap().parse::<Decimal>().unwrap();
    let cases = of_kinds(&["price_rule", "size_rule"]);
    assert_eq!(cases.len(), 36);
    for case in cases {
        let input = &case["input"];
        let sz_decimals = u32::try_from(input["sz_decimals"].as_u64().unwrap()).unwrap();
        let fits = if case["kind"] == "price_rule" {
            price_fits(
                decimal(&input["price"]),
                sz_decimals,
                input["market"] == "spot",
            )
        } else {
            size_fits(decimal(&input["size"]), sz_decimals)
        };
        assert_eq!(Value::from(fits), case["expect"]["valid"], "{case}");
    }
}

#[test]
fn what_is_no_signature_recovers_nobody() {
    let word = format!("0x{}", "11".repeat(32));
    for (r, s, v) in [
        ("0x0", word.as_str(), 27),
        (&word, "0x0", 27),
        (&word, &word, 29),
        (&word, &word, 0),
        ("0x", &word, 27),
        ("11", &word, 27),
        ("0xzz", &word, 27),
        (&format!("0x{}", "ff".repeat(32)), &word, 27),
        (&format!("0x{}", "11".repeat(33)), &word, 27),
    ] {
        assert_eq!(recover_signer(&[7; 32], r, s, v), None, "{r} {s} {v}");
    }
    assert_eq!(bytes("0x0102"), [1, 2]);
    assert_eq!(
        Key::new(FIRST).address,
        "0x14791697260e4c9a71f18484c9f997b308e59325"
    );
}

#[tokio::test]
async fn spellings_that_mean_the_same_recover_the_same_signer() {
    let sim = Sim::start().await;
    let order = json!({ "c": "0x0000000000000000000000000000ABCD", "t": { "limit": { "tif": "Gtc" } }, "r": false,
        "s": "00.0200", "p": "02400.50000000", "b": true, "a": 1, "unknown": "ignored" });
    let canonical = json!({ "type": "order", "grouping": "na", "orders": [{
        "a": 1, "b": true, "p": "2400.5", "s": "0.02", "r": false, "t": { "limit": { "tif": "Gtc" } },
        "c": cloid(0xABCD),
    }] });
    let mut body = sim.body(canonical).await;
    body["action"] = orders(&[order]);
    let answer = sim.post("/exchange", &body).await.unwrap().json();
    assert_eq!(
        answer["response"]["data"]["statuses"][0]["resting"]["cloid"],
        cloid(0xABCD)
    );
    let held = sim.held(&cloid(0xABCD)[2..]).await;
    assert_eq!(
        (&held[0]["price"], &held[0]["order_qty"]),
        (&json!("2400.5"), &json!("0.02"))
    );
}

#[tokio::test]
async fn any_change_of_what_was_signed_is_another_signer() {
    let sim = Sim::start().await;
    let changes: [fn(&mut Value); 4] = [
        |body| body["nonce"] = json!(body["nonce"].as_u64().unwrap() + 1),
        |body| body["action"]["orders"][0]["p"] = json!("2400.6"),
        |body| body["expiresAfter"] = json!(body["nonce"].as_u64().unwrap() + 60_000),
        |body| body["action"]["orders"][0]["c"] = Value::Null,
    ];
    for change in changes {
        let mut body = sim.body(orders(&[resting(1)])).await;
        change(&mut body);
        let answer = sim.post("/exchange", &body).await.unwrap().json();
        let text = answer["response"].as_str().unwrap();
        assert!(text.starts_with("User or API Wallet 0x"), "{text}");
        assert!(text.ends_with(" does not exist.") && !text.contains(&sim.user()));
    }
    assert_eq!(sim.control("/orders").await, json!([]));
}
