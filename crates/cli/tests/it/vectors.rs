//! `surefill vectors` over the public files, over changed ones, and over what is none.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{SURE, Said, run};

/// The kinds whose code is there, with the number of their cases.
const BUILT: [(&str, usize); 3] = [("ids", 16), ("bybit", 163), ("hyperliquid", 159)];

fn public(kind: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join(format!("../vectors/tests/vectors/{kind}.json"))
}

/// No configuration, no keys: the command needs neither.
fn vectors(kind: &str, file: &str, more: &[&str]) -> Said {
    let mut command = Command::new(SURE);
    command.env_clear().current_dir("/");
    run(command.args(["vectors", kind, file]).args(more))
}

#[test]
fn every_public_case_of_what_is_built_passes() {
    for (kind, cases) in BUILT {
        let file = public(kind);
        let file = file.to_str().unwrap();
        let document = vectors(kind, file, &["--json"]).with(0);
        let expected = json!({ "file": file, "passed": cases, "failed": 0, "failures": [] });
        assert_eq!(document, expected);
        let text = vectors(kind, file, &[]);
        assert_eq!(text.code, 0, "{text:?}");
        let last = text.out.lines().last().unwrap();
        assert_eq!(last, format!("{cases} passed, 0 failed"));
    }
}

#[test]
fn what_is_not_built_fails_by_name() {
    for kind in ["binance", "polymarket", "jito"] {
        let document = vectors(kind, public(kind).to_str().unwrap(), &["--json"]).with(1);
        assert_eq!(document["passed"], 0, "{kind}");
        let why = document["failures"][0]["got"].as_str().unwrap();
        assert!(why.contains("not built"), "{why}");
    }
}

/// The path of a text below `expect`, and the pointer to it.
fn leaf(value: &Value, path: String, pointer: String) -> Option<(String, String)> {
    match value {
        Value::String(_) => Some((path, pointer)),
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            // What a case presupposes is applied, not compared alone.
            if name == "given" {
                return None;
            }
            let path = match path.as_str() {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            leaf(value, path, format!("{pointer}/{name}"))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

#[test]
fn a_changed_leaf_is_named() {
    let dir = TempDir::new().unwrap();
    for (kind, cases) in BUILT {
        let bytes = std::fs::read(public(kind)).unwrap();
        let mut file: Value = serde_json::from_slice(&bytes).unwrap();
        let not_checked = file["not_checked"].clone();
        // The last case that expects a text; what is for people is not looked at.
        let mut backwards = file["vectors"].as_array_mut().unwrap().iter_mut().rev();
        let (case, path, pointer) = backwards
            .find_map(|case| {
                let expect = case["expect"].as_object_mut().unwrap();
                expect.retain(|name, _| !not_checked.as_array().unwrap().contains(&json!(name)));
                let (path, pointer) = leaf(&case["expect"], String::new(), String::new())?;
                Some((case, path, pointer))
            })
            .unwrap();
        let was = case["expect"].pointer(&pointer).unwrap().clone();
        *case["expect"].pointer_mut(&pointer).unwrap() = json!("changed");
        let (id, of) = (case["id"].clone(), case["kind"].clone());
        let changed = dir.path().join("changed.json");
        std::fs::write(&changed, file.to_string()).unwrap();
        let changed = changed.to_str().unwrap();
        let document = vectors(kind, changed, &["--json"]).with(1);
        assert_eq!(document["failed"], 1, "{document}");
        assert_eq!(document["passed"], cases - 1);
        let failure = &document["failures"][0];
        let expected =
            json!({ "id": id, "kind": of, "path": path, "expected": "changed", "got": was });
        assert_eq!(failure, &expected);
        let text = vectors(kind, changed, &[]);
        assert_eq!(text.code, 1, "{text:?}");
        assert!(text.out.contains(id.as_str().unwrap()), "{text:?}");
        let last = text.out.lines().last().unwrap();
        assert_eq!(last, format!("{} passed, 1 failed", cases - 1));
    }
}

#[test]
fn what_is_no_file_of_vectors_is_a_fault_of_usage() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("no.json"), "{\n  \"venue\": \"bybit\",\n  oops\n}").unwrap();
    std::fs::write(path("list.json"), "[]").unwrap();
    std::fs::write(path("binary.json"), [0xff, 0xfe, 0]).unwrap();
    let bybit = public("bybit").to_str().unwrap().to_owned();
    for (kind, file, names) in [
        (
            "bybit",
            path("no.json"),
            &["no.json", "line 3", "not JSON"][..],
        ),
        ("bybit", path("list.json"), &["list.json", "venue"]),
        ("bybit", path("binary.json"), &["binary.json", "line 1"]),
        ("bybit", path("missing.json"), &["missing.json"]),
        ("bybit", path(""), &["cannot be read"]),
        (
            "hyperliquid",
            bybit.clone(),
            &["bybit.json", "bybit", "hyperliquid"],
        ),
        ("kraken", bybit, &["VENUE", "kraken", "hyperliquid"]),
    ] {
        let said = vectors(kind, &file, &["--json"]);
        assert_eq!(said.with(2)["exit"], 2);
        for part in names {
            assert!(said.err.contains(part), "{part} is not named: {said:?}");
        }
    }
}
