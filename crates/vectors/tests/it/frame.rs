//! Files that are not in the frame, and the shape of a report.

use serde_json::{Value, json};
use surefill_vectors::{FrameError, Kind, check, run};

use crate::files::{path, read};

fn error(file: &[u8]) -> FrameError {
    check(Kind::Bybit, "f.json", file).expect_err("not in the frame")
}

#[test]
fn what_is_no_json_is_named_with_its_line() {
    let error = error(b"{\"venue\": \"bybit\",\n\"count\": 1,\n\"vectors\": [}");
    assert_eq!(error.to_string(), "f.json, line 3, column 13: not JSON");
}

#[test]
fn a_file_of_another_venue_names_both() {
    let error = run(Kind::Bybit, &path(Kind::Jito)).expect_err("another venue");
    let text = error.to_string();
    assert!(
        text.ends_with("jito.json holds vectors of jito, not of bybit"),
        "{text}"
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = run(Kind::Ids, "nowhere/x.json".as_ref()).expect_err("not there");
    assert_eq!(error.to_string(), "nowhere/x.json cannot be read");
}

#[test]
fn a_count_that_is_not_the_number_of_cases_is_an_error() {
    let mut file = read(Kind::Ids);
    file["count"] = json!(17);
    let error = check(Kind::Ids, "f.json", file.to_string().as_bytes()).expect_err("a count");
    assert_eq!(
        error.to_string(),
        "f.json: the count is 17, and there are 16 cases"
    );
}

#[test]
fn what_lacks_a_part_of_the_frame_is_an_error() {
    for without in ["venue", "count", "not_checked", "vectors"] {
        let mut file = read(Kind::Bybit);
        file.as_object_mut().expect("a head").remove(without);
        let text = error(file.to_string().as_bytes()).to_string();
        assert!(text.contains(without), "{text}");
    }
    for without in ["id", "kind", "input", "expect"] {
        let mut file = read(Kind::Bybit);
        file["vectors"][2]
            .as_object_mut()
            .expect("a case")
            .remove(without);
        let text = error(file.to_string().as_bytes()).to_string();
        assert!(text.contains("case 3 "), "{text}");
    }
    assert!(matches!(error(b"[]"), FrameError::Shape { .. }));
}

#[test]
fn a_report_has_the_names_that_scripts_read() {
    let mut file = read(Kind::Ids);
    file["vectors"][1]["expect"]["cl_ord_id"] = json!("x");
    let report = check(Kind::Ids, "f.json", file.to_string().as_bytes()).expect("in the frame");
    let json: Value = serde_json::to_value(&report).expect("JSON");
    let expected = json!({
        "file": "f.json",
        "passed": 15,
        "failed": 1,
        "failures": [{
            "id": "id-other-side",
            "kind": "cl_ord_id",
            "path": "cl_ord_id",
            "expected": "x",
            "got": "5f01dc5da54d683e811b60afda562a20",
        }],
    });
    assert_eq!(json, expected);
}
