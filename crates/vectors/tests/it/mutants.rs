//! A change of any checked leaf makes its case fail, and that case alone.

use serde_json::{Value, json};
use surefill_vectors::Kind;

use crate::files::{BUILT, checked, failing, read};

/// The paths of all checked leaves, as JSON pointers below `expect`.
fn leaves(value: &Value, skip: &[Value], path: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members
                .iter()
                .filter(|(name, _)| !skip.contains(&json!(name)))
            {
                leaves(value, skip, &format!("{path}/{name}"), into);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                leaves(value, skip, &format!("{path}/{at}"), into);
            }
        }
        _ => into.push(path.to_owned()),
    }
}

fn cases(file: &mut Value) -> &mut Vec<Value> {
    file["vectors"].as_array_mut().expect("cases")
}

/// Ways to change a leaf: a text's end, its begin, its case; a number by one; a flag; null.
fn changes(leaf: &Value) -> Vec<Value> {
    match leaf {
        Value::Null => vec![json!(true), json!("")],
        Value::Bool(flag) => vec![json!(!flag), Value::Null],
        Value::Number(number) => {
            let other = match number.as_u64() {
                Some(whole) => json!(whole + 1),
                None => json!(0),
            };
            vec![other, json!(number.to_string()), Value::Null]
        }
        Value::String(text) => {
            let mut changes = vec![json!(format!("{text}x")), json!(format!("0{text}"))];
            changes.extend((!text.is_empty()).then(|| json!("")));
            let upper = text.to_uppercase();
            changes.extend((upper != *text).then(|| json!(upper)));
            changes
        }
        Value::Array(_) | Value::Object(_) => vec![json!("x"), json!([1]), json!({"x": 1})],
    }
}

/// One leaf in every case at once: as many failures as cases.
#[test]
fn one_changed_leaf_in_every_case_fails_every_case() {
    for kind in Kind::ALL {
        let mut file = read(kind);
        let skip = file["not_checked"].as_array().expect("names").clone();
        let all = cases(&mut file).len();
        for case in cases(&mut file) {
            let mut paths = Vec::new();
            leaves(&case["expect"], &skip, "/expect", &mut paths);
            let leaf = case.pointer_mut(&paths[0]).expect("a leaf");
            *leaf = changes(leaf).remove(0);
        }
        let report = checked(kind, &file);
        assert_eq!((report.passed, report.failed), (0, all), "{kind}");
        assert_eq!(failing(&report).len(), all, "{kind}");
    }
}

/// Each leaf of each case, changed alone in each way.
#[test]
fn each_changed_leaf_fails_its_case_alone() {
    for kind in BUILT {
        let mut file = read(kind);
        let skip = file["not_checked"].as_array().expect("names").clone();
        // All cases at once, each with its n-th change: a file has fewer rounds than leaves.
        for round in 0.. {
            let mut changed = Vec::new();
            let mut mutant = file.clone();
            for case in cases(&mut mutant) {
                let mut paths = Vec::new();
                leaves(&case["expect"], &skip, "/expect", &mut paths);
                let all: Vec<_> = paths
                    .iter()
                    .flat_map(|path| {
                        let leaf = case.pointer(path).expect("a leaf");
                        changes(leaf).into_iter().map(move |change| (path, change))
                    })
                    .collect();
                if let Some((path, change)) = all.into_iter().nth(round) {
                    *case.pointer_mut(path).expect("a leaf") = change;
                    changed.push((case["id"].as_str().expect("an id").to_owned(), path.clone()));
                }
            }
            if changed.is_empty() {
                break;
            }
            let report = checked(kind, &mutant);
            let failing = failing(&report);
            for (id, path) in &changed {
                assert!(failing.contains(&**id), "{kind}: {id} {path}");
            }
            assert_eq!(failing.len(), changed.len(), "{kind}");
        }
        // A leaf more, of a name that nobody knows.
        for case in cases(&mut file) {
            case["expect"]["nobody_knows_it"] = json!(null);
        }
        let report = checked(kind, &file);
        assert_eq!(report.passed, 0, "{kind}");
        let unknown = |path: &str| path == "nobody_knows_it";
        assert!(
            report.failures.iter().all(|one| unknown(&one.path)),
            "{kind}"
        );
    }
}

/// One word in place of another of the same file.
#[test]
fn a_word_is_no_other_word() {
    let file = read(Kind::Bybit);
    let words: Vec<String> = file["words"]
        .as_object()
        .expect("words")
        .keys()
        .chain(file["classes"].as_object().expect("classes").keys())
        .cloned()
        .collect();
    for word in &words {
        let mut mutant = file.clone();
        let mut changed = 0;
        for case in cases(&mut mutant) {
            for name in ["class", "final"] {
                let leaf = case["expect"].get_mut(name);
                if let Some(leaf) = leaf.filter(|leaf| *leaf != word) {
                    *leaf = json!(word);
                    changed += 1;
                }
            }
        }
        let report = checked(Kind::Bybit, &mutant);
        assert_eq!(report.failed, changed, "{word}");
    }
}

/// An unknown kind is a failure, also where the venue is known.
#[test]
fn an_unknown_kind_fails() {
    for kind in BUILT {
        let mut file = read(kind);
        for case in cases(&mut file) {
            case["kind"] = json!("of_another_age");
        }
        let report = checked(kind, &file);
        assert_eq!(report.passed, 0);
        for failure in &report.failures {
            assert_eq!(failure.path, "kind");
            assert_eq!(failure.got, "unknown kind \"of_another_age\"");
        }
    }
}

/// Nothing is known of the public values beforehand: the same file with other ids, symbols and times holds as well.
#[test]
fn other_ids_symbols_and_times_hold_too() {
    let mut text = read(Kind::Bybit).to_string();
    for (one, other) in [
        (
            "3f9c1e0a7b5d42869c0e1f2a3b4c5d6e",
            "00000000000000000000000000000001",
        ),
        (
            "91aa07c4d2e84b6fb0357d1c8e42f6a0",
            "00000000000000000000000000000002",
        ),
        ("5b1e77c0-2d34-4c8e-9a51", "00000000-0000-0000-0001"),
        ("a0c6d2f4-0001", "00000000-0002"),
        ("sf1-b1-000", "other-"),
        ("BTCUSDT", "XRPUSDT"),
        ("ETHUSDT", "SOLUSDC"),
        ("17672", "18023"),
        ("c-000", "q-1"),
        ("9112000", "4321000"),
        ("SUREFILLFAKE", "ANOTHERFAKE"),
    ] {
        assert!(text.contains(one), "{one}");
        text = text.replace(one, other);
    }
    let report = checked(Kind::Bybit, &serde_json::from_str(&text).expect("JSON"));
    let signed = ["signature", "headers.X-BAPI-SIGN", "frame.args"];
    for failure in &report.failures {
        let of_key = matches!(&*failure.kind, "rest_sign" | "ws_auth");
        assert!(of_key && signed.contains(&&*failure.path), "{failure:?}");
    }
    assert_eq!(report.failed, 25);
}

/// A signature of another key, made by OpenSSL: `printf ... | openssl dgst -sha256 -hmac ...`.
#[test]
fn another_key_gives_the_signature_of_openssl() {
    let mut file = read(Kind::Bybit);
    file["keys"]["hmac"] = json!({"api_key": "K", "api_secret": "other"});
    cases(&mut file).retain(|case| case["id"] == "sign-01");
    file["count"] = json!(1);
    let report = checked(Kind::Bybit, &file);
    let got = |path: &str| {
        let failure = report.failures.iter().find(|one| one.path == path);
        failure.expect("it differs").got.clone()
    };
    assert_eq!(got("headers.X-BAPI-API-KEY"), "K");
    assert_eq!(
        got("signature"),
        "33162069beaa5e02925cce8711dfde00b06d0c57f082e462c081622d6a1fd196"
    );
}
