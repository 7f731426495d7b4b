//! The shared file, recomputed by `surefill-vectors` through the functions that the adapter uses.

use std::path::Path;
use std::time::Duration;

use base64::Engine;
use serde_json::Value;
use surefill_bybit::Keys;
use surefill_core::VenueTime;
use surefill_vectors::{Kind, run};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../vectors/tests/vectors/bybit.json"
);

fn file() -> Value {
    let bytes = std::fs::read(FILE).expect("the file");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("text: {value}"))
}

#[test]
fn every_vector_holds() {
    let report = run(Kind::Bybit, Path::new(FILE)).expect("in the frame");
    assert_eq!(report.failures, []);
    assert_eq!((report.passed, report.failed), (163, 0));
}

/// The README names each case that the venue has not confirmed, and no other.
#[test]
fn every_uncertain_case_is_in_the_readme() {
    let readme = include_str!("../../README.md");
    let file = file();
    let cases = file["vectors"].as_array().expect("cases");
    for case in cases {
        let named = readme.contains(&format!("| `{}` |", text(&case["id"])));
        assert_eq!(named, case.get("uncertain").is_some(), "{}", case["id"]);
    }
}

/// The vectors' key in the other spelling of private keys: what is inside of PKCS#8 is PKCS#1.
#[test]
fn an_rsa_key_is_read_in_pkcs1_too() {
    let file = file();
    let body = text(&file["keys"]["rsa"]["private_key_pkcs8_der_base64"]);
    let engine = base64::engine::general_purpose::STANDARD;
    let pkcs8 = engine.decode(body).expect("base64");
    let pkcs1 = engine.encode(&pkcs8[26..]);
    let pem =
        |kind: &str, body: &str| format!("-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n");
    let at = VenueTime::from_ms(1_767_225_600_000);
    let window = Duration::from_secs(5);
    let one = Keys::rsa("k", &pem("RSA PRIVATE KEY", &pkcs1)).expect("PKCS#1");
    let other = Keys::rsa("k", &pem("PRIVATE KEY", body)).expect("PKCS#8");
    assert_eq!(one.sign(at, window, "x"), other.sign(at, window, "x"));
}
