//! Compares what a case expects with what came out, leaf by leaf.

use serde_json::Value;

use crate::input::Got;

/// A leaf that differs.
#[derive(Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) path: String,
    pub(crate) expected: Value,
    pub(crate) got: Value,
}

/// What is reported where the code gives no such leaf.
const UNKNOWN_LEAF: &str = "unknown leaf";

/// What is reported where the file has no such leaf.
const NOT_IN_FILE: &str = "not in the file";

/// The leaves that differ, in the alternative that has the fewest.
pub(crate) fn differences(expect: &Value, got: &Got, not_checked: &[String]) -> Vec<Difference> {
    let each = got.one_of.iter().map(|one| {
        let mut walk = Walk {
            not_checked,
            exact: got.exact,
            leaves: 0,
            differ: Vec::new(),
        };
        walk.value("", expect, Some(one));
        if walk.leaves == 0 {
            walk.differ("", expect, Value::from("nothing in it is checked"));
        }
        walk.differ
    });
    let fewest = each.min_by_key(Vec::len);
    fewest.unwrap_or_else(|| {
        vec![Difference {
            path: String::new(),
            expected: expect.clone(),
            got: Value::from(UNKNOWN_LEAF),
        }]
    })
}

struct Walk<'a> {
    not_checked: &'a [String],
    exact: &'a [&'a str],
    leaves: usize,
    differ: Vec<Difference>,
}

impl Walk<'_> {
    fn differ(&mut self, path: &str, expected: &Value, got: Value) {
        self.differ.push(Difference {
            path: path.to_owned(),
            expected: expected.clone(),
            got,
        });
    }

    fn value(&mut self, path: &str, expect: &Value, got: Option<&Value>) {
        match (expect, got) {
            (Value::Object(members), _) if !members.is_empty() => {
                let left_out = self.not_checked;
                let checked = members.iter().filter(|(name, _)| !left_out.contains(name));
                for (name, expect) in checked {
                    let got = got.and_then(|got| got.get(name));
                    self.value(&below(path, name), expect, got);
                }
                self.surplus(path, expect, got);
            }
            (Value::Array(items), Some(Value::Array(got)))
                if items.len() == got.len() && items.iter().any(is_nested) =>
            {
                for (at, (expect, got)) in items.iter().zip(got).enumerate() {
                    self.value(&below(path, &at.to_string()), expect, Some(got));
                }
            }
            (leaf, got) => {
                self.leaves += 1;
                match got {
                    Some(got) if got == leaf => {}
                    Some(got) => self.differ(path, leaf, got.clone()),
                    None => self.differ(path, leaf, Value::from(UNKNOWN_LEAF)),
                }
            }
        }
    }

    /// What came out beyond the file, in an object that is compared in both directions.
    fn surplus(&mut self, path: &str, expect: &Value, got: Option<&Value>) {
        let inside = |exact: &&str| {
            let rest = path.strip_prefix(*exact);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let Some(Value::Object(got)) = got.filter(|_| self.exact.iter().any(inside)) else {
            return;
        };
        for (name, value) in got {
            if expect.get(name).is_none() {
                self.differ(&below(path, name), &Value::from(NOT_IN_FILE), value.clone());
            }
        }
    }
}

fn is_nested(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(expect: &Value, got: Got) -> Vec<String> {
        let differences = differences(expect, &got, &["note".to_owned()]);
        differences.into_iter().map(|one| one.path).collect()
    }

    #[test]
    fn every_leaf_that_is_not_left_out_by_name_counts_at_any_depth() {
        let got = || Got::from(json!({"a": {"b": 1, "c": [{"d": 2}]}}));
        assert_eq!(
            paths(
                &json!({"a": {"b": 1, "c": [{"d": 2, "note": 3}], "note": 4}}),
                got()
            ),
            [""; 0]
        );
        assert_eq!(paths(&json!({"a": {"b": 2}}), got()), ["a.b"]);
        assert_eq!(paths(&json!({"a": {"c": [{"d": 3}]}}), got()), ["a.c.0.d"]);
        assert_eq!(paths(&json!({"a": {"c": []}}), got()), ["a.c"]);
        assert_eq!(paths(&json!({"a": {"b": {"e": 1}}}), got()), ["a.b.e"]);
    }

    #[test]
    fn a_leaf_that_nothing_gives_is_a_failure_even_when_it_is_null() {
        assert_eq!(paths(&json!({"x": null}), json!({"y": 1}).into()), ["x"]);
        assert_eq!(
            paths(&json!({"x": null}), json!({"x": null}).into()),
            [""; 0]
        );
        assert_eq!(paths(&json!({"x": {}}), json!({}).into()), ["x"]);
    }

    #[test]
    fn a_case_that_checks_nothing_is_a_failure() {
        assert_eq!(paths(&json!({"note": 1}), json!({"note": 1}).into()), [""]);
    }

    #[test]
    fn what_is_sent_may_have_nothing_that_the_file_lacks() {
        let got = || Got::from(json!({"frame": {"op": "x", "more": {"y": 1}}, "z": 1}));
        let expect = json!({"frame": {"op": "x"}});
        assert_eq!(paths(&expect, got()), [""; 0]);
        assert_eq!(paths(&expect, got().exact(&["frame"])), ["frame.more"]);
        assert_eq!(paths(&expect, got().exact(&["fram"])), [""; 0]);
    }

    #[test]
    fn the_nearest_alternative_is_reported() {
        let got = || Got {
            one_of: vec![json!({"a": 1, "b": 1}), json!({"a": 2, "b": 2})],
            exact: &[],
        };
        assert_eq!(paths(&json!({"a": 2, "b": 2}), got()), [""; 0]);
        assert_eq!(paths(&json!({"a": 1, "b": 2}), got()).len(), 1);
    }
}
