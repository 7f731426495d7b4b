//! The public files, and what is known of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;
use surefill_vectors::{Kind, Report, check, run};

/// Kinds whose code is there.
pub(crate) const BUILT: [Kind; 3] = [Kind::Ids, Kind::Bybit, Kind::Hyperliquid];

pub(crate) fn path(kind: Kind) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/vectors").join(format!("{kind}.json"))
}

pub(crate) fn read(kind: Kind) -> Value {
    let bytes = std::fs::read(path(kind)).expect("the file");
    serde_json::from_slice(&bytes).expect("JSON")
}

pub(crate) fn checked(kind: Kind, file: &Value) -> Report {
    check(kind, "changed.json", file.to_string().as_bytes()).expect("in the frame")
}

pub(crate) fn failing(report: &Report) -> BTreeSet<&str> {
    report.failures.iter().map(|failure| &*failure.id).collect()
}

#[test]
fn every_case_of_what_is_built_passes() {
    for kind in BUILT {
        let report = run(kind, &path(kind)).expect("in the frame");
        assert_eq!(report.failures, [], "{kind}");
        assert_eq!(
            report.passed,
            read(kind)["vectors"].as_array().expect("cases").len()
        );
    }
}

#[test]
fn every_kind_of_case_is_there() {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for kind in BUILT {
        for case in read(kind)["vectors"].as_array().expect("cases") {
            let of = case["kind"].as_str().expect("a kind");
            *counts.entry((kind.to_string(), of.to_owned())).or_default() += 1;
        }
    }
    let expected = [
        ("bybit", "clock", 6),
        ("bybit", "http", 82),
        ("bybit", "id_rule", 8),
        ("bybit", "rest_sign", 22),
        ("bybit", "sequence", 13),
        ("bybit", "ws", 26),
        ("bybit", "ws_auth", 3),
        ("bybit", "ws_request", 3),
        ("hyperliquid", "l1_action", 61),
        ("hyperliquid", "number_to_int", 9),
        ("hyperliquid", "number_to_wire", 40),
        ("hyperliquid", "price_rule", 28),
        ("hyperliquid", "size_rule", 8),
        ("hyperliquid", "user_signed", 13),
        ("ids", "cl_ord_id", 16),
    ];
    let counts: Vec<_> = counts
        .iter()
        .map(|((kind, of), count)| (kind.as_str(), of.as_str(), *count))
        .collect();
    assert_eq!(counts, expected);
}

/// What has no code yet fails by name, never silently.
#[test]
fn what_is_not_built_fails_by_name() {
    for kind in Kind::ALL {
        if BUILT.contains(&kind) {
            continue;
        }
        let report = run(kind, &path(kind)).expect("in the frame");
        let cases = read(kind)["vectors"].as_array().expect("cases").len();
        assert_eq!((report.passed, report.failed), (0, cases), "{kind}");
        assert_eq!(failing(&report).len(), cases, "{kind}");
        for failure in &report.failures {
            let why = failure.got.as_str().expect("a text");
            assert!(
                why.contains("not built yet") && why.contains(kind.as_str()),
                "{why}"
            );
            let fix = failure.kind == "sign_fix_logon";
            assert_eq!(why.contains("FIX logon"), fix, "{}: {why}", failure.id);
        }
    }
    let report = run(Kind::Binance, &path(Kind::Binance)).expect("in the frame");
    let fix = report
        .failures
        .iter()
        .filter(|one| one.kind == "sign_fix_logon");
    assert_eq!(fix.count(), 2);
}
