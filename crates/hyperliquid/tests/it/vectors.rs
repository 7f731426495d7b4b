//! Every case of the shared file, through the functions that the adapter signs with. Every normative leaf counts, and so does one that
//! is left over.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use surefill_hyperliquid::action::{
    Cancel, CancelByCloid, CancelItem, CloidItem, Limit, Noop, Order, OrderItem, ScheduleCancel,
    Tif, UpdateLeverage,
};
use surefill_hyperliquid::sign;

use crate::kinds;

const VECTORS: &str = include_str!("../vectors/hyperliquid.json");

fn file() -> Value {
    serde_json::from_str(VECTORS).expect("JSON")
}

/// The leaves of a value by path, without those that are not normative.
fn leaves(value: &Value, skip: &BTreeSet<String>) -> BTreeMap<String, Value> {
    fn walk(
        path: &str,
        value: &Value,
        skip: &BTreeSet<String>,
        into: &mut BTreeMap<String, Value>,
    ) {
        let Some(object) = value.as_object() else {
            into.insert(path.to_owned(), value.clone());
            return;
        };
        for (key, value) in object.iter().filter(|(key, _)| !skip.contains(*key)) {
            walk(&format!("{path}/{key}"), value, skip, into);
        }
    }
    let mut into = BTreeMap::new();
    walk("", value, skip, &mut into);
    into
}

/// Which leaves of a case differ, in words. A leaf that was not computed differs.
fn differences(case: &Value, skip: &BTreeSet<String>) -> Vec<String> {
    let kind = case["kind"].as_str().unwrap_or_default();
    let got = match kinds::got(kind, &case["input"]) {
        Ok(got) => leaves(&got, &BTreeSet::new()),
        Err(error) => return vec![error],
    };
    let expected = leaves(&case["expect"], skip);
    let differs = |(path, expected): (&String, &Value)| {
        let got = got.get(path);
        (got != Some(expected)).then(|| format!("{path}: expected {expected}, got {got:?}"))
    };
    let mut differences: Vec<String> = expected.iter().filter_map(differs).collect();
    if expected.is_empty() {
        differences.push("nothing is expected".to_owned());
    }
    differences
}

fn not_checked(file: &Value) -> BTreeSet<String> {
    let names = file["not_checked"].as_array().expect("names");
    names
        .iter()
        .map(|name| name.as_str().expect("a name").to_owned())
        .collect()
}

fn cases(file: &Value) -> &[Value] {
    file["vectors"].as_array().expect("cases")
}

#[test]
fn every_vector_holds() {
    let file = file();
    let skip = not_checked(&file);
    let mut wrong = Vec::new();
    for case in cases(&file) {
        let differing = differences(case, &skip);
        wrong.extend(
            differing
                .into_iter()
                .map(|text| format!("{}: {text}", case["id"])),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(json!(cases(&file).len()), file["count"]);
}

/// Each field of an input decides something: with another value the case does not hold any more.
#[test]
fn a_case_with_another_input_does_not_hold() {
    let file = file();
    let skip = not_checked(&file);
    for case in cases(&file) {
        for (name, value) in case["input"].as_object().expect("fields") {
            let mut altered = case.clone();
            altered["input"][name] = match (name.as_str(), value) {
                ("private_key", _) => json!(format!("0x{}", "2b".repeat(32))),
                ("vault_address", Value::Null) => {
                    json!("0x1719884eb866cb12b2287399b15f7db5e7d775ea")
                }
                ("expires_after", Value::Null) => json!(1_791_480_010_000_u64),
                ("market", _) => json!("outcome"),
                ("action_json", Value::String(text)) => json!(text.replacen(":\"", ":\"x", 1)),
                (_, Value::Bool(yes)) => json!(!yes),
                (_, Value::Number(number)) => json!(number.as_u64().expect("unsigned") + 23),
                // More digits than any rule takes.
                ("text" | "price" | "size", Value::String(text)) => json!(format!("{text}.1.1")),
                (_, Value::String(text)) => json!(format!("{text}x")),
                (_, _) => json!({}),
            };
            // More decimals of a size change what is valid, and not each verdict.
            let may_hold = matches!(name.as_str(), "sz_decimals" | "decimals")
                || case["expect"]["refuse"] == json!(true)
                || case["expect"]["valid"] == json!(false);
            let differing = differences(&altered, &skip);
            assert!(may_hold || !differing.is_empty(), "{}: {name}", case["id"]);
        }
    }
}

/// The actions that the adapter sends are those of the file, byte for byte.
#[test]
fn our_actions_are_packed_as_the_official_sdk_packs_them() {
    let file = file();
    let packed = |id: &str| {
        let case = cases(&file)
            .iter()
            .find(|case| case["id"] == json!(id))
            .expect(id);
        case["expect"]["action_msgpack_hex"]
            .as_str()
            .expect("hex")
            .to_owned()
    };
    let order = |a, b, p: &str, s: &str, r, tif, c: Option<&str>| OrderItem {
        a,
        b,
        p: p.to_owned(),
        s: s.to_owned(),
        r,
        t: Limit::new(tif),
        c: c.map(str::to_owned),
    };
    let hex = |bytes: Result<Vec<u8>, sign::SignError>| hex::encode(bytes.expect("packed"));
    let cloid = "0x1234567890abcdef1234567890abcdef";
    let orders = [
        (
            "l1-order-gtc-mainnet",
            order(0, true, "80000", "0.001", false, Tif::Gtc, None),
        ),
        (
            "l1-order-ioc-cloid",
            order(5, false, "101.37", "1.25", true, Tif::Ioc, Some(cloid)),
        ),
        (
            "l1-order-alo-cloid",
            order(
                1,
                true,
                "2399.9",
                "0.5",
                false,
                Tif::Alo,
                Some("0xfedcba98765432100123456789abcdef"),
            ),
        ),
    ];
    for (id, order) in orders {
        assert_eq!(
            hex(sign::msgpack(&Order::new(vec![order]))),
            packed(id),
            "{id}"
        );
    }
    let cancel = Cancel::new(vec![CancelItem {
        a: 0,
        o: 569_017_209_592,
    }]);
    assert_eq!(hex(sign::msgpack(&cancel)), packed("l1-cancel"));
    let item = CloidItem {
        asset: 1,
        cloid: cloid.to_owned(),
    };
    assert_eq!(
        hex(sign::msgpack(&CancelByCloid::new(vec![item]))),
        packed("l1-cancel-by-cloid")
    );
    assert_eq!(hex(sign::msgpack(&Noop::NEW)), packed("l1-noop"));
    let armed = ScheduleCancel::new(Some(1_791_480_010_000));
    assert_eq!(hex(sign::msgpack(&armed)), packed("l1-schedule-cancel-set"));
    assert_eq!(
        hex(sign::msgpack(&ScheduleCancel::new(None))),
        packed("l1-schedule-cancel-clear")
    );
    let leverage = UpdateLeverage::new(1, true, 21);
    assert_eq!(
        hex(sign::msgpack(&leverage)),
        packed("l1-update-leverage-cross")
    );
}
