//! The catalogue and the suite name the same cases.

use std::collections::BTreeSet;

const CATALOGUE: &str = include_str!("../../../../docs/conformance.md");
const SUITE: &str = include_str!("../../src/venue/macros.rs");

/// The rows of the catalogue's tables: number and name.
fn rows() -> Vec<(&'static str, &'static str)> {
    let cells = |line: &'static str| {
        let mut cells = line.strip_prefix("| C")?.split(" | ");
        let (no, name) = (cells.next()?, cells.next()?);
        let columns = 2 + cells.count();
        assert_eq!(columns, 5, "columns of {line}");
        Some((no, name.trim_matches('`')))
    };
    CATALOGUE.lines().filter_map(cells).collect()
}

#[test]
fn the_catalogue_holds_every_case_once() {
    let rows = rows();
    for (no, name) in &rows {
        assert!(name.starts_with(&format!("c{no}_")), "C{no} is {name}");
    }
    let names: BTreeSet<&str> = rows.iter().map(|(_, name)| *name).collect();
    let numbers: BTreeSet<&str> = rows.iter().map(|(no, _)| *no).collect();
    assert_eq!(names.len(), rows.len(), "a case stands twice");
    assert_eq!(numbers.len(), rows.len(), "a number is used twice");
    let suite: BTreeSet<&str> = SUITE
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','))
        .filter(|name| name.starts_with('c') && name.as_bytes()[1].is_ascii_digit())
        .collect();
    assert!(suite.len() >= 70, "{} cases", suite.len());
    assert_eq!(names, suite);
}
